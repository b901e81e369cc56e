"""Compute shards in worker processes or in the tasks of a SLURM array.

The payload, JSON with the function's name and the shards, is a file next to the shards. A worker
writes the error of a shard next to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason, run

from .shard_files import Ended, Shard, compute, lock_folder, names_in_folder

POLL_SECONDS = 0.5
MAX_ARRAY = 100  # tasks of an array by default: each starts Python and compiles once
PAYLOAD, ERROR = "jobs-{}.json", ".error"
MODULE = __name__


def compute_in_processes(
    function: str,
    shards: Sequence[Shard],
    slurm: bool,
    processes: int,
    ended: Ended,
    fresh: bool,
) -> None:
    """Compute shards in worker processes or in the tasks of an array, until all have ended."""
    # A name of its own: two commands may have shards in the same folder, such as two sweeps.
    payload = shards[0].path.with_name(PAYLOAD.format(secrets.token_hex(4)))
    texts = [(str(shard.path), shard.args) for shard in shards]
    outputs.write_json(payload, {"function": function, "shards": texts})
    worker = [sys.executable, "-m", MODULE, str(payload)]
    at_once = min(processes or (MAX_ARRAY if slurm else 1), len(shards))
    if not slurm and 0 < len(gpus := _gpus()) < at_once:
        at_once = len(gpus)
        note = "one for each GPU; JAX_PLATFORMS=cpu computes on the cores"
        print(f"--processes {processes}: {at_once} at a time, {note}", file=sys.stderr)
    tasks = len(shards) if fresh else at_once
    left = dict(enumerate(shards))
    for shard in shards:  # of a command that was killed
        _error_of(shard).unlink(missing_ok=True)
    try:
        if not slurm:
            pinned = ["--pin"] * (at_once > 1)
            commands = [
                [*worker, str(task), str(tasks), "--child", *pinned] for task in range(tasks)
            ]
            running = _local(commands, at_once)
        else:
            running = _slurm(worker, tasks, at_once, payload.parent)
        with contextlib.closing(running):  # type: ignore[type-var]  # a generator
            for _ in running:
                names = names_in_folder(shards)
                for index, shard in list(left.items()):
                    if shard.path.name in names:
                        del left[index]
                        ended(index)
                    elif shard.path.name + ERROR in names:
                        del left[index]
                        ended(index, _error_of(shard).read_text("utf-8"))
    finally:
        payload.unlink(missing_ok=True)
        for shard in shards:
            _error_of(shard).unlink(missing_ok=True)


def _error_of(shard: Shard) -> Path:
    """The file with the error of a shard's function."""
    return shard.path.with_name(shard.path.name + ERROR)


def _environment() -> dict[str, str]:
    """The variables of a worker, which imports the modules of this process."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(os.path.abspath(x) for x in sys.path)}


def _local(commands: list[list[str]], at_once: int) -> Iterator[None]:
    """Run commands, `at_once` at a time; yields while they run and once after."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        while commands or running:
            running = [process for process in running if process.poll() is None]
            while commands and len(running) < at_once:
                # A session of its own: Ctrl-C reaches this process, which ends the others.
                command = commands.pop(0)
                running.append(
                    subprocess.Popen(
                        command, stdin=subprocess.PIPE, start_new_session=True, env=_environment()
                    )
                )
            yield
            time.sleep(POLL_SECONDS if running else 0)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _slurm(worker: list[str], tasks: int, at_once: int, folder: Path) -> Iterator[None]:
    """Submit an array and wait for its end; `SBATCH_PARTITION` and the like are sbatch's own."""
    script = f'exec {shlex.join(worker)} "$SLURM_ARRAY_TASK_ID" {tasks}'
    command = [
        "sbatch", "--parsable", "--wait", "--job-name=gaia", f"--array=0-{tasks - 1}%{at_once}",
        "--cpus-per-task=2", f"--output={folder}/slurm-%A-%a.log", f"--wrap={script}",
    ]  # fmt: skip
    job = ""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=_environment(), stdout=pipe, stderr=pipe) as process:
        assert process.stdout and process.stderr
        try:
            job = process.stdout.readline().decode().partition(";")[0].strip()
            if not job:
                raise UserError(process.stderr.read().decode().strip() or "sbatch gave no job id")
            print(f"array {job} of {tasks} tasks, logs in {folder}", file=sys.stderr)
            while process.poll() is None:
                yield
                time.sleep(POLL_SECONDS)
            job = ""
            yield
        finally:
            process.terminate()
            if job:  # stopped before its end
                subprocess.run(["scancel", job], check=False)


def main(argv: Sequence[str]) -> int:
    """A worker: FILE TASK TASKS [--child] [--pin] computes every TASKS-th shard of the payload."""
    path, task, tasks, *flags = argv
    payload = json.loads(Path(path).read_text("utf-8"))
    function = pkgutil.resolve_name(payload["function"])
    if "--pin" in flags:
        pin()
    if "--child" in flags:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare()
    for shard_path, args in payload["shards"][int(task) :: int(tasks)]:
        shard = Shard(Path(shard_path), args)
        try:
            compute(function, shard)
        except Exception as error:
            outputs.write_text(_error_of(shard), reason(error))
            raise
    return 0


def prepare() -> None:
    """Set JAX's switches if the function's module has imported JAX."""
    if "jax" in sys.modules:
        from . import cli

        cli.prepare()


def _end_with_parent() -> None:
    """Stop like after SIGTERM when the parent is gone, which holds the other end of stdin."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


_locks: list[int] = []  # of this process's core or GPU, held until it ends


def pin() -> None:
    """Give this process a GPU that no other worker has, or without GPUs a core.

    Two processes on the same cores wait for each other at each of a thousand small kernels. Call
    this before the first array.
    """
    if _locks:
        return
    if gpus := _gpus():
        if gpu := _first_free("gpu", gpus):
            os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    elif hasattr(os, "sched_setaffinity"):
        cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
        if core := _first_free("core", cores):
            os.sched_setaffinity(0, {int(core)})


def _gpus() -> list[str]:
    """The GPUs that JAX may use, by number."""
    if os.environ.get("JAX_PLATFORMS") == "cpu":
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [gpu for gpu in visible.split(",") if gpu]
    return sorted(path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))


def _first_free(kind: str, names: Sequence[str]) -> str:
    """Lock and return the first name that no other process of this user has locked; "": none."""
    for name in names:
        handle = os.open(lock_folder() / f"{kind}-{name}", os.O_RDWR | os.O_CREAT, 0o600)
        if outputs.lock(handle):
            _locks.append(handle)
            return name
        os.close(handle)
    return ""


if __name__ == "__main__":
    sys.exit(run(lambda: main(sys.argv[1:])))
