"""Training by self-play: start or resume a run, train it in chunks, evaluate it."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import wrote
from gaia_jax.cli.progress import status_line

from ..games.report import format_evaluation
from ..learn.learner_state import Hyper
from ..learn.trainer import Trainer
from ..system import cli, signals
from ..types import EnvModule
from .evaluation import RunEvaluation, evaluations_of
from .folder import COMPLETE, INTERRUPTED, OUT_OF_TIME, open_folder, record_end
from .logs import Logs, OnUpdate
from .start import Start, TrainRequest, begin


class Interrupt:
    """Records the first Ctrl-C (or SIGTERM), so that the running chunk ends and is saved.

    The second one raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.asked = False

    def note(self, *_: object) -> None:
        """The signal handler."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print(
            "\nstopping after this chunk, with a checkpoint; again to stop at once", file=sys.stderr
        )


def train(trainer: Trainer, logs: Logs, evaluations: Sequence[RunEvaluation]) -> bool:
    """Chunks until the run is complete, out of time or interrupted, with logs and checkpoints.

    Returns:
        Whether it was interrupted.
    """
    config, group = trainer.config, trainer.group
    start_time = time.monotonic() - trainer.spent
    limit = config.run.max_minutes * 60
    stop_requested, interrupt = False, Interrupt()
    with signals.handling(interrupt.note):
        try:
            progress = cli.bar("update", config.run.updates, trainer.update, group.is_main)
            longest = 0.0
            while trainer.update < config.run.updates:
                stop_requested = any(group.all(interrupt.asked))
                if stop_requested:
                    break
                spent = time.monotonic() - start_time
                due = limit and (trainer.chunks or trainer.spent) and spent + longest > limit
                if group.first(due):
                    print("\nout of time: run.max_minutes", file=sys.stderr)
                    break
                start = time.monotonic()
                records = trainer.advance()
                seconds = time.monotonic() - start
                _report(trainer, records, seconds, logs, progress)
                chunks = trainer.update // config.run.updates_per_chunk  # of all starts
                if evaluations and chunks % config.eval.chunks == 0:
                    for evaluation in evaluations:
                        logs.write(trainer.update, evaluation.measure())
                logs.flush()  # before the checkpoint: a resumed run drops what comes after one
                if chunks % config.run.checkpoint_chunks == 0:
                    trainer.save()
                longest = max(longest, time.monotonic() - start)
            stop_requested = stop_requested or any(group.all(interrupt.asked))
            progress.close()
        finally:
            try:
                logs.flush()
                # After a failure of one process, the others cannot write with it.
                if group.alone or sys.exc_info()[0] is None:
                    trainer.save()
            finally:
                logs.close()
    return stop_requested or (group.alone and interrupt.asked)


def _report(
    trainer: Trainer,
    records: list[dict[str, float]],
    seconds: float,
    logs: Logs,
    progress: tqdm[Any],
) -> None:
    """Log the updates of a chunk and show their means."""
    ppo_config = trainer.config.ppo
    decisions = ppo_config.num_envs * ppo_config.num_steps
    speed = decisions * len(records) / seconds
    first = trainer.update - len(records) + 1
    updates_before = jnp.arange(first - 1, trainer.update)
    learning_rates = Hyper.of(trainer.config).between("lr", "lr_end", updates_before)
    for update, record in enumerate(records, first):
        seats = trainer.env.num_players * record["games/ended"]
        record["games/vp"] = record.pop("games/vp_sum") / seats if seats else math.nan
        record["games/reward"] = record.pop("games/reward_sum") / seats if seats else math.nan
        record["time/decisions_per_second"] = speed
        record["time/decisions"] = float(update * decisions)
        record["policy/learning_rate"] = float(learning_rates[update - first])
        logs.write(update, record)

    def mean(name: str) -> float:
        values = [r[name] for r in records if math.isfinite(r[name])]
        return float(np.mean(values)) if values else math.nan

    # A short run ends its first game late.
    vp = f"{mean('games/vp'):.1f}" if math.isfinite(mean("games/vp")) else "-"
    progress.set_postfix_str(
        f"{speed:,.0f} decisions/s, VP {vp}, policy {mean('loss/policy'):+.4f}, "
        f"value {mean('loss/value'):.4f}, entropy {mean('policy/entropy'):.3f}",
        refresh=False,
    )
    progress.update(len(records))


def run(request: TrainRequest, env_module: EnvModule, spent: float = 0.0) -> int:
    """Train, alone or together with other processes, then evaluate.

    Args:
        spent: seconds that count as spent of `run.max_minutes` already.
    Returns:
        The exit code; 130 after Ctrl-C.
    """
    return train_run(request, env_module, spent)[0]


def train_run(
    request: TrainRequest,
    env_module: EnvModule,
    spent: float = 0.0,
    on_update: OnUpdate | None = None,
) -> tuple[int, Path]:
    """`run`, with a callback of process 0; returns the exit code and the run folder."""
    with contextlib.ExitStack() as stack:
        group, start = stack.enter_context(begin(request, env_module))
        is_new, run = start.resolved.run is None, start.resolved.folder
        if not is_new:
            group.hint = f"; continue with --resume {run}"
            if group.is_main:
                stack.enter_context(outputs.folder_lock(run))
        task = "dealing the first games" if is_new else f"reading {run}"
        with status_line(lambda: task, group.is_main):
            trainer = Trainer(start.inputs, run, start.resolved.update, group)
        trainer.spent = spent
        with cli.compiling("the training step"):
            trainer.compile()
        logs = stack.enter_context(open_folder(trainer, is_new))
        logs.on_update = on_update
        return finish(trainer, logs, start), trainer.run


def finish(trainer: Trainer, logs: Logs, start: Start) -> int:
    """Train, then evaluate; return the exit code."""
    config, run, group = trainer.config, trainer.run, trainer.group
    record = start.resolved.record
    games = config.eval.chunk_games if config.eval.chunks else 0
    chunk_evaluations = evaluations_of(trainer, start.opponents, games, record)
    among = "" if group.alone else f" of {group.place.size} processes"
    if group.is_main:
        print(
            f"run {run}: {trainer.env.id} {trainer.env.version}, "
            f"{jax.device_count()} device(s){among}",
            file=sys.stderr,
        )
    if train(trainer, logs, chunk_evaluations):
        if group.is_main:
            message = f"checkpoint at update {trainer.update}; continue with --resume {run}"
            print(message, file=sys.stderr)
            record_end(run, trainer.update, INTERRUPTED)
        return 130
    if group.is_main:
        for path in run.glob("evaluation*.json"):  # of an earlier start
            path.unlink()
    evaluations = evaluations_of(trainer, start.opponents, config.eval.games, record)
    for number, evaluation in enumerate(evaluations, 1):
        report = evaluation.report("end-", quiet=not group.is_main)
        report = {"run": str(run), "update": trainer.update} | report
        if group.is_main:
            name = "evaluation.json" if number == 1 else f"evaluation-{number}.json"
            outputs.write_json(run / name, report)
            print(format_evaluation(report))
            wrote(run / name)
    if group.is_main:
        wrote(record)
        complete = trainer.update >= config.run.updates
        record_end(run, trainer.update, COMPLETE if complete else OUT_OF_TIME)
    return 0
