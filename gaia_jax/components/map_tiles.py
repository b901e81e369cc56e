"""The map: sector, interspace and deep-space tiles and where they lie (MAP-01 to MAP-18).

Cells are axial (q, r). On a screen with r growing upward (q+1, r) is east, (q, r+1) north-east.
"""

from dataclasses import dataclass
from itertools import combinations

Cell = tuple[int, int]


def hex_distance(a: Cell, b: Cell) -> int:
    """Cells from `a` to `b` in a straight line (MAP-08)."""
    dq, dr = b[0] - a[0], b[1] - a[1]
    return (abs(dq) + abs(dr) + abs(dq + dr)) // 2


@dataclass(frozen=True)
class SectorTile:
    """A tile of 19 cells: the contents of the cells that are not empty, unrotated."""

    id: str
    planets: tuple[tuple[Cell, str], ...]

    def contents(self) -> tuple[str, ...]:
        """The contents of each cell, in the order of SECTOR_LOCAL."""
        planets = dict(self.planets)
        return tuple(planets.get(cell, "Empty") for cell in SECTOR_LOCAL)


@dataclass(frozen=True)
class DeepTile:
    """One side of a deep-space tile: its three cells, (0, 0), (1, 0), (1, -1)."""

    id: str
    contents: tuple[str, str, str]


@dataclass(frozen=True)
class DeepSlot:
    """A place for a deep-space tile. Orientation B is the triangle turned by 60 degrees."""

    cells: tuple[Cell, Cell, Cell]
    orientation: str  # "A" or "B"


# The cells of a sector tile about its centre: centre, inner ring, outer ring.
SECTOR_LOCAL: tuple[Cell, ...] = (
    (0, 0),
    (1, 0),
    (1, -1),
    (0, -1),
    (-1, 0),
    (-1, 1),
    (0, 1),
    (2, 0),
    (2, -1),
    (2, -2),
    (1, -2),
    (0, -2),
    (-1, -1),
    (-2, 0),
    (-2, 1),
    (-2, 2),
    (-1, 2),
    (0, 2),
    (1, 1),
)

# Centres of the ten places for sector tiles.
SECTOR_CENTERS: tuple[Cell, ...] = (
    (0, 0),
    (5, -4),
    (-5, 4),
    (-1, 5),
    (4, 1),
    (9, -3),
    (10, -8),
    (6, -9),
    (1, -5),
    (-4, -1),
)

# The first CENTER_SLOTS places take two tiles of CENTER_POOL, the others all the rest.
CENTER_SLOTS = (0, 1)
CENTER_POOL = ("M01", "M02", "M03", "M04")

SECTOR_TILES = (
    SectorTile(
        "M01",
        (
            ((1, 0), "Blue"),
            ((-1, 1), "Brown"),
            ((2, -1), "Transdim"),
            ((1, -2), "Orange"),
            ((0, -2), "Red"),
            ((-2, 1), "Yellow"),
        ),
    ),
    SectorTile(
        "M02",
        (
            ((1, 0), "White"),
            ((-1, 0), "Brown"),
            ((2, -1), "Yellow"),
            ((1, -2), "Transdim"),
            ((-1, -1), "Red"),
            ((-1, 2), "Orange"),
            ((0, 2), "Black"),
        ),
    ),
    SectorTile(
        "M03",
        (
            ((1, -1), "White"),
            ((-1, 1), "Gaia"),
            ((2, -1), "Black"),
            ((-1, -1), "Blue"),
            ((-1, 2), "Yellow"),
            ((0, 2), "Transdim"),
        ),
    ),
    SectorTile(
        "M04",
        (
            ((1, -1), "Brown"),
            ((-1, 0), "Orange"),
            ((0, 1), "Red"),
            ((2, -2), "Blue"),
            ((-2, 1), "White"),
            ((0, 2), "Black"),
        ),
    ),
    SectorTile(
        "M05",
        (
            ((-1, 1), "Gaia"),
            ((2, 0), "Transdim"),
            ((2, -1), "Red"),
            ((-1, -1), "Orange"),
            ((-2, 1), "Red"),
            ((0, 2), "White"),
        ),
    ),
    SectorTile(
        "M06",
        (
            ((1, 0), "Blue"),
            ((0, -1), "Gaia"),
            ((-1, 1), "Brown"),
            ((2, -2), "Yellow"),
            ((1, -2), "Transdim"),
            ((1, 1), "Transdim"),
        ),
    ),
    SectorTile(
        "M07",
        (
            ((1, -1), "Gaia"),
            ((-1, 0), "Gaia"),
            ((0, 1), "Red"),
            ((0, -2), "Black"),
            ((-2, 2), "Transdim"),
            ((1, 1), "Brown"),
        ),
    ),
    SectorTile(
        "M08",
        (
            ((1, -1), "Black"),
            ((-1, 0), "Orange"),
            ((0, 1), "White"),
            ((2, 0), "Transdim"),
            ((-1, -1), "Transdim"),
            ((0, 2), "Blue"),
        ),
    ),
    SectorTile(
        "M09",
        (
            ((1, -1), "Gaia"),
            ((-1, 0), "Black"),
            ((2, 0), "White"),
            ((-2, 0), "Brown"),
            ((-1, 2), "Orange"),
            ((1, 1), "Transdim"),
        ),
    ),
    SectorTile(
        "M10",
        (
            ((1, -1), "Gaia"),
            ((-1, 1), "Yellow"),
            ((2, 0), "Transdim"),
            ((-1, -1), "Red"),
            ((-2, 0), "Blue"),
            ((1, 1), "Transdim"),
        ),
    ),
)

# The other sides of M05, M06 and M07, with which fewer play (PLA-03, PLA-08).
OTHER_SIDES = (
    SectorTile(
        "M05B",
        (
            ((-1, 1), "Gaia"),
            ((2, 0), "Transdim"),
            ((2, -1), "Red"),
            ((-1, -1), "Orange"),
            ((0, 2), "White"),
        ),
    ),
    SectorTile(
        "M06B",
        (
            ((1, 0), "Blue"),
            ((0, -1), "Gaia"),
            ((2, -2), "Yellow"),
            ((1, -2), "Transdim"),
            ((1, 1), "Transdim"),
        ),
    ),
    SectorTile(
        "M07B",
        (
            ((1, -1), "Brown"),
            ((-1, 0), "Gaia"),
            ((0, 1), "Gaia"),
            ((0, -2), "Black"),
            ((-2, 2), "Transdim"),
        ),
    ),
)

# The four ships, and the contents of the ten interspace cells: the ships and six tiles.
SHIPS = ("TWILIGHT", "ECLIPSE", "REBELLION", "TF_MARS")
INTERFACE_CELLS: tuple[Cell, ...] = (
    (-3, 1),
    (-2, 3),
    (-1, -2),
    (1, 2),
    (2, -3),
    (3, -1),
    (4, -6),
    (6, -2),
    (7, -7),
    (8, -5),
)
INTERFACE_TILES = ("Asteroid", "Asteroid", "Asteroid", "Asteroid", "Proto", "Empty")

# No two ships are closer than this (MAP-07).
SHIP_MIN_DISTANCE = 4

# The eight places for deep-space tiles; the order of their cells matters (MAP-10).
DEEP_SLOTS = (
    DeepSlot(((-5, 7), (-4, 7), (-4, 6)), "A"),
    DeepSlot(((2, 5), (2, 4), (3, 4)), "B"),
    DeepSlot(((7, 1), (7, 0), (8, 0)), "B"),
    DeepSlot(((11, -6), (12, -6), (12, -7)), "A"),
    DeepSlot(((9, -10), (9, -11), (10, -11)), "B"),
    DeepSlot(((-7, 3), (-7, 2), (-6, 2)), "B"),
    DeepSlot(((-3, -4), (-2, -4), (-2, -5)), "A"),
    DeepSlot(((2, -8), (3, -8), (3, -9)), "A"),
)

# Eight tiles, side A before side B: the sides of tile i are DEEP_TILES[2i] and [2i + 1].
DEEP_TILES = (
    DeepTile("DS1A", ("Empty", "Empty", "Asteroid")),
    DeepTile("DS1B", ("Proto", "Empty", "Asteroid")),
    DeepTile("DS2A", ("Asteroid", "Empty", "Empty")),
    DeepTile("DS2B", ("Transdim", "Empty", "Proto")),
    DeepTile("DS3A", ("Asteroid", "Empty", "Empty")),
    DeepTile("DS3B", ("Transdim", "Asteroid", "Empty")),
    DeepTile("DS4A", ("Asteroid", "Empty", "Empty")),
    DeepTile("DS4B", ("Proto", "Asteroid", "Empty")),
    DeepTile("DS5A", ("Proto", "Asteroid", "Empty")),
    DeepTile("DS5B", ("Proto", "Empty", "Empty")),
    DeepTile("DS6A", ("Proto", "Empty", "Empty")),
    DeepTile("DS6B", ("Asteroid", "Asteroid", "Empty")),
    DeepTile("DS7A", ("Asteroid", "Empty", "Empty")),
    DeepTile("DS7B", ("Transdim", "Empty", "Empty")),
    DeepTile("DS8A", ("Asteroid", "Empty", "Empty")),
    DeepTile("DS8B", ("Proto", "Empty", "Empty")),
)


@dataclass(frozen=True)
class RequiredPlanets:
    """A deep tile that is turned over if the map lacks planets that a final mission counts."""

    mission: str  # only where this final mission is drawn
    planet: str
    number: int  # at least that many of them
    side: str  # the side, of DEEP_TILES, that is turned over otherwise


@dataclass(frozen=True)
class MapParts:
    """The tiles of a map and the places where they may lie."""

    sector_tiles: tuple[SectorTile, ...] = SECTOR_TILES
    sector_centers: tuple[Cell, ...] = SECTOR_CENTERS
    center_slots: tuple[int, ...] = CENTER_SLOTS  # the first places, with tiles of `center_pool`
    center_pool: tuple[str, ...] = CENTER_POOL
    interface_cells: tuple[Cell, ...] = INTERFACE_CELLS
    interface_tiles: tuple[str, ...] = INTERFACE_TILES
    deep_slots: tuple[DeepSlot, ...] = DEEP_SLOTS
    deep_tiles: tuple[DeepTile, ...] = DEEP_TILES
    same_types_touch: bool = True  # planets of one type, across tiles (MAP-06, A23)
    # A set-up may leave out these tiles, all together, and as many of the last places.
    spare_tiles: tuple[str, ...] = ()
    required_planets: RequiredPlanets | None = None  # PLA-10

    @property
    def ship_cell_sets(self) -> tuple[tuple[int, ...], ...]:
        """The sets of cells for the ships, by index in `interface_cells` (MAP-07)."""
        cells = self.interface_cells
        num_ships = len(cells) - len(self.interface_tiles)
        return tuple(
            places
            for places in combinations(range(len(cells)), num_ships)
            if all(
                hex_distance(cells[a], cells[b]) >= SHIP_MIN_DISTANCE
                for a, b in combinations(places, 2)
            )
        )


LOST_FLEET_MAP = MapParts()
