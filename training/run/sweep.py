"""The runs of a sweep: their progress, and all of them as shards of `training.system.jobs`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.outputs import folder_lock, lock

from .. import config as configs
from ..config import Config
from ..games import arena
from ..learn.checkpoint_paths import FOLDER, free_path
from ..system import environments, jobs
from ..system.data_files import check_same
from ..types import EnvModule, JsonObject
from . import folder as run_folder
from . import logs, training
from .start import RUNS, Resolved, TrainRequest, check, load

Score = tuple[str, int]  # an opponent, and the number of games
SWEEPS = RUNS / ".sweeps"  # results of runs and scores, in a folder for each sweep
WAITING, STOPPED, DONE = "waiting", "stopped", "done"
WANDB_GROUP = "WANDB_RUN_GROUP"


class State(NamedTuple):
    """The progress of a run."""

    status: str  # WAITING, STOPPED or DONE; `--list` also has those that run
    update: int = 0  # the last one in its records
    checkpoint: int = 0  # the update to resume from; 0: there is none


def state_of(config: Config) -> State:
    """The progress of a run according to its folder.

    Raises:
        UserError: its folder holds a run of another configuration.
    """
    run = RUNS / config.name
    if not run.is_dir():
        return State(WAITING)
    if not (run / configs.OF_A_RUN).is_file():
        raise UserError(f"{run} exists and is not a run of this sweep: move it away")
    stored = configs.load(run / configs.OF_A_RUN)
    check_same(run, *(configs.flat(configs.of_a_run(x)) for x in (stored, config)))
    records = logs.read_records(run / logs.RECORDS)
    saved = [int(path.name) for path in (run / FOLDER).glob("[0-9]*") if path.name.isdigit()]
    status = DONE if run_folder.is_done(run) else STOPPED if saved else WAITING
    return State(status, records[-1][0] if records else 0, max(saved, default=0))


def table(runs: Sequence[Config]) -> str:
    """The runs and their progress."""
    width, rows, states = max(len(run.name) for run in runs), [], [state_of(run) for run in runs]
    for number, (run, state) in enumerate(zip(runs, states, strict=True)):
        status = "running" if _is_running(run) else state.status
        progress = f"update {state.update:,} of {run.run.updates:,}" if state.update else ""
        rows.append(f"{number:>4}  {run.name:<{width}}  {status:<8} {progress}".rstrip())
    done = sum(state.status == DONE for state in states)
    return "\n".join([*rows, f"{done} of {len(runs)} done"])


def _is_running(config: Config) -> bool:
    try:
        with folder_lock(RUNS / config.name):
            return False
    except UserError:  # also without a folder
        return (RUNS / config.name).exists()


@contextlib.contextmanager
def _run_lock(name: str) -> Iterator[None]:
    """Hold a run, even before its folder exists; a UserError if another process holds it."""
    SWEEPS.mkdir(parents=True, exist_ok=True)
    with (SWEEPS / f".{name}.lock").open("a") as file:  # NFS locks only files open for writing
        if not lock(file):
            raise UserError(f"{name} is in use by another process: wait for its end")
        yield


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
    run = RUNS / config.name
    with _run_lock(config.name):
        state, code = state_of(config), 0
        if state.status == STOPPED:
            spent = _seconds_spent(config, state.checkpoint)
            code = training.run(TrainRequest(resume=str(run)), env_module, spent)
        elif state.status == WAITING:
            if run.is_dir():  # without a checkpoint; nothing is deleted
                with folder_lock(run):
                    run.rename(free_path(RUNS, f"{config.name}-without-checkpoint"))
            code = training.run(TrainRequest(config), env_module)
    if code:
        raise KeyboardInterrupt
    result: dict[str, Any] = {"run": config.name}
    if score:
        evaluation, _ = arena.evaluation_of_name(
            arena.EvaluationArgs(str(run), env_name, score[1], score[0])
        )
        report = evaluation.report(evaluation.arena.play(0), 0)
        result["vp_difference"] = report["vp_difference"]["mean"]
    return json.dumps(result).encode()


def _seconds_spent(config: Config, checkpoint: int) -> float:
    """Seconds of the updates up to the checkpoint, according to the records."""
    records = logs.read_records(RUNS / config.name / logs.RECORDS)
    speeds = [json.loads(x).get("time/decisions_per_second") for n, x in records if n <= checkpoint]
    decisions = config.ppo.num_envs * config.ppo.num_steps
    return sum((decisions / float(speed) for speed in speeds if speed), 0.0)


def check_all(runs: Sequence[Config], env_module: EnvModule) -> None:
    """Check all unfinished runs before the first one starts."""
    import jax

    # Agents are looked up on the CPU: accelerators belong to the runs.
    jax.config.update("jax_platforms", "cpu")
    RUNS.mkdir(exist_ok=True)
    for config in runs:
        if state_of(config).status != DONE:
            try:
                check(Resolved(config))
                load(Resolved(config), env_module)
            except UserError as error:
                raise UserError(f"{config.name}: {error}") from error


def train_all(
    name: str, runs: Sequence[Config], env_module: EnvModule, on: jobs.On,
    score: Score | None = None,
) -> tuple[int, list[dict[str, Any]]]:  # fmt: skip
    """Train all unfinished runs, each in a process of its own, and score them on request.

    Args:
        name: of the sweep; a second command of the same one is refused.
    Returns:
        The exit code, 1 if a run has failed, 130 after Ctrl-C; the results of those with a score.
    """
    SWEEPS.mkdir(parents=True, exist_ok=True)
    code = 0

    def note(index: int, error: str) -> None:
        nonlocal code
        code = 1
        print(f"{shards[index].path.stem} failed: {error}", file=sys.stderr)

    with jobs.shard_folder(SWEEPS / name, {"score": score and list(score)}, resume=True) as folder:
        shards = []
        for run in runs:
            path, is_done = folder / f"{run.name}.json", state_of(run).status == DONE
            if not is_done:
                path.unlink(missing_ok=True)
            if score or not is_done:
                args = configs.to_dict(run), name, env_module.__name__, score
                shards.append(jobs.Shard(path, args))
        try:
            jobs.compute(train_run, shards, on, fresh=True, failed=note)
        except KeyboardInterrupt:
            code = 130
        print(table(runs))
        paths = [shard.path for shard in shards if score and shard.path.exists()]
        results = [json.loads(path.read_text("utf-8")) for path in paths]
    if code == 130:
        print("the same command continues the sweep", file=sys.stderr)
    return code, results
