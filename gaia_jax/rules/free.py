"""Free actions before and after the main action, and the Terrans' conversions (FRE, ROU-08)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.free_actions import FREE_ACTIONS_PER_TURN
from gaia_jax.rules import gaia, power
from gaia_jax.rules.operation import payable
from gaia_jax.rules.player import power_worth, stocks_take
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.state import GAIA_AREA, PI, Node


def options(seat: Seat) -> Array:
    """(free actions,) bool at TURN and AFTER; at TERRANS the same words name the conversions."""
    turn = seat.game.turn
    free = conversions(seat)
    free &= seat.at(Node.TURN) | seat.at(Node.AFTER) & keeps_turn_open(seat.ruleset, free)
    points = gaia.conversion_options(seat.ruleset, seat.me, turn.terrans_points.astype(jnp.int32))
    return free | seat.at(Node.TERRANS) & points


def conversions(seat: Seat) -> Array:
    """(free actions,) bool: payable, the faction's own, and not all of the gain lost (FRE-03).

    As many as are still allowed this turn (ROU-08, A21).
    """
    ruleset, faction, me, turn = seat.ruleset, seat.faction, seat.me, seat.game.turn
    row, ops = ruleset.operation_index, ruleset.tables.ops
    plain = np.array([row[f"free {x}"] for x in ruleset.ids["free_action"]])
    bundles = ruleset.tables.bundles
    whole_tokens = power_worth(faction, me) > 1
    bundled = np.where(bundles > 0, bundles, plain)
    op = OperationRow.select(
        whole_tokens, OperationRow.of(ops[bundled]), OperationRow.of(ops[plain])
    )
    useful = stocks_take(faction, me, op.gain) | (op.burn > 0) | (op.reverses_brainstone > 0)
    in_bowl = (me.brainstone >= 0) & (me.brainstone != GAIA_AREA)
    able = (
        payable(faction, me, op)
        & ((op.burn == 0) | power.burnable(me))
        & (me.gaiaformers >= op.gaiaformer)
        & (me.power[2] >= op.to_gaia)
        & ((op.reverses_brainstone == 0) | in_bowl & ~turn.brainstone_reversed)
        & faction.free_actions
        & ((me.built[PI] > 0) | ~ruleset.tables.free_needs_pi)
    )
    return useful & able & (turn.free_actions < FREE_ACTIONS_PER_TURN)


def keeps_turn_open(ruleset: Ruleset, free: Array) -> Array:
    """() bool, some free action is legal that is not the brainstone's alone (ROU-03, A1, A21)."""
    alone = np.array([action.reverses_brainstone for action in ruleset.free_actions])
    return (free & ~alone).any()
