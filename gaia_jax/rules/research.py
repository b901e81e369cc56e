"""Research: which tracks can advance, and what a level gives (RES-01 to RES-10)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.research import MAX_LEVEL
from gaia_jax.rules.operation import operation, payable
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.state import PI, Node, Players


def advance_options(seat: Seat) -> tuple[Array, Array]:
    """Tracks on which the player can go one level up, from any cause (RES-02, BAL-01).

    Returns:
        (6,) bool steps below level 5, and (6,) bool steps that enter level 5: a green token is
        available to flip and no player is on level 5 of the track.
    """
    faction, me = seat.faction, seat.me
    navigation = jnp.arange(6) == seat.ruleset.ids["track"].index("navigation")
    locked = (faction.navigation_needs_pi > 0) & (me.built[PI] == 0) & navigation
    below = (me.tracks < MAX_LEVEL - 1) & ~locked
    free = (seat.game.players.tracks < MAX_LEVEL).all(0)
    enter = (me.tracks == MAX_LEVEL - 1) & free & (me.green > 0) & ~locked
    return below, enter


def lowest(me: Players) -> Array:
    """(6,) bool, the tracks at the player's lowest level (ACT-15)."""
    return me.tracks == me.tracks.min()


def step_options(ruleset: Ruleset, below: Array, enter: Array, step: Array) -> Array:
    """(6,) bool, tracks offered at STEP: any that can advance, or the one asked for."""
    track = jnp.arange(below.shape[0])
    is_pending = (step >= 2) & (track == step.astype(jnp.int32) - 2)
    on_track = below | enter if ruleset.free_step_is_optional else enter
    return jnp.where(step == 1, below | enter, is_pending & on_track)


def options(seat: Seat, mode: OperationRow) -> tuple[Array, Array]:
    """(6,) bool `advance`: the main action, a step to choose, the target of a mode; and () bool,
    the step may be declined (TEC-09).
    """
    ruleset, me, turn = seat.ruleset, seat.me, seat.game.turn
    below, enter = advance_options(seat)
    tracks, target = below | enter, seat.at(Node.TARGET)
    by_mode = tracks & (mode.research > 0) & ((mode.lowest == 0) | lowest(me))
    steps = step_options(ruleset, below, enter, turn.pending_step)
    price = operation(ruleset, ruleset.operation_index["research"])
    advance = seat.at(Node.TURN) & tracks & payable(seat.faction, me, price)
    advance |= seat.at(Node.STEP) & steps | target & by_mode
    declines = seat.at(Node.STEP) & ~(steps & below).any()
    if ruleset.free_step_is_optional:
        declines = seat.at(Node.STEP) | target & (mode.lowest > 0)
    return advance, declines
