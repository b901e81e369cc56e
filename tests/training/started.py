"""What the tests of several processes share: starting them, and how they ended."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np
import yaml
from conftest import TINY

from training.learn.checkpoint import Checkpoints
from training.system import processes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENT = os.environ | {
    "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}",
    "JAX_PLATFORMS": "cpu",
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",  # compiled in half the time, and played once
    processes.TIMEOUT: "300",
}
GONE = "error: process {} of 2 is gone; stopping"


def free_port() -> int:
    """A port that is free, and the next one too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("", 0))
            port = first.getsockname()[1]
            if port < 65535:
                try:
                    second.bind(("", port + 1))
                except OSError:
                    continue
                return port


def start(arguments: list[str], folder: Path, **environment: str) -> subprocess.Popen:
    """One process."""
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=ENVIRONMENT | environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ends(started: list[subprocess.Popen], seconds: float = 900) -> list[tuple[int, str, str]]:
    """(exit code, output, errors) of each; none outlives the test."""
    until = time.monotonic() + seconds
    try:
        result = []
        for process in started:
            out, err = process.communicate(timeout=max(until - time.monotonic(), 1))
            result.append((process.returncode, out, err))
        return result
    finally:
        for process in started:
            process.kill()


def errors(text: str) -> list[str]:
    """The lines that tell of a failure."""
    return [line for line in text.splitlines() if line.startswith(("error", "Traceback", "***"))]


def launch(
    folder: Path,
    *arguments: str,
    size: int = 1,
    devices: int = 4,
    death: tuple[str, int] | None = None,
    last: Sequence[str] = (),
    folders: Sequence[Path] = (),
) -> list[subprocess.Popen]:
    """Start the tiny training in `size` processes of `devices` devices each.

    Args:
        death: when a process kills itself, and which (`toy_main.py`).
        last: further arguments of the last process.
        folders: the working folder of each process; empty: `folder`.
    """
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    own: list[list[str]] = [[]]
    if size > 1:
        at = f"hosts.coordinator=127.0.0.1:{free_port()}"
        own = [[at, f"hosts.processes={size}", f"hosts.process_id={i}"] for i in range(size)]
    if not any(text.startswith("--resume") for text in arguments):
        arguments = ("--config", str(folder / "tiny.yaml"), *arguments)
    if not any(text.startswith("eval.games") for text in arguments):
        arguments = (*arguments, "eval.games=0")
    own[-1] += last
    started = []
    for number, texts in enumerate(own):
        cwd = folders[number] if folders else folder
        hook = {} if death is None else {"MOMENT": death[0], "DIES": str(int(number == death[1]))}
        line = [*arguments, *texts, f"run.cpu_devices={devices}"]
        started.append(start([str(HERE / "toy_main.py"), "train", *line], cwd, **hook))
    return started


def train(folder: Path, *arguments: str, size: int = 1, devices: int = 4) -> None:
    """`launch`, and all come to their end."""
    for code, _, err in ends(launch(folder, *arguments, size=size, devices=devices)):
        assert code == 0, err


def params_of(run: Path, update: int) -> np.ndarray:
    """The parameters of a checkpoint, flat."""
    checkpoints = Checkpoints(run)
    result = checkpoints.restore_params(update, checkpoints._forms(update)["params"])
    return np.concatenate([np.ravel(x) for x in jax.tree.leaves(result)])


def metrics_of(run: Path) -> list[dict]:
    """The records of `metrics.jsonl`."""
    return [yaml.safe_load(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
