"""The CSV of an arena on the disk: held by one arena, only ever added to.

A batch of games is added in one write and synced. What a killed arena left of a batch is taken
away together with the next batch, in one moment: at no time are there fewer games than before.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.cli.command_line import UserError, reason
from training.games import table
from training.games.table import Played, Sheet
from training.system import atomic_files

LONGEST = 2**31  # bytes


class GamesFile:
    """An open CSV. Close it, so that one without games goes away."""

    def __init__(self, path: Path, sheet: Sheet, seats: np.ndarray, resume: bool):
        """
        Args:
            path: where.
            sheet: what its rows have in common.
            seats: (R, P), which entry sits where.
            resume: go on with the games of a file that is there.
        Raises:
            UserError: it exists (without `resume`), is no CSV of this arena, is in use by another
                arena, or cannot be written. It is untouched then.
        """
        self.path, self._sheet = path, sheet
        self._head = table.head_text(sheet.ids).encode("utf-8")
        self.played: Played | None = None  # of whole set-ups, from the first one on
        self._ends: list[int] = []  # bytes up to the end of each of them
        self._fresh = not path.exists()
        if not self._fresh and not resume:
            raise UserError(f"{path} exists: --resume goes on with it, or name another CSV")
        try:
            self._file: Any = path.open("xb" if self._fresh else "r+b")
        except FileExistsError as error:
            raise UserError(f"{path} is in use by another arena: name another CSV") from error
        except OSError as error:
            raise UserError(f"cannot write {path}: {reason(error)}") from error
        try:
            self._hold()
            if not self._fresh:
                self._read(seats)
        except BaseException:
            self._file.close()
            raise
        self._length = self._ends[-1] if self._ends else 0
        # Whether something stands behind the games that count.
        self._tail = not self._fresh and self._length != path.stat().st_size

    def _hold(self) -> None:
        here = os.fstat(self._file.fileno()).st_ino
        if not atomic_files.lock(self._file) or self.path.stat().st_ino != here:
            raise UserError(f"{self.path} is in use by another arena: wait for it, or name another")

    def _read(self, seats: np.ndarray) -> None:
        """The games of the file."""
        data = self._file.read(LONGEST)
        top, *lines = data.split(b"\n")
        wanted = self._head.rstrip()
        part = top.rstrip(b"\0")  # of a head that was cut off
        ours = not data or (not lines and part != b"" and wanted.startswith(part))
        if top.rstrip() != wanted and not ours:
            raise UserError(f"{self.path} is not a CSV of this arena: it has other columns")
        if not lines:
            return
        about = [str(self._sheet.about[key]) for key in table.KEYS[:3]]
        start, cut_off = ",".join(about).encode("utf-8"), lines.pop().strip(b"\0")
        if cut_off[: len(start)] != start[: len(cut_off)]:
            raise UserError(f"{self.path} ends with what is no row of this arena")
        games = self._sheet.rotations * len(self._sheet.names)
        count = len(lines) // games
        try:
            rows = [line.decode("utf-8") for line in lines]
            self.played = table.parse(rows, self._sheet, seats, count)
        except ValueError as error:
            raise UserError(f"{self.path}, {error}") from error
        ends = np.cumsum([len(line) + 1 for line in (top, *lines)])
        self._ends = ends[games::games].tolist()

    def keep(self, count: int) -> None:
        """Go on after so many set-ups; those behind go when the next games are added."""
        if self.played is not None and count < len(self._ends):
            self.played = Played(*(x[:count] for x in self.played)) if count else None
            self._length = self._ends[count - 1] if count else 0
            self._tail = True

    def add(self, first: int, played: Played) -> None:
        """Add games, safe on the disk.

        Args:
            first: number of the first set-up.
        Raises:
            UserError: they cannot be written; the games that stood there still do.
        """
        rows = table.rows_text(played, first, self._sheet).encode("utf-8")
        data = rows if self._length else self._head + rows
        try:
            if self._tail:
                self._file.seek(0)
                data = self._file.read(self._length) + data
                new = atomic_files.replace(self.path, data, locked=True)
                self._file.close()
                self._file, self._tail, self._length = new, False, len(data)
                return
            self._file.seek(self._length)
            try:
                self._file.write(data)
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError:
                self._file.truncate(self._length)
                raise
            self._length += len(data)
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {reason(error)}") from error

    def close(self) -> None:
        """Let go of it; a new file that nothing was added to goes away."""
        if self._fresh and not self._length and not self._file.closed:
            self.path.unlink(missing_ok=True)
        self._file.close()
