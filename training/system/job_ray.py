"""Compute shards on Ray: their bytes come back, so that nodes need no shared folder."""

from __future__ import annotations

import contextlib
import os
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, finishing, reason

from .job_processes import POLL_SECONDS, pin, prepare
from .shard_files import Function, On, Results, Shard


def compute_on_ray(function: str, work: Mapping[int, Shard], on: On, fresh: bool) -> Results:
    """Compute each shard in a task of one core, or of one GPU if the cluster has some."""
    import ray

    if not ray.is_initialized():
        ray.init(on.address or None, log_to_driver=False, configure_logging=False)
    options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0, "max_calls": 1 if fresh else 0}
    if ray.cluster_resources().get("GPU"):
        options["num_gpus"] = 1
    task = ray.remote(**options)(_ray_task)
    waiting, pending = list(work), dict[Any, int]()
    try:
        while waiting or pending:
            while waiting and len(pending) < (on.processes or len(work)):
                index = waiting.pop(0)
                pending[task.remote(os.getcwd(), function, work[index].args)] = index
            for result in ray.wait(list(pending), timeout=POLL_SECONDS)[0]:
                index = pending.pop(result)
                try:
                    data = ray.get(result)
                except ray.exceptions.RayTaskError as error:  # of the function
                    yield index, UserError(reason(error.cause or error))
                    continue
                except ray.exceptions.RayError:
                    continue  # a lost node: `jobs.compute` tries again
                with finishing():
                    outputs.write_bytes(work[index].path, data)
                yield index, None
    finally:
        for result in pending:
            ray.cancel(result, force=True)


def _ray_task(folder: str, function: str, args: Sequence[Any]) -> bytes:
    with contextlib.suppress(OSError):  # a node without this folder
        os.chdir(folder)
    if "" not in sys.path:
        sys.path.insert(0, "")  # MODULE:FUNCTION in the current folder
    pin()
    compute: Function = pkgutil.resolve_name(function)
    prepare()
    return compute(*args)
