"""Where the Automa builds a mine, and what it upgrades (AUT-19 to AUT-23)."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import automa
from gaia_jax.rules import mine, place
from gaia_jax.rules.automa.choice import FAR, Order, TieBreaker, directional, first
from gaia_jax.rules.mine import EMPTY, SHIP, TRANSDIM
from gaia_jax.rules.player import ASTEROID, GAIA, LOST, faction_row
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.automa_table import PREFERENCES, CardNumbers
from gaia_jax.state import AC_A, AC_B, AUTOMA, MINE, NONE, PI, RL, TS, GameState, Players
from gaia_jax.xla.packed import pick

MAX_STEPS = 3  # the largest distance of two colours on the ring; bounds a digit of the order
# Final missions for which the closest to a wanted planet is next best (AUT-41).
TO_NEAREST = ("ASTEROID_BUILDINGS", "DEEP_SECTORS")


class Choice(NamedTuple):
    """A mine or an upgrade that the Automa would place."""

    cell: Array  # () int32
    structure: Array  # () int32, code of `Board.piece`
    possible: Array  # () bool


class Selection(NamedTuple):
    """What decides among planets."""

    support: CardNumbers
    distance: Array  # (C,) int32, to the human's planets
    rank: Array  # (C,) int32, by the support card's direction


def selection(ruleset: Ruleset, support: CardNumbers, distance: Array) -> Selection:
    """The selection by a support card."""
    return Selection(support, distance, directional(ruleset, support.reverse))


def _as_type(planet: Array) -> Array:
    """A Transdim planet counts as Gaia."""
    return jnp.where(planet == TRANSDIM, GAIA, planet).astype(jnp.int32)


def is_new_type(me: Players, planet: Array) -> Array:
    """bool, the Automa has no planet of that type; `planet`: int8 of any shape."""
    kinds = jnp.arange(me.colonized.shape[-1])
    owned = jnp.where(me.colonized > 0, 1 << kinds, 0).sum()
    return owned >> _as_type(planet) & 1 == 0


def _mission_targets(ruleset: Ruleset, game: GameState, me: Players) -> dict[str, Array]:
    """By final mission, the planets that it wants: (C,) bool (AUT-20, AUT-41)."""
    board, planet = game.board, game.board.planet
    sector = jnp.asarray(ruleset.geometry.sector).astype(jnp.int32)
    is_main = ruleset.geometry.sector < ruleset.geometry.num_main_sectors
    is_new_sector = (sector >= 0) & (me.sectors >> jnp.maximum(sector, 0) & 1 == 0)
    is_free = (planet != EMPTY) & (planet != SHIP) & (planet != LOST) & (board.structure == NONE)
    return {
        "MAIN_SECTORS": is_new_sector & is_main,
        "PLANET_TYPES": is_new_type(me, planet),
        "GAIA_BUILDINGS": (planet == GAIA) | (planet == TRANSDIM),
        "ASTEROID_BUILDINGS": is_free & (planet == ASTEROID),
        "DEEP_SECTORS": is_free & is_new_sector & ~is_main,
    }


def mission_distance(
    ruleset: Ruleset, game: GameState, me: Players, mission: Array
) -> tuple[Array, int]:
    """How far each planet is from what the final mission on the support card wants (AUT-20, 3b).

    Without such a planet, or such a mission, all are alike.

    Args:
        mission: () int32, NO_MISSION, UPPER or LOWER.
    Returns:
        (C,) int32, 0 for the wanted ones, and how many values there are.
    """
    kind = game.setup.final_missions[jnp.maximum(mission, 0)]
    targets, to_nearest = jnp.zeros(game.board.planet.shape, bool), jnp.zeros((), bool)
    for name, cells in _mission_targets(ruleset, game, me).items():
        if name in ruleset.final_missions:
            is_kind = (kind == ruleset.final_missions.index(name)) & (mission != automa.NO_MISSION)
            targets |= cells & is_kind
            if name in TO_NEAREST:
                to_nearest |= is_kind
    mismatch = 1 - targets.astype(jnp.int32)
    if not {*TO_NEAREST} & {*ruleset.final_missions}:
        return mismatch, 2
    distance = jnp.asarray(ruleset.geometry.distance)
    nearest = jnp.where(targets, distance, np.int8(FAR)).min(-1).astype(jnp.int32)
    return jnp.where(to_nearest, nearest, mismatch), FAR + 1


def _nearest_first(at: Selection) -> tuple[TieBreaker, TieBreaker]:
    """The last two rules of each order: closest to the human, then the direction (AUT-20)."""
    closest = TieBreaker(at.distance, FAR + 1, "distance")
    return closest, TieBreaker(at.rank, len(at.rank), "direction")


def mine_order(
    ruleset: Ruleset, game: GameState, me: Players, at: Selection, reach: Array, prefers: Array
) -> Order:
    """The planets of the next mine (AUT-19, AUT-20).

    Args:
        me: the Automa's row; reach: () int32, the range.
        prefers: () int32, index of PREFERENCES, the first tie-breaker of a faction action.
    """
    board, planet = game.board, game.board.planet
    options = (planet != EMPTY) & (planet != SHIP) & (planet != LOST) & (board.piece == NONE)
    options &= board.distance_to_own[AUTOMA] <= reach
    options &= me.built[MINE] < int(ruleset.tables.pieces[MINE])
    off_ring = jnp.asarray(ruleset.automa_table.steps)[planet.astype(jnp.int32)]
    steps = jnp.where(off_ring >= 0, off_ring, mine.steps_to(game.steps[AUTOMA], planet))
    near = (prefers == PREFERENCES.index(automa.NEAR_HUMAN)) * at.distance
    transdim = (prefers == PREFERENCES.index(automa.TRANSDIM)) & (planet != TRANSDIM)
    mission = mission_distance(ruleset, game, me, at.support.mission)
    tie_breakers = (
        TieBreaker(near + transdim, FAR + 1, "faction"),
        TieBreaker(*mission, "mission"),
        TieBreaker(steps.astype(jnp.int32), MAX_STEPS + 1, "steps"),
        *_nearest_first(at),
    )
    return Order(options, tie_breakers)


def best_mine(order: Order) -> Choice:
    """The next mine, of `mine_order`."""
    cell, possible = first(order)
    return Choice(cell, jnp.int32(MINE), possible)


def upgrade_order(
    ruleset: Ruleset, game: GameState, me: Players, at: Selection, downgrades: Array
) -> tuple[Order, Array]:
    """The first upgrade of the list whose structure and piece are there (AUT-23, AUT-26).

    Args:
        me: the Automa's row; downgrades: () bool, a research lab to a trading station comes first.
    Returns:
        The cells with the structure, and () int32, what replaces it.
    """
    supply, board = ruleset.tables.pieces, game.board
    old, new, possible = jnp.int32(NONE), jnp.int32(NONE), jnp.zeros((), bool)
    for number, upgrade in reversed(list(enumerate(ruleset.automa_table.upgrades))):
        piece, is_left = jnp.int32(NONE), jnp.zeros((), bool)
        for code in reversed(upgrade.new):
            in_supply = me.built[code] < int(supply[code])
            piece, is_left = jnp.where(in_supply, code, piece), is_left | in_supply
        allowed = is_left & (me.built[upgrade.old] > 0)
        if number == 0:
            allowed &= downgrades
        old, new = jnp.where(allowed, upgrade.old, old), jnp.where(allowed, piece, new)
        possible |= allowed
    options = (board.piece_owner == AUTOMA) & (board.piece == old) & possible
    tie_breakers: tuple[TieBreaker, ...] = _nearest_first(at)
    if "PI_AC_DISTANCE" in ruleset.final_missions:
        near = _near_institute(ruleset, game, me, old, new)
        tie_breakers = (TieBreaker(near, FAR + 1, "institute"), *tie_breakers)
    return Order(options, tie_breakers), new


def best_upgrade(order: Order, structure: Array) -> Choice:
    """The upgrade of `upgrade_order`."""
    cell, possible = first(order)
    return Choice(cell, structure, possible)


def _near_institute(
    ruleset: Ruleset, game: GameState, me: Players, old: Array, new: Array
) -> Array:
    """(C,) int32, less the farther from the Automa's PI, where the upgrade goes far (AUT-43).

    These are the steps to an academy, with the final mission that counts its distance to the PI.

    Args:
        old, new: () int32, the structure that is replaced, and by which.
    """
    board, mission = game.board, ruleset.final_missions.index("PI_AC_DISTANCE")
    has_academy = me.built[AC_A] + me.built[AC_B] > 0
    applies = (old == MINE) & (new == TS) & ~has_academy | (old == TS) & (new == RL)
    applies &= (game.setup.final_missions == mission).any() & (me.built[PI] > 0)
    institute = jnp.argmax((board.piece == PI) & (board.piece_owner == AUTOMA))
    distance = jnp.asarray(ruleset.geometry.distance)[institute].astype(jnp.int32)
    return jnp.where(applies, FAR - distance, 0)


def place_structure(
    ruleset: Ruleset, game: GameState, me: Players, choice: Choice, is_mine: Array
) -> tuple[GameState, Players]:
    """The map and the Automa's row with the structure in its place (AUT-21).

    A Transdim planet becomes Gaia. Nothing happens where the choice is not possible.

    Args:
        is_mine: () bool, a new mine, else an upgrade.
    """
    cell, board = choice.cell, game.board
    at_cell = (jnp.arange(ruleset.geometry.num_cells) == cell) & is_mine & choice.possible
    planet = jnp.where(at_cell & (board.planet == TRANSDIM), jnp.int8(GAIA), board.planet)
    game = game.replace(board=board.replace(planet=planet))
    no = jnp.zeros((), bool)
    placement = place.Placement(
        cell=cell,
        structure=jnp.where(choice.possible, choice.structure, NONE),
        is_new=is_mine & choice.possible,
        guest=no,
        lost=no,
        gaiaformer=no,
        instant=no,
        station=no,
        ring=no,
        swap=no,
    )
    player = jnp.int32(AUTOMA)
    seat = Seat(ruleset, game, player, faction_row(ruleset, game, player), me)
    me = place.of_player(seat, placement)
    return game.replace(board=place.on_board(ruleset, game.board, player, placement)), me


def lies_alone(game: GameState, cell: Array) -> Array:
    """() bool, no structure of the Automa is next to the cell (AUT-21)."""
    return pick(game.board.distance_to_own[AUTOMA], cell) > 1
