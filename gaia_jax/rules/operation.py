"""Rows of the operation table as rules read them, and whether their price can be paid."""

from __future__ import annotations

import operator
from functools import reduce

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.common import RESOURCES
from gaia_jax.rules import power
from gaia_jax.rules.player import power_worth
from gaia_jax.ruleset import FactionRow, Ruleset
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.state import Players
from gaia_jax.xla.packed import pick


def operation(ruleset: Ruleset, index: int | np.ndarray | Array) -> OperationRow:
    """The row (or rows) of the operation table; of constants where `index` is one."""
    if isinstance(index, int | np.ndarray):
        return OperationRow.of(ruleset.tables.ops[index])
    return OperationRow.of(pick(jnp.asarray(ruleset.tables.ops), index))


def scatter_bool(n: int, places: np.ndarray, values: Array) -> Array:
    """(n,) bool, `values`, (k,) bool, at the k places, else False; a scatter without a scatter."""
    out = jnp.zeros(n, bool)
    for i, place in enumerate(places):
        out |= (np.arange(n) == place) & values[i]
    return out


def payable(faction: FactionRow, me: Players, op: OperationRow) -> Array:
    """bool, the player has the price of the operation itself (ROU-05, EXP-01)."""
    has_brainstone = (me.brainstone >= 0) & (me.brainstone <= 2)
    resources = [me.resources[i] >= op.cost_resources[..., i] for i in range(len(RESOURCES))]
    return (
        reduce(operator.and_, resources)
        & (power.spendable(me, power_worth(faction, me)) >= op.cost.power)
        & (power.total_tokens(me) >= op.cost.tokens)
        & (me.vp >= op.cost.vp)
        & (has_brainstone | (op.brainstone == 0))
    )
