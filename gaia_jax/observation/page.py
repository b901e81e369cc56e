"""Writes docs/reference/observation.md: `python -m gaia_jax.observation.page > FILE`."""

from __future__ import annotations

from gaia_jax.observation.cells import CELLS
from gaia_jax.observation.game import GLOBALS
from gaia_jax.observation.players import PLAYER_BLOCKS
from gaia_jax.observation.view import Block
from gaia_jax.ruleset import LOST_FLEET, Ruleset

_HEAD = """\
# The observation

Made by `python -m gaia_jax.observation.page > docs/reference/observation.md`.

`env.observe(state, player)` returns three integer arrays from the view of one seat: `own` or the
first row is `player`, the others follow in turn order of the round (`env.seats(state, player)`).
All information is public. The observation is computed on request and does not contain
`state.legal_action_mask`. `env.observation_spec` has the name and the range of every column in
order; a column is named `block` or `block.id`.

| array | shape | dtype | one row |
| --- | --- | --- | --- |
"""


def page(ruleset: Ruleset) -> str:
    """docs/reference/observation.md for a ruleset."""
    tables = [
        ("cells", CELLS, "int8", ruleset.geometry.num_cells, "a cell, ascending (q, r)"),
        ("players", PLAYER_BLOCKS, "int16", ruleset.players, "a seat"),
        ("globals", GLOBALS, "int16", 1, "the game"),
    ]
    shapes, chapters, size = [], [], 0
    for name, table, dtype, rows, row in tables:
        width = sum(len(block.columns(ruleset)) for block in table)
        size += rows * width * (1 if dtype == "int8" else 2)
        shape = f"({width},)" if rows == 1 else f"({rows}, {width})"
        shapes.append(f"| `{name}` | {shape} | {dtype} | {row} |\n")
        chapters.append(_chapter(ruleset, name, table))
    total = f"\nThe shapes are those of `{ruleset.id}`; together {size:,} bytes.\n"
    return _HEAD + "".join(shapes) + total + "".join(chapters)


def _chapter(ruleset: Ruleset, name: str, table: tuple[Block, ...]) -> str:
    lines = [f"\n## {name}\n\n", "| columns | block | ids | range | meaning |\n"]
    lines.append("| --- | --- | --- | --- | --- |\n")
    at = 0
    for block in table:
        count = len(block.columns(ruleset))
        if not count:
            continue
        columns = str(at) if count == 1 else f"{at} .. {at + count - 1}"
        limits = f"{block.low} .. {block.high}"
        cells = (columns, f"`{block.name}`", _ids(ruleset, block), limits, block.meaning)
        lines.append("| " + " | ".join(cells) + " |\n")
        at += count
    return "".join(lines)


def _ids(ruleset: Ruleset, block: Block, limit: int = 20) -> str:
    if block.ids is None:
        return ""
    ids = block.ids(ruleset)
    if len(ids) <= limit:
        return " ".join(ids)
    return f"{' '.join(ids[:2])} ... {ids[-1]} ({len(ids)})"


if __name__ == "__main__":
    print(page(LOST_FLEET), end="")
