"""Train an agent by self-play.

python -m training.train --config configs/quick.yaml ppo.lr=3e-4 name=mine
python -m training.train --resume runs/mine run.updates=400
python -m training.train --resume runs/mine@120
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .system import cli, environments
from .system.environments import EnvModule


def main(
    argv: Sequence[str] | None = None, env_module: EnvModule | None = None, spent: float = 0.0
) -> int:
    """The command line; returns the exit code, 130 after Ctrl-C.

    `spent`: seconds of `run.max_minutes` that earlier starts have used.
    """
    args = _parse(argv)
    from .run.start import TrainRequest
    from .run.training import run

    request = TrainRequest(args.config, args.resume, tuple(args.overrides), args.record)
    return run(request, environments.module(env_module), spent)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.train", __doc__, cache_flag=True)
    parser.add_argument("--config", metavar="FILE", help="a configuration, e.g. configs/quick.yaml")
    parser.add_argument(
        "--resume", metavar="RUN", help="continue this run bit for bit; or RUN@UPDATE"
    )
    cli.add_record_flag(parser)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="e.g. ppo.lr=3e-4")
    return parser.parse_intermixed_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
