"""Descriptions of accelerators for XLA, which can compile for one that is absent.

XLA compiles for a TPU from the name of a topology, for an NVIDIA card from a description in text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """One kind of accelerator; figures are those of the makers' data sheets."""

    name: str
    platform: str  # "tpu" or "gpu", as `jax.default_backend` returns it
    memory: float  # bytes of a device
    # The rest is of NVIDIA's cards alone.
    bandwidth: float = 0.0  # bytes a second between a device and its memory
    clock: float = 0.0  # cycles a second
    cores: int = 0  # multiprocessors
    fpus: int = 0  # of a multiprocessor
    shared: int = 0  # bytes of shared memory of a multiprocessor
    l2: int = 0  # bytes
    capability: tuple[int, int] = (0, 0)


TARGETS = {
    "v5e": Target("v5e", "tpu", 16e9),
    "h100": Target("h100", "gpu", 80e9, 3352e9, 1.98e9, 132, 128, 233472, 52428800, (9, 0)),
}


class NoCompiler(Exception):
    """The package that compiles for a target is not installed; the message is for the user."""


def before_jax() -> None:
    """Set what XLA and the plugins read from the environment when they are loaded.

    Arrays stay on the host; no driver or metadata server is looked up. Without a card XLA
    cannot autotune, and Triton has no tile sizes.
    """
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"
    os.environ["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"  # no chip is there to be shared
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    flags = "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()


def device(target: Target) -> Any:
    """A device of the target, to compile for.

    Raises:
        NoCompiler: the package is missing, or cannot describe the target.
    """
    from jax.experimental import topologies

    try:
        if target.platform == "tpu":
            # The smallest grid of TPUs has four chips.
            topology = topologies.get_topology_desc(f"{target.name}:2x2", platform="tpu")
        else:
            topology = topologies.get_topology_desc(
                platform="cuda", topology_name="", target_config=_description(target),
                topology="1x1x1",
            )  # fmt: skip
        return topology.devices[0]
    except Exception as error:  # each plugin fails in its own way
        extra = "tpu" if target.platform == "tpu" else "cuda12"
        line = str(error).strip().splitlines()[0][:160]
        raise NoCompiler(
            f"no compiler for {target.name}: pip install 'jax[{extra}]' ({line})"
        ) from error


def _description(target: Target) -> str:
    """An NVIDIA card as XLA reads it."""
    major, minor = target.capability
    device = {
        "threads_per_block_limit": 1024,
        "threads_per_warp": 32,
        "shared_memory_per_block": 49152,
        "shared_memory_per_core": target.shared,
        "threads_per_core_limit": 2048,
        "core_count": target.cores,
        "fpus_per_core": target.fpus,
        "block_dim_limit_x": 2147483647,
        "block_dim_limit_y": 65535,
        "block_dim_limit_z": 65535,
        "memory_bandwidth": int(target.bandwidth),
        "l2_cache_size": target.l2,
        "clock_rate_ghz": target.clock / 1e9,
        "device_memory_size": int(target.memory),
        "shared_memory_per_block_optin": target.shared - 1024,
        "registers_per_core_limit": 65536,
        "registers_per_block_limit": 65536,
    }
    lines = " ".join(f"{key}: {value}" for key, value in device.items())
    lines += f" cuda_compute_capability {{ major: {major} minor: {minor} }}"
    # Since 12.3 command buffers may contain loops and branches.
    versions = ("driver_version", "runtime_version")
    lines += "".join(f' {name}: "12.8.0"' for name in versions)
    return (
        f"gpu_device_info {{ {lines} }} "
        'platform_name: "CUDA" dnn_version_info { major: 9 minor: 7 } '
        "runtime_version { major: 12 minor: 8 patch: 0 } "
        f'device_description_str: "NVIDIA {target.name.upper()}"'
    )
