"""Strength of an agent: its policy in one seat, an opponent in the others, duplicates.

    python -m training.evaluate RUN --games 400 --opponent random --json evaluation.json

Every set-up is played once for each seat of the policy. The games of a set-up are one sample; the
intervals are over set-ups.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, wrote

from .system import cli, environments, jobs
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    on = jobs.of_args(args)
    from .games import arena, store
    from .games.report import format_evaluation

    store.check_outputs("--save", args.save, args)
    if args.save and args.save.suffix != store.PARQUET:
        raise UserError(f"--save must end in .parquet, got {args.save}")
    evaluation_args = arena.EvaluationArgs(
        args.run, environments.module(env_module).__name__, args.games, args.opponent,
        args.likeliest, args.record and str(args.record), args.automa,
    ).fixed()  # fmt: skip
    evaluation, policy = arena.evaluation_of_name(evaluation_args)
    games, is_complete = arena.play_stored(
        evaluation_args, evaluation.arena, policy | evaluation.about(args.seed), args.save,
        args.resume, on,
    )  # fmt: skip
    if games is None or not is_complete:
        hint = "; continue with --save FILE.parquet --resume" if args.save else ""
        print(f"interrupted{hint}", file=sys.stderr)
        return 130
    report = policy | evaluation.report(games, args.seed)
    print(format_evaluation(report, args.factions))
    if args.json:
        outputs.write_json(args.json, report)
    wrote(args.save, args.json, args.record)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.evaluate", __doc__, cache_flag=True)
    text = "an agent as for the arena: a run folder, zoo/NAME, zoo/NAME+search:64, greedy"
    parser.add_argument("run", metavar="RUN", nargs="?", help=text)
    parser.add_argument("--agent", metavar="RUN", help="the agent, as in other commands")
    cli.add_games_flags(parser, 400, "rounded up to whole set-ups, a game for each seat")
    parser.add_argument("--opponent", default="random", help="the agent of the other seats, if any")
    cli.add_automa_flag(parser)
    cli.add_likeliest_flag(parser)
    parser.add_argument("--factions", action="store_true", help="also print the table by faction")
    text = "store a row for each seat of each game"
    cli.add_store_flags(parser, "--save", metavar="FILE.parquet", text=text)
    jobs.add_flags(parser)
    args = parser.parse_args(argv)
    if (args.run is None) == (args.agent is None):
        parser.error("name one agent, RUN or --agent RUN")
    args.run = args.agent if args.run is None else args.run
    return args


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION in the current folder
    sys.exit(cli.run(main))
