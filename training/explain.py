"""Why a move: what a decision of a recorded game brings and loses, by games played on from there.

    python -m training.explain GAME.json --at 57 --agent zoo/strong
    python -m training.explain GAME.json --at 57 --agent runs/quick+search:64
    python -m training.explain GAME.json --agent runs/quick+search:64 --json table.json

An agent without a search plays each candidate out `--playouts` times: VP at the end by source, and
what the others lose, with an interval. With a search it is what the search would do: with `--at`
the table of one decision, the candidates (`*` the search's move, `>` the played one)
with the policy's probability, the visits, the final VP that the search expects for each seat, and
the line that it expects to follow. Without it a line for every decision with a choice. No move is
said to cost anything: two values of a network differ by its error as much as by the move.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .system import atomic_files, cli
from .system.cli import UserError

if TYPE_CHECKING:
    from .analysis.explain import Game


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    args = _parse(argv)
    import jax
    import numpy as np

    from .analysis import explain

    searches = explain.has_search(args.agent)
    if not searches and args.at is None:
        raise UserError(f"{explain.wants_search(args.agent)}; --at needs none")
    if args.json:
        atomic_files.check_file("--json", args.json, explain.OURS)
    with cli.status_line(lambda: f"playing {args.record}"):
        game = explain.read_game(args.record)
    if args.at is not None and not 1 <= args.at <= len(game.actions):
        raise UserError(f"--at must be 1 to {len(game.actions)}, got {args.at}")
    if not searches:
        return _why(args, game)
    explainer = explain.Explainer(game.env, args.agent, explain.AT_ONCE)
    with cli.status_line(explainer.told):
        if args.at is None:
            about = explain.explain_game(game, explainer)
            text = explain.game_text(about)
        else:
            states = jax.tree.map(lambda x: np.asarray(x)[None], game.states[args.at - 1])
            searched = explainer.search(states)
            about = {"agent": args.agent} | explain.decision(game, searched, 0, args.at, explainer)
            text = explain.decision_text(about)
    print(text)
    if args.json:
        atomic_files.write_json(args.json, {"record": str(args.record)} | about)
    cli.wrote(args.json)
    return 0


def _why(args: argparse.Namespace, game: Game) -> int:
    """By playouts, in the game's words."""
    import numpy as np

    from .analysis import attribution

    if args.at > len(game.states) - 1 or np.sum(game.states[args.at - 1].legal_action_mask) < 2:
        raise UserError(f"decision {args.at} has no choice")
    with cli.status_line(lambda: f"playing on with {args.agent}"):
        report = attribution.ask(game, args.at, args.agent, args.playouts)
    print(attribution.text(report))
    if args.json:
        atomic_files.write_json(args.json, {"record": str(args.record)} | report)
    cli.wrote(args.json)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.explain", __doc__)
    parser.add_argument("record", metavar="RECORD", type=Path, help="a game record, JSON")
    parser.add_argument("--agent", required=True, help="who plays on, or a search: RUN+search:64")
    parser.add_argument("--at", metavar="N", type=int, help="the number of one decision, from 1")
    parser.add_argument(
        "--playouts", metavar="N", type=cli.whole(4, 10**5), default=64,
        help="of each candidate, without a search",
    )  # fmt: skip
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write everything here, every decision in full"
    )
    parser.add_argument("--worst", nargs="?", const="", help=argparse.SUPPRESS)  # of before
    cli.add_cache_flag(parser)
    args = parser.parse_args(argv)
    if args.worst is not None:
        raise UserError(
            "--worst is gone: no move is called costly until there is a review by rollouts;"
            " without --at every decision with a choice is listed, --at N shows one in full"
        )
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))
