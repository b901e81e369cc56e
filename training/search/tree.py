"""The tree of a search: arrays of fixed shape, one tree for each row of a batch.

B is the batch, N = num_simulations + 1 the nodes, K the candidates of a node, P the players. Node 0
is the root; what simulation i expands is node i + 1 of its row. A node stores the values
of all players, and for the edge that leads to it the visits and the utility of the deciding player.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike

from .base import LOWEST, RootFnOutput, SearchOptions

ROOT = 0
UNVISITED = -1
MOST = np.iinfo(np.int16).max  # nodes, actions and visits are counted in int16


class Tree(NamedTuple):
    """The nodes of B searches."""

    to_play: Array  # (B, N) int8
    raw_values: Array  # (B, N, P) float32, the network's
    node_values: Array  # (B, N, P) float32, the mean over all visits; exact where solved
    node_visits: Array  # (B, N) int16
    parent: Array  # (B, N) int16, -1 of the root
    slot: Array  # (B, N) int16, which edge of its parent leads here
    reward: Array  # (B, N, P) float32, of the edge that leads here
    discount: Array  # (B, N) float32, of the same
    legal: Array  # (B, N) int16, how many actions are legal; only the best K have an edge
    solved: Array  # (B, N) bool, an end, or solved: its value is exact and nothing is below
    depth: Array  # (B, N) int16, edges from the root
    edge_visits: Array  # (B, N) int16, visits of the edge that leads here
    edge_utility: Array  # (B, N) float32, of that edge, for the player who decides at the parent
    leaf: Array  # (B, N) int16, the node where a descent from here ends
    leaf_slot: Array  # (B, N) int16, the edge there that it would take next
    action: Array  # (B, N, K) int16, of the edges in the order of their logits
    logits: Array  # (B, N, K) float32, LOWEST where there is no edge
    child: Array  # (B, N, K) int16, UNVISITED where there is none yet
    embedding: Any  # pytree of (B, N, ...)

    @property
    def visits(self) -> Array:
        """(B, N, K) int16, of every edge."""
        return self._by_edge(self.edge_visits)

    @property
    def utility(self) -> Array:
        """(B, N, K) float32, of every edge, for the deciding player; 0 without a visit."""
        return self._by_edge(self.edge_utility)

    def _by_edge(self, x: Array) -> Array:
        """Values (B, N) that nodes store for the edges that lead to them, by edge."""
        child = jnp.asarray(self.child, jnp.int32)
        gathered = jnp.take_along_axis(x[..., None, :], jnp.maximum(child, ROOT), axis=-1)
        return jnp.where(child == UNVISITED, 0, gathered).astype(x.dtype)


class Rows(NamedTuple):
    """New nodes, one for each row."""

    logits: Array  # (B, K)
    action: Array  # (B, K)
    value: Array  # (B, P)
    to_play: Array  # (B,)
    legal: Array  # (B,)


def best_actions(logits: Array, legal: Array, count: int) -> tuple[Array, Array]:
    """The `count` legal actions with the highest logits.

    Args:
        logits: (..., A) float32. legal: (..., A) bool.
    Returns:
        logits (..., count), LOWEST where fewer are legal, and actions (..., count) int32.
    """
    return jax.lax.top_k(jnp.where(legal, jnp.maximum(logits, LOWEST / 2), LOWEST), count)


def nodes_of(logits: Array, legal: Array, value: Array, to_play: Array, count: int) -> Rows:
    """Nodes from the network's outputs for B positions."""
    best, action = best_actions(logits, legal, count)
    return Rows(best, action, value, to_play, jnp.sum(legal, axis=-1, dtype=jnp.int32))


def new_tree(root: RootFnOutput, rows: Rows, num_simulations: int, options: SearchOptions) -> Tree:
    """Trees of a root each.

    Args:
        rows: the root's edges, K of them; they need not be those with the highest logits.
    """
    batch, players = root.value.shape
    edges = rows.logits.shape[-1]
    nodes = num_simulations + 1
    if max(nodes, root.prior_logits.shape[-1]) > MOST:
        raise ValueError(f"a tree counts to {MOST}: fewer simulations, or fewer actions")

    def by_node(*shape: int, dtype: DTypeLike = jnp.float32, fill: float = 0) -> Array:
        return jnp.full((batch, nodes, *shape), fill, dtype)

    tree = Tree(
        to_play=by_node(dtype=jnp.int8),
        raw_values=by_node(players),
        node_values=by_node(players),
        node_visits=by_node(dtype=jnp.int16),
        parent=by_node(dtype=jnp.int16, fill=-1),
        slot=by_node(dtype=jnp.int16, fill=-1),
        reward=by_node(players),
        discount=by_node(fill=1),
        legal=by_node(dtype=jnp.int16),
        solved=by_node(dtype=bool, fill=False),
        depth=by_node(dtype=jnp.int16),
        edge_visits=by_node(dtype=jnp.int16),
        edge_utility=by_node(),
        leaf=by_node(dtype=jnp.int16),
        leaf_slot=by_node(dtype=jnp.int16),
        action=by_node(edges, dtype=jnp.int16),
        logits=by_node(edges),
        child=by_node(edges, dtype=jnp.int16, fill=UNVISITED),
        embedding=jax.tree.map(
            lambda x: jnp.zeros((batch, nodes, *x.shape[1:]), x.dtype), root.embedding
        ),
    )
    return write_nodes(tree, ROOT, rows, root.embedding)


def write_nodes(tree: Tree, index: Array | int, rows: Rows, embedding: Any, **more: Array) -> Tree:
    """The trees with a new node each, all at the same index.

    Args:
        more: other fields of the nodes, (B, ...).
    """
    new = {
        "to_play": rows.to_play,
        "raw_values": rows.value,
        "node_values": rows.value,
        "node_visits": jnp.ones_like(rows.to_play),
        "legal": rows.legal,
        "action": rows.action,
        "logits": rows.logits,
    } | more

    def write(old: Array, x: Array) -> Array:
        new: Array = jax.lax.dynamic_update_index_in_dim(old, x.astype(old.dtype), index, 1)
        return new

    fields = {name: write(getattr(tree, name), x) for name, x in new.items()}
    return tree._replace(embedding=jax.tree.map(write, tree.embedding, embedding), **fields)


def memory(root: RootFnOutput, num_simulations: int, options: SearchOptions) -> int:
    """The bytes of the trees of a search.

    Args:
        root: a `RootFnOutput` of arrays, or of their shapes (`jax.eval_shape`).
    """

    def make(root: RootFnOutput) -> Tree:
        count = min(options.candidates, root.prior_logits.shape[-1])
        rows = nodes_of(root.prior_logits, root.legal_actions, root.value, root.to_play, count)
        return new_tree(root, rows, num_simulations, options)

    tree = jax.eval_shape(make, root)
    return sum(x.size * jnp.dtype(x.dtype).itemsize for x in jax.tree.leaves(tree))
