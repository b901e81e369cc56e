"""The folder of a run: create or reopen it with its logs."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..learn.checkpoint_paths import ASIDE, free_path
from ..system import atomic_files, cli, process_group
from . import provenance
from .logs import RECORDS, Logs, NoLogs, drop_after, read_records

if TYPE_CHECKING:
    from ..learn.loop import Trainer


def new_folder(name: str, runs: Path = Path("runs")) -> Path:
    """Make runs/NAME, or the first of runs/NAME-2, -3, ... that does not exist.

    Two runs of one name that start at once get a folder each.
    """
    try:
        runs.mkdir(exist_ok=True)
        while True:
            folder = free_path(runs, name)
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as error:
        raise UserError(f"cannot make a folder in {runs}: {cli.reason(error)}") from error


def open_new(trainer: Trainer) -> Logs:
    """Create the folder and the logs of a new run; a failed start leaves nothing."""
    group = trainer.group
    if not group.is_main:
        trainer.run = Path(group.first(""))
        process_group.check_folder(group, trainer.run)
        return NoLogs()
    run = trainer.run = new_folder(trainer.config.name)
    try:
        atomic_files.write_text(run / configs.OF_A_RUN, configs.to_yaml(trainer.config))
        provenance.started(run, 0, trainer.env)
        group.first(str(run))
        process_group.check_folder(group, run)
        return Logs(run, trainer.config)
    except BaseException:
        _remove(run)
        raise


@contextlib.contextmanager
def failed_start_removed(trainer: Trainer) -> Iterator[None]:
    """Remove the folder of a new run that fails before its first chunk is done.

    Ctrl-C is not a failure: it leaves a checkpoint to resume from.
    """
    try:
        yield
    except Exception:
        if trainer.chunks == 0:
            _remove(trainer.run)
        raise


def _remove(run: Path) -> None:
    """Remove the folder of a run, and its parent if that is empty."""
    shutil.rmtree(run, ignore_errors=True)
    with contextlib.suppress(OSError):
        run.parent.rmdir()


def open_again(trainer: Trainer) -> Logs:
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
        atomic_files.write_text(goal, b"".join(dropped).decode("utf-8"))
        drop_after(run / RECORDS, update)
    atomic_files.write_text(run / configs.OF_A_RUN, configs.to_yaml(trainer.config))
    provenance.started(run, update, trainer.env)
    group.all(None)
    return Logs(run, trainer.config, update)
