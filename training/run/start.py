"""The start of a run: a request becomes a configuration, and what that names is loaded once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from .. import config as configs
from .. import zoo
from ..agents import Agent
from ..config import Config
from ..games import records
from ..games.arena import make_opponent
from ..learn.checkpoint import Checkpoints
from ..learn.checkpoint_paths import check_characters, number_of, split_update
from ..learn.loop import Inputs
from ..types import EnvModule
from .logs import RECORDS, check_wandb, read_records

RUNS = Path("runs")


class TrainRequest(NamedTuple):
    """The arguments of a training command."""

    config: str | None = None  # a YAML file
    resume: str | None = None  # RUN or RUN@UPDATE
    overrides: tuple[str, ...] = ()  # key=value
    record: Path | None = None  # a folder for records of the evaluations' games


class Resolved(NamedTuple):
    """A `TrainRequest` whose files have been read."""

    config: Config
    run: Path | None = None  # to resume; None: a new one
    update: int | None = None  # of the checkpoint to resume from
    record: Path | None = None

    @property
    def folder(self) -> Path:
        """The run folder; a new run whose name is taken gets another one."""
        return self.run or RUNS / self.config.name


class Start(NamedTuple):
    """What a run begins with."""

    inputs: Inputs
    opponents: tuple[Agent, ...]  # of `eval.opponents`; () if nothing is evaluated


def request_config(request: TrainRequest) -> Config:
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


def resolve(request: TrainRequest) -> Resolved:
    """The configuration of a run: of the file, or of the run to resume, with overrides.

    Raises:
        UserError: neither is given, or a resumed run would change what it depends on.
    """
    if request.resume is None:
        if request.config is None:
            raise UserError("give --config FILE, or --resume RUN")
        return Resolved(configs.load(request.config, request.overrides), record=request.record)
    run, at = split_update(request.resume)
    checkpoints = Checkpoints(run)
    update = checkpoints.latest_undamaged(number_of(request.resume, at))
    _, old = checkpoints.about(update)
    new = (
        configs.load(request.config, request.overrides)
        if request.config
        else configs.override(old, request.overrides)
    )
    changed = configs.differences(old, new)
    if changed:
        raise UserError(f"a resumed run cannot change {'; '.join(changed)}")
    return Resolved(new, Path(run), update, request.record)


def opponents(config: Config) -> list[str]:
    """The names of `eval.opponents`."""
    return [name.strip() for name in config.eval.opponents.split(",")]


def load(resolved: Resolved, env_module: EnvModule) -> Start:
    """Make the environment and the network; load the warm start and the opponents.

    Raises:
        UserError: something that the configuration names is missing or of another game.
    """
    config = resolved.config
    inputs = Inputs.of(config, env_module)
    if config.run.warm_start and resolved.run is None:
        inputs = inputs._replace(warm_start=zoo.parameters(config.run.warm_start, inputs.env))
    names = opponents(config) if config.eval.games or config.eval.chunks else []
    return Start(inputs, tuple(make_opponent(name, inputs.env) for name in names))


def check(resolved: Resolved) -> None:
    """Check logs and folders before any work."""
    config = resolved.config
    check_characters(resolved.folder)
    if config.run.wandb:
        check_wandb()
    if resolved.run is None:
        outputs.check_inside("name", RUNS)
    else:
        read_records(resolved.run / RECORDS)
        outputs.check_inside("--resume", resolved.run)
    if resolved.record:
        records.check(resolved.record, resume=True)
