"""The set-up that a command is asked about: drawn, from a file, or of a record."""

from __future__ import annotations

import argparse

import jax

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import GaiaEnv
from gaia_jax.setup.json_values import parse
from gaia_jax.setup.setup_json import players_of, setup_from_json
from gaia_jax.state import Setup

from ..system import cli
from ..system.environments import make_env
from ..types import EnvModule


def find(args: argparse.Namespace, env_module: EnvModule | None) -> tuple[GaiaEnv, Setup, str]:
    """The environment, the set-up, and where it is from.

    Args:
        args: `seed`, `setup` or `record`, one of them; `env` and `players`.
        env_module: what `make`s environments; None is `gaia_jax`.
    Raises:
        UserError: there is none. One line.
    """
    env_module = env_module or gaia_jax
    if not args.setup and not args.record:
        env = make_env(env_module, args.env, "vp", args.players)
        return env, env.draw_setup(jax.random.key(args.seed or 0)), f"seed {args.seed or 0}"
    path = args.setup or args.record
    try:
        if args.record:
            record = replay.read(path)
            written, ruleset = record.setup, record.ruleset
        else:
            written, ruleset = parse(cli.read_text(path, replay.LONGEST)), args.env
        if isinstance(written, dict) and written.get("format") == replay.FORMAT:
            raise UserError(f"{path} is a record: --record {path}")
        env = make_env(env_module, ruleset, "vp", players_of(written))
        read = replay.laid if args.record else setup_from_json
        return env, read(written, env.ruleset), str(path)
    except ValueError as error:  # a RecordError is one
        message = str(error)
        raise UserError(message if str(path) in message else f"{path}: {message}") from error
