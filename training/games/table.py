"""Finished games as rows of a CSV, one for each seat: what an arena writes and reads back.

`training.games.store` keeps them on the disk.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from training.games.match import Results, places, wins

# Columns that say which game and seat a row is, and where it comes from.
KEYS = ("env", "version", "seed", "agents", "setup", "rotation", "seat", "order", "entry", "agent")
# What `describe` reads of an ended game, and what is counted while it lasts.
BEHAVIOUR = (
    "federations", "advanced_tiles", "research_steps", "ships", "artifacts", "leech_taken",
    "leech_declined", "credits_left", "ore_left", "knowledge_left", "qic_left", "tokens_left",
)  # fmt: skip
WATCHED = ("leech_taken", "leech_declined")
COUNTS = ("decisions", "seconds", "own_decisions", "illegal_moves")
FRACTIONS = ("place", "win", "seconds")


class Played(NamedTuple):
    """Games of P entries. S set-ups, R rotations, P seats, K sources of VP."""

    entry: np.ndarray  # (S, R, P) which of the entries sat there
    order: np.ndarray  # (S, R, P) place in the turn order of round 1, from 1
    faction: np.ndarray  # (S, R, P) index in ids["faction"]
    vp: np.ndarray  # (S, R, P)
    sources: np.ndarray  # (S, R, P, K)
    behaviour: np.ndarray  # (S, R, P, len(BEHAVIOUR))
    decisions: np.ndarray  # (S, R) of all players
    seconds: np.ndarray  # (S, R) of playing; the games of a batch share theirs
    decided: np.ndarray  # (S, R, P) decisions of the seat
    illegal: np.ndarray  # (S, R, P) its illegal moves; one forfeits the game


class Sheet(NamedTuple):
    """What all rows of an arena share."""

    about: dict[str, Any]  # `env`, `version`, `seed`, `agents`
    names: list[str]  # of the P entries
    ids: Any  # of `faction` and `vp_source`
    rotations: int
    first: int = 0  # number of the first set-up


def describe(rules: Any) -> Any:
    """A function of ended games (B,) that gives the behaviour of their players, (B, P) by name."""
    start = np.asarray(rules.tables.faction.start_tracks).sum(-1)

    def popcount(bits: Array) -> Array:
        return ((bits[..., None].astype(jnp.int32) >> jnp.arange(31)) & 1).sum(-1)

    def read(game: Any) -> dict[str, Array]:
        p = game.players
        own = jnp.asarray(start)[game.setup.faction.astype(jnp.int32)]
        values = {
            "order": jnp.argsort(game.setup.turn_order, axis=-1) + 1,
            "federations": p.formed,
            "advanced_tiles": popcount(p.advanced),
            "research_steps": p.tracks.astype(jnp.int32).sum(-1) - own,
            "ships": popcount(p.shuttles),
            "artifacts": popcount(p.artifacts),
            "credits_left": p.credits,
            "ore_left": p.ore,
            "knowledge_left": p.knowledge,
            "qic_left": p.qic,
            "tokens_left": p.power.astype(jnp.int32).sum(-1) + p.gaia_power,
        }
        return {name: x.astype(jnp.int32) for name, x in values.items()}

    return read


def counted_actions(rules: Any) -> np.ndarray:
    """(2, A) bool, the actions that take a leech offer and those that decline one (WATCHED)."""
    out = np.zeros((2, rules.actions.num_actions), bool)
    for choice in rules.actions.ids["leech"]:
        out[int(choice == "DECLINE"), rules.actions.index("leech", choice)] = True
    return out


def from_results(results: Results, seating: np.ndarray, seconds: float) -> Played:
    """The games of a batch.

    Args:
        seating: (R, P), which entry sits where.
        seconds: that the batch took.
    """
    shape = results.vp.shape
    assert results.counted is not None
    assert results.decided is not None and results.illegal is not None
    counted = {name: results.counted[..., i] for i, name in enumerate(WATCHED)}
    behaviour = [counted[x] if x in counted else results.more[x] for x in BEHAVIOUR]
    return Played(
        np.broadcast_to(seating, shape),
        results.more["order"],
        results.faction.astype(int),
        results.vp.astype(int),
        results.vp_source.astype(int),
        np.stack(behaviour, axis=-1),
        results.decisions,
        np.full(shape[:2], seconds / (shape[0] * shape[1])),
        results.decided,
        results.illegal,
    )


def join(parts: Sequence[Played]) -> Played:
    """All games of the parts, in order."""
    return Played(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def head(ids: Any) -> list[str]:
    """The names of the columns."""
    sources = [f"vp.{name}" for name in ids["vp_source"]]
    return [*KEYS, "faction", "vp", "place", "win", *COUNTS, *BEHAVIOUR, *sources]


def head_text(ids: Any) -> str:
    """The first line of a CSV."""
    return ",".join(head(ids)) + "\r\n"


def rows_text(played: Played, first: int, sheet: Sheet) -> str:
    """Games as lines of a CSV; pandas reads it.

    Args:
        first: number of the first set-up.
    """
    place, win = places(played.vp, played.illegal), wins(played.vp, played.illegal)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for s, r, p in np.ndindex(*played.vp.shape):
        entry = int(played.entry[s, r, p])
        row = [sheet.about[x] for x in KEYS[:4]]
        row += [first + s, r, p, played.order[s, r, p], entry, sheet.names[entry]]
        row += [sheet.ids["faction"][played.faction[s, r, p]], played.vp[s, r, p]]
        row += [place[s, r, p], round(float(win[s, r, p]), 6)]
        row += [played.decisions[s, r], round(float(played.seconds[s, r]), 6)]
        row += [played.decided[s, r, p], played.illegal[s, r, p]]
        writer.writerow([*row, *played.behaviour[s, r, p], *played.sources[s, r, p]])
    return out.getvalue()


def parse(lines: Sequence[str], sheet: Sheet, seats: np.ndarray, setups: int) -> Played | None:
    """The games of lines that `rows_text` made; None where there are none.

    Args:
        lines: without the head. The last ones may be of a set-up that is not whole.
        seats: (R, P), which entry sits where.
        setups: how many are whole.
    Raises:
        ValueError: a line is not what stands there in a CSV of this arena; it says which and why.
    """
    rows = []
    for number, line in enumerate(lines):
        try:
            rows.append(_row(line, number, sheet, seats))
        except ValueError as error:
            raise ValueError(f"line {number + 2}: {error}") from error
    players = len(sheet.names)
    rows = rows[: setups * sheet.rotations * players]
    if not rows:
        return None
    shape = (-1, sheet.rotations, players)

    def column(name: str, kind: type = int) -> np.ndarray:
        return np.array([kind(row[name]) for row in rows]).reshape(shape)

    def columns(names: Sequence[str]) -> np.ndarray:
        return np.stack([column(name) for name in names], axis=-1)

    return Played(
        column("entry"),
        column("order"),
        np.array([sheet.ids["faction"].index(row["faction"]) for row in rows]).reshape(shape),
        column("vp"),
        columns([f"vp.{name}" for name in sheet.ids["vp_source"]]),
        columns(BEHAVIOUR),
        column("decisions")[..., 0],
        column("seconds", float)[..., 0],
        column("own_decisions"),
        column("illegal_moves"),
    )


def _row(line: str, number: int, sheet: Sheet, seats: np.ndarray) -> dict[str, str]:
    """One line by column, checked."""
    names = head(sheet.ids)
    try:
        cells = next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if len(cells) != len(names):
        raise ValueError(f"it has {len(cells)} columns, not {len(names)}")
    row = dict(zip(names, cells, strict=True))
    game, seat = divmod(number, len(sheet.names))
    setup, rotation = divmod(game, sheet.rotations)
    entry = int(seats[rotation, seat])
    wanted = {
        **{key: str(value) for key, value in sheet.about.items()},
        "setup": str(sheet.first + setup),
        "rotation": str(rotation), "seat": str(seat), "entry": str(entry),
        "agent": sheet.names[entry],
    }  # fmt: skip
    for key, value in wanted.items():
        if row[key] != value:
            raise ValueError(f"has {key} {row[key]}, this is {value}: name another CSV")
    if row["order"] not in {str(x) for x in range(1, len(sheet.names) + 1)}:
        raise ValueError(f"{row['order']!r} is no place in the turn order")
    if row["faction"] not in sheet.ids["faction"]:
        raise ValueError(f"{row['faction']!r} is no faction")
    for key in names[len(KEYS) + 1 :]:
        amount = float(row[key]) if key in FRACTIONS else int(row[key])
        if not abs(amount) < 1e9:
            raise ValueError(f"{key} is {row[key]}")
    return row
