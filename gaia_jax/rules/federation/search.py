"""Which federations a player may form, and where their satellites lie (FED-01 to FED-24, A2, A9).

The player picks groups of touching buildings; the least satellites that connect them follow. All
answers are exact. They are expensive, so they are worked out for the rows of a batch that ask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.rules.federation.groups import (
    MAX_GROUPS,
    NO_GROUP,
    Groups,
    find_groups,
    number_by_cell,
)
from gaia_jax.rules.federation.lattice import DROP, READ, Lattice
from gaia_jax.rules.federation.legal import groups_beside, legal_sets
from gaia_jax.rules.federation.paths import (
    FREE_BIT,
    GIVEN,
    UNIT,
    Terrain,
    search_paths,
)
from gaia_jax.rules.federation.satellites import trace_satellites
from gaia_jax.xla.compact_vmap import compact_vmap

# How many rows are searched together. On a CPU, 16 to 64 cost the same within a tenth. A search on
# an accelerator takes as many turns for 64 rows as for 4,096, so the chunks are large.
CHUNK = {"cpu_chunk": 32, "accelerator_chunks": 16}

OTHER = 2 * FREE_BIT  # own cells that take no part
BARRED = OTHER | FREE_BIT  # cells that no satellite may touch

# What a row sends to the kernel by cell, in one array: power of own cells, else one of these.
FREE_CELL, GIVEN_CELL, BARRED_CELL = 100, 101, 102
# What it gets back: bits by cell, and the picks with bits above them.
ADD_CELL, SATELLITE, MEMBER = 1, 2, 4
EXIST, COMPLETE, COMMITTED = (1 << (MAX_GROUPS + i) for i in range(3))

# What is asked of a row. EXISTS is the cheapest.
EXISTS, BUILD, COMMIT = range(3)


class Position(NamedTuple):
    """What a player may federate. C cells."""

    own: Array  # (C,) bool, own structures and stations outside any federation
    power: Array  # (C,) int8, power value of each of them, >= 1
    free: Array  # (C,) bool, cells that may take a satellite (FED-04), if they touch none barred
    given: Array  # (C,) bool, the federation that is to grow (FED-15), else all False
    barred: Array  # (C,) bool, federations that must not be touched (FED-05)
    required: Array  # () int8, power that is needed, beyond that of `given`
    tokens: Array  # () int8, 0..25, the most satellites that can be paid and placed


class Answer(NamedTuple):
    """What `survey` finds. A field means something where the row asked for it."""

    exists: Array  # () bool, EXISTS and BUILD: a legal federation exists
    add_cells: Array  # (C,) bool, BUILD: the lowest cell of each group that can be added
    complete: Array  # () bool, BUILD: the picks are a legal federation
    satellites: Array  # (C,) bool, COMMIT: where the satellites lie
    picks: Array  # () int32, bitmask of the groups picked, the cell's among them
    members: Array  # (C,) bool, COMMIT: cells of the groups picked
    commits: Array  # () bool, the row was asked to, or did, COMMIT


def survey(
    lattice: Lattice,
    need: Array,
    position: Position,
    building: Array,
    picks: Array,
    cell: Array,
    stop: Array | None = None,
    *,
    surplus_allowed: bool = False,
) -> Answer:
    """Everything a decision asks: whether one exists, or how the builder can continue (A10).

    Every pick is in some legal federation, and no legal federation contains another, so the picks
    are one as soon as their power suffices: then the row commits. Not so where surplus is allowed:
    there the player decides when to `stop`, which is allowed where the answer was `complete`.

    Satellites are the fewest that connect the groups picked (FED-03, A2); of these, those that
    touch fewest own unfederated structures and stations outside the federation; of these, some that
    depend on the map and on what is connected alone. There are none where the groups cannot be
    connected within `position.tokens`.

    Args:
        lattice: of the map; static.
        need: () bool; where False, all of the answer is False.
        building: () bool, the builder is open; picks: () int32, groups picked before.
        cell: () int32, a cell of the group picked now, -1 none.
        stop: () bool, the picks are to be committed; None where they commit by themselves.
        surplus_allowed: surplus groups are illegal only where leaving out some of them saves a
            satellite (A25); static.
    """
    kernel = partial(_answer, lattice, surplus_allowed, stop is None)
    task = jnp.where(building, BUILD, EXISTS)
    if stop is not None:
        task = jnp.where(building & stop, COMMIT, task)
    return _on_demand(lattice, kernel, need, position, picks, task, cell)


def group_numbers(lattice: Lattice, need: Array, own: Array, power: Array) -> Array:
    """The group of each own cell, -1 where none takes part (A9).

    Returns:
        (C,) int8; all -1 where there is no need.
    """

    def kernel(_: Array, own: Array, power: Array) -> Array:
        return number_by_cell(find_groups(lattice, own, power), lattice.num_cells)

    default = jnp.full(lattice.num_cells, NO_GROUP, jnp.int8)
    return compact_vmap(kernel, need, (own, power), default, batched=True, **CHUNK)


def _on_demand(
    lattice: Lattice,
    kernel: Callable[..., tuple[Array, Array]],
    need: Array,
    position: Position,
    picks: Array | int,
    task: Array | int,
    cell: Array | int = -1,
) -> Answer:
    """`kernel` for the rows in need."""
    # Few arrays travel cheaper than many: each is gathered and scattered on its own.
    code = jnp.zeros_like(position.power)
    for cells, value in (
        (position.free, FREE_CELL),
        (position.given, GIVEN_CELL),
        (position.barred, BARRED_CELL),
    ):
        code = jnp.where(cells, jnp.int8(value), code)
    code = jnp.where(position.own, position.power, code)
    inputs = (position.required, position.tokens, picks, task, cell)
    numbers = jnp.stack([jnp.asarray(x, jnp.int32) for x in inputs])
    default = jnp.zeros(lattice.num_cells, jnp.int8), jnp.int32(0)
    cells, bits = compact_vmap(kernel, need, (code, numbers), default, batched=True, **CHUNK)
    return Answer(
        exists=bits & EXIST != 0,
        add_cells=cells & ADD_CELL != 0,
        complete=bits & COMPLETE != 0,
        satellites=cells & SATELLITE != 0,
        picks=bits & (EXIST - 1),
        members=cells & MEMBER != 0,
        commits=bits & COMMITTED != 0,
    )


def _answer(
    lattice: Lattice,
    surplus_allowed: bool,
    commits_itself: bool,
    live: Array,
    code: Array,
    numbers: Array,
) -> tuple[Array, Array]:
    """The kernel of a chunk of n rows.

    With `commits_itself`, static, BUILD becomes COMMIT where the picks have the power.

    Args:
        code: (n, C) int8; numbers: (n, 5) int32. See `_on_demand`, as for what is returned:
    Returns:
        (n, C) int8; (n,) int32.
    """
    n, num_cells = code.shape
    rows = jnp.arange(n)
    required, tokens, picks, task, cell = numbers.T
    position = _position(code, required, tokens)
    groups = find_groups(lattice, position.own, position.power)
    group = jnp.maximum(groups.number, 0)
    bit = jnp.where(groups.number == NO_GROUP, 0, 1 << group)
    picks |= jnp.max(jnp.where(groups.cell == cell, bit, 0), axis=0)
    picked = picks >> jnp.arange(MAX_GROUPS)[:, None] & 1 != 0
    strength = jnp.sum(jnp.where(picked, groups.power, 0), axis=0)
    if commits_itself:
        task = jnp.where((task == BUILD) & (strength >= required), COMMIT, task)
    commits = task == COMMIT
    # A commit takes the picks and no others; required all their power, it finds them and their
    # parts.
    position = position._replace(required=jnp.where(commits, strength, required))
    taking_part = jnp.where(commits, picked, groups.power > 0)
    terrain, touching = _terrain(lattice, live, position, groups, taking_part, task != EXISTS)
    weight = UNIT + jnp.where(commits[:, None], touching, 0)
    attempt = partial(_attempt, lattice, surplus_allowed, terrain, weight, picks, commits)
    nothing, nowhere = jnp.zeros(n, jnp.int32), jnp.zeros((n, num_cells), bool)
    bits, may_add, satellites = _retry(attempt, live, (nothing, nothing, nowhere))
    cells = jnp.where(groups.lowest & (may_add & bit != 0), ADD_CELL, 0)
    cells += jnp.where(commits & (picks & bit != 0), MEMBER, 0)
    cells = (
        jnp.zeros((n, num_cells), jnp.int8)
        .at[rows, groups.cell]
        .set(cells.astype(jnp.int8), **DROP)
    )
    cells |= jnp.where(satellites, jnp.int8(SATELLITE), 0)
    return cells, picks | bits | jnp.where(commits, COMMITTED, 0)


def _position(code: Array, required: Array, tokens: Array) -> Position:
    """The position of n rows from what `_on_demand` sends of it."""
    return Position(
        own=(code > 0) & (code < FREE_CELL),
        power=code,
        free=code == FREE_CELL,
        given=code == GIVEN_CELL,
        barred=code == BARRED_CELL,
        required=required,
        tokens=tokens,
    )


def _attempt(
    lattice: Lattice,
    surplus_allowed: bool,
    terrain: Terrain,
    weight: Array,
    picks: Array,
    commits: Array,
    left: Array,
) -> tuple[tuple[Array, Array, Array], Array]:
    """The rows `left`, (n,) bool, searched.

    Returns:
        (n,) int32 EXIST and COMPLETE, (n,) int32 groups that may be added, (n, C) bool satellites;
        () bool, the queue ran over.
    """
    n = left.shape[0]
    chosen = terrain._replace(terminals=jnp.where(left, terrain.terminals, 0))
    paths, overrun = search_paths(lattice, chosen, surplus=surplus_allowed, weight=weight)
    limit = terrain.limit * UNIT + (UNIT - 1)
    payable, legal = legal_sets(terrain, paths, limit.astype(paths.cost.dtype), surplus_allowed)
    bits = jnp.where(jnp.any(payable, axis=0), EXIST, 0)
    bits += jnp.where(legal.at[picks, jnp.arange(n)].get(**READ), COMPLETE, 0)
    may_add = groups_beside(legal, picks) & ~picks
    committed = jnp.where(commits, picks | (terrain.terminals & GIVEN), 0)
    satellites = trace_satellites(lattice, chosen, paths, weight, committed)
    return (bits, may_add, satellites), overrun


def _terrain(
    lattice: Lattice,
    live: Array,
    position: Position,
    groups: Groups,
    taking_part: Array,
    find_all: Array,
) -> tuple[Terrain, Array]:
    """The search's view of n rows.

    Args:
        taking_part: (MAX_GROUPS, n) bool, groups that may be connected.
        find_all: (n,) bool, see Terrain.
    Returns:
        The terrain; (n, W) int16, how many own unfederated cells each cell touches that belong to
        other groups (A2).
    """
    rows = jnp.arange(live.shape[0])
    group = jnp.maximum(groups.number, 0)
    takes_part = (groups.number != NO_GROUP) & taking_part.at[group, rows].get(**READ)
    bit = jnp.where(takes_part, 1 << group, OTHER).astype(jnp.int16)
    free = position.free & ~position.own & ~position.given
    code = jnp.where(free, jnp.int16(FREE_BIT), jnp.where(position.given, jnp.int16(GIVEN), 0))
    code = jnp.where(position.barred, jnp.int16(BARRED), code)
    code = lattice.spread(code.at[rows, groups.cell].set(bit, **DROP), 0)
    around = lattice.neighbors(code)
    adjacent = reduce(jnp.bitwise_or, around) & (FREE_BIT - 1)
    barred = reduce(jnp.logical_or, (cell == BARRED for cell in around))
    ground = jnp.where((lattice.inner(code) == FREE_BIT) & ~barred, adjacent | FREE_BIT, 0)
    touching = sum((cell == OTHER).astype(jnp.int16) for cell in around)
    bits = (1 << jnp.arange(MAX_GROUPS))[:, None]
    terminals = jnp.sum(jnp.where(taking_part, bits, 0), axis=0)
    terminals += jnp.where(jnp.any(position.given, axis=1), GIVEN, 0)
    terrain = Terrain(
        ground=lattice.widen(ground, 0),
        place=groups.place,
        number=jnp.where(takes_part, group, NO_GROUP),
        terminals=jnp.where(live, terminals, 0),
        power=jnp.concatenate([groups.power, jnp.zeros_like(groups.power[:1])]),
        required=jnp.maximum(position.required.astype(jnp.int32), 0),
        limit=position.tokens.astype(jnp.int32),
        find_all=find_all.astype(jnp.int32),
    )
    return terrain, lattice.widen(jnp.asarray(touching), 0)


def _retry(attempt: Callable[[Array], tuple[Any, Array]], live: Array, out: Any) -> Any:
    """All rows in one search; if its queue runs over, half as many at a time.

    Args:
        attempt: rows, (n,) bool, to a pytree of (n, ...), and whether the queue ran over. It never
            does for a single row.
        live: (n,) bool, the rows to do.
        out: a pytree of (n, ...), the values of the others.
    """

    def body(carry: tuple[Array, Array, object]) -> tuple[Array, Array, Any]:
        at_a_time, left, out = carry
        rows = left & (jnp.arange(left.shape[0]) < jnp.argmax(left) + at_a_time)
        result, overrun = attempt(rows)
        done = rows & ~overrun

        def keep_done(old: Array, new: Array) -> Array:
            return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        at_a_time = jnp.where(overrun, jnp.maximum(at_a_time // 2, 1), at_a_time)
        return at_a_time, left & ~done, jax.tree.map(keep_done, out, result)

    carry = jnp.int32(live.shape[0]), live, out
    return lax.while_loop(lambda carry: jnp.any(carry[1]), body, carry)[2]
