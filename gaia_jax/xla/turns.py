"""Loops whose end the data decide: how much one turn of them does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import jax

T = TypeVar("T")


def on_gpu() -> bool:
    """Whether programs are traced for a GPU, whose host is asked after each turn of a loop."""
    return jax.default_backend() == "gpu"


def repeated(body: Callable[..., T], times: int) -> Callable[..., T]:
    """`body` of a loop, repeated `turns` times per iteration on a GPU, elsewhere once.

    A step costs a GPU some microseconds, and the loop condition costs ten to twenty, so
    a few steps too many are cheaper than a question after each (docs/lab/accelerators.md).

    Args:
        body: `body(..., carry)`, the next carry. A step past the end must change nothing that
            counts.
        times: steps of a turn on a GPU, at least 1.
    """
    if not on_gpu():
        return body

    @wraps(body)
    def turn(*args: object) -> T:
        *rest, carry = args
        for _ in range(times - 1):
            carry = body(*rest, carry)
        return body(*rest, carry)

    return turn
