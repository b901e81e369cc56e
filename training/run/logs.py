"""Logs of a run: `metrics.jsonl`, TensorBoard, Weights & Biases."""

from __future__ import annotations

import inspect
import json
import math
import os
import secrets
import sys
from pathlib import Path
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, one_line, reason

from .. import config as configs
from ..config import Config

RECORDS = "metrics.jsonl"
UPDATE = "update"  # the horizontal axis of everything in W&B
PROJECT = "gaia_jax"  # of W&B, where WANDB_PROJECT names none
WANDB_ID = "id"  # in the folder `wandb` of a run: which W&B run it is
WITHOUT_LOGIN = ("offline", "disabled", "dryrun")  # values of WANDB_MODE
NO_WANDB = "run.wandb needs wandb: pip install '.[wandb]'"


class Logs:
    """Writes the metrics of each update to `metrics.jsonl`, optionally to TensorBoard and W&B."""

    def __init__(self, run: Path, config: Config, first_update: int = 0):
        """
        Args:
            run: the run folder.
            config: its configuration; `run.tensorboard`, `run.wandb`.
            first_update: later records of an earlier, interrupted run are dropped.
        Raises:
            UserError: `run.wandb` without wandb or a login, a file that cannot be written.
        """
        self._path = run / RECORDS
        self._wandb = _wandb(run, config) if config.run.wandb else None
        drop_after(self._path, first_update)
        try:
            self._file = self._path.open("a", encoding="utf-8")
            self._board = _tensorboard(run, first_update) if config.run.tensorboard else None
        except OSError as error:
            raise UserError(f"cannot write into {run}: {reason(error)}") from error

    def write(self, update: int, metrics: dict[str, float]) -> None:
        """One record; values that are not finite are left out."""
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self._file.write(json.dumps({"update": update} | finite) + "\n")
        if self._board is not None:
            for name, value in finite.items():
                self._board.add_scalar(name, value, update)
        if self._wandb is not None:
            self._wandb.log({UPDATE: update} | finite)

    def flush(self) -> None:
        """Flush all files; a UserError if the disk is full."""
        try:
            self._file.flush()
            if self._board is not None:
                self._board.flush()
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {reason(error)}") from error

    def close(self) -> None:
        """Close all files; do not write after this."""
        try:
            self._file.close()
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {reason(error)}") from error
        finally:
            if self._board is not None:
                self._board.close()
            if self._wandb is not None:
                self._wandb.finish()


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


def drop_after(path: Path, update: int) -> list[bytes]:
    """Drop later records and a truncated last line; return the dropped records."""
    records = read_records(path)
    remaining = b"".join(line for number, line in records if number <= update)
    if path.exists() and remaining != path.read_bytes():
        outputs.write_text(path, remaining.decode("utf-8"))
    return [line for number, line in records if number > update]


def _tensorboard(run: Path, first_update: int) -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        print("no TensorBoard logs: pip install '.[train]'", file=sys.stderr)
        return None
    purge = first_update + 1 if first_update else None
    return SummaryWriter(str(run / "tensorboard"), purge_step=purge)


def check_wandb() -> None:
    """Check, before any work, that wandb is installed and logged in.

    Raises:
        UserError: it is missing or not logged in.
    """
    try:
        import wandb

        if os.environ.get("WANDB_MODE") in WITHOUT_LOGIN:
            return
        account: object
        if "prompt" in inspect.signature(wandb.login).parameters:
            account = wandb.login(prompt=False)
        else:
            account = wandb.api.api_key
    except ImportError as error:
        raise UserError(NO_WANDB) from error
    except Exception as error:  # whatever wandb raises
        raise UserError(f"run.wandb: W&B does not answer: {one_line(error)}") from error
    if not account:
        raise UserError("run.wandb: W&B knows no login: run `wandb login` or set WANDB_API_KEY")


def _wandb(run: Path, config: Config) -> Any:
    """A W&B run; a resumed run continues the W&B run stored in its folder.

    W&B's own steps never decrease, but updates do when a run resumes from an earlier checkpoint, so
    the axis is the update. wandb itself reads WANDB_ENTITY, WANDB_RUN_GROUP, WANDB_TAGS
    and its other variables; an argument would win over WANDB_PROJECT, WANDB_NAME and WANDB_DIR.
    """
    project, name, folder = (
        os.environ.get(variable) or value
        for variable, value in (
            ("WANDB_PROJECT", PROJECT), ("WANDB_NAME", run.name), ("WANDB_DIR", str(run)),
        )
    )  # fmt: skip
    try:
        import wandb

        wandb_run = wandb.init(
            project=project, name=name, dir=folder, config=configs.to_dict(config),
            id=_wandb_id(run), resume="allow", allow_val_change=True,
        )  # fmt: skip
        wandb_run.define_metric(UPDATE, hidden=True)
        wandb_run.define_metric("*", step_metric=UPDATE)
        return wandb_run
    except ImportError as error:
        raise UserError(NO_WANDB) from error
    except Exception as error:  # whatever wandb raises
        raise UserError(f"run.wandb: W&B does not start: {one_line(error)}") from error


def _wandb_id(run: Path) -> str:
    """The id of a run folder's W&B run, drawn at the first use."""
    path = run / "wandb" / WANDB_ID
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        outputs.write_text(path, secrets.token_hex(4))
    return path.read_text(encoding="utf-8").strip()
