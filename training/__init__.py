"""Train, evaluate and compare agents for gaia_jax, from Python.

    import gaia_training

    run = gaia_training.train("configs/quick.yaml", ["run.updates=20", "name=mine"])
    print(gaia_training.evaluate(f"{run}@20", opponent="greedy", games=128)["vp"]["policy"])
    print(gaia_training.arena(["random", "zoo/quick", str(run), "zoo/strong"])["agents"])

The commands (`gaia train`, ...) are parsers in front of these functions. A function imports its
requirements when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gaia_jax as _gaia_jax  # first of all: see gaia_jax.cli.interrupts

# isort: split
import importlib
import sys
from types import ModuleType

if TYPE_CHECKING:
    from .agents import Agent
    from .agents.baseline import make_baseline_model as make_baseline_model
    from .agents.saved import save_agent as save_agent
    from .config import Config
    from .types import Environment, EnvModule

__all__ = [
    "Config",
    "arena",
    "evaluate",
    "load_agent",
    "make_agent",
    "make_baseline_model",
    "save_agent",
    "train",
]


def train(
    config: Config | str | Path,
    overrides: Sequence[str] = (),
    env_module: EnvModule | None = None,
    on_update: Callable[[int, dict[str, float]], object] | None = None,
) -> Path:
    """Train a new run to its end, as `gaia train --config` does.

    Args:
        config: a `Config`, or the path of a YAML file.
        overrides: `key=value`, as on the command line (docs/reference/configuration.md).
        env_module: the module that makes environments; None is `gaia_jax`.
        on_update: called with each update and its metrics, those of `metrics.jsonl`, also those of
            an evaluation. An exception in it ends the run with a checkpoint.
    Returns:
        The run folder, `runs/NAME`, which is also the name of the agent.
    Raises:
        UserError: the configuration is wrong; nothing was done.
        KeyboardInterrupt: Ctrl-C; `--resume` continues from the checkpoint.
    """
    from . import config as configs
    from .run import training
    from .run.start import TrainRequest

    loaded = config if isinstance(config, configs.Config) else configs.load(config)
    request = TrainRequest(configs.override(loaded, overrides))
    code, folder = training.train_run(request, env_module or _gaia_jax, on_update=on_update)
    if code:
        raise KeyboardInterrupt
    return folder


def evaluate(
    agent: str | Agent,
    opponent: str | Agent = "random",
    games: int = 400,
    seed: int = 0,
    env: Environment | None = None,
    likeliest: bool = False,
) -> dict[str, Any]:
    """An agent in one seat, an opponent in all others, on duplicate set-ups.

    In a solo game the Automa of `env` is the opponent.

    Args:
        agent: a name, or an agent of `make_agent`.
        opponent: likewise.
        games: rounded up to whole set-ups, a game for each seat.
        seed: of the set-ups.
        env: None is the game of a named agent; `lost_fleet` for one that plays every game, such as
            `random`, and for an agent of `make_agent`.
        likeliest: checkpoints take the most probable action instead of sampling.
    Returns:
        VP, win share and the difference in VP with 95 % intervals over set-ups, mean VP by source
        and by faction: the report of `gaia evaluate --json`.
    Raises:
        UserError: an unknown name, `games` or `seed` outside the range of the command line.
    """
    from .agents import environment_of
    from .games.report import evaluation_report

    games, seed = _checked(games, seed)
    if env is None:
        env = environment_of(agent if isinstance(agent, str) else "random", _gaia_jax)
    entries = [agent, *[opponent] * (env.num_players - 1)]
    played = _play(entries, env, games, seed, likeliest)
    return {"seed": seed} | evaluation_report(played, env.ruleset.ids)


def arena(
    agents: Sequence[str | Agent],
    games: int = 512,
    seed: int = 0,
    env: Environment | None = None,
    likeliest: bool = False,
) -> dict[str, Any]:
    """Agents at one table, each in every seat of every set-up.

    Args:
        agents: one for each seat, as in `evaluate`; an agent may be repeated.
        games, seed, likeliest: as in `evaluate`.
        env: None is `lost_fleet`, four players.
    Returns:
        VP, win share, place and rating by agent, the differences between them with 95 %
        intervals over set-ups, the report of `gaia arena --json`.
    Raises:
        UserError: as `evaluate`, or another number of agents than seats.
    """
    from .games.arena import entry_names
    from .games.report import arena_report
    from .games.store import names_of

    games, seed = _checked(games, seed)
    env = env or _gaia_jax.make("lost_fleet", reward="vp")
    played = _play(agents, env, games, seed, likeliest)
    names = [agent if isinstance(agent, str) else agent.name for agent in agents]
    names = entry_names(env, names)
    about = {"seed": seed, "agents": ",".join(names)}
    return about | arena_report(played, names_of(about), env.ruleset.ids)


def make_agent(name: str, env: Environment, likeliest: bool = False) -> Agent:
    """The agent of a name: `random`, `greedy`, `zoo/NAME`, a run, MODULE:FUNCTION; `+search:N`.

    Args:
        name: `training/agents/registry.py` has all forms.
        env: the environment to play.
        likeliest: checkpoints take the most probable action instead of sampling.
    Raises:
        UserError: an unknown name, or an agent of another game.
    """
    from .agents import make_agent

    return make_agent(name, env, likeliest)


def load_agent(name: str, env: Environment) -> tuple[Any, Any]:
    """The network and the parameters of `zoo/NAME`, of a run, RUN or RUN@UPDATE, or of FILE.npz.

    Args:
        env: the environment to play.
    Returns:
        (network, params): a Flax module (of FILE.npz a `SavedNetwork`) and the input of `apply`.
    Raises:
        UserError: an unknown name, or an agent of another game.
    """
    from .agents import trained

    network = trained(name, env)
    return network.network, network.params


def _checked(games: int, seed: int) -> tuple[int, int]:
    """`games` and `seed` in the ranges of the command line; else a UserError."""
    from gaia_jax.cli.command_line import LARGEST_SEED, check_whole

    from .system.cli import MOST_GAMES

    return check_whole("games", games, 1, MOST_GAMES), check_whole("seed", seed, 0, LARGEST_SEED)


def _play(
    agents: Sequence[str | Agent], env: Environment, games: int, seed: int, likeliest: bool
) -> Any:
    """The games of an arena, kept in memory."""
    from gaia_jax.cli.command_line import UserError

    from .games.arena import Arena

    players = env.num_players
    if len(agents) != players:
        raise UserError(f"{env.id} for {players} wants {players} agents, got {len(agents)}")
    names = {agent for agent in agents if isinstance(agent, str)}
    agent_of = {name: make_agent(name, env, likeliest) for name in sorted(names)}
    entries = [agent_of[agent] if isinstance(agent, str) else agent for agent in agents]
    return Arena(env, entries, games).play(seed)


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f".{_ELSEWHERE[name]}", __name__), name)
    if name in _FUNCTIONS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Names of subpackages, imported when they are first used.
_ELSEWHERE = {
    "Config": "config", "make_baseline_model": "agents.baseline", "save_agent": "agents.saved"
}  # fmt: skip

# Python finds each in `__getattr__`, as the command that is called like it: otherwise
# `from training import train` would give the function or the command, whichever came first.
_FUNCTIONS: dict[str, Callable[..., Any]] = {"train": train, "evaluate": evaluate, "arena": arena}
for _name in _FUNCTIONS:
    del globals()[_name]


class _Door(ModuleType):
    """A command that is called like the function of its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _FUNCTIONS[self.__name__.rpartition(".")[2]](*args, **options)


class _Front(ModuleType):
    """Makes a command that is imported one that can be called."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FUNCTIONS and isinstance(value, ModuleType):
            value.__class__ = _Door
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Front
