"""Compare the games that this machine plays with those of the release, in about a minute.

    python -m training.check --env lost_fleet

256 random games are played and all that they decide is hashed, whole numbers alone. Another
processor, driver or version of JAX has the same hash if it plays by the same rules. The exit code
is 1 if the hash differs from the released one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.progress import status_line

from .system import cli, environments
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    import jax

    from gaia_jax.testing import signature

    env = environments.make_env(environments.module(env_module), args.env, "vp", 4)
    if env.id not in signature.RELEASED:
        names = ", ".join(signature.RELEASED)
        raise UserError(f"no signature of {env.id} was released; the choices are: {names}")
    start_time = time.monotonic()
    with status_line(lambda: "compiling and playing the games"):
        own, decisions = signature.signature(env, signature.GAMES)
    seconds, device = time.monotonic() - start_time, jax.devices()[0]
    released = signature.RELEASED[env.id]
    print(
        f"{signature.GAMES} games of {env.id} {env.version}, {decisions:,} decisions in "
        f"{seconds:.0f} s on {device.platform}, {device.device_kind}, jax {jax.__version__}"
    )
    print(f"this machine  {own}\nreleased      {released}")
    print("equal" if own == released else "differs: this machine plays other games")
    return 0 if own == released else 1


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.check", __doc__, cache_flag=True)
    parser.add_argument("--env", default="lost_fleet", help="the ruleset of the games")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
