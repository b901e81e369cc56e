"""Gumbel search for any number of players, batched and pure.

Each simulation walks down every row's tree to an edge without a node, asks the recurrent function
for that node, and carries the values of all players back up. At the root the actions are drawn by
their logits with Gumbel noise and thinned out by sequential halving; below it the visits follow
the improved policy. Danihelka and others, "Policy improvement by planning with Gumbel" (2022); the
shape of the interface is that of mctx.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from training.search import qvalues
from training.search.base import (
    Candidates,
    RecurrentFn,
    RootFnOutput,
    SearchOptions,
    SearchOutput,
)
from training.search.halving import visit_table
from training.search.keys import fold_in, root_noise
from training.search.qvalues import LOWEST
from training.search.tree import ROOT, UNVISITED, Rows, Tree, new_tree, nodes_of, write_nodes


class _Leaf(NamedTuple):
    """Where the walks down have ended."""

    node: Array  # (B,) int32, the last node on the way
    slot: Array  # (B,) int32, its edge
    child: Array  # (B,) int32, where the edge leads; UNVISITED: nowhere yet
    depth: Array  # () int32, edges of the longest walk
    going: Array  # (B,) bool


def gumbel_search(
    params: Any,
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
        recurrent_fn: what an action leads to, for B nodes at once.
        num_simulations: how many nodes are added to each tree, at least 1.
    Raises:
        ValueError: no simulations, or more than a tree can count.
    """
    if num_simulations < 1:
        raise ValueError(f"num_simulations must be at least 1, got {num_simulations}")
    options = options or SearchOptions()
    gumbel, key = root_noise(key, root.prior_logits.shape, options.gumbel_scale)
    rows, noise = root_candidates(root, gumbel, options.candidates)
    tree = new_tree(root, rows, num_simulations, options)
    table = jnp.asarray(visit_table(min(options.considered, noise.shape[-1]), num_simulations))
    considered = jnp.minimum(rows.legal, table.shape[0] - 1)

    def simulate(simulation: Array, tree: Tree) -> Tree:
        slot = _root_slot(tree, noise, table[considered, simulation], options)
        leaf = _descend(tree, slot, options)
        tree = _expand(params, key, tree, leaf, simulation, recurrent_fn, options)
        index = jnp.where(leaf.child == UNVISITED, simulation + 1, leaf.child)
        return _backward(tree, index, options)

    tree = jax.lax.fori_loop(0, num_simulations, simulate, tree)
    return _result(tree, root, noise, options)


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


def _completed(tree: Tree, node: Array, options: SearchOptions) -> tuple[Array, Array]:
    """Completed Q of the edges of one node in each row, (B, K), and of other actions (B,)."""
    rows = jnp.arange(node.shape[0])
    raw = options.utility(
        tree.raw_values[rows, node], tree.to_play[rows, node], tree.to_play[:, ROOT]
    )
    return qvalues.completed(
        raw,
        tree.logits[rows, node],
        tree.visits[rows, node].astype(jnp.int32),
        tree.utility[rows, node],
        options.visit_offset,
        options.value_scale,
    )


def _root_slot(tree: Tree, noise: Array, wanted: Array, options: SearchOptions) -> Array:
    """(B,) int32, the edge of the root that sequential halving visits next.

    Args:
        wanted: (B,) int32, the visits of the actions that are considered.
    """
    node = jnp.zeros(noise.shape[0], jnp.int32)
    completed, _ = _completed(tree, node, options)
    visits, logits = tree.visits[:, ROOT].astype(jnp.int32), tree.logits[:, ROOT]
    exists = jnp.arange(noise.shape[-1]) < tree.legal[:, ROOT, None]
    score = root_score(logits, noise, completed, exists & (visits == wanted[:, None]))
    return jnp.argmax(score, axis=-1).astype(jnp.int32)


def _inner_slot(tree: Tree, node: Array, options: SearchOptions) -> Array:
    """(B,) int32, the edge that brings the visits of a node nearest to the improved policy."""
    rows = jnp.arange(node.shape[0])
    completed, _ = _completed(tree, node, options)
    visits = tree.visits[rows, node].astype(jnp.float32)
    policy = jax.nn.softmax(tree.logits[rows, node] + completed)
    exists = jnp.arange(policy.shape[-1]) < tree.legal[rows, node][:, None]
    lacking = policy - visits / (1 + jnp.sum(visits, axis=-1, keepdims=True))
    if options.solve:  # what is below a closed node is known: an open one first
        child = tree.child[rows, node].astype(jnp.int32)
        closed = tree.closed[rows[:, None], jnp.maximum(child, ROOT)] & (child != UNVISITED)
        lacking = jnp.where(closed, lacking - 2, lacking)  # it lies between -1 and 1
    return jnp.argmax(jnp.where(exists, lacking, -jnp.inf), axis=-1).astype(jnp.int32)


def _descend(tree: Tree, slot: Array, options: SearchOptions) -> _Leaf:
    """Walk from the root over the edge `slot` (B,) to an edge without a node, or a closed one."""
    batch = slot.shape[0]
    rows = jnp.arange(batch)
    deepest = options.max_depth or tree.child.shape[1]

    def step_to(node: Array, slot: Array, depth: Array) -> _Leaf:
        child = tree.child[rows, node, slot].astype(jnp.int32)
        closed = tree.closed[rows, jnp.maximum(child, ROOT)]
        return _Leaf(node, slot, child, depth, (child != UNVISITED) & ~closed & (depth < deepest))

    def down(leaf: _Leaf) -> _Leaf:
        node = jnp.where(leaf.going, leaf.child, leaf.node)
        slot = jnp.where(leaf.going, _inner_slot(tree, node, options), leaf.slot)
        after = step_to(node, slot, leaf.depth + 1)
        return after._replace(going=after.going & leaf.going)

    start = step_to(jnp.zeros(batch, jnp.int32), slot, jnp.int32(1))
    return jax.lax.while_loop(lambda leaf: leaf.going.any(), down, start)


def _expand(
    params: Any,
    key: Array,
    tree: Tree,
    leaf: _Leaf,
    simulation: Array,
    recurrent_fn: RecurrentFn,
    options: SearchOptions,
) -> Tree:
    """The trees with node `simulation + 1`; of rows that ended at a known node it has no visits."""
    rows = jnp.arange(leaf.node.shape[0])
    here = jax.tree.map(lambda x: x[rows, leaf.node], tree.embedding)
    action = tree.action[rows, leaf.node, leaf.slot].astype(jnp.int32)
    keys = fold_in(key, simulation)
    step, embedding = recurrent_fn(params, keys, action, here)
    count = tree.action.shape[-1]
    new = nodes_of(step.prior_logits, step.legal_actions, step.value, step.to_play, count)
    is_new, closed = leaf.child == UNVISITED, step.terminal
    if options.own_turn:
        closed |= step.to_play != tree.to_play[:, ROOT]
    tree = write_nodes(
        tree,
        simulation + 1,
        new,
        embedding,
        parent=leaf.node,
        slot=leaf.slot,
        reward=step.reward,
        discount=step.discount,
        closed=closed,
        node_visits=is_new.astype(jnp.int32),
    )
    index = jnp.where(is_new, simulation + 1, leaf.child)
    child = tree.child.at[rows, leaf.node, leaf.slot].set(index.astype(tree.child.dtype))
    return tree._replace(child=child)


def _backward(tree: Tree, index: Array, options: SearchOptions) -> Tree:
    """Carry the value of node `index` (B,) up to the root of each row."""
    rows = jnp.arange(index.shape[0])
    root_player = tree.to_play[:, ROOT]
    nowhere = tree.parent.shape[1]  # past the last node: what is written there is dropped

    def up(carry: tuple[Tree, Array, Array]) -> tuple[Tree, Array, Array]:
        tree, index, value = carry
        live = index != ROOT
        parent = jnp.where(live, tree.parent[rows, index], nowhere).astype(jnp.int32)
        slot = tree.slot[rows, index].astype(jnp.int32)
        read = jnp.where(live, parent, ROOT)
        reward, discount = tree.reward[rows, index], tree.discount[rows, index][:, None]
        mover = tree.to_play[rows, read]

        worth = options.utility(
            reward + discount * tree.node_values[rows, index], mover, root_player
        )
        visits = tree.visits[rows, read, slot] + 1
        value = reward + discount * value
        count = tree.node_visits[rows, read]
        counted = count[:, None].astype(jnp.float32)
        mean = (tree.node_values[rows, read] * counted + value) / (counted + 1)
        tree = tree._replace(
            utility=tree.utility.at[rows, parent, slot].set(worth, mode="drop"),
            visits=tree.visits.at[rows, parent, slot].set(visits, mode="drop"),
            node_visits=tree.node_visits.at[rows, parent].set(count + 1, mode="drop"),
        )
        if options.solve:
            certain, solved, exact = _certain(tree, read)
            closed = tree.closed[rows, read] | solved
            value = jnp.where(certain[:, None], exact, value)
            mean = jnp.where(certain[:, None], exact, mean)
            tree = tree._replace(closed=tree.closed.at[rows, parent].set(closed, mode="drop"))
        node_values = tree.node_values.at[rows, parent].set(mean, mode="drop")
        return tree._replace(node_values=node_values), read, value

    start = (tree._replace(embedding=()), index, tree.node_values[rows, index])
    after = jax.lax.while_loop(lambda c: (c[1] != ROOT).any(), up, start)[0]
    return after._replace(embedding=tree.embedding)


def _certain(tree: Tree, node: Array) -> tuple[Array, Array, Array]:
    """What is known for certain of a node (B,) whose edges are up to date.

    Returns:
        (B,) bool, whether the best action so far leads to a closed node; (B,) bool, whether every
        legal action does, so that this one is solved; (B, P) float32, the values of the best.
    """
    rows = jnp.arange(node.shape[0])
    child = tree.child[rows, node].astype(jnp.int32)
    known = (child != UNVISITED) & tree.closed[rows[:, None], jnp.maximum(child, ROOT)]
    solved = jnp.sum(known, axis=-1) == tree.legal[rows, node]
    utility = jnp.where(tree.visits[rows, node] > 0, tree.utility[rows, node], -jnp.inf)
    best = jnp.argmax(utility, axis=-1)
    chosen = jnp.maximum(child[rows, best], ROOT)
    value = tree.reward[rows, chosen] + (
        tree.discount[rows, chosen][:, None] * tree.node_values[rows, chosen]
    )
    return known[rows, best], solved, value


def _result(tree: Tree, root: RootFnOutput, noise: Array, options: SearchOptions) -> SearchOutput:
    batch, count = noise.shape
    rows, node = jnp.arange(batch), jnp.zeros(batch, jnp.int32)
    visits = tree.visits[:, ROOT].astype(jnp.int32)
    exists = jnp.arange(count) < tree.legal[:, ROOT, None]
    completed, other = _completed(tree, node, options)
    most = jnp.max(visits, axis=-1, keepdims=True)
    score = root_score(tree.logits[:, ROOT], noise, completed, exists & (visits == most))
    exact = jnp.where(exists & (visits > 0), tree.utility[:, ROOT], -jnp.inf)
    score = jnp.where(tree.closed[:, ROOT, None], exact, score)
    best = jnp.argmax(score, axis=-1)
    action = tree.action[:, ROOT].astype(jnp.int32)
    child = jnp.maximum(tree.child[:, ROOT].astype(jnp.int32), ROOT)
    at = (rows[:, None], child)
    values = tree.reward[at] + tree.discount[at][..., None] * tree.node_values[at]
    seen = visits > 0
    candidates = Candidates(
        action=action,
        valid=exists,
        prior=prior_of(root, action, exists),
        visits=visits,
        values=jnp.where(seen[..., None], values, 0),
        utility=jnp.where(seen, tree.utility[:, ROOT], 0),
    )
    weights = improved_policy(root, action, exists & seen, completed, other)
    return SearchOutput(action[rows, best], weights, tree.node_values[:, ROOT], candidates, tree)


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
    where = jnp.where(seen, action, actions)
    added = added.at[rows, where].set(completed, mode="drop")
    logits = jnp.where(root.legal_actions, root.prior_logits + added, LOWEST)
    return jax.nn.softmax(logits)
