"""Groups of touching own structures and stations: what a federation is picked from (A9).

Lists of members and groups have the rows of the batch as their last axis: reductions over the
others then run along the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.rules.federation.lattice import CLIP, DROP, READ, Lattice
from gaia_jax.xla.loops import repeated

MAX_MEMBERS = 32  # M; own structures and stations at once: the pieces of a player are fewer
MAX_GROUPS = 12  # groups that take part (A9)
NO_GROUP = -1
SPREADS_OF_A_TURN = 6  # on a GPU


class Groups(NamedTuple):
    """The groups of n rows."""

    cell: Array  # (M, n) int32, own cells, ascending, then C
    place: Array  # (M, n) int32, where they lie on the lattice
    number: Array  # (M, n) int32, the group of each, NO_GROUP where it takes no part
    lowest: Array  # (M, n) bool, the lowest cell of a group that takes part
    power: Array  # (MAX_GROUPS, n) int32, 0 after the last group


def find_groups(lattice: Lattice, own: Array, power: Array) -> Groups:
    """Number the groups by their lowest cell; of more than 12 the most powerful take part.

    Args:
        own: (n, C) bool, own structures and stations outside any federation.
        power: (n, C) int8, power value of each such cell.
    """
    n, num_cells = own.shape
    rows = jnp.arange(n)
    ids = jnp.broadcast_to(jnp.arange(num_cells, dtype=jnp.int32), own.shape)

    # The label of a group is its lowest cell.
    def spread_label(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        label, _ = carry
        least = jnp.minimum(lattice.inner(label), lattice.least_neighbor(label))
        least = jnp.where(lattice.inner(label) < num_cells, least, num_cells)
        least = lattice.widen(least, num_cells)
        return least, jnp.any(least != label)

    label = lattice.spread(jnp.where(own, ids, num_cells).astype(jnp.int16), num_cells)
    spread = repeated(spread_label, SPREADS_OF_A_TURN)
    label, _ = lax.while_loop(lambda carry: carry[1], spread, (label, jnp.ones((), bool)))

    rank = jnp.cumsum(own, axis=1, dtype=jnp.int32) - 1
    target = jnp.where(own, rank, MAX_MEMBERS)
    cell = jnp.full((MAX_MEMBERS, n), num_cells, jnp.int32)
    cell = cell.at[target, rows[:, None]].set(ids, **DROP)
    is_member = cell < num_cells
    place = jnp.asarray(lattice.place).at[cell].get(**CLIP)
    label = label.at[rows, place].get(**READ).astype(jnp.int32)
    value = jnp.where(is_member, power.at[rows, cell].get(**CLIP), 0).astype(jnp.int32)

    # In what follows axis 0 is a member and axis 1 another of the same row.
    same = (label[:, None] == label[None, :]) & is_member[None, :]
    lowest = is_member & (label == cell)
    total = jnp.sum(jnp.where(same, value[None, :], 0), axis=1)
    total = jnp.where(lowest, total, -1)
    index = jnp.arange(MAX_MEMBERS)
    before = (index[None, :] < index[:, None])[:, :, None]
    stronger = (total[None, :] > total[:, None]) | ((total[None, :] == total[:, None]) & before)
    among_strongest = lowest & (
        jnp.sum(stronger & lowest[None, :], axis=1, dtype=jnp.int32) < MAX_GROUPS
    )
    number = jnp.sum(before & among_strongest[None, :], axis=1, dtype=jnp.int32)
    number = jnp.where(among_strongest, number, NO_GROUP)
    of_member = jnp.max(jnp.where(same, number[None, :], NO_GROUP), axis=1)

    of_group = number[None, :] == jnp.arange(MAX_GROUPS)[:, None, None]
    return Groups(
        cell=cell,
        place=place,
        number=jnp.where(is_member, of_member, NO_GROUP),
        lowest=among_strongest,
        power=jnp.sum(jnp.where(of_group, total[None, :], 0), axis=1),
    )


def number_by_cell(groups: Groups, num_cells: int) -> Array:
    """(n, C) int8, the group of each cell, NO_GROUP where none takes part."""
    n = groups.cell.shape[1]
    out = jnp.full((n, num_cells), NO_GROUP, jnp.int8)
    return out.at[jnp.arange(n), groups.cell].set(groups.number.astype(jnp.int8), **DROP)
