"""Agents by name: `random`, `greedy`, a checkpoint, a function of yours.

    random, greedy        the built-in ones
    newcomer .. strongest a level of play, `training/agents/levels.py`
    zoo/strong            a shipped one, `training/zoo`
    runs/quick            the latest checkpoint of a run
    runs/quick@60         the one after 60 updates
    runs/quick@start      its network before the first update
    NAME+search:32        a search of 32 simulations on top of a checkpoint's policy and values;
                          `training/agents/search.py` has the options
    my_agent.npz          what `save_agent` wrote, `training/agents/saved.py`
    my_module:my_act      `my_act(params, state, mask, key)`, or with `observation` for `state`

A function of your own is called on B games and gives (B,) integers, actions that are True in the
(B, A) mask. What it reads as `params` is its attribute `params`, () if it has none.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.cli.command_line import UserError, nearest, one_line

from .. import config as configs
from .. import zoo
from ..system import environments
from ..types import Environment, EnvModule, EnvState, Params
from . import saved
from .base import (
    LESS_OPPONENTS,
    Act,
    Agent,
    greedy_agent,
    policy_agent,
    random_agent,
)
from .levels import LEVELS, agent_of
from .search import SUFFIX, search_agent, split_name

REGISTRY: dict[str, Callable[[Any], Agent]] = {"random": random_agent, "greedy": greedy_agent}
START = "start"
ARGUMENTS = (("params", "state", "mask", "key"), ("params", "observation", "mask", "key"))


def make_agent(name: str, env: Environment, likeliest: bool = False) -> Agent:
    """The agent of this name for an environment.

    Args:
        name: in a form of this module's docstring.
        likeliest: checkpoints take the most probable action instead of sampling.
    Raises:
        UserError: an unknown name, a checkpoint of another environment or version, a function that
            cannot be imported or does not fit. One line.
    """
    name = agent_of(name)
    base, spec = split_name(name)
    if spec is not None:
        return search_agent(env, make_agent(base, env, likeliest), spec, name)
    if name in REGISTRY:
        return REGISTRY[name](env)
    if ":" in name and not saved.is_saved(name):
        return _function_agent(name, env)
    if name.startswith(zoo.PREFIX) or saved.is_saved(name):
        return _trained_agent(name, trained(name, env), likeliest)
    run, update = split_run(name)
    _check_run(name, run)
    network = _at_start(run, env) if update == START else trained(name, env)
    return _trained_agent(name, network, likeliest)


def check_agent(name: str, env: Environment) -> None:
    """Raise what `make_agent` would, without making the built-in ones."""
    if name not in REGISTRY:
        make_agent(name, env)


def _check_run(name: str, run: str) -> None:
    """Raise UserError if a name is not a folder of a run."""
    from ..learn.checkpoint import is_folder

    if not run or not is_folder(Path(run)):
        forms = (
            *zoo.names(),
            "RUN",
            "RUN@UPDATE",
            f"RUN@{START}",
            f"FILE{saved.ENDING}",
            "MODULE:FUNCTION",
            f"NAME{SUFFIX}N",
        )
        levels = tuple(level.name for level in LEVELS)
        names = ", ".join((*sorted(REGISTRY), *levels, *forms))
        quoted = repr(name) if len(name) < 80 else f"{name[:80]!r}..."
        near = nearest(name, (*REGISTRY, *levels, *zoo.names()))
        raise UserError(
            f"unknown agent {quoted}; the choices are: {names}; RUN is a run folder{near}"
        )


def has_network(name: str) -> bool:
    """Whether an agent of this name, if there is one, is a network with learnt parameters alone.

    The others are built in, a function, a search on top of a network, or a run before its training.
    """
    base, spec = split_name(name)
    function = ":" in base and not saved.is_saved(base)
    at_start = base.endswith(f"@{START}") and split_run(base)[1] == START
    return not (spec is not None or base in REGISTRY or function or at_start)


def environment_of(name: str, env_module: EnvModule) -> Any:
    """The environment that an agent was trained on; of one that was not, `lost_fleet`.

    Raises:
        UserError: there is no such agent with a network.
    """
    base, _ = split_name(name)
    run, update = split_run(base)
    learnt = run if update == START else base
    if has_network(learnt):
        return trained(learnt, None, env_module).env
    return environments.make_env(env_module, "lost_fleet", "vp")


class Trained(NamedTuple):
    """A network with what it has learnt."""

    env: Any  # what it plays
    network: Any
    params: Any
    reward: str  # what its values are of, `Policy.reward`
    reward_scale: float
    update: int | None = None  # of a run
    temperature: float = 1.0  # of its choices
    short_turns: bool = False  # it was trained so, `env.short_turns`

    @property
    def as_trained(self) -> Any:
        """`env`, with the turns of its training: what its policy is made with."""
        return environments.with_short_turns(self.env, self.short_turns)


def trained(
    name: str, env: Environment | None = None, env_module: EnvModule | None = None
) -> Trained:
    """`zoo/NAME`, a checkpoint of a run, or what `save_agent` wrote.

    Args:
        name: of the agent, RUN or RUN@UPDATE, or the file; RUN is the latest that is whole.
        env: what it is to play; None: what it was trained on, made by `env_module`.
    Raises:
        UserError: there is none, or it is of another environment or version.
    """
    from ..learn.checkpoint import load_policy, number_of

    if not has_network(name):
        raise UserError(
            f"agent {name!r} is not a trained network; allowed are RUN, RUN@UPDATE, "
            f"{zoo.PREFIX}NAME and FILE{saved.ENDING}"
        )
    run, at = split_run(name)
    update = number_of(f"agent {name!r}", at)
    if saved.is_saved(run):
        env = saved.environment(run, environments.module(env_module)) if env is None else env
        network, params = saved.load(run, env)
        metadata = network.says
        reward, scale = metadata["reward"], metadata["reward_scale"]
        short = metadata.get("short_turns", False)
        return Trained(
            env, network, params, reward, scale, None, metadata["temperature"], short_turns=short
        )
    if not run.startswith(zoo.PREFIX):
        env, network, params, update, config = load_policy(run, env, env_module, update)
        return Trained(
            env, network, params, _reward(config), config.ppo.reward_scale, update,
            short_turns=config.env.short_turns,
        )  # fmt: skip
    if update is not None:
        raise UserError(f"{name}: an agent of the zoo has no updates")
    metadata = zoo.about(run)
    env = zoo.environment(run, metadata, environments.module(env_module)) if env is None else env
    config = configs.from_dict(metadata.get("training", {}))
    network, params = zoo.load(run, env)
    reward, scale, temperature = (
        _reward(config),
        config.ppo.reward_scale,
        metadata.get("temperature"),
    )
    return Trained(
        env, network, params, reward, scale, temperature=temperature or 1.0,
        short_turns=config.env.short_turns,
    )  # fmt: skip


def _trained_agent(name: str, network: Trained, likeliest: bool) -> Agent:
    return policy_agent(
        network.as_trained, network.network, network.params, name, likeliest, network.reward,
        network.reward_scale, network.temperature,
    )  # fmt: skip


def _at_start(run: str, env: Environment) -> Trained:
    """A run's network before the first update."""
    from ..learn.checkpoint import load_start

    network, params, config = load_start(run, env)
    short = config.env.short_turns
    scale = config.ppo.reward_scale
    return Trained(env, network, params, _reward(config), scale, short_turns=short)


def sha256_of(name: str) -> str:
    """The sha256 of a shipped agent's npz, by its name or level; of any other agent none: ""."""
    zoo_name = agent_of(name)
    return str(zoo.about(zoo_name)["sha256"]) if zoo_name in zoo.names() else ""


def split_run(name: str) -> tuple[str, str | None]:
    """`RUN@UPDATE` -> (RUN, UPDATE); any other name of an agent, or its level -> (NAME, None)."""
    from ..learn.checkpoint import split_update

    name = agent_of(name)
    return (name, None) if saved.is_saved(name) else split_update(name)


def _reward(config: configs.Config) -> str:
    """What the values of an agent are of, `Policy.reward`."""
    return LESS_OPPONENTS if config.recipe.opponent_weight else str(config.env.reward)


def _function_agent(name: str, env: Environment) -> Agent:
    module_name, _, function_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the user's module raises
        message = f"{type(error).__name__}: {one_line(error)}"
        if module_name.endswith(".py"):
            message = f"the name of a module has no .py: {module_name[:-3]}:{function_name}"
        elif isinstance(error, ModuleNotFoundError) and error.name == module_name:
            message += " in the current folder or in PYTHONPATH"
        raise UserError(f"agent {name!r}: cannot import {module_name!r}: {message}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UserError(f"agent {name!r}: {module_name!r} has no function {function_name!r}")
    try:
        params = jax.tree.map(jnp.asarray, getattr(function, "params", ()))
    except (Exception, SystemExit) as error:  # of objects, of texts, of what it computes
        raise UserError(f"agent {name!r}: its params are no pytree of arrays") from error
    try:
        arguments = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        arguments = ()
    if arguments not in ARGUMENTS:
        signatures = " or ".join(f"({', '.join(x)})" for x in ARGUMENTS)
        raise UserError(f"agent {name!r} must take {signatures}, it takes ({', '.join(arguments)})")

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        seen = state
        if arguments[1] == "observation":
            seen = jax.vmap(env.observe)(state, state.current_player)
        games = len(mask)
        try:
            out = function(params, seen, mask, key)
        except (Exception, SystemExit) as error:  # whatever the user's function raises
            message = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise UserError(f"agent {name!r} fails on {games} games: {message}") from error
        shape, dtype = getattr(out, "shape", None), getattr(out, "dtype", None)
        if shape != (games,) or dtype is None or not jnp.issubdtype(dtype, jnp.integer):
            got = f"{dtype} {shape}" if dtype is not None else type(out).__name__
            raise UserError(
                f"agent {name!r} must give one integer a game, got {got} for {games} games"
            )
        return jnp.asarray(out).astype(jnp.int32)

    _check_function(act, params, env)
    return Agent(name, act, params)


def _check_function(act: Act, params: Params, env: Environment) -> None:
    """Trace a function on two and on three games."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    example = jax.eval_shape(env.init, key)

    for games in (2, 3):
        batch = jax.tree.map(
            lambda x, games=games: jax.ShapeDtypeStruct((games, *x.shape), x.dtype), example
        )
        jax.eval_shape(act, params, batch, batch.legal_action_mask, key)
