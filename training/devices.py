"""The devices that games are split over: a CPU's cores, accelerators, in one row."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import jax
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh

from training.config import UserError

# Games of a device below which another one does not pay on a CPU.
LEAST_GAMES = 64
GAMES = "games"  # the mesh axis


def split_cpu(devices: int, num_envs: int) -> None:
    """Let a CPU be so many devices, each with its share of the games. Call it before any array.

    A decision is a thousand small kernels. Two cores that share each of them spend their time on
    sharing; with a device a core each plays its own games (docs/performance.md).

    Args:
        devices: how many; 0 for one a core while each has at least 64 games.
    """
    if not devices:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        shares = range(1, min(cores or 1, num_envs // LEAST_GAMES) + 1)
        devices = max((n for n in shares if num_envs % n == 0), default=1)
    chosen_by_hand = "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    if devices > 1 and not chosen_by_hand:
        with contextlib.suppress(RuntimeError):  # jax has started; it stays as it is
            jax.config.update("jax_num_cpu_devices", devices)


def make_mesh(num_envs: int) -> Mesh:
    """All devices in one row."""
    count = jax.device_count()
    if num_envs % count:
        raise UserError(f"ppo.num_envs must be a multiple of the {count} devices, got {num_envs}")
    return jax.make_mesh((count,), (GAMES,), axis_types=(jax.sharding.AxisType.Auto,))


def mean_in_one(tree: Any) -> Any:
    """The mean of float32 arrays over all devices of a mesh, in one message.

    Array by array, each message would wait for the slowest device anew.
    """
    if jax.lax.axis_size(GAMES) == 1:
        return tree
    flat, back = ravel_pytree(tree)
    return back(jax.lax.pmean(flat, GAMES))
