"""The environment over a batch of games, traced once for all programs; batches on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.xla.stored_programs import env_jit

from ..types import AutoEnvironment, Environment, EnvState

T = TypeVar("T")  # arrays, such as a state


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


def by_player(rows: Array, seats: Array) -> Array:
    """(..., P) values in the order of an observation's rows -> by player.

    Args:
        seats: (..., P), which player each row is.
    """
    return jnp.take_along_axis(rows, jnp.argsort(seats, axis=-1), axis=-1)


def clear_end_marks(states: EnvState) -> Any:
    """States of auto-reset as agents read them: the marks of ended games do not end the new ones.

    A search, or an agent that looks ahead, would otherwise take the first state of a new game for
    the end of the old one. Other states are returned unchanged.
    """
    if not hasattr(states, "final_vp"):
        return states
    none = jnp.zeros_like(states.terminated)
    return states.replace(terminated=none, truncated=none)


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


def one_row(state: T) -> T:
    """A batch of one state, on the host."""
    batch: T = jax.tree.map(lambda x: np.asarray(x)[None], state)
    return batch


def stacked(states: Iterable[T]) -> T:
    """States as a batch, on the host."""
    batch: T = jax.tree.map(lambda *x: np.stack(x), *states)
    return batch


def concatenated(batches: Iterable[T]) -> T:
    """Batches as one, on the host."""
    batch: T = jax.tree.map(lambda *x: np.concatenate(x), *batches)
    return batch


def take_rows(batch: T, rows: np.ndarray | slice | int) -> T:
    """Rows of a batch, on the host; a single number gives that state without the axis."""
    chosen: T = jax.tree.map(lambda x: np.asarray(x)[rows], batch)
    return chosen


def in_batches(rows: T, size: int) -> Iterator[T]:
    """Split N rows into batches of one size, on the host; the last batch repeats the last row."""
    count = len(jax.tree.leaves(rows)[0])
    for first in range(0, count, size):
        yield take_rows(rows, np.minimum(np.arange(first, first + size), count - 1))
