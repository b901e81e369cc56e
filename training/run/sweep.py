"""The runs of a sweep: their table, and all of them as shards of `training.system.jobs`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gaia_jax.cli.command_line import UserError

from ..games import arena
from ..system import environments, jobs
from ..types import EnvModule, JsonObject
from . import sweep_file, training
from .start import RUNS, Resolved, TrainRequest, check, load
from .sweep_file import DONE, STOPPED, Member, State

Score = tuple[str, int]  # an opponent, and the number of games
WANDB_GROUP = "WANDB_RUN_GROUP"


def table(members: Sequence[Member], states: Sequence[State]) -> str:
    """The runs and their progress."""
    wide = max(len(member.name) for member in members)
    rows = []
    for number, (member, state) in enumerate(zip(members, states, strict=True)):
        far = f"update {state.update:,} of {member.config.run.updates:,}" if state.update else ""
        rows.append(f"{number:>4}  {member.name:<{wide}}  {state.status:<8} {far}".rstrip())
    done = sum(state.status == DONE for state in states)
    return "\n".join([*rows, f"{done} of {len(members)} done"])


def check_all(members: Sequence[Member], states: Sequence[State], env_module: EnvModule) -> None:
    """Check all unfinished runs before the first one starts."""
    import jax

    # Agents are looked up on the CPU: accelerators belong to the runs.
    jax.config.update("jax_platforms", "cpu")
    RUNS.mkdir(exist_ok=True)
    for member, state in zip(members, states, strict=True):
        if state.status != DONE:
            try:
                check(Resolved(member.config))
                load(Resolved(member.config), env_module)
            except UserError as error:
                raise UserError(f"{member.name}: {error}") from error


def train_member(tree: JsonObject, env_name: str, score: Score | None = None) -> bytes:
    """Start or resume one run in this process; returns its result as JSON, with a score on request.

    Args:
        tree: of the `Member`. env_name: of the module that makes environments.
    Raises:
        KeyboardInterrupt: it was stopped, with a checkpoint.
    """
    member, env_module = Member.from_dict(tree), environments.module(env_name)
    os.environ.setdefault(WANDB_GROUP, member.sweep)  # W&B shows the runs of a sweep together
    with sweep_file.lock_member(member, RUNS):
        status, code = sweep_file.left_at(member, RUNS).status, 0
        if status == STOPPED:
            request = TrainRequest(resume=str(RUNS / member.name))
            spent = sweep_file.seconds_spent(member, RUNS)
            code = training.run(request, env_module, spent)
        elif status != DONE:
            sweep_file.set_aside(member, RUNS)
            code = training.run(TrainRequest(member.config), env_module)
    if code:
        raise KeyboardInterrupt
    result: dict[str, Any] = {"run": member.name}
    if score:
        opponent, games = score
        run = str(RUNS / member.name)
        args = arena.EvaluationArgs(run, env_name, games, opponent)
        evaluation, _ = arena.evaluation_of_name(args)
        report = evaluation.report(evaluation.arena.play(0), 0)
        result |= {"opponent": opponent, "games": games}
        result["vp_difference"] = report["vp_difference"]["mean"]
    return json.dumps(result).encode()


def _score_of(path: Path) -> Score | None:
    """The opponent and the games of a stored result."""
    result = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return (result["opponent"], result["games"]) if "opponent" in result else None


def train_all(
    members: Sequence[Member], env_module: EnvModule, on: jobs.On, score: Score | None = None
) -> int:
    """Train all unfinished runs, each in a process of its own, and score them on request.

    Returns:
        The exit code: 1 if a run has failed, 130 after Ctrl-C.
    """
    folder = RUNS / sweep_file.LOCKS
    folder.mkdir(parents=True, exist_ok=True)
    runs, failed = [], set[str]()
    for member in members:
        path, args = folder / f"{member.name}.json", (member.to_dict(), env_module.__name__, score)
        is_done = sweep_file.left_at(member, RUNS).status == DONE
        if not is_done or (score and _score_of(path) != score):
            path.unlink(missing_ok=True)
        if score or not is_done:
            runs.append(jobs.Shard(path, args))

    def note(index: int, error: str) -> None:
        name = runs[index].path.stem
        failed.add(name)
        print(f"{name} failed: {error}", file=sys.stderr)

    try:
        jobs.compute(train_member, runs, on, fresh=True, failed=note)
        code = 1 if failed else 0
    except KeyboardInterrupt:
        code = 130
    print(table(members, [sweep_file.state(member, RUNS) for member in members]))
    if code == 130:
        print("the same command continues the sweep", file=sys.stderr)
    return code
