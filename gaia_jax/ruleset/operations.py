"""Operations: one row for each thing that an action, a tile or a token does.

`step` knows no kinds of actions; it reads the row: what is paid, gained and built, what opens
next. `operation_list.py` makes the rows from `components/`; they become one int16 table here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Generic

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import common
from gaia_jax.components.common import FREE, NOTHING, Cost, Gain, N, Per, number
from gaia_jax.xla.packed import slice_columns

# What `Operation.target` asks for at TARGET.
NO_TARGET, SITE, TRACK, TOKEN, OWN, SPACE, UNRINGED = range(7)
# Where `Operation.slot_kind` keeps its once-a-round mark.
POWER_SLOT, SHIP_SLOT, SPECIAL_SLOT = range(1, 4)  # 0: none
# Asteroids as a target of a mine (MIN-12, MIN-13).
NO_ASTEROIDS, WITH_GAIAFORMER, ASTEROIDS_ONLY = range(3)
# Gaia projects: none, paid with tokens, instant (GPJ-04).
NO_PROJECT, PROJECT, INSTANT = range(3)


@dataclass(frozen=True, kw_only=True)
class OperationNumbers(Generic[N]):
    """The numbers of an operation: int as written here, arrays in a row of the table.

    0 and the first name of each list above mean "none".
    """

    main: N = number()  # it is the main action of the turn
    slot_kind: N = number()
    slot: N = number()
    ship: N = number(-1)  # an own shuttle must be there
    target: N = number()
    own: N = number()  # OWN: the structure to pick
    mine: N = number()  # a mine is built
    extra_range: N = number()
    free_steps: N = number()
    needs_step: N = number()  # only planets that need a terraforming step (A26)
    mine_is_free: N = number()  # the 1 ore and 2 credits of the mine
    asteroid_rule: N = number()
    unlimited_range: N = number()  # any distance
    guests: N = number()  # Lantids may aim at an occupied planet (A5)
    project: N = number()
    explore: N = number()
    piece: N = number()  # the structure that replaces the one on the cell
    research: N = number()  # one step on the track that the action names
    lowest: N = number()  # only tracks at the lowest level (ACT-15)
    tile: N = number()  # opens TILE
    step: N = number()  # opens STEP
    retrigger: N = number()  # opens RETRIGGER
    free_mine: N = number()  # opens FREE_MINE with that operation
    brainstone: N = number()  # the brainstone goes to the Gaia area (EXP-01)
    gaiaformer: N = number()  # available gaiaformers that go to the Gaia area (FRE-09)
    to_gaia: N = number()  # tokens III -> Gaia area (FRE-06)
    burn: N = number()
    reverses_brainstone: N = number()  # (A21)
    qic_action: N = number()  # counts for SA-QIC-4VP (ADV-01)


@dataclass(frozen=True)
class Operation(OperationNumbers[int]):
    """One operation, made from the components."""

    id: str
    cost: Cost[int] = FREE
    gain: Gain[int] = NOTHING
    per: Per[int] | None = None
    source: str = "FACTION"  # of its VP


_COST = tuple(f.name for f in fields(Cost))
_GAIN = tuple(f.name for f in fields(Gain))
_PER = tuple(f.name for f in fields(Per) if f.name != "count")
_PLAIN = tuple(f.name for f in fields(OperationNumbers))
COLUMNS = (
    *(f"cost_{name}" for name in _COST),
    *(f"gain_{name}" for name in _GAIN),
    *(f"per_{name}" for name in _PER),
    "per_count",
    "source",
    *_PLAIN,
)
_FIRST = {name: i for i, name in enumerate(COLUMNS)}

# Columns `first` to `first + size` of some rows, (..., size), or one column, (...,), for None.
ReadColumns = Callable[[int, int | None], Array]


class OperationRow(OperationNumbers[Array]):
    """A row (or rows) of the table: `row.mine`, `row.cost.ore`; each column (...,) int32.

    A column is read when it is asked for, so rows put together from others cost what is used.
    """

    def __init__(self, read: ReadColumns) -> None:
        """`read` gives int16 columns of the rows."""
        object.__setattr__(self, "read", read)

    read: ReadColumns

    @classmethod
    def of(cls, values: Any) -> OperationRow:
        """The rows of `values`, (..., K) int16."""
        return cls(lambda first, size: slice_columns(values, first, size))

    @classmethod
    def select(cls, condition: Array, then: OperationRow, otherwise: OperationRow) -> OperationRow:
        """The rows `then` where `condition`, () bool, holds, else `otherwise`."""
        return cls(
            lambda first, size: jnp.where(
                condition, then.columns(first, size), otherwise.columns(first, size)
            )
        )

    def patched(self, rows: dict[int, OperationRow]) -> OperationRow:
        """These rows, (n,), with single rows in some of their places."""

        def read(first: int, size: int | None) -> Array:
            column = self.columns(first, size)
            places = np.arange(len(column)).reshape(-1, *[1] * (column.ndim - 1))
            for place, row in rows.items():
                column = jnp.where(places == place, row.columns(first, size), column)
            return column

        return OperationRow(read)

    def columns(self, first: int, size: int | None = None) -> Array:
        """(..., size) int32, or (...,) without a size."""
        return self.read(first, size).astype(np.int32)

    @property
    def values(self) -> Array:
        """(..., K) int16, all columns."""
        return self.read(0, len(COLUMNS))

    @property
    def cost(self) -> Cost[Array]:
        """The cost, by column."""
        return _CostRow(self)

    @property
    def gain(self) -> Gain[Array]:
        """The fixed gain, by column."""
        return _GainRow(self)

    @property
    def per(self) -> Per[Array]:
        """The gain for each counted thing, by column; `per_count` is the index of the thing."""
        return _PerRow(self)

    @property
    def per_count(self) -> Array:
        """(...,) int32, index of `common.COUNTS`."""
        return self.columns(_FIRST["per_count"])

    @property
    def source(self) -> Array:
        """(...,) int32, index of `common.VP_SOURCES`."""
        return self.columns(_FIRST["source"])

    @property
    def cost_resources(self) -> Array:
        """(..., 4) int32, the cost in credits, ore, knowledge and QIC."""
        return self.columns(_FIRST["cost_credits"], 4)

    @property
    def gain_vector(self) -> Array:
        """(..., 9) int32, the fixed gain in the order of the fields of `Gain`."""
        return self.columns(_FIRST[f"gain_{_GAIN[0]}"], len(_GAIN))

    __eq__, __hash__, __repr__ = object.__eq__, object.__hash__, object.__repr__


class _Part:
    """Some columns of a row under the names of a component's fields."""

    def __init__(self, row: OperationRow) -> None:
        object.__setattr__(self, "row", row)

    __eq__, __hash__, __repr__ = object.__eq__, object.__hash__, object.__repr__


class _CostRow(_Part, Cost[Array]):
    """The columns of `Cost`."""


class _GainRow(_Part, Gain[Array]):
    """The columns of `Gain`."""


class _PerRow(_Part, Per[Array]):
    """The columns of `Per`."""


def _make_columns() -> None:
    """Properties that read the columns, under the names that the components declare."""

    def of_row(first: int) -> property:
        return property(lambda row: row.columns(first))

    def of_part(first: int) -> property:
        return property(lambda part: part.row.columns(first))

    for name in _PLAIN:
        setattr(OperationRow, name, of_row(_FIRST[name]))
    for kind, names, prefix in (
        (_CostRow, _COST, "cost"),
        (_GainRow, _GAIN, "gain"),
        (_PerRow, _PER, "per"),
    ):
        for name in names:
            setattr(kind, name, of_part(_FIRST[f"{prefix}_{name}"]))


_make_columns()


def operation_table(operations: tuple[Operation, ...]) -> np.ndarray:
    """The (number of operations, K) int16 table with the columns of COLUMNS.

    Raises:
        OverflowError: a number that int16 cannot hold.
    """
    rows = []
    for op in operations:
        row = [getattr(op.cost, name) for name in _COST]
        row += [getattr(op.gain, name) for name in _GAIN]
        row += [getattr(op.per, name) if op.per else 0 for name in _PER]
        row += [common.COUNTS.index(op.per.count) if op.per else 0]
        row += [common.VP_SOURCES.index(op.source)]
        row += [int(getattr(op, name)) for name in _PLAIN]
        rows.append(row)
    out = np.array(rows)
    if abs(out).max() > 32767:
        raise OverflowError("an operation does not fit int16")
    return out.astype(np.int16)
