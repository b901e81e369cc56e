"""The store of played games: one file with a row for each seat of each game.

The file is Parquet, or the same rows as CSV. A command holds a lock on its file and replaces it
whole, so a killed command never leaves fewer set-ups than before. `--first` plays a part of the
games of a seed, `--resume` continues a file, `training.merge` joins parts.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason

from ..system.cli import need_pyarrow
from ..system.data_files import check_order, check_same
from ..types import Ids
from . import records, table
from .stats import places, wins
from .table import BEHAVIOUR, Games, entries, rotated

ABOUT = ("env", "version", "seed", "agents")  # columns that are equal in all rows
TEXTS = ("env", "version", "agents", "agent", "faction")
FRACTIONS = ("place", "win", "seconds")
LIKELIEST = " likeliest"  # suffix of the agents if checkpoints take the most probable action
# Writing takes at most this share of the time; only an arena of very many games writes less often
# than once a batch.
WRITING_SHARE = 0.1
LARGEST = 10**9  # of any number
UNREADABLE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip

IdsOf = Callable[[str, int], Ids]  # (id of a ruleset, players) -> names of `faction`, `vp_source`


class Head(NamedTuple):
    """What all games of a file share."""

    about: dict[str, Any]  # identity of the games: agents, rules, seed
    first: int  # number of the first set-up
    rotations: int
    players: int = 4


class Part(NamedTuple):
    """The contents of a file."""

    head: Head
    games: Games | None


def names_of(about: dict[str, Any]) -> list[str]:
    """The entries of an arena, by its `agents`."""
    return entries(about["agents"].removesuffix(LIKELIEST).split(","))


def is_parquet(path: Path) -> bool:
    """Whether a file of this name is Parquet; any other is CSV."""
    return path.suffix == ".parquet"


def to_columns(head: Head, games: Games, ids: Ids) -> dict[str, np.ndarray]:
    """Games as columns of S * R * P rows, in the order of set-up, rotation and seat."""
    about, shape = head.about, games.vp.shape
    setup, rotation, seat = np.indices(shape)
    agents = about.get("agents") or ",".join(["policy", *[about["opponent"]] * (shape[2] - 1)])
    values = {
        "env": about["env"],
        "version": about.get("version", about.get("env_version")),
        "seed": about["seed"],
        "agents": agents,
        "setup": head.first + setup,
        "rotation": rotation,
        "seat": seat,
        "order": games.order,
        "entry": games.entry,
        "agent": np.array(names_of({"agents": agents}), object)[games.entry],
        "faction": np.array(ids["faction"], object)[games.faction],
        "vp": games.vp,
        "place": places(games.vp, games.illegal),
        "win": np.round(wins(games.vp, games.illegal), 6),
        "decisions": games.decisions[..., None],
        "seconds": np.round(games.seconds[..., None], 6),
        "own_decisions": games.decided,
        "illegal_moves": games.illegal,
        **dict(zip(BEHAVIOUR, np.moveaxis(games.behaviour, -1, 0), strict=True)),
    }
    for name, vp in zip(ids["vp_source"], np.moveaxis(games.sources, -1, 0), strict=True):
        values[f"vp.{name}"] = vp
    kind_of = dict.fromkeys(TEXTS, object) | dict.fromkeys(FRACTIONS, np.float64)
    return {
        name: np.broadcast_to(np.asarray(x, kind_of.get(name, np.int64)), shape).ravel()
        for name, x in values.items()
    }


def _to_games(columns: dict[str, np.ndarray], head: Head, ids: Ids) -> Games:
    """Columns as games; which entry has which seat follows from the head."""
    shape = (-1, head.rotations, head.players)

    def array(name: str) -> np.ndarray:
        kind: Any = np.float64 if name in FRACTIONS else np.int64
        values = np.asarray(columns[name], kind).reshape(shape)
        if not (np.abs(values) < LARGEST).all():
            raise ValueError(f"{name} must be below {LARGEST:,}")
        return values

    faction_index = {name: index for index, name in enumerate(ids["faction"])}
    faction = np.array([faction_index[name] for name in columns["faction"]]).reshape(shape)
    vp, seconds = array("vp"), array("seconds")[..., 0]
    sources = np.stack([array(f"vp.{name}") for name in ids["vp_source"]], -1)
    behaviour = np.stack([array(name) for name in BEHAVIOUR], -1)
    return Games(
        np.broadcast_to(rotated(head.players)[: head.rotations], vp.shape), array("order"),
        faction, vp, sources, behaviour, array("decisions")[..., 0], seconds,
        array("own_decisions"), array("illegal_moves"),
    )  # fmt: skip


def encode(path: Path, head: Head, games: Games, ids: Ids) -> bytes:
    """The bytes of a file of this name."""
    columns = to_columns(head, games, ids)
    if not is_parquet(path):
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows(zip(*(x.tolist() for x in columns.values()), strict=True))
        return text.getvalue().encode("utf-8")
    import pyarrow as pa
    import pyarrow.parquet as pq

    out, metadata = io.BytesIO(), {"games": json.dumps(head._asdict())}
    pq.write_table(pa.table(columns, metadata=metadata), out, compression="zstd")
    return out.getvalue()


def _read_parquet(path: Path) -> tuple[dict[str, np.ndarray], Head]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.read_table(path)
    except pa.ArrowException as error:
        raise ValueError(str(error).splitlines()[0]) from error
    head = Head(**json.loads((stored.schema.metadata or {})[b"games"]))
    columns = zip(stored.column_names, stored.columns, strict=True)
    return {name: x.to_numpy() for name, x in columns}, head


def _read_csv(path: Path) -> tuple[dict[str, np.ndarray], Head]:
    with path.open(encoding="utf-8", newline="") as file:
        try:
            names, *rows = csv.reader(file, strict=True)
        except csv.Error as error:
            raise ValueError(str(error)) from error
    for line, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ValueError(f"line {line} has {len(row)} columns, not {len(names)}")
    columns: dict[str, np.ndarray] = {}
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        kind: Any = float if name in FRACTIONS else int
        texts = name in TEXTS
        columns[name] = np.array(cells if texts else [kind(x) for x in cells], object)
    about = {name: columns[name][0] for name in ABOUT}
    rotations, players = 1 + max(columns["rotation"]), len(about["agents"].split(","))
    return columns, Head(about, columns["setup"][0], rotations, players)


def read(path: Path, ids_of: IdsOf, expected: Head | None = None) -> Part:
    """The games of a file and its head; an empty file has no games.

    Args:
        expected: the head that the file must have; None: any.
    Raises:
        UserError: the file cannot be read, does not hold games, or holds other games.
    """
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is not a file")
        if not path.stat().st_size:
            if not expected:
                raise ValueError("it is empty")
            return Part(expected, None)
        columns, head = (_read_parquet if is_parquet(path) else _read_csv)(path)
        if head.rotations not in (1, head.players) or head.first < 0:
            raise ValueError(f"it has {head.rotations} rotations from set-up {head.first} on")
        ids = ids_of(head.about["env"], head.players)
        games = _to_games(columns, head, ids)
        _check_columns(columns, to_columns(head, games, ids))
    except OSError as error:
        raise UserError(f"cannot read the games {path}: {reason(error)}") from error
    except (UserError, *UNREADABLE) as error:
        raise UserError(f"{path} does not hold games of agents: {reason(error)}") from error
    if expected:
        check_same(path, head.about, expected.about)
        if head[1:] != expected[1:]:
            differences = ", ".join(f"{x} {y}" for x, y in head._asdict().items() if x != "about")
            raise UserError(f"{path} holds another part of the games: {differences}")
    return Part(head, games)


def _check_columns(stored: dict[str, np.ndarray], own: dict[str, np.ndarray]) -> None:
    """Raise a ValueError if a column is missing or a value contradicts the others."""
    if list(stored) != list(own):
        raise ValueError("it has other columns")
    for name, values in own.items():
        if (wrong := np.flatnonzero(stored[name] != values)).size:
            row = int(wrong[0])
            raise ValueError(f"row {row + 1} has {name} {stored[name][row]}, not {values[row]}")


def check_outputs(flag: str, path: Path | None, args: argparse.Namespace) -> None:
    """Reject outputs that cannot be written; `flag` names `path`, `args` has the other flags."""
    if args.resume and not path:
        raise UserError(f"--resume needs the {flag} that it continues")
    outputs.check_different({"--json": args.json, flag: path, "--record": args.record})
    if args.json:
        outputs.check_file("--json", args.json, outputs.REPORT)
    if path:
        check_pyarrow(path)
        outputs.check_file(flag, path, outputs.anything)
        if path.exists() and not args.resume:  # an empty one may be that of another command
            raise UserError(f"{flag}: {path} exists: --resume continues it, or name another file")
    if args.record:
        records.check(args.record, args.resume)


def check_pyarrow(path: Path) -> None:
    """Reject a Parquet file if pyarrow is missing."""
    if is_parquet(path):
        need_pyarrow(f"{path} needs")


def merge(paths: Sequence[Path], ids_of: IdsOf) -> tuple[Head, Games]:
    """The head and games of several files as one, without a missing or repeated set-up.

    Raises:
        UserError: they do not fit together.
    """
    parts = sorted(((path, read(path, ids_of)) for path in paths), key=lambda x: x[1].head.first)
    head = parts[0][1].head

    following = head.first
    for path, part in parts:
        check_same(path, part.head.about, head.about)
        if part.head[2:] != head[2:]:
            raise UserError(f"{path} is of other games than {parts[0][0]}")
        check_order(path, part.head.first, following)
        following += part.games.setup_count if part.games else 0
    return head, table.join([part.games for _, part in parts if part.games])


class Store:
    """The games of a running command. Close it to write all games or remove an empty new file."""

    def __init__(self, path: Path | None, head: Head, ids: Ids, setups: int, resume: bool = False):
        """
        Args:
            path: the file; None keeps the games in memory.
            setups: total number.
            resume: continue with the games of an existing file.
        Raises:
            UserError: the file exists (without `resume`), holds other games, is in use by another
                command, or cannot be written; it is unchanged.
        """
        self.path, self._head, self._ids = path, head, ids
        self.games: Games | None = None  # of whole set-ups, from the first one on
        self._file: Any = None
        self._is_written, self._next_write = True, 0.0
        if path is None:
            return
        is_new = not path.exists()
        if not is_new and not resume:
            raise UserError(f"{path} exists: --resume continues it, or name another file")
        try:
            self._file = path.open("xb" if is_new else "r+b")
        except FileExistsError as error:
            raise UserError(f"{path} is in use by another command: name another file") from error
        except OSError as error:
            raise UserError(f"cannot write {path}: {reason(error)}") from error
        try:
            own_inode = os.fstat(self._file.fileno()).st_ino
            if not outputs.lock(self._file) or path.stat().st_ino != own_inode:
                raise UserError(f"{path} is in use by another command: wait, or name another file")
            self.games = read(path, lambda *_: ids, head).games
            if self.count > setups:
                raise UserError(f"{path} holds {self.count} set-ups, more than {setups}")
        except BaseException:
            self._file.close()
            raise

    @property
    def count(self) -> int:
        """The number of set-ups."""
        return 0 if self.games is None else self.games.setup_count

    def truncate(self, count: int) -> None:
        """Continue after `count` set-ups; the file keeps later ones until games are added."""
        if self.games is not None and count < self.count:
            self.games = self.games.slice(0, count) if count else None

    def add(self, games: Games) -> None:
        """Add the games of the next set-ups and write the file.

        Raises:
            UserError: they cannot be written; the stored games are unchanged.
        """
        games, before = Games(**games.rows()), self.games
        self.games = games if before is None else table.join([before, games])
        self._is_written = self.path is None
        if time.monotonic() >= self._next_write:
            try:
                self._write()
            except UserError:
                self.games, self._is_written = before, True
                raise

    def _write(self) -> None:
        if self._is_written or self.path is None or self.games is None:
            return
        start_time = time.monotonic()
        data = encode(self.path, self._head, self.games, self._ids)
        try:
            new = outputs.replace(self.path, data, locked=True)
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {reason(error)}") from error
        self._file.close()
        self._file, self._is_written = new, True
        end_time = time.monotonic()
        self._next_write = end_time + (end_time - start_time) / WRITING_SHARE

    def close(self) -> None:
        """Write pending games and release the file; an empty new file is removed."""
        if self._file is None:
            return
        try:
            self._write()
            if self.path and not self.count and not self.path.stat().st_size:
                self.path.unlink(missing_ok=True)
        finally:
            self._file.close()
