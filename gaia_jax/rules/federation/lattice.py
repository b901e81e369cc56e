"""The map laid out in one line, so that the six neighbours of every cell are six shifts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.ruleset.geometry import DIRECTIONS, Geometry

# How arrays are indexed here: no index is negative, and code that wraps those doubles the program.
READ: dict[str, Any] = {"mode": "promise_in_bounds", "wrap_negative_indices": False}
CLIP: dict[str, Any] = {"mode": "clip", "wrap_negative_indices": False}
DROP: dict[str, Any] = {
    "mode": "drop",
    "wrap_negative_indices": False,
}  # writes past the end are left out


@dataclass(frozen=True, eq=False)
class Lattice:
    """Cell (q, r) is at `a * q + b * r + const`. No two cells share a place, and only
    the places of neighbours differ by a shift, so a step on the map is a slice, not a gather.

    Places without a cell are ground that nothing may enter. `margin` such places at
    either end keep the shifts inside.
    """

    num_cells: int  # C
    length: int  # N, places without the margins
    width: int  # W = N + 2 * margin
    margin: int
    shifts: tuple[int, ...]  # of the six neighbours
    place: np.ndarray  # (C,) int32 in [margin, margin + N)

    def spread(self, by_cell: Array, fill: int) -> Array:
        """(n, C) to (n, W), `fill` where there is no cell.

        By a scatter, which XLA does not fuse: a gather would be repeated for each neighbour.
        """
        line = jnp.full((by_cell.shape[0], self.width), fill, by_cell.dtype)
        return line.at[:, self.place].set(by_cell, **DROP)

    def inner(self, x: Array) -> Array:
        """(n, W) to (n, N): without the margins."""
        return lax.slice_in_dim(x, self.margin, self.margin + self.length, axis=1)

    def widen(self, x: Array, fill: int | Array) -> Array:
        """(n, N) to (n, W): with margins of `fill`."""
        return jnp.pad(x, [(0, 0), (self.margin, self.margin)], constant_values=fill)

    def neighbors(self, x: Array) -> list[Array]:
        """(n, W) to six of (n, N): the values of each of the six neighbours."""
        starts = [self.margin + shift for shift in self.shifts]
        return [lax.slice_in_dim(x, start, start + self.length, axis=1) for start in starts]

    def least_neighbor(self, x: Array) -> Array:
        """(n, W) to (n, N): the least value of the six neighbours."""
        return reduce(jnp.minimum, self.neighbors(x))


def build_lattice(geometry: Geometry) -> Lattice:
    """The shortest such line for the cells of `geometry`."""
    q, r = geometry.cells.astype(np.int64).T
    best: tuple[int, int, int] | None = None
    for a in range(1, 64):
        for b in range(-63, 64):
            line = a * q + b * r
            width = int(line.max() - line.min()) + 1 + 2 * max(abs(a), abs(b), abs(a - b))
            if (best is None or width < best[0]) and _joins_neighbors_only(geometry, line, a, b):
                best = (width, a, b)
    if best is None:
        raise ValueError("the map is too wide to be laid out in a line")
    width, a, b = best
    shifts = tuple(a * dq + b * dr for dq, dr in DIRECTIONS)
    margin = max(shifts)
    line = a * q + b * r
    return Lattice(
        num_cells=geometry.num_cells,
        length=width - 2 * margin,
        width=width,
        margin=margin,
        shifts=shifts,
        place=(line - line.min() + margin).astype(np.int32),
    )


def _joins_neighbors_only(geometry: Geometry, line: np.ndarray, a: int, b: int) -> bool:
    """Whether all places differ, and a shift from a place leads to its neighbour or nowhere."""
    shifts = {a * dq + b * dr for dq, dr in DIRECTIONS}
    if len(shifts) < 6 or 0 in shifts or len(np.unique(line)) < len(line):
        return False
    joined = np.isin(line[None, :] - line[:, None], list(shifts))
    return bool((joined == (geometry.distance == 1)).all())
