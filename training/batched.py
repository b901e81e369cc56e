"""The environment over a batch of games, traced once for all programs of a process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax


class Batched(NamedTuple):
    """Methods of an environment under `vmap`.

    They stay calls while JAX traces: a second program (the games apart, then a chunk of updates)
    finds them traced, which is seconds of its start. XLA puts them in line first. What is traced
    inside of a `shard_map` counts there alone.
    """

    init: Callable[..., Any]  # (keys)
    observe: Callable[..., Any]  # (states, players)
    seats: Callable[..., Any]  # (states, players)
    step: Callable[..., Any]  # (states, actions, keys)


@cache
def batched(auto: Any) -> Batched:
    """Those of an environment with auto-reset."""
    return Batched(
        *(jax.jit(jax.vmap(x)) for x in (auto.init, auto.observe, auto.seats, auto.step))
    )
