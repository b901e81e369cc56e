"""The Automa's turns between two decisions of the human.

It plays on while the human has no decision: one turn as a rule, turn after turn once the human has
passed. Rows of a batch in which it does not move are not computed.
"""

from __future__ import annotations

from functools import partial

import jax
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
from gaia_jax.xla.batch_aware import batch_aware, traced_once
from gaia_jax.xla.compact_vmap import chunk_rows, compact_vmap, in_chunks

# Games of a chunk on a CPU.
CHUNK = 64
# What a turn changes of a game.
Changed = tuple[Board, Players, Turn, AutomaState | None]
Played = tuple[Changed, Stop]


def moves(game: GameState) -> Array:
    """() bool, the next turn is the Automa's."""
    return (game.turn.phase == Phase.ACTIONS) & (game.turn.active == AUTOMA)


def play(ruleset: Ruleset, game: GameState, need: Array) -> tuple[GameState, Stop]:
    """The game after the Automa's turns, where it is on turn, and why it stopped.

    The rows of a batch that need another turn are gathered for it: most need one, a few ten.

    Args:
        need: () bool, the Automa is on turn, and no decision is pending.
    """
    turn, no = traced_once(partial(_turn, ruleset)), jnp.zeros((), bool)

    def one_row(need: Array, game: GameState) -> Played:
        def body(played: Played) -> Played:
            return turn(_with_changed(game, played[0]))

        start = _changed(game), Stop(no, no, ~need)
        return lax.while_loop(lambda played: ~played[1].any_reason(), body, start)

    def many_rows(need: Array, game: GameState) -> Played:
        chunk = chunk_rows(need.shape[0], CHUNK)

        def run_chunk(_: Array, rows: tuple[Changed, GameState]) -> Played:
            return jax.vmap(turn)(_with_changed(rows[1], rows[0]))

        def body(played: Played) -> Played:
            after: Played = in_chunks(
                run_chunk, chunk, ~played[1].any_reason(), played, (played[0], game)
            )
            return after

        none = jnp.zeros_like(need)
        start = _changed(game), Stop(none, none, ~need)
        return lax.while_loop(lambda played: ~played[1].any_reason().all(), body, start)

    changed, stop = batch_aware(one_row, many_rows)(need, game)
    return _with_changed(game, changed), stop


def _turn(ruleset: Ruleset, game: GameState) -> Played:
    after, stop = take_turn(ruleset, game)
    return _changed(after), stop


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
        partial(_set_up_and_turn, ruleset),
        set_up.is_next(game) | moves(game) & (game.turn.node == Node.TURN),
        (game,),
        _changed(game),
        cpu_chunk=CHUNK,
    )
    game = _with_changed(game, changed)
    # Even if the Automa passed last, the human is the player of an ended game.
    return game.replace(turn=game.turn.replace(player=HUMAN))


def _set_up_and_turn(ruleset: Ruleset, game: GameState) -> Changed:
    """What the steps of the set-up, or the first turn of a round, change; it is no pass."""
    game = set_up.take_steps(ruleset, game)
    is_turn = moves(game)
    after = _turn(ruleset, game)[0]
    out: Changed = jax.tree.map(lambda a, b: jnp.where(is_turn, a, b), after, _changed(game))
    return out


def _changed(game: GameState) -> Changed:
    return game.board, game.players, game.turn, game.automa


def _with_changed(game: GameState, changed: Changed) -> GameState:
    board, players, turn, automa = changed
    return game.replace(board=board, players=players, turn=turn, automa=automa)
