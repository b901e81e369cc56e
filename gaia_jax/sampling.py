"""A random legal action, or one drawn from the logits of a policy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.arguments import shape, shown
from gaia_jax.xla.jax_config import own_jax_config

# How a draw is made, for reports.
NAME = "cumulative sum: one uniform, k = floor(u n), the k-th legal index by sums of eights"
_WIDTH = 8


@own_jax_config
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
    Raises:
        TypeError, ValueError: `uniform` is a key or no number; a batch without `jax.vmap`.
    """
    mask, uniform = _check(mask, uniform)
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
        is_node = (jnp.arange(counts.shape[0]) == node)[:, None]
        children = jnp.where(is_node, counts, 0).sum(axis=0, dtype=counts.dtype).astype(jnp.int32)
        number = jnp.arange(children.shape[0])
        total = jnp.where(number <= number[:, None], children, 0).sum(axis=-1)
        passed = total <= k
        k = k - jnp.max(jnp.where(passed, total, 0))
        node = node * _WIDTH + passed.sum(dtype=jnp.int32)
    return node


@own_jax_config
def sample_policy(logits: Array, mask: Array, uniform: Array) -> Array:
    """Draw from softmax(logits) among the legal actions by one uniform number.

    `jax.random.categorical` needs a Gumbel number for each action: 4.0 ms for 256 rows of 1,023 on
    two cores, this 1.0 ms. XLA sums a prefix in any order, so the sums need not be flat over
    illegal actions: the mask is asked again.

    Args:
        logits: (..., A) float32.
        mask: (..., A) bool, at least one legal action.
        uniform: (...,) float32 in [0, 1).
    Returns:
        (...,) int32, always legal.
    """
    top = jnp.max(logits, axis=-1, keepdims=True, where=mask, initial=-jnp.inf)
    weight = jnp.where(mask, jnp.exp(logits - top), 0.0)
    below = jnp.cumsum(weight, axis=-1)
    total = jnp.max(below, axis=-1, keepdims=True, where=mask, initial=0.0)
    # A uniform below 1 times the total may round to the total, which no action exceeds.
    goal = jnp.minimum(uniform[..., None] * total, jnp.nextafter(total, jnp.zeros_like(total)))
    return jnp.argmax(mask & (below > goal), axis=-1).astype(jnp.int32)


def _check(mask: Array, uniform: Array | float) -> tuple[Array, Array]:
    """One mask and one number as arrays."""
    if len(shape(mask)) != 1:
        raise ValueError(f"mask must be (A,), not of shape {shape(mask)}; use jax.vmap")
    dtype = getattr(uniform, "dtype", None)
    is_key = dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key)
    if is_key or (dtype == np.uint32 and shape(uniform) == (2,)):
        raise TypeError(
            "uniform must be a number in [0, 1), not a key; use jax.random.uniform(key)"
        )
    if shape(uniform):
        raise ValueError(f"uniform must be a scalar, not of shape {shape(uniform)}; use jax.vmap")
    if dtype is None and not isinstance(uniform, int | float):
        raise TypeError(f"uniform must be a number in [0, 1), not {shown(uniform)}")
    return jnp.asarray(mask), jnp.asarray(uniform)
