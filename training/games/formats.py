"""How a store writes its games: as a CSV with a row for each seat, or as arrays in an npz."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from gaia_jax.cli.command_line import UserError, reason

from ..system import data_files
from ..system.data_files import TEXT, WHOLE
from ..types import Ids
from .stats import places, wins
from .table import BEHAVIOUR, ROWS, Games, entries, rotated

# Columns of a CSV that say which game and seat a row is, and where it comes from.
KEYS = ("env", "version", "seed", "agents", "setup", "rotation", "seat", "order", "entry", "agent")
COUNTS = ("decisions", "seconds", "own_decisions", "illegal_moves")
BY_GAME = ("decisions", "seconds")  # (S, R); all others are by seat, (S, R, P, ...)
FRACTIONS = ("place", "win", "seconds")
LIKELIEST = " likeliest"  # suffix of the agents if checkpoints take the most probable action


class Head(NamedTuple):
    """What all games of a store share."""

    about: dict[str, Any]  # what they are games of
    first: int  # number of the first set-up
    rotations: int
    players: int = 4


class Part(NamedTuple):
    """What a file holds: the games of whole set-ups."""

    head: Head
    games: Games | None
    whole: bool = True  # nothing is cut off at its end


class Format(Protocol):
    """A way to write games.

    `read` raises a UserError, or a ValueError whose text does not name the file.
    """

    kind: str  # what a file of it holds, in words
    grows: bool  # games can be appended

    def encode(self, head: Head, games: Games, first: int) -> bytes:
        """Games from set-up `first` on; with the head of the file where that is its first one."""

    def read(self, path: Path, expected: Head | None = None) -> Part:
        """Read a file; `expected`: the head that it must have, None: read it from the file."""


class Npz:
    """Arrays by name, and what they are games of in JSON: what `training.evaluate --save` keeps."""

    kind, grows = "games of an evaluation", False
    _about = "about"
    # Keys that it must have in addition to `same` in `read`, and optional ones.
    _keys = {"env": TEXT, "first": WHOLE}
    _may = {"players": WHOLE, "seed": WHOLE, "opponent": TEXT}

    def encode(self, head: Head, games: Games, first: int) -> bytes:
        """All games of the file."""
        about = {self._about: np.array(json.dumps(head.about | {"first": first}))}
        return data_files.npz_of(games.rows() | about, compressed=True)

    def read(self, path: Path, expected: Head | None = None) -> Part:
        """The games, and what they say they are of."""
        none = f"holds no {self.kind}"
        arrays = data_files.read_arrays(path, "the games", (self._about, "vp"))
        try:
            about, shape = json.loads(str(arrays.pop(self._about))), arrays["vp"].shape
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{none}: {reason(error)}") from error
        path_of_about = f"{path} {none}: {self._about}"
        data_files.check_keys(path_of_about, about, self._keys)
        data_files.check_keys(
            path_of_about, about, {k: x for k, x in self._may.items() if k in about}
        )
        if len(shape) != 3 or not shape[0] or about["first"] < 0:
            raise ValueError(f"{none}: vp is of shape {shape}, first {about['first']}")
        for name, x in arrays.items():
            want = shape[:2] if name in BY_GAME else shape
            if x.shape[: len(want)] != want or x.dtype.kind not in "biuf":
                raise ValueError(f"{none}: {name} is of shape {x.shape} and {x.dtype}, vp {shape}")
        if "agent" in arrays and "federations" in arrays:
            arrays = _before_the_one_table(arrays)
        if odd := sorted(arrays.keys() ^ set(ROWS)):
            raise ValueError(f"{none}: {odd[0]} is missing, or not of it")
        return Part(Head(about, about.pop("first"), *shape[1:]), Games(**arrays))


def _before_the_one_table(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The arrays of an evaluation up to 1.0 as columns of `Games`; goes with the next version."""
    shape = arrays["vp"].shape
    zero, unknown = np.zeros(shape, int), np.full((*shape, len(BEHAVIOUR)), -1)
    unknown[..., 0] = arrays.pop("federations")
    columns = {
        "order": zero - 1, "seconds": np.zeros(shape[:2]), "decided": zero, "illegal": zero,
        "behaviour": unknown, **arrays, "entry": np.broadcast_to(rotated(shape[-1]), shape),
    }  # fmt: skip
    names = {"vp_source": "sources"}
    return {names.get(name, name): x for name, x in columns.items() if name != "agent"}


class Csv:
    """Rows that pandas reads: what `training.arena --csv` writes."""

    kind, grows = "games of an arena", True

    def __init__(self, ids_of: Callable[[str, int], Ids]):
        """`ids_of`: (id of the ruleset, players) -> its names of `faction` and `vp_source`."""
        self._ids_of = ids_of

    def columns(self, ids: Ids) -> list[str]:
        """The names of the columns."""
        sources = [f"vp.{name}" for name in ids["vp_source"]]
        return [*KEYS, "faction", "vp", "place", "win", *COUNTS, *BEHAVIOUR, *sources]

    def encode(self, head: Head, games: Games, first: int) -> bytes:
        """Rows in the order of set-up, rotation and seat."""
        ids = self._ids_of(head.about["env"], head.players)
        place, win = (rank(games.vp, games.illegal) for rank in (places, wins))
        names = names_of(head.about)
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        if first == head.first:
            writer.writerow(self.columns(ids))
        for s, r, p in np.ndindex(*games.vp.shape):
            entry = int(games.entry[s, r, p])
            row = [head.about[x] for x in KEYS[:4]]
            row += [first + s, r, p, games.order[s, r, p], entry, names[entry]]
            row += [ids["faction"][int(games.faction[s, r, p])], games.vp[s, r, p]]
            row += [place[s, r, p], round(float(win[s, r, p]), 6)]
            row += [games.decisions[s, r], round(float(games.seconds[s, r]), 6)]
            row += [games.decided[s, r, p], games.illegal[s, r, p]]
            writer.writerow([*row, *games.behaviour[s, r, p], *games.sources[s, r, p]])
        return out.getvalue().encode("utf-8")

    def read(self, path: Path, expected: Head | None = None) -> Part:
        """The games of whole set-ups. An error names the line of a malformed row."""
        data = path.read_bytes()
        top, *lines = data.split(b"\n")
        head = expected or _head_of(top, lines)
        try:
            ids = self._ids_of(head.about["env"], head.players)
        except UserError as error:
            raise ValueError(f"is of no games that there are: {error}") from error
        columns = self.columns(ids)
        first_line = ",".join(columns).encode("utf-8")
        part = top.rstrip(b"\0")  # of a head that was cut off
        cut_head = not data or (not lines and part != b"" and first_line.startswith(part))
        if top.rstrip() != first_line and not cut_head:
            raise ValueError("is not a CSV of this arena: it has other columns")
        if not lines:
            return Part(head, None, False)
        start = ",".join(str(head.about[key]) for key in KEYS[:3]).encode("utf-8")
        cut_off = lines.pop().strip(b"\0")
        if cut_off[: len(start)] != start[: len(cut_off)]:
            raise ValueError("ends with what is no row of this arena")
        rows, game = [], head.rotations * head.players
        for number, line in enumerate(lines, 2):
            try:
                rows.append(_row(line, start, columns, ids))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
        count = len(rows) // game * game
        games = _games(rows[:count], head) if count else None
        if games:
            self._check(data, self.encode(head, games, head.first), columns)
        return Part(head, games, cut_off == b"" and count == len(rows))

    def _check(self, stored: bytes, own: bytes, columns: list[str]) -> None:
        """Refuse rows that change when the games are written again."""
        lines = (x.decode("utf-8").splitlines() for x in (stored, own))
        wrong = []
        for number, (their, our) in enumerate(zip(*lines, strict=False), 1):
            if their != our:
                cells = zip(columns, *csv.reader([their, our]), strict=True)
                key, stored_value, expected = next(x for x in cells if x[1] != x[2])
                wrong.append((key not in KEYS, number, key, stored_value, expected))
        if wrong:  # where a row is missing, the places of its game differ too
            _, number, key, stored_value, expected = min(wrong)
            raise ValueError(
                f"line {number}: has {key} {stored_value}, this is {expected}: name another CSV"
            )


def names_of(about: dict[str, Any]) -> list[str]:
    """The entries of an arena, by its `agents`."""
    return entries(about["agents"].removesuffix(LIKELIEST).split(","))


def _head_of(top: bytes, lines: Sequence[bytes]) -> Head:
    """The head of a CSV as its own rows state it."""
    try:
        text = (line.decode("utf-8") for line in (top, *lines[:-1]))
        rows = list(csv.DictReader(text))
        about: dict[str, Any] = {key: rows[0][key] for key in KEYS[:4]}
        about["seed"] = int(about["seed"])
        rotations = 1 + max(int(row["rotation"]) for row in rows)
        players = len(about["agents"].split(","))
        if rotations not in (1, players):
            raise ValueError(rotations)
        return Head(about, int(rows[0]["setup"]), rotations, players)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, csv.Error) as error:
        raise ValueError(f"holds no {Csv.kind}") from error


def _row(line: bytes, start: bytes, columns: list[str], ids: Ids) -> dict[str, Any]:
    """One line by column: texts of `KEYS`, numbers."""
    try:
        cells = next(csv.reader([line.decode("utf-8")], strict=True), [])
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if len(cells) != len(columns):
        raise ValueError(f"it has {len(cells)} columns, not {len(columns)}")
    row: dict[str, Any] = dict(zip(columns, cells, strict=True))
    for key, expected in zip(KEYS, start.decode("utf-8").split(","), strict=False):
        if row[key] != expected:
            raise ValueError(f"has {key} {row[key]}, this is {expected}: name another CSV")
    if row["faction"] not in ids["faction"]:
        raise ValueError(f"{row['faction']!r} is no faction")
    row["faction"] = ids["faction"].index(row["faction"])
    for key in ("order", *columns[len(KEYS) + 1 :]):
        amount = float(row[key]) if key in FRACTIONS else int(row[key])
        if not abs(amount) < 1e9:
            raise ValueError(f"{key} is {row[key]}")
        row[key] = amount
    return row


def _games(rows: Sequence[dict[str, Any]], head: Head) -> Games:
    """The games of rows; who sits where follows from the head."""
    shape = (-1, head.rotations, head.players)

    def columns(*names: str) -> np.ndarray:
        return np.array([[row[name] for name in names] for row in rows]).reshape(*shape, len(names))

    order, faction, vp, decided, illegal, decisions = np.moveaxis(
        columns("order", "faction", "vp", "own_decisions", "illegal_moves", "decisions"), -1, 0
    )
    sources = columns(*(name for name in rows[0] if name.startswith("vp.")))
    seats = np.broadcast_to(rotated(head.players)[: head.rotations], vp.shape)
    seconds = columns("seconds")[..., 0, 0]
    return Games(
        seats, order, faction, vp, sources, columns(*BEHAVIOUR), decisions[..., 0], seconds,
        decided, illegal,
    )  # fmt: skip
