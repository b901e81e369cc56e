"""The root of a search: its candidates, their scores, the improved policy.

Values of all actions of a node, of the visited ones from the search ("completed Q"), are those of
Danihelka and others, "Policy improvement by planning with Gumbel", appendix D.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .base import LOWEST, Candidates, RootFnOutput, SearchOptions, SearchOutput
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
    """The objective of the root: noise + logits + completed Q, (B, K); -inf where not allowed."""
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


def mixed_value(raw: Array, logits: Array, visits: Array, utility: Array) -> Array:
    """The assumed value of an action that was not visited.

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


def completed_q(
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


def output_without_tree(
    start: Start, visits: Array, values: Array, allowed: Array, options: SearchOptions
) -> SearchOutput:
    """The result of a search that tries actions of the root alone.

    Args:
        visits: (B, K) int32, of the candidates.
        values: (B, K, P) float32, of those with a visit.
        allowed: (B, K) bool, which of them may be chosen.
    Returns:
        An output without a tree. `value` is that of the best action, the network's where the action
        has no visit.
    """
    root, rows, noise = start
    seen, mover = visits > 0, root.to_play[:, None]
    utility = jnp.where(seen, options.utility(values, mover, mover), 0)
    raw = options.utility(root.value, root.to_play, root.to_play)
    completed, other = completed_q(
        raw, rows.logits, visits, utility, options.visit_offset, options.value_scale
    )
    score = root_score(rows.logits, noise, completed, allowed)
    chosen = jnp.arange(len(visits)), jnp.argmax(score, axis=-1)
    exists = jnp.arange(visits.shape[1]) < rows.legal[:, None]
    candidates = Candidates(
        action=rows.action,
        valid=exists,
        prior=prior_of(root, rows.action, exists),
        visits=visits,
        values=jnp.where(seen[..., None], values, 0),
        utility=utility,
    )
    weights = improved_policy(root, rows.action, seen, completed, other)
    value = jnp.where(seen[chosen][:, None], values[chosen], root.value)
    return SearchOutput(rows.action[chosen], weights, value, candidates)
