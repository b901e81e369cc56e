"""Draw a golden tree: `python -m tools.search_picture` writes docs/lab/search_tree.svg."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
SOURCE = HERE / "tests" / "search" / "golden" / "max_n.json"
TARGET = HERE / "docs" / "lab" / "search_tree.svg"
ROW = 1  # which of its games
WIDTH, HEIGHT, DOWN = 118, 60, 104  # of a node, and between two depths
COLOURS = ("#cfe3f7", "#f7dfc6", "#d6efd0", "#ead7f2")  # by player


def draw(nodes: list[dict[str, Any]]) -> str:
    """The SVG of a tree: who decides, visits, values of all players; edges with their action."""
    by_number = {node["node"]: node for node in nodes}
    places: dict[int, tuple[float, int]] = {}
    leaves = 0

    def place(number: int, depth: int) -> float:
        nonlocal leaves
        children = [c for c in by_number[number]["children"] if c >= 0]
        if children:
            columns = [place(c, depth + 1) for c in children]
            column = (columns[0] + columns[-1]) / 2
        else:
            column, leaves = float(leaves), leaves + 1
        places[number] = (column, depth)
        return column

    place(0, 0)
    deepest = max(depth for _, depth in places.values())
    wide, high = leaves * (WIDTH + 10) + 10, deepest * DOWN + HEIGHT + 20
    lines, boxes = [], []
    for number, (column, depth) in places.items():
        node = by_number[number]
        x, y = 10 + column * (WIDTH + 10), 10 + depth * DOWN
        dash = "" if not node["closed"] else ' stroke-width="2.5"'
        boxes.append(
            f'<rect x="{x:.0f}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"'
            f' fill="{COLOURS[node["player"]]}" stroke="#444"{dash}/>'
        )
        ends = node["closed"] and not any(c >= 0 for c in node["children"])
        who = "end" if ends else f"player {node['player'] + 1} decides"
        visits = node["visits"]
        texts = (who, f"{visits} visit" + "s" * (visits != 1), _values(node["values"]))
        boxes += [
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + 18 + 17 * i}">{text}</text>'
            for i, text in enumerate(texts)
        ]
        for action, child, count in zip(
            node["actions"], node["children"], node["edge_visits"], strict=True
        ):
            if child < 0:
                continue
            x1, y1 = x + WIDTH / 2, y + HEIGHT
            x2, y2 = 10 + places[child][0] * (WIDTH + 10) + WIDTH / 2, 10 + (depth + 1) * DOWN
            lines.append(
                f'<line x1="{x1:.0f}" y1="{y1}" x2="{x2:.0f}" y2="{y2}" stroke="#888"'
                f' stroke-width="{1 + count / 3:.1f}"/>'
            )
            lines.append(
                f'<text x="{(x1 + x2) / 2:.0f}" y="{(y1 + y2) / 2 + 4:.0f}" fill="#222"'
                f' stroke="#fff" stroke-width="4" paint-order="stroke">{"abcd"[action]}</text>'
            )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}"'
        ' font-family="sans-serif" font-size="12" text-anchor="middle">'
    )
    back = f'<rect width="{wide}" height="{high}" fill="#fff"/>'
    return "\n".join([head, back, *lines, *boxes, "</svg>"]) + "\n"


def _values(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def main() -> None:
    trees = json.loads(SOURCE.read_text(encoding="utf-8"))
    TARGET.write_text(draw(trees[ROW]), encoding="utf-8")


if __name__ == "__main__":
    main()
