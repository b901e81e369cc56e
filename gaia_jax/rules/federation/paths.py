"""The fewest satellites that connect each set of groups: one table for every federation question.

A set of groups is a bitmask of their numbers; bit 12 is a federation that is given and is to grow
(the Hive's). Two things are computed for a set S:

    cost[S]     the least satellites that connect the groups of S with one another
    via[S]      for each free cell, the least that connect S and that cell, the cell included;
                `cost_via_cell` in the code

by the recurrence of Dreyfus and Wagner with satellites as nodes and the groups as terminals that
paths may run through. A tree that is least for S has a group as a leaf:

    cost[S]   = min over g in S, v next to g    of via[S - g][v]
    via[S][v] = min of  cost[S] + 1                     where v is next to a group of S
                        via[A][v] + via[S - A][v] - 1   for each part A of S
                        via[S][u] + 1                   for each neighbour u of v

So only sets with cost[S] <= the limit are ever needed, whatever they are part of: a tree within
the limit that loses a leaf is within it still. Sets are found from one size to the next, from the
single groups on, over all rows at once: the work is a queue of (row, set) pairs, and one turn of
the loop takes a block of pairs of one size. The parts of a minimal federation are too weak to be
one, so sets that are strong enough end there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.rules.federation.groups import MAX_GROUPS
from gaia_jax.rules.federation.lattice import CLIP, DROP, READ, Lattice
from gaia_jax.xla.loops import on_gpu, repeated

TERMINALS = MAX_GROUPS + 1
GIVEN = 1 << MAX_GROUPS  # the given federation in a set, and cells next to it
FREE_BIT = 1 << TERMINALS  # a cell that may take a satellite
SET_BITS = TERMINALS
SETS = 1 << SET_BITS

NO_PATH = 60  # no path, in satellites: twice that fits int8
FAR_WEIGHTED = 8000  # no path, in weights: twice that fits int16
NO_LEAST = 99  # above the power of any group
# On a GPU, whose host is asked after each turn of a loop: see `gaia_jax/xla/loops.py`.
FIRST_SWEEPS, SWEEPS_OF_A_TURN, PARTS_OF_A_TURN = 12, 4, 16
UNIT_BITS = 8
UNIT = 1 << UNIT_BITS  # the weight of a satellite; what is less than that in total breaks ties (A2)


class Terrain(NamedTuple):
    """What n rows look like to a search."""

    ground: Array  # (n, W) int16, bits: next to group 0..11 or GIVEN, FREE_BIT; 0 if not free
    place: Array  # (M, n) int32, own cells on the lattice
    number: Array  # (M, n) int32, the group of each, -1 where it takes no part
    terminals: Array  # (n,) int32, bits: the groups that take part, and the given federation
    power: Array  # (TERMINALS, n) int32, of each of them; the given federation has none
    required: Array  # (n,) int32, >= 0, power of a federation
    limit: Array  # (n,) int32, the most satellites
    find_all: Array  # (n,) int32, 1 to find every set, 0 to stop at the first federation


class Paths(NamedTuple):
    """What a search has found. Sets and cells beyond the limit may be far or anything above it."""

    cost: Array  # (SETS * n,) by set and row
    row_index: (
        Array  # (n * SETS,) int by row and set: its line below, past the end where it has none
    )
    cost_via_cell: Array  # (slots, W)
    cost_with_group: Array  # (TERMINALS, slots), the cost of one group more


class _Queue(NamedTuple):
    """The (row, set) pairs found so far, as row << SET_BITS | set. Those before `head` are done."""

    key: Array  # (slots,) int32
    head: Array  # () int32
    end: Array  # () int32, end of the sets of the current size
    tail: Array  # () int32
    finished: Array  # (n,) bool, the row needs nothing more
    paths: Paths


def cost_via_cell(paths: Paths, key: Array) -> Array:
    """(..., W): the line of each key, far where the set has none."""
    return paths.cost_via_cell.at[paths.row_index.at[key].get(**READ)].get(**CLIP)


def search_size(n: int) -> tuple[int, int]:
    """How many (row, set) pairs go through one turn of the loop, and how many a search can hold.

    A single row has SETS at most, so it always fits. A CPU pays by the pair, and of 64 most
    turns used a few (docs/lab/performance.md). A GPU pays by the turn, a TPU by the pair too:
    for the searches of 4,096 games 4.2 turns of 1,024 pairs do what 4.9 turns of 512 do.
    """
    platform = jax.default_backend()
    if platform == "cpu":
        return 8, SETS + n
    return max(256, (2 if platform == "tpu" else 4) * n), SETS + 128 * n


def search_paths(
    lattice: Lattice, terrain: Terrain, *, surplus: bool = False, weight: Array | None = None
) -> tuple[Paths, Array]:
    """The cost of every set of groups that a federation may need, as far as the limit goes.

    Args:
        surplus: extend sets that are strong enough; static.
        weight: (n, W) int16, what a satellite weighs on each cell, UNIT and less than UNIT / 25
            over; None counts satellites, in int8.
    Returns:
        The paths, and () bool: the queue ran over, and nothing in the paths is to be relied upon.
    """
    search = _Search(lattice, terrain, surplus, weight)
    queue = lax.while_loop(search.unfinished, search.take_block, search.start())
    return queue.paths, queue.tail > search.capacity


class _Search:
    """A search of n rows: what stays the same through its loop, and the turn of the loop."""

    def __init__(
        self, lattice: Lattice, terrain: Terrain, surplus: bool, weight: Array | None
    ) -> None:
        """See `search_paths`."""
        self.lattice, self.terrain, self.surplus, self.weight = lattice, terrain, surplus, weight
        self.n = terrain.limit.shape[0]
        self.block, self.capacity = search_size(self.n)
        self.slots = self.capacity + self.block
        self.dtype: Any = jnp.int8 if weight is None else jnp.int16
        self.far = self.dtype(NO_PATH if weight is None else FAR_WEIGHTED)
        self.most = 1 if weight is None else UNIT
        facts = [terrain.limit, terrain.required, terrain.terminals, terrain.find_all]
        columns = [jnp.stack(facts), terrain.power, terrain.place, terrain.number]
        self.of_rows = jnp.concatenate(columns)  # one gather is cheaper than seven
        self.ends = np.cumsum([len(column) for column in columns])[:-1]
        self.bits = 1 << jnp.arange(TERMINALS, dtype=jnp.int32)[:, None]
        self.unclaimed = self.slots + TERMINALS * self.block
        self.index_type: Any = (
            jnp.int16 if self.unclaimed <= jnp.iinfo(jnp.int16).max else jnp.int32
        )
        self.claims = self.slots + jnp.arange(TERMINALS * self.block, dtype=self.index_type)

    def start(self) -> _Queue:
        """Each group alone costs nothing; they are the first in the queue."""
        terrain, n, slots, bits = self.terrain, self.n, self.slots, self.bits
        rows = jnp.arange(n, dtype=jnp.int32)
        alone = terrain.terminals & bits != 0
        none = jnp.zeros_like(alone)
        suffices, extends = _by_power(none, terrain.power, terrain.required, self.surplus)
        has_given = bits & GIVEN == terrain.terminals & GIVEN
        finished = jnp.any(alone & suffices & has_given, axis=0) & (terrain.find_all == 0)
        first = (alone & extends & ~finished).reshape(-1)
        turn = jnp.where(first, jnp.cumsum(first, dtype=jnp.int32) - 1, slots)
        key = (rows << SET_BITS | bits).reshape(-1)
        by_set = (bits * n + rows).reshape(-1)
        at_first = jnp.where(first, key, n * SETS)
        cost = jnp.full(SETS * n, self.far)
        index = jnp.full(n * SETS, self.unclaimed, self.index_type)
        return _Queue(
            key=jnp.zeros(slots, jnp.int32).at[turn].set(key, **DROP),
            head=jnp.int32(0),
            end=jnp.int32(0),
            tail=jnp.sum(first, dtype=jnp.int32),
            finished=finished | (terrain.terminals == 0),
            paths=Paths(
                cost=cost.at[by_set].set(jnp.where(alone.reshape(-1), 0, self.far)),
                row_index=index.at[at_first].set(turn.astype(self.index_type), **DROP),
                cost_via_cell=jnp.full((slots, self.lattice.width), self.far),
                cost_with_group=jnp.full((TERMINALS, slots), self.far),
            ),
        )

    def unfinished(self, queue: _Queue) -> Array:
        """() bool, sets wait, there is room for more, and some row still looks for one."""
        waiting = (queue.head < queue.tail) & (queue.tail <= self.capacity)
        return waiting & ~jnp.all(queue.finished)

    def take_block(self, queue: _Queue) -> _Queue:
        """The next sets of one size: what they cost with each cell and with one group more."""
        paths, terrain, n, slots = queue.paths, self.terrain, self.n, self.slots
        end = jnp.where(queue.head >= queue.end, queue.tail, queue.end)
        valid = queue.head + jnp.arange(self.block) < end
        key = jnp.where(valid, lax.dynamic_slice(queue.key, (queue.head,), (self.block,)), 0)
        row, groups = key >> SET_BITS, key & (SETS - 1)
        ground = terrain.ground.at[row].get(**READ)
        facts, power, place, number = jnp.split(self.of_rows.at[:, row].get(**READ), self.ends)
        row_limit, required, terminals, find_all = facts

        cost = jnp.where(valid, paths.cost.at[groups * n + row].get(**READ), self.far)
        spent = jnp.maximum(cost if self.weight is None else cost >> UNIT_BITS, 1)
        sweeps = jnp.max(jnp.where(valid, row_limit - spent, 0))
        x = self.connect(paths, key, cost, ground, sweeps)
        cost_with_group = self.extend(x, place, number, ground, queue.tail <= self.capacity)

        inside = groups & self.bits != 0
        alive = valid & ~queue.finished.at[row].get(**READ)
        limit = row_limit * self.most + (self.most - 1)
        reached = alive & ~inside & (cost_with_group <= limit)
        grown = groups | self.bits
        suffices, extends = _by_power(inside, power, required, self.surplus)
        has_given = grown & GIVEN == terminals & GIVEN
        finished = jnp.any(reached & suffices & has_given, axis=0) & (find_all == 0)

        # Several pairs of the block may reach one set: the first of them queues it.
        extends = (extends & reached).reshape(-1)
        target = (key | self.bits).reshape(-1)
        claimed = jnp.where(extends, target, n * SETS)
        index = paths.row_index.at[claimed].min(self.claims, **DROP)
        fresh = extends & (index.at[claimed].get(**CLIP) == self.claims)
        turn = queue.tail + jnp.cumsum(fresh, dtype=jnp.int32) - 1
        fits = fresh & (turn < self.capacity)
        place_of = jnp.where(fits, target, n * SETS)
        cost_at = jnp.where(reached, grown * n + row, n * SETS).reshape(-1)
        at_head = (0, queue.head)
        return _Queue(
            key=queue.key.at[jnp.where(fits, turn, slots)].set(target, **DROP),
            head=jnp.minimum(queue.head + self.block, end),
            end=end,
            tail=queue.tail + jnp.sum(fresh, dtype=jnp.int32),
            finished=queue.finished.at[row].max(finished, **DROP),
            paths=Paths(
                cost=paths.cost.at[cost_at].min(cost_with_group.reshape(-1), **DROP),
                row_index=index.at[place_of].set(turn.astype(self.index_type), **DROP),
                cost_via_cell=lax.dynamic_update_slice(paths.cost_via_cell, x, (queue.head, 0)),
                cost_with_group=lax.dynamic_update_slice(
                    paths.cost_with_group, cost_with_group, at_head
                ),
            ),
        )

    def connect(self, paths: Paths, key: Array, cost: Array, ground: Array, sweeps: Array) -> Array:
        """(block, W): `cost_via_cell` of the current sets, which are all of one size."""
        lattice, far = self.lattice, self.far
        row, groups = key >> SET_BITS, key & (SETS - 1)
        unit = jnp.ones((), self.dtype)
        if self.weight is not None:
            unit = self.weight.at[row].get(**READ)
        adjacent = ground & groups[:, None].astype(ground.dtype) != 0
        x = jnp.where(adjacent, jnp.minimum(cost[:, None] + unit, far), far)

        rest = groups & (groups - 1)  # each way to part a set in two once
        splits = (1 << jnp.maximum(lax.population_count(groups[0]) - 1, 0)) - 1
        at_a_time = PARTS_OF_A_TURN if on_gpu() else 1

        def part(_: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            subset, x = carry
            subsets: list[Array] = []
            while len(subsets) < at_a_time:
                subsets.append(subset)
                subset = (subset - 1) & rest
            parts = jnp.stack(subsets)  # (at_a_time, block): one gather for all of a turn
            both = cost_via_cell(paths, key - groups + parts) + cost_via_cell(paths, key - parts)
            return subset, jnp.minimum(x, jnp.min(both, axis=0) - unit)

        # The ways come round again: some too many change nothing.
        turns = lax.div(splits + at_a_time - 1, at_a_time)
        _, x = lax.fori_loop(0, turns, part, (rest, x))

        free = lattice.inner(ground) & FREE_BIT != 0
        step = unit if self.weight is None else lattice.inner(unit)

        def sweep(number: Array | int, x: Array) -> Array:
            new = jnp.minimum(lattice.inner(x), lattice.least_neighbor(x) + step)
            return lattice.widen(jnp.where(free, new, far), far)

        left, sweeps_a_turn = sweeps, 1
        if on_gpu():  # A sweep too many changes nothing within the limit.
            left, sweeps_a_turn = sweeps - FIRST_SWEEPS, SWEEPS_OF_A_TURN
            for number in range(FIRST_SWEEPS):
                x = sweep(number, x)
        turns = lax.div(left + sweeps_a_turn - 1, sweeps_a_turn)
        swept: Array = lax.fori_loop(0, turns, repeated(sweep, sweeps_a_turn), x)
        return swept

    def extend(self, x: Array, place: Array, number: Array, ground: Array, always: Array) -> Array:
        """(TERMINALS, block): what it costs in all to take in each further group."""
        lattice, far = self.lattice, self.far
        # Only a branch keeps XLA from fusing the minimum into the gather, at ten times the cost.
        near = lax.cond(always, lattice.least_neighbor, lattice.inner, x)
        at = near.at[jnp.arange(self.block), place - lattice.margin].get(**READ)
        group = number[None] == jnp.arange(MAX_GROUPS)[:, None, None]
        to_groups = jnp.min(jnp.where(group, at[None], far), axis=1)
        to_given = jnp.min(jnp.where(ground & GIVEN != 0, x, far), axis=1)
        return jnp.concatenate([to_groups, to_given[None]])


def _by_power(inside: Array, power: Array, required: Array, surplus: bool) -> tuple[Array, Array]:
    """What each set is by its power when one group more is taken in.

    Args:
        inside: (TERMINALS, block) bool, what the set has.
        power: (TERMINALS, block), of every group.
        required: (block,)
    Returns:
        (TERMINALS, block) bool, it is a federation; the same, it may be extended.
    """
    total = jnp.sum(jnp.where(inside, power, 0), axis=0) + power
    if surplus:
        return total >= required, jnp.ones_like(inside)
    group_power = jnp.where(power > 0, power, NO_LEAST)
    least = jnp.minimum(jnp.min(jnp.where(inside, group_power, NO_LEAST), axis=0), group_power)
    return (total >= required) & (total - least < required), total < required
