"""Search of one layer: every candidate of the root is tried once, all in one batched call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from . import qvalues
from .base import BoundFn, Candidates, SearchOptions, SearchOutput
from .keys import one_a_row
from .root import Start, improved_policy, prior_of, root_score


def one_layer(key: Array, start: Start, model: BoundFn, options: SearchOptions) -> SearchOutput:
    """The cheapest improvement of a policy: no tree, one call of `model` on B * K nodes.

    Returns:
        An output without a tree. `value` is that of the best action.
    """
    root, rows, noise = start
    batch, count = rows.action.shape
    seen = jnp.arange(count) < rows.legal[:, None]

    def repeat_slots(x: Array) -> Array:
        return jnp.repeat(x, count, axis=0)

    # A slot without an action repeats the first one.
    action = jnp.where(seen, rows.action, rows.action[:, :1])
    keys = repeat_slots(key) if one_a_row(key) else key
    step, _ = model(keys, action.reshape(-1), jax.tree.map(repeat_slots, root.embedding))
    values = step.reward + step.discount[:, None] * step.value
    mover = repeat_slots(root.to_play)
    utility = options.utility(values, mover, mover).reshape(batch, count)
    values = values.reshape(batch, count, -1)

    raw = options.utility(root.value, root.to_play, root.to_play)
    visits = seen.astype(jnp.int32)
    completed, other = qvalues.completed(
        raw, rows.logits, visits, utility, options.visit_offset, options.value_scale
    )
    best = jnp.argmax(root_score(rows.logits, noise, completed, seen), axis=-1)
    chosen = jnp.arange(batch), best
    candidates = Candidates(
        action=rows.action,
        valid=seen,
        prior=prior_of(root, rows.action, seen),
        visits=visits,
        values=jnp.where(seen[..., None], values, 0),
        utility=jnp.where(seen, utility, 0),
    )
    weights = improved_policy(root, rows.action, seen, completed, other)
    return SearchOutput(rows.action[chosen], weights, values[chosen], candidates)
