"""The structure of a pytree as JSON, and back: no pickle, no import, no code from a file."""

from __future__ import annotations

import collections
import dataclasses
import sys
from typing import Any, TypeAlias

import jax
from jax.tree_util import PyTreeDef

from gaia_jax.xla.sources import UnknownError

Json: TypeAlias = "str | int | float | bool | list[Json] | None"
PLAIN_TYPES = (bool, int, float, str)  # not what is made of them
PLAIN: dict[str, Any] = {"dict": dict, "tuple": tuple, "list": list, "NoneType": type(None)}


def to_json(tree: PyTreeDef) -> Json:
    """What `json.dumps` takes.

    Raises:
        UnknownError: a node of a kind that `from_json` could not make again.
    """
    text = _written(tree)
    if from_json(text) != tree:
        raise UnknownError(f"a tree that is not what it says: {tree}")
    return text


def _written(tree: PyTreeDef) -> Json:
    node: Any = tree.node_data()
    parts = [_written(child) for child in tree.children()]
    if node is None:
        return "*"
    kind, more = node
    if kind is collections.OrderedDict or kind is dict:
        return [kind.__name__, [_constant(key) for key in more], parts]
    if kind in PLAIN.values():
        return [kind.__name__, None, parts]
    if not _is_record(kind):
        raise UnknownError(f"a tree with a {kind.__name__}")
    meta = list(more or ()) if dataclasses.is_dataclass(kind) else []
    return [f"{kind.__module__}:{kind.__qualname__}", [_constant(x) for x in meta], parts]


def from_json(text: Json) -> PyTreeDef:
    """The structure that `to_json` was given.

    Raises:
        UnknownError: a class that is not loaded, or is another one now.
    """
    return jax.tree.structure(_example(text))


def _example(text: Json) -> Any:
    """A tree of that structure."""
    if text == "*":
        return 0
    node: Any = text
    name, more, parts = node
    children = [_example(part) for part in parts]
    if name in ("dict", "OrderedDict"):
        items = zip(more, children, strict=True)
        return dict(items) if name == "dict" else collections.OrderedDict(items)
    if name in PLAIN:
        return None if name == "NoneType" else PLAIN[name](children)
    kind = _loaded(name)
    if issubclass(kind, tuple):
        return kind(*children)
    fields: dict[bool, list[str]] = {False: [], True: []}
    for field in dataclasses.fields(kind):
        # JAX's mark and flax's.
        told = field.metadata.get("static") or not field.metadata.get("pytree_node", True)
        fields[bool(told)].append(field.name)
    # Not through its `__init__`, which may look at what it is given.
    out = object.__new__(kind)
    names = fields[False] + fields[True]
    for field_name, value in zip(names, children + more, strict=True):
        object.__setattr__(out, field_name, value)
    return out


def _is_record(kind: type) -> bool:
    """A NamedTuple or a dataclass."""
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return named or dataclasses.is_dataclass(kind)


def _loaded(name: str) -> Any:
    """The class of that name, from a module that is loaded already."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type) or not _is_record(found):
        raise UnknownError(f"no class {name}")
    return found


def _constant(x: object) -> Json:
    """A constant of a structure that JSON keeps as it is."""
    if x is None or (isinstance(x, bool | int | float | str) and type(x) in PLAIN_TYPES):
        return x
    raise UnknownError(f"a tree with the constant {x!r}")
