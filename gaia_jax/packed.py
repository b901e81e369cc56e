"""Records of many small fields kept in two arrays, one of int8 and one of int16.

A step passes a game through a dozen stages; with a leaf a field each stage carries a hundred of
them in and out, which was half of the compiled program (docs/performance.md).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.struct import pytree

BYTE, SHORT, WIDE, FLAG = "int8", "int16", "int32", "bool"
# A WIDE field lies in two columns of int16, the low one with so many bits.
LOW_BITS = 15


@dataclasses.dataclass(frozen=True)
class Field:
    """Dtype and shape of one field, without the axes that all fields of the record share."""

    dtype: str = BYTE
    shape: tuple[int, ...] = ()

    @property
    def columns(self) -> int:
        """How many columns the field takes."""
        return math.prod(self.shape) * (2 if self.dtype == WIDE else 1)

    @property
    def short(self) -> bool:
        """Whether the field lies in the int16 array."""
        return self.dtype in (SHORT, WIDE)


@pytree
class Packed:
    """A record; a subclass says its `fields`, which are read as attributes.

    `replace` gives a record with some fields changed; `unpack` gives one to be changed many times,
    which `of` packs again.
    """

    small: Array  # (..., number of columns) int8
    large: Array  # (..., number of columns) int16

    fields: ClassVar[dict[str, Field]] = {}
    aliases: ClassVar[dict[str, tuple[str, int]]] = {}  # other names for one column of a field

    def __getattr__(self, name: str) -> Array:
        """The field `name` with its own dtype; the axes of the record come first."""
        if name in type(self).aliases:
            whole, column = type(self).aliases[name]
            return stretch(getattr(self, whole), column)
        field = type(self).fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        first = 0
        for other, spec in type(self).fields.items():
            if other == name:
                break
            first += spec.columns if spec.short == field.short else 0
        store = self.large if field.short else self.small
        value = stretch(store, first, None if field.columns == 1 else field.columns)
        if field.dtype == WIDE:
            low, high = value[..., 0].astype(jnp.int32), value[..., 1].astype(jnp.int32)
            return low | high << LOW_BITS
        if field.dtype == FLAG:
            return value != 0
        return value.reshape((*value.shape[:-1], *field.shape)) if field.shape[1:] else value

    def unpack(self) -> Any:
        """All fields in int32, flags as bool: an `Open` record that can be changed."""
        return Open(self, {})

    @classmethod
    def of(cls, record: Any) -> Any:
        """The record of an `Open` one, or of an object with all fields as attributes.

        Values must fit the dtypes of their fields.
        """
        if isinstance(record, Open):
            return record.pack()
        small, large = [], []
        for name, field in cls.fields.items():
            value = jnp.asarray(getattr(record, name))
            (large if field.short else small).append(_columns(field, value))
        return cls(jnp.concatenate(small, axis=-1), jnp.concatenate(large, axis=-1))

    def replace(self, **changes: Any) -> Any:
        """The record with the named fields changed; an unknown name is a TypeError."""
        arrays = {k: changes.pop(k) for k in ("small", "large") if k in changes}
        if arrays:
            return dataclasses.replace(self, **arrays)
        return self.unpack().replace(**changes).pack()


def stretch(array: Array, first: int, size: int | None = None) -> Array:
    """`array[..., first : first + size]`, (..., size), or column `first`, (...,), without a size.

    A step reads a thousand of them, which `jnp` indexing would make a fifteenth of the tracing.
    """
    if isinstance(array, np.ndarray):
        return array[..., first] if size is None else array[..., first : first + size]
    if size is None:
        return lax.index_in_dim(array, first, axis=-1, keepdims=False)
    return lax.slice_in_dim(array, first, first + size, axis=-1)


def _columns(field: Field, value: Array) -> Array:
    """(..., columns of the field) in the dtype of its array."""
    if field.dtype == WIDE:
        low = value & ((1 << LOW_BITS) - 1)
        value = jnp.stack([low, value >> LOW_BITS], axis=-1)
    else:
        value = value.reshape((*value.shape[: value.ndim - len(field.shape)], field.columns))
    return value.astype(jnp.int16 if field.short else jnp.int8)


class Open:
    """A packed record in the middle of being changed.

    Fields read as int32, flags as bool. Those that were replaced are kept beside the record, so
    that packing writes them and copies the rest in whole stretches: each written field is a program
    of its own for XLA.
    """

    def __init__(self, base: Packed, changes: dict[str, Array]):
        """`changes` by name of a field, in int32 or bool."""
        self._base, self._changes = base, changes

    def __getattr__(self, name: str) -> Array:
        """The field `name`, or an alias of one of its columns."""
        if name.startswith("_"):
            raise AttributeError(name)
        kind = type(self._base)
        if name in kind.aliases:
            whole, column = kind.aliases[name]
            return stretch(getattr(self, whole), column)
        if name in self._changes:
            return self._changes[name]
        value = getattr(self._base, name)
        return value if value.dtype == bool else value.astype(jnp.int32)

    def replace(self, **changes: Any) -> Any:
        """The record with the named fields, or aliases, changed; an unknown name is a TypeError."""
        kind, out = type(self._base), dict(self._changes)
        named = {k: changes.pop(k) for k in kind.aliases if k in changes}
        for whole in {kind.aliases[k][0] for k in named}:
            parts = [k for k, (other, _) in kind.aliases.items() if other == whole]
            columns = [named.get(k, getattr(self, k)) for k in parts]
            changes[whole] = jnp.stack(jnp.broadcast_arrays(*columns), axis=-1)
        for name, value in changes.items():
            if name not in kind.fields:
                raise TypeError(f"{kind.__name__} has no field {name!r}")
            shape = (*self._base.small.shape[:-1], *kind.fields[name].shape)
            out[name] = jnp.broadcast_to(jnp.asarray(value), shape)
        return Open(self._base, out)

    def pack(self) -> Any:
        """The packed record with the changes in it."""
        kind, arrays = type(self._base), []
        for store, short in ((self._base.small, False), (self._base.large, True)):
            parts, first, kept = [], 0, 0
            for name, field in kind.fields.items():
                if field.short != short:
                    continue
                if name in self._changes:
                    if kept < first:
                        parts.append(stretch(store, kept, first - kept))
                    parts.append(_columns(field, self._changes[name]))
                    kept = first + field.columns
                first += field.columns
            if kept < first:
                parts.append(stretch(store, kept, first - kept))
            arrays.append(jnp.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0])
        return kind(*arrays)


jax.tree_util.register_pytree_node(
    Open,
    lambda x: ((x._base, x._changes), None),
    lambda _, children: Open(*children),
)
