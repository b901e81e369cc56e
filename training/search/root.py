"""The root of a search: its candidates, how they are scored, and what becomes of the policy."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .base import RootFnOutput
from .qvalues import LOWEST
from .tree import Rows, nodes_of


class Start(NamedTuple):
    """The positions that are searched, and their candidates."""

    root: RootFnOutput
    rows: Rows  # the root's edges
    noise: Array  # (B, K) float32, of the edges


def root_candidates(root: RootFnOutput, gumbel: Array, count: int) -> tuple[Rows, Array]:
    """The root's actions, drawn without replacement, the first K of logits + noise.

    Returns:
        the root's edges and their noise (B, K).
    """
    count = min(count, root.prior_logits.shape[-1])
    logits = root.prior_logits
    rows = nodes_of(logits + gumbel, root.legal_actions, root.value, root.to_play, count)
    exists = jnp.arange(count) < rows.legal[:, None]
    chosen = jnp.take_along_axis(logits, rows.action, axis=-1)
    noise = jnp.take_along_axis(gumbel, rows.action, axis=-1)
    return rows._replace(logits=jnp.where(exists, chosen, LOWEST)), jnp.where(exists, noise, 0)


def root_score(logits: Array, noise: Array, completed: Array, allowed: Array) -> Array:
    """What the root maximizes: noise + logits + completed Q, (B, K); -inf where not allowed."""
    logits = logits - jnp.max(logits, axis=-1, keepdims=True)
    # An action that alone is allowed is chosen, however small its logit.
    return jnp.where(allowed, jnp.maximum(noise + logits + completed, -1e9), -jnp.inf)


def prior_of(root: RootFnOutput, action: Array, exists: Array) -> Array:
    """The policy's probabilities of `action` (B, K), over all legal actions."""
    logits = jnp.where(root.legal_actions, root.prior_logits, LOWEST)
    chosen = jnp.take_along_axis(jax.nn.softmax(logits), action, axis=-1)
    return jnp.where(exists, chosen, 0)


def improved_policy(
    root: RootFnOutput, action: Array, seen: Array, completed: Array, other: Array
) -> Array:
    """softmax(logits + completed Q) over all legal actions, (B, A).

    Args:
        action: (B, K) actions with completed Q of their own, where `seen`; other legal actions have
            `other` (B,).
    """
    batch, actions = root.prior_logits.shape
    rows = jnp.arange(batch)[:, None]
    added = jnp.broadcast_to(other[:, None], (batch, actions))
    index = jnp.where(seen, action, actions)
    added = added.at[rows, index].set(completed, mode="drop")
    logits = jnp.where(root.legal_actions, root.prior_logits + added, LOWEST)
    return jax.nn.softmax(logits)
