"""Values of all actions of a node, of the visited ones from the search: "completed Q".

Danihelka and others, "Policy improvement by planning with Gumbel", appendix D.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

LOWEST = jnp.finfo(jnp.float32).min  # the logit of what may not be chosen


def mixed_value(raw: Array, logits: Array, visits: Array, utility: Array) -> Array:
    """What an action that was not visited is taken to be worth.

    The network's value, and the mean of the visited actions under the prior, by visits.

    Args:
        raw: (...) the mover's utility of the network's values.
        logits: (..., K) of the prior, LOWEST where there is no action.
        visits: (..., K) integers.
        utility: (..., K) the mover's, of the visited actions.
    Returns:
        (...) float32.
    """
    seen = visits > 0
    # A prior that rounds to 0 still counts if nothing else was visited.
    prior = jnp.maximum(jax.nn.softmax(logits), jnp.finfo(logits.dtype).tiny)
    share = jnp.sum(jnp.where(seen, prior, 0), axis=-1, keepdims=True)
    weight = jnp.where(seen, prior / jnp.where(seen, share, 1), 0)
    weighted = jnp.sum(weight * jnp.where(seen, utility, 0), axis=-1)
    count = jnp.sum(visits, axis=-1)
    return (raw + count * weighted) / (count + 1)


def completed(
    raw: Array, logits: Array, visits: Array, utility: Array, offset: float, scale: float
) -> tuple[Array, Array]:
    """Completed Q as logits, of the actions of a node and of any other.

    Args:
        raw, logits, visits, utility: as for `mixed_value`.
        offset, scale: the logits of a value of 1 are `(offset + most visits) * scale`.
    Returns:
        (..., K) of the actions and (...) of an action that was not visited.
    """
    worth = (offset + jnp.max(visits, axis=-1)) * scale
    mixed = mixed_value(raw, logits, visits, utility)
    estimate = jnp.where(visits > 0, utility, mixed[..., None])
    return worth[..., None] * estimate, worth * mixed
