"""The learning curves of docs/learning.md, as a picture.

python -m tools.learning_curve NAME=runs/a/metrics.jsonl ... --out docs/learning.svg

Needs matplotlib, which the extra `bench` brings.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np


def read(path: Path, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Decisions in millions, and self-play VP: means over `window` updates, by games ended."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    records = [r for r in records if "games/vp" in r and r["games/ended"] > 0]
    games = np.array([r["games/ended"] for r in records])
    total = np.array([r["games/vp"] for r in records]) * games
    at = np.array([r["time/decisions"] for r in records]) / 1e6
    ends = np.arange(window, len(records) + 1, window)
    sums = [(total[i - window : i].sum(), games[i - window : i].sum()) for i in ends]
    return at[ends - 1], np.array([a / b for a, b in sums])


def main() -> int:
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
    args = parser.parse_args()
    plt.rcParams["svg.hashsalt"] = "gaia_jax"
    figure, axes = plt.subplots(figsize=(7, 4))
    for text in args.runs:
        name, _, file = text.partition("=")
        axes.plot(*read(Path(file), args.window), label=name)
    axes.axhline(args.level, color="grey", linestyle=":", label=args.level_of)
    axes.set(xlabel="decisions learnt, millions", ylabel="self-play VP, sampled")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(args.out, metadata={"Date": None})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
