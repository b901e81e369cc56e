"""Compare the plan of `training.plan` with XLA's account and the measured peak of a training.

    python -m benchmarks.memory --config configs/quick.yaml --devices 1

On a CPU the peak is the resident memory of the process while it trains, above what it was when
everything was compiled and nothing dealt; on an accelerator the peak of its allocator.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax

import gaia_jax
from benchmarks.measure import command_parser
from gaia_jax.cli.command_line import UserError
from training import config as configuration
from training.config import Config
from training.learn import ppo
from training.learn.learner_state import make_init, sharding
from training.networks.make import make_network
from training.run import plan
from training.system.devices import make_mesh, split_cpu
from training.system.environments import make_env


class Peak:
    """The largest resident memory of this process while the block runs, in bytes."""

    def __enter__(self) -> Peak:
        self.bytes, self._done = resident(), threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.bytes = max(self.bytes, resident())


def resident() -> int:
    """Bytes of this process that are in memory; Linux."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS in /proc/self/status")


def give_back() -> None:
    """Let the C library return what compiling has left."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def measure(config: Config, devices: int, chunks: int) -> dict[str, Any]:
    """Bytes of one device, planned, by XLA's account, and at the peak."""
    config = configuration.override(config, ["run.updates_per_chunk=1"])
    shapes = plan.shapes_of(config, gaia_jax)
    planned = plan.plan_of(config, shapes, devices)
    game = config.env
    auto = gaia_jax.auto_reset(make_env(gaia_jax, **asdict(game)))
    network = make_network(auto, config.network)
    mesh = make_mesh(config.ppo.num_envs)
    init = jax.jit(make_init(auto, network, config, mesh), out_shardings=sharding(mesh))
    start = init.lower().compile()
    chunk = ppo.make_chunk(auto, network, config, mesh).lower(init.eval_shape()).compile()
    account: Any = chunk.memory_analysis()
    give_back()
    before, seconds = resident(), 0.0
    with Peak() as peak:
        runner = start()
        for _ in range(chunks):
            started = time.perf_counter()
            runner, metrics = chunk(runner)
            jax.block_until_ready((runner, metrics))
            seconds = time.perf_counter() - started
    stats = jax.local_devices()[0].memory_stats()
    measured = stats["peak_bytes_in_use"] if stats else (peak.bytes - before) // devices
    xla = {
        "arguments": account.argument_size_in_bytes,
        "results": account.output_size_in_bytes - account.alias_size_in_bytes,
        "temporary": account.temp_size_in_bytes,
    }
    return {
        "run": config.name,
        "devices": devices,
        "shapes": shapes._asdict(),
        "plan": planned._asdict() | {"total": planned.total},
        "xla": xla | {"total": sum(xla.values())},
        "measured": measured,
        "plan / measured": planned.total / measured,
        "plan / xla": planned.total / sum(xla.values()),
        "update_s": seconds,
    }


def main(argv: list[str] | None = None) -> int:
    parser = command_parser("memory", __doc__)
    parser.add_argument("--config", type=Path, default=Path("configs/quick.yaml"))
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--chunks", type=int, default=2, help="updates to run")
    parser.add_argument("overrides", nargs="*", help="key=value, as for training.train")
    args = parser.parse_intermixed_args(argv)
    gaia_jax.enable_compilation_cache()
    try:
        config = configuration.load(args.config, args.overrides)
        split_cpu(args.devices, config.ppo.num_envs)
        report = measure(config, args.devices, args.chunks)
    except UserError as error:
        print(f"benchmarks.memory: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
