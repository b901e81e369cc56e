"""Frozen dataclasses that are pytrees: what the state, a set-up and an observation are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self, TypeVar, dataclass_transform

import jax
import numpy as np

from gaia_jax.xla.serialization import register

T = TypeVar("T")


def static() -> Any:
    """A field that is part of the tree's structure, not one of its leaves: hashable, no array."""
    return dataclasses.field(metadata={"static": True})


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The meaning, range and shape of an array of a struct."""

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
    is_leaf = {field.name: field.metadata.get("leaf") for field in dataclasses.fields(kind)}
    return {name: declared for name, declared in is_leaf.items() if declared}


@dataclass_transform(frozen_default=True, field_specifiers=(static, leaf))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass, a jax pytree of all its fields, with `.replace(**changes)`.

    Programs over it can be serialized with `jax.export`, its instances with `flax.serialization`.

    Args:
        cls: a class with annotated fields, every one of them an array or a pytree, but for those
            that are `static()`. A part that is None has no leaves.
    Returns:
        The same class as a registered dataclass.
    """
    out: Any = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(out)
    meta = [field.name for field in fields if field.metadata.get("static")]
    data = [field.name for field in fields if field.name not in meta]
    jax.tree_util.register_dataclass(out, data_fields=data, meta_fields=meta)
    register(
        out,
        lambda value: [name for name in data if getattr(value, name) is not None],
        lambda aux, children: out(**dict(zip((*data, *meta), (*children, *aux), strict=True))),
    )
    return _with_replace(out)


@dataclass_transform(frozen_default=True, field_specifiers=(static, leaf))
def pytree_without_empty(cls: type[T]) -> type[T]:
    """`pytree` of a class whose arrays may have length 0: such an array is no leaf of the tree.

    orbax refuses leaves of size 0, and `jax.lax.map` cannot divide them into batches. Read as an
    attribute an empty array is there, (0,) in a batch too.

    Args:
        cls: a class whose fields are declared by `leaf`, or are parts: pytrees that may be None,
            which is their default.
    """
    out: Any = dataclasses.dataclass(frozen=True)(cls)
    declared = leaves(out)
    dtypes = {name: np.dtype(x.dtype) for name, x in declared.items()}
    arrays = [name for name, x in declared.items() if x.shape]
    parts = [field.name for field in dataclasses.fields(out) if field.name not in declared]

    everything = tuple(dtypes)

    def present(value: object) -> tuple[str, ...]:
        """The names of the fields that are not empty; a batch of no games is not empty here."""
        own = vars(value)
        empty = {name for name in arrays if getattr(own[name], "shape", (1,))[-1:] == (0,)}
        optional = tuple(name for name in parts if own[name] is not None)
        if not empty and not optional:
            return everything
        return (*(name for name in everything if name not in empty), *optional)

    # Auxiliary data: the names of the leaves; () for all fields, which keeps texts of trees short.
    def flatten_with_keys(value: object) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
        children, names = flatten(value)
        keys = map(jax.tree_util.GetAttrKey, names or everything)
        return list(zip(keys, children, strict=True)), names

    def flatten(value: object) -> tuple[list[Any], tuple[str, ...]]:
        names, own = present(value), vars(value)
        return [own[name] for name in names], () if names is everything else names

    def unflatten(names: tuple[str, ...], children: Iterable[object]) -> Any:
        given = dict(zip(names or everything, children, strict=True))
        empty = {x: np.zeros(0, dtypes[x]) for x in dtypes if x not in given}
        return out(**empty, **given)

    jax.tree_util.register_pytree_with_keys(out, flatten_with_keys, unflatten, flatten)
    register(out, present, unflatten)
    return _with_replace(out)


def _with_replace(kind: type[T]) -> type[T]:
    """The class with a method `replace`."""
    if not hasattr(kind, "replace"):
        kind.replace = Struct.replace  # type: ignore[attr-defined]
    return kind


class Struct:
    """The base of pytrees that are changed by copies."""

    def replace(self, **changes: Any) -> Self:
        """A copy with the named fields changed; an unknown name is a TypeError."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]  # all are dataclasses


class ComparedByAttributes:
    """The base of frozen dataclasses that are equal where all their attributes are.

    A dataclass compares its fields alone. A subclass may set further attributes, in an `__init__`
    of its own for example, and programs are cached by what is equal. `field(compare=False)` leaves
    a field out. A dataclass that inherits from this class directly needs `eq=False`.
    """

    def __init_subclass__(cls, **options: object) -> None:
        """Keep `dataclass` from giving subclasses a comparison by their fields."""
        super().__init_subclass__(**options)
        if "__eq__" not in vars(cls) and "__hash__" not in vars(cls):
            cls.__eq__ = ComparedByAttributes.__eq__  # type: ignore[method-assign]
            cls.__hash__ = ComparedByAttributes.__hash__  # type: ignore[method-assign]

    def _compared(self) -> dict[str, Any]:
        """The attributes that count, by name."""
        cls, own = type(self), dict(vars(self))
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # all are dataclasses
            own[field.name] = getattr(self, field.name)
            if not field.compare:
                del own[field.name]
        cached = {name for name in own if isinstance(getattr(cls, name, None), cached_property)}
        return {name: own[name] for name in sorted(own.keys() - cached)}

    def __eq__(self, other: object) -> bool:
        """Of the same class, with the same attributes."""
        if type(self) is not type(other) or not isinstance(other, ComparedByAttributes):
            return NotImplemented
        mine, others = self._compared(), other._compared()
        return mine.keys() == others.keys() and all(_equal(mine[x], others[x]) for x in mine)

    def __hash__(self) -> int:
        """Of all attributes; a TypeError names one that is not hashable."""
        attributes = self._compared()
        for name, value in attributes.items():
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"{type(self).__name__}.{name} must be hashable, because programs are cached "
                    f"by environment, not a {type(value).__name__}; use a tuple, or close over it"
                ) from None
        return hash((type(self), *attributes.items()))


def _equal(first: object, other: object) -> bool:
    """Whether two attributes are; arrays only where they are the same object."""
    try:
        return first is other or bool(first == other)
    except (TypeError, ValueError):  # of arrays, whose == is an array
        return False
