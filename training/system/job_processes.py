"""Compute shards in worker processes or in the tasks of a SLURM array.

The payload, JSON with the function's name and the shards, is in a folder next to the shards, where
a worker writes the error of a shard.
"""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason, run

from .shard_files import On, Results, Shard, lock_folder, write_missing

POLL_SECONDS = 0.5
MAX_ARRAY = 100  # tasks of an array by default: each starts Python and compiles once
PAYLOAD = "payload.json"

Polls = Generator[None, None, None]  # while workers run, and once after


def compute_in_processes(function: str, work: Mapping[int, Shard], on: On, fresh: bool) -> Results:
    """Compute shards in worker processes or in the tasks of an array, until all have ended."""
    left, is_array = dict(work), on.backend == "slurm"
    at_once = min(on.processes or (MAX_ARRAY if is_array else 1), len(work))
    if not is_array and 0 < len(gpus := _gpus()) < at_once:
        at_once = len(gpus)
        note = "one for each GPU; JAX_PLATFORMS=cpu computes on the cores"
        print(f"--processes {on.processes}: {at_once} at a time, {note}", file=sys.stderr)
    tasks, folder = len(work) if fresh else at_once, next(iter(work.values())).path.parent
    with tempfile.TemporaryDirectory(dir=folder, prefix="jobs-") as name:
        payload = Path(name) / PAYLOAD
        texts = {index: (str(shard.path), shard.args) for index, shard in work.items()}
        outputs.write_json(payload, {"function": function, "shards": texts})
        worker = [sys.executable, "-m", __name__, str(payload)]
        flags = ["--child", *["--pin"] * (at_once > 1)]
        commands = [[*worker, str(task), str(tasks), *flags] for task in range(tasks)]
        running = _array(worker, tasks, at_once, folder) if is_array else _local(commands, at_once)
        with contextlib.closing(running):
            for _ in running:
                errors, names = set(os.listdir(name)), set(os.listdir(folder))
                for index, shard in list(left.items()):
                    if str(index) in errors:
                        del left[index]
                        yield index, UserError((Path(name) / str(index)).read_text("utf-8"))
                    elif shard.path.name in names:
                        del left[index]
                        yield index, None


def _environment() -> dict[str, str]:
    """The variables of a worker, which imports the modules of this process."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(os.path.abspath(x) for x in sys.path)}


def _local(commands: list[list[str]], at_once: int) -> Polls:
    """Run commands, `at_once` at a time; yields while they run and once after."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        while commands or running:
            running = [process for process in running if process.poll() is None]
            while commands and len(running) < at_once:
                # A session of its own: Ctrl-C reaches this process, which ends the others.
                running.append(
                    subprocess.Popen(
                        commands.pop(0),
                        stdin=subprocess.PIPE,
                        start_new_session=True,
                        env=_environment(),
                    )
                )
            yield
            time.sleep(POLL_SECONDS if running else 0)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _array(worker: list[str], tasks: int, at_once: int, folder: Path) -> Polls:
    """Submit an array and wait for its end; `SBATCH_PARTITION` and the like are sbatch's own."""
    script = f'exec {shlex.join(worker)} "$SLURM_ARRAY_TASK_ID" {tasks}'
    command = [
        "sbatch", "--parsable", "--wait", "--job-name=gaia", f"--array=0-{tasks - 1}%{at_once}",
        "--cpus-per-task=2", f"--output={folder}/slurm-%A-%a.log", f"--wrap={script}",
    ]  # fmt: skip
    job, pipe = "", subprocess.PIPE
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
    payload, task, tasks, *flags = argv
    contents = json.loads(Path(payload).read_text("utf-8"))
    function = pkgutil.resolve_name(contents["function"])
    if "--pin" in flags:
        pin()
    if "--child" in flags:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare()
    for index, (path, args) in list(contents["shards"].items())[int(task) :: int(tasks)]:
        try:
            write_missing(function, Shard(Path(path), args))
        except Exception as error:
            outputs.write_text(Path(payload).with_name(index), reason(error))
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
    gpus = _gpus()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    for name in gpus or cores:
        file = lock_folder() / f"{'gpu' if gpus else 'core'}-{name}"
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        if not outputs.lock(handle):
            os.close(handle)
            continue
        _locks.append(handle)
        if gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = str(name)
        else:
            os.sched_setaffinity(0, {int(name)})
        return


def _gpus() -> list[str]:
    """The GPUs that JAX may use, by number."""
    if os.environ.get("JAX_PLATFORMS") == "cpu":
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [gpu for gpu in visible.split(",") if gpu]
    return sorted(path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))


if __name__ == "__main__":
    sys.exit(run(lambda: main(sys.argv[1:])))
