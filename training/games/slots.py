"""The engine of all games: slots that play jobs, each from a start position to its end.

A slot whose game ends starts the next job. `engine.Match` plays set-ups of a seed,
`analysis.playouts` plays positions with given first actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from gaia_jax.xla.slots import take

from ..system.devices import GAMES
from ..types import EnvState

STRIDE = 16  # decisions of every slot before the next search for ended games


class Slots(NamedTuple):
    """B slots that play N jobs; a job is one game from its start position to its end."""

    state: Any  # (B, ...)
    job: Array  # (B,) int32; N in a slot without a game
    clock: Array  # (B,) int32, decisions of the game so far
    own: Any  # arrays (B, ...), further values of the game
    following: Array  # (1,) int32, the first job that no slot has taken
    results: dict[str, Array]  # (N, ...)

    @property
    def num_jobs(self) -> int:
        """N."""
        return len(next(iter(self.results.values())))

    @property
    def num_ended(self) -> Array:
        """(1,) int32."""
        is_running = (self.job < self.num_jobs) & ~over(self.state)
        return self.following - is_running.sum(dtype=jnp.int32)


def over(state: EnvState) -> Array:
    """(B,) bool, which games have ended."""
    return state.terminated | state.truncated


def store_results(slots: Slots, results: dict[str, Array]) -> Slots:
    """Store the results (B, ...) of the slots whose games have ended."""
    ended_job = jnp.where(over(slots.state), slots.job, slots.num_jobs)
    stored = {
        name: slots.results[name].at[ended_job].set(x, mode="drop") for name, x in results.items()
    }
    return slots._replace(results=slots.results | stored)


def refill(slots: Slots, total: Array | int, start: Callable[[Array], tuple[Any, Any]]) -> Slots:
    """Start the next jobs in the slots whose games have ended.

    Args:
        total: () int32, number of jobs to play, at most N.
        start: (B,) jobs -> their positions and `own`.
    """
    is_free = over(slots.state) | (slots.job == slots.num_jobs)
    next_jobs = take(is_free, slots.following[0], total)
    state, own = start(next_jobs.job)
    return slots._replace(
        state=next_jobs.put(slots.state, state),
        job=next_jobs.put(jnp.where(is_free, slots.num_jobs, slots.job), next_jobs.job),
        clock=next_jobs.put(slots.clock, 0),
        own=next_jobs.put(slots.own, own),
        following=next_jobs.following[None],
    )


def play_stride(step: Callable[[Slots], Slots], slots: Slots) -> Slots:
    """STRIDE decisions in every slot, fewer if all games end before."""
    _, slots = jax.lax.while_loop(
        lambda carry: (carry[0] < STRIDE) & ~over(carry[1].state).all(),
        lambda carry: (carry[0] + 1, step(carry[1])),
        (jnp.int32(0), slots),
    )
    return slots


def on_devices(function: Callable[..., Any], mesh: Mesh, *in_specs: P) -> Any:
    """`function` on the share of its arguments that each device of the mesh has."""
    # check_vma: the environment's kernels on demand (custom_vmap) cannot state how they vary.
    return jax.shard_map(
        function, mesh=mesh, in_specs=in_specs, out_specs=P(GAMES), check_vma=False
    )
