"""One queue of jobs for a fixed number of slots: whichever slot is free takes the next job.

A loop makes one step in all L slots at a time. A slot whose job has ended takes another, so that
jobs of different lengths cost about their sum, not the longest of each L.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

T = TypeVar("T")


class Taken(NamedTuple):
    """The job that each of L slots takes."""

    takes: Array  # (L,) bool, whether it takes one
    job: Array  # (L,) int32, which; where it takes none, a number that may be looked up too
    following: Array  # () int32, the first job that no slot has taken

    def put(self, old: T, new: Any) -> T:
        """`new` in the slots that take a job, `old` in all others.

        Args:
            old: a pytree of arrays (L, ...).
            new: the same, or numbers in the place of arrays.
        """

        def pick(old: Array, new: Array) -> Array:
            return jnp.where(self.takes.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        out: T = jax.tree.map(pick, old, new)
        return out


def take(free: Array, following: Array | int, total: Array | int) -> Taken:
    """Free slots take the next jobs, the first slot the first one, until none is left.

    Args:
        free: (L,) bool, which slots are.
        following: () int32, the first job that no slot has taken, at most `total`.
        total: () int32, how many jobs there are; they are numbered from 0.
    """
    turn = following + jnp.cumsum(free, dtype=jnp.int32) - 1
    return Taken(
        takes=free & (turn < total),
        job=jnp.clip(turn, 0, jnp.maximum(total - 1, 0)),
        following=jnp.minimum(following + jnp.sum(free, dtype=jnp.int32), total),
    )
