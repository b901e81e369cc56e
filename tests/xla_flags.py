"""How programs of tests are compiled: quickly. Their processes too, on as many devices as asked."""

import os
from importlib import metadata

# They play few decisions: less work for LLVM takes a third off their compiling (a step at batch 16
# took 16.6 CPU s instead of 26.3, and a decision 3.0 ms instead of 0.8), and without XLA's fusion
# emitters half of the rest (7.2 CPU s instead of 14.1).
SAME_PROGRAM = "--xla_backend_optimization_level=0"  # XLA's program is as users have it
QUICK = SAME_PROGRAM
if tuple(map(int, metadata.version("jaxlib").split(".")[:2])) < (0, 12):
    # A later XLA does not know these, and stops. Cut in parts, for cores that are busy anyway, a
    # program takes a tenth longer (1.9 CPU s instead of 1.7).
    QUICK += " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"


def on_devices(count: int) -> dict[str, str]:
    """The environment of a process that sees `count` devices, and compiles as this one does."""
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={count}"
    return {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
