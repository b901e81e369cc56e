"""GameState -> Observation, seen from one seat."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.ruleset import Ruleset
from gaia_jax.state import NUM_PLAYERS, GameState
from gaia_jax.struct import pytree


@pytree
class Observation:
    """The game as one player sees it, own seat first (RL-05)."""

    cells: Array  # (C, Fc) int8
    players: Array  # (P, Fp) int16, own seat first, then by turn order
    globals: Array  # (Fg,) int16


def seats(game: GameState, player: Array) -> Array:
    """(P,) int32, `player`, then the others as they follow in the turn order of the round."""
    order = game.turn.order.astype(jnp.int32)
    first = jnp.argmax(order == player)
    return order[(first + jnp.arange(NUM_PLAYERS)) % NUM_PLAYERS]


def observe(rules: Ruleset, game: GameState, player: Array) -> Observation:
    """The observation of `player`."""
    who = seats(game, player)
    return Observation(
        cells=jnp.stack([game.board.planet, game.board.structure], -1),
        players=jnp.stack([game.players.vp[who], who.astype(jnp.int16)], -1),
        globals=jnp.stack([game.turn.round, game.turn.node]).astype(jnp.int16),
    )
