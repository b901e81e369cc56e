"""A random legal action."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.xla.as_written import as_written

_WIDTH = 8


@as_written
def sample_legal(mask: Array, uniform: Array) -> Array:
    """The k-th legal action, k = floor(uniform * number of legal actions).

    `argmax(cumsum(mask) > k)`, found by descending partial sums of eights: a flat `cumsum` over
    1,024 rows of 1,024 actions costs ten times as much on a CPU, and more than the step it feeds.

    Args:
        mask: (A,) bool, at least one True. Or (A,) int32, how many times each action counts: the
            draw is in proportion.
        uniform: () float32 in [0, 1).
    Returns:
        () int32, an index that is True (above 0) in `mask`.
    """
    levels = [mask.astype(jnp.int32)]
    while levels[-1].shape[0] > _WIDTH:
        levels[-1] = jnp.pad(levels[-1], (0, -levels[-1].shape[0] % _WIDTH))
        levels.append(levels[-1].reshape(-1, _WIDTH).sum(axis=-1))
    legal = levels[-1].sum()
    k = jnp.minimum((uniform * legal).astype(jnp.int32), legal - 1)  # u * n may round up to n
    index: Array = jnp.int32(0)
    for sums in reversed(levels):
        width = min(_WIDTH, sums.shape[0])
        children = jax.lax.dynamic_slice(sums, (index * _WIDTH,), (width,))
        total = jnp.cumsum(children)
        child = jnp.sum(total <= k, dtype=jnp.int32)
        k = k - (total[child] - children[child])
        index = index * _WIDTH + child
    return index
