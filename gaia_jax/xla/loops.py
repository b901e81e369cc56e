"""Loops whose end depends on the data: how many steps an iteration does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import jax

T = TypeVar("T")


def on_gpu() -> bool:
    """Whether programs are traced for a GPU, whose host is asked after each iteration."""
    return jax.default_backend() == "gpu"


def repeated(body: Callable[..., T], times: int) -> Callable[..., T]:
    """`body` of a loop, repeated `times` times per iteration on a GPU, elsewhere once.

    A step costs a GPU some microseconds, and the loop condition costs ten to twenty, so
    a few steps too many are cheaper than a question after each (docs/lab/accelerators.md).

    Args:
        body: `body(..., carry)`, the next carry. A step past the end must change nothing that
            counts.
        times: steps of an iteration on a GPU, at least 1.
    """
    if not on_gpu():
        return body

    @wraps(body)
    def iteration(*args: object) -> T:
        *rest, carry = args
        for _ in range(times - 1):
            carry = body(*rest, carry)
        return body(*rest, carry)

    return iteration
