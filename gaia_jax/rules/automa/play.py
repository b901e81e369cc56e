"""The Automa's turns between two decisions of the human.

It plays on while the human has no decision: one turn as a rule, turn after turn once the human has
passed. Rows of a batch in which it does not move are not computed.
"""

from __future__ import annotations

from functools import partial

import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.rules.automa import set_up
from gaia_jax.rules.automa.turn import Stop, take_turn
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import (
    AUTOMA,
    HUMAN,
    AutomaState,
    Board,
    GameState,
    Node,
    Phase,
    Players,
    Turn,
)
from gaia_jax.xla.compact_vmap import compact_vmap

# Games of a chunk on a CPU.
CHUNK = 32
# What a turn changes of a game.
Changed = tuple[Board, Players, Turn, AutomaState | None]


def moves(game: GameState) -> Array:
    """() bool, the next turn is the Automa's."""
    return (game.turn.phase == Phase.ACTIONS) & (game.turn.active == AUTOMA)


def play(ruleset: Ruleset, game: GameState, need: Array) -> tuple[GameState, Stop]:
    """The game after the Automa's turns, where it is on turn, and why it stopped.

    Args:
        need: () bool, the Automa is on turn, and no decision is pending.
    """
    no = jnp.zeros((), bool)
    changed, stop = compact_vmap(
        partial(_turns, ruleset), need, (game,), (_changed(game), Stop(no, no, no)), cpu_chunk=CHUNK
    )
    return _with_changed(game, changed), stop


def _turns(ruleset: Ruleset, game: GameState) -> tuple[Changed, Stop]:
    def goes_on(carry: tuple[Changed, Stop]) -> Array:
        return ~(carry[1].offer_waits | carry[1].round_over | carry[1].human_moves)

    def turn(carry: tuple[Changed, Stop]) -> tuple[Changed, Stop]:
        after, stop = take_turn(ruleset, _with_changed(game, carry[0]))
        return _changed(after), stop

    no = jnp.zeros((), bool)
    return lax.while_loop(goes_on, turn, (_changed(game), Stop(no, no, no)))


def after_round(ruleset: Ruleset, game: GameState, round_before: Array) -> GameState:
    """The game up to a decision of the human, after the time between turns.

    The Automa takes its steps of the set-up, or the first turn of a round; a new round has a new
    deck (AUT-09).

    Args:
        round_before: () int, `turn.round` before it.
    """
    assert game.automa is not None
    turns = jnp.where(game.turn.round != round_before, 0, game.automa.turns).astype(jnp.int8)
    game = game.replace(automa=game.automa.replace(turns=turns))
    changed = compact_vmap(
        partial(_set_up_steps, ruleset),
        set_up.is_next(game),
        (game,),
        _changed(game),
        cpu_chunk=CHUNK,
    )
    game = _with_changed(game, changed)
    game = play(ruleset, game, moves(game) & (game.turn.node == Node.TURN))[0]
    # Even if the Automa passed last, the human is the player of an ended game.
    return game.replace(turn=game.turn.replace(player=HUMAN))


def _set_up_steps(ruleset: Ruleset, game: GameState) -> Changed:
    return _changed(set_up.take_steps(ruleset, game))


def _changed(game: GameState) -> Changed:
    return game.board, game.players, game.turn, game.automa


def _with_changed(game: GameState, changed: Changed) -> GameState:
    board, players, turn, automa = changed
    return game.replace(board=board, players=players, turn=turn, automa=automa)
