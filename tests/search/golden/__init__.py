"""Golden trees: searches of random games, written down. `python -m tests.search.golden` makes them.

Trees change only on purpose: then look at the differences and write them again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tests.search import random_game
from training.search import UTILITIES, SearchOptions, Tree, gumbel_search

FOLDER = Path(__file__).parent
SIMULATIONS = 14
GAMES = 2


def search(utility: str) -> Tree:
    """The trees of two games for three players."""
    games = random_game.draw(21, GAMES, players=3, actions=4, depth=4)
    options = SearchOptions(
        candidates=3, considered=3, utility=UTILITIES[utility], value_scale=0.05
    )
    root = random_game.root(games)

    def run(key: Any) -> Tree:
        tree: Tree = gumbel_search(
            games, key, root, random_game.recurrent, SIMULATIONS, options
        ).tree
        return tree

    return jax.jit(run)(jax.random.key(3))


def plain(tree: Tree, row: int) -> list[dict[str, Any]]:
    """The nodes of a row that were visited, as plain values."""
    nodes = []
    for node in np.flatnonzero(tree.node_visits[row]):
        current = (row, int(node))
        edges = slice(0, min(int(tree.legal[current]), tree.action.shape[-1]))
        nodes.append(
            {
                "node": int(node),
                "parent": int(tree.parent[current]),
                "player": int(tree.to_play[current]),
                "visits": int(tree.node_visits[current]),
                "closed": bool(tree.solved[current]),
                "values": np.round(np.asarray(tree.node_values[current], float), 4).tolist(),
                "actions": np.asarray(tree.action[current])[edges].tolist(),
                "children": np.asarray(tree.child[current])[edges].tolist(),
                "edge_visits": np.asarray(tree.visits[current])[edges].tolist(),
                "utility": np.round(np.asarray(tree.utility[current], float)[edges], 4).tolist(),
            }
        )
    return nodes


def write(path: Path, trees: list[list[dict[str, Any]]]) -> None:
    """One node a line."""
    rows = [",\n  ".join(json.dumps(node) for node in nodes) for nodes in trees]
    text = "[\n [" + "],\n [".join(rows) + "]\n]\n"
    path.write_text(text, encoding="utf-8")
