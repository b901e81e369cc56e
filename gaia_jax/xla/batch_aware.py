"""A function that has one form for a row and another for the whole batch under `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.custom_batching import custom_vmap

from gaia_jax.xla.jax_config import own_jax_config

LANES = 128  # of a TPU's registers

P = ParamSpec("P")
T = TypeVar("T")


def batch_aware(single: Callable[..., Any], batched: Callable[..., Any]) -> Callable[..., Any]:
    """`one(*operands)` for a row; under `vmap` `many(*operands)`, and under `vmap` of `vmap`.

    A rule of `custom_vmap` must be batched itself under `vmap` of `vmap`: the rule of a row hands
    the batch to `batched`, whose own rule folds each further axis into the first.

    Args:
        single, batched: functions of the same arrays or pytrees of arrays; for `batched` they have
            a leading batch axis. The first operand is an array.
    """
    # Under its own `jit` a row's tables are no operands of `custom_vmap`: a `lax.cond` of whose
    # predicate each row has its own hands on all its operands as batched, and tables may not be.
    one_row, many_rows = custom_vmap(jax.jit(single)), custom_vmap(batched)

    # JAX asks these rules when it batches a program that is traced already: outside `env.step`.
    @one_row.def_vmap
    @own_jax_config
    def _(size: int, in_batched: Any, *operands: Any) -> tuple[Any, Any]:
        out = many_rows(*_along(size, in_batched, operands))
        return out, jax.tree.map(lambda _: True, out)

    @many_rows.def_vmap
    @own_jax_config
    def _(size: int, in_batched: Any, *operands: Any) -> tuple[Any, Any]:
        operands = _along(size, in_batched, operands)
        inner = operands[0].shape[1]
        flat = jax.tree.map(lambda a: a.reshape(size * inner, *a.shape[2:]), operands)
        out = jax.tree.map(lambda a: a.reshape(size, inner, *a.shape[1:]), many_rows(*flat))
        return out, jax.tree.map(lambda _: True, out)

    return one_row


def traced_once(kernel: Callable[P, T]) -> Callable[P, T]:
    """Trace `kernel` once for its shapes, whatever programs contain it.

    It stays a call while JAX traces, which saves a fifth of the tracing; XLA puts it in line first.
    For a partial the same function with the same arguments counts as the same kernel: a second
    program of a process (`init`, then `step`, then a chunk of training) finds it traced. What else
    it reads, except tables of its arguments, must not change.
    """
    if isinstance(kernel, partial) and not kernel.keywords:
        return _jitted(kernel.func, *kernel.args)
    return jax.jit(kernel)


@cache
def _jitted(function: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    return jax.jit(partial(function, *args))


@custom_vmap
def batched_together(tree: Any) -> Any:
    """`tree`; under a `vmap` with the batch on all of its arrays, where it is on some of them.

    So the mask of a first state is batched as that of a state after a step is, and JAX, which keeps
    what `vmap` has made of a call, does not work through it again.
    """
    return tree


@batched_together.def_vmap
@own_jax_config
def _(size: int, in_batched: Any, tree: Any) -> tuple[Any, Any]:
    (out,) = _along(size, in_batched, (tree,))
    return out, jax.tree.map(lambda _: True, out)


def all_rows(function: Callable[..., T]) -> Callable[..., T]:
    """`function(shared, *rows)` of rows (B, ...) as a function of one row; under `vmap` of all.

    Under `vmap`, and `vmap` of `vmap`, it is called once with the rows of all axes. Where `shared`
    differs along an axis, such as the members of a population, it is called once for each.

    Args:
        function: gives a pytree of (B, ...). It closes over no traced value.
    """

    @custom_vmap
    def batch(shared: Any, *rows: Any) -> T:
        return function(shared, *rows)

    @batch.def_vmap
    @own_jax_config
    def _(size: int, in_batched: Any, shared: Any, *rows: Any) -> tuple[Any, Any]:
        rows = _along(size, in_batched[1:], rows)
        if any(jax.tree.leaves(in_batched[0])):
            (shared,) = _along(size, in_batched[:1], (shared,))
            out = jax.lax.map(lambda member: batch(*member), (shared, *rows))
        else:
            flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)
            out = jax.tree.map(lambda x: x.reshape(size, -1, *x.shape[1:]), batch(shared, *flat))
        return out, jax.tree.map(lambda _: True, out)

    def single(shared: Any, *rows: Any) -> T:
        out = batch(shared, *jax.tree.map(lambda x: x[None], rows))
        first: T = jax.tree.map(lambda x: x[0], out)
        return first

    return single


def batch_minor(tree: Any) -> Any:
    """`tree` with the batch axis first; on a TPU the batch is along the lanes.

    XLA gives the arrays between two stages another layout than those of a state, as soon as one
    operation asks for it, and turns whole records round and back: 1.0 M of 10.7 M estimated cycles
    of a step of 4,096 games (docs/lab/accelerators.md).
    """
    if jax.default_backend() != "tpu":
        return tree
    from jax.experimental.layout import Layout, with_layout_constraint

    def place(x: Array) -> Array:
        if x.ndim < 2 or x.size == 0:
            return x
        inner = list(range(1, x.ndim))
        # Records of few columns have the players along the sublanes, the map has its cells there.
        inner = inner if x.shape[-1] >= LANES else inner[::-1]
        placed: Array = with_layout_constraint(x, Layout(major_to_minor=(*inner, 0)))
        return placed

    return jax.tree.map(place, tree)


def _along(size: int, in_batched: Any, operands: Any) -> Any:
    """The operands with a batch axis of `size` on each."""
    return jax.tree.map(
        lambda batched, a: a if batched else jnp.broadcast_to(a, (size, *jnp.shape(a))),
        tuple(in_batched),
        operands,
    )
