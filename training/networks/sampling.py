"""Choosing among legal actions, from logits or at random."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.testing.sampling import sample_legal
from gaia_jax.xla.jax_config import own_jax_config

from ..types import Observation, Params, PolicyNetwork


@own_jax_config
def sample(logits: Array, mask: Array, uniform: Array) -> Array:
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
    return _invert(weight, mask, uniform)


@own_jax_config
def sample_uniform(mask: Array, uniform: Array) -> Array:
    """A legal action, each with the same probability. Shapes as in `sample`."""
    drawn: Array = jnp.vectorize(sample_legal, signature="(a),()->()")(mask, uniform)
    return drawn


@own_jax_config
def sample_action(
    network: PolicyNetwork, params: Params, observation: Observation, mask: Array, uniform: Array
) -> Array:
    """(B,) int32, actions of the environment drawn from the policy of a network.

    Args:
        mask: (B, A) bool. uniform: (B,) float32 in [0, 1).
    """
    inputs = network.encode(observation, mask)
    logits, _ = network.apply(params, inputs, method="logits_and_values")
    return network.to_action(inputs, sample(logits, inputs.mask, uniform))


@own_jax_config
def greedy(logits: Array, mask: Array) -> Array:
    """(..., A), (..., A) -> (...,) int32, the most probable legal action."""
    return jnp.argmax(jnp.where(mask, logits, -jnp.inf), axis=-1).astype(jnp.int32)


def _invert(weight: Array, mask: Array, uniform: Array) -> Array:
    below = jnp.cumsum(weight, axis=-1)
    total = jnp.max(below, axis=-1, keepdims=True, where=mask, initial=0.0)
    # A uniform below 1 times the total may round to the total, which no action exceeds.
    goal = jnp.minimum(uniform[..., None] * total, jnp.nextafter(total, jnp.zeros_like(total)))
    return jnp.argmax(mask & (below > goal), axis=-1).astype(jnp.int32)


@own_jax_config
def log_prob_and_entropy(logits: Array, action: Array) -> tuple[Array, Array]:
    """log p(action) and the entropy of softmax(logits), both (...,); illegal actions have p = 0."""
    log_p = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_p, action[..., None], axis=-1)[..., 0]
    return chosen, -jnp.sum(jnp.exp(log_p) * log_p, axis=-1)
