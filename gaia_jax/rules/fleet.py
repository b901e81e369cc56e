"""The ships of The Lost Fleet: exploring them, their artifacts (EXP, ART-01)."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.artifacts import ARTIFACT_COST
from gaia_jax.components.ships import ARTIFACT_SHIP
from gaia_jax.rules import mine, power
from gaia_jax.rules.operation import operation, payable
from gaia_jax.rules.player import bit_vector, has
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.state import Node
from gaia_jax.xla.packed import pick


class Explorable(NamedTuple):
    """Ships that can be explored."""

    by_main_action: Array  # (ships,) bool
    by_open_mode: Array  # (ships,) bool, by the mode that waits for its target
    by_mode: Array  # (n, ships) bool, by each once-a-round action that explores


def explorable(seat: Seat, bonus: Array) -> Array:
    """(..., ships) bool: no own shuttle there, one left, in range, payable (EXP-01 to EXP-03).

    Args:
        bonus: (...) int32, range that the action adds.
    """
    ruleset, game, faction, me = seat.ruleset, seat.game, seat.faction, seat.me
    has_shuttle = bit_vector(me.shuttles, len(ruleset.ships)) == 1
    cells = game.setup.ship_cell.astype(jnp.int32)
    distance = pick(game.board.distance_to_own, seat.player).astype(jnp.int32)[cells]
    qic = mine.range_qic(distance, mine.basic_range(ruleset, me) + bonus[..., None])
    able = payable(faction, me, operation(ruleset, faction.explore_op))
    shuttles = faction.shuttles + (faction.preplaced_ship >= 0)
    return ~has_shuttle & (has_shuttle.sum() < shuttles) & (qic <= me.qic) & able


def reachable(seat: Seat, mode: OperationRow, bonus: Array) -> Explorable:
    """What the player can explore.

    Args:
        mode: the mode that waits for its target; bonus: (n,) int32, range that each mode adds.
    """
    bonuses = [jnp.zeros(1, jnp.int32), mode.extra_range[None], bonus]
    ships = explorable(seat, jnp.concatenate(bonuses))
    return Explorable(ships[0], ships[1], ships[2:])


def explore_options(seat: Seat, mode: OperationRow, ships: Explorable) -> Array:
    """(ships,) bool, the main action, or the target of a mode."""
    by_mode = seat.at(Node.TARGET) & (mode.explore > 0) & ships.by_open_mode
    return seat.at(Node.TURN) & ships.by_main_action | by_mode


def artifact_kind(seat: Seat, place: Array) -> Array:
    """() int32, the artifact of a place, () int32, in a ruleset that has artifacts."""
    last = seat.ruleset.artifacts_in_play - 1
    return seat.game.setup.artifacts.astype(jnp.int32)[jnp.minimum(place, last)]


def artifact_options(seat: Seat) -> Array:
    """(artifacts in play,) bool: still there, an own shuttle on the ship, payable (ART-01)."""
    ruleset, me = seat.ruleset, seat.me
    left = bit_vector(seat.game.turn.artifacts_left, ruleset.artifacts_in_play) == 1
    ship = ruleset.ids["ship"].index(ARTIFACT_SHIP) if ruleset.artifacts else 0
    can_take = has(me.shuttles, ship) & (power.total_tokens(me) >= ARTIFACT_COST.tokens)
    return seat.at(Node.TURN) & left & can_take
