"""Finished games as rows of a CSV, one for each seat: what an arena writes and reads back."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from training.config import UserError
from training.match import NUM_SEATS, Results, places, wins

# Columns that say which game and seat a row is, and where it comes from.
KEYS = ("env", "version", "seed", "agents", "setup", "rotation", "seat", "order", "entry", "agent")
# What `describe` reads of an ended game, and what is counted while it lasts.
BEHAVIOUR = (
    "federations", "advanced_tiles", "research_steps", "ships", "artifacts", "leech_taken",
    "leech_declined", "credits_left", "ore_left", "knowledge_left", "qic_left", "tokens_left",
)  # fmt: skip
WATCHED = ("leech_taken", "leech_declined")


class Played(NamedTuple):
    """Games of four entries. S set-ups, R rotations, P = 4 seats, K sources of VP."""

    entry: np.ndarray  # (S, R, P) which of the four entries sat there
    order: np.ndarray  # (S, R, P) place in the turn order of round 1, from 1
    faction: np.ndarray  # (S, R, P) index in ids["faction"]
    vp: np.ndarray  # (S, R, P)
    sources: np.ndarray  # (S, R, P, K)
    behaviour: np.ndarray  # (S, R, P, len(BEHAVIOUR))
    decisions: np.ndarray  # (S, R) of all players
    seconds: np.ndarray  # (S, R) of playing; the games of a batch share theirs


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


def watch(rules: Any) -> np.ndarray:
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
    )


def join(parts: Sequence[Played]) -> Played:
    """All games of the parts, in order."""
    return Played(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def write(
    path: Path, played: Played, first: int, about: dict[str, Any], names: list[str], ids: Any
) -> None:
    """Append games to a CSV, with a head where it is new; pandas reads it.

    Args:
        first: number of the first set-up.
        about: `env`, `version`, `seed`, `agents`.
        names: of the four entries.
        ids: of `faction` and `vp_source`.
    Raises:
        UserError: it cannot be written.
    """
    place, win = places(played.vp), wins(played.vp)
    try:
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(_head(ids))
            for s, r, p in np.ndindex(*played.vp.shape):
                entry = int(played.entry[s, r, p])
                keys = [about[x] for x in KEYS[:4]]
                keys += [first + s, r, p, played.order[s, r, p], entry, names[entry]]
                row = [ids["faction"][played.faction[s, r, p]], played.vp[s, r, p]]
                row += [place[s, r, p], round(float(win[s, r, p]), 6)]
                row += [played.decisions[s, r], round(float(played.seconds[s, r]), 6)]
                writer.writerow(keys + row + [*played.behaviour[s, r, p], *played.sources[s, r, p]])
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def read(path: Path, about: dict[str, Any], rotations: int, ids: Any) -> Played | None:
    """The games of a CSV that `write` made; None where there is none.

    Raises:
        UserError: it is of another evaluation, or not of ours.
    """
    if not path.exists():
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    head = _head(ids)
    if rows and None in rows[-1].values():  # cut off in the middle
        rows.pop()
    if any(list(row) != head or None in row.values() for row in rows):
        raise UserError(f"{path} is not a CSV of this arena")
    for row in rows:
        for key, value in about.items():
            if row[key] != str(value):
                raise UserError(f"{path} has {key} {row[key]}, this is {value}: name another CSV")
    # A set-up that was cut off in the middle does not count.
    games = rotations * NUM_SEATS
    rows = rows[: len(rows) // games * games]
    if not rows:
        return None
    shape = (len(rows) // games, rotations, NUM_SEATS)
    if len({row["setup"] for row in rows}) != shape[0]:
        raise UserError(f"{path} has another number of rotations than {rotations}")

    def column(name: str, kind: type = int) -> np.ndarray:
        return np.array([kind(row[name]) for row in rows]).reshape(shape)

    def columns(names: Sequence[str]) -> np.ndarray:
        return np.stack([column(name) for name in names], axis=-1)

    return Played(
        column("entry"),
        column("order"),
        np.array([ids["faction"].index(row["faction"]) for row in rows]).reshape(shape),
        column("vp"),
        columns([f"vp.{name}" for name in ids["vp_source"]]),
        columns(BEHAVIOUR),
        column("decisions")[..., 0],
        column("seconds", float)[..., 0],
    )


def _head(ids: Any) -> list[str]:
    sources = [f"vp.{name}" for name in ids["vp_source"]]
    return [*KEYS, "faction", "vp", "place", "win", "decisions", "seconds", *BEHAVIOUR, *sources]
