"""Shipped agents: `NAME.npz` in this folder holds the parameters, `NAME.json` describes them.

The JSON: environment id and version, network, training configuration, environment steps, results,
sha256 of the npz. `NAME.games.npz` holds games that the agent played, for the test that it still
plays them. `python -m training.ship` makes all three.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, nearest

from .. import config as configs
from ..config import Config, NetworkConfig
from ..networks.make import make_network
from ..system import data_files
from ..system.data_files import NUMBER, OBJECT, TEXT, WHOLE, flatten, read_parameters
from ..system.environments import another_environment, identity, make_env, module
from ..types import Environment, EnvModule, Params
from .transfer import rows_of, transfer

FOLDER = Path(__file__).parent
FORMAT = "gaia_jax zoo 1"
PREFIX = "zoo/"
# Required and optional keys of an agent's JSON; `data_files.check_keys`.
KEYS = dict.fromkeys(("format", "name", "sha256", "env", "env_version"), TEXT) | {"network": OBJECT}
OPTIONAL_KEYS = {"players": WHOLE, "temperature": NUMBER, "training": OBJECT}


def save(name: str, params: Params, about: Mapping[str, object], folder: Path = FOLDER) -> Path:
    """Write an agent.

    Args:
        name: plain, without `zoo/`.
        params: the network's parameters.
        about: further keys of the JSON: `env`, `env_version`, `network`, ...; plain values.
    Returns:
        The path of the JSON.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    arrays: dict[str, Any] = {k: v.astype(np.float32) for k, v in flatten(params).items()}
    data_files.write_arrays(path, arrays)
    sha256 = data_files.digest(path)
    text = json.dumps({"format": FORMAT, "name": name, "sha256": sha256} | dict(about), indent=1)
    outputs.write_text(path.with_suffix(".json"), text + "\n")
    return path.with_suffix(".json")


def check(name: str, folder: Path | None = None) -> None:
    """Check that an agent can be written under a name; one of the zoo may be replaced.

    Raises:
        UserError: not a plain name, or a file of that name that does not belong to an agent.
    """
    folder = FOLDER if folder is None else folder
    outputs.plain_name("the name of an agent", name)
    about = folder / f"{name}.json"
    is_own_file = outputs.json_with(format=FORMAT)
    outputs.check_file("the agent", about, is_own_file, "choose another name", parents=True)
    if not about.exists():
        is_own_file = outputs.nothing
    else:
        is_own_file = outputs.anything  # the JSON determines the owner
    for end in (".npz", ".games.npz"):
        file = folder / f"{name}{end}"
        outputs.check_file("the agent", file, is_own_file, "choose another name", parents=True)


def names(folder: Path = FOLDER) -> list[str]:
    """The shipped agents, `zoo/NAME`."""
    return [PREFIX + path.stem for path in sorted(folder.glob("*.json"))]


def about(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The JSON of `zoo/NAME`.

    Raises:
        UserError: there is no such agent, or its JSON is invalid.
    """
    agent_names = names(folder)
    if PREFIX + name.removeprefix(PREFIX) not in agent_names:
        choices = ", ".join(agent_names) or "none"
        raise UserError(
            f"unknown agent {name!r}; the zoo has: {choices}{nearest(name, agent_names)}"
        )
    path = folder / f"{name.removeprefix(PREFIX)}.json"
    out = data_files.read_object(path, KEYS, "the agent")
    if out["format"] != FORMAT:
        raise UserError(f"{path} is no agent of the zoo: format is not {FORMAT!r}")
    check_optional_keys(str(path), out)
    if out["name"] != path.stem:
        raise UserError(f"{path}: name is {data_files.shown(out['name'])}, not {path.stem!r}")
    try:
        network_config(out), configs.from_dict(out.get("training", {}))
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return out


def check_optional_keys(path: str, about: Mapping[str, object]) -> None:
    """Check the optional keys of an agent's JSON; `path` is its name in messages."""
    present = {key: kind for key, kind in OPTIONAL_KEYS.items() if key in about}
    data_files.check_keys(path, about, present)
    temperature = about.get("temperature", 1)
    if isinstance(temperature, int | float) and temperature <= 0:
        raise UserError(f"{path}: temperature must be above 0, not {temperature}")


class ShippedAgent(NamedTuple):
    """A network with its parameters, and how it was trained."""

    env: Any  # the environment it plays
    network: Any
    params: Any
    training: Config
    temperature: float


def open_agent(
    name: str,
    env: Environment | None = None,
    env_module: EnvModule | None = None,
    folder: Path = FOLDER,
) -> ShippedAgent:
    """The agent `zoo/NAME`.

    Args:
        env: the environment to play; None: the one it was trained on, made by `env_module`. For
            another ruleset the parameters of a current agent are transferred by name (`transfer`),
            where `carried` allows it.
    Raises:
        UserError: unknown, damaged, or of another environment or version.
    """
    metadata = about(name, folder)
    env = environment(name, metadata, env_module) if env is None else env
    params = _parameters(name, metadata, env, folder, env.num_players)
    training = configs.from_dict(metadata.get("training", {}))
    temperature = metadata.get("temperature") or 1.0
    network = make_network(env, network_config(metadata))
    return ShippedAgent(env, network, params, training, temperature)


def _parameters(
    name: str, metadata: dict[str, Any], env: Environment, folder: Path, players: int
) -> Any:
    """The parameters of an agent for an environment.

    Args:
        players: of the agents that may play another ruleset.
    """
    other = another_environment(metadata, env)
    if other and not (carried(metadata["env"], env.id) and _is_current(metadata, players)):
        raise UserError(f"{name} {other}")
    params = read(folder / f"{metadata['name']}.npz", metadata)
    if not other:
        return params
    return transfer(params, network_config(metadata), environment(name, metadata), env)


def _is_current(metadata: Mapping[str, object], players: int) -> bool:
    """Whether an agent is of its own ruleset's version of today, for that many players."""
    import gaia_jax

    version = gaia_jax.RULESETS[str(metadata["env"])].version
    return (metadata["env_version"], metadata.get("players", 4)) == (version, players)


def carried(source: str, target: str) -> bool:
    """Whether agents of one ruleset play another one: not on a larger map.

    Their networks may have fewer tokens than that has planets.
    """
    import gaia_jax

    rulesets = gaia_jax.RULESETS
    if not {source, target} <= rulesets.keys():
        return False
    return rulesets[target].geometry.num_cells <= rulesets[source].geometry.num_cells


def environment(name: str, about: dict[str, Any], env_module: EnvModule | None = None) -> Any:
    """The environment that an agent was trained on, with the default level of the Automa.

    Raises:
        UserError: an unknown id.
    """
    try:
        return make_env(module(env_module), about["env"], "vp", about.get("players", 4))
    except UserError as error:
        raise UserError(f"{name}: {error}") from error


def parameters(name: str, env: Environment) -> Any:
    """The parameters of `zoo/NAME`, or of an npz without a JSON, to start a run with.

    An agent of more players may start a run too; the Automa is the second player of its game.

    Raises:
        UserError: there are none, or they are damaged.
    """
    if name.startswith(PREFIX):
        metadata = about(name)
        players = max(rows_of(env), metadata.get("players", 4))
        return _parameters(name, metadata, env, FOLDER, players)
    return read_parameters(name)


def read(path: Path, about: dict[str, Any]) -> Any:
    """The parameters of an agent, checked against its JSON `about`."""
    params = read_parameters(path)
    if data_files.digest(path) != about["sha256"]:
        raise UserError(f"{path} is damaged: its sha256 is not the one in its JSON")
    return params


def network_config(about: dict[str, Any]) -> NetworkConfig:
    """The network of an agent."""
    return configs.from_dict({"network": about["network"]}).network


def describe(env: Environment, network: NetworkConfig, **more: Any) -> dict[str, Any]:
    """The common keys of every JSON, and `more`."""
    return identity(env) | {"network": dataclasses.asdict(network)} | more
