"""How few satellites join given groups of buildings, and which ones: exact searches.

Sets of hexes are integers, one bit for a hex, so that "all neighbours of a set" is six shifts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from functools import lru_cache

from tests.referee.board import Cell, Geometry


class Grid:
    """The bit of every hex; hexes at the rim are not adjacent to those of the next row."""

    def __init__(self, geometry: Geometry) -> None:
        qs = [q for q, _ in geometry.cells]
        rs = [r for _, r in geometry.cells]
        self.row = max(rs) - min(rs) + 3
        self.bit = [
            1 << ((q - min(qs) + 1) * self.row + (r - min(rs) + 1)) for q, r in geometry.cells
        ]

    def around(self, hexes: int) -> int:
        """The neighbours of a set of hexes."""
        row = self.row
        return (
            hexes << row
            | hexes >> row
            | hexes << 1
            | hexes >> 1
            | hexes << (row - 1)
            | hexes >> (row - 1)
        )

    def set(self, cells: Iterable[Cell]) -> int:
        total = 0
        for cell in cells:
            total |= self.bit[cell]
        return total


@lru_cache
def grid(geometry: Geometry) -> Grid:
    return Grid(geometry)


class Search:
    """The least number of satellites for sets of groups (FED-03).

    A set of groups is a bitmask of their numbers. `within(mask)[n]` holds every hex that belongs
    to some set of at most n satellites which joins the groups of the mask into one. Such a set,
    seen from one of its hexes, either forks there into two that join a part of the groups each,
    or continues to a neighbour, or ends at a group of the mask, whose tree is complete without it.
    """

    def __init__(self, board: Grid, groups: list[int], allowed: int, limit: int) -> None:
        self.grid = board
        self.allowed = allowed
        self.limit = limit
        self.touch = [board.around(group) & allowed for group in groups]
        self.solved: dict[int, tuple[int | None, list[int] | None]] = {}

    def least(self, mask: int) -> int | None:
        """The least number of satellites, or None if it is more than `limit`."""
        return self._solve(mask)[0]

    def _solve(self, mask: int) -> tuple[int | None, list[int] | None]:
        solution = self.solved.get(mask)
        if solution is None:
            solution = self.solved[mask] = self._fresh(mask)
        return solution

    def _fresh(self, mask: int) -> tuple[int | None, list[int] | None]:
        limit = self.limit
        within = [0] * (limit + 1)
        lowest = mask & -mask
        rest = mask ^ lowest
        least: int | None = 0
        if rest:
            self._fork(lowest, rest, within)
            least = next((n for n in range(1, limit + 1) if within[n]), None)
            if least is None:
                return None, None
        if least is not None and least < limit:
            for number, touch in enumerate(self.touch):
                if mask >> number & 1:
                    within[least + 1] |= touch
        around, allowed = self.grid.around, self.allowed
        for n in range(1, limit):
            within[n + 1] |= within[n] | (around(within[n]) & allowed)
        return least, within

    def _fork(self, lowest: int, rest: int, within: list[int]) -> None:
        """Hexes where trees of two parts of the groups meet."""
        limit = self.limit
        part = rest
        while part:
            first = self._solve(mask_without(rest, part) | lowest)[1]
            second = self._solve(part)[1]
            if first is not None and second is not None and first[limit] & second[limit]:
                for n in range(1, limit + 1):
                    meeting = 0
                    for i in range(1, n + 1):
                        meeting |= first[i] & second[n + 1 - i]
                    within[n] |= meeting
            part = (part - 1) & rest


def mask_without(mask: int, part: int) -> int:
    return mask & ~part


COUNT = 1000  # one satellite more outweighs any number of touched buildings (A2)


def best_layout(
    geometry: Geometry, groups: list[list[Cell]], allowed: set[Cell], touched: dict[Cell, int]
) -> tuple[int, set[Cell]]:
    """The satellites that join all groups: fewest, and of those the least in touch (A2).

    Returns:
        COUNT times the number plus the sum of `touched`, and the hexes.
    """
    groups = [list(group) for group in groups]
    everything = (1 << len(groups)) - 1
    price = {cell: COUNT + touched.get(cell, 0) for cell in allowed}
    best: dict[int, dict[Cell, tuple[int, tuple[Cell, ...]]]] = {}
    joined: dict[int, tuple[int, tuple[Cell, ...]]] = {}
    for mask in sorted(range(1, everything + 1), key=lambda m: (m.bit_count(), m)):
        trees: dict[Cell, tuple[int, tuple[Cell, ...]]] = {}
        lowest = mask & -mask
        rest = mask ^ lowest
        part = rest
        while part:
            first, second = best[mask & ~part], best[part]
            for cell in first.keys() & second.keys():
                cost = first[cell][0] + second[cell][0] - price[cell]
                cells = tuple(sorted({*first[cell][1], *second[cell][1]}))
                trees[cell] = min(trees.get(cell, (cost, cells)), (cost, cells))
            part = (part - 1) & rest
        joined[mask] = min(trees.values()) if rest and trees else (0, ())
        if not rest or trees:
            _seed(geometry, groups, mask, joined[mask], price, trees)
        _spread(geometry, price, trees)
        best[mask] = trees
    return joined[everything][0], set(joined[everything][1])


def _seed(
    geometry: Geometry,
    groups: list[list[Cell]],
    mask: int,
    tree: tuple[int, tuple[Cell, ...]],
    price: dict[Cell, int],
    trees: dict[Cell, tuple[int, tuple[Cell, ...]]],
) -> None:
    """A hex next to a group, added to the tree that already joins the mask."""
    for number, group in enumerate(groups):
        if mask >> number & 1:
            for cell in {n for member in group for n in geometry.neighbours[member]}:
                if cell in price:
                    grown = (tree[0] + price[cell], tuple(sorted({*tree[1], cell})))
                    trees[cell] = min(trees.get(cell, grown), grown)


def _spread(
    geometry: Geometry,
    price: dict[Cell, int],
    trees: dict[Cell, tuple[int, tuple[Cell, ...]]],
) -> None:
    """Longer and longer paths, cheapest first."""
    queue = [(cost, cells, cell) for cell, (cost, cells) in trees.items()]
    heapq.heapify(queue)
    while queue:
        cost, cells, cell = heapq.heappop(queue)
        if (cost, cells) > trees[cell]:
            continue
        for neighbour in geometry.neighbours[cell]:
            if neighbour in price:
                grown = (cost + price[neighbour], tuple(sorted({*cells, neighbour})))
                if neighbour not in trees or grown < trees[neighbour]:
                    trees[neighbour] = grown
                    heapq.heappush(queue, (*grown, neighbour))
