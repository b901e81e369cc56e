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
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, finishing, nearest, reason, run, whole

from . import cli, signals

BACKENDS = ("local", "slurm", "ray")
CHOICES = "local, slurm, ray, ray://HOST:PORT"
MAX_LOST_ROUNDS = 2  # rounds that may end without a new shard
MAX_ARRAY = 100  # tasks of an array by default: each starts Python and compiles once
ARRAY_CORES = "2"  # of a task of an array
CORES = "NPROC"  # the variable with the number of cores that XLA uses
POLL_SECONDS = 0.5
FOLDER, HEAD = ".shards", "about.json"
PAYLOADS = ".jobs-"  # begins the names of the folders with the payload and the errors of workers

Polls = Generator[None, None, None]  # while shards are computed


class Shard(NamedTuple):
    """A result file and the arguments, JSON, of the function that computes it."""

    path: Path
    args: Sequence[Any]


class On(NamedTuple):
    """A back end and its options."""

    backend: str = "local"
    processes: int = 0  # at the same time; 0: the default of the back end
    address: str = ""  # of Ray

    @property
    def in_process(self) -> bool:
        """Whether this process computes all shards."""
        return self.backend == "local" and self.processes < 2


LOCAL = On()


class Job(NamedTuple):
    """Missing shards, for a back end."""

    function: str  # MODULE:NAME
    shards: Mapping[int, Shard]
    on: On
    fresh: bool  # each shard gets a process of its own
    folder: Path  # for the payload; workers write the error of a shard here, under its index


def add_flags(parser: argparse.ArgumentParser) -> None:
    """`--on`, `--processes`; `of_args` reads them."""
    text = f"where the work is done: {CHOICES} (docs/reference/training.md)"
    parser.add_argument("--on", metavar="WHERE", type=_parse_on, default="local", help=text)
    text = "number of processes, each on its own GPU or cores; of a SLURM array the tasks"
    parser.add_argument("--processes", type=whole(1, 1024), help=text)


def _parse_on(text: str) -> str:
    """The text of `--on`. Raises UserError for an unknown back end."""
    if text in BACKENDS or text.removeprefix("ray://") not in ("", text):
        return text
    backend = text.partition("://")[0]
    hint = "" if backend in BACKENDS else nearest(backend, BACKENDS)
    raise UserError(f"unknown --on {text!r}; the choices are: {CHOICES}{hint}")


def of_args(args: argparse.Namespace) -> On:
    """The flags of `add_flags`. Raises UserError for a back end that is not installed."""
    backend = args.on.partition("://")[0]
    if backend == "ray" and find_spec("ray") is None:
        raise UserError('--on ray needs ray: pip install "gaia_jax[ray]"')
    if args.on == "slurm" and shutil.which("sbatch") is None:
        raise UserError("--on slurm needs sbatch: run this on a login node of the cluster")
    return On(backend, args.processes or 0, args.on if backend != args.on else "")


@contextlib.contextmanager
def shard_folder(path: Path | None, about: Mapping[str, Any], resume: bool) -> Iterator[Path]:
    """The locked folder FILE.shards for the shards of a file, a temporary one without a file.

    Args:
        about: everything that the shards depend on, for JSON.
        resume: continue the shards of an earlier command.
    Raises:
        UserError: the folder has shards without `resume`, has other ones, or is in use.
    """
    from .data_files import check_same, read_object  # not for --help

    if path is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    folder = path.with_name(path.name + FOLDER)
    folder.mkdir(exist_ok=True)
    with outputs.folder_lock(folder):
        _remove_payloads(folder)
        if not _has_shards(folder):
            outputs.write_json(folder / HEAD, about)
        elif not resume:
            raise UserError(f"{folder} exists: --resume continues it, or name another file")
        try:
            check_same(folder, read_object(folder / HEAD, {}), about)
        except UserError as error:
            raise UserError(f"{error}; move {folder} away to start again") from error
        try:
            yield folder
        finally:
            if folder.is_dir() and not _has_shards(folder):
                shutil.rmtree(folder)


def _remove_payloads(folder: Path) -> None:
    """Remove what killed commands have left: payloads, and the arrays that work on them."""
    for payload in folder.glob(f"{PAYLOADS}*/"):
        _cancel(payload.name)
        shutil.rmtree(payload)


def _cancel(name: str) -> None:
    """Cancel the SLURM array of a payload folder, if there is one."""
    if shutil.which("scancel"):
        subprocess.run(["scancel", f"--name={name}"], check=False)


def _has_shards(folder: Path) -> bool:
    return any(path.name != HEAD for path in folder.glob("[!.]*"))  # without payloads


def compile_lock() -> contextlib.AbstractContextManager[None]:
    """Wait for the other workers of this machine: compiling two programs takes much memory."""
    folder = Path(tempfile.gettempdir(), f"gaia_jax-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    return outputs.folder_lock(folder, wait=True)


def compute(
    function: Callable[..., bytes],
    shards: Sequence[Shard],
    on: On = LOCAL,
    report: Callable[[int], object] = lambda index: None,
    fresh: bool = False,
) -> list[int]:
    """Write the missing files of `shards`.

    Args:
        function: shard.args -> the contents of its file; of a module, so that workers import it.
        shards: their files are in one folder. Their arguments are passed as JSON on every back
            end: a tuple becomes a list.
        report: called with the index of each shard that becomes complete, in any order.
        fresh: each shard gets a process of its own; one that fails is named on stderr, and the
            others continue.
    Returns:
        The indices of failed shards.
    Raises:
        UserError: the function failed, without `fresh`.
        UserError: workers were lost repeatedly.
        KeyboardInterrupt: after Ctrl-C or SIGTERM, when no worker is left.
    """
    backend = {"local": _local, "slurm": _array, "ray": _ray}[on.backend]
    backend = _in_process if on.in_process and not fresh else backend
    name, failed, lost_rounds = f"{function.__module__}:{function.__qualname__}", list[int](), 0
    shards = [Shard(shard.path, json.loads(json.dumps(shard.args))) for shard in shards]
    missing = {index: shard for index, shard in enumerate(shards) if not shard.path.exists()}
    while missing:
        count, path = len(missing), next(iter(missing.values())).path
        with (
            signals.handling(signal.default_int_handler),  # SIGTERM too stops the workers
            tempfile.TemporaryDirectory(dir=path.parent, prefix=PAYLOADS) as job_folder,
            contextlib.closing(
                backend(Job(name, missing.copy(), on, fresh, Path(job_folder)))
            ) as polls,
        ):
            for _ in itertools.chain(polls, [None]):
                errors, names = set(os.listdir(job_folder)), set(os.listdir(path.parent))
                for index, shard in missing.copy().items():
                    if shard.path.name in names:
                        report(index)
                    elif str(index) in errors:
                        error = Path(job_folder, str(index)).read_text("utf-8")
                        if not fresh:
                            raise UserError(error)
                        print(f"{shard.path.stem} failed: {error}", file=sys.stderr)
                        failed.append(index)
                    else:
                        continue
                    del missing[index]
        lost_rounds = lost_rounds + 1 if len(missing) == count else 0
        if lost_rounds >= MAX_LOST_ROUNDS:
            raise UserError(f"workers were lost {lost_rounds} times before {path} was done")
    return failed


def _in_process(job: Job) -> Polls:
    for path, args in job.shards.values():
        _write(path, pkgutil.resolve_name(job.function)(*args))
        yield


def _write(path: Path, data: bytes) -> None:
    with finishing():
        outputs.write_bytes(path, data)


def _local(job: Job) -> Polls:
    """Processes, each with a GPU or a share of the cores."""
    from .devices import cores  # imports JAX

    at_once, gpus = min(job.on.processes or 1, len(job.shards)), _gpus()
    if 0 < len(gpus) < at_once:
        note = "one for each GPU; JAX_PLATFORMS=cpu computes on the cores"
        print(f"--processes {job.on.processes}: {len(gpus)} at a time, {note}", file=sys.stderr)
        at_once = len(gpus)
    share = {CORES: str(max(1, cores() // at_once))}
    places = [{"CUDA_VISIBLE_DEVICES": gpu} for gpu in gpus] or [share] * at_once
    places = places[:at_once] if at_once > 1 else [{}]  # a single one may use all
    worker, environment, tasks = _worker(job, at_once)
    running = dict[int, subprocess.Popen[bytes]]()  # by place
    try:
        while tasks or running:
            for n, place in enumerate(places):
                if n in running and running[n].poll() is not None:
                    del running[n]
                if tasks and n not in running:
                    # A session of its own: Ctrl-C reaches this process, which ends the others.
                    running[n] = subprocess.Popen(
                        [*worker, str(tasks.pop(0)), str(os.getpid())],
                        env=environment | place, start_new_session=True,
                    )  # fmt: skip
            yield
            time.sleep(POLL_SECONDS if running else 0)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()


def _gpus() -> list[str]:
    """The GPUs that JAX may use, by number."""
    if os.environ.get("JAX_PLATFORMS") == "cpu":
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        names = (name.strip() for name in visible.split(","))
        return list(itertools.takewhile(lambda name: name not in ("", "-1"), names))  # like CUDA
    return sorted(path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))


def _array(job: Job) -> Polls:
    """The tasks of an array; `SBATCH_PARTITION` and the like are sbatch's own."""
    at_once = min(job.on.processes or MAX_ARRAY, len(job.shards))
    worker, environment, tasks = _worker(job, at_once)
    command = [
        "sbatch", "--parsable", "--wait", f"--job-name={job.folder.name}",
        f"--array=0-{tasks[-1]}%{at_once}", f"--cpus-per-task={ARRAY_CORES}",
        f"--output={job.folder.parent}/slurm-%A-%a.log",
        f"--wrap=exec {shlex.join(worker)} $SLURM_ARRAY_TASK_ID",
    ]  # fmt: skip
    environment, pipe = environment | {CORES: ARRAY_CORES}, subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdout=pipe, stderr=pipe,
        start_new_session=True,  # Ctrl-C would end sbatch, and not the array
    ) as process:  # fmt: skip
        assert process.stdout and process.stderr
        try:
            job_id = process.stdout.readline().decode().partition(";")[0].strip()
            if not job_id:
                raise UserError(process.stderr.read().decode().strip() or "sbatch gave no job id")
            print(f"array {job_id}, logs in {job.folder.parent}", file=sys.stderr)
            while process.poll() is None:
                yield
                time.sleep(POLL_SECONDS)
        finally:
            if process.poll() is None:  # stopped before its end
                process.terminate()
                _cancel(job.folder.name)


def _worker(job: Job, at_once: int) -> tuple[list[str], dict[str, str], list[int]]:
    """The command of a worker without its task, its variables, and the tasks."""
    payload, tasks = job.folder / "payload.json", len(job.shards) if job.fresh else at_once
    shards = {index: (str(shard.path), shard.args) for index, shard in job.shards.items()}
    outputs.write_json(payload, {"function": job.function, "shards": shards})
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # modules of this process
    command = [sys.executable, "-m", __name__, str(payload), str(tasks)]
    return command, os.environ | {"PYTHONPATH": paths}, list(range(tasks))


def _main(payload: str, tasks: str, task: str, parent: str = "") -> int:
    """A worker: computes every TASKS-th shard of a payload, and ends with a process PARENT."""
    if parent:
        signals.end_with_parent(int(parent))
    contents = json.loads(Path(payload).read_text("utf-8"))
    for index, (path, args) in list(contents["shards"].items())[int(task) :: int(tasks)]:
        try:
            if not Path(path).exists():  # done before SLURM started this task again
                _write(Path(path), _call(contents["function"], args))
        except Exception as error:
            outputs.write_text(Path(payload).with_name(index), reason(error))
            raise
    return 0


def _call(name: str, args: Sequence[Any]) -> bytes:
    """The function of a worker, with JAX's switches if its module imports JAX."""
    function: Callable[..., bytes] = pkgutil.resolve_name(name)
    if "jax" in sys.modules:
        cli.prepare()
    return function(*args)


def _ray(job: Job) -> Polls:
    """Tasks of one core, or of one GPU if the cluster has some.

    The bytes come back, so that nodes need no shared folder.
    """
    import ray

    if not ray.is_initialized():
        ray.init(job.on.address or None, log_to_driver=False, configure_logging=False)
    task = ray.remote(
        num_cpus=1, num_gpus=1 if ray.cluster_resources().get("GPU") else 0, max_retries=0,
        max_calls=int(job.fresh), runtime_env={"env_vars": {CORES: "1"}},
    )(_ray_task)  # fmt: skip
    waiting, pending = list(job.shards), dict[Any, int]()
    try:
        while waiting or pending:
            while waiting and len(pending) < (job.on.processes or len(job.shards)):
                index = waiting.pop(0)
                pending[task.remote(os.getcwd(), job.function, job.shards[index].args)] = index
            for result in ray.wait(list(pending), timeout=POLL_SECONDS)[0]:
                index = pending.pop(result)
                try:
                    _write(job.shards[index].path, ray.get(result))
                except ray.exceptions.RayTaskError as error:  # of the function
                    outputs.write_text(job.folder / str(index), reason(error.cause or error))
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
    return _call(function, args)


if __name__ == "__main__":
    sys.exit(run(lambda: _main(*sys.argv[1:])))
