"""A faction board as the rules read it: one row of the table of all boards."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.ruleset.definition import Ruleset
from gaia_jax.ruleset.faction_table import FactionColumns
from gaia_jax.xla.packed import pick, slice_columns


class FactionRow(FactionColumns):
    """The printed numbers (int32) and flags (bool) of one faction board.

    All columns lie in one table, so that a row is read once.
    """

    layout: dict[str, tuple[int, tuple[int, ...], bool]]  # first place, shape, is it bool
    row: Array  # (K,) int16

    def __init__(self, ruleset: Ruleset, row: Array) -> None:
        """`row` is (K,) int16, read before, so that one stage can hand it to the next."""
        object.__setattr__(self, "layout", ruleset.tables.faction.layout)
        object.__setattr__(self, "row", row)

    @classmethod
    def of(cls, ruleset: Ruleset, faction: Array) -> FactionRow:
        """The row of `faction`, () int32, an index of ids["faction"]."""
        return cls(ruleset, pick(jnp.asarray(ruleset.tables.faction.packed), faction))

    def column(self, name: str) -> Any:
        """A column of the row."""
        first, shape, is_flag = self.layout[name]
        size = int(np.prod(shape, dtype=int))
        value = slice_columns(self.row, first, size).reshape(shape)
        return value != 0 if is_flag else value.astype(jnp.int32)
