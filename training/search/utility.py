"""What the one who decides wants, from the values of all players: the model of the opponents."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

# (values (..., P), mover (...) int32, root (...) int32) -> (...)
Utility = Callable[[Array, Array, Array], Array]


def max_n(values: Array, mover: Array, root: Array) -> Array:
    """Everyone wants the most for themselves (max^n).

    Args:
        values: (..., P) float32.
        mover: (...) int32, who decides.
        root: (...) int32, who decides at the root.
    Returns:
        (...) float32.
    """
    return _of(values, mover)


def margin(values: Array, mover: Array, root: Array) -> Array:
    """Everyone wants to be ahead of the mean of the others; shapes as for `max_n`."""
    own, players = _of(values, mover), values.shape[-1]
    if players == 1:
        return own
    return own - (jnp.sum(values, axis=-1) - own) / (players - 1)


def paranoid(values: Array, mover: Array, root: Array) -> Array:
    """Everyone else wants the least for the player at the root; shapes as for `max_n`."""
    opponents = _of(values, root)
    return jnp.where(mover == root, opponents, -opponents)


def _of(values: Array, player: Array) -> Array:
    chosen = player[..., None].astype(jnp.int32) == jnp.arange(values.shape[-1])
    return jnp.sum(jnp.where(chosen, values, 0), axis=-1)


UTILITIES: dict[str, Utility] = {"max_n": max_n, "margin": margin, "paranoid": paranoid}
