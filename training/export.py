"""Datasets of games: play games, derive their decisions, verify and merge datasets.

    python -m training.export --agents random,random,zoo/quick,greedy --games 20000 --out data
    python -m training.export --out data --decisions        # adds decisions.parquet
    python -m training.export --out data --verify 1000      # plays rows again
    python -m training.export --out all --merge data more   # several ranges as one
    python -m training.export --out few --merge data --games 1000   # the first games of one
    python -m training.export --out few --merge docs/sample --games 1000 --decisions --no-policy

`--processes 2` plays on two cores, `--on slurm` or `--on ray` on a cluster. `--first N` plays
another range of set-ups. A killed command continues when you run it again and writes the same file.
`docs/reference/datasets.md` describes the files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import LARGEST_SEED, UserError, whole

from .system import cli, environments, jobs
from .system.environments import EnvModule

MOST_GAMES = 10**9


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code: 1 for a wrong row, 130 after Ctrl-C."""
    args = _parse(argv)
    on = jobs.of_args(args)
    cli.need_pyarrow("datasets need")
    from .games import export as games_export

    env_module = environments.module(env_module)
    if args.merge:
        games_export.merge(args, env_module)
    elif args.agents:
        code = games_export.play(args, env_module, on)
        if code:
            return code
    with outputs.folder_lock(args.out):
        if args.decisions:
            games_export.derive(args.out, env_module, args.replay_batch, not args.no_policy)
        return games_export.verify(args, env_module) if args.verify is not None else 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.export", __doc__, cache_flag=True)
    add, integer = parser.add_argument, whole
    add("--out", metavar="DIR", type=Path, required=True, help="folder of the dataset")
    add("--agents", help="play games: one agent for each seat, as for the arena")
    text = "rounded up to whole set-ups; 1024 if left out, with --merge all"
    add("--games", type=integer(1, MOST_GAMES), help=text)
    add("--seed", type=integer(0, LARGEST_SEED), default=0, help="seed of the set-ups")
    add(
        "--first",
        type=integer(0, 2**31 - 1),
        default=0,
        help="number of the first set-up, column `deal`",
    )
    text = "games of a piece of the work; at most a quarter of them run at the same time"
    add("--batch", type=integer(1, 2**20), default=4096, help=text)
    jobs.add_flags(parser)
    cli.add_rules_flags(parser)
    cli.add_likeliest_flag(parser)
    cli.add_automa_flag(parser)
    add("--decisions", action="store_true", help="derive decisions.parquet from the games")
    text = "with --decisions: leave the columns of the agents' networks empty, which is faster"
    add("--no-policy", action="store_true", help=text)
    add("--verify", type=integer(1, MOST_GAMES), metavar="N", help="replay N rows and compare them")
    add("--verify-seed", type=integer(0, LARGEST_SEED), default=0, help="which rows")
    text = "games that are played again together"
    add("--replay-batch", type=integer(1, 2**16), default=256, help=text)
    add("--merge", nargs="+", type=Path, metavar="DIR", help="join these datasets")
    args = parser.parse_args(argv)
    if args.merge and args.agents:
        raise UserError("--merge plays no games: leave out --agents or --merge")
    if not (args.agents or args.merge or args.decisions or args.verify):
        raise UserError("nothing to do: --agents, --decisions, --verify or --merge")
    if not args.agents and not args.merge and not args.out.is_dir():
        raise UserError(f"{args.out} is no folder")
    return args


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION in the current folder
    sys.exit(cli.run(main))
