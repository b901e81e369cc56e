"""Federations at the moment of forming, noted while games are played and checked apart.

`Formings` is what lay on the table before and after; `checks` says in numpy, from the rulings and
the components alone, what must hold (FED-01, FED-04 to FED-07, FED-09, FED-10, FED-15, FED-17).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs, map_tiles
from gaia_jax.components.planets import PLANETS
from gaia_jax.env import State
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AC_A, AC_B, GAIAFORMER, GUEST, PI, RING, STATION, Players
from gaia_jax.xla.struct import pytree

EMPTY, BLACK = PLANETS.index("Empty"), PLANETS.index("Black")


@pytree
class Formings:
    """Decisions after which some count of federations formed was another. E rows."""

    game: Array  # (E,) int32, place in the batch
    decision: Array  # (E,) int32, decisions of the game before this one
    player: Array  # (E,) int32, who decided
    faction: Array  # (E,) int8
    planet: Array  # (E, C) int8, and the rest of the board before the decision
    piece: Array  # (E, C) int8
    piece_owner: Array  # (E, C) int8
    flags: Array  # (E, C) uint8
    lantids: Array  # (E,) int8
    federation_bits: Array  # (E, C) uint8
    federation_bits_after: Array  # (E, C) uint8
    players: Players  # rows of all players, (E, P, ...)
    players_after: Players


def between(before: State, after: State, game: Array, decision: Array) -> Formings:
    """The rows of B decisions, whether they formed a federation or not; numpy or jax arrays."""
    board, player = before.game.board, before.current_player
    faction = before.game.setup.faction[np.arange(len(player)), player]
    return Formings(
        game=game,
        decision=decision,
        player=player,
        faction=faction,
        planet=board.planet,
        piece=board.piece,
        piece_owner=board.piece_owner,
        flags=board.flags,
        lantids=board.lantids,
        federation_bits=board.federation_bits,
        federation_bits_after=after.game.board.federation_bits,
        players=before.game.players,
        players_after=after.game.players,
    )


def changed(before: State, after: State) -> Array:
    """(B,) bool, somebody has another number of federations."""
    return (before.game.players.formed != after.game.players.formed).any(-1)


@dataclass(frozen=True)
class Log:
    """Watches games and keeps their formings (`games.Watch`).

    `capacity` formings of a batch are kept and at most `at_once` of one decision; how many were
    lost beyond that is counted.
    """

    capacity: int
    at_once: int

    def start(self, states: State) -> Any:
        """An empty log: the rows, how many there are, how many were lost."""
        zero = jnp.zeros_like(states.step_count)
        rows = between(states, states, zero, zero)
        empty = jax.tree.map(lambda x: jnp.zeros((self.capacity, *x.shape[1:]), x.dtype), rows)
        return empty, jnp.int32(0), jnp.int32(0)

    def see(self, record: Any, before: State, action: Array, after: State, live: Array) -> Any:
        """The log with the federations that these decisions formed."""
        rows, count, lost = record
        batch = live.shape[0]
        formed = live & changed(before, after)
        number = formed.sum()
        here = jnp.nonzero(formed, size=self.at_once, fill_value=batch)[0]
        there = jnp.where(here < batch, count + jnp.arange(self.at_once), self.capacity)
        new = between(before, after, jnp.arange(batch), before.step_count)
        rows = jax.tree.map(
            lambda old, x: old.at[there].set(x[jnp.minimum(here, batch - 1)], mode="drop"),
            rows,
            new,
        )
        end = count + jnp.minimum(number, self.at_once)
        lost += number - jnp.minimum(number, self.at_once) + jnp.maximum(end - self.capacity, 0)
        return rows, jnp.minimum(end, self.capacity), lost


def read(record: Any) -> Formings:
    """The rows of a log as numpy arrays.

    Raises:
        OverflowError: the log was too small.
    """
    rows, count, lost = jax.device_get(record)
    if lost:
        raise OverflowError(f"{lost} federations did not fit into the log")
    return jax.tree.map(lambda x: x[:count], rows)


def bounds(rules: Ruleset) -> np.ndarray:
    """(F,) int, the most federations of each faction: all power that it can have on the map.

    The sum of "Bounds": every piece, each planetary institute and academy with the tile that raises
    it, the Lost Planet, rings, stations, the Bescods' planets; divided by the requirement.
    """
    pieces = sum(number * costs.POWER_VALUE[name] for name, number in costs.PIECES.items())
    raised = max(tile.power_value_pi_ac or 0 for tile in rules.basic_tiles)
    for name in ("PI", "AC_A", "AC_B"):
        pieces += max(raised - costs.POWER_VALUE[name], 0)
    tiles = map_tiles.SECTOR_TILES
    black = sum(planet == "Black" for tile in tiles for _, planet in tile.planets)
    out = []
    for faction in rules.factions:
        power = pieces + costs.POWER_VALUE["MINE"] + black * faction.black_planet_bonus_pi
        power += costs.HIVE_STATIONS * costs.STATION_POWER * (faction.special == "HIVE_STATION")
        power += costs.MOWEYDS_RINGS * costs.RING_POWER * (faction.special == "MOWEYDS_RING")
        least = min(faction.federation_requirement, faction.federation_requirement_pi)
        out.append(power // least)
    return np.array(out)


def checks(rules: Ruleset, e: Formings) -> dict[str, np.ndarray]:
    """What must hold, by name; each (E,) bool, False where it does not.

    Args:
        rules: of the games.
        e: numpy arrays, as `read` gives them.
    """
    rows, player = np.arange(len(e.player)), e.player[:, None]
    me, then = _row(e.players, rows, e.player), _row(e.players_after, rows, e.player)
    bit = {name: 1 << i for i, name in enumerate(rules.ids["tile"])}

    def of(federation_bits: Any, shift: int) -> np.ndarray:
        return (federation_bits.astype(int) >> (player + shift)) & 1 == 1

    laid_before, laid_after = of(e.federation_bits, 0), of(e.federation_bits_after, 0)
    in_before, in_after = of(e.federation_bits, 4), of(e.federation_bits_after, 4)
    laid, joined = laid_after & ~laid_before, in_after & ~in_before
    old, new = laid_before | in_before, laid | joined
    hive = np.array([f.special == "HIVE_STATION" for f in rules.factions])[e.faction]
    in_qic = np.array([f.satellite_qic for f in rules.factions], bool)[e.faction]
    first = me["formed"] == 0
    can_grow = np.array([f.federation_grows for f in rules.factions], bool)
    grows = can_grow[e.faction] & ~first

    # Own structures, guests beside another's, stations of the Hive (FED-09, FED-14).
    host = (e.piece_owner == player) & (e.piece > 0) & (e.piece < GAIAFORMER)
    guest = (e.flags & GUEST != 0) & (e.lantids[:, None] == player)
    station = (e.flags & STATION != 0) & hive[:, None]
    raised = (me["tiles"] & ~me["covered"] & bit["BT8_PIAC_4"] != 0)[:, None]
    raised = raised & np.isin(e.piece, (PI, AC_A, AC_B))
    printed = np.array([*costs.POWER_VALUE.values(), 0])[e.piece]
    value = np.where(host, np.where(raised, 4, printed), 0) + guest * 1
    has_pi = me["built"][:, PI] > 0
    bonus = np.array([f.black_planet_bonus_pi for f in rules.factions])[e.faction] * has_pi
    value += bonus[:, None] * ((e.planet == BLACK) & (host | guest))
    moweyds = np.array([f.special == "MOWEYDS_RING" for f in rules.factions])[e.faction]
    value += costs.RING_POWER * (host & (e.flags & RING != 0) & moweyds[:, None])
    value += costs.STATION_POWER * station
    required = np.array([f.federation_requirement for f in rules.factions])[e.faction]
    required_pi = np.array([f.federation_requirement_pi for f in rules.factions])[e.faction]
    needed = np.where(has_pi, required_pi, required) * np.where(grows, me["formed"] + 1, 1)
    joins = np.where(grows[:, None], in_after, joined)

    tokens, tokens_after = _tokens(me), _tokens(then)
    paid, number = tokens - tokens_after, laid.sum(-1)
    spent = me["qic"] - then["qic"]
    nothing = np.zeros_like(number)
    others = np.arange(e.players.formed.shape[1]) != player
    formed, formed_after = np.asarray(e.players.formed), np.asarray(e.players_after.formed)
    mine = (1 << player) | (16 << player)
    outside = (host | guest | station) & ~in_after
    return {
        "one federation more, the decider's": (then["formed"] == me["formed"] + 1)
        & ((formed == formed_after) | ~others).all(-1),
        "it touches no other federation of its owner": grows | ~(_beside(rules, new) & old).any(-1),
        "it is one piece": _one_piece(rules, np.where(grows[:, None], old | new, new)),
        "its power suffices": (joins * value).sum(-1) >= needed,
        "its members are own structures and stations": ~(joined & ~(host | guest | station)).any(
            -1
        ),
        "satellites lie on empty cells without an own station": ~(
            laid & ((e.planet != EMPTY) | station)
        ).any(-1),
        "nothing leaves a federation, nobody else's changes": (old <= (laid_after | in_after)).all(
            -1
        )
        & ((e.federation_bits & ~mine) == (e.federation_bits_after & ~mine)).all(-1),
        "tokens paid are satellites laid": paid.sum(-1) == np.where(in_qic, nothing, number),
        "tokens go from bowls I, II, III, the brainstone last": (paid >= 0).all(-1)
        & (paid[:, 1:] * tokens_after[:, :-1] == 0).all(-1),
        "QIC paid are satellites laid": spent == np.where(in_qic, number, nothing),
        "the Gaia area is as it was": me["gaia_power"] == then["gaia_power"],
        "own structures beside it have joined": ~(
            _beside(rules, laid_after | in_after) & outside
        ).any(-1),
        "satellites are counted and within their supply": (
            then["satellites"] == me["satellites"] + number
        )
        & (then["satellites"] == laid_after.sum(-1))
        & (then["satellites"] <= costs.SATELLITES),
        "federations within the bound": then["formed"] <= bounds(rules)[e.faction],
    }


def _row(players: Players, rows: np.ndarray, player: Any) -> dict[str, np.ndarray]:
    names = ("formed", "tiles", "covered", "built", "power", "brainstone", "gaia_power", "qic")
    out = {name: np.asarray(getattr(players, name)) for name in (*names, "satellites")}
    return {name: value[rows, player].astype(int) for name, value in out.items()}


def _tokens(me: dict[str, np.ndarray]) -> np.ndarray:
    """(E, 4): ordinary tokens in bowls I, II, III, then the brainstone if it lies in a bowl."""
    stone = (me["brainstone"] >= 0) & (me["brainstone"] < 3)
    return np.concatenate([me["power"], stone[:, None].astype(int)], axis=-1)


def _beside(rules: Ruleset, cells: np.ndarray) -> np.ndarray:
    """(E, C) bool, cells that touch one of `cells`, by the distances of the map."""
    touches = (rules.geometry.distance == 1).astype(np.float32)
    return cells.astype(np.float32) @ touches > 0


def _one_piece(rules: Ruleset, cells: np.ndarray) -> np.ndarray:
    """(E,) bool, the cells are connected, and there are some."""
    first = np.arange(cells.shape[1]) == np.argmax(cells, axis=-1)[:, None]
    found = cells & first
    while True:
        more = found | cells & _beside(rules, found)
        if (more == found).all():
            return cells.any(-1) & (found == cells).all(-1)
        found = more
