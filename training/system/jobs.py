"""Call a function for many shards: in this process, in several, in a SLURM array, on Ray.

A shard is a file that exists or does not. `map` calls the function for the missing ones and writes
what it returns, each file completely or not at all. So every back end continues alike, and a lost
worker costs the shard that it was working on.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from gaia_jax.cli.command_line import UserError, nearest, reason, whole

from . import job_ray
from .job_processes import compute_in_processes
from .shard_files import Ended, Function, compute, name_of, names_in_folder
from .shard_files import Shard as Shard

BACKENDS = ("local", "slurm", "ray")
CHOICES = "local, slurm, ray, ray://HOST:PORT"
MAX_LOST_ROUNDS = 2  # rounds that may end without a new shard

Report = Callable[[int], object]  # called with the index of a finished shard


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


def map(
    function: Function,
    shards: Sequence[Shard],
    on: On = LOCAL,
    report: Report = lambda index: None,
    fresh: bool = False,
    failed: Callable[[int, str], object] | None = None,
) -> None:
    """Write the missing files of `shards`.

    Args:
        function: shard.args -> the contents of its file. Workers import it by its name.
        shards: their files are in one folder, which no other command uses. Their arguments are
            passed as JSON on every back end: a tuple becomes a list.
        report: called once for each shard that becomes complete, in any order.
        fresh: each shard gets a process of its own.
        failed: called with the index and the message of a shard whose function failed; the others
            continue. None: the first one ends all.
    Raises:
        UserError: the function failed or has no importable name, or workers were lost repeatedly.
    """
    name = name_of(function)
    shards = [Shard(shard.path, json.loads(json.dumps(shard.args))) for shard in shards]
    errors: dict[int, str] = {}

    def still_missing() -> list[int]:
        names = names_in_folder(shards)
        return [n for n, x in enumerate(shards) if n not in errors and x.path.name not in names]

    missing, lost_rounds = still_missing(), 0
    while missing:

        def ended(index: int, error: str = "", missing: Sequence[int] = tuple(missing)) -> None:
            if not error:
                report(missing[index])
            elif failed is None:
                raise UserError(error)
            else:
                errors[missing[index]] = error
                failed(missing[index], error)

        work = [shards[index] for index in missing]
        if on.backend == "ray":
            job_ray.compute_on_ray(name, work, on.address, on.processes, ended, fresh)
        elif on.in_process and not fresh:
            _compute_here(function, work, ended, stops=failed is None)
        else:
            is_array = on.backend == "slurm"
            compute_in_processes(name, work, is_array, on.processes, ended, fresh)
        left = still_missing()
        lost_rounds = lost_rounds + 1 if len(left) == len(missing) else 0
        if lost_rounds >= MAX_LOST_ROUNDS:
            raise UserError(f"workers were lost {lost_rounds} times before {work[0].path} was done")
        missing = left


def _compute_here(function: Function, shards: Sequence[Shard], ended: Ended, stops: bool) -> None:
    """Compute shards in this process; `stops`: an error of the function is raised."""
    for index, shard in enumerate(shards):
        try:
            compute(function, shard)
        except Exception as error:
            if stops:
                raise
            ended(index, reason(error))
        else:
            ended(index)
