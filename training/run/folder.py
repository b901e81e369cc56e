"""The folder of a run: resolve a request, check it, and open the folder and its logs."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from .. import zoo
from ..agents import check_agent
from ..config import Config
from ..learn.checkpoint import ASIDE, Checkpoints, free_path, number_of, split_update
from ..learn.checkpoint_paths import check_characters
from ..system import atomic_files, cli, process_group
from ..types import Environment
from . import provenance
from .logs import RECORDS, Logs, NoLogs, check_wandb, drop_after, read_records

if TYPE_CHECKING:
    from ..learn.loop import Trainer


class TrainRequest(NamedTuple):
    """The arguments of a training command."""

    config: str | None = None  # a YAML file
    resume: str | None = None  # RUN or RUN@UPDATE
    overrides: tuple[str, ...] = ()  # key=value
    record: Path | None = None  # a folder for records of the evaluations' games


class Start(NamedTuple):
    """A resolved `TrainRequest`."""

    config: Config
    run: Path | None = None  # to resume; None: a new one
    update: int | None = None  # to resume from; None: the latest undamaged one


def planned(request: TrainRequest) -> Config:
    """The configuration of a run, without reading a checkpoint, which would start JAX.

    If the configuration of a resumed run cannot be read, only the process settings of the command
    line are used; `resolve` then reports the problem.
    """
    if request.config:
        return configs.load(request.config, request.overrides)
    if request.resume is not None:
        with contextlib.suppress(UserError):
            stored = configs.load(Path(split_update(request.resume)[0]) / configs.OF_A_RUN)
            return configs.override(configs.of_no_process(stored), request.overrides)
    own = [text for text in request.overrides if text.startswith(configs.OF_A_PROCESS)]
    return configs.override(Config(), [*own, "run.cpu_devices=1"])


def resolve(request: TrainRequest) -> Start:
    """The configuration of a run: of the file, or of the run to resume, with overrides.

    Raises:
        UserError: neither is given, or a resumed run would change what it depends on.
    """
    if request.resume is None:
        if request.config is None:
            raise UserError("give --config FILE, or --resume RUN")
        return Start(configs.load(request.config, request.overrides))
    run, at = split_update(request.resume)
    update = number_of(request.resume, at)
    checkpoints = Checkpoints(run)
    _, old = checkpoints.about(checkpoints.whole(update))
    new = (
        configs.load(request.config, request.overrides)
        if request.config
        else configs.override(old, request.overrides)
    )
    changed = configs.differences(old, new)
    if changed:
        raise UserError(f"a resumed run cannot change {'; '.join(changed)}")
    return Start(new, Path(run), update)


def opponents(config: Config) -> list[str]:
    """The names of `eval.opponents`."""
    return [name.strip() for name in config.eval.opponents.split(",")]


def check(start: Start, env: Environment, runs: Path = Path("runs")) -> None:
    """Check opponents, logs and folders before any work."""
    config = start.config
    check_characters(start.run or runs / config.name)
    if config.run.wandb:
        check_wandb()
    if config.eval.games or config.eval.chunks:
        for name in opponents(config):
            check_agent(name, env)
    if start.run is None:
        if config.run.warm_start:
            zoo.parameters(config.run.warm_start, env)
        atomic_files.check_inside("name", runs)
    else:
        read_records(start.run / RECORDS)
        atomic_files.check_inside("--resume", start.run)


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
