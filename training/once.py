"""Programs that run once: compiled quickly instead of well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

# XLA options of the CPU backend: no optimization of the machine code (docs/performance.md).
QUICK: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
}


def jit_once(function: Callable[..., Any], **options: Any) -> jax.stages.Wrapped:
    """`jax.jit(function, **options)` for what is called once or twice: a start, an end.

    On a CPU its machine code is not optimized: the compiler takes most of such a call. Elsewhere
    it is compiled as ever.
    """
    if jax.default_backend() == "cpu":
        options["compiler_options"] = QUICK
    return jax.jit(function, **options)
