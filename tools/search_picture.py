"""Draw a golden tree: `python -m tools.search_picture` writes docs/lab/search_tree.svg."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from training.stats import chart

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "tests" / "search" / "golden" / "max_n.json"
TARGET = ROOT / "docs" / "lab" / "search_tree.svg"
GAME = 1  # of the file
COLOURS = ("#cfe3f7", "#f7dfc6", "#d6efd0", "#ead7f2")  # by player


def place_nodes(nodes: dict[int, dict[str, Any]]) -> dict[int, tuple[float, int]]:
    """(column, depth) of every node: leaves side by side, parents above the middle."""
    places: dict[int, tuple[float, int]] = {}
    num_leaves = 0

    def place(number: int, depth: int) -> float:
        nonlocal num_leaves
        columns = [place(c, depth + 1) for c in nodes[number]["children"] if c >= 0]
        if columns:
            column = (columns[0] + columns[-1]) / 2
        else:
            column, num_leaves = float(num_leaves), num_leaves + 1
        places[number] = (column, depth)
        return column

    place(0, 0)
    return places


def draw(nodes: list[dict[str, Any]]) -> str:
    """The SVG of a tree: the decider, visits, values of all players; edges with their action."""
    by_number = {node["node"]: node for node in nodes}
    places = place_nodes(by_number)
    width = 1.3 * (1 + max(column for column, _ in places.values()))
    figure, axes = chart.new_figure(width, 1.1 * (1 + max(depth for _, depth in places.values())))
    axes.set_axis_off()
    axes.invert_yaxis()
    axes.margins(0.08)
    for number, (x, y) in places.items():
        node = by_number[number]
        edges = zip(node["actions"], node["children"], node["edge_visits"], strict=True)
        is_leaf = True
        for action, child, visits in edges:
            if child >= 0:
                is_leaf = False
                x2, y2 = places[child]
                axes.plot([x, x2], [y, y2], color="#888888", linewidth=1 + visits / 3, zorder=1)
                axes.annotate("abcd"[action], ((x + x2) / 2, (y + y2) / 2), backgroundcolor="white")
        decider = "end" if node["closed"] and is_leaf else f"player {node['player'] + 1} decides"
        plural = "" if node["visits"] == 1 else "s"
        values = ", ".join(f"{value:.2f}" for value in node["values"])
        box = {
            "boxstyle": "round", "facecolor": COLOURS[node["player"]], "edgecolor": "#444444",
            "linewidth": 2.5 if node["closed"] else 1,
        }  # fmt: skip
        label = f"{decider}\n{node['visits']} visit{plural}\n{values}"
        axes.annotate(label, (x, y), ha="center", va="center", fontsize=7, bbox=box)
    return chart.to_svg(figure, "A search tree")


if __name__ == "__main__":
    trees = json.loads(SOURCE.read_text(encoding="utf-8"))
    TARGET.write_text(draw(trees[GAME]), encoding="utf-8")
