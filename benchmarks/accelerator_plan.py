"""The plan of a session with an accelerator: every step by itself, resumable.

    python -m benchmarks.accelerator_plan --out runs/plan                 # all steps, in order
    python -m benchmarks.accelerator_plan --out runs/plan --minutes 9     # as far as that reaches
    python -m benchmarks.accelerator_plan --out /tmp/plan --tiny          # the same on a CPU, small

A step is a command with a time limit, its output and report in `OUT/STEP.*`. Its report is
`OUT/STEP.partial.json` until the step is done, `OUT/STEP.failed.json` if it fails. A step whose
report exists is skipped, so the same command continues after a limit. If the first one finds that
the device plays another game than a CPU, no other one starts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LEARN, MINUTES = "learn", "run.max_minutes=8"  # the step that leaves a run folder, not a report
SLOWER = 5  # limits with `--tiny`: a busy CPU compiles slowly
FLAG = "--xla_gpu_enable_command_buffer="
# `configs/wide.yaml` with 32 times the games: minibatches of 16,384 kept decisions of 512 games.
CARD = (
    "ppo.num_envs=65536", "ppo.minibatches=128", "ppo.game_blocks=128", "ppo.lr=3e-4",
    "network.dtype=bfloat16", "run.checkpoint_chunks=2",
)  # fmt: skip


class Step(NamedTuple):
    """A command of the plan."""

    name: str
    command: tuple[str, ...]  # after `python -m`; {out} is the folder of the plan
    limit_s: int
    flags: str = ""  # of XLA
    tiny: tuple[str, ...] = ()  # appended with `--tiny`: the last value of an option counts

    def arguments(self, out: Path, is_tiny: bool) -> list[str]:
        """The command line."""
        words = (*self.command, *(self.tiny if is_tiny else ()))
        if self.name == LEARN and (out / "runs" / LEARN).exists():
            words = ("training.train", "--resume", f"runs/{LEARN}", MINUTES)
        return [sys.executable, "-m", *(word.format(out=out) for word in words)]


def _report(name: str) -> tuple[str, str]:
    return "--json", f"{{out}}/{name}.partial.json"


TINY_PLAY = ("--batches", "8", "--steps", "4", "--seconds", "0.01")
TINY_PPO = ("ppo.num_envs=16", "ppo.num_steps=8", "ppo.minibatches=4", "ppo.game_blocks=2")
STEPS = (
    Step(
        "agreement",
        ("benchmarks.accelerator", "--batches", "", "--networks", "", *_report("agreement")), 200,
    ),
    Step(
        "throughput",
        ("benchmarks.throughput", "--batches", "4096,16384,65536", "--rounds", "3",
         *_report("throughput")),
        420, tiny=(*TINY_PLAY, "--rounds", "1", "--burn-in", "4"),
    ),
    Step(
        "forms",
        ("benchmarks.training", "--config", "configs/wide.yaml", "--forms", "--rounds", "3",
         *_report("forms"), "ppo.num_envs=16384", "ppo.minibatches=32", "ppo.game_blocks=8",
         "network.dtype=bfloat16"),
        420, tiny=("--rounds", "1", *TINY_PPO),
    ),
    Step(
        "profile", ("benchmarks.profile", "--batch", "16384", *_report("profile")), 240,
        tiny=("--batch", "8", "--steps", "4"),
    ),
    *(
        Step(
            name.lower(),
            ("benchmarks.accelerator", "--batches", "16384", "--chunks", "", "--networks", "",
             *_report(name.lower())),
            300, f"{FLAG}+{name}", TINY_PLAY,
        )
        for name in ("WHILE", "CONDITIONAL")
    ),
    Step(
        LEARN,
        ("training.train", "--config", "configs/wide.yaml", f"name={LEARN}", *CARD, MINUTES),
        560, tiny=(*TINY_PPO, "run.updates=2", "run.warm_start=zoo/strong"),
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns 1 if a step failed or was left out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerator_plan")
    parser.description, parser.formatter_class = __doc__, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=Path, required=True, help="folder of the reports")
    parser.add_argument("--minutes", type=float, default=30.0, help="of all steps together")
    parser.add_argument("--steps", default=",".join(step.name for step in STEPS))
    parser.add_argument("--tiny", action="store_true", help="sizes for a CPU, to try the plan")
    args = parser.parse_args(argv)
    names = args.steps.split(",")
    if unknown := sorted(set(names) - {step.name for step in STEPS}):
        parser.error(f"unknown step {unknown[0]!r}; allowed: {parser.get_default('steps')}")
    args.out.mkdir(parents=True, exist_ok=True)
    end, incomplete = time.monotonic() + 60 * args.minutes, False
    for step in STEPS:
        if step.name not in names or _is_done(step, args.out):
            continue
        limit_s = step.limit_s * (SLOWER if args.tiny else 1)
        status = run(step, args.out, min(limit_s, end - time.monotonic()), args.tiny)
        print(f"{step.name}: {status}", flush=True)
        incomplete |= status != "done"
        if step.name == "agreement" and status != "done":
            return 1
    return int(incomplete)


def run(step: Step, out: Path, limit_s: float, is_tiny: bool) -> str:
    """Run a step: "done", or why not. Only a step that is done has its report under its name."""
    if limit_s < 1:
        return "no time left"
    flags = f"{os.environ.get('XLA_FLAGS', '')} {step.flags}".strip()
    if is_tiny:  # a CPU does not know the flags of a GPU
        flags = os.environ.get("XLA_FLAGS", "")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XLA_FLAGS": flags}
    with (out / f"{step.name}.log").open("ab") as log:
        process = subprocess.Popen(
            step.arguments(out.resolve(), is_tiny), cwd=out, env=environment, stdout=log,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            return f"stopped after {limit_s:.0f} s"
    report = out / f"{step.name}.partial.json"
    if report.exists():
        report.replace(out / f"{step.name}.failed.json" if code else _report_path(step, out))
    if code:
        return f"failed with exit code {code}, see {out / step.name}.log"
    return "done"


def _is_done(step: Step, out: Path) -> bool:
    """Whether the report of a step is there; learning has none and is resumed."""
    return _report_path(step, out).exists()


def _report_path(step: Step, out: Path) -> Path:
    return out / f"{step.name}.json"


if __name__ == "__main__":
    sys.exit(main())
