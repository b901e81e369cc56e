"""Drawing set-ups: 500 at once, each against the rulings, and what can be drawn at all."""

from collections import Counter
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.components import map_tiles, planets
from gaia_jax.components.factions import FACTION_BOARDS, FACTIONS
from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.ruleset.geometry import rotate
from gaia_jax.setup.draw import DRAWS, board_planets, draw_setup, draw_tables

TABLES = draw_tables(LOST_FLEET)
BOARD = TABLES.geometry
DRAWN = 500


def planet(name):
    return planets.PLANETS.index(name)


@pytest.fixture(scope="module")
def setups():
    keys = jax.random.split(jax.random.key(20), DRAWN)
    return jax.device_get(jax.jit(jax.vmap(draw_setup))(keys))


@pytest.fixture(scope="module")
def boards(setups):
    return np.asarray(jax.jit(jax.vmap(board_planets))(jax.tree.map(jnp.asarray, setups)))


def test_gen_03_the_same_key_draws_the_same_set_up(setups):
    alone = jax.jit(draw_setup)(jax.random.split(jax.random.key(20), DRAWN)[7])
    assert alone.automa is None
    arrays = {name: value for name, value in vars(alone).items() if name != "automa"}
    for name, value in arrays.items():
        row = getattr(setups, name)[7]
        assert np.array_equal(value, row), name
        assert value.dtype == row.dtype == (jnp.int16 if name == "ship_cell" else jnp.int8)


def test_gen_04_a_new_draw_would_shift_no_other():
    key = jax.random.key(3)
    now, later = jax.random.split(key, len(DRAWS)), jax.random.split(key, len(DRAWS) + 1)
    assert len(DRAWS) == 18
    assert (now == later[:-1]).all()


def test_a_raw_key_draws_what_the_typed_one_does():
    draw = jax.jit(draw_setup)
    typed, raw = draw(jax.random.key(5)), draw(jax.random.PRNGKey(5))
    assert jax.tree.all(jax.tree.map(np.array_equal, typed, raw))


# Every draw within its pool, and no piece twice.


@pytest.mark.parametrize(
    ("field", "size", "pool"),
    [
        ("sector_tile", 10, 10),
        ("turn_order", 4, 4),  # SET-12
        ("basic_slot", 9, 9),  # SET-01
        ("advanced", 7, 21),  # SET-03
        ("ship_token", 4, 8),  # SET-23
        ("ship_tile", 3, 3),  # SET-21
        ("artifacts", 4, 13),  # SET-20
        ("boosters", 7, 14),  # SET-09
        ("round_tiles", 6, 12),  # SET-07
        ("final_missions", 2, 9),  # SET-08
        ("colour_order", 7, 7),  # INI-09
    ],
)
def test_a_draw_without_replacement(setups, field, size, pool):
    drawn = getattr(setups, field)
    assert drawn.shape == (DRAWN, size)
    assert (np.diff(np.sort(drawn, axis=1), axis=1) > 0).all()
    assert (drawn >= 0).all()
    assert (drawn < pool).all()
    if field != "sector_tile":  # its first two places are another draw
        _is_uniform(drawn, pool)


@pytest.mark.parametrize(
    ("field", "shape", "pool"),
    [
        ("sector_rotation", (10,), 6),  # MAP-01
        ("deep_tile", (8,), 16),  # MAP-11
        ("deep_rotation", (8,), 3),  # MAP-10
        ("faction", (4,), 18),  # SET-11
        ("extra_condition", (), 2),  # SET-04
        ("tf5_token", (), 6),  # SET-06
        ("economy_side", (), 2),  # SET-05
    ],
)
def test_a_draw_with_equal_chances(setups, field, shape, pool):
    drawn = getattr(setups, field)
    assert drawn.shape == (DRAWN, *shape)
    _is_uniform(drawn.reshape(DRAWN, -1), pool)


def _is_uniform(drawn, pool):
    """Every value turns up in every place about equally often: within 5 standard deviations."""
    expected = DRAWN / pool
    deviation = np.sqrt(DRAWN / pool * (1 - 1 / pool))
    for place in drawn.T:
        counts = np.bincount(place, minlength=pool)
        assert len(counts) == pool
        assert (np.abs(counts - expected) <= 5 * deviation).all(), counts


def test_map_01_the_centre_takes_two_tiles_of_the_pool(setups):
    pool = [[t.id for t in map_tiles.SECTOR_TILES].index(id) for id in map_tiles.CENTER_POOL]
    center = setups.sector_tile[:, :2]
    assert np.isin(center, pool).all()
    assert len({tuple(pair) for pair in center.tolist()}) == 12
    outer = Counter(setups.sector_tile[:, 2:].ravel().tolist())
    assert outer.keys() == set(range(10))
    for tile, count in outer.items():  # half of the pool's tiles lie in the centre
        assert count == pytest.approx(DRAWN / 2 if tile in pool else DRAWN, rel=0.2)


def test_map_07_ships_stand_apart_and_all_21_sets_turn_up(setups):
    for a, b in combinations(range(4), 2):
        cells = setups.ship_cell[:, a], setups.ship_cell[:, b]
        assert (BOARD.distance[cells] >= map_tiles.SHIP_MIN_DISTANCE).all()
    sets = Counter(
        tuple(np.flatnonzero(np.isin(BOARD.interface_cells, cells))) for cells in setups.ship_cell
    )
    assert sets.keys() == set(map_tiles.LOST_FLEET_MAP.ship_cell_sets)
    assert max(sets.values()) < 50  # 24 are expected of each
    orders = {tuple(np.argsort(cells)) for cells in setups.ship_cell.tolist()}
    assert len(orders) == 24


def test_map_07_what_lies_on_the_interspace_cells(setups):
    expected = np.sort([planet(p) for p in (*map_tiles.INTERFACE_TILES, *["Ship"] * 4)])
    assert (np.sort(setups.interface, axis=1) == expected).all()
    is_ship = setups.interface == planet("Ship")
    for cells, ships in zip(setups.ship_cell, is_ship, strict=True):
        assert set(BOARD.interface_cells[ships]) == set(cells)
    for name in ("Proto", "Empty", "Asteroid", "Ship"):
        assert (setups.interface == planet(name)).any(axis=0).all()


def test_map_07_all_15120_layouts_are_in_the_tables():
    contents, ships = TABLES.interface_contents, TABLES.ship_interface
    assert contents.shape == (21, 30, 10)
    assert ships.shape == (21, 24, 4)
    assert len({row.tobytes() for row in contents.reshape(-1, 10)}) == 630
    assert len({row.tobytes() for row in ships.reshape(-1, 4)}) == 504


def test_map_11_each_deep_tile_once_either_side_up(setups):
    assert (np.sort(setups.deep_tile // 2, axis=1) == np.arange(8)).all()


def test_set_11_four_different_boards(setups):
    board_of = np.array([faction.board for faction in FACTIONS])
    boards = np.sort(board_of[setups.faction], axis=1)
    assert (np.diff(boards, axis=1) > 0).all()
    expansion = np.array([faction.expansion for faction in FACTIONS])[setups.faction]
    assert expansion.sum(axis=1).max() == 2
    assert len(FACTION_BOARDS) == 9


# The map that the set-up lays out.


def test_map_02_and_10_the_board_is_the_tiles_laid_out_one_by_one(setups, boards):
    for row in range(20):
        laid = {}
        for slot, center in enumerate(map_tiles.SECTOR_CENTERS):
            tile = map_tiles.SECTOR_TILES[setups.sector_tile[row, slot]]
            for local, content in zip(map_tiles.SECTOR_LOCAL, tile.contents(), strict=True):
                dq, dr = rotate(local, setups.sector_rotation[row, slot])
                laid[center[0] + dq, center[1] + dr] = content
        for place, cell in enumerate(map_tiles.INTERFACE_CELLS):
            laid[cell] = planets.PLANETS[setups.interface[row, place]]
        for slot, place in enumerate(map_tiles.DEEP_SLOTS):
            contents = map_tiles.DEEP_TILES[setups.deep_tile[row, slot]].contents
            turns = setups.deep_rotation[row, slot]
            for j in range(3):
                onto = j + turns if place.orientation == "A" else 2 - j - turns
                laid[place.cells[onto % 3]] = contents[j]
        assert [laid[cell] for cell in BOARD.cell_index] == [
            planets.PLANETS[content] for content in boards[row]
        ]


def test_map_10_a_deep_tile_is_turned_never_mirrored():
    """The contents follow one another the same way round on the screen as on the tile."""
    for slot, place in enumerate(map_tiles.DEEP_SLOTS):
        center = np.mean(place.cells, axis=0)
        for turns in range(3):
            # Which listed cell got content j: face DS1B is Proto, Empty, Asteroid.
            row = TABLES.deep_contents[slot, 1, turns].tolist()
            cells = [place.cells[row.index(planet(p))] for p in ("Proto", "Empty", "Asteroid")]
            (q0, r0), (q1, r1) = np.array(cells[0]) - center, np.array(cells[1]) - center
            assert q0 * r1 - q1 * r0 < 0  # the tile: (0, 0), (1, 0), (1, -1)


def test_map_13_what_is_on_the_board(boards):
    counts = np.stack([(boards == i).sum(axis=1) for i in range(len(planets.PLANETS))])
    fixed = {"Red": 7, "Yellow": 5, "Gaia": 7, "Ship": 4, "Lost": 0}
    fixed |= dict.fromkeys(("Blue", "Brown", "Orange", "White", "Black"), 6)
    for name, count in fixed.items():
        assert (counts[planet(name)] == count).all(), name
    for name, low, high, mean in (
        ("Asteroid", 7, 13, 10.0),
        ("Proto", 2, 7, 4.5),
        ("Transdim", 12, 15, 13.5),
    ):
        num_cells = counts[planet(name)]
        assert low <= num_cells.min() <= num_cells.max() <= high
        assert num_cells.mean() == pytest.approx(mean, abs=0.2)
    assert counts[planet("Empty")].min() >= 140
    assert counts[planet("Empty")].max() <= 146


def test_map_06_same_colours_may_touch(boards):
    """In 26.6 % of all maps; five standard deviations are 10 %."""
    i, j = np.nonzero(np.triu(BOARD.distance == 1))
    colour = np.isin(boards[:, i], range(1, 8)) & (boards[:, i] == boards[:, j])
    assert colour.any(axis=1).mean() == pytest.approx(0.266, abs=0.1)


def test_set_ups_are_made_and_changed_like_any_pytree(setups):
    single = jax.tree.map(lambda value: value[0], setups)
    changed = single.replace(economy_side=np.int8(1 - single.economy_side))
    assert changed.economy_side != single.economy_side
    assert len(jax.tree.leaves(changed)) == 20
    with pytest.raises(TypeError, match="wind"):
        single.replace(wind=1)
