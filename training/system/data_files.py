"""Read and write JSON and npz files; a truncated or damaged file gives a one-line error.

Commands read the files of other commands with it. `games/parquet_files.py` reads Parquet, `config`
YAML, `gaia_jax.replay` records.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gaia_jax.cli.command_line import UserError, one_line, read_bytes, read_text, reason, shorten
from gaia_jax.cli.outputs import write_bytes

from ..types import Params

if TYPE_CHECKING:
    from jax.typing import ArrayLike

LONGEST = 10**8  # bytes of a JSON file
LONGEST_VALUE = 60  # characters of a value, in a message
ZIP = b"PK"  # the first bytes of an npz

# What a key must hold, by the name that a message has for it.
KINDS: dict[str, tuple[type, ...]] = {
    "a text": (str,), "a whole number": (int,), "a number": (int, float), "true or false": (bool,),
    "a list": (list,), "an object": (dict,),
}  # fmt: skip
TEXT, WHOLE, NUMBER, SWITCH, LIST, OBJECT = KINDS


def read_json(path: Path, what: str = "", longest: int = LONGEST) -> Any:
    """The contents of a JSON file; arguments and errors as of `read_text`."""
    text = read_text(path, longest, what)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = "it is empty" if not text.strip() else reason(error)
        raise UserError(f"{path} is not JSON: {problem}") from error


def read_object(path: Path, keys: Mapping[str, str], what: str = "") -> dict[str, Any]:
    """A JSON object with these keys; arguments and errors as of `read_json`, `check_keys`."""
    data = read_json(path, what)
    check_keys(str(path), data, keys)
    return dict(data)


def check_keys(path: str, data: object, keys: Mapping[str, str]) -> None:
    """Raise a UserError for a value that is no object, lacks a key, or has one of a wrong kind.

    Args:
        path: in messages.
        keys: the kind of each required key, for example `TEXT`; further keys are allowed.
    """
    if not isinstance(data, dict):
        raise UserError(f"{path} must be an object, not {shown(data)}")
    for key, kind in keys.items():
        if key not in data:
            raise UserError(f"{path}: key {key!r} is missing")
        check_kind(f"{path}: {key}", data[key], kind)


def check_kind(path: str, value: object, kind: str) -> None:
    """Raise a UserError for another kind; booleans, NaN and infinities are not numbers."""
    right = isinstance(value, KINDS[kind]) and (kind == SWITCH or not isinstance(value, bool))
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        raise UserError(f"{path} must be {kind}, not {shown(value)}")


def shown(value: object) -> str:
    """A value as text for a message, at most LONGEST_VALUE characters."""
    return shorten(one_line(json.dumps(value, default=str)[: 4 * LONGEST_VALUE]), LONGEST_VALUE)


def read_arrays(
    path: Path | str, what: str = "", needs: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """The arrays of an npz; a UserError if it is damaged, cannot be read, or lacks an array."""
    read = f"cannot read {f'{what} {path}'.strip()}"
    data = read_bytes(path, None, what)
    if data[: len(ZIP)] != ZIP:
        raise UserError(f"{read}: it is {'no npz file' if data else 'empty'}")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
    except Exception as error:  # numpy, zipfile and zlib raise many types for damaged bytes
        raise UserError(f"{read}: it is damaged: {reason(error)}") from error
    for name in needs:
        if name not in arrays:
            raise UserError(f"{read}: it has no array {name!r}")
    return arrays


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def npz_of(arrays: Mapping[str, ArrayLike], compressed: bool = False) -> bytes:
    """Arrays by name as the bytes of an npz."""
    file, contents = io.BytesIO(), {name: np.asarray(x) for name, x in arrays.items()}
    write: Any = np.savez_compressed if compressed else np.savez
    write(file, **contents)
    return file.getvalue()


def write_arrays(path: Path, arrays: Mapping[str, ArrayLike], compressed: bool = False) -> None:
    """Write an npz atomically."""
    write_bytes(path, npz_of(arrays, compressed))


def flatten(params: Params) -> dict[str, Any]:
    """Parameters -> arrays by name, as an npz holds them."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    name = jax.tree_util.keystr
    return {name(path, simple=True, separator="/"): np.asarray(x) for path, x in leaves}


def unflatten(arrays: Mapping[str, ArrayLike]) -> Any:
    """Arrays by name -> parameters, nested dictionaries."""
    import jax.numpy as jnp

    tree: dict[str, Any] = {}
    for name in arrays:
        node, parts = tree, name.split("/")
        for part in parts[:-1]:
            node = node.setdefault(part, {})
        node[parts[-1]] = jnp.asarray(arrays[name])
    return tree


def read_parameters(path: Path | str) -> Any:
    """The parameters in an npz, or a UserError; the caller checks that they fit its network."""
    arrays = read_arrays(path, "the parameters")
    try:
        params = unflatten(arrays)
    except (AttributeError, TypeError) as error:  # one name is a prefix of another
        raise UserError(f"{path} holds no parameters of a network") from error
    if not isinstance(params.get("params"), dict):
        raise UserError(f"{path} holds no parameters of a network")
    return params


def check_same(path: Path, stored: Mapping[str, object], own: Mapping[str, object]) -> None:
    """Raise a UserError for the first setting that differs."""
    for key in sorted(own.keys() | stored.keys()):
        if stored.get(key) != own.get(key):
            raise UserError(f"{path} has {key} {stored.get(key)!r}, not {own.get(key)!r}")
