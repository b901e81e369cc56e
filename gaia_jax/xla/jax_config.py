"""The rules as they are written, whatever the program that imports them has set of JAX's switches.

Rules add flags to numbers and small numbers to larger ones, and count in 32 bits; a set-up is the
same for the same key. `JAX_ENABLE_X64`, `JAX_NUMPY_DTYPE_PROMOTION`, `JAX_NUMPY_RANK_PROMOTION` and
`JAX_THREEFRY_PARTITIONABLE` say otherwise for everything that a process traces, so the public
functions trace under the values that this package means. They matter while tracing alone: the
compiled program is the same.

Mesh axes of type Explicit give each operation a sharding while it is traced. The gathers and loops
of the rules do not state theirs, so a batch that is sharded over such axes is refused in one line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import jax

EXPLICIT = (
    "gaia_jax cannot trace a batch that is sharded over Explicit mesh axes; use jax.shard_map with "
    "check_vma=False, or jax.make_mesh(..., axis_types=(jax.sharding.AxisType.Auto,))"
)

P = ParamSpec("P")
T = TypeVar("T")


@contextlib.contextmanager
def switches() -> Iterator[None]:
    """JAX's switches as this package needs them, for this thread."""
    config: Any = jax  # a type checker does not know what the contexts take
    with (
        _in_32_bits(),
        config.numpy_dtype_promotion("standard"),
        config.numpy_rank_promotion("allow"),
        config.threefry_partitionable(True),
    ):
        yield


def for_this_process() -> None:
    """`switches` for all threads of a process: for commands, whose processes are their own."""
    config: Any = jax.config
    config.update("jax_enable_x64", False)
    config.update("jax_numpy_dtype_promotion", "standard")
    config.update("jax_numpy_rank_promotion", "allow")
    config.update("jax_threefry_partitionable", True)


def own_jax_config(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, traced under `switches`."""

    @wraps(function)
    def under_switches(*args: P.args, **kwargs: P.kwargs) -> T:
        with switches():
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if type(error).__name__ == "ShardingTypeError":  # no public name
                    raise TypeError(EXPLICIT) from error
                raise

    return under_switches


def _in_32_bits() -> Any:
    """The context; JAX below 0.8 has one that its own lowering does not keep to."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(False)
    config: Any = jax.config
    if config.jax_enable_x64:
        raise RuntimeError(
            f"under JAX_ENABLE_X64 jax 0.8 or newer is needed, this is {jax.__version__}"
        )
    return contextlib.nullcontext()
