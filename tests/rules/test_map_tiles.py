"""The tiles of the map against the totals of the rulings."""

from collections import Counter
from itertools import combinations

import pytest

from gaia_jax.components import map_tiles as tiles
from gaia_jax.components.planets import PLANET_TYPES, PLANETS, TERRAFORM_CYCLE
from gaia_jax.ruleset.geometry import rotate

COLOURS = set(TERRAFORM_CYCLE)


def _planets(tile):
    return Counter(planet for _, planet in tile.planets)


@pytest.mark.parametrize(
    ("tile", "planets"),
    [
        ("M01", "Blue Brown Orange Red Yellow Transdim"),
        ("M02", "White Brown Yellow Red Orange Black Transdim"),
        ("M03", "White Gaia Black Blue Yellow Transdim"),
        ("M04", "Brown Orange Red Blue White Black"),
        ("M05", "Gaia Transdim Red Red Orange White"),
        ("M06", "Blue Gaia Brown Yellow Transdim Transdim"),
        ("M07", "Gaia Gaia Red Black Brown Transdim"),
        ("M08", "Black Orange White Blue Transdim Transdim"),
        ("M09", "Gaia Black White Brown Orange Transdim"),
        ("M10", "Gaia Yellow Red Blue Transdim Transdim"),
    ],
)
def test_planets_of_each_sector_tile(tile, planets):
    (sector_tile,) = [t for t in tiles.SECTOR_TILES if t.id == tile]
    assert _planets(sector_tile) == Counter(planets.split())
    assert len({cell for cell, _ in sector_tile.planets}) == len(sector_tile.planets)


def test_map_04_totals_of_the_sector_tiles():
    total = Counter(planet for tile in tiles.SECTOR_TILES for planet in tile.contents())
    assert total == {
        "Red": 7,
        "Yellow": 5,
        **dict.fromkeys(("Blue", "Brown", "Orange", "White", "Black"), 6),
        "Gaia": 7,
        "Transdim": 12,
        "Empty": 129,
    }


def test_map_04_and_05_the_planets_that_the_print_disputes():
    m03, m05 = dict(tiles.SECTOR_TILES[2].planets), dict(tiles.SECTOR_TILES[4].planets)
    assert m03[-1, 2] == "Yellow"
    assert m05[2, -1] == m05[-2, 1] == "Red"
    assert (0, -2) not in m03
    assert (0, -2) not in m05


def test_map_13_totals_of_the_deep_tiles():
    sides = [
        Counter(content for tile in tiles.DEEP_TILES[side::2] for content in tile.contents)
        for side in (0, 1)
    ]
    assert sides[0] == {"Asteroid": 7, "Proto": 2, "Empty": 15}
    assert sides[1] == {"Asteroid": 5, "Proto": 5, "Transdim": 3, "Empty": 11}
    for i, tile in enumerate(tiles.DEEP_TILES):
        assert tile.id == f"DS{i // 2 + 1}{'AB'[i % 2]}"


def test_map_07_the_21_sets_of_cells_for_the_ships():
    def are_apart(cells):
        return all(
            tiles.hex_distance(a, b) >= tiles.SHIP_MIN_DISTANCE for a, b in combinations(cells, 2)
        )

    sets = tuple(
        places
        for places in combinations(range(10), 4)
        if are_apart([tiles.INTERFACE_CELLS[place] for place in places])
    )
    assert sets == tiles.LOST_FLEET_MAP.ship_cell_sets
    assert len(sets) == 21
    members = Counter(place for places in sets for place in places)
    assert [members[place] for place in range(10)] == [8, 8, 10, 10, 6, 6, 10, 10, 8, 8]
    assert Counter(tiles.INTERFACE_TILES) == {"Asteroid": 4, "Proto": 1, "Empty": 1}


def test_map_09_orientation_of_the_deep_slots():
    """An A slot is the tile shifted and turned by 0, 120 or 240 degrees, a B slot by 60 more."""
    tile = ((0, 0), (1, 0), (1, -1))  # the three cells of an unturned tile
    orientations = ""
    for slot in tiles.DEEP_SLOTS:
        turned = {}
        for turns in range(6):
            shape = [rotate(cell, turns) for cell in tile]
            for q, r in slot.cells:
                dq, dr = q - shape[0][0], r - shape[0][1]
                if {(a + dq, b + dr) for a, b in shape} == set(slot.cells):
                    turned[turns] = True
        assert sorted(turned) == ([0, 2, 4] if slot.orientation == "A" else [1, 3, 5])
        orientations += slot.orientation
    assert orientations == "ABBABBAA"


def test_min_08_home_colours_are_at_most_three_steps_apart():
    assert len(TERRAFORM_CYCLE) == 7
    assert set(PLANET_TYPES) == COLOURS | {"Gaia", "Proto", "Asteroid", "Lost"}
    assert PLANETS[1:8] == TERRAFORM_CYCLE
