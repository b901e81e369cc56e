"""The start of a run: join the processes, then load the files of the request, each once."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jax

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, check_system

from .. import config as configs
from ..agents import Agent
from ..config import Config
from ..games import records
from ..games.arena import make_opponent
from ..learn.checkpoint import Checkpoints, load_warm_start
from ..learn.checkpoint_paths import (
    check_characters,
    check_round_trip,
    number_of,
    split_update,
)
from ..learn.trainer import Inputs
from ..system import devices, process_group, processes
from ..system.process_group import ProcessGroup
from ..types import EnvModule
from .folder import RUNS
from .logs import RECORDS, check_sink, read_records


class TrainRequest(NamedTuple):
    """The arguments of a training command."""

    config: Config | str | None = None  # or a YAML file
    resume: str | None = None  # RUN or RUN@UPDATE
    overrides: tuple[str, ...] = ()  # key=value
    record: Path | None = None  # a folder for records of the evaluations' games


class Resolved(NamedTuple):
    """A `TrainRequest` whose files have been read."""

    config: Config  # of `configs.of_a_run`
    run: Path | None = None  # to resume; None: a new one
    update: int | None = None  # of the checkpoint to resume from
    record: Path | None = None

    @property
    def folder(self) -> Path:
        """The run folder; a new run whose name is taken gets another one."""
        return self.run or RUNS / self.config.name


class Start(NamedTuple):
    """The state that a run begins with."""

    resolved: Resolved
    inputs: Inputs
    opponents: tuple[Agent, ...]  # of `eval.opponents`; () if nothing is evaluated


@contextlib.contextmanager
def begin(request: TrainRequest, env_module: EnvModule) -> Iterator[tuple[ProcessGroup, Start]]:
    """Join the training processes before JAX starts, split each CPU into devices, load the start.

    Raises:
        UserError: the request, or something that the configuration names, is wrong.
    """
    check_system()
    config = _read(request)
    resolved = Resolved(configs.of_a_run(config), record=request.record)
    warnings = configs.rising_schedules(config)
    place = processes.place_of(config.hosts)
    versions = processes.versions() | {"--resume": request.resume or ""}
    with processes.join(place, versions) as group:
        split = config.run.cpu_devices, config.ppo.num_envs // place.size, config.ppo.game_blocks
        devices.split_cpu(*split)
        if request.resume is not None:
            resolved = _resume(request)
            warnings = configs.rising_schedules(resolved.config)
        if not group.alone:
            process_group.check_same(group, configs.flat(resolved.config))
            jax.devices()  # all processes at once: a single one would wait in vain
        if group.is_main:
            check(resolved)
            for warning in warnings:
                print(f"warning: {warning}", file=sys.stderr)
            if group.alone:  # orbax would wait for the other processes
                check_round_trip(resolved.folder)
        start = load(resolved, env_module)
        env, warm_start = start.inputs.env, start.inputs.warm_start
        name = warm_start.name if warm_start else ""
        same = {"env": f"{env.id} {env.version}", "run.warm_start": name}
        process_group.check_same(group, same)
        process_group.check_shared(group, resolved.run or RUNS)
        yield group, start


def _read(request: TrainRequest) -> Config:
    """The configuration of a run, without reading a checkpoint, which would start JAX.

    If the configuration of a resumed run cannot be read, only the process settings of the command
    line are used; `_resume` then reports the problem.
    """
    if isinstance(request.config, Config):
        return request.config
    if request.config is not None:
        return configs.load(request.config, request.overrides)
    if request.resume is None:
        raise UserError("give --config FILE, or --resume RUN")
    with contextlib.suppress(UserError):
        stored = configs.load(Path(split_update(request.resume)[0]) / configs.OF_A_RUN)
        return configs.override(stored, request.overrides)
    own = [text for text in request.overrides if text.startswith(configs.OF_A_PROCESS)]
    return configs.override(Config(), [*own, "run.cpu_devices=1"])


def _resume(request: TrainRequest) -> Resolved:
    """The run to resume, with overrides.

    Raises:
        UserError: it has no undamaged checkpoint, would change what it depends on, or its last
            chunk would pass `run.updates`.
    """
    assert request.resume is not None
    run, at = split_update(request.resume)
    checkpoints = Checkpoints(run)
    update = checkpoints.latest_undamaged(number_of(request.resume, at))
    _, old = checkpoints.about(update)
    new = _read(request) if request.config else configs.override(old, request.overrides)
    if changed := configs.differences(old, new):
        raise UserError(f"a resumed run cannot change {'; '.join(changed)}")
    remaining, chunk = new.run.updates - update, new.run.updates_per_chunk
    if remaining > 0 and remaining % chunk:
        raise UserError(
            f"run.updates_per_chunk must divide the {remaining} updates after the checkpoint of "
            f"update {update}, got {chunk}"
        )
    return Resolved(configs.of_a_run(new), Path(run), update, request.record)


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
        inputs = inputs._replace(warm_start=load_warm_start(config.run.warm_start, inputs.env))
    names = opponents(config) if config.eval.games or config.eval.chunks else []
    return Start(resolved, inputs, tuple(make_opponent(name, inputs.env) for name in names))


def check(resolved: Resolved) -> None:
    """Check logs and folders before any work."""
    config = resolved.config
    check_characters(resolved.folder)
    check_sink(config.track.sink)
    if resolved.run is None:
        outputs.check_inside("name", RUNS)
    else:
        read_records(resolved.run / RECORDS)
        outputs.check_inside("--resume", resolved.run)
    if resolved.record:
        records.check(resolved.record, resume=True)
