"""The hex board: cells, neighbours, distances, sectors. numpy only, built once for a ruleset."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gaia_jax.components import map_tiles

# East, north-east, north-west, west, south-west, south-east, with r growing upward.
DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))


def rotate(cell: tuple[int, int], turns: int) -> tuple[int, int]:
    """`cell` after `turns` steps of 60 degrees about (0, 0) (MAP-02)."""
    q, r = cell
    for _ in range(turns % 6):
        q, r = -r, q + r
    return q, r


@dataclass(frozen=True, eq=False)
class Geometry:
    """The cells of a map, in ascending order of (q, r), and how they lie to one another."""

    num_cells: int  # C
    cells: np.ndarray  # (C, 2) int8, axial (q, r)
    cell_index: dict[tuple[int, int], int]
    neighbors: np.ndarray  # (C, 6) int16 in the order of DIRECTIONS, -1 off the map
    distance: np.ndarray  # (C, C) int8
    sector: np.ndarray  # (C,) int8: main slot 0.., then deep slots, -1 in the interspace (MAP-14)
    num_main_sectors: int  # S
    num_deep_sectors: int  # D
    interface_cells: np.ndarray  # (I,) int16, in the order of their listing
    sector_cells: np.ndarray  # (S, 19) int16, in the order of the tile's cells
    deep_cells: np.ndarray  # (D, 3) int16, in the order of the slot's cells


def build_geometry(
    sector_centers: Sequence[tuple[int, int]],
    interface: Sequence[tuple[int, int]] = (),
    deep_slots: Sequence[Sequence[tuple[int, int]]] = (),
) -> Geometry:
    """The board of sector tiles at `sector_centers`, single interspace cells and deep slots."""
    sectors = [[(q + dq, r + dr) for dq, dr in map_tiles.SECTOR_LOCAL] for q, r in sector_centers]
    deep = [list(slot) for slot in deep_slots]
    listed = [cell for group in (*sectors, *deep, interface) for cell in group]
    ordered = sorted(listed)
    if len(set(ordered)) != len(ordered):
        doubled = next(a for a, b in pairwise(ordered) if a == b)
        raise ValueError(f"cell {doubled} is in two tiles of the map")
    index = {cell: i for i, cell in enumerate(ordered)}

    def indices(groups: Sequence[Sequence[tuple[int, int]]], width: int) -> np.ndarray:
        rows = [[index[cell] for cell in group] for group in groups]
        return np.array(rows, np.int16).reshape(len(groups), width)

    cells = np.array(ordered, np.int8)
    dq, dr = np.moveaxis(cells[None].astype(int) - cells[:, None], -1, 0)
    sector = np.full(len(ordered), -1, np.int8)
    for number, group in enumerate((*sectors, *deep)):
        sector[[index[cell] for cell in group]] = number
    return Geometry(
        num_cells=len(ordered),
        cells=cells,
        cell_index=index,
        neighbors=np.array(
            [[index.get((q + dq, r + dr), -1) for dq, dr in DIRECTIONS] for q, r in ordered],
            np.int16,
        ),
        distance=((abs(dq) + abs(dr) + abs(dq + dr)) // 2).astype(np.int8),
        sector=sector,
        num_main_sectors=len(sectors),
        num_deep_sectors=len(deep),
        interface_cells=np.array([index[cell] for cell in interface], np.int16),
        sector_cells=indices(sectors, len(map_tiles.SECTOR_LOCAL)),
        deep_cells=indices(deep, 3),
    )


def geometry_of(parts: map_tiles.MapParts) -> Geometry:
    """The board that the tiles of a map are laid out on."""
    return build_geometry(
        parts.sector_centers,
        interface=parts.interface_cells,
        deep_slots=[slot.cells for slot in parts.deep_slots],
    )
