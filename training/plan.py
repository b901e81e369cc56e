"""The memory that a configuration needs, and with `--measured` its time.

    python -m training.plan configs/h100.yaml --devices 8 --memory 80GB
    python -m training.plan configs/quick.yaml --devices 2 --xla    # also by XLA

The bytes are counted from the shapes of the games, the network's inputs and the arrays that its
gradient keeps; nothing is compiled. `--xla` compiles the training step for the available devices
and prints XLA's own account. A configuration that cannot fit is refused, with an alternative that
does.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli.command_line import UserError, whole

from .system import cli, environments
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code, 2 if the configuration does not fit."""
    args = _parse(argv)
    import jax

    from . import config as configs
    from .run import plan as run_plan
    from .run.plan import size_text
    from .system import devices

    config = configs.load(args.config, args.overrides)
    env_module = environments.module(env_module)
    if args.xla:
        devices.split_cpu(args.devices, config.ppo.num_envs)
    pace = run_plan.read_pace(args.measured, env_module) if args.measured else None
    shapes = run_plan.shapes_of(config, env_module)
    plan, lines = run_plan.report(config, shapes, args.devices)
    print("\n".join(lines))
    if args.xla:
        if jax.device_count() != args.devices:
            raise UserError(f"--xla: there are {jax.device_count()} devices here")
        with cli.compiling("the training step"):
            xla_account = run_plan.xla_account(config, env_module)
        account_text = ", ".join(f"{key} {size_text(value)}" for key, value in xla_account.items())
        print(
            f"XLA: {account_text}; the plan is {plan.total / xla_account['total'] - 1:+.0%} of that"
        )
    if pace is not None:
        seconds = pace.seconds(config, shapes, args.devices)
        decisions = config.ppo.num_envs * config.ppo.num_steps
        hours = seconds * config.run.updates / 3600
        print(
            f"{decisions / seconds:,.0f} decisions/s, an update in {seconds:.2f} s, "
            f"{config.run.updates:,} updates in {hours:,.1f} hours, without evaluations, "
            f"where a device is as fast as those measured: {pace.source}"
        )
    if args.memory and plan.total > args.memory:
        suggestions = run_plan.fitting(config, shapes, args.devices, args.memory) or [
            "nothing smaller"
        ]
        raise UserError(
            f"it takes {size_text(plan.total)} of each device, which has "
            f"{size_text(args.memory)}; "
            f"what would fit: {' or '.join(suggestions)}"
        )
    return 0


def size_of(text: str) -> int:
    """`80GB`, `16GiB`, bytes -> bytes."""
    from .run.plan import SIZES

    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", text, re.IGNORECASE)
    if not match or match[2].upper() not in SIZES:
        raise argparse.ArgumentTypeError(f"wants a size such as 80GB or 16GiB, got {text!r}")
    return int(float(match[1]) * SIZES[match[2].upper()])


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.plan", __doc__)
    parser.add_argument("config", metavar="CONFIG", nargs="?", help="a configuration, YAML")
    parser.add_argument("--config", dest="named", metavar="FILE", help="the same, as for training")
    parser.add_argument(
        "--devices", type=whole(1, 10**6), default=1, help="number of devices of all processes"
    )
    parser.add_argument("--memory", type=size_of, help="memory of each device, e.g. 80GB")
    parser.add_argument("--xla", action="store_true", help="compile it here, and ask XLA")
    parser.add_argument(
        "--measured", metavar="FILE", type=Path,
        help="also print the time, from a report of `benchmarks.training --json` of such a device",
    )  # fmt: skip
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="e.g. ppo.num_envs=512")
    args = parser.parse_intermixed_args(argv)
    if args.named and args.config:  # then the positional argument is the first key=value
        args.overrides.insert(0, args.config)
    args.config = args.named or args.config
    if not args.config:
        parser.error("a configuration is wanted")
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))
