"""The environment over a batch of games, traced once for all programs of a process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.xla.stored_programs import env_jit

from ..types import AutoEnvironment, Environment, EnvState


class Batched(NamedTuple):
    """Methods of an environment under `vmap`.

    JAX traces them as calls, which XLA inlines, so a second program reuses the trace and starts
    seconds sooner; inside of a `shard_map` only that of another `shard_map`. Programs of a shipped
    environment may be stored (`gaia_jax.xla.stored_programs`).
    """

    init: Callable[..., Any]  # (keys)
    observe: Callable[..., Any]  # (states, players)
    seats: Callable[..., Any]  # (states, players)
    step: Callable[..., Any]  # (states, actions, keys)


@cache
def batched(auto: AutoEnvironment) -> Batched:
    """The batched methods of an environment with auto-reset."""
    return Batched(
        *(env_jit(auto, name, batched=True) for name in ("init", "observe", "seats", "step"))
    )


@cache
def stepping(env: Environment) -> Callable[[Any, Array], Any]:
    """`env.step` over a batch: (states, actions). Each size of a batch is traced once."""
    step: Callable[[Any, Array], Any] = env_jit(env, "step", batched=True)
    return step


@cache
def dealing(env: Environment) -> Callable[[Array], Any]:
    """`env.init` over a batch: (keys)."""
    init: Callable[[Array], Any] = env_jit(env, "init", batched=True)
    return init


@cache
def observing(env: Environment) -> Callable[[Any, Array], Any]:
    """`env.observe` over a batch: (states, players)."""
    observe: Callable[[Any, Array], Any] = env_jit(env, "observe", batched=True)
    return observe


def step_among(env: Environment, rows: int, states: EnvState, actions: Array) -> Any:
    """The states (B,) after the actions (B,), in a batch of at least `rows`.

    A program that also steps batches of `rows` then traces one size. The padding rows repeat the
    first game, marked as ended.
    """
    games = len(actions)
    if rows <= games:
        return stepping(env)(states, actions)

    def widened(x: Array) -> Array:
        return jnp.concatenate([x, jnp.broadcast_to(x[:1], (rows - games, *x.shape[1:]))])

    states, actions = jax.tree.map(widened, (states, actions))
    ended = states.terminated | (jnp.arange(rows) >= games)
    after = stepping(env)(states.replace(terminated=ended), actions)
    return jax.tree.map(lambda x: x[:games], after)
