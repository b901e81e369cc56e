"""Everything that is to be known of an accelerator, in one call of at most nine minutes.

    python -m benchmarks.accelerator --json runs/accelerator.json        `make accelerator`

First whether it plays the game as a CPU does (`benchmarks.agreement`); where it does not, nothing
else counts. Compile times, decisions a second by batch with mask and with observation, sizes of the
chunks that `compact_vmap` takes, PPO from end to end by batch and network, memory. Work that does
not fit into the time is skipped and named. It also runs on a CPU, at the given sizes.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax

from benchmarks import agreement, measure, peers, training
from gaia_jax.components.missions import FINAL_PRIZES
from gaia_jax.xla import compact_vmap
from training import config as configs
from training.config import Config
from training.system import cli

BATCHES = (4096, 1024, 16384, 65536)
CHUNKS = (16, 64, 256)  # parts that a batch is cut into
STRONG = {"planets": 88, "neighbors": False, "layers": 1, "width": 64, "latents": 4}
NETWORKS = ("h100", "tpu", "planets 64")  # those of configs/, and a small one
ROOT = Path(__file__).resolve().parent.parent
WHOLE = 320  # decisions: nearly all games that begin together have ended by then
# Mean VP of a seat from a final mission, with or without ties (FIN-02, FIN-03).
MISSION, MISSION_VP = "FINAL_1", sum(FINAL_PRIZES) / len(FINAL_PRIZES)


class Clock:
    """The time that is left, and the labels of work that there was none for."""

    def __init__(self, minutes: float):
        self._end = time.monotonic() + 60 * minutes
        self.left_out: list[str] = []

    def do(self, label: str, work: Callable[[], Any]) -> Any:
        """`work()`, or None where the time is over or it fails for want of memory."""
        if time.monotonic() > self._end:
            self.left_out.append(f"{label}: no time left")
            return None
        try:
            return work()
        except jax.errors.JaxRuntimeError as error:
            self.left_out.append(f"{label}: {str(error).splitlines()[0][:120]}")
            return None


@contextlib.contextmanager
def chunks_of(parts: int) -> Iterator[None]:
    """`compact_vmap` cuts every batch into `parts` chunks."""
    before = compact_vmap.chunk_rows
    compact_vmap.chunk_rows = lambda size, *_, **__: min(size, max(64, size // parts))
    try:
        yield
    finally:
        compact_vmap.chunk_rows = before


def play(batch: int, steps: int, observe: bool, seconds: float) -> dict[str, Any]:
    """Random play at one batch size."""
    runner = measure.Runner(peers.own(), batch, steps, observe, burn_in=4 * steps, seed=0)
    rounds = [runner.round(runner.calls_for(seconds)) for _ in range(3)]
    cost = runner.rollout.cost()
    return {
        "batch": batch,
        "observation": observe,
        "decisions_per_second": measure.spread(rounds),
        "compile_s": cost["compile_s"],
        "trace_s": cost["trace_s"],
        "temp_bytes": cost["temp_bytes"],
        "state_bytes": runner.state_bytes,
    }


def learn(batch: int, steps: int, name: str, rounds: int) -> dict[str, Any]:
    """PPO at one batch size with one of NETWORKS."""
    tree: dict[str, Any] = {"network": STRONG, "name": name}
    if name != "planets 64":
        network = configs.load(ROOT / "configs" / f"{name}.yaml").network
        tree["network"] = dataclasses.asdict(network)
    tree["ppo"] = {"num_envs": batch, "num_steps": steps, "minibatches": min(8, steps)}
    config: Config = configs.from_dict(tree)
    report = training.measure_training(config, rounds, WHOLE)
    columns = ("decisions_per_second", "parts_share", "compile_s", "games", "steps", "vp")
    return {"network": name} | {key: report[key] for key in columns}


def faults(report: dict[str, Any]) -> list[str]:
    """What shows that another game was measured, in lines; none where all is as on a CPU."""
    agreed = report["agreement"]
    lines = [agreed["difference"]] if agreed and not agreed["agrees"] else []
    for row in report["ppo"]:
        mean = row.get("vp", {}).get(MISSION, MISSION_VP)
        if mean != MISSION_VP:
            label = f"PPO, {row['games']:,} games, {row['network']}"
            lines.append(
                f"{label}: {MISSION} has a mean of {mean:.3f}, the rules make {MISSION_VP}"
            )
    return lines


def verdict(report: dict[str, Any]) -> list[str]:
    """The first lines: whether the measured programs play the game."""
    wrong, agreement_report = faults(report), report["agreement"]
    if wrong:
        flags = os.environ.get("XLA_FLAGS") or "none"
        head = f"**NOTHING BELOW COUNTS: this device plays another game. XLA_FLAGS: {flags}**"
        return [head, *(f"- {line}" for line in wrong)]
    if not agreement_report:
        return ["Not compared with a CPU: the measured programs may play another game."]
    return [f"{agreement_report['games']} games end as on a CPU ({agreement_report['with']})."]


def memory() -> dict[str, int]:
    """Memory statistics of the device; empty on a CPU."""
    stats = jax.devices()[0].memory_stats() or {}
    return {k: int(v) for k, v in stats.items() if k in ("peak_bytes_in_use", "bytes_limit")}


def measure_all(args: argparse.Namespace) -> dict[str, Any]:
    """The whole report."""
    clock = Clock(args.minutes)
    report: dict[str, Any] = {"machine": measure.machine(), "play": [], "chunks": [], "ppo": []}

    def note(section: str, label: str, work: Callable[[], dict[str, Any]]) -> None:
        row = clock.do(label, work)
        if row is not None:
            report[section].append(row)
            print(f"{label}: {json.dumps(row)}", file=sys.stderr, flush=True)

    def cut(parts: int) -> dict[str, Any]:
        with chunks_of(parts):
            return {"parts": parts} | play(args.batches[0], args.steps, False, args.seconds)

    report["agreement"] = clock.do("comparison with a CPU", agreement.check)
    print(f"comparison with a CPU: {json.dumps(report['agreement'])}", file=sys.stderr, flush=True)
    for batch in args.batches:
        for observe in (False, True):
            label = f"play, batch {batch}, {'observation' if observe else 'mask'}"
            note("play", label, lambda b=batch, o=observe: play(b, args.steps, o, args.seconds))
            for parts in args.chunks if batch == args.batches[0] and not observe else ():
                note("chunks", f"batch in {parts} chunks", lambda p=parts: cut(p))
        for name in args.networks:
            label = f"PPO, {batch} games, {name}"
            note("ppo", label, lambda b=batch, n=name: learn(b, args.steps, n, args.rounds))
    return report | {"memory": memory(), "left_out": clock.left_out}


def table(report: dict[str, Any]) -> str:
    """Markdown for docs/lab/performance.md."""
    machine = report["machine"]
    lines = [*verdict(report), ""]
    lines += [f"{measure.machine_line(machine)}, {machine['revision']}", ""]
    lines += ["| program | decisions/s | compile s |", "| --- | --- | --- |"]
    for row in report["play"] + report["chunks"]:
        label = f"batch {row['batch']:,}, {'observation' if row['observation'] else 'mask'}"
        label += f", {row['parts']} chunks" if "parts" in row else ""
        text = measure.spread_text(row["decisions_per_second"], 0)
        lines.append(f"| {label} | {text} | {row['compile_s']:.0f} |")
    for row in report["ppo"]:
        compiling = row["compile_s"]["update"]
        label = f"PPO, {row['games']:,} games, {row['network']}"
        lines.append(f"| {label} | {row['decisions_per_second']:,.0f} | {compiling:.0f} |")
    peak = report["memory"].get("peak_bytes_in_use")
    lines += ["", f"Peak memory {peak / 2**30:.1f} GiB." if peak else "No memory statistics."]
    lines += [f"Left out: {'; '.join(report['left_out'])}."] if report["left_out"] else []
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = measure.command_parser("accelerator", __doc__, "machine", "play", "chunks")
    parser.add_argument("--batches", type=_numbers, default=BATCHES)
    parser.add_argument("--chunks", type=_numbers, default=CHUNKS)
    parser.add_argument("--networks", type=_names, default=list(NETWORKS))
    parser.add_argument("--steps", type=int, default=32, help="decisions of a scan")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=2, help="of PPO")
    parser.add_argument("--minutes", type=float, default=8.0, help="nothing begins after so long")
    args = parser.parse_args(argv)
    report = measure_all(args)
    measure.write_report(args.json, report)
    print(table(report))
    if report["machine"]["backend"] == "cpu":
        print("\nThis is a CPU: no accelerator was measured.")
    return int(bool(faults(report)))


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(name) for name in _names(text))


if __name__ == "__main__":
    sys.exit(cli.run(main))
