"""Review a recorded game: what each main move lost, the better line, accuracy by seat.

    python -m training.review GAME.json --html review.html
    python -m training.review GAME.json --agent runs/long --playouts 32 --json review.json

Playouts compare each placement, booster and main action with its most likely alternatives: the
agent plays all seats to the end of the game, with the same random numbers for each. After Ctrl-C
the report has the moves that were judged before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import LARGEST_SEED, whole, wrote
from gaia_jax.cli.progress import status_line

from .system import cli

# Passed to `split_cpu` as the number of games: large enough that only the cores limit the devices.
MANY_GAMES = 1 << 20


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 after Ctrl-C with moves left to judge."""
    args = _parse(argv)
    from .analysis import review, review_report
    from .analysis.recorded_game import read_game
    from .stats.chart import new_figure
    from .system.devices import split_cpu

    review.check_policy(args.agent)  # before any work; `review_game` checks again
    outputs.check_files(
        {
            "--json": (args.json, review_report.is_own_report),
            "--html": (args.html, review_report.is_own_page),
        }
    )
    if args.html:
        new_figure(1, 1)  # raises an error without matplotlib
    split_cpu(0, MANY_GAMES)
    with status_line(lambda: f"playing {args.record}"):
        game = read_game(args.record)
    with cli.bar("playout", 1) as bar:

        def progress(ended: int, total: int) -> None:
            bar.total = total
            bar.update(ended - bar.n)

        game_review = review.review_game(game, args.agent, args.playouts, args.seed, progress)
    report = {"record": str(args.record)} | review_report.build_report(game_review)
    print(review_report.report_text(report))
    if args.json:
        outputs.write_json(args.json, report)
    if args.html:
        outputs.write_text(args.html, review_report.report_page(game, report))
    wrote(args.json, args.html)
    return 0 if report["judged"] == report["asked"] else 130


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.review", __doc__, cache_flag=True)
    add = parser.add_argument
    add("record", metavar="RECORD", type=Path, help="a game record, JSON")
    add("--agent", default="zoo/strong", help="plays all seats; it must have a policy")
    add(
        "--playouts", metavar="N", type=whole(4, 10**4), default=16,
        help="playouts of the played move and of its best alternative; the costliest get more",
    )  # fmt: skip
    add("--seed", type=whole(0, LARGEST_SEED), default=0, help="seed of the playouts")
    add("--json", metavar="FILE", type=Path, help="write the whole report, with every move")
    add("--html", metavar="FILE", type=Path, help="write the review as a page")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
