"""Search by lines: every likely action of the root is followed along the policy's own moves.

No tree: a line is the action and the moves that the policy finds likeliest after it, of whoever
decides. Its value is what was paid on the way and the network's values, the mean over the second
half of the line. A position in which the policy is sure is not searched at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from training.search import qvalues
from training.search.base import BoundFn, Candidates, SearchOptions, SearchOutput
from training.search.keys import one_a_row
from training.search.qvalues import LOWEST
from training.search.root import Start, improved_policy, prior_of, root_score

# Lines at a time: with as many as rows most wait for the longest (docs/lab/search.md).
# At least LANES.
ROWS_PER_LANE, LANES = 2, 16


class _Jobs(NamedTuple):
    """The J = B * K edges of all roots, those to be followed first, the longest of them first."""

    edge: Array  # (J,) int32, row * K + candidate
    row: Array  # (J,) int32
    action: Array  # (J,) int32
    length: Array  # (J,) int32, how many moves its line has
    followed: Array  # () int32, how many are followed


class _Lanes(NamedTuple):
    """L lines under way, and what has been found."""

    job: Array  # (L,) int32, place in `_Jobs`; from `followed` on there is none
    following: Array  # () int32, the next job
    action: Array  # (L,) int32, the next move
    moves: Array  # (L,) int32, how many have been made
    paid: Array  # (L, P) float32
    discount: Array  # (L,) float32, of what follows
    total: Array  # (L, P) float32, of the values in the second half
    state: Any  # pytree of (L, ...)
    found: Array  # (J, P) float32, by edge


def follow_lines(
    key: Array, start: Start, model: BoundFn, num_simulations: int, options: SearchOptions
) -> SearchOutput:
    """The lines of all likely actions, of equal length in a row.

    Args:
        num_simulations: N, of one row: with c likely actions a line has N // c moves.
    Returns:
        An output without a tree. `visits` is the length of a line; `value` that of the best action,
        the network's where only one action is likely.
    """
    root, rows, noise = start
    batch, count = rows.action.shape
    exists = jnp.arange(count) < rows.legal[:, None]
    best = jnp.max(jnp.where(exists, rows.logits, LOWEST), axis=-1, keepdims=True)
    likely = exists & (rows.logits >= best + jnp.log(options.least_prior))
    number = jnp.sum(likely, axis=-1)
    length = jnp.where(number > 1, num_simulations // number, 0)[:, None] * likely
    values = _follow(key, start, length, model)
    values = values.reshape(batch, count, -1)

    seen = length > 0
    mover = root.to_play[:, None]
    utility = jnp.where(seen, options.utility(values, mover, mover), 0)
    raw = options.utility(root.value, root.to_play, root.to_play)
    completed, other = qvalues.completed(
        raw, rows.logits, length, utility, options.visit_offset, options.value_scale
    )
    score = root_score(rows.logits, noise, completed, likely)
    chosen = jnp.arange(batch), jnp.argmax(score, axis=-1)
    candidates = Candidates(
        action=rows.action,
        valid=exists,
        prior=prior_of(root, rows.action, exists),
        visits=length,
        values=jnp.where(seen[..., None], values, 0),
        utility=utility,
    )
    weights = improved_policy(root, rows.action, seen, completed, other)
    value = jnp.where(seen[chosen][:, None], values[chosen], root.value)
    return SearchOutput(rows.action[chosen], weights, value, candidates)


def _follow(key: Array, start: Start, length: Array, model: BoundFn) -> Array:
    """The values of all edges, (B * K, P); of those without a length 0."""
    root, rows, _ = start
    jobs = _jobs(rows.action, length)
    lanes = min(len(jobs.edge), max(len(root.to_play) // ROWS_PER_LANE, LANES))

    def goes_on(carry: tuple[_Lanes, Array]) -> Array:
        return (carry[0].job < jobs.followed).any()

    def on(carry: tuple[_Lanes, Array]) -> tuple[_Lanes, Array]:
        lane, turn = carry
        row = jobs.row[jnp.minimum(lane.job, len(jobs.edge) - 1)]
        return _move(_keys(key, row, turn), lane, jobs, model, root.embedding), turn + 1

    first = _first(jobs, lanes, root.value.shape[1], root.embedding)
    return jax.lax.while_loop(goes_on, on, (first, jnp.int32(0)))[0].found


def _keys(key: Array, row: Array, turn: Array) -> Array:
    if not one_a_row(key):
        return jax.random.fold_in(key, turn)
    return jax.vmap(jax.random.fold_in, (0, None))(key[row], turn)


def _jobs(action: Array, length: Array) -> _Jobs:
    """What is to be followed, from the edges (B, K)."""
    count = action.shape[1]
    edge = jnp.argsort(-length.reshape(-1), stable=True).astype(jnp.int32)
    return _Jobs(
        edge,
        edge // count,
        action.reshape(-1)[edge],
        length.reshape(-1)[edge],
        jnp.sum(length > 0, dtype=jnp.int32),
    )


def _first(jobs: _Jobs, lanes: int, players: int, embedding: Any) -> _Lanes:
    job = jnp.arange(lanes, dtype=jnp.int32)
    return _Lanes(
        job=job,
        following=jnp.int32(lanes),
        action=jobs.action[:lanes],
        moves=jnp.zeros(lanes, jnp.int32),
        paid=jnp.zeros((lanes, players)),
        discount=jnp.ones(lanes),
        total=jnp.zeros((lanes, players)),
        state=jax.tree.map(lambda x: x[jobs.row[:lanes]], embedding),
        found=jnp.zeros((len(jobs.edge), players)),
    )


def _move(key: Array, lane: _Lanes, jobs: _Jobs, model: BoundFn, embedding: Any) -> _Lanes:
    """One move in every line; a lane whose line has ended begins the next one.

    Args:
        embedding: of the roots.
    """
    step, state = model(key, lane.action, lane.state)
    paid = lane.paid + lane.discount[:, None] * step.reward
    discount = lane.discount * step.discount
    moves, now = lane.moves + 1, paid + discount[:, None] * step.value
    last = len(jobs.edge) - 1
    length = jobs.length[jnp.minimum(lane.job, last)]
    total = lane.total + jnp.where((2 * moves > length)[:, None], now, 0)
    live = lane.job < jobs.followed
    ended = live & (step.terminal | (moves >= length))
    mean = total / jnp.maximum(length - length // 2, 1)[:, None]
    value = jnp.where(step.terminal[:, None], paid, mean)
    edge = jnp.where(ended, jobs.edge[jnp.minimum(lane.job, last)], len(jobs.edge))

    job = jnp.where(ended, lane.following + jnp.cumsum(ended) - 1, lane.job).astype(jnp.int32)
    new = jnp.minimum(job, last)
    row = jobs.row[new]
    likeliest = step.likeliest
    if likeliest is None:
        logits = jnp.where(step.legal_actions, step.prior_logits, -jnp.inf)
        likeliest = jnp.argmax(logits, axis=-1).astype(jnp.int32)

    def begin(old: Array, x: Array) -> Array:
        return jnp.where(ended.reshape(-1, *[1] * (old.ndim - 1)), x, old)

    return _Lanes(
        job=job,
        following=lane.following + jnp.sum(ended, dtype=jnp.int32),
        action=begin(likeliest, jobs.action[new]),
        moves=begin(moves, jnp.zeros_like(moves)),
        paid=begin(paid, jnp.zeros_like(paid)),
        discount=begin(discount, jnp.ones_like(discount)),
        total=begin(total, jnp.zeros_like(total)),
        state=jax.tree.map(lambda x, root: begin(x, root[row]), state, embedding),
        found=lane.found.at[edge].set(value, mode="drop"),
    )
