"""Strength of a checkpoint: its policy in one seat, an opponent in the others, duplicates.

    python -m training.evaluate RUN --games 400 --opponent random --json evaluation.json

Every set-up is played once for each seat that the policy may have: it plays all factions and
places in turn order of the set-up, and so do the others. The games of a set-up are one sample of
each statistic; the intervals are over set-ups.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from training import zoo
from training.agents import check_agent
from training.games import records, store
from training.games.engine import GAMES_AT_ONCE
from training.games.evaluation import Evaluation
from training.games.report import format_evaluation
from training.learn.checkpoint import load_policy, number_of, split_update
from training.system import atomic_files, cli, devices
from training.types import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        env_module: what `make`s environments; None is `gaia_jax`.
    Returns:
        The exit code.
    """
    args = _parse(argv)
    run, at = split_update(args.run)
    update = number_of(args.run, at)
    store.check_outputs("--save", args.save, args)
    if env_module is None:
        import gaia_jax

        env_module = gaia_jax
    # As if for four: the run, read below, says.
    setups = math.ceil(min(args.games, GAMES_AT_ONCE) / 4)
    devices.split_cpu(0, 4 * setups, 4)
    temperature = 1.0
    if run.startswith(zoo.PREFIX):
        if update is not None:
            raise cli.UserError(f"{args.run}: an agent of the zoo has no updates")
        says = zoo.about(run)
        env = zoo.environment(run, says, env_module)
        network, params = zoo.load(run, env)
        temperature = says.get("temperature", 1.0)
    else:
        env, network, params, update, _ = load_policy(run, None, env_module, update)
    check_agent(args.opponent, env)
    evaluation = Evaluation(
        env,
        network,
        args.games,
        args.likeliest,
        args.opponent,
        temperature,
        args.record,
        args.first,
    )
    policy = {"run": run, "update": update}
    held = evaluation.store(args.seed, args.save, policy, args.resume)
    try:
        games = evaluation.play(params, args.seed, store=held)
    finally:
        held.close()
    report = policy | evaluation.report(games, args.seed)
    print(format_evaluation(report, args.factions))
    if args.json:
        atomic_files.write_json(args.json, report)
    cli.wrote(args.save, args.json, args.record)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.evaluate", __doc__)
    parser.add_argument(
        "run", metavar="RUN", help="a run folder, e.g. runs/quick; or RUN@UPDATE, zoo/NAME"
    )
    cli.add_games_flags(parser, 400, "rounded up to whole set-ups, a game for each seat")
    parser.add_argument("--opponent", default="random", help="who holds the other seats")
    parser.add_argument(
        "--likeliest", action="store_true", help="the likeliest action instead of sampling"
    )
    parser.add_argument("--factions", action="store_true", help="also print the table by faction")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    parser.add_argument(
        "--save", metavar="FILE.npz", type=Path, help="keep the games, for `training.merge`"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the games of --save")
    records.add_flag(parser)
    cli.add_cache_flag(parser)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
