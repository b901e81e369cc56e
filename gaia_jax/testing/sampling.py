"""A random legal action."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.xla.as_written import as_written

# How a draw is made, for reports.
NAME = "cumulative sum: one uniform, k = floor(u n), the k-th legal index by sums of eights"
_WIDTH = 8


@as_written
def sample_legal(mask: Array, uniform: Array) -> Array:
    """The k-th legal action, k = floor(uniform * number of legal actions).

    `argmax(cumsum(mask) > k)`, found by descending a tree of partial sums whose nodes have eight
    children: a flat `cumsum` over 1,024 rows of 1,024 actions costs ten times as much on a CPU, and
    more than the step it feeds. The children of a node are read by a sum over all nodes of which
    one counts, because a TPU makes of a gather a loop over the rows of the batch.

    Args:
        mask: (A,) bool, at least one True. Or (A,) int32, how many times each action counts: the
            draw is in proportion.
        uniform: () float32 in [0, 1).
    Returns:
        () int32, an index that is True (above 0) in `mask`.
    """
    levels = [mask.astype(jnp.int8 if mask.dtype == bool else jnp.int32)]
    while levels[-1].shape[0] > _WIDTH:
        counts = jnp.pad(levels[-1], (0, -levels[-1].shape[0] % _WIDTH)).reshape(-1, _WIDTH)
        levels[-1] = counts
        levels.append(counts.sum(axis=-1, dtype=counts.dtype).astype(jnp.int32))
    levels[-1] = levels[-1][None].astype(jnp.int32)
    legal = levels[-1].sum()
    k = jnp.minimum((uniform * legal).astype(jnp.int32), legal - 1)  # u * n may round up to n
    node: Array = jnp.int32(0)
    for counts in reversed(levels):
        here = (jnp.arange(counts.shape[0]) == node)[:, None]
        children = jnp.where(here, counts, 0).sum(axis=0, dtype=counts.dtype).astype(jnp.int32)
        number = jnp.arange(children.shape[0])
        total = jnp.where(number <= number[:, None], children, 0).sum(axis=-1)
        passed = total <= k
        k = k - jnp.max(jnp.where(passed, total, 0))
        node = node * _WIDTH + passed.sum(dtype=jnp.int32)
    return node
