"""Traced programs of the shipped environments on disk: a second start does not trace the rules.

Tracing and lowering the rules takes seconds in every process. After
`gaia_jax.enable_compilation_cache()` `env_jit` reads a method's program as an earlier process
exported it (`jax.export`, which needs flatbuffers). Only methods of the environments that
`gaia_jax.make` makes are stored, never a function, an agent, a network or an environment of a user:
those are traced in every process. A program's name is a hash of everything that tracing reads: the
package's sources, what its modules hold now, JAX's files and switches, the environment's fields,
the shapes of the arguments, the devices.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pkgutil
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from importlib import import_module, metadata, util
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.custom_batching import custom_vmap

from gaia_jax.xla import compilation_cache
from gaia_jax.xla.compilation_cache import STARTED, enabled_folder, warn

PACKAGE = Path(__file__).parent.parent
FOLDER = "programs"  # inside the folder of compiled programs
FORMAT = b"gaia_jax program 2\n"
MAX_BYTES = 256 << 20  # of the folder; a program takes 0.03 to 1 MB
RULES = (
    "auto", "components", "env", "env_arguments", "env_state", "observation", "rewards", "rules",
    "ruleset", "setup", "state", "xla",
)  # fmt: skip
LIBRARIES = ("jax", "jaxlib", "numpy")  # what the rules call while JAX traces
TRUSTED = {*LIBRARIES, "gaia_jax", "ml_dtypes", "typing_extensions", *sys.stdlib_module_names}
# JAX's switches that say where files are kept and what is logged.
IDLE_SWITCHES = ("cache", "jax_log", "jax_dump", "coordination", "explain", "traceback")

Function = Callable[..., Any]
jit = jax.jit  # `gaia_jax.jit`, for programs that were written when it stored what it traced

log = logging.getLogger(__name__)


def env_jit(env: object, name: str, *, batched: bool = False) -> Any:
    """`jax.jit` of a method of an environment; of a shipped one the traced program may be stored.

    Args:
        env: a `GaiaEnv`, an `AutoReset`, or any other environment, which is traced.
        name: "init", "step", ... The method takes and returns arrays and this package's pytrees.
        batched: the method under `vmap`, a leading axis on all arguments and results.
    Returns:
        The compiled function, positional arguments only. It also works inside other programs.
    """
    method = getattr(env, name)
    function = jax.vmap(method) if batched else method
    if not is_shipped(env):
        return jax.jit(function)

    @functools.wraps(method)
    def stored(*args: object) -> Any:
        possible = jax.process_count() == 1 and util.find_spec("flatbuffers") is not None
        traced = all(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(args))
        if not possible or not traced or (folder := enabled_folder()) is None:
            return function(*args)
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), args)
        try:
            path = folder / FOLDER / f"{name}-{_key(env, name, batched, shapes)}"
            program = _read(path) or _export(path, function, shapes)
        except Exception as error:  # a cache is no reason to fail
            log.debug("%s is traced: %s: %s", name, type(error).__name__, error)
            return function(*args)
        return _with_batching(program.call, function)(*args)

    return jax.jit(stored)


def is_shipped(env: object) -> bool:
    """Whether `gaia_jax.make`, or `auto_reset` of it, makes such an environment."""
    own: dict[str, Any] = getattr(env, "__dict__", {})
    if type(env) is _loaded("auto", "AutoReset"):
        return own.keys() == {"env"} and is_shipped(own["env"])
    if type(env) is not _loaded("env", "GaiaEnv"):
        return False
    variants = _loaded("ruleset", "VARIANTS").values()  # compared by identity
    return own["ruleset"] in variants and own.keys() == type(env).__annotations__.keys()


def _loaded(module: str, name: str) -> Any:
    """An attribute of a higher module, if imported; this one must not import it."""
    return getattr(sys.modules.get(f"gaia_jax.{module}"), name, None)


def _with_batching(program: Function, function: Function) -> Function:
    """`program`, which has no rule for `vmap`; under one the function itself is traced."""
    folded = custom_vmap(program)

    @folded.def_vmap
    def _(size: int, in_batched: Sequence[object], *args: object) -> tuple[Any, Any]:
        axes = jax.tree.map(lambda batched: 0 if batched else None, tuple(in_batched))
        out = jax.vmap(function, axes, axis_size=size)(*args)
        return out, jax.tree.map(lambda _: True, out)

    return folded


def _export(path: Path, function: Function, shapes: tuple[object, ...]) -> export.Exported:
    """A new program, which is stored."""
    program = export.export(jax.jit(function))(*shapes)
    log.debug("%s made", path.name)
    text = bytes(program.serialize())
    _write(path, FORMAT + hashlib.sha256(text).digest() + text)
    return program


def _key(env: object, name: str, batched: bool, shapes: object) -> str:
    """The name of a program: a hash of everything that tracing reads.

    Raises:
        ValueError: a file changed after the start, or a module holds a function from elsewhere.
    """
    config: Any = jax.config
    switches = {
        switch: str(getattr(config, switch, value))  # in this thread
        for switch, value in sorted(config.values.items())
        if not any(word in switch for word in IDLE_SWITCHES)
    }
    flags = sorted((k, v) for k, v in os.environ.items() if k.startswith(("XLA_", "LIBTPU_")))
    own: dict[str, Any] = dict(vars(getattr(env, "env", env)))  # without auto-reset
    ruleset = own.pop("ruleset")
    pieces = [getattr(ruleset, field.name) for field in fields(ruleset)]
    arrays = [(x, a.shape, str(a.dtype), a.tobytes()) for x, a in _arrays("", ruleset.tables)]
    devices = jax.default_backend(), jax.devices()[0].device_kind, jax.device_count()
    leaves = [(x.shape, str(x.dtype)) for x in jax.tree.leaves(shapes)]
    parts = [
        name, batched, type(env).__name__, own, pieces, arrays, package_digest(), library_digest(),
        sys.version, switches, flags, devices, leaves, jax.tree.structure(shapes),
    ]  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _arrays(name: str, value: object) -> Iterator[tuple[str, np.ndarray]]:
    """The numpy arrays in a tree of objects and dictionaries, by name: they can be written to."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif not callable(value):
        parts = value if isinstance(value, dict) else getattr(value, "__dict__", {})
        for key, part in sorted(parts.items()):
            yield from _arrays(f"{name}.{key}", part)


def package_digest() -> str:
    """A hash of the package: the contents of its source files, and what its modules hold now."""
    lines = [_contents(tuple(sorted(path for path, _ in _files(PACKAGE))))]
    for module in (*_rule_modules(), jnp, jax.lax, jax.random, jax.tree):
        lines += _held_by(module)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def _rule_modules() -> tuple[ModuleType, ...]:
    """The modules that tracing may use, all of them imported."""
    modules = pkgutil.walk_packages([str(PACKAGE)], "gaia_jax.")
    names = [x.name for x in modules if x.name.split(".")[1] in RULES]
    return tuple(import_module(x) for x in names if x not in (compilation_cache.__name__, __name__))


@functools.cache
def _contents(files: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in files:
        text = Path(path).read_bytes()
        digest.update(f"{os.path.basename(path)} {len(text)} ".encode() + text)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The program files in a folder and below.

    Raises:
        ValueError: one changed after the process started, so it may be loaded or not.
    """
    for home, _, names in os.walk(folder):
        for path in (os.path.join(home, x) for x in names if x.endswith((".py", ".so", ".pyd"))):
            stat = os.stat(path)
            # A file that is moved here keeps its time of writing; on POSIX the other is new.
            if max(stat.st_mtime_ns, stat.st_ctime_ns) >= STARTED:
                raise ValueError(f"{path} changed after the process started")
            yield path, stat


def _held_by(module: ModuleType) -> Iterator[str]:
    """A line for each function, class and constant of a module and of its own classes."""
    for name, value in sorted(vars(module).items()):
        if not name.startswith("__"):
            yield from _lines(f"{module.__name__}.{name}", value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                for part, attribute in sorted(vars(value).items()):
                    yield from _lines(f"{module.__name__}.{name}.{part}", attribute)


def _lines(name: str, value: object) -> Iterator[str]:
    """A line for a value, and one for each function that it is wrapped around.

    Raises:
        ValueError: it is a function, a class or a callable object of another package.
    """
    for wrapper in ("fget", "__func__", "func"):  # property, static or class method, partial
        value = getattr(value, wrapper, value)
    while value is not None:
        if isinstance(value, FunctionType):  # `functools.wraps` copies `__module__`
            home = value.__globals__["__name__"]
        else:
            home = (value if isinstance(value, type) else type(value)).__module__
        root = home.partition(".")[0]
        if callable(value) and not root.startswith("namedtuple_") and root not in TRUSTED:
            raise ValueError(f"{name} is of {home}")
        if isinstance(value, FunctionType):
            defaults = value.__defaults__ if _is_plain(value.__defaults__) else ""
            yield f"{name} {home} {value.__qualname__} {value.__code__.co_firstlineno} {defaults}"
        elif isinstance(value, type | ModuleType):
            yield f"{name} {home} {value.__name__}"
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).digest()!r}"
        elif _is_plain(value):
            yield f"{name} {value!r}"
        value = None if isinstance(value, type) else getattr(value, "__wrapped__", None)


def _is_plain(value: object) -> bool:
    """Whether `repr` describes a value completely: numbers, text, containers of them."""
    if isinstance(value, dict):
        return all(map(_is_plain, (*value, *value.values())))
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def library_digest() -> str:
    """A hash of the versions of `LIBRARIES` and of the sizes and times of their files."""
    digest = hashlib.sha256()
    for name in LIBRARIES:
        digest.update(f"{name} {metadata.version(name)}".encode())
        folder = Path(str(sys.modules[name].__file__)).parent
        for path, stat in sorted(_files(folder)):
            digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}".encode())
    return digest.hexdigest()


def _read(path: Path) -> export.Exported | None:
    """The program in a file; None if there is none, or with a warning if it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, text = data[len(FORMAT) :][:32], data[len(FORMAT) + 32 :]
    if not data.startswith(FORMAT) or hashlib.sha256(text).digest() != digest:
        warn(f"{path} is damaged; the program is traced again")
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the one that was not used for longest is removed first
    log.debug("%s read", path.name)
    return export.deserialize(bytearray(text))


def _write(path: Path, data: bytes) -> None:
    """Store a program; another process may read or write it. Without room nothing is stored."""
    temporary = path.with_name(f"{path.name}-{uuid.uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
        _trim(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        log.debug("%s is not stored: %s", path.name, error.strerror)


def _trim(folder: Path) -> None:
    """Remove the programs that were not used for longest until the rest takes `MAX_BYTES`."""
    with contextlib.suppress(OSError):  # another process removes them too
        by_age = sorted((x.stat().st_mtime_ns, x.stat().st_size, x) for x in folder.iterdir())
        excess = sum(size for _, size, _ in by_age) - MAX_BYTES
        for _, size, path in by_age:
            if excess > 0:
                path.unlink(missing_ok=True)
            excess -= size
