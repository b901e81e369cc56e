"""Records of many small fields kept in two arrays, one of int8 and one of int16.

A step passes a game through a dozen stages; with a leaf a field each stage carries a hundred of
them in and out, which was half of the compiled program (docs/performance.md).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import jax.numpy as jnp
from jax import Array

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

    `replace` gives a record with some fields changed, `unpack` all fields in int32 as `plain`, and
    `of` packs such a one again.
    """

    small: Array  # (..., number of columns) int8
    large: Array  # (..., number of columns) int16

    fields: ClassVar[dict[str, Field]] = {}
    aliases: ClassVar[dict[str, tuple[str, int]]] = {}  # other names for one column of a field
    plain: ClassVar[type]

    def __getattr__(self, name: str) -> Array:
        """The field `name` with its own dtype; the axes of the record come first."""
        if name in type(self).aliases:
            whole, column = type(self).aliases[name]
            return getattr(self, whole)[..., column]
        field = type(self).fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        first = 0
        for other, spec in type(self).fields.items():
            if other == name:
                break
            first += spec.columns if spec.short == field.short else 0
        store = self.large if field.short else self.small
        if field.columns == 1:
            value = store[..., first]
        else:
            value = store[..., first : first + field.columns]
        if field.dtype == WIDE:
            low, high = value[..., 0].astype(jnp.int32), value[..., 1].astype(jnp.int32)
            return low | high << LOW_BITS
        if field.dtype == FLAG:
            return value != 0
        return value.reshape((*value.shape[:-1], *field.shape)) if field.shape[1:] else value

    def unpack(self) -> Any:
        """All fields as `plain`: int32, flags as bool."""
        fields = type(self).fields
        values = {name: getattr(self, name) for name in fields}
        return type(self).plain(
            **{k: v if v.dtype == bool else v.astype(jnp.int32) for k, v in values.items()}
        )

    @classmethod
    def of(cls, plain: Any) -> Any:
        """The record of a `plain` one; values must fit the dtypes of their fields."""
        small, large = [], []
        for name, field in cls.fields.items():
            value = jnp.asarray(getattr(plain, name))
            if field.dtype == WIDE:
                low = value & ((1 << LOW_BITS) - 1)
                columns = jnp.stack([low, value >> LOW_BITS], axis=-1)
            else:
                shared = value.ndim - len(field.shape)
                columns = value.reshape((*value.shape[:shared], field.columns))
            (large if field.short else small).append(columns)

        def join(parts: list[Array], dtype: Any) -> Array:
            return jnp.concatenate([part.astype(dtype) for part in parts], axis=-1)

        return cls(join(small, jnp.int8), join(large, jnp.int16))

    def replace(self, **changes: Any) -> Any:
        """The record with the named fields changed; an unknown name is a TypeError."""
        arrays = {k: changes.pop(k) for k in ("small", "large") if k in changes}
        if arrays:
            return dataclasses.replace(self, **arrays)
        return self.of(self.unpack().replace(**changes))
