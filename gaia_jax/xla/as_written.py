"""The rules as they are written, whatever the program that imports them has set of JAX's switches.

Rules add flags to numbers and small numbers to larger ones, and count in 32 bits; a set-up is the
same for the same key. `JAX_ENABLE_X64`, `JAX_NUMPY_DTYPE_PROMOTION`, `JAX_NUMPY_RANK_PROMOTION` and
`JAX_THREEFRY_PARTITIONABLE` say otherwise for everything that a process traces, so the public
functions trace under the values that this package means. They matter while tracing alone: the
compiled program is the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import jax

P = ParamSpec("P")
T = TypeVar("T")


@contextlib.contextmanager
def switches() -> Iterator[None]:
    """JAX's switches as this package needs them, for this thread."""
    config: Any = jax  # a type checker does not know what the contexts take
    with (
        _enable_x64(False),
        config.numpy_dtype_promotion("standard"),
        config.numpy_rank_promotion("allow"),
        config.threefry_partitionable(True),
    ):
        yield


def as_written(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, traced under `switches`."""

    @wraps(function)
    def under_switches(*args: P.args, **kwargs: P.kwargs) -> T:
        with switches():
            return function(*args, **kwargs)

    return under_switches


def _enable_x64(on: bool) -> Any:
    """The context; older versions of JAX have it among the experiments."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    from jax import experimental

    older: Any = experimental
    return older.enable_x64(on)
