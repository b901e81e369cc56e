"""Federations by exhaustion, in plain Python: what the search in the environment is held against.

Nothing here is shared with `gaia_jax.rules`. Every set of groups is tried. The least satellites of
one set come from the definition: the cells of its groups and the free cells are the nodes, a free
cell costs one, and a tree is grown over all subsets of the terminals by levels of cost. Sets of
cells are Python integers, one bit a cell of a wide grid, so that a step to all neighbours is a few
shifts. `brute_force` is a third way, for small cases: it tries sets of cells.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from gaia_jax.components import map_tiles
from gaia_jax.ruleset.geometry import Geometry, build_geometry, geometry_of, rotate

MAX_GROUPS = 12
MAX_LEGAL = 128
STRIDE = 64  # bits of a line of the grid


@dataclass
class Case:
    """One position of one player."""

    geometry: Geometry
    power: dict[int, int]  # own unfederated cell -> its power value
    free: set[int]
    given: set[int]  # the federation that is to grow
    required: int
    tokens: int


class Solver:
    """The groups of a case, its legal federations and their least satellites."""

    def __init__(self, case: Case, surplus_allowed: bool = False) -> None:
        self.case = case
        self.neighbors = [[int(n) for n in row if n >= 0] for row in case.geometry.neighbors]
        self.position = [
            STRIDE * (int(q) + 20) + int(r) + 20 for q, r in case.geometry.cells.tolist()
        ]
        groups = self._components(set(case.power))
        strength = [sum(case.power[cell] for cell in group) for group in groups]
        strongest = sorted(range(len(groups)), key=lambda i: (-strength[i], groups[i][0]))
        indices = sorted(strongest[:MAX_GROUPS])
        self.groups = [groups[i] for i in indices]
        self.strength = [strength[i] for i in indices]
        self._free = self._bits(case.free)
        self._shape = [self._bits(group) for group in self.groups]
        self._given = self._bits(case.given)
        self._cost: dict[int, int | None] = {}
        self.legal = self._legal(surplus_allowed)

    def add_cells(self, picks: int) -> set[int]:
        """The lowest cell of each group that some legal federation has in addition to the picks."""
        together = 0
        for mask in self.legal:
            if mask & picks == picks:
                together |= mask
        return {g[0] for i, g in enumerate(self.groups) if (together & ~picks) >> i & 1}

    def cost(self, mask: int) -> int | None:
        """The least satellites that connect the groups (and the given federation)."""
        if mask not in self._cost:
            self._cost[mask] = self._connect(mask)
        return self._cost[mask]

    def _legal(self, surplus_allowed: bool) -> list[int]:
        out = []
        for mask in range(1 << len(self.groups)):
            if not self._suffices(mask):
                continue
            parts = [part for part in strict_subsets(mask) if self._suffices(part)]
            if parts and not surplus_allowed:
                continue
            cost = self.cost(mask)
            if cost is None:
                continue
            costs = [self.cost(part) for part in parts]
            if any(part_cost is not None and part_cost < cost for part_cost in costs):  # A25
                continue
            out.append(mask)
            if len(out) == MAX_LEGAL:
                break
        return out

    def _suffices(self, mask: int) -> bool:
        """Whether the groups have the required power, and there is something to connect."""
        power = sum(self.strength[i] for i in self._members(mask))
        return power >= self.case.required and bool(mask or self.case.given)

    def _members(self, mask: int) -> list[int]:
        return [i for i in range(len(self.groups)) if mask >> i & 1]

    def _terminals(self, mask: int) -> list[int]:
        out = [self._shape[i] for i in self._members(mask)]
        return out + [self._given] if self._given else out

    def _connect(self, mask: int) -> int | None:
        terminals = self._terminals(mask)
        if not terminals:
            return None
        limit = self.case.tokens
        root, others = terminals[0], terminals[1:]
        if not others:
            return 0
        # level[part][c]: cells that are connected to all of the part with c satellites at most.
        level: dict[int, list[int]] = {}
        for part in range(1, 1 << len(others)):
            at: list[int] = []
            for c in range(limit + 1):
                cells = at[c - 1] if c else 0
                if part & (part - 1) == 0:
                    cells |= others[part.bit_length() - 1]
                subset = (part - 1) & part
                while subset > part ^ subset:
                    first, second = level[subset], level[part ^ subset]
                    for d in range(c + 1):
                        cells |= first[d] & second[c - d] & ~self._free
                        if d:  # a satellite where two parts meet is paid once
                            cells |= first[d] & second[c - d + 1] & self._free
                    subset = (subset - 1) & part
                if c:
                    cells |= _grow(at[c - 1]) & self._free
                at.append(self._flood(cells, terminals))
            level[part] = at
        reached = level[(1 << len(others)) - 1]
        return next((c for c in range(limit + 1) if reached[c] & root), None)

    def _flood(self, cells: int, terminals: list[int]) -> int:
        """With all of each terminal that the cells meet or touch, which costs nothing."""
        while True:
            near = cells | _grow(cells)
            grown = cells
            for terminal in terminals:
                if near & terminal:
                    grown |= terminal
            if grown == cells:
                return cells
            cells = grown

    def best_satellites(self, mask: int) -> tuple[int, int]:
        """The least number, and with it the least touching of own buildings left out (A2).

        Node-weighted Dreyfus-Wagner on single cells, with (number, touching) as one integer.
        """
        case = self.case
        chosen = [set(self.groups[i]) for i in self._members(mask)]
        if case.given:
            chosen.append(set(case.given))
        inside = set().union(*chosen)
        weight = dict.fromkeys(inside, 0)
        for cell in case.free:
            weight[cell] = 1000 + self.touching(cell, mask)
        terminals = [min(group) for group in chosen]
        root, others = terminals[0], terminals[1:]
        table: list[dict[int, int]] = [{}]
        for part in range(1, 1 << len(others)):
            best: dict[int, int] = {}
            if part & (part - 1) == 0:
                best[others[part.bit_length() - 1]] = 0
            subset = (part - 1) & part
            while subset > part ^ subset:
                first, second = table[subset], table[part ^ subset]
                for cell in first.keys() & second.keys():
                    value = first[cell] + second[cell] - weight[cell]
                    best[cell] = min(best.get(cell, value), value)
                subset = (subset - 1) & part
            todo = [(value, cell) for cell, value in best.items()]
            heapq.heapify(todo)
            while todo:
                value, cell = heapq.heappop(todo)
                if value > best[cell]:
                    continue
                for n in self.neighbors[cell]:
                    if n in weight and value + weight[n] < best.get(n, 1 << 30):
                        best[n] = value + weight[n]
                        heapq.heappush(todo, (best[n], n))
            table.append(best)
        value = table[-1][root] if others else 0
        return value // 1000, value % 1000

    def touching(self, cell: int, mask: int) -> int:
        """Own unfederated cells next to `cell` that the groups of `mask` leave out."""
        inside = {c for i in self._members(mask) for c in self.groups[i]}
        return sum(n in self.case.power and n not in inside for n in self.neighbors[cell])

    def connects(self, mask: int, satellites: set[int]) -> bool:
        """Whether the satellites lie on free cells and connect the groups."""
        cells = {c for i in self._members(mask) for c in self.groups[i]}
        cells |= satellites | self.case.given
        return satellites <= self.case.free and len(self._components(cells)) <= 1

    def brute_force(self, mask: int, limit: int) -> tuple[int, int] | None:
        """`best_satellites` by trying sets of free cells, up to `limit` of them."""
        near = sorted(self._within(mask, limit))
        for count in range(limit + 1):
            tries = itertools.combinations(near, count)
            touching_counts = [
                sum(self.touching(cell, mask) for cell in satellites)
                for satellites in tries
                if self.connects(mask, set(satellites))
            ]
            if touching_counts:
                return count, min(touching_counts)
        return None

    def _within(self, mask: int, limit: int) -> set[int]:
        inside = {c for i in self._members(mask) for c in self.groups[i]} | self.case.given
        distance = self.case.geometry.distance
        return {c for c in self.case.free if min(int(distance[c, i]) for i in inside) <= limit}

    def _components(self, cells: set[int]) -> list[list[int]]:
        out, seen = [], set()
        for cell in sorted(cells):
            if cell in seen:
                continue
            part, todo = [], [cell]
            seen.add(cell)
            while todo:
                at = todo.pop()
                part.append(at)
                for n in self.neighbors[at]:
                    if n in cells and n not in seen:
                        seen.add(n)
                        todo.append(n)
            out.append(sorted(part))
        return out

    def _bits(self, cells: set[int] | list[int]) -> int:
        return sum(1 << self.position[cell] for cell in cells)


def strict_subsets(mask: int) -> Iterator[int]:
    """All bitmasks that are a strict part of `mask`, the empty one last."""
    part = mask
    while part:
        part = (part - 1) & mask
        yield part


def _grow(x: int) -> int:
    """All neighbours of the cells of x: (q, r) has (q, r+-1), (q+-1, r), (q+1, r-1), (q-1, r+1)."""
    return x << 1 | x >> 1 | x << STRIDE | x >> STRIDE | x << (STRIDE - 1) | x >> (STRIDE - 1)


def _contents(rng: random.Random, geometry: Geometry) -> list[str]:
    """The contents of each cell of a shuffled map."""
    out = ["Empty"] * geometry.num_cells
    tiles = rng.sample(map_tiles.SECTOR_TILES, len(map_tiles.SECTOR_TILES))
    for tile, (q, r) in zip(tiles, map_tiles.SECTOR_CENTERS, strict=True):
        turns = rng.randrange(6)
        for (dq, dr), content in zip(map_tiles.SECTOR_LOCAL, tile.contents(), strict=True):
            tq, tr = rotate((dq, dr), turns)
            out[geometry.cell_index[q + tq, r + tr]] = content
    if len(geometry.interface_cells):
        ships = rng.choice(map_tiles.LOST_FLEET_MAP.ship_cell_sets)
        rest = iter(rng.sample(map_tiles.INTERFACE_TILES, len(map_tiles.INTERFACE_TILES)))
        for i, cell in enumerate(geometry.interface_cells):
            out[cell] = "Ship" if i in ships else next(rest)
        sides = rng.sample(range(len(map_tiles.DEEP_TILES) // 2), len(geometry.deep_cells))
        for side, cells in zip(sides, geometry.deep_cells, strict=True):
            content = map_tiles.DEEP_TILES[2 * side + rng.randrange(2)].contents
            shift = rng.randrange(3)
            for i in range(3):
                out[cells[(i + shift) % 3]] = content[i]
    return out


LOST_FLEET = geometry_of(map_tiles.LOST_FLEET_MAP)
BASE = build_geometry(map_tiles.SECTOR_CENTERS)


def draw_case(
    rng: random.Random,
    geometry: Geometry = LOST_FLEET,
    *,
    buildings: int | None = None,
    spread: int | None = None,
    tokens: int | None = None,
    growth: bool = False,
) -> Case:
    """A position as play makes them: buildings that spread from planet to planet nearby.

    With `growth`, a federation of the Hive is there to grow, stations lie in empty space, and what
    is still needed is drawn.
    """
    contents = _contents(rng, geometry)
    planets = [c for c, content in enumerate(contents) if content not in ("Empty", "Ship")]
    occupied = set(rng.sample(planets, int(len(planets) * rng.uniform(0.1, 0.4))))
    sites = [c for c in planets if c not in occupied]
    empty = {c for c, content in enumerate(contents) if content == "Empty"}
    count = buildings or rng.randint(4, 14)
    reach = spread or rng.randint(1, 3)
    own = [rng.choice(sites)]
    while len(own) < count:
        near = [
            c for c in sites if c not in own and min(geometry.distance[c, o] for o in own) <= reach
        ]
        if not near:
            reach += 1
            if reach > 8:
                break
            continue
        own.append(rng.choice(near))
    strong = rng.uniform(0.1, 0.7)
    power = {c: rng.choice((2, 2, 2, 3, 3, 4)) if rng.random() < strong else 1 for c in own}
    stations: set[int] = set()
    if growth:
        nearby = [c for c in empty if min(geometry.distance[c, o] for o in own) <= 2]
        stations = set(rng.sample(sorted(nearby), min(len(nearby), rng.randint(0, 4))))
        power.update(dict.fromkeys(stations, 1))
    neighbors = [[int(n) for n in row if n >= 0] for row in geometry.neighbors]
    federated: set[int] = set()
    if growth or rng.random() < 0.35:
        federated = _federate(rng, geometry, neighbors, power, empty - stations)
    free = empty - stations - federated
    case = Case(
        geometry=geometry,
        power={c: p for c, p in power.items() if c not in federated},
        free=free,
        given=federated if growth else set(),
        required=rng.randint(0, 8) if growth else rng.choice((6, 7, 7, 7)),
        tokens=rng.randint(0, 9) if tokens is None else tokens,
    )
    if not growth:
        case.free = {c for c in free if not federated & set(neighbors[c])}
    return case


def _federate(
    rng: random.Random,
    geometry: Geometry,
    neighbors: list[list[int]],
    power: dict[int, int],
    free: set[int],
) -> set[int]:
    """A connected lump of own cells and satellites, with all own cells that touch it."""
    start = rng.choice(sorted(power))
    lump = {start}
    for goal in rng.sample(sorted(power), min(len(power), rng.randint(1, 3))):
        path = _path(neighbors, lump, goal, free | set(power))
        lump |= path
    while True:
        touching = {c for c in power if c not in lump and lump & set(neighbors[c])}
        if not touching:
            return lump
        lump |= touching


def _path(neighbors: list[list[int]], start: set[int], goal: int, allowed: set[int]) -> set[int]:
    previous: dict[int, int | None] = dict.fromkeys(start)
    todo = sorted(start)
    for cell in todo:
        if cell == goal:
            break
        for n in neighbors[cell]:
            if n in allowed and n not in previous:
                previous[n] = cell
                todo.append(n)
    path: set[int] = set()
    at: int | None = goal if goal in previous else None
    while at is not None:
        path.add(at)
        at = previous[at]
    return path
