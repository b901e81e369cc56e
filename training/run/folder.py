"""The folder of a run: what a command line asks for, whether it can be done, and its logs."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from training import config as configs
from training import zoo
from training.agents import check_agent
from training.config import Config, UserError
from training.learn.checkpoint import ASIDE, Checkpoints, free_path, number_of, split_update
from training.run import provenance
from training.run.logs import RECORDS, Logs, NoLogs, check_wandb, drop_after, read_records
from training.system import atomic_files, cli, processes
from training.types import Environment

if TYPE_CHECKING:
    from training.learn.loop import Trainer


CONFIG = "config.yaml"  # in the folder of a run


class Start(NamedTuple):
    """What a command line asks for."""

    config: Config
    run: Path | None  # to resume; None: a new one
    update: int | None  # to resume from; None: the latest that is whole


def planned(config_path: str | None, resume: str | None, overrides: list[str]) -> Config | None:
    """The configuration of a run before JAX starts, which reading a checkpoint makes it do.

    Returns:
        None where there is none, or it is wrong: `resolve` says what is.
    """
    path = config_path
    if path is None and resume is not None:
        path = str(Path(split_update(resume)[0]) / CONFIG)
    with contextlib.suppress(UserError):
        return configs.load(path, overrides) if path else None
    return None


def resolve(config_path: str | None, resume: str | None, overrides: list[str]) -> Start:
    """The configuration of a run: of the file, or of the run to resume, with overrides.

    Args:
        resume: RUN or RUN@UPDATE.
    Raises:
        UserError: neither is given, or a resumed run would change what it depends on.
    """
    if resume is None:
        if config_path is None:
            raise UserError("give --config FILE, or --resume RUN")
        return Start(configs.load(config_path, overrides), None, None)
    run, at = split_update(resume)
    update = number_of(resume, at)
    checkpoints = Checkpoints(run)
    _, old = checkpoints.about(checkpoints.whole(update))
    new = configs.load(config_path, overrides) if config_path else configs.override(old, overrides)
    changed = configs.differences(old, new)
    if changed:
        raise UserError(f"a resumed run cannot change {'; '.join(changed)}")
    return Start(new, Path(run), update)


def opponents(config: Config) -> list[str]:
    """The names of `eval.opponents`."""
    return [name.strip() for name in config.eval.opponents.split(",")]


def check(start: Start, env: Environment, runs: Path = Path("runs")) -> None:
    """Refuse what would fail later, before any work: opponents, logs, folders."""
    config = start.config
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
    """The folder and the logs of a new run; a start that is refused leaves nothing."""
    group = trainer.group
    if not group.is_main:
        trainer.run = Path(group.first(""))
        processes.check_folder(group, trainer.run)
        return NoLogs()
    run = trainer.run = new_folder(trainer.config.name)
    try:
        atomic_files.write_text(run / CONFIG, configs.to_yaml(trainer.config))
        provenance.started(run, 0, trainer.env)
        group.first(str(run))
        processes.check_folder(group, run)
        return Logs(run, trainer.config)
    except BaseException:
        shutil.rmtree(run, ignore_errors=True)
        with contextlib.suppress(OSError):
            run.parent.rmdir()  # only where nothing is in it
        raise


def open_again(trainer: Trainer) -> Logs:
    """The logs of a resumed run; what it does not go on from is set aside."""
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
    atomic_files.write_text(run / CONFIG, configs.to_yaml(trainer.config))
    provenance.started(run, update, trainer.env)
    group.all(None)
    return Logs(run, trainer.config, update)
