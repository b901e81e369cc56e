"""Choosing among legal actions, from logits or at random."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.sampling import sample_legal, sample_policy
from gaia_jax.xla.jax_config import own_jax_config

from ..types import Observation, Params, PolicyNetwork

sample = sample_policy


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
def most_probable(logits: Array, mask: Array) -> Array:
    """(..., A), (..., A) -> (...,) int32, the most probable legal action."""
    return jnp.argmax(jnp.where(mask, logits, -jnp.inf), axis=-1).astype(jnp.int32)


@own_jax_config
def log_prob_and_entropy(logits: Array, action: Array) -> tuple[Array, Array]:
    """log p(action) and the entropy of softmax(logits), both (...,); illegal actions have p = 0."""
    log_p = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_p, action[..., None], axis=-1)[..., 0]
    return chosen, -jnp.sum(jnp.exp(log_p) * log_p, axis=-1)
