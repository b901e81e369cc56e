"""Compile programs that run once quickly, without optimization."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

# XLA options of the CPU backend: no optimization of the machine code (docs/lab/performance.md).
# Some versions lack some of them: JAX 0.12 has no option for fusion emitters.
QUICK: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
}


def jit_fast_compile(function: Callable[..., Any], **options: Any) -> Any:
    """`jax.jit(function, **options)` for a function that is called once or twice.

    On a CPU its machine code is not optimized, as compiling takes most of such a call.
    """
    if jax.default_backend() == "cpu":
        options["compiler_options"] = dict(supported_options(tuple(QUICK.items())))
    return jax.jit(function, **options)


@functools.cache
def supported_options(options: tuple[tuple[str, object], ...]) -> tuple[tuple[str, Any], ...]:
    """The options that the compiler of this machine accepts, found by trying each."""
    accepted = []
    for name, value in options:
        try:
            jax.jit(lambda x: x, compiler_options={name: value}).lower(0.0).compile()
        except jax.errors.JaxRuntimeError as error:
            if "No such compile option" not in str(error):
                raise
        else:
            accepted.append((name, value))
    return tuple(accepted)
