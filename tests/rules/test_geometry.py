"""The hex board against the numbers of the rulings (MAP-02, MAP-08, MAP-14, MAP-15)."""

from collections import Counter, deque
from itertools import combinations

import numpy as np
import pytest

from gaia_jax.components import map_tiles
from gaia_jax.ruleset.geometry import DIRECTIONS, build_geometry, geometry_of, rotate

pytestmark = pytest.mark.no_compile

BOARD = geometry_of(map_tiles.LOST_FLEET_MAP)
CELLS = [tuple(int(x) for x in cell) for cell in BOARD.cells]


def test_the_map_has_224_distinct_cells_in_ascending_order():
    assert BOARD.num_cells == len(set(CELLS)) == 224
    assert sorted(CELLS) == CELLS
    assert BOARD.cell_index == {cell: i for i, cell in enumerate(CELLS)}
    assert BOARD.cells.min(axis=0).tolist() == [-7, -11]
    assert BOARD.cells.max(axis=0).tolist() == [12, 7]
    third = -BOARD.cells.astype(int).sum(axis=1)
    assert (third.min(), third.max()) == (-8, 7)


def test_neighbours_are_symmetric_and_in_the_order_of_the_directions():
    assert DIRECTIONS == ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
    for i, (q, r) in enumerate(CELLS):
        for d, (dq, dr) in enumerate(DIRECTIONS):
            j = BOARD.neighbors[i, d]
            assert j == BOARD.cell_index.get((q + dq, r + dr), -1)
            assert j < 0 or BOARD.neighbors[j, (d + 3) % 6] == i
    degrees = (BOARD.neighbors >= 0).sum(axis=1)
    assert Counter(degrees.tolist()) == {6: 172, 5: 8, 4: 30, 3: 14}
    assert degrees.sum() == 2 * 617


def test_map_02_a_turn_moves_each_direction_to_the_next():
    assert rotate((2, -1), 1) == (1, 1)
    assert [rotate(DIRECTIONS[0], k) for k in range(6)] == list(DIRECTIONS)
    assert rotate((2, -1), 6) == (2, -1)


def test_map_08_the_distance_is_the_shortest_path_over_the_map():
    for start in range(BOARD.num_cells):
        steps = np.full(BOARD.num_cells, -1)
        steps[start] = 0
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            for neighbor in BOARD.neighbors[cell]:
                if neighbor >= 0 and steps[neighbor] < 0:
                    steps[neighbor] = steps[cell] + 1
                    queue.append(neighbor)
        assert (steps == BOARD.distance[start]).all()
    assert BOARD.distance.max() == 19
    assert BOARD.distance[3, 77] == map_tiles.hex_distance(CELLS[3], CELLS[77])


def test_cells_within_1_to_4():
    within = np.stack([(BOARD.distance <= n).sum(axis=1) - 1 for n in (1, 2, 3, 4)])
    assert within.max(axis=1).tolist() == [6, 18, 36, 60]
    assert within.mean(axis=1).round(1).tolist() == [5.5, 15.6, 29.5, 46.3]


def test_map_14_and_15_sectors_and_interspace():
    sizes = Counter(BOARD.sector.tolist())
    assert sizes == {-1: 10} | dict.fromkeys(range(10), 19) | dict.fromkeys(range(10, 18), 3)
    assert (BOARD.num_main_sectors, BOARD.num_deep_sectors) == (10, 8)
    for slot, center in enumerate(map_tiles.SECTOR_CENTERS):
        assert BOARD.sector_cells[slot, 0] == BOARD.cell_index[center]
        assert (BOARD.sector[BOARD.sector_cells[slot]] == slot).all()
        assert (BOARD.distance[BOARD.cell_index[center], BOARD.sector_cells[slot]] <= 2).all()
    for slot in range(8):
        assert (BOARD.sector[BOARD.deep_cells[slot]] == 10 + slot).all()
    assert (BOARD.sector[BOARD.interface_cells] == -1).all()


def test_each_interspace_cell_touches_three_sectors_in_two_cells_each():
    for cell in BOARD.interface_cells:
        touched = Counter(BOARD.sector[BOARD.neighbors[cell]].tolist())
        assert len(touched) == 3
        assert set(touched.values()) == {2}
        assert all(sector < 10 for sector in touched)


def test_each_deep_tile_touches_two_sectors_and_nothing_else():
    for slot, cells in enumerate(BOARD.deep_cells):
        outside = BOARD.neighbors[cells]
        touched = Counter(BOARD.sector[outside[outside >= 0]].tolist())
        assert touched.pop(10 + slot) == 6  # three edges inside, from both ends
        assert sorted(touched.values()) == [3, 4]
        assert all(0 <= sector < 10 for sector in touched)


def test_19_pairs_of_sectors_touch_along_three_edges_each():
    edges = Counter()
    for i, row in enumerate(BOARD.neighbors):
        for j in row[row > i]:
            a, b = sorted((int(BOARD.sector[i]), int(BOARD.sector[j])))
            if a >= 0 and a != b < 10:
                edges[a, b] += 1
    assert len(edges) == 19
    assert set(edges.values()) == {3}


def test_map_07_distances_of_the_interspace_cells():
    distances = [
        map_tiles.hex_distance(a, b) for a, b in combinations(map_tiles.INTERFACE_CELLS, 2)
    ]
    assert Counter(distances) == {3: 11, 5: 14, 6: 6, 7: 3, 8: 3, 9: 4, 10: 3, 11: 1}


def test_a_map_of_sectors_alone():
    board = build_geometry(map_tiles.SECTOR_CENTERS)
    assert board.num_cells == 190
    assert board.interface_cells.shape == (0,)
    assert board.deep_cells.shape == (0, 3)
    assert (board.sector >= 0).all()


def test_tiles_that_overlap_are_an_error():
    with pytest.raises(ValueError, match=r"cell \(2, 0\) is in two tiles"):
        build_geometry([(0, 0), (4, 0)])
