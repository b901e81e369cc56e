"""The folder of a run: create or reopen it with its logs; its history.

`history.jsonl` has a line for each start and each end: warm start with its update, commit, versions
and machine, which together with `config.yaml` suffice to repeat the run. A killed run has a start
without an end.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gaia_jax import __version__
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason

from .. import config as configs
from ..learn.checkpoint_paths import ASIDE, free_path
from ..system import commit, process_group, processes
from .logs import RECORDS, Logs, NoLogs, read_records

if TYPE_CHECKING:
    from ..learn.trainer import Trainer

RUNS = Path("runs")
HISTORY = "history.jsonl"
COMPLETE, OUT_OF_TIME, INTERRUPTED = "complete", "out of time", "interrupted"
PACKAGES = ("flax", "optax")  # in addition to those of `processes.versions`


def new_folder(name: str) -> Path:
    """Make runs/NAME, or the first of runs/NAME-2, -3, ... that does not exist.

    Two runs of one name that start at once get a folder each.
    """
    try:
        RUNS.mkdir(exist_ok=True)
        while True:
            folder = free_path(RUNS, name)
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as error:
        raise UserError(f"cannot make a folder in {RUNS}: {reason(error)}") from error


@contextlib.contextmanager
def open_folder(trainer: Trainer, is_new: bool) -> Iterator[Logs]:
    """The logs of a run whose folder is created or reopened.

    A new run that fails before its first chunk is done leaves no folder. Ctrl-C is not a failure:
    it leaves a checkpoint to resume from.
    """
    group = trainer.group
    logs = _open_new(trainer) if is_new else _open_again(trainer)
    group.hint = f"; continue with --resume {trainer.run}"
    if not (is_new and group.is_main):
        yield logs
        return
    try:
        with outputs.folder_lock(trainer.run):
            yield logs
    except Exception:
        if trainer.chunks == 0:
            _remove(trainer.run)
        raise


def _open_new(trainer: Trainer) -> Logs:
    """Create the folder and the logs of a new run; a failed start leaves nothing."""
    group = trainer.group
    if not group.is_main:
        trainer.run = Path(group.first(""))
        process_group.check_folder(group, trainer.run)
        return NoLogs()
    run = trainer.run = new_folder(trainer.config.name)
    try:
        outputs.write_text(run / configs.OF_A_RUN, configs.to_yaml(trainer.config))
        record_start(run, 0, trainer)
        group.first(str(run))
        process_group.check_folder(group, run)
        return Logs(run, trainer.config)
    except BaseException:
        _remove(run)
        raise


def _remove(run: Path) -> None:
    """Remove the folder of a run, and its parent if that is empty."""
    shutil.rmtree(run, ignore_errors=True)
    with contextlib.suppress(OSError):
        run.parent.rmdir()


def _open_again(trainer: Trainer) -> Logs:
    """Open the logs of a resumed run; later checkpoints and records are set aside."""
    run, update, group = trainer.run, trainer.update, trainer.group
    if not group.is_main:
        group.all(None)
        trainer.checkpoints.reload()
        return NoLogs()
    moved = trainer.checkpoints.set_aside(update)
    if moved:
        print(f"later checkpoints are kept in {run / ASIDE}: {len(moved)}", file=sys.stderr)
        dropped = [line for number, line in read_records(run / RECORDS) if number > update]
        goal = free_path(run / ASIDE, RECORDS)
        outputs.write_text(goal, b"".join(dropped).decode("utf-8"))
    outputs.write_text(run / configs.OF_A_RUN, configs.to_yaml(trainer.config))
    record_start(run, update, trainer)
    group.all(None)
    return Logs(run, trainer.config, update)


def record_start(run: Path, update: int, trainer: Trainer) -> None:
    """Record a start: warm start, commit, versions, machine, devices."""
    import jax

    devices = jax.devices()
    versions = {"gaia_jax": __version__, "python": platform.python_version()}
    versions |= processes.versions() | {name: metadata.version(name) for name in PACKAGES}
    _add(
        run,
        event="start",
        update=update,
        environment=f"{trainer.env.id} {trainer.env.version}",
        warm_start=trainer.warm_start,
        versions=versions,
        machine=_machine(),
        devices=f"{len(devices)} {devices[0].platform}: {devices[0].device_kind}",
        **commit.of_clone(),
    )


def record_end(run: Path, update: int, outcome: str) -> None:
    """Record an end: COMPLETE and OUT_OF_TIME with the evaluation, or INTERRUPTED."""
    _add(run, event="end", update=update, how=outcome)


def read_history(run: Path) -> list[dict[str, Any]]:
    """The lines, oldest first; truncated lines are skipped."""
    try:
        lines = (run / HISTORY).read_bytes().splitlines()
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
    lines = read_history(run)
    return bool(lines) and lines[-1].get("how") in (COMPLETE, OUT_OF_TIME)


def _add(run: Path, **line: Any) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"time": now} | line) + "\n"
    path = run / HISTORY
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
