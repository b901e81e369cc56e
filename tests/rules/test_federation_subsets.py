"""A25 by brute force: which federations are minimal, over all subsets of up to eight groups.

The ruling is written out here once more, and shares nothing with the search but the positions.
"""

from __future__ import annotations

import random
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.rules.federation import search
from gaia_jax.rules.federation.lattice import build_lattice
from gaia_jax.rules.federation.legal import MAX_FEDERATIONS, legal_sets
from gaia_jax.rules.federation.paths import search_paths
from gaia_jax.rules.federation.search import Position
from gaia_jax.ruleset.geometry import Geometry
from tests.federation_solver import BASE, LOST_FLEET, Case, Solver, draw_case
from tests.rules.test_federation_search import position_of

MOST_GROUPS = 8
ROWS = 16  # searched together; 255 sets of each fit into one queue
MAPS = {"base": BASE, "lost_fleet_published": LOST_FLEET}


@cache
def engine(name: str) -> jax.stages.Wrapped:
    """(1 << MAX_GROUPS, ROWS) bool, the legal sets of groups of each position; whether too many."""
    return jax.jit(partial(_legal, build_lattice(MAPS[name])))


def _legal(lattice: search.Lattice, position: Position) -> tuple[jax.Array, jax.Array]:
    groups = search.find_groups(lattice, position.own, position.power)
    live = jnp.ones(ROWS, bool)
    taking_part = groups.power > 0
    terrain, _ = search._terrain(lattice, live, position, groups, taking_part, live)
    paths, overrun = search_paths(lattice, terrain, surplus=True)
    return legal_sets(terrain, paths, terrain.limit.astype(jnp.int8), True)[1], overrun


def positions(seed: int, count: int, geometry: Geometry) -> list[tuple[Case, Solver]]:
    """Positions of two to eight groups, half of them with many small groups near one another."""
    rng, out = random.Random(seed), []
    while len(out) < count:
        growth = rng.random() < 0.1
        case = draw_case(rng, geometry, buildings=rng.randint(4, 12), growth=growth)
        solver = Solver(case)  # for its groups and what connects them
        if 2 <= len(solver.groups) <= MOST_GROUPS:
            out.append((case, solver))
    return out


def by_the_ruling(case: Case, solver: Solver, parts_of: str) -> set[int]:
    """The bitmasks of the legal federations, each judged against its subsets.

    Args:
        parts_of: "any" strict subset (A25), or those of "one" group less, as it was before.
    """
    number = len(solver.groups)
    power = [
        sum(solver.strength[i] for i in range(number) if mask >> i & 1)
        for mask in range(1 << number)
    ]
    satellites = [solver.cost(mask) for mask in range(1 << number)]
    enough = [
        mask
        for mask in range(1 << number)
        if power[mask] >= case.required and satellites[mask] is not None
    ]
    legal = set()
    for mask in enough:
        parts = [part for part in enough if part & mask == part and part != mask]
        if parts_of == "one":
            parts = [part for part in parts if (mask ^ part).bit_count() == 1]
        if not any(satellites[part] < satellites[mask] for part in parts):
            legal.add(mask)
    return legal


def check(name: str, seed: int, count: int) -> int:
    """Compare `count` positions; returns in how many the former reading finds other federations."""
    changed = 0
    drawn = positions(seed, count, MAPS[name])
    for first in range(0, count, ROWS):
        chunk = drawn[first : first + ROWS]
        rows = [position_of(case) for case, _ in (chunk + chunk * ROWS)[:ROWS]]
        legal, overrun = engine(name)(jax.tree.map(lambda *x: np.stack(x), *rows))
        assert not overrun
        legal = np.asarray(legal)
        for row, (case, solver) in enumerate(chunk):
            want = set(sorted(by_the_ruling(case, solver, "any"))[:MAX_FEDERATIONS])
            assert set(np.flatnonzero(legal[:, row]).tolist()) == want, (name, seed, first + row)
            one_less = sorted(by_the_ruling(case, solver, "one"))[:MAX_FEDERATIONS]
            changed += want != set(one_less)
    return changed


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] * (x == "base")) for x in MAPS]
)
def test_a25_the_search_finds_what_trying_all_subsets_finds(name: str) -> None:
    assert check(name, 1, 96) > 0  # some positions where one group less is not the whole test


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
def test_a25_a_thousand_positions_of_each_map(name: str) -> None:
    assert check(name, 2, 1000) > 0
