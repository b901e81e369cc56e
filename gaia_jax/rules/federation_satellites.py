"""Walk a search back from the whole to its groups, and mark the satellites passed."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from gaia_jax.rules.federation_lattice import CLIP, DROP, READ, Lattice
from gaia_jax.rules.federation_paths import (
    SET_BITS,
    SETS,
    TERMINALS,
    UNIT,
    Paths,
    Terrain,
    cost_via_cell,
)

Array = jax.Array

DEPTH = TERMINALS  # parts of a tree that wait: never more than there are groups
NOWHERE = 0  # no cell's place: the groups of a part are yet to be connected
MAX_STEPS = 2 * SETS  # far above what any row takes; ends the walk should a table be broken


class _Walk(NamedTuple):
    """A stack of parts for each row, and what has been marked.

    A part is place << SET_BITS | groups: a satellite and the groups it is connected to, or groups
    that are connected to one another, at NOWHERE.
    """

    depth: Array  # (n,) int32, parts on the stack, 0 at the end
    part: Array  # (n, DEPTH) int32
    subset: Array  # (n,) int32, the next way to part the topmost in two, 0 when it is not yet split
    mark: Array  # (n, W) bool


def trace_satellites(
    lattice: Lattice, terrain: Terrain, paths: Paths, weight: Array, whole: Array
) -> Array:
    """One set of satellites of least weight for each row, (n, C) bool.

    Every choice on the way is the first of those that fit, so the set depends on the tables alone.

    Args:
        terrain, paths, weight: of a weighted search.
        whole: (n,) int32, the set of groups to connect. Where it is beyond the limit, no satellite.
    """
    n = whole.shape[0]
    rows = jnp.arange(n)
    base = rows * SETS
    bits = 1 << jnp.arange(TERMINALS)
    shifts = jnp.array([0, *lattice.shifts, 0, 0], jnp.int32)
    column = jnp.arange(len(shifts))

    def step(carry: tuple[Array, _Walk]) -> tuple[Array, _Walk]:
        steps, walk = carry
        top = jnp.maximum(walk.depth - 1, 0)
        active = walk.depth > 0
        part = walk.part.at[rows, top].get(**READ)
        place, groups = part >> SET_BITS, part & (SETS - 1)
        rest = groups & (groups - 1)
        subset = jnp.where(walk.subset == 0, rest, walk.subset)
        cost = paths.cost.at[groups * n + rows].get(**READ)
        landed = place != NOWHERE
        # All lines at once: the set's, those of its two parts, those of the set less a group.
        sets = jnp.stack([groups, subset, groups ^ subset], axis=1)
        sets = jnp.concatenate([sets, groups[:, None] & ~bits], axis=1)
        row_index = paths.row_index.at[base[:, None] + sets].get(**READ)
        # All values at once: at the place and around it of the set, at the place of its two parts.
        line = jnp.where(column == len(shifts) - 2, row_index[:, 1:2], row_index[:, :1])
        line = jnp.where(column == len(shifts) - 1, row_index[:, 2:3], line)
        at = place[:, None] + shifts
        values = paths.cost_via_cell.at[line, at].get(**CLIP)
        value, around, two = values[:, 0], values[:, 1:-2], values[:, -2:]

        # Groups to connect: one of them hangs on the rest as a leaf; go to where it does.
        cost_with_group = paths.cost_with_group.at[jnp.arange(TERMINALS), row_index[:, 3:]].get(
            **CLIP
        )
        leaf = (groups[:, None] & bits != 0) & (cost_with_group == cost[:, None])
        leaf_bit = 1 << jnp.argmax(leaf, axis=1)
        others = groups & ~leaf_bit
        x = cost_via_cell(paths, base + others)
        beside = terrain.ground & leaf_bit[:, None].astype(jnp.int16) != 0
        entry_cell = jnp.argmax(beside & (x == cost[:, None]), axis=1)
        single = rest == 0

        # A satellite: from a neighbour, from a group beside it, or where two parts meet.
        own = weight.at[rows, place].get(**READ)
        onward = around + own[:, None] == value[:, None]
        moves = jnp.any(onward, axis=1)
        next_place = place + shifts[1 + jnp.argmax(onward, axis=1)]
        touching = terrain.ground.at[rows, place].get(**READ) & groups.astype(jnp.int16) != 0
        ends = ~moves & touching & (cost + own == value)
        splits_here = ~moves & ~ends & (two[:, 0] + two[:, 1] - own == value)
        try_next_split = ~moves & ~ends & ~splits_here
        next_subset = (subset - 1) & rest
        no_way = jnp.where(
            landed, try_next_split & (next_subset == 0), ~single & ~jnp.any(leaf, axis=1)
        )

        new_groups = jnp.where(landed, jnp.where(splits_here, subset, groups), others)
        new_place = jnp.where(moves, next_place, jnp.where(ends, NOWHERE, place))
        new_place = jnp.where(landed, new_place, entry_cell)
        deeper = jnp.where(landed & splits_here, top + 1, DEPTH)
        depth = jnp.where(landed, walk.depth + splits_here, walk.depth - single)
        marked = jnp.where(active & landed, place, lattice.width)
        return steps + 1, _Walk(
            depth=jnp.where(active & ~no_way, depth, 0),
            part=walk.part.at[rows, top]
            .set(new_place << SET_BITS | new_groups, **DROP)
            .at[rows, deeper]
            .set(part ^ subset, **DROP),
            subset=jnp.where(landed & try_next_split, next_subset, 0),
            mark=walk.mark.at[rows, marked].set(True, **DROP),
        )

    def unfinished(carry: tuple[Array, _Walk]) -> Array:
        steps, walk = carry
        return jnp.any(walk.depth > 0) & (steps < MAX_STEPS)

    within = paths.cost.at[whole * n + rows].get(**READ) < (terrain.limit + 1) * UNIT
    start = _Walk(
        depth=within.astype(jnp.int32),
        part=jnp.zeros((n, DEPTH), jnp.int32).at[:, 0].set(whole),
        subset=jnp.zeros(n, jnp.int32),
        mark=jnp.zeros((n, lattice.width), bool),
    )
    _, walk = lax.while_loop(unfinished, step, (jnp.int32(0), start))
    return walk.mark[:, lattice.place]
