"""A traced program in a file: made, written, read, and the folder kept small.

A file says its own hash, the program's results and the modules that it was traced with, then comes
the program as StableHLO (`jax.export`). No pickle: a damaged file is no code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import logging
import os
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, export
from jax.tree_util import PyTreeDef

from gaia_jax.xla import tree_text
from gaia_jax.xla.compilation_cache import warn
from gaia_jax.xla.loaded_modules import modules
from gaia_jax.xla.sources import UnknownError

ENDING = ".program"
FORMAT = b"gaia_jax program 1\n"
MOST_BYTES = 256 << 20  # of the folder; a program takes 0.1 to 5 MB
KEYS = ("threefry2x32", "rbg", "unsafe_rbg")  # kinds of random keys

log = logging.getLogger(__name__)


Function = Callable[..., Any]
Shapes = Sequence[jax.ShapeDtypeStruct]


class Head(TypedDict):
    """What a file says of its program."""

    results: list[tuple[list[int], str]]  # shape and dtype of each leaf
    out: tree_text.Json  # their structure
    devices: int
    used: list[int]  # the arguments that the program has, of all leaves
    modules: dict[str, str]  # that it was traced with


class Kept(NamedTuple):
    """A program and the structure of what it returns."""

    call: Function  # leaves -> leaves
    out: PyTreeDef


def make_program(function: Function, shapes: Shapes, tree: PyTreeDef) -> tuple[bytes, Kept]:
    """A program as it is kept, and as it is called: read again, for the same machine code.

    Raises:
        UnknownError: it cannot be exported: callbacks, or a mistake that `jax.jit` will say.
    """
    outs = []

    def flat(*leaves: Array) -> list[Any]:
        args, kwargs = jax.tree.unflatten(tree, leaves)
        result, out = jax.tree.flatten(function(*args, **kwargs))
        outs.append(out)
        return result

    try:
        exported = export.export(jax.jit(flat))(*shapes)
    except Exception as error:  # whatever export refuses, or the function itself
        raise UnknownError(f"{type(error).__name__}: {str(error)[:200]}") from None
    if exported.ordered_effects or exported.unordered_effects:
        raise UnknownError("it has effects")
    if any(x.weak_type for x in exported.out_avals):
        raise UnknownError("a result of weak type")
    head: Head = {
        "results": [(list(x.shape), str(x.dtype)) for x in exported.out_avals],
        "out": tree_text.to_json(outs[0]),
        "devices": exported.nr_devices,
        "used": list(exported.module_kept_var_idx),
        "modules": modules(),
    }
    program = bytes(exported.mlir_module_serialized)
    text = json.dumps(head).encode() + b"\n" + program
    data = FORMAT + hashlib.sha256(text).hexdigest().encode() + b"\n" + text
    return data, _kept(head, program, shapes)


def _kept(head: Head, program: bytes, shapes: Shapes) -> Kept:
    """What `make_program` has written, as it is called.

    JAX writes a whole `Exported` with flatbuffers, which this package does not ask for. So a file
    holds StableHLO, and the rest is that of a program with the same arguments and results.
    """
    results = [(tuple(shape), _dtype(name)) for shape, name in head["results"]]

    def program_(*leaves: Array) -> list[Any]:
        return [_zeros(*result) for result in results]

    like = export.export(jax.jit(program_))(*shapes)
    exported = dataclasses.replace(
        like,
        fun_name="program",
        mlir_module_serialized=program,
        module_kept_var_idx=tuple(head["used"]),
        nr_devices=head["devices"],
    )
    return Kept(exported.call, tree_text.from_json(head["out"]))


def _dtype(name: str) -> Any:
    """The dtype of that name, of random keys too."""
    if not name.startswith("key<"):
        return np.dtype(name)
    return next(x for x in map(_key_dtype, KEYS) if str(x) == name)


@functools.cache
def _key_dtype(kind: str) -> Any:
    return jax.eval_shape(lambda: jax.random.key(0, impl=kind)).dtype


def _zeros(shape: tuple[int, ...], dtype: object) -> Array:
    """An array of that shape and dtype; of keys, any."""
    if isinstance(dtype, np.dtype):
        return jnp.zeros(shape, dtype)
    kind = next(x for x in KEYS if _key_dtype(x) == dtype)
    return jnp.broadcast_to(jax.random.key(0, impl=kind), shape)


def read_program(path: Path, shapes: Shapes) -> Kept | None:
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
        now = modules()
        if any(now.get(name, state) != state for name, state in told["modules"].items()):
            log.debug("%s was traced with other modules", path.name)
            return None
        kept = _kept(told, program, shapes)
    except UnknownError as error:
        log.debug("%s: %s", path.name, error)
        return None
    except Exception:  # JAX raises many kinds
        warn(f"{path} is damaged; the program is made anew")
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the oldest goes first
    return kept


def write_program(path: Path, data: bytes) -> None:
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
