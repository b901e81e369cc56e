"""Programs that run once: compiled quickly instead of well."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

# XLA options of the CPU backend: no optimization of the machine code (docs/lab/performance.md).
# They come and go with its versions: JAX 0.12 has no fusion emitters to choose any more.
QUICK: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
}


def jit_fast_compile(function: Callable[..., Any], **options: Any) -> Any:
    """`jax.jit(function, **options)` for what is called once or twice: a start, an end.

    On a CPU its machine code is not optimized: the compiler takes most of such a call. Elsewhere
    it is compiled as usual.
    """
    if jax.default_backend() == "cpu":
        options["compiler_options"] = dict(supported_options(tuple(QUICK.items())))
    return jax.jit(function, **options)


@functools.cache
def supported_options(options: tuple[tuple[str, object], ...]) -> tuple[tuple[str, Any], ...]:
    """Those of the options that the compiler of this machine takes, found by trying each."""
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
