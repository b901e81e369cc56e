"""Records of many small fields kept in two arrays, one of int8 and one of int16.

A step passes a game through a dozen stages; with a leaf a field each stage carries a hundred of
them in and out, which was half of the compiled program (docs/lab/performance.md). A field is
declared once, with dtype, shape, range and meaning; the packing, the attribute and `replace` are
made of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.xla.struct import pytree

INT8, INT16, INT32, BOOL, UINT8 = "int8", "int16", "int32", "bool", "uint8"
# The numbers of players that a record may be laid out for.
PLAYERS = (2, 3, 4)
# An INT32 field takes two columns of int16; the low one has this many bits.
LOW_BITS = 15

Columns = TypeVar("Columns", Array, np.ndarray)


class PerPlayer(NamedTuple):
    """The length of an axis that grows with the number of players."""

    factor: int = 1
    extra: int = 0


@dataclass(frozen=True)
class Field:
    """One field of a record, without the axes that all fields of the record share.

    Read on a record it gives the field's values, on the class the declaration.
    """

    meaning: str
    low: int
    high: int
    dtype: str = INT8
    shape: tuple[int | PerPlayer, ...] = ()
    name: str = ""
    first: int = 0  # its first column in its array

    def sized(self, players: int) -> Field:
        """The field in a game of that many players."""
        shape = tuple(
            n.factor * players + n.extra if isinstance(n, PerPlayer) else n for n in self.shape
        )
        return replace(self, shape=shape)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The shape of a field that is `sized`."""
        return tuple(n for n in self.shape if not isinstance(n, PerPlayer))

    @property
    def columns(self) -> int:
        """The number of columns of the field, once it is `sized`."""
        return math.prod(self.lengths) * (2 if self.dtype == INT32 else 1)

    @property
    def is_large(self) -> bool:
        """Whether the field is in the int16 array."""
        return self.dtype in (INT16, INT32)

    @overload
    def __get__(self, record: None, owner: type) -> Field: ...

    @overload
    def __get__(self, record: PackedRecord, owner: type) -> Array: ...

    def __get__(self, record: PackedRecord | None, owner: type) -> Array | Field:
        """The values with the field's own dtype; the axes of the record come first."""
        return self if record is None else record.read(self)

    def columns_of(self, value: Array) -> Array:
        """(..., columns) in the dtype of the field's array."""
        if self.dtype == INT32:
            low = value & ((1 << LOW_BITS) - 1)
            value = jnp.stack([low, value >> LOW_BITS], axis=-1)
        else:
            value = value.reshape((*value.shape[: value.ndim - len(self.shape)], self.columns))
        return value.astype(jnp.int16 if self.is_large else jnp.int8)


@dataclass(frozen=True)
class Column:
    """Another name for one column of a field: `players.ore` is `players.resources[..., 1]`."""

    field: str
    index: int

    @overload
    def __get__(self, record: None, owner: type) -> Column: ...

    @overload
    def __get__(self, record: PackedRecord, owner: type) -> Array: ...

    def __get__(self, record: PackedRecord | None, owner: type) -> Array | Column:
        """The column's values."""
        if record is None:
            return self
        columns: Array = getattr(record, self.field)
        return slice_columns(columns, self.index)


@pytree
class PackedRecord:
    """A record; a subclass declares its fields, which are read as attributes.

    `replace` gives a record with some fields changed; `edit` gives one to be changed many times,
    in int32, which `pack` packs again.
    """

    small: Array  # (..., number of columns) int8
    large: Array  # (..., number of columns) int16

    fields: ClassVar[dict[str, Field]] = {}  # as they are declared
    layouts: ClassVar[dict[int, dict[str, Field]]] = {}  # by the width of `small`
    aliases: ClassVar[dict[str, Column]] = {}
    editor: ClassVar[type[RecordEditor]]

    def __init_subclass__(cls, edits: bool = False) -> None:
        """Give each declared field its place, and make the class of records being edited."""
        if edits:
            return
        fields = {}
        for name, value in list(vars(cls).items()):
            if isinstance(value, Field):
                fields[name] = replace(value, name=name)
                setattr(cls, name, fields[name])
        cls.fields = fields
        # The width determines the number of players.
        cls.layouts = {_widths(x)[False]: x for x in (cls.layout(p) for p in PLAYERS)}
        cls.aliases = {name: x for name, x in vars(cls).items() if isinstance(x, Column)}
        cls.editor = type(f"{cls.__name__}Editor", (RecordEditor, cls), {}, edits=True)
        jax.tree_util.register_pytree_node(
            cls.editor,
            lambda x: ((x.base, x.changes), None),
            lambda _, children: cls.editor(*children),
        )

    @classmethod
    def layout(cls, players: int) -> dict[str, Field]:
        """The fields in a game of that many players, each with its place."""
        places, out = {False: 0, True: 0}, {}
        for name, field in cls.fields.items():
            sized = field.sized(players)
            out[name] = replace(sized, first=places[sized.is_large])
            places[sized.is_large] += sized.columns
        return out

    @property
    def _places(self) -> dict[str, Field]:
        """The fields of this record, each with its place."""
        return type(self).layouts[self.small.shape[-1]]

    @classmethod
    def zeros(cls, players: int) -> Self:
        """A record of zeros in a game of that many players."""
        widths = _widths(cls.layout(players))
        return cls(jnp.zeros(widths[False], jnp.int8), jnp.zeros(widths[True], jnp.int16))

    def read(self, field: Field) -> Array:
        """The values of a field with its own dtype."""
        field = self._places[field.name]
        store = self.large if field.is_large else self.small
        value = slice_columns(store, field.first, None if field.columns == 1 else field.columns)
        if field.dtype == INT32:
            low, high = value[..., 0].astype(jnp.int32), value[..., 1].astype(jnp.int32)
            return low | high << LOW_BITS
        if field.dtype == BOOL:
            return value != 0
        return value.reshape((*value.shape[:-1], *field.lengths)) if field.shape[1:] else value

    def edit(self) -> Self:
        """The record to be changed: all fields in int32, flags as bool."""
        editor: Any = type(self).editor  # made in `__init_subclass__`, of this class
        row: Self = editor(self, {})
        return row

    def pack(self) -> Self:
        """The record as a game keeps it."""
        return self

    def replace(self, **changes: Any) -> Self:
        """The record with the named fields changed; an unknown name is a TypeError."""
        arrays = {name: changes.pop(name) for name in ("small", "large") if name in changes}
        if arrays:
            return replace(self, **arrays)
        return self.edit().replace(**changes).pack()


class RecordEditor(PackedRecord, edits=True):
    """A record in the middle of being changed.

    Fields read as int32, flags as bool. Replaced fields are stored next to the record, so
    that packing writes them and copies the rest in whole slices: each written field is a kernel of
    its own for XLA.
    """

    base: PackedRecord
    changes: dict[str, Array]  # by name of a field, in int32 or bool

    def __init__(self, base: PackedRecord, changes: dict[str, Array]) -> None:
        """`base` with `changes` in it."""
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "changes", changes)

    def read(self, field: Field) -> Array:
        """The current values of a field."""
        if field.name in self.changes:
            return self.changes[field.name]
        value = self.base.read(field)
        return value if value.dtype == bool else value.astype(jnp.int32)

    def edit(self) -> Self:
        """The same."""
        return self

    def replace(self, **changes: Any) -> Self:
        """The record with the named fields, or aliases, changed; an unknown name is a TypeError."""
        kind, placed, out = type(self.base), self.base._places, dict(self.changes)
        named = {name: changes.pop(name) for name in kind.aliases if name in changes}
        for field in {kind.aliases[name].field for name in named}:
            parts = [name for name, alias in kind.aliases.items() if alias.field == field]
            columns = [named.get(name, getattr(self, name)) for name in parts]
            changes[field] = jnp.stack(jnp.broadcast_arrays(*columns), axis=-1)
        for name, value in changes.items():
            if name not in placed:
                raise TypeError(f"{kind.__name__} has no field {name!r}")
            shape = (*self.base.small.shape[:-1], *placed[name].lengths)
            out[name] = jnp.broadcast_to(jnp.asarray(value), shape)
        return type(self)(self.base, out)

    def pack(self) -> Any:
        """The packed record with the changes in it. Values must fit their fields' dtypes."""
        kind, arrays = type(self.base), []
        for store, large in ((self.base.small, False), (self.base.large, True)):
            parts, kept_slices, end = [], 0, store.shape[-1]
            for name, field in self.base._places.items():
                if field.is_large != large or name not in self.changes:
                    continue
                if kept_slices < field.first:
                    parts.append(slice_columns(store, kept_slices, field.first - kept_slices))
                parts.append(field.columns_of(self.changes[name]))
                kept_slices = field.first + field.columns
            if kept_slices < end:
                parts.append(slice_columns(store, kept_slices, end - kept_slices))
            arrays.append(jnp.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0])
        return kind(*arrays)


def _widths(layout: dict[str, Field]) -> dict[bool, int]:
    """The columns of `small` (False) and `large` (True)."""
    widths = {False: 0, True: 0}
    for field in layout.values():
        widths[field.is_large] += field.columns
    return widths


def slice_columns(array: Columns, first: int, size: int | None = None) -> Columns:
    """`array[..., first : first + size]`, (..., size), or column `first`, (...,), without a size.

    A step reads a thousand of them, which `jnp` indexing would make a fifteenth of the tracing.
    """
    if isinstance(array, np.ndarray):
        return array[..., first] if size is None else array[..., first : first + size]
    if size is None:
        return lax.index_in_dim(array, first, axis=-1, keepdims=False)
    return lax.slice_in_dim(array, first, first + size, axis=-1)


def pick(table: Array, index: Array) -> Array:
    """`table[index]` for an index that is known to be within the table.

    A TPU lays a batch along its lanes and turns it round for a gather: of few rows it selects.
    """
    if jax.default_backend() == "tpu" and table.shape[0] <= max(PLAYERS):
        out = table[0]
        for i in range(1, table.shape[0]):
            out = jnp.where(index == i, table[i], out)
        return out
    return table.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)
