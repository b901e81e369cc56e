"""Draw a recorded game as one SVG that steps through it, over and over: the picture of the README.

    python -m tools.game_picture docs/records/lost_fleet.json --out docs/game.svg

It has the head, the rounds and the map of `gaia_jax.render`; a part that changes is there once for
each look that it has, shown while it lasts. What cannot step shows the end of the game.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gaia_jax import actions
from gaia_jax.render import board, picture
from gaia_jax.render.shapes import group
from gaia_jax.render.table import Table
from gaia_jax.replay import read
from gaia_jax.replay.page import moves

BLOCKS = ("head", "rounds", "map")
WIDTH = board.WIDTH + 2 * picture.MARGIN
SMALLER = {"rounds": 0.92}  # as wide as the map


class Looks(NamedTuple):
    """What a picture of a game is made of."""

    table: Table  # of the game, for what stays
    steps: int
    # By block and part: from which step on, and what it looks like.
    changes: dict[str, dict[str, list[tuple[int, str]]]]


def looks(path: Path, interval: int) -> Looks:
    """Play a record and collect what changes.

    Args:
        interval: decisions from one step to the next; the last one is a step anyway.
    """
    played = list(moves(read(path)))
    decisions = [*range(interval - 1, len(played) - 1, interval), len(played) - 1]
    changes: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for step, at in enumerate(decisions):
        move = played[at]
        last = actions.from_text(move.after.ruleset, move.text)
        blocks = picture.blocks(move.after, last)
        current = {name: {name: blocks[name][1]} for name in BLOCKS}
        current["map"] = picture.map_parts(move.after, last)
        for block, parts in current.items():
            parts_changes = changes.setdefault(block, {})
            for id_ in parts_changes.keys() | parts.keys():
                body = parts.get(id_, "")
                old = parts_changes.setdefault(id_, [] if step == 0 else [(0, "")])
                if not old or old[-1][1] != body:
                    old.append((step, body))
    return Looks(played[0].after, len(decisions), changes)


def stepping(changes: list[tuple[int, str]], steps: int, seconds: float) -> str:
    """The looks of one part, each shown from its step to that of the next one."""
    if len(changes) == 1:
        return changes[0][1]
    out = []
    ends = [step for step, _ in changes[1:]] + [steps]
    for (begin, body), end in zip(changes, ends, strict=True):
        if not body:
            continue
        times, values = ["0"], ["inline" if begin == 0 else "none"]
        for at, value in ((begin, "inline"), (end, "none")):
            if 0 < at < steps:
                times.append(f"{at / steps:.4f}")
                values.append(value)
        hidden = "" if end == steps else ' display="none"'
        out.append(
            f'<g{hidden}><animate attributeName="display" calcMode="discrete" dur="{seconds:g}s"'
            f' repeatCount="indefinite" keyTimes="{";".join(times)}" values="{";".join(values)}"/>'
            f"{body}</g>"
        )
    return "".join(out)


def draw(path: Path, interval: int, pace: float) -> str:
    """The picture of a record.

    Args:
        pace: seconds of a step.
    """
    table, steps, changes = looks(path, interval)
    places = {name: place for name, (place, _) in picture.blocks(table).items()}
    height, body = int(places["map"][1] + board.HEIGHT), []
    for block in BLOCKS:
        inner = board.ground(table.ruleset) if block == "map" else ""
        inner += "".join(stepping(x, steps, steps * pace) for x in changes[block].values())
        if block in SMALLER:
            inner = f'<g transform="scale({SMALLER[block]})">{inner}</g>'
        body.append(group(inner, block, at=places[block]))
    return picture.document(table, WIDTH, height, "".join(body)) + "\n"


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m tools.game_picture", description=__doc__)
    parser.add_argument("record", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=6, help="decisions of a step")
    parser.add_argument("--pace", type=float, default=0.7, help="seconds of a step")
    args = parser.parse_args(argv)
    args.out.write_text(draw(args.record, args.every, args.pace), encoding="utf-8")


if __name__ == "__main__":
    main()
