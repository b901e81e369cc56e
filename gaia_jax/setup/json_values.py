"""JSON values checked one by one: objects, lists, ids. `path` names the place in the document.

Each function raises ValueError with the place, the value and the choices.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gaia_jax.cli.arguments import shown
from gaia_jax.cli.command_line import DuplicateKeyError, nearest, unique_keys


def parse(text: str) -> Any:
    """A JSON text; a key that appears twice is an error."""

    def integer(digits: str) -> int:
        if len(digits) > 20:
            raise ValueError(f"the set-up has a number of {len(digits)} digits")
        return int(digits)

    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_int=integer)
    except DuplicateKeyError as error:
        raise ValueError(f"the set-up: {error}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"the set-up is not JSON: {error}") from error
    except RecursionError:
        raise ValueError("the set-up has brackets too deep to read") from None


def choices(ids: Sequence[Hashable]) -> str:
    """The ids as an error lists them."""
    return ", ".join(str(id) for id in ids)


def check_object(path: str, value: object, keys: Sequence[str]) -> Mapping[str, Any]:
    """An object with just these keys."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: must be an object, got {shown(value)}")
    for key in value:
        if key not in keys:
            raise ValueError(f"{path}: unknown key {shown(key)}; known are {choices(keys)}")
    for key in keys:
        if key not in value:
            raise ValueError(f"{path}: key {key!r} is missing")
    return value


def check_list(path: str, value: object, count: int) -> list[Any]:
    """A list of just that many values."""
    if not isinstance(value, list | tuple) or len(value) != count:
        raise ValueError(f"{path}: must be a list of {count}, got {shown(value)}")
    return list(value)


def index_of(path: str, value: object, ids: Sequence[Hashable]) -> int:
    """The index of `value` in `ids`, of the same type: 1.0 and True do not match 1."""
    for index, id in enumerate(ids):
        if type(value) is type(id) and value == id:
            return index
    near = nearest(value, map(str, ids)) if isinstance(value, str) else ""
    raise ValueError(f"{path}: unknown value {shown(value)}; choose from {choices(ids)}{near}")


def different(path: str, values: Mapping[Any, object], ids: Sequence[Hashable]) -> np.ndarray:
    """The indices of `values`, no two of them the same; the keys name the places."""
    indices = [index_of(f"{path}[{place!r}]", value, ids) for place, value in values.items()]
    for index in indices:
        if indices.count(index) > 1:
            raise ValueError(f"{path}: {ids[index]!r} appears twice")
    return np.array(indices, int)


def read_turned(
    path: str, value: object, count: int, ids: Sequence[str], turns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Different tiles, each with a rotation below `turns`."""
    entries = check_list(path, value, count)
    for place, entry in enumerate(entries):
        check_object(f"{path}[{place}]", entry, ("tile", "rotation"))
    tiles = different(path, {i: entry["tile"] for i, entry in enumerate(entries)}, ids)
    rotations = [
        index_of(f"{path}[{place}]['rotation']", entry["rotation"], range(turns))
        for place, entry in enumerate(entries)
    ]
    return tiles, np.array(rotations, int)
