"""The devices that share games: a CPU's cores or accelerators, in one row."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import jax
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh

from gaia_jax.cli.command_line import UserError

# With fewer games per device another device makes a CPU slower.
LEAST_GAMES = 64
GAMES = "games"  # the mesh axis


def split_cpu(devices: int, num_envs: int, together: int = 1) -> None:
    """Split a CPU into several devices, each with its share of the games. Call it before any array.

    A decision is a thousand small kernels, which two cores share badly (docs/lab/performance.md).

    Args:
        devices: their number; 0 for one per core while each has at least 64 games.
        together: number of games that stay on one device, those of a set-up.
    """
    if not devices:
        devices = shares(num_envs // together, together, cores())
    chosen_by_hand = "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    if devices > 1 and not chosen_by_hand:
        with contextlib.suppress(RuntimeError):  # JAX has started; its devices stay
            jax.config.update("jax_num_cpu_devices", devices)


def cores() -> int:
    """The cores that XLA uses: those of this process, or NPROC."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(os.environ.get("NPROC") or usable or 1)


def shares(groups: int, games: int, limit: int) -> int:
    """The largest number of devices, at most `limit`, that divides the groups into equal shares.

    Args:
        groups: of games that stay on one device. games: of each. A share has `LEAST_GAMES` games.
    """
    count = min(limit, groups * games // LEAST_GAMES)
    return max((n for n in range(1, count + 1) if groups % n == 0), default=1)


def playing_devices(games: int, limit: int) -> int:
    """The number of devices, at most `limit`, that share a batch of `games`."""
    return max(min(limit, games // LEAST_GAMES), 1)


def make_mesh(num_envs: int, blocks: int = 1) -> Mesh:
    """All devices in one row; each has an equal share of every block of games."""
    count = jax.device_count()
    if num_envs % (count * blocks):
        each = f" with {blocks} blocks of games" * (blocks > 1)
        raise UserError(
            f"ppo.num_envs must be a multiple of {count * blocks}: {count} devices{each}, "
            f"got {num_envs}"
        )
    return first_devices(count)


def first_devices(count: int) -> Mesh:
    """The first `count` devices in one row."""
    axes = (jax.sharding.AxisType.Auto,)
    return jax.make_mesh((count,), (GAMES,), axis_types=axes, devices=jax.devices()[:count])


def mean_in_one(tree: object) -> Any:
    """The mean of float32 arrays over all devices of a mesh; one message, one wait."""
    if jax.lax.axis_size(GAMES) == 1:
        return tree
    flat, back = ravel_pytree(tree)
    return back(jax.lax.pmean(flat, GAMES))
