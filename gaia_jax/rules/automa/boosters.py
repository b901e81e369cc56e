"""The row of boosters without owner, whose order matters against the Automa (AUT-07, AUT-28)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.state import HUMAN, GameState, Players


def exchange(row: Array, removed: Array, returned: Array, happens: Array) -> Array:
    """The row without one booster and with another at its right end; gaps close (AUT-29).

    Args:
        row: (5,) int8, from left to right, -1 beyond the last.
        removed, returned: () int32, indices of ids["booster"]; -1 returns none.
        happens: () bool.
    """
    number = jnp.arange(len(row))
    place = jnp.argmax(row == removed)
    shorter = jnp.where(number < place, row, jnp.append(row[1:], jnp.int8(-1)))
    end = (shorter >= 0).sum()
    after = jnp.where(number == end, returned.astype(row.dtype), shorter)
    return jnp.where(happens, after, row)


def after_human(game: GameState, before: Players) -> GameState:
    """The game with the row after a decision of the human, who may have taken another booster.

    Args:
        before: the players before the decision.
    """
    assert game.automa is not None
    old, new = before.booster[HUMAN], game.players.booster[HUMAN]
    row = exchange(game.automa.booster_row, new, old, new != old)
    return game.replace(automa=game.automa.replace(booster_row=row))
