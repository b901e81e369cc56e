"""Compute a function of many shards: in this process, in several, in a SLURM array, on Ray.

A shard is a file that exists or does not. `compute` calls the function for the missing ones and
writes what it returns, each file completely or not at all. So every back end continues alike, and
a lost worker costs the shard that it was working on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pkgutil
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from gaia_jax.cli.command_line import UserError, nearest, reason, whole

from . import job_ray
from .job_processes import compute_in_processes
from .shard_files import Function, Results, name_of, write_missing
from .shard_files import On as On
from .shard_files import Shard as Shard

BACKENDS = ("local", "slurm", "ray")
CHOICES = "local, slurm, ray, ray://HOST:PORT"
MAX_LOST_ROUNDS = 2  # rounds that may end without a new shard
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
        function: shard.args -> the contents of its file. Workers import it by its name.
        shards: their files are in one folder. Their arguments are passed as JSON on every back
            end: a tuple becomes a list.
        report: called with the index of each shard that becomes complete, in any order.
        fresh: each shard gets a process of its own.
        failed: called with the index and the message of a shard whose function failed; the others
            continue. None: the first error is raised.
    Raises:
        UserError: the function failed or has no importable name, or workers were lost repeatedly.
    """
    name, lost_rounds = name_of(function), 0
    existing = set(os.listdir(shards[0].path.parent)) if shards else set()
    left = {
        index: Shard(shard.path, json.loads(json.dumps(shard.args)))
        for index, shard in enumerate(shards)
        if shard.path.name not in existing
    }
    backend = job_ray.compute_on_ray if on.backend == "ray" else compute_in_processes
    if on.in_process and not fresh:
        backend = _compute_here
    while left:
        count = len(left)
        with contextlib.closing(backend(name, dict(left), on, fresh)) as results:
            for index, error in results:
                del left[index]
                if error is None:
                    report(index)
                elif failed is None:
                    raise error
                else:
                    failed(index, reason(error))
        lost_rounds = lost_rounds + 1 if len(left) == count else 0
        if lost_rounds >= MAX_LOST_ROUNDS:
            path = next(iter(left.values())).path
            raise UserError(f"workers were lost {lost_rounds} times before {path} was done")


def _compute_here(function: str, work: Mapping[int, Shard], on: On, fresh: bool) -> Results:
    resolved = pkgutil.resolve_name(function)
    for index, shard in work.items():
        try:
            write_missing(resolved, shard)
        except Exception as error:
            yield index, error
        else:
            yield index, None
