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
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax

from gaia_jax.xla import fingerprint, sources, tree_text
from gaia_jax.xla.compilation_cache import enabled_folder, say
from gaia_jax.xla.sources import UnknownError

FOLDER = "programs"  # inside the folder of compiled programs
ENDING = ".program"
FORMAT = b"gaia_jax program 1\n"
MOST_BYTES = 256 << 20  # of the folder; a program takes 0.1 to 5 MB
MIN_SECONDS = 0.2  # what is traced in less is not worth a file
# The options of `jax.jit` that leave the traced program as it is.
OPTIONS = {"compiler_options", "donate_argnames", "donate_argnums", "in_shardings", "out_shardings"}
# JAX's switches that say where things are kept and what is logged.
IDLE = ("cache", "log", "dump", "debug", "profile", "coordin", "explain", "traceback")

log = logging.getLogger(__name__)


class Kept(NamedTuple):
    """A program and the structure of what it returns."""

    call: Callable[..., Any]  # leaves -> leaves
    out: Any  # jax.tree_util.PyTreeDef


class Program:
    """`jax.jit(function)`, whose first call reads the traced program where an earlier one kept it.

    It has the methods of `jax.stages.Wrapped`. Inside another program it is `jax.jit` itself.
    """

    def __init__(self, function: Callable[..., Any], **options: Any):
        """
        Args:
            options: of `jax.jit`, those of `OPTIONS`.
        """
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function

        @functools.wraps(function, updated=())
        def read_or_traced(*args: Any, **kwargs: Any) -> Any:
            return _read_or_traced(function, args, kwargs)

        self._plain: Any = jax.jit(function, **options)
        self._kept: Any = jax.jit(read_or_traced, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        tracer = jax.core.Tracer
        for leaf in jax.tree.leaves((args, kwargs) if kwargs else args):
            if isinstance(leaf, tracer):  # a kept program has no rule for `vmap` or `grad`
                return self._plain(*args, **kwargs)
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
        if name.startswith("__") or name in ("_kept", "_plain"):
            raise AttributeError(name)
        return getattr(self._kept, name)

    @property
    def _name(self) -> str:
        return getattr(self.__wrapped__, "__qualname__", "a function")

    def _instead(self, result: Any) -> Any:
        """`result`, which the traced program gave and the kept one could not."""
        self._kept = self._plain
        return result


def jit(function: Callable[..., Any], **options: Any) -> Any:
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


def _read_or_traced(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
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


def _find(function: Callable[..., Any], leaves: list[Any], tree: Any, folder: Path) -> Kept:
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
    kept = _read(path)
    if kept is not None:
        log.debug("%s read in %.2f s", path.name, time.monotonic() - began)
        return kept
    data, kept = _make(function, shapes, tree)
    seconds = time.monotonic() - began
    log.debug("%s made in %.2f s", path.name, seconds)
    if seconds >= MIN_SECONDS:
        _write(path, data)
    return kept


def _key(function: Callable[..., Any], shapes: list[Any], tree: Any) -> str:
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
        "versions": [sources.version(x) for x in ("jax", "jaxlib", "numpy", "flax", "optax")],
        "python": sys.version,
        "switches": switches,
        "environment": {
            name: value
            for name, value in os.environ.items()
            if name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
        },
        "devices": [jax.default_backend(), jax.devices()[0].device_kind, jax.device_count()],
        "arguments": [[list(x.shape), str(x.dtype), x.weak_type] for x in shapes],
        "structure": tree_text.encode(tree),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def _make(function: Callable[..., Any], shapes: list[Any], tree: Any) -> tuple[bytes, Kept]:
    """A program as it is kept, and as it is called: read again, for the same machine code.

    Raises:
        UnknownError: it cannot be exported: callbacks, or a mistake that `jax.jit` will say.
    """
    outs = []

    def flat(*leaves: Any) -> list[Any]:
        args, kwargs = jax.tree.unflatten(tree, leaves)
        result, out = jax.tree.flatten(function(*args, **kwargs))
        outs.append(out)
        return result

    try:
        exported = jax.export.export(jax.jit(flat))(*shapes)
        program = bytes(exported.serialize())
    except Exception as error:  # whatever export refuses, or the function itself
        raise UnknownError(f"{type(error).__name__}: {str(error)[:200]}") from None
    if any(x.weak_type for x in exported.out_avals):
        raise UnknownError("a result of weak type")
    head = {"out": tree_text.encode(outs[0]), "modules": sources.modules()}
    text = json.dumps(head).encode() + b"\n" + program
    data = FORMAT + hashlib.sha256(text).hexdigest().encode() + b"\n" + text
    return data, Kept(jax.export.deserialize(bytearray(program)).call, outs[0])


def _read(path: Path) -> Kept | None:
    """The program in a file; None where there is none, or one that another code has traced.

    A damaged file is said, and None.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    try:
        digest, text = data.removeprefix(FORMAT).split(b"\n", 1)
        if not data.startswith(FORMAT) or hashlib.sha256(text).hexdigest().encode() != digest:
            raise ValueError
        head, program = text.split(b"\n", 1)
        told = json.loads(head)
        now = sources.modules()
        if any(now.get(name, state) != state for name, state in told["modules"].items()):
            log.debug("%s was traced with other modules", path.name)
            return None
        kept = Kept(jax.export.deserialize(bytearray(program)).call, tree_text.decode(told["out"]))
    except UnknownError as error:
        log.debug("%s: %s", path.name, error)
        return None
    except Exception:  # JAX raises many kinds
        say(f"{path} is damaged; the program is made anew")
        return None
    try:
        os.utime(path)  # the oldest goes first
    except OSError:
        pass
    return kept


def _write(path: Path, data: bytes) -> None:
    """Keep a program. Another process may read or write the same; without room nothing is kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f"{path.name}-{uuid.uuid4().hex[:8]}")
        try:
            aside.write_bytes(data)
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        _trim(path.parent)
    except OSError as error:
        log.debug("%s is not kept: %s", path.name, error.strerror)


def _trim(folder: Path) -> None:
    """The files that were not read for longest go until the rest takes `MOST_BYTES` at most."""
    found = []
    for path in folder.iterdir():
        try:
            stat = path.stat()
        except OSError:
            continue  # another process has removed it
        found.append((stat.st_mtime_ns, stat.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size
