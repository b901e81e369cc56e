"""Gumbel search for any number of players, batched and pure.

Each simulation walks down every row's tree to an edge without a node, asks the recurrent function
for that node, and carries the values of all players back up. At the root the actions are drawn by
their logits with Gumbel noise and thinned out by sequential halving; below it the visits follow
the improved policy. Danihelka and others, "Policy improvement by planning with Gumbel" (2022); the
shape of the interface is that of mctx.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..types import Params
from .base import BoundFn, Candidates, RecurrentFn, RootFnOutput, SearchOptions, SearchOutput
from .keys import fold_in, one_a_row, root_noise
from .rollouts import policy_rollouts
from .root import Start, improved_policy, output_without_tree, prior_of, root_candidates, root_score
from .simulation import backward, completed, edges_of, expand, select
from .tree import ROOT, Tree, new_tree


def gumbel_search(
    params: Params,
    key: Array,
    root: RootFnOutput,
    recurrent_fn: RecurrentFn,
    num_simulations: int,
    options: SearchOptions | None = None,
) -> SearchOutput:
    """Search B positions.

    Args:
        params: handed to `recurrent_fn`.
        key: one key, or (B,) keys, one for each row: then no row depends on another.
        root: the positions.
        recurrent_fn: the position after an action, for B nodes at once.
        num_simulations: N, how many nodes are added to each tree, at least 1. With
            `options.max_depth` 1 there is no tree: the N actions with the highest logits + noise
            are tried once, all in one call of `recurrent_fn` on B * N nodes, and `value` is that
            of the best. With `options.rollouts` it is the number of moves of all rollouts of a
            row.
    Raises:
        ValueError: no simulations, or more than a tree can count.
    """
    if num_simulations < 1:
        raise ValueError(f"num_simulations must be at least 1, got {num_simulations}")
    options = options or SearchOptions()
    gumbel, key = root_noise(key, root.prior_logits.shape, options.gumbel_scale)
    flat = options.max_depth == 1
    count = min(num_simulations, options.candidates) if flat else options.candidates
    if options.rollouts:
        count = min(num_simulations, options.considered)
    start = Start(root, *root_candidates(root, gumbel, count))
    model = partial(recurrent_fn, params)
    if options.rollouts:
        return policy_rollouts(key, start, model, num_simulations, options)
    if flat:
        return _one_layer(key, start, model, options)
    return _tree_search(key, start, model, num_simulations, options)


def _tree_search(
    key: Array, start: Start, model: BoundFn, num_simulations: int, options: SearchOptions
) -> SearchOutput:
    root, rows, noise = start
    tree = new_tree(root, rows, num_simulations, options)
    table = jnp.asarray(_visit_table(min(options.considered, noise.shape[-1]), num_simulations))
    considered = jnp.minimum(rows.legal, table.shape[0] - 1)

    def simulate(simulation: Array, tree: Tree) -> Tree:
        leaf = select(tree, noise, table[considered, simulation], options)
        keys = fold_in(key, simulation)
        tree, reached = expand(keys, tree, leaf, simulation, model, options)
        return backward(tree, reached, options)

    tree = jax.lax.fori_loop(0, num_simulations, simulate, tree)
    return _result(tree, start, options)


def _result(tree: Tree, start: Start, options: SearchOptions) -> SearchOutput:
    root, _, noise = start
    batch = noise.shape[0]
    rows, node = jnp.arange(batch), jnp.zeros(batch, jnp.int32)
    edges = edges_of(tree, node)
    value, other = completed(tree, node, edges, options)
    seen = edges.visits > 0
    max_visits = jnp.max(edges.visits, axis=-1, keepdims=True)
    score = root_score(edges.logits, noise, value, edges.exists & (edges.visits == max_visits))
    exact = jnp.where(edges.exists & seen, edges.utility, -jnp.inf)
    score = jnp.where(tree.solved[:, ROOT, None], exact, score)
    best = jnp.argmax(score, axis=-1)
    action = tree.action[:, ROOT].astype(jnp.int32)
    at = rows[:, None], jnp.maximum(edges.child, ROOT)
    values = tree.reward[at] + tree.discount[at][..., None] * tree.node_values[at]
    candidates = Candidates(
        action=action,
        valid=edges.exists,
        prior=prior_of(root, action, edges.exists),
        visits=edges.visits,
        values=jnp.where(seen[..., None], values, 0),
        utility=edges.utility,
    )
    weights = improved_policy(root, action, edges.exists & seen, value, other)
    return SearchOutput(action[rows, best], weights, tree.node_values[:, ROOT], candidates, tree)


def _visit_schedule(considered: int, num_simulations: int) -> np.ndarray:
    """The visits that an action needs to be considered, by simulation.

    The simulations are split evenly over the rounds; after each the better half of the actions
    stays, and at least two. Karnin and others, "Almost Optimal Exploration in Multi-Armed Bandits".

    Args:
        considered: actions at the beginning.
        num_simulations: S, all simulations.
    Returns:
        (S,) int32.
    """
    if considered <= 1:
        return np.arange(num_simulations, dtype=np.int32)
    rounds, left, done = math.ceil(math.log2(considered)), considered, 0
    schedule: list[int] = []
    while len(schedule) < num_simulations:
        visits_each = max(1, num_simulations // (rounds * left))
        for visits in range(done, done + visits_each):
            schedule += [visits] * left
        done, left = done + visits_each, max(2, left // 2)
    return np.array(schedule[:num_simulations], np.int32)


def _visit_table(considered: int, num_simulations: int) -> np.ndarray:
    """`_visit_schedule` of 0 to `considered` actions, (considered + 1, S) int32."""
    return np.stack([_visit_schedule(m, num_simulations) for m in range(considered + 1)])


def _one_layer(key: Array, start: Start, model: BoundFn, options: SearchOptions) -> SearchOutput:
    """The cheapest improvement of a policy: no tree, one call of `model` on B * K nodes.

    Returns:
        An output without a tree. `value` is that of the best action.
    """
    root, rows, _ = start
    batch, count = rows.action.shape
    seen = jnp.arange(count) < rows.legal[:, None]

    def repeat_slots(x: Array) -> Array:
        return jnp.repeat(x, count, axis=0)

    # A slot without an action repeats the first one.
    action = jnp.where(seen, rows.action, rows.action[:, :1])
    keys = repeat_slots(key) if one_a_row(key) else key
    step, _ = model(keys, action.reshape(-1), jax.tree.map(repeat_slots, root.embedding))
    values = step.reward + step.discount[:, None] * step.value
    visits = seen.astype(jnp.int32)
    return output_without_tree(start, visits, values.reshape(batch, count, -1), seen, options)
