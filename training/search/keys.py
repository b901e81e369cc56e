"""Random numbers of a batch: from one key, or from a key for each row."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array


def one_a_row(key: Array) -> bool:
    """Whether `key` is (B,) keys; else it is a single one."""
    return key.ndim > (0 if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else 1)


def root_noise(key: Array, shape: tuple[int, ...], scale: float) -> tuple[Array, Array]:
    """Gumbel noise (B, A), and the key or keys of the steps after it."""
    batch, actions = shape
    if not scale:
        return jnp.zeros(shape), key
    if not one_a_row(key):
        key, noise_key = jax.random.split(key)
        return scale * jax.random.gumbel(noise_key, shape), key
    keys = jax.vmap(jax.random.split)(key)
    noise = jax.vmap(partial(jax.random.gumbel, shape=(actions,)))(keys[:, 1])
    return scale * noise, keys[:, 0]


def fold_in(key: Array, number: Array) -> Array:
    """The key or keys of one of many steps."""
    fold = jax.random.fold_in
    return jax.vmap(fold, (0, None))(key, number) if one_a_row(key) else fold(key, number)
