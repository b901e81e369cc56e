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

A function of your own takes B games and returns (B,) integers, actions that are True in the (B, A)
mask. Its `params` are its attribute `params`, () if it has none.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax import RULESETS
from gaia_jax.cli.command_line import UserError, nearest, one_line, shorten

from .. import config as configs
from .. import zoo
from ..config import Config
from ..learn.checkpoint_paths import is_folder, number_of, split_update
from ..system import environments
from ..types import Environment, EnvModule, EnvState, Params
from . import saved
from .base import LESS_OPPONENTS, Act, Agent, greedy_agent, policy_agent, random_agent
from .levels import LEVELS, agent_of
from .search import SUFFIX, SearchSpec, search_agent, split_name

REGISTRY: dict[str, Callable[[Any], Agent]] = {"random": random_agent, "greedy": greedy_agent}
START = "start"
BUILT_IN, FUNCTION, FILE, ZOO, RUN = "built-in", "function", "file", "zoo", "run"
ARGUMENTS = (("params", "state", "mask", "key"), ("params", "observation", "mask", "key"))


class AgentName(NamedTuple):
    """The parts of an agent's name."""

    base: str  # without a search; of a level the agent's own
    search: SearchSpec | None
    kind: str  # BUILT_IN, FUNCTION, FILE, ZOO or RUN
    run: str  # of a run its folder; otherwise `base`
    update: str | None  # of a run, after the @

    @property
    def is_network(self) -> bool:
        """Whether it is a network with learnt parameters alone, if there is one of this name."""
        return self.search is None and self.kind in (FILE, ZOO, RUN) and self.update != START


def parse_name(name: str) -> AgentName:
    """Split the name of an agent; whether there is one is not checked.

    Raises:
        UserError: a search that cannot be read.
    """
    base, search = split_name(name)
    if base in REGISTRY or saved.is_saved(base) or ":" in base:
        kind = BUILT_IN if base in REGISTRY else FILE if saved.is_saved(base) else FUNCTION
        return AgentName(base, search, kind, base, None)
    run, update = split_update(base)
    return AgentName(base, search, ZOO if base.startswith(zoo.PREFIX) else RUN, run, update)


def with_updates(names: Sequence[str]) -> list[str]:
    """The same agents where RUN is RUN@UPDATE, its latest undamaged checkpoint now.

    So all processes of a command play the same network while the run is still trained. Names of
    other agents, and of none, are returned unchanged. Reading a run starts JAX.

    Raises:
        UserError: a run without an undamaged checkpoint, a search that cannot be read.
    """
    latest: dict[str, int] = {}
    fixed = []
    for name in names:
        parts = parse_name(name)
        run, is_run = parts.run, parts.kind == RUN and parts.update is None
        if is_run and run and is_folder(Path(run)):
            if run not in latest:
                from ..learn.checkpoint import Checkpoints

                latest[run] = Checkpoints(run).latest_undamaged()
            fixed.append(f"{run}@{latest[run]}{name.removeprefix(run)}")
        else:
            fixed.append(name)
    return fixed


def make_agent(name: str, env: Environment, likeliest: bool = False) -> Agent:
    """The agent of this name for an environment.

    Args:
        name: in a form of this module's docstring.
        likeliest: checkpoints take the most probable action instead of sampling.
    Raises:
        UserError: an unknown name, a checkpoint of another environment or version, a function that
            cannot be imported or does not fit. One line.
    """
    parts = parse_name(name)
    if parts.search is not None:
        base = make_agent(parts.base, env, likeliest)
        return search_agent(env, base, parts.search, agent_of(name))
    if parts.kind == BUILT_IN:
        return REGISTRY[parts.base](env)
    if parts.kind == FUNCTION:
        return _function_agent(parts.base, env)
    if parts.kind == RUN:
        _check_run(parts)
    if parts.update == START:
        from ..learn.checkpoint import load_start

        at_start = load_start(parts.run, env)
        network = Trained.of_config(at_start.config, env, at_start.network, at_start.params)
    else:
        network = _trained(parts, env)
    return policy_agent(
        network.as_trained, network.network, network.params, parts.base, likeliest, network.reward,
        network.reward_scale, network.temperature,
    )  # fmt: skip


def _check_run(name: AgentName) -> None:
    """Raise UserError if a name is not a folder of a run."""
    if not name.run or not is_folder(Path(name.run)):
        levels = tuple(level.name for level in LEVELS)
        forms = ("RUN", "RUN@UPDATE", f"RUN@{START}", f"FILE{saved.ENDING}", "MODULE:FUNCTION",
                 f"NAME{SUFFIX}N")  # fmt: skip
        names = ", ".join((*sorted(REGISTRY), *levels, *zoo.names(), *forms))
        near = nearest(name.base, (*REGISTRY, *levels, *zoo.names()))
        quoted = repr(shorten(name.base, 80))
        raise UserError(
            f"unknown agent {quoted}; the choices are: {names}; RUN is a run folder{near}"
        )


def environment_of(name: str, env_module: EnvModule) -> Any:
    """The environment that an agent was trained on; of one that was not, `lost_fleet`.

    Raises:
        UserError: there is no such agent with a network.
    """
    parts = parse_name(name)
    if parts.kind == ZOO:
        return zoo.environment(parts.run, zoo.about(parts.run), env_module)
    if parts.kind == FILE:
        return saved.environment(parts.base, env_module)
    if parts.kind == RUN:
        update = None if parts.update == START else parts.update
        return _trained(parts._replace(search=None, update=update), None, env_module).env
    return environments.make_env(env_module, "lost_fleet", "vp")


class Plays(NamedTuple):
    """The games that an agent plays."""

    ruleset: str | None = None  # None: any
    players: int | None = None  # None: any number

    def refusal(self, ruleset: str, players: int) -> str:
        """Why it cannot play a game; "" where it can."""
        if self.players not in (None, players):
            return f"plays games of {self.players}, not of {players}"
        return "" if self.ruleset in (None, ruleset) else f"plays {self.ruleset}, not {ruleset}"


def plays(name: str) -> Plays:
    """The games that an agent plays, as far as its files tell without reading its parameters."""
    try:
        parts = parse_name(name)
        if parts.kind == ZOO:
            # Never transferred to another number of players.
            about = zoo.about(parts.base)
            everywhere = all(zoo.carried(about["env"], id) for id in RULESETS)
            return Plays(None if everywhere else about["env"], int(about.get("players", 4)))
        if parts.kind == FILE:
            about = saved.about(parts.base)
            return Plays(about["env"], about["players"])
        config = Path(parts.run) / configs.OF_A_RUN
        if parts.kind != RUN or not config.is_file():
            return Plays()
        env = configs.load(config, []).env
        return Plays(env.id, env.players)
    except (UserError, ValueError, TypeError):  # `make_agent` reports what is wrong
        return Plays()


class Trained(NamedTuple):
    """A network with its learnt parameters."""

    env: Any  # the environment it plays
    network: Any
    params: Any
    reward: str  # of its values, `Policy.reward`
    reward_scale: float
    update: int | None = None  # of a run
    temperature: float = 1.0  # of its choices
    short_turns: bool = False  # it was trained so, `env.short_turns`

    @classmethod
    def of_config(
        cls, config: Config, env: Any, network: Any, params: Any, **options: Any
    ) -> Trained:
        """A network that was trained with a configuration."""
        reward = LESS_OPPONENTS if config.recipe.opponent_weight else str(config.env.reward)
        short, scale = config.env.short_turns, config.ppo.reward_scale
        return cls(env, network, params, reward, scale, short_turns=short, **options)

    @property
    def as_trained(self) -> Any:
        """`env`, with the turns of its training, as its policy needs it."""
        return environments.with_short_turns(self.env, self.short_turns)


def trained(
    name: str, env: Environment | None = None, env_module: EnvModule | None = None
) -> Trained:
    """`zoo/NAME`, a checkpoint of a run, or a file of `save_agent`.

    Args:
        name: of the agent, RUN or RUN@UPDATE, or the file; RUN is the latest undamaged one.
        env: the environment to play; None: the one of its training, made by `env_module`.
    Raises:
        UserError: there is none, or it is of another environment or version.
    """
    return _trained(parse_name(name), env, env_module)


def _trained(
    name: AgentName, env: Environment | None = None, env_module: EnvModule | None = None
) -> Trained:
    if not name.is_network:
        raise UserError(
            f"agent {name.base!r} is not a trained network; allowed are RUN, RUN@UPDATE, "
            f"{zoo.PREFIX}NAME and FILE{saved.ENDING}"
        )
    if name.kind == FILE:
        env = env or saved.environment(name.base, environments.module(env_module))
        network, params = saved.load(name.base, env)
        about = network.metadata
        return Trained(
            env, network, params, about["reward"], about["reward_scale"],
            temperature=about["temperature"], short_turns=about.get("short_turns", False),
        )  # fmt: skip
    if name.kind == ZOO:
        if name.update is not None:
            raise UserError(f"{name.base}: an agent of the zoo has no updates")
        env, network, params, config, temperature = zoo.open_agent(name.run, env, env_module)
        return Trained.of_config(config, env, network, params, temperature=temperature)
    from ..learn.checkpoint import load_policy

    number = number_of(f"agent {name.base!r}", name.update)
    policy = load_policy(name.run, env, env_module, number)
    return Trained.of_config(
        policy.config, policy.env, policy.network, policy.params, update=policy.update
    )


def sha256_of(name: str) -> str:
    """The sha256 of a shipped agent's npz, by its name or level; of any other agent none: ""."""
    zoo_name = agent_of(name)
    return str(zoo.about(zoo_name)["sha256"]) if zoo_name in zoo.names() else ""


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
