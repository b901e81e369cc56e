"""Frozen dataclasses that are pytrees: what the state, a set-up and an observation are made of."""

from __future__ import annotations

import dataclasses
from typing import Any, Self, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


def static() -> Any:
    """A field that is part of the tree's structure, not one of its leaves: hashable, no array."""
    return dataclasses.field(metadata={"static": True})


@dataclasses.dataclass(frozen=True)
class Leaf:
    """What an array of a struct holds."""

    meaning: str
    low: int
    high: int
    dtype: str
    shape: tuple[int | str, ...]  # C cells, P players; a number is that of `lost_fleet`


def leaf(
    meaning: str, low: int, high: int, dtype: str = "int8", shape: tuple[int | str, ...] = ()
) -> Any:
    """A field that is an array, declared once: what it means, its range, dtype and shape."""
    return dataclasses.field(metadata={"leaf": Leaf(meaning, low, high, dtype, shape)})


def leaves(kind: type) -> dict[str, Leaf]:
    """The declared arrays of a struct by name."""
    found = {field.name: field.metadata.get("leaf") for field in dataclasses.fields(kind)}
    return {name: declared for name, declared in found.items() if declared}


@dataclass_transform(frozen_default=True, field_specifiers=(static, leaf))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass, a jax pytree of all its fields, with `.replace(**changes)`.

    Args:
        cls: a class with annotated fields, every one of them an array or a pytree, but for those
            that are `static()`.
    Returns:
        The same class as a registered dataclass.
    """
    out: Any = dataclasses.dataclass(frozen=True)(cls)
    data: list[str] = []
    meta: list[str] = []
    for field in dataclasses.fields(out):
        (meta if field.metadata.get("static") else data).append(field.name)
    jax.tree_util.register_dataclass(out, data_fields=data, meta_fields=meta)

    def replace(self: Any, **changes: Any) -> Any:
        """A copy with the named fields changed; an unknown name is a TypeError."""
        return dataclasses.replace(self, **changes)

    if not hasattr(cls, "replace"):
        out.replace = replace
    kind: type[T] = out
    return kind


class Struct:
    """The base of pytrees that are changed by copies."""

    def replace(self, **changes: Any) -> Self:
        """A copy with the named fields changed; an unknown name is a TypeError."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]  # all are dataclasses
