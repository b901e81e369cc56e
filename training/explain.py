"""Explain a decision of a recorded game: the values of its candidates, by playouts or a search.

    python -m training.explain GAME.json --at 57 --agent zoo/strong
    python -m training.explain GAME.json --at 57 --agent runs/quick+search:64
    python -m training.explain GAME.json --agent runs/quick+search:64 --json table.json

An agent without a search plays out each candidate `--playouts` times. The report has the final VP
by source, and the loss of each other candidate with an interval.

With a search and `--at`, the report is a table of the candidates of one decision: the policy's
probability, the visits, the final VP that the search expects for each seat, and the expected line.
`*` marks the move of the search, `>` the played one. Without `--at` it has a line for each decision
with a choice. It has no losses: two values of a network differ as much by its error as by the move.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, whole, wrote
from gaia_jax.cli.progress import status_line

from .system import cli
from .types import JsonObject

if TYPE_CHECKING:
    from .analysis.recorded_game import Game


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    args = _parse(argv)
    from .agents.search import SHOWN, split_name
    from .analysis import review, search_report
    from .analysis.recorded_game import read_game

    base, search = split_name(args.agent)
    if search is not None:
        review.check_policy(base)  # before the game is replayed
        dataclasses.replace(search, form=search.form or SHOWN).options(1.0)
    elif args.at is None:
        raise UserError(f"{search_report.search_required_message(args.agent)}; --at requires none")
    if args.json:
        outputs.check_file("--json", args.json, search_report.is_own_report)
    with status_line(lambda: f"playing {args.record}"):
        game = read_game(args.record)
    if args.at is not None and not 1 <= args.at <= len(game.actions):
        raise UserError(f"--at must be 1 to {len(game.actions)}, got {args.at}")
    report, text = (_attribute if search is None else _search)(args, game)
    print(text)
    if args.json:
        outputs.write_json(args.json, {"record": str(args.record)} | report)
    wrote(args.json)
    return 0


def _attribute(args: argparse.Namespace, game: Game) -> tuple[JsonObject, str]:
    """Explain one decision by playouts."""
    import numpy as np

    from .analysis import attribution

    if np.sum(game.states[args.at - 1].legal_action_mask) < 2:
        raise UserError(f"decision {args.at} has no choice")
    with status_line(lambda: f"playing out with {args.agent}"):
        report = attribution.attribute(game, args.at, args.agent, args.playouts)
    return report, attribution.report_text(report)


def _search(args: argparse.Namespace, game: Game) -> tuple[JsonObject, str]:
    """Explain one decision, or the whole game, by a search."""
    from .analysis import search_report
    from .system.batched import one_row

    explainer = search_report.Explainer(game.env, args.agent, search_report.BATCH)
    with status_line(explainer.status):
        if args.at is None:
            report = search_report.explain_game(game, explainer)
            return report, search_report.game_text(report)
        searched = explainer.search(one_row(game.states[args.at - 1]))
    decision = search_report.report_decision(game, searched, 0, args.at, explainer)
    return {"agent": args.agent} | decision, search_report.decision_text(decision)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.explain", __doc__, cache_flag=True)
    parser.add_argument("record", metavar="RECORD", type=Path, help="a game record, JSON")
    parser.add_argument("--agent", required=True, help="an agent, or a search: RUN+search:64")
    parser.add_argument("--at", metavar="N", type=int, help="number of the decision, from 1")
    parser.add_argument(
        "--playouts", metavar="N", type=whole(4, 10**5), default=64,
        help="playouts of each candidate, without a search",
    )  # fmt: skip
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write the whole report, with every decision"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
