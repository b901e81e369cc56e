"""Run rare and dear work for the rows of a batch that need it, and for no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from gaia_jax.batching import by_batch
from gaia_jax.fence import scope

Array = jax.Array


def chunk_rows(size: int, cpu_chunk: int = 8, accelerator_chunks: int = 64) -> int:
    """How many of `size` rows go through a kernel at a time on this backend.

    A CPU pays by the row, so small chunks waste least. A GPU or TPU pays by the turn of the loop,
    so its chunks grow with the batch.

    Args:
        size: rows of the batch.
        cpu_chunk: rows of a chunk on a CPU.
        accelerator_chunks: how many chunks a whole batch is on anything else.
    """
    if jax.default_backend() == "cpu":
        return min(size, cpu_chunk)
    return min(size, max(64, size // accelerator_chunks))


def on_demand(
    kernel: Callable[..., Any],
    need: Array,
    args: tuple[Any, ...],
    neutral: Any,
    *,
    batched: bool = False,
    cpu_chunk: int = 8,
    accelerator_chunks: int = 64,
) -> Any:
    """`kernel(*args)` where `need`, else `neutral`.

    Written for one row. Under `vmap`, and `vmap` of `vmap`, the rows that need the kernel are
    gathered into chunks, run, and scattered back, so a batch pays for those rows alone. Works
    inside `jit` and `scan`; under `shard_map` each shard sees to its own rows, and the map needs
    `check_vma=False`.

    Args:
        kernel: a pure function of arrays that closes over no traced value, `kernel(*args)`. With
            `batched`, `kernel(live, *args)` on a whole chunk: every array has the chunk as first
            axis, and `live`, (chunk,) bool, says which of its rows count. The others repeat a row
            that does, and what comes out of them is dropped.
        need: () bool.
        args: arrays or pytrees of arrays.
        neutral: what stands where there is no need, a pytree of the shapes and dtypes of the
            kernel's.
        batched: whether the kernel takes a chunk instead of a row.
        cpu_chunk, accelerator_chunks: see `chunk_rows`.
    Returns:
        A pytree like `neutral`.
    """

    where = scope(kernel)
    kernel = jax.jit(kernel, inline=True)  # traced once for a row and for a chunk

    def run_chunk(live: Array, rows: tuple[Any, ...]) -> Any:
        return kernel(live, *rows) if batched else jax.vmap(kernel)(*rows)

    def run_needed(need: Array, neutral: Any, args: tuple[Any, ...]) -> Any:
        """The rows with `need`, (B,) bool, one chunk after the other."""
        size = need.shape[0]
        chunk = chunk_rows(size, cpu_chunk, accelerator_chunks)
        place = jnp.where(need, jnp.cumsum(need, dtype=jnp.int32) - 1, size)
        ids = jnp.arange(size, dtype=jnp.int32)
        needed = jnp.zeros(size, jnp.int32).at[place].set(ids, mode="drop")
        count = jnp.sum(need, dtype=jnp.int32)

        def body(carry: tuple[Array, Any]) -> tuple[Array, Any]:
            first, out = carry
            turn = first + jnp.arange(chunk, dtype=jnp.int32)
            ids = needed[jnp.minimum(turn, count - 1)]
            result = run_chunk(turn < count, jax.tree.map(lambda a: a[ids], args))
            target = jnp.where(turn < count, ids, size)
            out = jax.tree.map(lambda o, r: o.at[target].set(r, mode="drop"), out, result)
            return first + chunk, out

        return lax.while_loop(lambda carry: carry[0] < count, body, (jnp.int32(0), neutral))[1]

    def one_row(need: Array, neutral: Any, args: tuple[Any, ...]) -> Any:
        def run(neutral: Any, args: tuple[Any, ...]) -> Any:
            result = run_chunk(jnp.ones(1, bool), jax.tree.map(lambda a: a[None], args))
            return jax.tree.map(lambda a: a[0], result)

        return lax.cond(need, run, lambda neutral, _: neutral, neutral, args)

    def many_rows(need: Array, neutral: Any, args: tuple[Any, ...]) -> Any:
        def run(neutral: Any, args: tuple[Any, ...]) -> Any:
            return run_needed(need, neutral, args)

        return lax.cond(jnp.any(need), run, lambda neutral, _: neutral, neutral, args)

    with where:
        return by_batch(one_row, many_rows)(need, neutral, args)
