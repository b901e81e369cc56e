"""Compile programs quickly on a CPU, with less optimization of the machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

# XLA options of the CPU backend (docs/lab/performance.md). Some versions lack some of them: JAX
# 0.12 has no option for fusion emitters.
LEVEL = "xla_backend_optimization_level"
QUICK: dict[str, Any] = {"xla_cpu_use_fusion_emitters": False}


def jit_fast_compile(function: Callable[..., Any], level: int = 0, **options: Any) -> Any:
    """`jax.jit(function, **options)`, compiled with less optimization on a CPU.

    Args:
        level: 0 where waiting for the compiler matters more than the time of a call, such as for a
            function that is called once or twice. 1 for one that steps a single game: `env.step`
            compiles in less than half the time and is not slower.
    """
    if jax.default_backend() == "cpu":
        compiler_options = (*QUICK.items(), (LEVEL, level))
        options["compiler_options"] = dict(supported_options(compiler_options))
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
