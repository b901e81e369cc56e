"""Several runs from one file: variants, a grid, seeds; on this machine, SLURM or Ray.

    python -m training.sweep configs/studies/rewards.yaml             # or continue it
    python -m training.sweep configs/studies/rewards.yaml --on slurm  # a task for each run

Each run is a process of its own. After Ctrl-C or a kill the same command continues the sweep: it
skips finished runs and resumes the others from their checkpoints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .system import cli, environments, jobs
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code: 1 if a run has failed, 130 after Ctrl-C."""
    args = _parse(argv)
    on = jobs.of_args(args)
    from .run import sweep, sweep_file, tuning

    file, env_module = sweep_file.load(args.file), environments.module(env_module)
    if file.tune:
        return tuning.tune(file, file.tune, env_module, on)
    return sweep.train_all(file.name, file.runs(), env_module, on)[0]


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.sweep", __doc__)
    text = "a sweep, e.g. configs/studies/rewards.yaml"
    parser.add_argument("file", metavar="FILE", type=Path, help=text)
    jobs.add_flags(parser)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
