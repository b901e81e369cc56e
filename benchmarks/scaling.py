"""Decisions a second of training by several devices and several processes, in one run.

    python -m benchmarks.scaling --splits 1x2,2x1 --rounds 3 --json runs/scaling.json
    python -m benchmarks.scaling --splits 1x1,1x2,1x4,1x8,2x1,4x1 --games 64 --weak

A split is PROCESSESxDEVICES, all on this machine, over loopback. Each round trains every split
once, by `training.train`, and takes the median over the chunks but the first; splits take turns.
With `--weak` the games grow with the devices, else all splits play the same ones. More devices than
cores share them: then the figure of a split shows the cost of sharing.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import measure

ROOT = Path(__file__).resolve().parents[1]


class Split(NamedTuple):
    """A number of processes, each with a number of devices."""

    processes: int
    devices: int

    @property
    def total(self) -> int:
        """All devices."""
        return self.processes * self.devices

    def __str__(self) -> str:
        return f"{self.processes}x{self.devices}"


def splits_of(text: str) -> list[Split]:
    """`1x2,2x1`."""
    return [Split(*map(int, part.split("x"))) for part in text.split(",")]


def free_port() -> int:
    """A port that is free; the next one is likely to be."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def train(split: Split, games: int, args: argparse.Namespace, folder: Path) -> float:
    """Decisions a second of a training, the median of its chunks without the first."""
    name = f"scaling-{split}"
    line = [
        sys.executable, "-m", "training.train", "--config", str(args.config.absolute()),
        f"name={name}", f"ppo.num_envs={games}", f"run.cpu_devices={split.devices}",
        f"run.updates={args.updates}", "run.updates_per_chunk=1", "run.max_minutes=0",
        f"run.checkpoint_chunks={args.updates}", "track.sink=none", "eval.games=0",
        *args.overrides,
    ]  # fmt: skip
    own: list[list[str]] = [[]]
    if split.processes > 1:
        at = [f"hosts.coordinator=127.0.0.1:{free_port()}", f"hosts.processes={split.processes}"]
        own = [[*at, f"hosts.process_id={i}"] for i in range(split.processes)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    cores = sorted(os.sched_getaffinity(0))
    started = []
    for number, texts in enumerate(own):
        mine = cores[number :: split.processes] if args.pin else cores
        started.append(
            subprocess.Popen(
                [*line, *texts],
                cwd=folder,
                env=environment,
                stderr=subprocess.PIPE,
                preexec_fn=partial(os.sched_setaffinity, 0, mine or cores),
            )  # fmt: skip
        )
    try:
        for process in started:
            _, err = process.communicate(timeout=args.timeout)
            if process.returncode:
                raise SystemExit(f"{split}: {err.decode()[-2000:]}")
    finally:
        for process in started:
            process.kill()
    run = sorted((folder / "runs").glob(f"{name}*"), key=lambda path: path.stat().st_mtime)[-1]
    lines = (run / "metrics.jsonl").read_text().splitlines()
    speeds = [json.loads(text)["time/decisions_per_second"] for text in lines]
    return statistics.median(speeds[1:])


def run(args: argparse.Namespace) -> dict[str, Any]:
    """All splits, in turns."""
    splits = splits_of(args.splits)
    speeds: dict[str, list[float]] = {str(split): [] for split in splits}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for split in splits:
                games = args.games * (split.total if args.weak else 1)
                speeds[str(split)].append(train(split, games, args, Path(folder)))
                print(f"{split}: {speeds[str(split)][-1]:,.0f} decisions/s", flush=True)
    median = {name: statistics.median(speed) for name, speed in speeds.items()}
    first = str(splits[0])
    return {
        "machine": {"cpus": os.cpu_count(), "load": os.getloadavg()},
        "config": str(args.config),
        "games": args.games,
        "weak": args.weak,
        "pin": args.pin,
        "decisions_per_second": speeds,
        "median": median,
        f"against {first}": {name: value / median[first] for name, value in median.items()},
    }


def main(argv: list[str] | None = None) -> int:
    parser = measure.command_parser("scaling", __doc__, "machine", "pin", "median")
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "quick.yaml")
    parser.add_argument(
        "--splits", default="1x2,2x1", help="PROCESSESxDEVICES, with commas between"
    )
    parser.add_argument(
        "--games", type=int, default=256, help="ppo.num_envs, or with --weak a device"
    )
    parser.add_argument("--weak", action="store_true", help="games grow with the devices")
    parser.add_argument("--pin", action="store_true", help="each process has cores of its own")
    parser.add_argument("--updates", type=int, default=8, help="of each training")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=900, help="seconds of a training")
    parser.add_argument("overrides", nargs="*", help="key=value, as for training.train")
    args = parser.parse_intermixed_args(argv)
    report = run(args)
    for name, ratio in report[f"against {splits_of(args.splits)[0]}"].items():
        print(f"{name:<8}{report['median'][name]:>12,.0f} decisions/s{ratio:>8.2f}")
    measure.write_report(args.json, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
