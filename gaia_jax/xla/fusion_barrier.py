"""A barrier between the stages of a step, so that XLA compiles each of them once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.xla.batch_aware import batch_aware, batch_minor, traced_once
from gaia_jax.xla.loops import on_gpu

T = TypeVar("T")


def fusion_barrier(
    kernel: Callable[..., T], need: Array, args: tuple[Any, ...], default: T | None = None
) -> T:
    """`kernel(*args)` if any row of the batch needs it, else `default`.

    XLA's fusion copies cheap producers into each of their consumers. Over a straight line as long
    as a step that quadruples the program (50,000 instructions instead of 12,000, 34 s of compiling
    instead of 5), and `optimization_barrier` is dropped before fusion on a CPU. A branch is not
    fused across. One predicate for the whole batch, so `vmap` makes no select of it. On a GPU,
    where a branch waits for the host, `optimization_barrier` stays until XLA has fused; the kernel
    always runs there.

    Args:
        kernel: a pure function of arrays that closes over no traced value, or a partial of one
            and of what can be hashed. A row without need returns `default`.
        need: () bool; under `vmap` any row counts for all.
        args: arrays or pytrees of arrays.
        default: result where no row needs the kernel, of the same shapes and dtypes; zeros
            where it is left out.
    """
    scope_name = scope(kernel)
    kernel = traced_once(kernel)
    if default is None:
        default = blank(kernel, args)

    def run(batched: Callable[..., Any], need: Array, default: Any, args: Any) -> Any:
        def run_kernel(default: Any, args: Any) -> Any:
            out = batched(*args)
            return jax.tree.map(lambda a, b: a.astype(b.dtype), out, default)

        if on_gpu():
            return lax.optimization_barrier(run_kernel(default, lax.optimization_barrier(args)))
        return lax.cond(jnp.any(need), run_kernel, lambda default, _: default, default, args)

    def one_row(need: Array, default: Any, args: Any) -> Any:
        return run(kernel, need, default, args)

    def many_rows(need: Array, default: Any, args: Any) -> Any:
        def batched(*args: Any) -> Any:
            return batch_minor(jax.vmap(kernel)(*batch_minor(args)))

        return run(batched, need, default, args)

    with scope_name:
        out: T = batch_aware(one_row, many_rows)(need, default, args)
        return out


def scope(kernel: Callable[..., Any]) -> Any:
    """The scope under which profiles show a kernel: its name (`benchmarks/profile.py`)."""
    return jax.named_scope(getattr(kernel, "func", kernel).__name__.strip("_"))


def blank(kernel: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Zeros of the shapes and dtypes that `kernel(*args)` has."""
    shapes = jax.eval_shape(kernel, *args)
    return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
