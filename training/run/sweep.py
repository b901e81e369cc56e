"""The runs of a sweep as shards of `training.system.jobs`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.outputs import folder_lock

from .. import config as configs
from ..config import Config
from ..games import arena
from ..learn.checkpoint_paths import FOLDER, free_path
from ..system import environments, jobs
from ..system.data_files import check_same
from ..types import EnvModule, JsonObject
from . import curves, logs, training
from . import folder as run_folder
from .folder import RUNS
from .start import Resolved, TrainRequest, check, load

Score = tuple[str, int]  # an opponent, and the number of games
SWEEPS = RUNS / ".sweeps"  # results of runs in a folder for each sweep, folders that lock runs
WANDB_GROUP = "WANDB_RUN_GROUP"


def is_done(config: Config) -> bool:
    """Whether the run of a configuration has ended.

    Raises:
        UserError: its folder holds no run, or one of another configuration.
    """
    run = RUNS / config.name
    if run.is_dir():
        if not (run / configs.OF_A_RUN).is_file():
            raise UserError(f"{run} exists and is not a run of this sweep: move it away")
        stored = configs.load(run / configs.OF_A_RUN)
        check_same(run, *(configs.flat(configs.of_a_run(x)) for x in (stored, config)))
    return run_folder.is_done(run)


def train_run(tree: JsonObject, group: str, env_name: str, score: Score | None = None) -> bytes:
    """Start or resume one run in this process; returns its result as JSON, with a score on request.

    Args:
        tree: its configuration. group: its name for W&B, which shows the runs of a sweep together.
        env_name: of the module that makes environments.
    Raises:
        KeyboardInterrupt: it was stopped, with a checkpoint.
    """
    config, env_module = configs.from_dict(tree), environments.module(env_name)
    os.environ.setdefault(WANDB_GROUP, group)
    lock = SWEEPS / config.name  # before the run has a folder
    lock.mkdir(parents=True, exist_ok=True)
    with folder_lock(lock):
        if not is_done(config) and _train(config, env_module):
            raise KeyboardInterrupt
    result: dict[str, Any] = {"run": config.name}
    if score:
        args = arena.EvaluationArgs(str(RUNS / config.name), env_name, score[1], score[0])
        evaluation, _ = arena.evaluation_of_name(args)
        report = evaluation.report(evaluation.arena.play(0), 0)
        result["vp_difference"] = report["vp_difference"]["mean"]
    return json.dumps(result).encode()


def _train(config: Config, env_module: EnvModule) -> int:
    """Start a run, or resume it where its last checkpoint is; returns the exit code."""
    run = RUNS / config.name
    if checkpoints := [int(x.name) for x in (run / FOLDER).glob("[0-9]*") if x.name.isdigit()]:
        records = [x for x in curves.read_records(run) if x["update"] <= max(checkpoints)]
        spent = 60 * max((x.get("time/minutes", 0.0) for x in records), default=0.0)
        return training.run(TrainRequest(resume=str(run)), env_module, spent)
    if run.is_dir():  # without a checkpoint; nothing is deleted
        with folder_lock(run):
            run.rename(free_path(RUNS, f"{config.name}-without-checkpoint"))
    return training.run(TrainRequest(config), env_module)


def _progress(config: Config) -> str:
    """The last update in the records of a run."""
    records = logs.read_records(RUNS / config.name / logs.RECORDS)
    return f"update {records[-1][0]:,} of {config.run.updates:,}" if records else "not started"


def train_all(
    name: str, runs: Sequence[Config], env_module: EnvModule, on: jobs.On,
    score: Score | None = None,
) -> tuple[int, list[dict[str, Any]]]:  # fmt: skip
    """Train all unfinished runs, each in a process of its own, and score them on request.

    Args:
        name: of the sweep; a second command of the same one is refused.
    Returns:
        The exit code, 1 if a run has failed, 130 after Ctrl-C; the results of finished runs.
    Raises:
        UserError: a run cannot start; none has.
    """
    import jax

    # Agents are looked up on the CPU: accelerators belong to the runs.
    jax.config.update("jax_platforms", "cpu")
    unfinished = [config for config in runs if not is_done(config)]
    for config in unfinished:
        try:
            curves.read_records(RUNS / config.name)
            check(Resolved(config))
            load(Resolved(config), env_module)
        except UserError as error:
            raise UserError(f"{config.name}: {error}") from error
    SWEEPS.mkdir(parents=True, exist_ok=True)
    with jobs.shard_folder(SWEEPS / name, {"score": score and list(score)}, resume=True) as folder:
        shards = []
        for config in runs:
            args = configs.to_dict(config), name, env_module.__name__, score
            shards.append(jobs.Shard(folder / f"{config.name}.json", args))
            if config in unfinished:
                shards[-1].path.unlink(missing_ok=True)
        failed = list[int]()
        try:
            failed = jobs.compute(train_run, shards, on, fresh=True)
            code = 1 if failed else 0
        except KeyboardInterrupt:
            code = 130
            print("the same command continues the sweep", file=sys.stderr)
        results = [json.loads(x.path.read_text("utf-8")) for x in shards if x.path.exists()]
    for index, (config, shard) in enumerate(zip(runs, shards, strict=True)):
        if not shard.path.exists():
            print(f"{config.name}: {'failed' if index in failed else _progress(config)}")
    print(f"{len(results)} of {len(runs)} done")
    return code, results
