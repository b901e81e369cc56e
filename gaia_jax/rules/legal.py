"""The legal mask: what the decider may do at the open node (docs/reference/actions.md).

The options of each verb are in its chapter; this module combines them. Nothing here changes the
game; results of the federation search are read from the state.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import (
    between_turns,
    cells,
    federation,
    fleet,
    free,
    income,
    leech,
    once_per_round,
    passing,
    research,
    tech,
    upgrade,
)
from gaia_jax.rules.operation import operation
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.state import GameState, Node


def legal_mask(ruleset: Ruleset, game: GameState) -> Array:
    """(A,) bool, the legal actions of `game.turn.player`; all True when the game is over (A7).

    Args:
        ruleset: the ruleset, static.
        game: a game as `rules.step` or `new_game` leaves it; `federation.resolve` completes one
            that was put together by hand.
    """
    seat = Seat.of_decider(ruleset, game)
    mode = operation(ruleset, jnp.where(seat.at(Node.TARGET), _mode(game), 0))
    acts = once_per_round.actions(seat)
    uses = _cell_uses(seat, acts, mode)
    ships = fleet.reachable(seat, mode, acts.places_where("explore")[1].extra_range)
    power, shared, special = once_per_round.options(seat, acts, uses, ships)
    advance, declines = research.options(seat, mode)
    skip = seat.at(Node.TERRANS, Node.ITARS, Node.FREE_MINE) | declines
    options = {
        "free": free.options(seat),
        "end_turn": seat.at(Node.AFTER)[None],
        "skip": skip[None],
        **passing.options(seat),
        **federation.options(seat),
        "advance": advance,
        "power": power,
        "ship": shared[: len(ruleset.ship_actions)],
        "qic": shared[len(ruleset.ship_actions) :],
        "special": special,
        "explore": fleet.explore_options(seat, mode, ships),
        "artifact": fleet.artifact_options(seat),
        "leech": leech.options(seat),
        **tech.options(seat),
        "token": tech.token_options(seat, mode),
        "income": income.options(seat),
        "piece": upgrade.piece_options(seat),
        "tinkering": between_turns.tinkering_options(seat),
    }
    verbs = [options[verb] for verb in ruleset.actions.ids]
    mask = jnp.concatenate([cells.planes(seat, mode, uses), *verbs])
    return mask | seat.at(Node.ENDED)


def _mode(game: GameState) -> Array:
    """() int32, the mode that waits for its target, 0 for none."""
    return jnp.maximum(game.turn.pending_op.astype(jnp.int32), 0)


def _cell_uses(seat: Seat, acts: once_per_round.Actions, mode: OperationRow) -> cells.Cells:
    """What the cells are good for; for mines the plane's mode, then all others that build one."""
    ruleset, game, row = seat.ruleset, seat.game, seat.ruleset.operation_index
    my_turn, target = seat.at(Node.TURN), seat.at(Node.TARGET)
    plain = jnp.where(my_turn, row["mine"], jnp.where(target, _mode(game), 0))
    free_mine = jnp.maximum(game.turn.free_mine.astype(jnp.int32), 0)
    plain = jnp.where(seat.at(Node.FREE_MINE), free_mine, plain)
    project = jnp.where(my_turn, row["project"], _mode(game) * target)
    targets = cells.Targets(
        modes=operation(ruleset, jnp.stack([plain, acts.faction])).values,
        project=operation(ruleset, project).values,
        own=mode.own,
        add=federation.addable(seat),
    )
    return cells.cell_uses(seat, acts.static_ops[acts.mine_modes], targets)


__all__ = ["legal_mask"]
