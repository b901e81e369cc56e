"""Logs of a run: `metrics.jsonl`, and TensorBoard, Weights & Biases or Trackio."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, one_line, reason

from .. import config as configs
from ..config import Config

RECORDS = "metrics.jsonl"
UPDATE, DECISIONS = "update", "decisions"  # horizontal axes
REMOTE = ("wandb", "trackio")
PROJECT = "gaia_jax"  # where WANDB_PROJECT or TRACKIO_PROJECT names none
WANDB_ID = "id"  # in the folder `wandb` of a run: which W&B run it is
WITHOUT_LOGIN = ("offline", "disabled", "dryrun")  # values of WANDB_MODE

OnUpdate = Callable[[int, dict[str, float]], object]  # called with an update and its metrics


class Logs:
    """Writes the metrics of each update to `metrics.jsonl` and to the sink of `track.sink`."""

    def __init__(self, run: Path, config: Config, first_update: int = 0):
        """
        Args:
            run: the run folder.
            config: its configuration; `track.sink`.
            first_update: later records of an earlier, interrupted run are dropped.
        Raises:
            UserError: a sink that is not installed or without a login, a file that cannot be
                written.
        """
        self.on_update: OnUpdate | None = None
        self._path, sink = run / RECORDS, config.track.sink
        self._decisions = config.ppo.num_envs * config.ppo.num_steps  # of an update
        self._remote = _remote(run, config) if sink in REMOTE else None
        drop_after(self._path, first_update)
        try:
            self._file = self._path.open("a", encoding="utf-8")
            self._boards = self._tensorboard(run, first_update) if sink == "tensorboard" else {}
        except OSError as error:
            raise UserError(f"cannot write into {run}: {reason(error)}") from error

    def _tensorboard(self, run: Path, first_update: int) -> dict[int, Any]:
        """By the steps of an update on its horizontal axis: the curves over updates, decisions."""
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            print('no TensorBoard logs: pip install "gaia_jax[train]"', file=sys.stderr)
            return {}
        boards = {}
        for name, steps in (("updates", 1), ("decisions", self._decisions)):
            purge = (first_update + 1) * steps if first_update else None
            folder = str(run / "tensorboard" / name)
            boards[steps] = SummaryWriter(folder, purge_step=purge)
        return boards

    def write(self, update: int, metrics: dict[str, float]) -> None:
        """One record; values that are not finite are left out."""
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self._file.write(json.dumps({UPDATE: update} | finite) + "\n")
        for steps, board in self._boards.items():
            for name, value in finite.items():
                board.add_scalar(name, value, update * steps)
        if self._remote is not None:
            axes = {UPDATE: update, DECISIONS: update * self._decisions}
            self._remote.log(axes | finite)
        if self.on_update is not None:
            self.on_update(update, finite)

    def flush(self) -> None:
        """Flush all files; a UserError if the disk is full."""
        try:
            self._file.flush()
            for board in self._boards.values():
                board.flush()
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {reason(error)}") from error

    def close(self) -> None:
        """Close all files; do not write after this."""
        try:
            self._file.close()
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {reason(error)}") from error
        finally:
            for board in self._boards.values():
                board.close()
            if self._remote is not None:
                self._remote.finish()


class NoLogs(Logs):
    """The logs of a process that does not write."""

    def __init__(self) -> None:
        pass

    def write(self, *_: object) -> None:
        """Nothing."""

    flush = close = write


def read_records(path: Path) -> list[tuple[int, bytes]]:
    """The (update, line) of each record; a last line that was cut off is left out.

    Raises:
        UserError: a line that is no record, or a file that cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"cannot read {path}: it is no file")
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    except OSError as error:
        raise UserError(f"cannot read {path}: {reason(error)}") from error
    records = []
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line.endswith(b"\n"):
            break
        try:
            update = json.loads(line)["update"]
        except (ValueError, TypeError, KeyError, RecursionError):
            update = None
        if type(update) is not int:
            raise UserError(f"{path}: line {number} is no record of a run: move the file away")
        records.append((update, line))
    return records


def drop_after(path: Path, update: int) -> None:
    """Drop later records and a truncated last line."""
    remaining = b"".join(line for number, line in read_records(path) if number <= update)
    if path.exists() and remaining != path.read_bytes():
        outputs.write_text(path, remaining.decode("utf-8"))


def check_sink(sink: str) -> None:
    """Check, before any work, that the package of `track.sink` is installed, and W&B logged in.

    Raises:
        UserError: it is missing or not logged in.
    """
    if sink not in REMOTE:
        return
    module = _module(sink)
    if sink != "wandb" or os.environ.get("WANDB_MODE") in WITHOUT_LOGIN:
        return
    try:
        account: object
        if "prompt" in inspect.signature(module.login).parameters:
            account = module.login(prompt=False)
        else:
            account = module.api.api_key
    except Exception as error:  # whatever wandb raises
        raise UserError(f"track.sink: wandb does not answer: {one_line(error)}") from error
    if not account:
        raise UserError("track.sink: wandb has no login: run `wandb login` or set WANDB_API_KEY")


def _module(sink: str) -> Any:
    try:
        return importlib.import_module(sink)
    except ImportError as error:
        hint = 'pip install "gaia_jax[wandb]"' if sink == "wandb" else f"pip install {sink}"
        raise UserError(f"track.sink={sink} needs {sink}: {hint}") from error


def _remote(run: Path, config: Config) -> Any:
    """A run of W&B or Trackio, which has W&B's functions; a resumed run continues its own.

    W&B's own steps never decrease, but updates do when a run resumes from an earlier checkpoint, so
    the axis is the update. wandb itself reads WANDB_ENTITY, WANDB_RUN_GROUP, WANDB_TAGS
    and its other variables; an argument would win over WANDB_PROJECT, WANDB_NAME and WANDB_DIR.
    """
    sink = config.track.sink
    module, head = _module(sink), sink.upper()
    options: dict[str, Any] = {
        "project": os.environ.get(f"{head}_PROJECT") or PROJECT,
        "name": os.environ.get(f"{head}_NAME") or run.name,
        "config": configs.to_dict(config),
        "resume": "allow",
    }
    if sink == "wandb":
        options["dir"] = os.environ.get("WANDB_DIR") or str(run)
        options |= {"id": _wandb_id(run), "allow_val_change": True}
    try:
        remote_run = module.init(**options)
        if sink == "wandb":
            remote_run.define_metric(UPDATE, hidden=True)
            remote_run.define_metric("*", step_metric=UPDATE)
        return remote_run
    except Exception as error:  # whatever the package raises
        raise UserError(f"track.sink: {sink} does not start: {one_line(error)}") from error


def _wandb_id(run: Path) -> str:
    """The id of a run folder's W&B run, drawn at the first use."""
    path = run / "wandb" / WANDB_ID
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        outputs.write_text(path, secrets.token_hex(4))
    return path.read_text(encoding="utf-8").strip()
