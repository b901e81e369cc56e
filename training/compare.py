"""Compare training runs: curves with bands over seeds, and a table of final strength.

    python -m training.compare runs/a-0 runs/a-1 runs/b-0 runs/b-1 --out compare.html

Runs whose configurations differ in nothing but seed and name are one experiment. Of an experiment
with several runs the interquartile mean is drawn, with the 95 % band of a bootstrap that is
stratified by task; the tasks are the opponents of its evaluations.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, wrote

from .system import cli

AXES = ("decisions", "updates", "minutes")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = cli.Parser("python -m training.compare", __doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders")
    parser.add_argument(
        "--html", "--out", dest="out", metavar="FILE", type=Path, default=Path("compare.html"),
        help="write the page here",
    )  # fmt: skip
    parser.add_argument("--svg", metavar="FILE", type=Path, help="also write the first picture")
    parser.add_argument("--x", choices=AXES, default="decisions", help="horizontal axis")
    parser.add_argument(
        "--metric", action="append", help="the metric to draw; * matches any opponent"
    )
    args = parser.parse_args(argv)
    from .run import curves

    outputs.check_files({"--out": (args.out, curves.PAGE), "--svg": (args.svg, outputs.PICTURE)})
    if len(set(args.runs)) < len(args.runs):
        raise UserError("a run is named twice")
    experiments = curves.experiments([curves.read(path) for path in args.runs])
    metrics = args.metric or curves.SHOWN
    drawn = curves.picture(experiments, metrics[0], args.x) if args.svg else ""
    if args.svg and not drawn:
        raise UserError(f"--svg: no experiment has {metrics[0]} in all of its runs")
    outputs.write_text(args.out, curves.page(experiments, metrics, args.x))
    if args.svg:
        outputs.write_text(args.svg, outputs.COMMENT + drawn)
    for experiment, row in zip(experiments, curves.strength(experiments), strict=True):
        vp = row.get("vp_difference")
        strength = "evaluations are incomplete" if row["opponents"] else "no evaluation"
        if vp is not None:
            strength = f"{curves.with_interval(vp, 1)} VP above the others"
        print(f"{row['experiment']}: {row['runs']} runs, {strength}")
        for run in experiment.runs:
            decisions, minutes, own = curves.lengths(run)
            summary = f"{decisions:,.0f} decisions, {minutes:.1f} minutes, self-play {own:.1f} VP"
            print(f"  {run.path.name}: {summary}")
    wrote(args.out)
    wrote(args.svg)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))
