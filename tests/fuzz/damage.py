"""Damage done to a good file, by name: `cut`, `without parts.0.env`, `column vp is text`, ...

`ANY` has the damage of files of every kind; JSON, npz and Parquet have more.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ANY = ("cut", "empty", "text", "binary", "folder", "pipe", "gone")
ODD = ("null", "[]", '"odd"', "-7", "true", "{}")  # values of JSON, one of them of the right type


def of_json(*keys: str, types: bool = True) -> Iterator[str]:
    """The damage of a JSON file: `ANY`, brackets too deep, each key missing or of another type.

    Args:
        keys: dots between, numbers for places in lists.
        types: also other types.
    """
    yield from (*ANY, "deep", "list")
    for number, key in enumerate(keys):
        yield f"without {key}"
        if types:
            yield f"{key} is {ODD[number % 2]}"
            yield f"{key} is a value of another type"


def do(path: Path, fault: str) -> None:
    """Damage a file."""
    data = path.read_bytes()
    verb, _, rest = fault.partition(" ")
    if fault in ("folder", "pipe", "gone"):
        path.unlink()
        if fault != "gone":
            (os.mkdir if fault == "folder" else os.mkfifo)(path)
    elif fault in _WHOLE:
        path.write_bytes(_WHOLE[fault](data))
    elif path.suffix == ".npz":
        _arrays(path, fault)
    elif path.suffix == ".parquet":
        _columns(path, fault)
    elif verb == "line":
        lines = data.decode().splitlines(keepends=True)
        number, _, text = rest.partition(" ")
        lines[int(number)] = text + "\n"
        path.write_text("".join(lines))
    else:
        _key(path, fault)


_WHOLE = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "text": lambda data: b"my notes\nof yesterday\n",
    "binary": lambda data: bytes(range(256)) * 40,
    "deep": lambda data: b"[" * 100_000,
    "list": lambda data: b"[1, 2]",
    "stream": lambda data: data[:200] + bytes(len(data) // 3) + data[200 + len(data) // 3 :],
}  # fmt: skip


def _key(path: Path, fault: str) -> None:
    """`without KEY`, `KEY is VALUE`, of a JSON or YAML file."""
    import yaml

    text = path.read_text()
    tree = yaml.safe_load(text) if path.suffix == ".yaml" else json.loads(text)
    key, _, value = fault.partition(" is ")
    *parents, last = key.removeprefix("without ").replace("games.parquet", "games/p").split(".")
    node, leaf = tree, last.replace("games/p", "games.parquet")
    for parent in parents:
        name = parent.replace("games/p", "games.parquet")
        node = node[int(name)] if isinstance(node, list) else node[name]
    place: Any = int(leaf) if isinstance(node, list) else leaf
    if not value:
        del node[place]
    elif value == "a value of another type":
        node[place] = 1.5 if isinstance(node[place], str) else "odd"
    else:
        node[place] = json.loads(value)
    path.write_text(yaml.safe_dump(tree) if path.suffix == ".yaml" else json.dumps(tree))


def _arrays(path: Path, fault: str) -> None:
    """`without NAME`, `NAME is a text|short|flat|an object`, of an npz; `more NAME`."""
    with np.load(path) as file:
        arrays = dict(file)
    name, _, kind = fault.partition(" is ")
    if fault.startswith("without "):
        del arrays[fault.removeprefix("without ")]
    elif fault.startswith("more "):
        arrays[fault.removeprefix("more ")] = np.zeros(3)
    else:
        old = arrays[name]
        arrays[name] = {
            "text": np.array("odd"), "short": old[:-1] if old.ndim else old, "flat": old.ravel(),
            "object": np.array([{}], object), "number": np.array(3.5),
        }[kind]  # fmt: skip
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    path.write_bytes(out.getvalue())


def _columns(path: Path, fault: str) -> None:
    """`without NAME`, `NAME is text|number|null`, `no rows`, `half the rows`, `more NAME`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    name, _, kind = fault.partition(" is ")
    place = table.schema.names.index(name) if kind else 0
    if fault == "no rows":
        table = table.slice(0, 0)
    elif fault == "half the rows":
        table = table.slice(0, len(table) // 2)
    elif fault.startswith("without "):
        table = table.drop_columns([fault.removeprefix("without ")])
    elif fault.startswith("more "):
        table = table.append_column(fault.removeprefix("more "), pa.array([0] * len(table)))
    else:
        values: Sequence[Any] = {"text": ["odd"], "number": [7], "null": [None]}[kind] * len(table)
        table = table.set_column(place, name, pa.array(values))
    pq.write_table(table, path)
