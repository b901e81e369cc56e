"""Compute a function of many shards: in this process, in several, in a SLURM array, on Ray.

A shard is a file that exists or does not. `compute` calls the function for the missing ones and
writes what it returns, each file completely or not at all. So every back end continues alike, and
a lost worker costs the shard that it was working on.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import pkgutil
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, finishing, nearest, reason, run, whole

from . import cli, signals

BACKENDS = ("local", "slurm", "ray")
CHOICES = "local, slurm, ray, ray://HOST:PORT"
MAX_LOST_ROUNDS = 2  # rounds that may end without a new shard
MAX_ARRAY = 100  # tasks of an array by default: each starts Python and compiles once
POLL_SECONDS = 0.5
FOLDER, HEAD = ".shards", "about.json"
PAYLOADS = "jobs-"  # begins the names of the folders with the payload and the errors of workers

Function = Callable[..., bytes]
Polls = Generator[None, None, None]  # while shards are computed, and once after


class Shard(NamedTuple):
    """A result file and the arguments, JSON, of the function that computes it."""

    path: Path
    args: Sequence[Any]


class On(NamedTuple):
    """The place where shards are computed."""

    backend: str = "local"
    address: str = ""  # of Ray
    processes: int = 0  # at the same time; 0: the default of the back end

    @property
    def in_process(self) -> bool:
        """Whether this process computes all shards."""
        return self.backend == "local" and self.processes < 2


LOCAL = On()
Work = Mapping[int, Shard]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """`--on`, `--processes`; `of_args` reads them."""
    text = f"where the work is done: {CHOICES} (docs/reference/training.md)"
    parser.add_argument("--on", metavar="WHERE", type=parse, default="local", help=text)
    text = "number of processes, each on its own GPU or core; of a SLURM array the tasks"
    parser.add_argument("--processes", type=whole(1, 1024), default=0, help=text)


def of_args(args: argparse.Namespace) -> On:
    """The flags of `add_flags`. Raises UserError for a back end that is not installed."""
    on: On = args.on._replace(processes=args.processes)
    if on.backend == "ray" and find_spec("ray") is None:
        raise UserError('--on ray needs ray: pip install "gaia_jax[ray]"')
    if on.backend == "slurm" and shutil.which("sbatch") is None:
        raise UserError("--on slurm needs sbatch: run this on a login node of the cluster")
    return on


def parse(text: str) -> On:
    """`--on`. Raises UserError for an unknown back end."""
    backend, separator, address = text.partition("://")
    if backend not in BACKENDS or (separator and not (backend == "ray" and address)):
        hint = nearest(backend, BACKENDS) if backend not in BACKENDS else ""
        raise UserError(f"unknown --on {text!r}; the choices are: {CHOICES}{hint}")
    return On(backend, text if address else "")


@contextlib.contextmanager
def shard_folder(path: Path | None, about: Mapping[str, Any], resume: bool) -> Iterator[Path]:
    """The locked folder FILE.shards for the shards of a file, a temporary one without a file.

    Args:
        about: everything that the shards depend on, for JSON.
        resume: continue an existing folder.
    Raises:
        UserError: the folder exists without `resume`, is in use, or has other shards.
    """
    from .data_files import check_same, read_object  # not for --help

    if path is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    folder = path.with_name(path.name + FOLDER)
    if folder.is_dir():
        with outputs.folder_lock(folder):
            _clean(folder)
    if not folder.exists():
        with outputs.new_folder(folder) as new:
            outputs.write_json(new / HEAD, about)
    elif not resume:
        raise UserError(f"{folder} exists: --resume continues it, or name another file")
    with outputs.folder_lock(folder):
        try:
            check_same(folder, read_object(folder / HEAD, {}), about)
        except UserError as error:
            raise UserError(f"{error}; move {folder} away to start again") from error
        try:
            yield folder
        finally:
            if folder.is_dir():
                _clean(folder)


def _clean(folder: Path) -> None:
    """Remove the payloads of killed commands, and the folder if it has no shards."""
    for path in folder.glob(f"{PAYLOADS}*/"):  # not the shards of a sweep of such a name
        shutil.rmtree(path)
    if os.listdir(folder) == [HEAD]:
        shutil.rmtree(folder)


def compile_lock() -> contextlib.AbstractContextManager[None]:
    """Wait for the other workers of this machine: compiling two programs takes much memory."""
    return outputs.folder_lock(_lock_folder(), wait=True)


def compute(
    function: Function,
    shards: Sequence[Shard],
    on: On = LOCAL,
    report: Callable[[int], object] = lambda index: None,
    fresh: bool = False,
    failed: Callable[[int, str], object] | None = None,
) -> None:
    """Write the missing files of `shards`.

    Args:
        function: shard.args -> the contents of its file; of a module, so that workers import it.
        shards: their files are in one folder. Their arguments are passed as JSON on every back
            end: a tuple becomes a list.
        report: called with the index of each shard that becomes complete, in any order.
        fresh: each shard gets a process of its own.
        failed: called with the index and the message of a shard that failed in another process;
            the others continue. None: the first error is raised.
    Raises:
        UserError: the function failed, or workers were lost repeatedly.
        KeyboardInterrupt: after Ctrl-C or SIGTERM, when no worker is left.
    """
    backends = {"local": _local, "slurm": _array, "ray": _ray}
    backend = _in_process if on.in_process and not fresh else backends[on.backend]
    name, lost_rounds = f"{function.__module__}:{function.__qualname__}", 0
    args = [json.loads(json.dumps(shard.args)) for shard in shards]
    missing = {n: Shard(x.path, args[n]) for n, x in enumerate(shards) if not x.path.exists()}
    while missing:
        count, folder = len(missing), next(iter(missing.values())).path.parent
        with (
            signals.handling(signal.default_int_handler),  # SIGTERM too stops the workers
            tempfile.TemporaryDirectory(dir=folder, prefix=PAYLOADS) as job_folder,
            contextlib.closing(backend(name, missing.copy(), on, fresh, Path(job_folder))) as polls,
        ):
            for _ in polls:
                errors, names = set(os.listdir(job_folder)), set(os.listdir(folder))
                for index, shard in missing.copy().items():
                    if str(index) in errors:
                        error = Path(job_folder, str(index)).read_text("utf-8")
                        if failed is None:
                            raise UserError(error)
                        failed(index, error)
                    elif shard.path.name in names:
                        report(index)
                    else:
                        continue
                    del missing[index]
        lost_rounds = lost_rounds + 1 if len(missing) == count else 0
        if lost_rounds >= MAX_LOST_ROUNDS:
            path = next(iter(missing.values())).path
            raise UserError(f"workers were lost {lost_rounds} times before {path} was done")


# The back ends write the shards. Those in other processes write the error of a shard into
# `job_folder`.


def _in_process(function: str, work: Work, on: On, fresh: bool, job_folder: Path) -> Polls:
    for path, args in work.values():
        if not path.exists():
            _write(path, pkgutil.resolve_name(function)(*args))
        yield


def _write(path: Path, data: bytes) -> None:
    with finishing():
        outputs.write_bytes(path, data)


def _local(function: str, work: Work, on: On, fresh: bool, job_folder: Path) -> Polls:
    at_once = min(on.processes or 1, len(work))
    if 0 < (gpus := len(_gpus())) < at_once:
        at_once = gpus
        note = "one for each GPU; JAX_PLATFORMS=cpu computes on the cores"
        print(f"--processes {on.processes}: {at_once} at a time, {note}", file=sys.stderr)
    tasks = [str(task) for task in range(len(work) if fresh else at_once)]
    worker, environment = _worker(function, work, len(tasks), at_once, job_folder)
    running: list[subprocess.Popen[bytes]] = []
    try:
        while tasks or running:
            running = [process for process in running if process.poll() is None]
            while tasks and len(running) < at_once:
                command = [*worker, tasks.pop(0)]
                # A session of its own: Ctrl-C reaches this process, which ends the others.
                running.append(
                    subprocess.Popen(
                        command, stdin=subprocess.PIPE, start_new_session=True, env=environment
                    )
                )
            yield
            time.sleep(POLL_SECONDS if running else 0)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _array(function: str, work: Work, on: On, fresh: bool, job_folder: Path) -> Polls:
    """The tasks of an array; `SBATCH_PARTITION` and the like are sbatch's own."""
    at_once = min(on.processes or MAX_ARRAY, len(work))
    tasks = len(work) if fresh else at_once
    worker, environment = _worker(function, work, tasks, at_once, job_folder)
    command = [
        "sbatch", "--parsable", "--wait", "--job-name=gaia", f"--array=0-{tasks - 1}%{at_once}",
        "--cpus-per-task=2", f"--output={job_folder.parent}/slurm-%A-%a.log",
        f"--wrap=exec {shlex.join(worker)}",
    ]  # fmt: skip
    job, pipe = "", subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe) as process:
        assert process.stdout and process.stderr
        try:
            job = process.stdout.readline().decode().partition(";")[0].strip()
            if not job:
                raise UserError(process.stderr.read().decode().strip() or "sbatch gave no job id")
            print(f"array {job} of {tasks} tasks, logs in {job_folder.parent}", file=sys.stderr)
            while process.poll() is None:
                yield
                time.sleep(POLL_SECONDS)
        except BaseException:  # stopped before its end
            process.terminate()
            if job:
                subprocess.run(["scancel", job], check=False)
            raise
    yield


def _worker(
    function: str, work: Work, tasks: int, at_once: int, job_folder: Path
) -> tuple[list[str], dict[str, str]]:
    """The command of a worker and its variables: it imports the modules of this process."""
    payload = job_folder / "payload.json"
    shards = {index: (str(shard.path), shard.args) for index, shard in work.items()}
    outputs.write_json(payload, {"function": function, "shards": shards, "pin": at_once > 1})
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    command = [sys.executable, "-m", __name__, str(payload), str(tasks)]
    return command, os.environ | {"PYTHONPATH": paths}


def _main(payload: str, tasks: str, task: str = "") -> int:
    """A worker: computes every TASKS-th shard of a payload; TASK is that of SLURM if left out."""
    if task:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    contents = json.loads(Path(payload).read_text("utf-8"))
    function: Function | None = None
    share = slice(int(task or os.environ["SLURM_ARRAY_TASK_ID"]), None, int(tasks))
    for index, (path, args) in list(contents["shards"].items())[share]:
        try:
            if not Path(path).exists():
                function = function or _imported(contents["function"], contents["pin"])
                _write(Path(path), function(*args))
        except Exception as error:
            outputs.write_text(Path(payload).with_name(index), reason(error))
            raise
    return 0


def _end_with_parent() -> None:
    """Stop like after SIGTERM when the parent is gone, which holds the other end of stdin."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _imported(name: str, pin: bool) -> Function:
    """The function of a worker; sets JAX's switches if its module imports JAX."""
    if pin:
        _pin()
    function: Function = pkgutil.resolve_name(name)
    if "jax" in sys.modules:
        cli.prepare()
    return function


_locks: list[IO[str]] = []  # of this process's core or GPU, held until it ends


def _pin() -> None:
    """Give this process a GPU that no other worker has, or without GPUs a core.

    Two processes on the same two cores need twice the CPU time: each waits for the other at each of
    a thousand small kernels.
    """
    gpus, cores = _gpus(), getattr(os, "sched_getaffinity", lambda _: ())(0)
    for name in [] if _locks else gpus or sorted(cores):
        file = (_lock_folder() / f"{'gpu' if gpus else 'core'}-{name}").open("a")
        if outputs.lock(file):
            _locks.append(file)
            if gpus:
                os.environ["CUDA_VISIBLE_DEVICES"] = str(name)
            else:
                os.sched_setaffinity(0, {int(name)})
            return
        file.close()


def _gpus() -> list[str]:
    """The GPUs that JAX may use, by number."""
    if os.environ.get("JAX_PLATFORMS") == "cpu":
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        listed = (gpu.strip() for gpu in visible.split(","))
        return list(itertools.takewhile(lambda gpu: gpu not in ("", "-1"), listed))  # as CUDA
    return sorted(path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))


def _lock_folder() -> Path:
    """A folder of this machine for the locks of this user's workers."""
    folder = Path(tempfile.gettempdir(), f"gaia_jax-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    return folder


def _ray(function: str, work: Work, on: On, fresh: bool, job_folder: Path) -> Polls:
    """Tasks of one core, or of one GPU if the cluster has some.

    The bytes come back, so that nodes need no shared folder.
    """
    import ray

    if not ray.is_initialized():
        ray.init(on.address or None, log_to_driver=False, configure_logging=False)
    gpus = 1 if ray.cluster_resources().get("GPU") else 0
    options = {"num_cpus": 1, "num_gpus": gpus, "max_retries": 0, "max_calls": int(fresh)}
    task, waiting, pending = ray.remote(**options)(_ray_task), list(work), dict[Any, int]()
    try:
        while waiting or pending:
            while waiting and len(pending) < (on.processes or len(work)):
                index = waiting.pop(0)
                pending[task.remote(os.getcwd(), function, work[index].args)] = index
            for result in ray.wait(list(pending), timeout=POLL_SECONDS)[0]:
                index = pending.pop(result)
                try:
                    _write(work[index].path, ray.get(result))
                except ray.exceptions.RayTaskError as error:  # of the function
                    outputs.write_text(job_folder / str(index), reason(error.cause or error))
                except ray.exceptions.RayError:
                    pass  # a lost node: `compute` tries again
            yield
    finally:
        for result in pending:
            ray.cancel(result, force=True)


def _ray_task(folder: str, function: str, args: Sequence[Any]) -> bytes:
    with contextlib.suppress(OSError):  # a node without this folder
        os.chdir(folder)
    if "" not in sys.path:
        sys.path.insert(0, "")  # MODULE:FUNCTION in the current folder
    return _imported(function, pin=True)(*args)


if __name__ == "__main__":
    sys.exit(run(lambda: _main(*sys.argv[1:])))
