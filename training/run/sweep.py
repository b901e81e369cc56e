"""The runs of a sweep: their table, one run in this process, or all in a queue."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gaia_jax.cli.command_line import UserError

from ..system import signals
from ..types import EnvModule
from . import sweep_file, training
from .start import RUNS, Resolved, TrainRequest, check, load
from .sweep_file import DONE, RUNNING, STOPPED, Member, State

WANDB_GROUP = "WANDB_RUN_GROUP"
AGAIN = 2.0  # seconds between two checks of runs that other processes hold


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


def train_member(member: Member, env_module: EnvModule, under_queue: bool) -> int:
    """Start or resume one run in this process; return the exit code of the training."""
    if under_queue:
        threading.Thread(target=_follow, daemon=True).start()
    os.environ.setdefault(WANDB_GROUP, member.sweep)  # W&B shows the runs of a sweep together
    with sweep_file.lock_member(member, RUNS):
        status = sweep_file.left_at(member, RUNS).status
        if status == DONE:
            print(f"{member.name} is done", file=sys.stderr)
            return 0
        if status == STOPPED:
            request = TrainRequest(resume=str(RUNS / member.name))
            spent = sweep_file.seconds_spent(member, RUNS)
            return training.run(request, env_module, spent)
        sweep_file.set_aside(member, RUNS)
        return training.run(TrainRequest(member.config), env_module)


def _follow() -> None:
    """Stop as by Ctrl-C when the queue ends, which holds the other end of stdin."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


class Queue:
    """The runs of a sweep one after another, each in a process of its own."""

    def __init__(self, file: Path, members: Sequence[Member], command: Sequence[str]):
        """`command`: starts this with the file, to which `--index` is added."""
        self._file, self._members, self._command = file, members, command
        self._child: subprocess.Popen[bytes] | None = None
        self._asked = False

    def run(self) -> int:
        """Run all unfinished ones; return the exit code."""
        failed: list[Member] = []
        left = list(range(len(self._members)))
        with self._signals():
            while left and not self._asked:
                index, state = self._next(left)
                if index is None:
                    time.sleep(AGAIN)
                    continue
                left.remove(index)
                if state.status == DONE:
                    continue
                code = self._process(index, state)
                if code and not self._asked:
                    failed.append(self._members[index])
        states = [sweep_file.state(member, RUNS) for member in self._members]
        print(table(self._members, states))
        if self._asked:
            print("the same command continues the sweep", file=sys.stderr)
            return 130
        for member in failed:
            print(f"failed: {member.name}", file=sys.stderr)
        return 1 if failed else 0

    def _next(self, left: Sequence[int]) -> tuple[int | None, State]:
        """The first run that no other process holds."""
        for index in left:
            state = sweep_file.state(self._members[index], RUNS)
            if state.status != RUNNING:
                return index, state
        return None, state

    def _process(self, index: int, state: State) -> int:
        """Start one run as a process; return its exit code."""
        member = self._members[index]
        far = f", from update {state.update:,}" if state.status == STOPPED else ""
        print(f"run {index + 1} of {len(self._members)}: {member.name}{far}", file=sys.stderr)
        line = [*self._command, "--index", str(index), "--under-queue"]
        # A session of its own: only the queue receives Ctrl-C and forwards it once.
        self._child = subprocess.Popen(line, stdin=subprocess.PIPE, start_new_session=True)
        if self._asked:
            self._child.send_signal(signal.SIGINT)
        try:
            return self._child.wait()
        finally:
            if self._child.stdin:
                self._child.stdin.close()
            self._child = None

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Pass Ctrl-C and SIGTERM on to the run."""

        def note(*_: object) -> None:
            self._asked = True
            if self._child is not None:
                self._child.send_signal(signal.SIGINT)

        with signals.handling(note):
            yield
