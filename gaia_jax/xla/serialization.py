"""Pytree types in files of other libraries: `jax.export` programs and flax's state dicts.

`register` is called once for each type. flax is no dependency and takes seconds to import, so its
part waits until somebody imports `flax.serialization`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, TypeVar

from jax import export

T = TypeVar("T")

_FLAX = "flax.serialization"
# The names of the fields that hold arrays, of an instance.
Names = Callable[[Any], Sequence[str]]
FromChildren = Callable[..., Any]  # (auxiliary data, children) -> an instance
_waiting: list[tuple[type, Names]] = []


def register(kind: type, names: Names, from_children: FromChildren) -> None:
    """Register a pytree type with `jax.export` and, once it is imported, with flax.

    Args:
        kind: the type; its auxiliary data is a tuple that JSON can hold.
        names: the fields of an instance that hold arrays or pytrees of arrays.
        from_children: (auxiliary data, children) -> an instance.
    """
    register_export(kind, from_children)
    if _FLAX in sys.modules:
        _register_with_flax(sys.modules[_FLAX], kind, names)
    else:
        _waiting.append((kind, names))


def register_export(kind: type, from_children: FromChildren) -> None:
    """The part of `register` for `jax.export`."""
    # A class that a notebook defines again has the name of the first one, which JAX keeps.
    with contextlib.suppress(ValueError):
        export.register_pytree_node_serialization(
            kind,
            serialized_name=f"{kind.__module__}.{kind.__qualname__}",
            serialize_auxdata=lambda aux: json.dumps(aux).encode(),
            deserialize_auxdata=lambda data: tuple(json.loads(data.decode())),
            from_children=from_children,
        )


def _register_with_flax(flax: ModuleType, kind: type, names: Names) -> None:
    """The same state dict as that of a flax dataclass: its arrays by field, without empty ones."""

    def to_state_dict(value: object) -> dict[str, Any]:
        return {name: flax.to_state_dict(getattr(value, name)) for name in names(value)}

    def from_state_dict(value: T, state: dict[str, object]) -> T:
        expected = names(value)
        if wrong := set(expected) ^ set(state):
            problem = "lacks" if wrong - set(state) else "has unknown"
            raise ValueError(
                f"the state dict of a {kind.__name__} {problem} {', '.join(sorted(wrong))}, "
                f"at path {flax.current_path()}"
            )
        fields = {
            name: flax.from_state_dict(getattr(value, name), state[name], name=name)
            for name in expected
        }
        return dataclasses.replace(value, **fields)  # type: ignore[type-var]  # a dataclass

    flax.register_serialization_state(kind, to_state_dict, from_state_dict, override=True)


class _AfterImport(MetaPathFinder):
    """Finds `flax.serialization` as usual, and registers the waiting types once it has run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, whose loader also registers."""
        if fullname != _FLAX:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_register(module: ModuleType) -> None:
            run(module)
            while _waiting:
                _register_with_flax(module, *_waiting.pop())

        spec.loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec


if _FLAX not in sys.modules:
    sys.meta_path.insert(0, _AfterImport())
