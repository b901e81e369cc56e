"""Which federations a player may form, and where their satellites lie (FED-01 to FED-24, A2, A9).

The player picks groups of touching buildings; the least satellites that connect them follow. All
answers are exact. They are dear, so they are worked out for the rows of a batch that ask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from gaia_jax.on_demand import on_demand
from gaia_jax.rules.federation_groups import (
    MAX_GROUPS,
    NO_GROUP,
    Groups,
    find_groups,
    number_by_cell,
)
from gaia_jax.rules.federation_lattice import DROP, READ, Lattice
from gaia_jax.rules.federation_paths import (
    FREE,
    GIVEN,
    NO_LEAST,
    UNIT,
    Paths,
    Terrain,
    search_paths,
)
from gaia_jax.rules.federation_satellites import trace_satellites

Array = jax.Array

MAX_FEDERATIONS = 128  # of more legal federations these count, the first by bitmask (A10)
# How many rows are searched together. On a CPU, 16 to 64 cost the same within a tenth. A search on
# an accelerator takes as many turns for 64 rows as for 4,096, so the chunks are large.
CHUNK = {"cpu_chunk": 32, "accelerator_chunks": 16}

# What is asked of a row. EXISTS is the cheapest.
EXISTS, BUILD, COMMIT = range(3)


class Position(NamedTuple):
    """What a player may federate. C cells."""

    own: Array  # (C,) bool, own structures and stations outside any federation
    power: Array  # (C,) int8, power value of each of them, >= 1
    free: Array  # (C,) bool, cells that may take a satellite (FED-04, FED-05)
    given: Array  # (C,) bool, the federation that is to grow (FED-15), else all False
    required: Array  # () int8, power that is needed, beyond that of `given`
    tokens: Array  # () int8, 0..25, the most satellites that can be paid and placed


class Answer(NamedTuple):
    """What `search` finds. A field means something where the row asked for it."""

    exists: Array  # () bool, EXISTS and BUILD: a legal federation exists
    add_cells: Array  # (C,) bool, BUILD: the lowest cell of each group that can be added
    complete: Array  # () bool, BUILD: the picks are a legal federation
    satellites: Array  # (C,) bool, COMMIT: where the satellites lie
    picks: Array  # () int32, bitmask of the groups picked, the cell's among them
    members: Array  # (C,) bool, COMMIT: cells of the groups picked
    commits: Array  # () bool, the row was asked to, or did, COMMIT


def search(
    lattice: Lattice,
    need: Array,
    position: Position,
    picks: Array,
    task: Array,
    *,
    surplus_allowed: bool = False,
    tasks: tuple[int, ...] = (EXISTS, BUILD, COMMIT),
) -> Answer:
    """Answer what each row asks; every task in one program. One row; vmap for more.

    Args:
        lattice: of the map; static.
        need: () bool; where False, all of the answer is False.
        picks: () uint16, bitmask of the groups picked so far; a legal federation for COMMIT.
        task: () int8, EXISTS, BUILD or COMMIT.
        surplus_allowed: a surplus group is illegal only where leaving it out saves a satellite
            (A11); static.
        tasks: those that rows may ask for; static.
    """
    kernel = partial(_answer, lattice, surplus_allowed, tasks, False)
    return _on_demand(lattice, kernel, need, position, picks, task)


def survey(
    lattice: Lattice,
    need: Array,
    position: Position,
    building: Array,
    picks: Array,
    cell: Array,
    *,
    surplus_allowed: bool = False,
) -> Answer:
    """Everything a decision asks: whether one exists, or how the builder goes on (A10).

    Every pick lies in some legal federation, and no legal federation contains another, so the picks
    are one as soon as their power suffices: then the row commits.

    Args:
        building: () bool, the builder is open; picks: () int32, groups picked before.
        cell: () int32, a cell of the group picked now, -1 none.
    """
    kernel = partial(_answer, lattice, surplus_allowed, (EXISTS, BUILD, COMMIT), True)
    task = jnp.where(building, BUILD, EXISTS)
    return _on_demand(lattice, kernel, need, position, picks, task, cell)


def exists(
    lattice: Lattice, need: Array, position: Position, *, surplus_allowed: bool = False
) -> Array:
    """() bool, whether a legal federation exists (A10)."""
    kernel = partial(_answer, lattice, surplus_allowed, (EXISTS,), False)
    return _on_demand(lattice, kernel, need, position, 0, EXISTS).exists


def builder(
    lattice: Lattice,
    need: Array,
    position: Position,
    picks: Array,
    *,
    surplus_allowed: bool = False,
) -> tuple[Array, Array]:
    """How the picks can go on (A10).

    Returns:
        (C,) bool, the lowest cell of each group that some legal federation has beside the picks;
        () bool, the picks are a legal federation.
    """
    kernel = partial(_answer, lattice, surplus_allowed, (BUILD,), False)
    answer = _on_demand(lattice, kernel, need, position, picks, BUILD)
    return answer.add_cells, answer.complete


def commit(lattice: Lattice, need: Array, position: Position, picks: Array) -> Array:
    """Where the satellites lie that connect the groups picked (FED-03, A2).

    The fewest; of these, those that touch fewest own unfederated structures and stations outside
    the federation; of these, one that depends on the map and on what is connected alone.

    Returns:
        (C,) bool; all False where there is no need, or the groups cannot be connected within
        `position.tokens`.
    """
    kernel = partial(_answer, lattice, False, (COMMIT,), False)
    return _on_demand(lattice, kernel, need, position, picks, COMMIT).satellites


def group_numbers(lattice: Lattice, need: Array, own: Array, power: Array) -> Array:
    """The group of each own cell, -1 where none takes part (A9).

    Returns:
        (C,) int8; all -1 where there is no need.
    """

    def kernel(_: Array, own: Array, power: Array) -> Array:
        return number_by_cell(find_groups(lattice, own, power), lattice.num_cells)

    neutral = jnp.full(lattice.num_cells, NO_GROUP, jnp.int8)
    return on_demand(kernel, need, (own, power), neutral, batched=True, **CHUNK)


def legal_federations(
    lattice: Lattice, position: Position, *, surplus_allowed: bool = False
) -> Array:
    """(MAX_FEDERATIONS,) int32, bitmasks of the groups of each legal federation, ascending (A10).

    -1 behind the last. For tests and study: `search` answers without listing.
    """
    batch = jax.tree.map(lambda a: jnp.asarray(a)[None], position)
    groups = find_groups(lattice, batch.own, batch.power)
    all_groups = groups.power > 0
    live = jnp.ones(1, bool)
    terrain = _terrain(lattice, live, batch, groups, all_groups, batch.required, live)
    paths, _ = search_paths(lattice, terrain, surplus=surplus_allowed)
    _, legal = _federations(terrain, paths, terrain.limit.astype(jnp.int8), surplus_allowed)
    return jnp.flatnonzero(legal[:, 0], size=MAX_FEDERATIONS, fill_value=-1).astype(jnp.int32)


def _on_demand(
    lattice: Lattice,
    kernel: Callable[..., Answer],
    need: Array,
    position: Position,
    picks: Array | int,
    task: Array | int,
    cell: Array | int = -1,
) -> Answer:
    flag, flags = jnp.zeros((), bool), jnp.zeros(lattice.num_cells, bool)
    numbers = (jnp.asarray(x, jnp.int32) for x in (picks, task, cell))
    args = (position, *numbers)
    neutral = Answer(flag, flags, flag, flags, jnp.zeros((), jnp.int32), flags, flag)
    return on_demand(kernel, need, args, neutral, batched=True, **CHUNK)


def _answer(
    lattice: Lattice,
    surplus_allowed: bool,
    tasks: tuple[int, ...],
    commits_itself: bool,
    live: Array,
    position: Position,
    picks: Array,
    task: Array,
    cell: Array,
) -> Answer:
    """`search` of a chunk of n rows that ask for `tasks` and no others; static.

    With `commits_itself`, static, BUILD becomes COMMIT where the picks have the power.
    """
    n, num_cells = position.own.shape
    rows = jnp.arange(n)
    groups = find_groups(lattice, position.own, position.power)
    present = groups.power > 0
    named = jnp.max(jnp.where(groups.cell == cell, groups.number, NO_GROUP), axis=0)
    picks = picks | jnp.where(named >= 0, 1 << jnp.maximum(named, 0), 0)
    picked = (picks >> jnp.arange(MAX_GROUPS)[:, None]) & 1 != 0
    strength = jnp.sum(jnp.where(picked, groups.power, 0), axis=0)
    if commits_itself:
        task = jnp.where((task == BUILD) & (strength >= position.required), COMMIT, task)
    commits = task == COMMIT
    if COMMIT in tasks:
        # The picks and no others; that they need all their power finds them and their parts.
        required = jnp.where(commits, strength, position.required)
        taking_part = jnp.where(commits, picked, present)
        weight = _weight(lattice, position, groups, picked, commits)
    else:
        required, taking_part, weight = position.required, present, None
    terrain = _terrain(lattice, live, position, groups, taking_part, required, task != EXISTS)
    nothing, nowhere = jnp.zeros(n, bool), jnp.zeros((n, num_cells), bool)

    def attempt(left: Array) -> tuple[Any, Array]:
        chosen = terrain._replace(seeds=terrain.seeds & left)
        paths, overrun = search_paths(lattice, chosen, surplus=surplus_allowed, weight=weight)
        found, may_add, complete, satellites = nothing, jnp.zeros(n, jnp.int32), nothing, nowhere
        if EXISTS in tasks or BUILD in tasks:
            limit = terrain.limit if weight is None else terrain.limit * UNIT + (UNIT - 1)
            payable, legal = _federations(
                terrain, paths, limit.astype(paths.cost.dtype), surplus_allowed
            )
            found = jnp.any(payable, axis=0)
            complete = legal.at[picks, rows].get(**READ)
            may_add = _together(legal, picks)
        if COMMIT in tasks:
            whole = jnp.where(commits, picks + jnp.where(chosen.seeds[MAX_GROUPS], GIVEN, 0), 0)
            satellites = trace_satellites(lattice, chosen, paths, weight, whole)
        return (found, may_add, complete, satellites), overrun

    found, may_add, complete, satellites = _retry(
        attempt, live, (nothing, jnp.zeros(n, jnp.int32), nothing, nowhere)
    )
    can_add = (may_add & ~picks) >> jnp.maximum(groups.number, 0) & 1 != 0
    add_cells = nowhere.at[rows, groups.cell].set(groups.lowest & can_add, **DROP)
    group = jnp.maximum(groups.number, 0)
    inside = commits & (groups.number != NO_GROUP) & picked.at[group, rows].get(**READ)
    members = nowhere.at[rows, groups.cell].set(inside, **DROP)
    return Answer(found, add_cells, complete, satellites, picks, members, commits)


def _terrain(
    lattice: Lattice,
    live: Array,
    position: Position,
    groups: Groups,
    taking_part: Array,
    required: Array,
    thorough: Array,
) -> Terrain:
    """The search's view of n rows; `taking_part` is (MAX_GROUPS, n) bool."""
    rows = jnp.arange(live.shape[0])
    group = jnp.maximum(groups.number, 0)
    takes_part = (groups.number != NO_GROUP) & taking_part.at[group, rows].get(**READ)
    bit = jnp.where(takes_part, 1 << group, 0).astype(jnp.int16)
    free = position.free & ~position.own & ~position.given
    code = jnp.where(free, jnp.int16(FREE), jnp.where(position.given, jnp.int16(GIVEN), 0))
    code = lattice.spread(code.at[rows, groups.cell].set(bit, **DROP), 0)
    beside = lattice.neighbors(code)
    beside = (beside[0] | beside[1] | beside[2] | beside[3] | beside[4] | beside[5]) & ~FREE
    ground = jnp.where(lattice.inner(code) == FREE, beside | FREE, 0)
    given = jnp.any(position.given, axis=1)
    return Terrain(
        ground=lattice.widen(ground.astype(jnp.int16), 0),
        place=groups.place,
        number=jnp.where(takes_part, group, NO_GROUP),
        seeds=jnp.concatenate([taking_part, given[None]]) & live,
        power=jnp.concatenate([groups.power, jnp.zeros_like(groups.power[:1])]),
        required=jnp.maximum(required.astype(jnp.int32), 0),
        limit=position.tokens.astype(jnp.int32),
        thorough=thorough,
    )


def _weight(
    lattice: Lattice, position: Position, groups: Groups, picked: Array, commits: Array
) -> Array:
    """(n, W) int16: a satellite, and what it touches of own cells that the picks leave out (A2)."""
    rows = jnp.arange(commits.shape[0])
    group = jnp.maximum(groups.number, 0)
    inside = (groups.number != NO_GROUP) & picked.at[group, rows].get(**READ)
    outside = jnp.zeros(position.own.shape, jnp.int16)
    outside = outside.at[rows, groups.cell].set((commits & ~inside).astype(jnp.int16), **DROP)
    return lattice.widen(UNIT + sum(lattice.neighbors(lattice.spread(outside, 0))), UNIT)


def _federations(
    terrain: Terrain, paths: Paths, limit: Array, surplus_allowed: bool
) -> tuple[Array, Array]:
    """Over all sets of groups: what could be paid, and what is legal and counts.

    Args:
        limit: (n,), the greatest cost within the tokens.
    Returns:
        (1 << MAX_GROUPS, n) bool, connected, powerful enough, payable: there is a legal one if and
        only if there is one of these; (1 << MAX_GROUPS, n) bool, legal, for thorough rows.
    """
    cost = paths.cost.reshape(2, GIVEN, -1)
    cost = jnp.where(terrain.seeds[MAX_GROUPS], cost[1], cost[0])
    total, least = _set_power(terrain.power[:MAX_GROUPS].astype(jnp.int16))
    required = terrain.required.astype(jnp.int16)
    payable = (cost <= limit) & (total >= required)
    if surplus_allowed:
        legal = _without_surplus(payable, cost, total, required, terrain.power)
    else:
        payable &= total - least < required
        legal = payable
    return payable, _first(legal)


def _set_power(power: Array) -> tuple[Array, Array]:
    """Total and least power of the groups in each set.

    Args:
        power: (MAX_GROUPS, n) int16.
    Returns:
        (1 << MAX_GROUPS, n) int16; the same, NO_LEAST for the empty set.
    """
    half = MAX_GROUPS // 2
    within = ((jnp.arange(1 << half)[:, None] >> jnp.arange(half)) & 1 != 0)[None, :, :, None]
    halves = power.reshape(2, 1, half, -1)
    total = jnp.sum(jnp.where(within, halves, 0), axis=2, dtype=jnp.int16)  # (2, 64, n)
    least = jnp.min(jnp.where(within, halves, jnp.int16(NO_LEAST)), axis=2)
    total = total[1][:, None] + total[0][None]
    least = jnp.minimum(least[1][:, None], least[0][None])
    return total.reshape(GIVEN, -1), least.reshape(GIVEN, -1)


def _without_surplus(
    payable: Array, cost: Array, total: Array, required: Array, power: Array
) -> Array:
    """The sets with no group that is not needed for power and costs a satellite (A11)."""
    sets = jnp.arange(GIVEN)

    def check(group: Array, legal: Array) -> Array:
        bit = 1 << group
        left = total - lax.dynamic_index_in_dim(power, group, keepdims=False)
        saves = cost.at[sets & ~bit].get(**READ) < cost
        return legal & ~((sets & bit != 0)[:, None] & (left >= required) & saves)

    return lax.fori_loop(0, MAX_GROUPS, check, payable)


def _first(legal: Array) -> Array:
    """The first MAX_FEDERATIONS of each row."""
    sets = jnp.arange(GIVEN, dtype=jnp.int16)[:, None]

    def before(end: Array) -> Array:
        return legal & (sets < end)

    def raise_bit(i: Array, end: Array) -> Array:
        """Keep a bit of `end` if no more than MAX_FEDERATIONS lie before it."""
        raised = end + (GIVEN >> i).astype(jnp.int16)
        count = jnp.sum(before(raised), axis=0, dtype=jnp.int16)
        return jnp.where(count <= MAX_FEDERATIONS, raised, end)

    count = jnp.sum(legal, axis=0, dtype=jnp.int16)
    turns = jnp.where(jnp.any(count > MAX_FEDERATIONS), MAX_GROUPS + 1, 1)
    return before(lax.fori_loop(0, turns, raise_bit, jnp.zeros_like(count)))


def _together(legal: Array, picks: Array) -> Array:
    """(n,) int32: all groups that are in a legal federation with the picks."""
    sets = jnp.arange(GIVEN, dtype=jnp.int16)[:, None]
    picks = picks.astype(jnp.int16)
    containing = jnp.where(legal & (sets & picks == picks), sets, 0)
    return lax.reduce(containing, jnp.int16(0), lax.bitwise_or, (0,)).astype(jnp.int32)


def _retry(attempt: Callable[[Array], tuple[Any, Array]], live: Array, out: Any) -> Any:
    """All rows in one search; if its queue runs over, half as many at a time.

    Args:
        attempt: rows, (n,) bool, to a pytree of (n, ...), and whether the queue ran over. It never
            does for a single row.
        live: (n,) bool, the rows to do.
        out: a pytree of (n, ...), what stands in the others.
    """

    def body(carry: tuple[Array, Array, Any]) -> tuple[Array, Array, Any]:
        at_a_time, left, out = carry
        rows = left & (jnp.arange(left.shape[0]) < jnp.argmax(left) + at_a_time)
        result, overrun = attempt(rows)
        done = rows & ~overrun

        def settle(old: Array, new: Array) -> Array:
            return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        at_a_time = jnp.where(overrun, jnp.maximum(at_a_time // 2, 1), at_a_time)
        return at_a_time, left & ~done, jax.tree.map(settle, out, result)

    carry = jnp.int32(live.shape[0]), live, out
    return lax.while_loop(lambda carry: jnp.any(carry[1]), body, carry)[2]
