"""Several runs from one file: variants, a grid, seeds; one after another, or as a job array.

    python -m training.sweep configs/studies/rewards.yaml            # or continue it
    python -m training.sweep configs/studies/rewards.yaml --list
    python -m training.sweep configs/studies/rewards.yaml --index 3  # one run alone

Each run is a process of its own. After Ctrl-C or a kill the same command continues the sweep: it
skips finished runs and resumes the others from their checkpoints.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli.command_line import UserError, whole

from .system import cli, environments
from .system.environments import EnvModule

TASK = "SLURM_ARRAY_TASK_ID"
COMMAND = (sys.executable, "-m", f"{__package__}.sweep")


def main(
    argv: Sequence[str] | None = None,
    env_module: EnvModule | None = None,
    command: Sequence[str] = COMMAND,
) -> int:
    """The command line; returns the exit code: 1 if a run has failed, 130 after Ctrl-C.

    `command` starts a process of this.
    """
    args = _parse(argv)
    from .run import sweep, sweep_file
    from .run.start import RUNS

    members = sweep_file.load(args.file)
    states = [sweep_file.state(member, RUNS) for member in members]
    if args.list:
        print(sweep.table(members, states))
        return 0
    index = _index(args, len(members))
    env_module = environments.module(env_module)
    if index is not None:
        return sweep.train_member(members[index], env_module, args.under_queue)
    sweep.check_all(members, states, env_module)
    return sweep.Queue(args.file, members, [*command, str(args.file)]).run()


def _index(args: argparse.Namespace, count: int) -> int | None:
    """Which run is asked for alone."""
    index: int | None = args.index
    option = "--index"
    if index is None and os.environ.get(TASK):
        text, option = os.environ[TASK], TASK
        if not text.isdecimal():
            raise UserError(f"{TASK} wants a whole number, got {text!r}")
        index = int(text)
    if index is not None and index >= count:
        raise UserError(f"{option}: the sweep has the runs 0 to {count - 1}, got {index}")
    return index


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.sweep", __doc__)
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="a YAML file, e.g. configs/studies/rewards.yaml")
    add("--list", action="store_true", help="print the progress of the runs and exit")
    add(
        "--index", metavar="N", type=whole(0, 10**6),
        help=f"train a single run, numbered from 0 as in --list; also from {TASK}",
    )  # fmt: skip
    add("--under-queue", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
