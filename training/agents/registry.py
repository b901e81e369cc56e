"""Agents by name: `random`, `greedy`, a checkpoint, a function of yours.

    random, greedy        the built-in ones
    runs/quick            the latest checkpoint of a run
    runs/quick@60         the one after 60 updates
    runs/quick@start      its network before the first update
    NAME+search:32        a search of 32 simulations on top of a checkpoint's policy and values;
                          `training/agents/search.py` has the options
    my_module:my_act      `my_act(params, state, mask, key)`, or with `observation` for `state`

A function of your own is called on B games and gives (B,) integers, actions that are True in the
(B, A) mask. What it reads as `params` is its attribute `params`, () if it has none.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from training.agents.base import Agent, greedy_agent, policy_agent, random_agent
from training.agents.search import SUFFIX, search_agent, split_name
from training.config import UserError

REGISTRY: dict[str, Callable[[Any], Agent]] = {"random": random_agent, "greedy": greedy_agent}
START = "start"
ARGUMENTS = (("params", "state", "mask", "key"), ("params", "observation", "mask", "key"))


def make_agent(name: str, env: Any, likeliest: bool = False) -> Agent:
    """The agent of this name for an environment.

    Args:
        name: as the head of this module says.
        likeliest: checkpoints take the likeliest action instead of sampling.
    Raises:
        UserError: an unknown name, a checkpoint of another environment or version, a function that
            cannot be imported or does not fit. One line.
    """
    base, spec = split_name(name)
    if spec is not None:
        return search_agent(env, make_agent(base, env, likeliest), spec, name)
    if name in REGISTRY:
        return REGISTRY[name](env)
    if ":" in name:
        return _function_agent(name, env)
    run, at, update = name.rpartition("@")
    run = run if at else name
    if not Path(run).is_dir():
        forms = ("RUN", "RUN@UPDATE", f"RUN@{START}", "MODULE:FUNCTION", f"NAME{SUFFIX}N")
        known = ", ".join((*sorted(REGISTRY), *forms))
        raise UserError(f"unknown agent {name!r}; the choices are: {known}; RUN is a run folder")
    return _checkpoint_agent(name, run, update if at else None, env, likeliest)


def _checkpoint_agent(name: str, run: str, update: str | None, env: Any, likeliest: bool) -> Agent:
    from training.checkpoint import Checkpoints, load_policy, load_start

    if update == START:
        network, params = load_start(run, env)
        checkpoints = Checkpoints(run)
        _, config = checkpoints.about(checkpoints.latest())
    else:
        if update is not None and not update.isdigit():
            raise UserError(f"agent {name!r}: after @ comes an update or {START}, got {update!r}")
        step = int(update) if update is not None else None
        _, network, params, _, config = load_policy(run, env, None, step)
    return policy_agent(
        env, network, params, name, likeliest, config.env.reward, config.ppo.reward_scale
    )


def _function_agent(name: str, env: Any) -> Agent:
    module_name, _, function_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module raises
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"agent {name!r}: cannot import {module_name!r}: {reason}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UserError(f"agent {name!r}: {module_name!r} has no function {function_name!r}")
    params = getattr(function, "params", ())
    try:
        arguments = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        arguments = ()
    if arguments not in ARGUMENTS:
        wanted = " or ".join(f"({', '.join(x)})" for x in ARGUMENTS)
        raise UserError(f"agent {name!r} must take {wanted}, it takes ({', '.join(arguments)})")

    def act(params: Any, state: Any, mask: Any, key: Any) -> Any:
        seen = state
        if arguments[1] == "observation":
            seen = jax.vmap(env.observe)(state, state.current_player)
        return function(params, seen, mask, key)

    _check_function(name, act, params, env)
    return Agent(name, lambda *args: act(*args).astype(jnp.int32), params)


def _check_function(name: str, act: Any, params: Any, env: Any) -> None:
    """Trace a function on two games: it must give two integers."""

    def trial(key: Any) -> Any:
        state = jax.vmap(env.init)(jax.random.split(key, 2))
        return act(params, state, state.legal_action_mask, key)

    try:
        out = jax.eval_shape(trial, jax.random.key(0))
    except Exception as error:  # whatever the user's function raises
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise UserError(f"agent {name!r} fails on two games: {reason}") from error
    shape, dtype = getattr(out, "shape", None), getattr(out, "dtype", None)
    if shape != (2,) or not jnp.issubdtype(dtype, jnp.integer):
        got = f"{dtype} {shape}" if dtype is not None else type(out).__name__
        raise UserError(f"agent {name!r} must give one integer a game, got {got} for 2 games")
