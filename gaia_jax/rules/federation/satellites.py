"""Walk a search back from the whole to its groups, and mark the satellites passed."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from gaia_jax.rules.federation.lattice import CLIP, DROP, READ, Lattice
from gaia_jax.rules.federation.paths import (
    SET_BITS,
    SETS,
    TERMINALS,
    UNIT,
    Paths,
    Terrain,
    cost_via_cell,
)
from gaia_jax.xla.loops import on_gpu, repeated

Array = jax.Array

DEPTH = TERMINALS  # parts of a tree that wait: never more than there are groups
NOWHERE = 0  # no cell's place: the groups of a part are yet to be connected
STEPS_OF_A_TURN = 4  # on a GPU
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
    lattice: Lattice, terrain: Terrain, paths: Paths, weight: Array, groups: Array
) -> Array:
    """One set of satellites of least weight for each row, (n, C) bool.

    Every choice on the way is the first of those that fit, so the set depends on the tables alone.

    Args:
        terrain, paths, weight: of a weighted search.
        groups: (n,) int32, the set of groups to connect; no satellite if it is beyond the limit.
    """
    n = groups.shape[0]
    within = paths.cost.at[groups * n + jnp.arange(n)].get(**READ) < (terrain.limit + 1) * UNIT
    start = _Walk(
        depth=within.astype(jnp.int32),
        part=jnp.zeros((n, DEPTH), jnp.int32).at[:, 0].set(groups),
        subset=jnp.zeros(n, jnp.int32),
        mark=jnp.zeros((n, lattice.width), bool),
    )
    trace = _Trace(lattice, terrain, paths, weight)
    step = repeated(trace.step, STEPS_OF_A_TURN)  # a row that has arrived stays
    _, walk = lax.while_loop(trace.unfinished, step, (jnp.int32(0), start))
    return walk.mark[:, lattice.place]


class _Sight(NamedTuple):
    """What the tables say of the topmost part of each row."""

    cost: Array  # (n,) to connect its groups
    value: Array  # (n,) of the groups with the place
    around: Array  # (n, 6) the same with the neighbours of the place
    two: Array  # (n, 2) of the two parts of the groups, with the place
    with_group: Array  # (n, TERMINALS) of the groups less each, with that group


class _Trace:
    """A walk back of n rows: what stays the same through its loop, and the turn of the loop."""

    def __init__(self, lattice: Lattice, terrain: Terrain, paths: Paths, weight: Array) -> None:
        """See `trace_satellites`."""
        self.terrain, self.paths, self.weight = terrain, paths, weight
        self.width = lattice.width
        self.n = terrain.limit.shape[0]
        self.rows = jnp.arange(self.n)
        self.base = self.rows * SETS
        self.bits = 1 << jnp.arange(TERMINALS)
        self.shifts = jnp.array([0, *lattice.shifts, 0, 0], jnp.int32)

    def unfinished(self, carry: tuple[Array, _Walk]) -> Array:
        """() bool, some row has parts left."""
        steps, walk = carry
        return jnp.any(walk.depth > 0) & (steps < MAX_STEPS)

    def look(self, place: Array, groups: Array, subset: Array) -> _Sight:
        """All lines of the tables at once, and all values."""
        paths, last = self.paths, len(self.shifts) - 1
        # Lines: the set's, those of its two parts, those of the set less a group.
        sets = jnp.stack([groups, subset, groups ^ subset], axis=1)
        sets = jnp.concatenate([sets, groups[:, None] & ~self.bits], axis=1)
        index = paths.row_index.at[self.base[:, None] + sets].get(**READ)
        # Values: at the place and around it of the set, at the place of its two parts.
        column = jnp.arange(last + 1)
        line = jnp.where(column == last - 1, index[:, 1:2], index[:, :1])
        line = jnp.where(column == last, index[:, 2:3], line)
        values = paths.cost_via_cell.at[line, place[:, None] + self.shifts].get(**CLIP)
        return _Sight(
            cost=paths.cost.at[groups * self.n + self.rows].get(**READ),
            value=values[:, 0],
            around=values[:, 1:-2],
            two=values[:, -2:],
            with_group=paths.cost_with_group.at[jnp.arange(TERMINALS), index[:, 3:]].get(**CLIP),
        )

    def take_leaf(self, groups: Array, sight: _Sight) -> tuple[Array, Array, Array]:
        """Groups to connect: one of them hangs on the rest as a leaf; go to where it does.

        Returns:
            (n,) int32 the rest, (n,) int32 the place, (n,) bool, there is such a leaf.
        """
        leaf = (groups[:, None] & self.bits != 0) & (sight.with_group == sight.cost[:, None])
        leaf_bit = 1 << jnp.argmax(leaf, axis=1)
        others = groups & ~leaf_bit
        x = cost_via_cell(self.paths, self.base + others)
        adjacent = self.terrain.ground & leaf_bit[:, None].astype(jnp.int16) != 0
        entry_cell = jnp.argmax(adjacent & (x == sight.cost[:, None]), axis=1)
        return others, entry_cell, jnp.any(leaf, axis=1)

    def step(self, carry: tuple[Array, _Walk]) -> tuple[Array, _Walk]:
        """The topmost part of each row, one satellite or one leaf on."""
        (steps, walk), rows = carry, self.rows
        top = jnp.maximum(walk.depth - 1, 0)
        active = walk.depth > 0
        part = walk.part.at[rows, top].get(**READ)
        place, groups = part >> SET_BITS, part & (SETS - 1)
        rest = groups & (groups - 1)
        subset = jnp.where(walk.subset == 0, rest, walk.subset)
        landed = place != NOWHERE
        sight = self.look(place, groups, subset)
        others, entry_cell, has_leaf = self.take_leaf(groups, sight)
        single = rest == 0

        # A satellite: from a neighbour, from an adjacent group, or where two parts meet.
        own = self.weight.at[rows, place].get(**READ)
        onward = sight.around + own[:, None] == sight.value[:, None]
        moves = jnp.any(onward, axis=1)
        next_place = place + self.shifts[1 + jnp.argmax(onward, axis=1)]
        near = self.terrain.ground.at[rows, place].get(**READ)
        touching = near & groups.astype(jnp.int16) != 0
        ends = ~moves & touching & (sight.cost + own == sight.value)
        splits_here = ~moves & ~ends & (sight.two[:, 0] + sight.two[:, 1] - own == sight.value)
        try_next_split = ~moves & ~ends & ~splits_here
        next_subset = (subset - 1) & rest
        no_way = jnp.where(landed, try_next_split & (next_subset == 0), ~single & ~has_leaf)

        new_groups = jnp.where(landed, jnp.where(splits_here, subset, groups), others)
        new_place = jnp.where(moves, next_place, jnp.where(ends, NOWHERE, place))
        new_place = jnp.where(landed, new_place, entry_cell)
        deeper = jnp.where(landed & splits_here, top + 1, DEPTH)
        depth = jnp.where(landed, walk.depth + splits_here, walk.depth - single)
        marked = jnp.where(active & landed, place, self.width)
        return steps + 1, _Walk(
            depth=jnp.where(active & ~no_way, depth, 0),
            part=_set_column(
                _set_column(walk.part, rows, top, new_place << SET_BITS | new_groups),
                rows,
                deeper,
                part ^ subset,
            ),
            subset=jnp.where(landed & try_next_split, next_subset, 0),
            mark=_set_column(walk.mark, rows, marked, True),
        )


def _set_column(table: Array, rows: Array, column: Array, value: Array | bool) -> Array:
    """(n, K), `table` with `value` at `column` of each row; past the end nothing.

    A scatter is a kernel of its own on a GPU, which selects instead.
    """
    if not on_gpu():
        return table.at[rows, column].set(value, **DROP)
    is_column = jnp.arange(table.shape[1]) == column[:, None]
    return jnp.where(is_column, jnp.reshape(value, (-1, 1)), table)
