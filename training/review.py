"""A review of a recorded game: what each main move lost, the better line, accuracy by seat.

    python -m training.review GAME.json --html review.html
    python -m training.review GAME.json --agent runs/long --playouts 32 --json review.json

Each placement, booster and main action is compared with the likeliest others by playouts on the
same luck: the agent plays all seats on to the end. Ctrl-C gives a report of what is judged until
then.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .system import atomic_files, cli

MOST_GAMES = 1 << 20  # so that every core is a device


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 where Ctrl-C left a part of the game out."""
    args = _parse(argv)
    from .analysis import review, review_page
    from .analysis.explain import read_game
    from .system.devices import split_cpu

    review.check_policy(args.agent)  # before any work; again by `Reviewer`
    atomic_files.check_different({"--json": args.json, "--html": args.html})
    for flag, file, is_own_file in (
        ("--json", args.json, review.OURS), ("--html", args.html, review_page.OURS),
    ):  # fmt: skip
        if file:
            atomic_files.check_file(flag, file, is_own_file)
    split_cpu(0, MOST_GAMES)
    with cli.status_line(lambda: f"playing {args.record}"):
        game = read_game(args.record)
    reviewer = review.Reviewer(game.env, args.agent, args.playouts)
    with cli.status_line(lambda: f"asking {args.agent}"):
        states, questions = reviewer.ask(game)
    with cli.bar("playout", reviewer.total(questions)) as bar:
        result = reviewer.review(
            game, states, questions, args.seed, lambda ended: bar.update(ended - bar.n)
        )
    about = {"record": str(args.record)} | result
    print(review.text(about))
    if args.json:
        atomic_files.write_json(args.json, about)
    if args.html:
        atomic_files.write_text(args.html, review_page.page(game, about))
    cli.wrote(args.json, args.html)
    return 0 if about["judged"] == about["asked"] else 130


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.review", __doc__)
    add = parser.add_argument
    add("record", metavar="RECORD", type=Path, help="a game record, JSON")
    add("--agent", default="zoo/strong", help="who plays on, at all seats; one with a policy")
    add(
        "--playouts", metavar="N", type=cli.whole(4, 10**4), default=16,
        help="of the played move and of the best other one",
    )  # fmt: skip
    add("--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="of the playouts")
    add("--json", metavar="FILE", type=Path, help="write everything here, every move in full")
    add("--html", metavar="FILE", type=Path, help="write the review as a page to look at")
    cli.add_cache_flag(parser)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
