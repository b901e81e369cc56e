"""Run rare and expensive work for the rows of a batch that need it, and for no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.xla.batch_aware import batch_aware, batch_minor, traced_once
from gaia_jax.xla.fusion_barrier import scope

T = TypeVar("T")

WORD = 32  # rows whose marks are one number


def chunk_rows(size: int, cpu_chunk: int = 8, accelerator_chunks: int = 8) -> int:
    """The number of rows out of `size` that go through a kernel at a time on this backend.

    A CPU pays by the row, so small chunks waste least. A GPU or TPU pays by the turn of the loop,
    so its chunks grow with the batch: of 4,096 games the time between turns takes 1.3 turns of 512
    rows or 7.8 of 64, and a turn of either costs nearly the same.

    Args:
        size: rows of the batch.
        cpu_chunk: rows of a chunk on a CPU.
        accelerator_chunks: how many chunks a whole batch is on anything else.
    """
    if jax.default_backend() == "cpu":
        return min(size, cpu_chunk)
    return min(size, max(64, size // accelerator_chunks))


class Queue(NamedTuple):
    """The rows of a batch that wait, in their order.

    A bit for each row in words of 32, of which XLA makes fewer kernels than of a cumulative sum
    over the rows (docs/lab/performance.md).
    """

    words: Array  # (W,) uint32
    cumulative: Array  # (W,) int32, how many wait in the words up to this one

    @classmethod
    def of(cls, need: Array) -> Queue:
        """The queue of `need`, (B,) bool."""
        padded = jnp.pad(need, (0, -need.shape[0] % WORD))
        bits = padded.reshape(-1, WORD).astype(jnp.uint32)
        words = jnp.sum(bits << jnp.arange(WORD, dtype=jnp.uint32), axis=1, dtype=jnp.uint32)
        number, waiting = jnp.arange(words.shape[0]), lax.population_count(words)
        cumulative = jnp.where(number <= number[:, None], waiting, jnp.uint32(0))
        return cls(words, jnp.sum(cumulative, axis=1, dtype=jnp.int32))

    @property
    def length(self) -> Array:
        """() int32, how many wait."""
        return self.cumulative[-1]

    def kth(self, turn: Array) -> Array:
        """(n,) int32, the row that is `turn`-th, (n,) int32, below `length`."""
        word = jnp.sum(self.cumulative <= turn[:, None], axis=1, dtype=jnp.int32)
        up_to = (jnp.uint32(2) << jnp.arange(WORD, dtype=jnp.uint32)) - 1
        marks, left = self.words[word][:, None], (self.cumulative[word] - turn)[:, None]
        later = lax.population_count(marks & ~up_to).astype(jnp.int32)
        return WORD * word + jnp.sum(later >= left, axis=1, dtype=jnp.int32)


def compact_vmap(
    kernel: Callable[..., T],
    need: Array,
    args: tuple[Any, ...],
    default: T,
    *,
    batched: bool = False,
    cpu_chunk: int = 8,
    accelerator_chunks: int = 8,
) -> T:
    """`kernel(*args)` where `need`, else `default`.

    Written for one row. Under `vmap`, and `vmap` of `vmap`, the rows that need the kernel are
    gathered into chunks, run, and scattered back, so a batch pays for those rows alone. Works
    inside `jit` and `scan`; under `shard_map` each shard sees to its own rows, and the map needs
    `check_vma=False`.

    Args:
        kernel: a pure function of arrays that closes over no traced value, or a partial of one and
            of what can be hashed, `kernel(*args)`. With
            `batched`, `kernel(live, *args)` on a whole chunk: every array has the chunk as first
            axis, and `live`, (chunk,) bool, marks the rows that count. The others repeat a row
            that does, and what comes out of them is dropped.
        need: () bool.
        args: arrays or pytrees of arrays.
        default: result of rows without need, a pytree of the shapes and dtypes of the
            kernel's.
        batched: whether the kernel takes a chunk instead of a row.
        cpu_chunk, accelerator_chunks: see `chunk_rows`.
    Returns:
        A pytree like `default`.
    """

    scope_name = scope(kernel)
    kernel = traced_once(kernel)

    def run_chunk(live: Array, rows: tuple[Any, ...]) -> Any:
        return kernel(live, *rows) if batched else jax.vmap(kernel)(*rows)

    def run_needed(need: Array, default: Any, args: tuple[Any, ...]) -> Any:
        chunk = chunk_rows(need.shape[0], cpu_chunk, accelerator_chunks)
        return batch_minor(in_chunks(run_chunk, chunk, need, default, args))

    def one_row(need: Array, default: Any, args: tuple[Any, ...]) -> Any:
        def run(default: Any, args: tuple[Any, ...]) -> Any:
            if not batched:
                return kernel(*args)
            result = kernel(jnp.ones(1, bool), *jax.tree.map(lambda a: a[None], args))
            return jax.tree.map(lambda a: a[0], result)

        return lax.cond(need, run, lambda default, _: default, default, args)

    with scope_name:
        out: T = batch_aware(one_row, run_needed)(need, default, args)
        return out


def in_chunks(
    run_chunk: Callable[[Array, tuple[Any, ...]], Any],
    chunk: int,
    need: Array,
    default: Any,
    args: tuple[Any, ...],
) -> Any:
    """`default` with the results of the rows in need, `chunk` of them after the other.

    Args:
        run_chunk: `run_chunk(live, rows)`, the results of `chunk` rows of `args`; `live`, (chunk,)
            bool, marks those that count. The others repeat the last row in need.
        need: (B,) bool.
        default, args: pytrees of (B, ...).
    """
    size = need.shape[0]
    if size == 0:
        return default
    queue = Queue.of(need)

    def body(carry: tuple[Array, Any]) -> tuple[Array, Any]:
        first, out = carry
        turn = first + jnp.arange(chunk, dtype=jnp.int32)
        ids = queue.kth(jnp.minimum(turn, queue.length - 1))
        result = run_chunk(turn < queue.length, jax.tree.map(lambda a: a[ids], args))
        target = jnp.where(turn < queue.length, ids, size)
        out = jax.tree.map(lambda o, r: o.at[target].set(r, mode="drop"), out, result)
        return first + chunk, out

    start = jnp.int32(0), default
    return lax.while_loop(lambda carry: carry[0] < queue.length, body, start)[1]
