"""Provenance of a run: `history.jsonl`, a line at each start and each end.

Together with `config.yaml` it suffices to repeat the run: it holds the commit, the versions and
the machine. A killed run has a start without an end.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from gaia_jax import __version__

from ..system import commit, processes
from ..types import Environment

FILE = "history.jsonl"
COMPLETE, OUT_OF_TIME, INTERRUPTED = "complete", "out of time", "interrupted"
PACKAGES = ("flax", "optax")  # in addition to those of `processes.versions`


def started(run: Path, update: int, env: Environment) -> None:
    """Record a start: commit, versions, machine, devices."""
    import jax

    devices = jax.devices()
    versions = {"gaia_jax": __version__, "python": platform.python_version()}
    versions |= processes.versions() | {name: metadata.version(name) for name in PACKAGES}
    _add(
        run,
        event="start",
        update=update,
        environment=f"{env.id} {env.version}",
        versions=versions,
        machine=_machine(),
        devices=f"{len(devices)} {devices[0].platform}: {devices[0].device_kind}",
        **commit.of_clone(),
    )


def ended(run: Path, update: int, outcome: str) -> None:
    """Record an end: COMPLETE and OUT_OF_TIME with the evaluation, or INTERRUPTED."""
    _add(run, event="end", update=update, how=outcome)


def read(run: Path) -> list[dict[str, Any]]:
    """The lines, oldest first; truncated lines are skipped."""
    try:
        lines = (run / FILE).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    out = []
    for line in lines:
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                out.append(entry)
    return out


def is_done(run: Path) -> bool:
    """Whether the run has ended, including its evaluation."""
    lines = read(run)
    return bool(lines) and lines[-1].get("how") in (COMPLETE, OUT_OF_TIME)


def _add(run: Path, **line: Any) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"time": now} | line) + "\n"
    path = run / FILE
    before = path.read_bytes() if path.exists() else b""
    with path.open("a", encoding="utf-8") as file:
        file.write(text if before.endswith(b"\n") or not before else "\n" + text)
        file.flush()
        os.fsync(file.fileno())


def _machine() -> dict[str, Any]:
    """System, processor, cores, memory."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        name = next(x.partition(":")[2].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        pass
    out: dict[str, Any] = {"system": f"{platform.system()} {platform.machine()}"}
    out |= {"processor": name, "cores": os.cpu_count()}
    with contextlib.suppress(ValueError, OSError, AttributeError):
        out["memory_gib"] = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    return out
