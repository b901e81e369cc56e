"""Labels to learn from: games of an expert with the values of its candidates.

    python -m training.labels --out runs/labels --chunks 60
    python -m training.labels --expert zoo/strong+search:64 --config configs/long.yaml --out DIR

N games are played in parallel with auto-reset; a chunk file holds actions and labels of 64
decisions of each. Observations are not stored, because replaying costs less than reading them. The
same command continues after a stop.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli.command_line import LARGEST_SEED, whole, wrote

from .system import cli, jobs


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    on = jobs.of_args(args)
    from .imitation import expert_data

    expert_data.check_out(args.out)
    about = {"seed": args.seed, "games": args.games, "first": 0}
    about["student"] = str(args.student) if args.student else ""
    about["expert"] = args.expert
    if on.in_process:
        expert_data.generate(args.out, args.chunks, about, args.config)
    else:
        expert_data.generate_in_parts(args.out, args.chunks, about, args.config, on)
    wrote(args.out)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.labels", __doc__, cache_flag=True)
    add = parser.add_argument
    add("--out", metavar="DIR", type=Path, required=True, help="folder of the labels")
    add("--chunks", type=whole(1, 10**6), default=40, help="of 64 decisions of each game")
    add("--games", type=whole(1, 10**6), default=256, help="number of games in parallel")
    add("--seed", type=whole(0, LARGEST_SEED), default=0, help="seed of the set-ups")
    add("--config", metavar="FILE", default="configs/quick.yaml", help="game and network")
    add("--expert", metavar="AGENT", default="greedy", help="greedy or AGENT+search:N")
    add("--student", metavar="FILE", type=Path, help="an npz: this network plays most games")
    jobs.add_flags(parser)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
