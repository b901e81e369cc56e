"""Where the time of a decision goes: kernels, launches, time and bytes of each part of `step`.

    python -m benchmarks.profile --batch 1024 --json out.json

Random play with auto-reset runs under XLA's profiler; each kernel that ran is booked to the part
whose name its instruction bears (`jax.named_scope`). Times are those of all threads together, and
the profiler slows small kernels down: read the shares. A roofline follows: the bytes that a
decision must move at the least, at the speed at which this machine copies.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import math
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks import hlo, measure, peers

TRACING = "--xla_cpu_enable_xprof_traceme=true"
# Parts by the scope of an instruction; the first that is found in its name counts.
PARTS = {
    "learning": "gradients of an update",
    "sample": "draw of a legal action",
    "keys": "random keys of the rollout",
    "deal": "new game where one ended",
    "execute": "decode, pay, place",
    "gain": "gains and triggers",
    "update_turn": "what opens, marks",
    "absorb": "federations grow",
    "form": "a federation is formed",
    "answer": "federation search",
    "position": "what may be federated",
    "sub_decision": "the next sub-decision",
    "resolve_offers": "leech",
    "end_of_turn": "the end of a turn",
    "between_turns": "between the turns",
    "uses": "mask: the cells",
    "sites": "mask: a cell by itself",
    "legal_mask": "mask: all else",
    "decide": "checks, rewards, packing",
}
OTHER = "other"


def main(argv: list[str] | None = None) -> int:
    args = _arguments(argv)
    if TRACING not in os.environ.get("XLA_FLAGS", ""):
        # XLA reads its flags once, at the start.
        flags = f"{os.environ.get('XLA_FLAGS', '')} {TRACING}".strip()
        command = [sys.executable, "-m", "benchmarks.profile", *(argv or sys.argv[1:])]
        os.execve(sys.executable, command, os.environ | {"XLA_FLAGS": flags})
    measure.compile_afresh()
    report = profile(args.batch, args.steps, args.ruleset)
    _print(report)
    measure.write_report(args.json, report)
    return 0


def profile(batch: int, steps: int, ruleset: str) -> dict[str, Any]:
    """The parts of a decision in random play.

    Args:
        batch: games side by side; steps: decisions of each under the profiler.
    """
    own = peers.own(ruleset)
    runner = measure.Runner(own, batch, steps, observe=False, burn_in=256, seed=0)
    seconds = min(runner.chunks(4) for _ in range(3)) / (4 * steps)
    module = hlo.read(runner.rollout.call.as_text())
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            runner.chunks(1)
        op_times, launches = _events(Path(folder))

    parts: dict[str, dict[str, float]] = {}
    for line in module.instructions:
        name = line.name
        if name not in op_times or line.kind in ("conditional", "while", "call"):
            continue
        row = parts.setdefault(part_of(line.scope), collections.defaultdict(float))
        row["kernels"] += 1
        row["launches"] += launches[name] / steps
        row["us"] += op_times[name] / steps
        row["bytes"] += line.moved * launches[name] / steps / batch
    return {
        "machine": measure.machine(),
        "batch": batch,
        "us_a_decision": 1e6 * seconds / batch,
        "decisions_per_second": batch / seconds,
        "parts": {name: dict(row) for name, row in parts.items()},
        "roofline": roofline(runner.state_bytes, batch),
    }


def part_of(scope: str) -> str:
    """The part that an instruction belongs to, by the names in its scope."""
    names = set(re.findall(r"[a-z_]+", scope))
    return next((part for part in PARTS if part in names), OTHER)


def _events(folder: Path) -> tuple[dict[str, float], dict[str, int]]:
    """Microseconds and number of runs of each instruction."""
    file = next(folder.glob("plugins/profile/*/*.trace.json.gz"))
    op_times: dict[str, float] = collections.defaultdict(float)
    runs: dict[str, int] = collections.defaultdict(int)
    for event in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]:
        if event.get("ph") == "X":
            op_times[event["name"]] += event.get("dur", 0)
            runs[event["name"]] += 1
    return op_times, runs


def roofline(state_bytes: int, batch: int) -> dict[str, float]:
    """What would bound the speed if nothing but memory did: each state read once, written once."""
    size = 1 << 28
    large = jnp.zeros(size, jnp.int8)
    small = jnp.zeros(state_bytes * batch, jnp.int8)
    speeds = {}
    for name, array in (("memory", large), ("cache", small)):
        copy = jax.jit(lambda x: x + jnp.int8(1))
        copy(array).block_until_ready()
        least = math.inf
        for _ in range(20):
            start = time.perf_counter()
            copy(array).block_until_ready()
            least = min(least, time.perf_counter() - start)
        speeds[name] = 2 * array.size / least
    return {
        "bytes_a_decision": 2 * state_bytes,
        "memory_bytes_per_second": speeds["memory"],
        "batch_bytes_per_second": speeds["cache"],
        "decisions_per_second": speeds["memory"] / (2 * state_bytes),
    }


def _print(report: dict[str, Any]) -> None:
    print(measure.machine_line(report["machine"]))
    print(f"batch {report['batch']}: {report['decisions_per_second']:,.0f} decisions/s")
    rows = report["parts"]
    total_us = sum(row["us"] for row in rows.values())
    print(f"{'part':<20}{'':<28}{'kernels':>9}{'launches':>9}{'KB each':>9}{'us':>8}{'share':>7}")
    for part, row in sorted(rows.items(), key=lambda item: -item[1]["us"]):
        print(
            f"{part:<20}{PARTS.get(part, ''):<28}{row['kernels']:>9.0f}{row['launches']:>9.0f}"
            f"{row['bytes'] / 1e3:>9.1f}{row['us']:>8.0f}{row['us'] / total_us:>7.0%}"
        )
    total = {k: sum(row[k] for row in rows.values()) for k in ("kernels", "launches", "bytes")}
    print(
        f"{'all':<48}{total['kernels']:>9.0f}{total['launches']:>9.0f}"
        f"{total['bytes'] / 1e3:>9.1f}{total_us:>8.0f}"
    )
    roof = report["roofline"]
    print(
        f"roofline: {roof['bytes_a_decision']:,} bytes at the least, "
        f"{roof['memory_bytes_per_second'] / 1e9:.1f} GB/s from memory "
        f"({roof['batch_bytes_per_second'] / 1e9:.1f} GB/s at the size of the batch): "
        f"{roof['decisions_per_second']:,.0f} decisions/s, "
        f"{roof['decisions_per_second'] / report['decisions_per_second']:.0f} times as many"
    )


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = measure.command_parser("profile", __doc__, "machine", "parts", "roofline")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--ruleset", default="lost_fleet")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
