"""The factored head: first the kind of action, its verb, then the action of that kind.

log p(action) = log p(kind) + log p(action | kind), each a softmax over the legal ones. Every action
has one kind, so the logits of the actions of a kind define p(action | kind). The sums are used as
logits: sampling and learning do not change.
"""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
from jax import Array

from ..types import Environment

ILLEGAL_LOGIT = -1e9


def kind_sizes(env: Environment) -> tuple[int, ...]:
    """The number of actions of each kind, in the order of the environment's index.

    Each plane of cells is a kind, and each other verb; in an environment without verbs all actions
    outside of planes are one kind.
    """
    cells = len(env.ruleset.geometry.neighbors)
    starts = {plane * cells for plane in range(len(env.action_planes) + 1)}
    if hasattr(env.ruleset, "actions"):
        starts |= set(env.ruleset.actions.first.values())
    edges = sorted(start for start in starts if start < env.num_actions)
    return tuple(b - a for a, b in pairwise([*edges, env.num_actions]))


def in_two_steps(logits: Array, mask: Array, kinds: Array, sizes: tuple[int, ...]) -> Array:
    """Logits of actions given their kind, and of the kinds -> log p(action).

    Args:
        logits: (B, W) float32, of the actions, kind after kind.
        mask: (B, W) bool, at least one legal action.
        kinds: (B, K) float32, logits of the kinds.
        sizes: K numbers, how many actions each kind has; W together.
    Returns:
        (B, W) float32; ILLEGAL_LOGIT where an action is not legal.
    """
    logits = jnp.where(mask, logits, ILLEGAL_LOGIT)
    edges = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    # Slices one by one: the same with indices is a scatter in the gradient.
    parts = [slice(a, b) for a, b in pairwise(edges)]
    legal = jnp.stack([mask[..., part].any(-1) for part in parts], axis=-1)
    kind = jax.nn.log_softmax(jnp.where(legal, kinds, ILLEGAL_LOGIT))
    out = [
        kind[..., number, None] + jax.nn.log_softmax(logits[..., part])
        for number, part in enumerate(parts)
    ]
    return jnp.where(mask, jnp.concatenate(out, axis=-1), ILLEGAL_LOGIT)
