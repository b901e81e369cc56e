"""The learning curves of docs/lab/learning.md, as a picture.

python -m tools.learning_curve NAME=runs/a/metrics.jsonl ... --out docs/lab/learning.svg

Runs of one name, the seeds of a recipe, have one colour. Minutes are those in which a run played
and learnt, by the speed that it logged: without compiling and dealing the first games.

Needs matplotlib: pip install "gaia_jax[plots]".
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gaia_jax.cli import command_line, outputs

LABELS = {"decisions": "decisions learnt, millions", "minutes": "minutes of play and learning"}


def read(path: Path, window: int, minutes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Millions of decisions, or minutes, and self-play VP: means over `window` updates.

    A game counts in the update in which it ended.
    """
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    records = [line for line in lines if "games/ended" in line]  # the others are evaluations
    games = np.array([r["games/ended"] for r in records])
    total = np.array([r.get("games/vp", 0.0) for r in records]) * games
    decisions = np.array([r["time/decisions"] for r in records])
    at = decisions / 1e6
    if minutes:
        speed = np.array([r["time/decisions_per_second"] for r in records])
        at = np.cumsum(np.diff(decisions, prepend=0) / speed) / 60
    ends = np.arange(window, len(records) + 1, window)
    sums = [(total[i - window : i].sum(), games[i - window : i].sum()) for i in ends]
    seen = np.array([b > 0 for _, b in sums], bool)
    return at[ends - 1][seen], np.array([a / b for a, b in sums if b > 0])


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(prog="python -m tools.learning_curve", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("runs", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--window", type=int, default=10, help="updates of a point")
    parser.add_argument("--level", type=float, default=99.8, help="a line to compare with")
    parser.add_argument("--level-of", default="greedy, self-play", help="its name")
    parser.add_argument("--x", choices=("decisions", "minutes"), default="decisions")
    args = parser.parse_args(argv)
    outputs.check_file("--out", args.out, outputs.PICTURE)
    plt.rcParams["svg.hashsalt"] = "gaia_jax"
    figure, axes = plt.subplots(figsize=(7, 4))
    colours: dict[str, str] = {}
    for text in args.runs:
        name, _, file = text.partition("=")
        label = None if name in colours else name
        colour = colours.setdefault(name, f"C{len(colours)}")
        curve = read(Path(file), args.window, args.x == "minutes")
        axes.plot(*curve, label=label, color=colour)
    axes.axhline(args.level, color="grey", linestyle=":", label=args.level_of)
    axes.set(xlabel=LABELS[args.x], ylabel="self-play VP, sampled")
    axes.legend(frameon=False)
    figure.tight_layout()
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    text = drawn.getvalue()
    outputs.write_text(args.out, outputs.COMMENT + text[text.index("<svg ") :])
    return 0


if __name__ == "__main__":
    raise SystemExit(command_line.run(main))
