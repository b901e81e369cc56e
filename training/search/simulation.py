"""One simulation of a Gumbel search: descend, add a node, carry the values up.

Every node stores where a descent from it ends. Only nodes on the path of a simulation change, so
the pass up the path updates them, and a descent reads one edge of the root and one child. Nothing
is scattered: one number per node changes, so few that all are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .base import BoundFn, SearchOptions
from .root import completed_q, root_score
from .tree import ROOT, UNVISITED, Tree, nodes_of, write_nodes


class Edges(NamedTuple):
    """The edges of one node in each row, (B, K)."""

    child: Array  # int32, UNVISITED where there is none
    logits: Array  # float32
    visits: Array  # int32
    utility: Array  # float32, for the deciding player
    exists: Array  # bool
    solved: Array  # bool, whether the result of the edge is exact


def edges_of(tree: Tree, node: Array) -> Edges:
    """The edges of the nodes (B,)."""
    rows = jnp.arange(node.shape[0])
    child = tree.child[rows, node].astype(jnp.int32)
    at = rows[:, None], jnp.maximum(child, ROOT)
    seen = child != UNVISITED
    return Edges(
        child,
        tree.logits[rows, node],
        jnp.where(seen, tree.edge_visits[at].astype(jnp.int32), 0),
        jnp.where(seen, tree.edge_utility[at], 0),
        jnp.arange(child.shape[-1]) < tree.legal[rows, node][:, None],
        seen & tree.solved[at],
    )


def completed(tree: Tree, node: Array, edges: Edges, options: SearchOptions) -> tuple[Array, Array]:
    """Completed Q of the edges of one node in each row, (B, K), and of other actions (B,)."""
    rows = jnp.arange(node.shape[0])
    raw = options.utility(
        tree.raw_values[rows, node], tree.to_play[rows, node], tree.to_play[:, ROOT]
    )
    return completed_q(
        raw, edges.logits, edges.visits, edges.utility, options.visit_offset, options.value_scale
    )


def select(
    tree: Tree, noise: Array, root_visits: Array, options: SearchOptions
) -> tuple[Array, Array]:
    """The end of the next descent of each row: a node (B,) and its edge (B,), int32.

    Args:
        noise: (B, K) of the root's edges.
        root_visits: (B,) int32, the visits of the actions that sequential halving considers.
    """
    root = jnp.zeros(noise.shape[0], jnp.int32)
    edges = edges_of(tree, root)
    value, _ = completed(tree, root, edges, options)
    allowed = edges.exists & (edges.visits == root_visits[:, None])
    slot = jnp.argmax(root_score(edges.logits, noise, value, allowed), axis=-1).astype(jnp.int32)
    return _descend(tree, root, slot, edges.child, options)


def _descend(
    tree: Tree, node: Array, slot: Array, child: Array, options: SearchOptions
) -> tuple[Array, Array]:
    """The end of a descent that takes the edge `slot` (B,) of `node` (B,), with children (B, K)."""
    rows = jnp.arange(node.shape[0])
    child = child[rows, slot]
    child_node = jnp.maximum(child, ROOT)
    inside = (child != UNVISITED) & ~tree.solved[rows, child_node]
    if options.max_depth:
        inside &= tree.depth[rows, child_node] < options.max_depth
    return (
        jnp.where(inside, tree.leaf[rows, child_node].astype(jnp.int32), node),
        jnp.where(inside, tree.leaf_slot[rows, child_node].astype(jnp.int32), slot),
    )


def expand(
    key: Array,
    tree: Tree,
    leaf: tuple[Array, Array],
    simulation: Array,
    model: BoundFn,
    options: SearchOptions,
) -> tuple[Tree, Array]:
    """The trees with node `simulation + 1`, and the node that each descent has reached, (B,) int32.

    Of rows that ended at a known node the new one has no visits, and no edge leads to it.
    """
    node, slot = leaf
    rows, new = jnp.arange(node.shape[0]), simulation + 1
    parent_state = jax.tree.map(lambda x: x[rows, node], tree.embedding)
    action = tree.action[rows, node, slot].astype(jnp.int32)
    step, embedding = model(key, action, parent_state)
    new_nodes = nodes_of(
        step.prior_logits, step.legal_actions, step.value, step.to_play, tree.action.shape[-1]
    )
    child = tree.child[rows, node, slot].astype(jnp.int32)
    is_new, solved = child == UNVISITED, step.terminal
    if options.own_turn:
        solved |= step.to_play != tree.to_play[:, ROOT]
    tree = write_nodes(
        tree,
        new,
        new_nodes,
        embedding,
        parent=node,
        slot=slot,
        depth=tree.depth[rows, node] + 1,
        reward=step.reward,
        discount=step.discount,
        solved=solved,
        node_visits=is_new.astype(jnp.int32),
        leaf=jnp.full_like(node, new),
        leaf_slot=jnp.zeros_like(slot),
    )
    reached = jnp.where(is_new, new, child)
    parent_state = jnp.arange(tree.child.shape[-1]) == slot[:, None, None]
    edge = _one_hot(tree, node)[..., None] & parent_state
    children = jnp.where(edge, reached[:, None, None].astype(tree.child.dtype), tree.child)
    return tree._replace(child=children), reached


def backward(tree: Tree, index: Array, options: SearchOptions) -> Tree:
    """Carry the value of node `index` (B,) up to the root of each row."""
    # The edges and the states stay as they are: the loop need not carry them.
    rows = jnp.arange(index.shape[0])
    fixed = {name: getattr(tree, name) for name in Tree._fields if name not in _RENEWED}
    none: dict[str, Any] = dict.fromkeys(fixed, ())

    def up(carry: tuple[Tree, Array, Array]) -> tuple[Tree, Array, Array]:
        small, index, value = carry
        return _up(small._replace(**fixed), index, value, options, none)

    start = tree._replace(**none), index, tree.node_values[rows, index]
    after = jax.lax.while_loop(lambda c: (c[1] != ROOT).any(), up, start)[0]
    return after._replace(**fixed)


_RENEWED = {
    "node_values", "node_visits", "solved", "edge_visits", "edge_utility", "leaf", "leaf_slot",
}  # fmt: skip


def _one_hot(tree: Tree, node: Array) -> Array:
    """(B,) nodes -> (B, N) bool."""
    return jnp.arange(tree.parent.shape[1]) == node[:, None]


def _up(
    tree: Tree, index: Array, value: Array, options: SearchOptions, none: Mapping[str, Array]
) -> tuple[Tree, Array, Array]:
    """One step up from `index` (B,): its edge, then its parent. At the root nothing changes.

    Args:
        value: (B, P) what follows node `index` in this simulation.
    Returns:
        the tree without what does not change, the parents, and what follows them.
    """
    rows = jnp.arange(index.shape[0])
    live = index != ROOT
    parent = jnp.where(live, tree.parent[rows, index], ROOT).astype(jnp.int32)
    reward, discount = tree.reward[rows, index], tree.discount[rows, index][:, None]
    follows = reward + discount * tree.node_values[rows, index]
    utility = options.utility(follows, tree.to_play[rows, parent], tree.to_play[:, ROOT])
    at = _one_hot(tree, index) & live[:, None]
    tree = tree._replace(
        edge_utility=jnp.where(at, utility[:, None], tree.edge_utility),
        edge_visits=tree.edge_visits + at.astype(tree.edge_visits.dtype),
    )

    edges = edges_of(tree, parent)
    value = reward + discount * value
    count = tree.node_visits[rows, parent]
    counted = count[:, None].astype(jnp.float32)
    mean = (tree.node_values[rows, parent] * counted + value) / (counted + 1)
    at = _one_hot(tree, parent) & live[:, None]
    if options.solve:
        certain, solved, exact = _certain(tree, parent, edges)
        value = jnp.where(certain[:, None], exact, value)
        mean = jnp.where(certain[:, None], exact, mean)
        tree = tree._replace(solved=tree.solved | (at & solved[:, None]))
    slot = _inner_slot(tree, parent, edges, options)
    leaf, leaf_slot = _descend(tree, parent, slot, edges.child, options)

    def write(old: Array, new: Array) -> Array:
        return jnp.where(at, new[:, None].astype(old.dtype), old)

    tree = tree._replace(
        node_values=jnp.where(at[..., None], mean[:, None], tree.node_values),
        node_visits=write(tree.node_visits, count + 1),
        leaf=write(tree.leaf, leaf),
        leaf_slot=write(tree.leaf_slot, leaf_slot),
        **none,
    )
    return tree, parent, value


def _inner_slot(tree: Tree, node: Array, edges: Edges, options: SearchOptions) -> Array:
    """(B,) int32, the edge that brings the visits of a node nearest to the improved policy."""
    value, _ = completed(tree, node, edges, options)
    visits = edges.visits.astype(jnp.float32)
    policy = jax.nn.softmax(edges.logits + value)
    lacking = policy - visits / (1 + jnp.sum(visits, axis=-1, keepdims=True))
    if options.solve:  # solved nodes are exact: visit others first
        lacking = jnp.where(edges.solved, lacking - 2, lacking)  # it is between -1 and 1
    return jnp.argmax(jnp.where(edges.exists, lacking, -jnp.inf), axis=-1).astype(jnp.int32)


def _certain(tree: Tree, node: Array, edges: Edges) -> tuple[Array, Array, Array]:
    """The exact results of a node (B,).

    Returns:
        (B,) bool, whether the best action so far leads to a solved node; (B,) bool, whether every
        legal action does, so that this one is solved; (B, P) float32, the values of the best.
    """
    rows = jnp.arange(node.shape[0])
    solved = jnp.sum(edges.solved, axis=-1) == tree.legal[rows, node]
    best = jnp.argmax(jnp.where(edges.visits > 0, edges.utility, -jnp.inf), axis=-1)
    chosen = jnp.maximum(edges.child[rows, best], ROOT)
    value = tree.reward[rows, chosen] + (
        tree.discount[rows, chosen][:, None] * tree.node_values[rows, chosen]
    )
    return edges.solved[rows, best], solved, value
