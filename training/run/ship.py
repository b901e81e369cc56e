"""Create a shipped agent: its parameters, its JSON, and the games that a test replays."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from .. import zoo
from ..config import Config
from ..learn.checkpoint import load_policy
from ..learn.checkpoint_paths import number_of, split_update
from ..networks import advantage_head
from ..networks.make import make_network
from ..system import data_files, environments
from ..types import Environment, Params
from ..zoo.games import Recorded, make_player, record
from . import floors

# Keys of the JSON that the command writes itself.
OWN_KEYS = (*zoo.KEYS, "players", "training")


def ship(args: argparse.Namespace) -> tuple[Path, Recorded]:
    """Make the agent of a command line from a run, or from an npz and a configuration.

    Returns:
        The path of the JSON, and the games that the agent played.
    Raises:
        UserError: wrong arguments, or below the floors of the agent that it replaces (`floors`).
    """
    zoo.check(args.name)
    env = environments.make_env(environments.module(None), args.env, "vp", args.players)
    extra_keys = _parse_settings(args.set)
    if args.run:
        run, update = split_update(args.run)
        policy = load_policy(run, env, None, number_of(args.run, update))
        params, config = policy.params, policy.config
        decisions = policy.update * config.ppo.num_envs * config.ppo.num_steps
        extra_keys = {"decisions": decisions} | extra_keys
    elif args.params and args.config:
        params, config = zoo.parameters(args.params, env), configs.load(args.config)
    else:
        raise UserError("give --run, or --params and --config")
    if args.results:
        extra_keys["results"] = data_files.read_json(args.results, "the results")
    if not args.below_floors:
        floors.check(args.name, env, params, config, extra_keys)
    return make(args.name, env, params, config, extra_keys)


def make(
    name: str, env: Environment, params: Params, config: Config, extra_keys: Mapping[str, object]
) -> tuple[Path, Recorded]:
    """Write `NAME.npz`, `NAME.json` and `NAME.games.npz`.

    Args:
        name: plain, without `zoo/`; `zoo.check` checks that it may be written.
        env: the environment to play.
        params: the network's parameters.
        config: the configuration of its training; its network.
        extra_keys: further keys of the JSON.
    Returns:
        The path of the JSON, and the games that it played.
    """
    trained = configs.to_dict(config)
    start = trained["run"]["warm_start"]
    if Path(start).is_absolute():  # an absolute path is meaningless on other machines
        trained["run"]["warm_start"] = Path(start).name
    network, params = advantage_head.removed(config.network, params)
    description = zoo.describe(env, network, training=trained, **extra_keys)
    plays = environments.with_short_turns(env, config.env.short_turns)
    played = record(make_player(plays, make_network(env, network)), params)
    path = zoo.save(name, params, description)
    games = path.with_suffix(".games.npz")
    data_files.write_arrays(games, played._asdict(), compressed=True)
    return path, played


def _parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """The values of `--set`, parsed as YAML except `note`.

    Raises:
        UserError: not key=value, a key that the command itself writes, an invalid value.
    """
    parsed: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UserError(f"--set wants key=value, got {text!r}")
        if key in OWN_KEYS:
            raise UserError(f"--set {key}: the command sets that key itself")
        try:
            parsed[key] = value if key == "note" else configs.parse_yaml(value)
            json.dumps(parsed[key])  # JSON has no dates, YAML has
        except (ValueError, TypeError) as error:
            raise UserError(f"--set {key}: cannot read the value: {error}") from error
    zoo.check_optional_keys("--set", parsed)
    return parsed
