"""A store of games on the disk: one file, held by one command, only ever added to.

Whatever kills a command, at no time are there fewer whole set-ups than before. `--first` makes a
part of the games of a seed, `--resume` goes on with a part, `training.merge` puts parts together.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gaia_jax.cli.command_line import UserError, reason

from ..system import atomic_files
from ..system.data_files import check_order, check_same
from . import records, table
from .formats import Format, Head, Part
from .table import Games


def read(path: Path, format: Format, expected: Head | None = None) -> Part:
    """The games of a file and its head.

    Args:
        expected: what it must say; None is anything.
    Raises:
        UserError: it is no file of the format, or of other games.
    """
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"cannot read the games {path}: it is no file")
        part = format.read(path, expected)
    except OSError as error:
        raise UserError(f"cannot read the games {path}: {reason(error)}") from error
    except ValueError as error:
        comma = "," if str(error).startswith("line") else ""
        raise UserError(f"{path}{comma} {error}") from error
    if expected:
        check_same(path, part.head.about, expected.about)
        if part.head[1:] != expected[1:]:
            differences = ", ".join(
                f"{x} {y}" for x, y in part.head._asdict().items() if x != "about"
            )
            raise UserError(f"{path} holds another part of the games: {differences}")
    return part


def check_outputs(flag: str, path: Path | None, args: argparse.Namespace) -> None:
    """Refuse before any work what could not be written.

    Args:
        flag: what names the store, `path` where it is.
        args: with `json`, `record`, `resume`.
    """
    if args.resume and not path:
        raise UserError(f"--resume wants the {flag} to go on with")
    atomic_files.check_different({"--json": args.json, flag: path, "--record": args.record})
    if args.json:
        atomic_files.check_file("--json", args.json, atomic_files.REPORT)
    if path:
        atomic_files.check_games(flag, path, args.resume)
    if args.record:
        records.check(args.record, args.resume)


def merge(paths: Sequence[Path], format: Format) -> Part:
    """The games of several files as one: no set-up is missing between them, none is there twice.

    Raises:
        UserError: they do not fit together.
    """
    parts = sorted(((path, read(path, format)) for path in paths), key=lambda x: x[1].head.first)
    head, games = parts[0][1].head, []
    following = head.first
    for path, part in parts:
        check_same(path, part.head.about, head.about)
        if part.games is None or not part.whole:
            raise UserError(
                f"{path}, its last games are cut off: continue with --csv FILE --resume"
            )
        if part.games.vp.shape[1:] != (head.rotations, head.players):
            raise UserError(f"{path} is of other games than {parts[0][0]}")
        check_order(path, part.head.first, following)
        following += part.games.setup_count
        games.append(part.games)
    return Part(head, table.join(games))


def write(path: Path, format: Format, part: Part) -> None:
    """Write a part, whole or not at all.

    Raises:
        UserError: it cannot be written.
    """
    assert part.games is not None
    data = format.encode(part.head, part.games, part.head.first)
    atomic_files.write_bytes(path, data)


class Store:
    """The games of a command that is under way. Close it, so that an empty new file goes away."""

    def __init__(
        self, path: Path | None, format: Format, head: Head, setups: int, resume: bool = False
    ):
        """
        Args:
            path: where; None keeps the games in memory alone.
            setups: total number.
            resume: continue with the games of an existing file.
        Raises:
            UserError: it exists (without `resume`), holds other games, is in use by another
                command, or cannot be written. The file is unchanged then.
        """
        self.path, self._format, self._head = path, format, head
        self.games: Games | None = None  # of whole set-ups, from the first one on
        self._file: Any = None
        self._clean = False  # the file holds exactly these games, so it can be extended
        if path is None:
            return
        self._fresh = not path.exists()
        if not self._fresh and not resume:
            raise UserError(f"{path} exists: --resume continues it, or name another file")
        if self._fresh and not format.grows:
            return  # there is none before there are games
        try:
            self._file = path.open("xb" if self._fresh else "r+b")
        except FileExistsError as error:
            raise UserError(f"{path} is in use by another command: name another file") from error
        except OSError as error:
            raise UserError(f"cannot write {path}: {reason(error)}") from error
        try:
            own_inode = os.fstat(self._file.fileno()).st_ino
            if not atomic_files.lock(self._file) or path.stat().st_ino != own_inode:
                raise UserError(f"{path} is in use by another command: wait, or name another file")
            if not self._fresh:
                self.games = read(path, format, head).games
            if self.count > setups:
                raise UserError(
                    f"{path} holds {self.count} set-ups, more than the {setups} asked for"
                )
        except BaseException:
            self._file.close()
            raise
        self._clean = self._fresh or (format.grows and path.read_bytes() == self._data())

    @property
    def count(self) -> int:
        """How many set-ups there are."""
        return 0 if self.games is None else self.games.setup_count

    def _data(self) -> bytes:
        if self.games is None:
            return b""
        return self._format.encode(self._head, self.games, self._head.first)

    def keep(self, count: int) -> None:
        """Continue after `count` set-ups; later ones are dropped when games are added."""
        if self.games is not None and count < self.count:
            self.games, self._clean = self.games.slice(0, count) if count else None, False

    def add(self, games: Games) -> None:
        """Add the games of the next set-ups, safe on the disk.

        Raises:
            UserError: they cannot be written; the stored games are unchanged.
        """
        games = Games(**games.rows())
        before = self.games, self.count
        self.games = games if before[0] is None else table.join([before[0], games])
        if self.path is None:
            return
        try:
            if self._format.grows and self._clean:
                self._append(self._format.encode(self._head, games, self._head.first + before[1]))
            else:
                new = atomic_files.replace(self.path, self._data(), locked=True)
                if self._file is not None:
                    self._file.close()
                self._file, self._clean = new, True
        except OSError as error:
            self.games = before[0]
            raise UserError(f"cannot write {self.path}: {reason(error)}") from error

    def _append(self, data: bytes) -> None:
        """In one write; nothing of it stays where that fails."""
        length = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(data)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(length)
            raise

    def close(self) -> None:
        """Let go of it; a new file that nothing was added to goes away."""
        if self._file is None:
            return
        if self.path and self._fresh and not self.count and not self._file.closed:
            self.path.unlink(missing_ok=True)
        self._file.close()
