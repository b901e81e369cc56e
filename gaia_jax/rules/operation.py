"""Rows of the operation table as rules read them, and whether their price can be paid."""

from __future__ import annotations

import operator
from functools import reduce

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.common import RESOURCES
from gaia_jax.operations import OperationRow
from gaia_jax.rules import power
from gaia_jax.rules.player import Columns, pick, power_worth
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Players


def operation(rules: Ruleset, index) -> OperationRow:
    """The row (or rows) of the operation table; of constants where `index` is one."""
    if isinstance(index, int | np.ndarray):
        return OperationRow(rules.tables.ops[index])
    return OperationRow(pick(jnp.asarray(rules.tables.ops), index))


class Listed:
    """Printed rows of the table, of which a few stand aside for rows of the game."""

    def __init__(self, rules: Ruleset, printed: np.ndarray, instead: dict[int, OperationRow]):
        """`printed` are (n,) operations, static; `instead` has single rows by their place."""
        self._rules, self._operations, self._instead = rules, printed, instead
        self.operations = rules.operations
        self._printed = operation(rules, printed)

    def __getattr__(self, name: str) -> Array:
        """The column `name`, (n, ...) int32."""
        column = getattr(self._printed, name)
        places = np.arange(len(column)).reshape(-1, *[1] * (column.ndim - 1))
        for place, row in self._instead.items():
            column = jnp.where(places == place, getattr(row, name), column)
        return column

    def that_may(self, name: str) -> tuple[np.ndarray, Listed]:
        """The places where the column `name` may be above 0, and the rows there."""
        there = [bool(getattr(self._rules.operations[op], name)) for op in self._operations]
        places = np.union1d(np.flatnonzero(there), list(self._instead)).astype(int)
        instead = {i: self._instead[p] for i, p in enumerate(places) if p in self._instead}
        return places, Listed(self._rules, self._operations[places], instead)


class Either:
    """Rows of constants: some where a condition holds, else others."""

    def __init__(self, condition: Array, then: OperationRow, otherwise: OperationRow):
        """`condition` is () bool; the others are rows of constants, (n, K)."""
        self._condition, self._then, self._otherwise = condition, then, otherwise

    def __getattr__(self, name: str) -> Array:
        """The column `name`, (n, ...) int32."""
        then, otherwise = getattr(self._then, name), getattr(self._otherwise, name)
        return jnp.where(self._condition, then, otherwise)


def placed(n: int, places: np.ndarray, values: Array) -> Array:
    """(n,) bool, `values`, (k,) bool, at the k places, else False; a scatter without a scatter."""
    out = jnp.zeros(n, bool)
    for i, place in enumerate(places):
        out |= (np.arange(n) == place) & values[i]
    return out


def payable(faction: Columns, me: Players, op: OperationRow | Listed | Either) -> Array:
    """bool, the player has the price of the operation itself (ROU-05, EXP-01)."""
    stone = (me.brainstone >= 0) & (me.brainstone <= 2)
    resources = [me.resources[i] >= op.cost_resources[..., i] for i in range(len(RESOURCES))]
    return (
        reduce(operator.and_, resources)
        & (power.spendable(me, power_worth(faction, me)) >= op.cost_power)
        & (power.held(me) >= op.cost_tokens)
        & (me.vp >= op.cost_vp)
        & (stone | (op.brainstone == 0))
    )
