"""Programs compiled for accelerators that are not there, as tables.

    make offline                                        sets up both environments, then this one
    python -m benchmarks.offline_table --tpu .venv-tpu/bin/python --cuda .venv-cuda/bin/python
    python -m benchmarks.offline_table --revision 383ed53 ...      the column of before
    python -m benchmarks.offline_table --page                      the page from what is recorded

Each row is a process of its own (`benchmarks.offline`), in the environment that has the compiler of
its target; rows without one keep what is recorded.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from benchmarks.offline_page import page
from benchmarks.targets import TARGETS

ROOT = Path(__file__).resolve().parent.parent
RECORDED = Path(__file__).resolve().parent / "offline.json"
# What a tree of before lacks of this tool.
TOOL = ("estimate", "graphs", "hlo", "measure", "offline", "peers", "profile", "targets", "trips")
SMALL = ("--config", "configs/strong.yaml", "ppo.num_envs=256", "ppo.num_steps=16")
PEERS = ("chess", "go_19x19", "mahjax")
BATCHES = (1024, 4096, 16384)


def _row(target: str, program: str, *more: str) -> tuple[str, ...]:
    return ("--target", target, "--program", program, *more)


ROWS: dict[str, tuple[str, ...]] = {
    "v5e step": _row("v5e", "step"),
    "v5e play": _row("v5e", "play"),
    "v5e init": _row("v5e", "init"),
    "v5e observe": _row("v5e", "observe"),
    "v5e step 1,024": _row("v5e", "step", "--batch", "1024"),
    "v5e step 16,384": _row("v5e", "step", "--batch", "16384"),
    "v6e step": _row("v6e", "step"),
    "v5e train small": _row("v5e", "train", *SMALL),
    "v5e x 8 train": _row("v5e", "train", "--devices", "8", "--config", "configs/tpu.yaml"),
    "v5e x 64 train": _row("v5e", "train", "--devices", "64", "--config", "configs/tpu.yaml")
    + ("ppo.num_envs=131072",),
    "h100 step": _row("h100", "step"),
    "h100 step graphs": _row("h100", "step", "--graphs"),
    "h100 step 16,384": _row("h100", "step", "--batch", "16384"),
    "h100 step 16,384 graphs": _row("h100", "step", "--batch", "16384", "--graphs"),
    "h100 play": _row("h100", "play"),
    "h100 init": _row("h100", "init"),
    "h100 observe": _row("h100", "observe"),
    "h100 train strong": _row("h100", "train", *SMALL[:2], "ppo.num_envs=2048"),
    "h100 train": _row("h100", "train", "--config", "configs/h100.yaml"),
    "h100 x 8 train": _row("h100", "train", "--devices", "8", "--config", "configs/h100.yaml")
    + ("ppo.num_envs=65536",),
    "a100 step": _row("a100", "step"),
    "h200 step": _row("h200", "step"),
} | {
    f"{target} {peer} {batch:,}": _row(target, "step", "--environment", peer)
    + ("--batch", str(batch))
    for target in ("v5e", "h100")
    for peer in PEERS
    for batch in BATCHES
}
BEFORE = ("v5e step", "v5e play", "h100 step")
# Rows that the slow test compiles again.
TESTED = {"step": "v5e step", "train": "v5e train small"}
_KEPT = ("seconds", "decisions_per_second", "totals", "parts", "made_loops", "unknown_trips")
_KEPT += ("host_callbacks", "wide", "held_bytes", "temp_bytes", "compile_s", "jax", "revision")
_KEPT += ("batch", "devices", "target", "program", "failed", "fits", "loops", "decisions")
_KEPT += ("games", "share", "environment", "config")


def recorded() -> dict[str, Any]:
    """Reports by "before" and "now", then by the name of the row."""
    empty: dict[str, Any] = {"before": {}, "now": {}}
    return json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else empty


def in_order(report: dict[str, Any]) -> dict[str, Any]:
    """The same with the rows as they are listed here."""
    sides = {side: report[side] for side in ("before", "now")}
    return report | {side: {x: rows[x] for x in ROWS if x in rows} for side, rows in sides.items()}


def tested(program: str) -> tuple[tuple[str, ...], dict[str, Any] | None]:
    """The arguments and the recorded report, if any, of a row that a test compiles again."""
    return ROWS[TESTED[program]], recorded()["now"].get(TESTED[program])


def tree_of(revision: str, python: str) -> Path:
    """A folder with a revision's sources and this tool, its loops counted."""
    folder = ROOT / ".cache" / "offline" / f"tree-{revision}"
    if not (folder / "benchmarks" / "trips.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        git = subprocess.run(
            ["git", "archive", revision], cwd=ROOT, capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(git.stdout)) as archive:
            archive.extractall(folder, filter="data")
        for name in TOOL:
            shutil.copy(ROOT / "benchmarks" / f"{name}.py", folder / "benchmarks")
        command = "import json; from benchmarks import trips; trips.RECORDED.write_text(json.dumps("
        command += "{p: trips.count(p, 4096, 64, 192) for p in ('tpu', 'gpu')}))"
        env = os.environ | {"PYTHONPATH": str(folder), "JAX_PLATFORMS": "cpu"}
        subprocess.run([python, "-c", command], cwd=folder, env=env, check=True)
    return folder


def analysed(row: str, python: str, tree: Path) -> dict[str, Any] | None:
    """The report of a row, or None where there is no compiler."""
    command = [python, "-m", "benchmarks.offline", *ROWS[row], "--json"]
    env = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if done.returncode:
        lines = [x for x in done.stderr.splitlines() if x.strip()] or ["no output"]
        print(f"{row}: {lines[-1][:200]}", file=sys.stderr)
        return None
    report = json.loads(done.stdout.splitlines()[-1])
    kept = {name: report[name] for name in _KEPT if name in report}
    dearest = sorted(kept.get("loops", []), key=lambda x: -x["runs"] * x["cycles"])
    return kept | ({"loops": dearest[:8]} if "loops" in kept else {})


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.offline_table", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--tpu", default=".venv-tpu/bin/python", help="an interpreter")
    parser.add_argument("--cuda", default=".venv-cuda/bin/python", help="another one")
    parser.add_argument("--rows", default="", help=f"of {', '.join(ROWS)}; all by default")
    parser.add_argument("--revision", default="", help="record this one as the one before")
    parser.add_argument("--page", action="store_true", help="compile nothing")
    args = parser.parse_args(argv)
    report = recorded()
    side = "before" if args.revision else "now"
    named = [x.strip() for x in args.rows.split(";") if x.strip()]
    rows = [] if args.page else named or list(BEFORE if args.revision else ROWS)
    for row in rows:
        kind = TARGETS[ROWS[row][1]].platform
        python = str(ROOT / (args.tpu if kind == "tpu" else args.cuda))
        tree = tree_of(args.revision, python) if args.revision else ROOT
        found = analysed(row, python, tree) if Path(python).exists() else None
        if found:
            report = recorded()  # another process may have written meanwhile
            report[side][row] = found | ({"tree": args.revision} if args.revision else {})
            report["date"] = str(datetime.datetime.now(datetime.UTC).date())
            RECORDED.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
            print(f"{row}: {found.get('decisions_per_second', found.get('failed'))}", flush=True)
    if all("v5e step" in report[side] for side in ("before", "now")):
        print(page(in_order(report), ROWS), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
