"""Traced programs on disk: a second start neither compiles nor traces.

    gaia_jax.enable_compilation_cache()
    step = gaia_jax.jit(jax.vmap(env.step))

`jit` is `jax.jit` with one difference. When JAX would trace the function, `_find` looks for the
program of an earlier process (`jax.export`), and keeps it where there is none. A program's name is
a hash of all that it depends on: the function with what it closes over, the sources of the packages
(`fingerprint`, `sources`), the arguments' shapes, JAX's switches, the devices. What has no such
name is traced as ever; the log of this module says why, at level DEBUG.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import jax
from jax import Array
from jax.tree_util import PyTreeDef

from gaia_jax.xla import fingerprint, sources, tree_text
from gaia_jax.xla.compilation_cache import enabled_folder
from gaia_jax.xla.program_files import (
    ENDING,
    Function,
    Kept,
    Shapes,
    make_program,
    read_program,
    write_program,
)

FOLDER = "programs"  # inside the folder of compiled programs
MIN_SECONDS = 0.2  # what is traced in less is not worth a file
# The options of `jax.jit` that leave the traced program as it is.
OPTIONS = {"compiler_options", "donate_argnames", "donate_argnums", "in_shardings", "out_shardings"}
# JAX's switches that say where things are kept and what is logged.
IDLE = ("cache", "jax_log", "jax_dump", "coordination", "explain", "traceback")

T = TypeVar("T")
Args: TypeAlias = tuple[Any, ...]
Kwargs: TypeAlias = dict[str, Any]

log = logging.getLogger(__name__)


class Program:
    """`jax.jit(function)`, whose first call reads the traced program where an earlier one kept it.

    It has the methods of `jax.stages.Wrapped`. Inside another program it is `jax.jit` itself.
    """

    def __init__(self, function: Function, **options: Any):
        """
        Args:
            options: of `jax.jit`, those of `OPTIONS`.
        """
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

        @functools.wraps(function, updated=())
        def read_or_traced(*args: Any, **kwargs: Any) -> Any:
            return _read_or_traced(function, args, kwargs)

        inner = {name: x for name, x in options.items() if name != "compiler_options"}
        self._inner: Any = jax.jit(function, **inner)  # inside another program
        self._plain: Any = jax.jit(function, **options)
        self._kept: Any = jax.jit(read_or_traced, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        tracer = jax.core.Tracer
        for leaf in jax.tree.leaves((args, kwargs) if kwargs else args):
            if isinstance(leaf, tracer):  # a kept program has no rule for `vmap` or `grad`
                return self._inner(*args, **kwargs)
        try:
            return self._kept(*args, **kwargs)
        except (NotImplementedError, ValueError) as error:
            # The function's own error, or one of a program that does not suit these devices.
            log.debug("%s is traced: %s", self._name, error)
        return self._instead(self._plain(*args, **kwargs))

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """`jax.stages.Lowered`, of a kept program as of a traced one."""
        try:
            return self._kept.lower(*args, **kwargs)
        except (NotImplementedError, ValueError) as error:
            log.debug("%s is traced: %s", self._name, error)
        return self._instead(self._plain.lower(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        """The rest of what `jax.jit` gives: `trace`, `eval_shape`, `clear_cache`."""
        if name.startswith("__") or name in ("_inner", "_kept", "_plain"):
            raise AttributeError(name)
        return getattr(self._kept, name)

    @property
    def _name(self) -> str:
        return getattr(self.__wrapped__, "__qualname__", "a function")

    def _instead(self, result: T) -> T:
        """`result`, which the traced program gave and the kept one could not."""
        self._kept = self._plain
        return result


def jit(function: Function, **options: Any) -> Any:
    """`jax.jit`, but what it traces is kept on disk, beside the compiled programs.

    It does so from `gaia_jax.enable_compilation_cache()` on, and reads nothing that other sources,
    constants, shapes, devices, versions or switches of JAX have made. A function that holds what
    cannot be compared between two processes (an object of a class of your own) is traced as ever,
    as is a program with callbacks, and one that several processes run together.

    Args:
        function: as for `jax.jit`.
        options: of `jax.jit`. With `static_argnums`, `static_argnames` and others that change what
            is traced nothing is kept.
    Returns:
        The compiled function, with `lower`, `trace` and `eval_shape`.
    """
    if not OPTIONS.issuperset(options):
        return jax.jit(function, **options)
    return Program(function, **options)


def _read_or_traced(function: Function, args: Args, kwargs: Kwargs) -> Any:
    """What `jax.jit` traces: a call of the kept program, else the function."""
    leaves, tree = jax.tree.flatten((args, kwargs))
    traced = all(isinstance(leaf, jax.core.Tracer) for leaf in leaves)  # not under `disable_jit`
    folder = enabled_folder() if traced and jax.process_count() == 1 else None
    if folder is None:
        return function(*args, **kwargs)
    try:
        kept = _find(function, leaves, tree, folder / FOLDER)
    except Exception as error:  # a cache is no reason to fail
        name = getattr(function, "__qualname__", "a function")
        log.debug("%s is not kept: %s: %s", name, type(error).__name__, error)
        return function(*args, **kwargs)
    return jax.tree.unflatten(kept.out, kept.call(*leaves))


def _find(function: Function, leaves: list[Array], tree: PyTreeDef, folder: Path) -> Kept:
    """The program of an earlier process, or a new one, which is kept.

    Raises:
        UnknownError: it has no name, or cannot be kept.
    """
    shapes = [
        jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type)
        for x in map(jax.typeof, leaves)
    ]
    name = getattr(function, "__name__", "program").strip("<>_")
    path = folder / f"{name[:40]}-{_key(function, shapes, tree)}{ENDING}"
    began = time.monotonic()
    kept = read_program(path, shapes)
    if kept is not None:
        log.debug("%s read in %.2f s", path.name, time.monotonic() - began)
        return kept
    data, kept = make_program(function, shapes, tree)
    seconds = time.monotonic() - began
    log.debug("%s made in %.2f s", path.name, seconds)
    if seconds >= MIN_SECONDS:
        write_program(path, data)
    return kept


def _key(function: Function, shapes: Shapes, tree: PyTreeDef) -> str:
    """The name of a program: a hash of all that it depends on."""
    config: Any = jax.config
    switches = {
        name: str(getattr(config, name, value))  # as it is in this thread
        for name, value in sorted(config.values.items())
        if not any(word in name for word in IDLE)
    }
    told = {
        "function": fingerprint.of(function),
        "sources": sources.sources(),
        "versions": sources.installed(),
        "python": sys.version,
        "switches": switches,
        "environment": {
            name: value
            for name, value in os.environ.items()
            if name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
        },
        "devices": [jax.default_backend(), jax.devices()[0].device_kind, jax.device_count()],
        "arguments": [[list(x.shape), str(x.dtype), x.weak_type] for x in shapes],
        "structure": tree_text.to_json(tree),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]
