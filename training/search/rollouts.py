"""Search by policy rollouts: each probable action of the root is followed along the policy's moves.

No tree: a rollout is the action and the most probable moves of all players after it. Its value is
the reward on the path plus the network's values, averaged over its second half. A position with a
single probable action is not searched at all.

The rollouts of all roots are jobs of one queue, processed by a fixed number of slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.xla.slots import take

from .base import LOWEST, BoundFn, SearchOptions, SearchOutput
from .keys import fold_in, one_a_row
from .root import Start, output_without_tree

# Rollouts at a time: with as many as rows most wait for the longest (docs/lab/search.md).
ROWS_PER_SLOT = 2
LEAST_SLOTS = 16


class _Items(NamedTuple):
    """The J = B * K edges of all roots, those to be followed first, the longest of them first."""

    edge: Array  # (J,) int32, row * K + candidate
    row: Array  # (J,) int32
    action: Array  # (J,) int32
    length: Array  # (J,) int32, how many moves its rollout has
    total: Array  # () int32, how many are followed


class _Slots(NamedTuple):
    """L running rollouts, and the results so far."""

    following: Array  # () int32, the first item that no slot has taken
    live: Array  # (L,) bool
    item: Array  # (L,) int32, place in `_Items`
    action: Array  # (L,) int32, the next move
    moves: Array  # (L,) int32, how many have been made
    paid: Array  # (L, P) float32
    discount: Array  # (L,) float32, of what follows
    late: Array  # (L, P) float32, sum of the values in the second half
    state: Any  # pytree of (L, ...)
    values: Array  # (J, P) float32, by edge


def policy_rollouts(
    key: Array, start: Start, model: BoundFn, num_simulations: int, options: SearchOptions
) -> SearchOutput:
    """The rollouts of all likely actions, of equal length in a row.

    Args:
        num_simulations: N, of one row: with c likely actions a rollout has N // c moves.
    Returns:
        An output without a tree. `visits` is the length of a rollout; `value` that of the best
        action, the network's where only one action is likely.
    """
    root, rows, _ = start
    batch, count = rows.action.shape
    exists = jnp.arange(count) < rows.legal[:, None]
    best = jnp.max(jnp.where(exists, rows.logits, LOWEST), axis=-1, keepdims=True)
    likely = exists & (rows.logits >= best + jnp.log(options.least_prior))
    number = jnp.sum(likely, axis=-1)
    length = jnp.where(number > 1, num_simulations // number, 0)[:, None] * likely
    values = _follow(key, start, length, model)
    return output_without_tree(start, length, values.reshape(batch, count, -1), likely, options)


def _follow(key: Array, start: Start, length: Array, model: BoundFn) -> Array:
    """The values of all edges, (B * K, P); of those without a length 0."""
    root, rows, _ = start
    items = _work_items(rows.action, length)
    count = min(len(items.edge), max(len(root.to_play) // ROWS_PER_SLOT, LEAST_SLOTS))

    def on(carry: tuple[_Slots, Array]) -> tuple[_Slots, Array]:
        slots, turn = carry
        keys = fold_in(key[items.row[slots.item]] if one_a_row(key) else key, turn)
        return _move(keys, slots, items, model, root.embedding), turn + 1

    first = _start(items, count, root.value.shape[1], root.embedding)
    end = jax.lax.while_loop(lambda carry: carry[0].live.any(), on, (first, jnp.int32(0)))
    return end[0].values


def _work_items(action: Array, length: Array) -> _Items:
    """The rollouts to play, from the edges (B, K)."""
    count = action.shape[1]
    edge = jnp.argsort(-length.reshape(-1), stable=True).astype(jnp.int32)
    return _Items(
        edge,
        edge // count,
        action.reshape(-1)[edge],
        length.reshape(-1)[edge],
        jnp.sum(length > 0, dtype=jnp.int32),
    )


def _start(items: _Items, count: int, players: int, embedding: Any) -> _Slots:
    """The first `count` items in the slots."""
    next_jobs = take(jnp.ones(count, bool), 0, items.total)
    row = items.row[next_jobs.job]
    return _Slots(
        following=next_jobs.following,
        live=next_jobs.takes,
        item=next_jobs.job,
        action=items.action[next_jobs.job],
        moves=jnp.zeros(count, jnp.int32),
        paid=jnp.zeros((count, players)),
        discount=jnp.ones(count),
        late=jnp.zeros((count, players)),
        state=jax.tree.map(lambda x: x[row], embedding),
        values=jnp.zeros((len(items.edge), players)),
    )


def _move(key: Array, slots: _Slots, items: _Items, model: BoundFn, embedding: Any) -> _Slots:
    """One move in every rollout; a slot whose rollout has ended takes the next item.

    Args:
        embedding: of the roots.
    """
    step, state = model(key, slots.action, slots.state)
    paid = slots.paid + slots.discount[:, None] * step.reward
    discount = slots.discount * step.discount
    moves, now = slots.moves + 1, paid + discount[:, None] * step.value
    length = items.length[slots.item]
    late = slots.late + jnp.where((2 * moves > length)[:, None], now, 0)
    ended = slots.live & (step.terminal | (moves >= length))
    mean = late / jnp.maximum(length - length // 2, 1)[:, None]
    value = jnp.where(step.terminal[:, None], paid, mean)
    edge = jnp.where(ended, items.edge[slots.item], len(items.edge))
    best_action = step.best_action
    if best_action is None:
        logits = jnp.where(step.legal_actions, step.prior_logits, -jnp.inf)
        best_action = jnp.argmax(logits, axis=-1).astype(jnp.int32)

    next_jobs = take(ended, slots.following, items.total)
    row = items.row[next_jobs.job]
    return _Slots(
        following=next_jobs.following,
        live=(slots.live & ~ended) | next_jobs.takes,
        item=next_jobs.put(slots.item, next_jobs.job),
        action=next_jobs.put(best_action, items.action[next_jobs.job]),
        moves=next_jobs.put(moves, 0),
        paid=next_jobs.put(paid, 0),
        discount=next_jobs.put(discount, 1),
        late=next_jobs.put(late, 0),
        state=next_jobs.put(state, jax.tree.map(lambda x: x[row], embedding)),
        values=slots.values.at[edge].set(value, mode="drop"),
    )
