"""The Lost Fleet as it is printed, where the default ruleset reads otherwise (A4).

Each tuple is the one of the default with the rows below changed;
docs/reference/rulesets.md lists them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gaia_jax.components import (
    artifacts,
    factions,
    map_tiles,
    missions,
    ships,
    tech_tiles,
    tinkering,
)
from gaia_jax.components.common import NOTHING, Cost, Gain


def changed(pieces: tuple[Any, ...], changes: Mapping[str, Mapping[str, Any]]) -> tuple[Any, ...]:
    """`pieces` with the fields of some of them, by id, replaced."""
    ids = {piece.id for piece in pieces}
    assert ids >= changes.keys(), f"unknown ids {sorted(changes.keys() - ids)}"
    return tuple(replace(piece, **changes.get(piece.id, {})) for piece in pieces)


FACTIONS = changed(
    factions.FACTIONS,
    {
        "BAL_TAKS": {"start": Gain(credits=15, ore=4, knowledge=3)},
        "GLEENS": {
            "start": Gain(credits=15, ore=4, knowledge=3),
            "gaia_planet_qic_instead": False,
            "special": "GLEENS_RANGE",
            "special_range_bonus": 2,
        },
        "ITARS": {"base_income": Gain(ore=1, knowledge=1, tokens=1)},
        "NEVLAS": {"start_power": (2, 4, 0), "rl_income": (Gain(charge=2),) * 3},
        "LANTIDS": {"start_power": (4, 0, 0), "pi_income": Gain(charge=4)},
        "DARKANIANS": {
            "pi_new_main_sector": NOTHING,
            "pi_new_sector": Gain(knowledge=1, credits=2),
        },
        "MOWEYDS": {"start": Gain(credits=15, ore=6, knowledge=5, qic=2)},
    },
)

SHIP_ACTIONS = changed(
    ships.SHIP_ACTIONS,
    {
        "REB_P": {"cost": Cost(power=3, ore=1)},
        "TWI_P": {"cost": Cost(power=3, ore=2)},
        "TFM_C": {"cost": Cost(credits=3)},
    },
)

ARTIFACTS = changed(artifacts.ARTIFACTS, {"ART-ORE-CRED": {"gain": Gain(ore=2, credits=5)}})

TINKERING_TILES = changed(tinkering.TINKERING_TILES, {"TK-LATE-QIC3": {"gain": Gain(qic=2)}})

ROUND_TILES = (*missions.ROUND_TILES, missions.RoundTile("RM-LAB-4VP", "research_lab", 4))

FINAL_MISSIONS = tuple(
    "ASTEROID_BUILDINGS" if mission == "ASTEROID_PROTO_BUILDINGS" else mission
    for mission in missions.FINAL_MISSIONS
)

SECTOR_TILES = changed(
    map_tiles.SECTOR_TILES,
    {
        "M03": {
            "planets": (
                ((1, -1), "White"),
                ((-1, 1), "Gaia"),
                ((2, -1), "Black"),
                ((0, -2), "Yellow"),
                ((-1, -1), "Blue"),
                ((0, 2), "Transdim"),
            )
        },
        "M05": {
            "planets": (
                ((-1, 1), "Gaia"),
                ((2, 0), "Transdim"),
                ((2, -1), "Red"),
                ((0, -2), "Yellow"),
                ((-1, -1), "Orange"),
                ((0, 2), "White"),
            )
        },
    },
)

MAP = replace(map_tiles.LOST_FLEET_MAP, sector_tiles=SECTOR_TILES, same_types_touch=False)

# For two and three: a tile in the middle and six around it, each shifted by one cell (PLA-08).
_AROUND: tuple[map_tiles.Cell, ...] = (
    (0, 0),
    (5, -4),
    (4, 1),
    (-1, 5),
    (-5, 4),
    (-4, -1),
    (1, -5),
)
_HOLES: tuple[map_tiles.Cell, ...] = ((-3, 1), (-2, 3), (-1, -2), (1, 2), (2, -3), (3, -1))
_SMALL_TILES = (*SECTOR_TILES[:4], *map_tiles.OTHER_SIDES)
_SMALL_MAP = replace(MAP, center_slots=(0,))

MAP_FOR_TWO = replace(
    _SMALL_MAP,
    sector_tiles=_SMALL_TILES,
    sector_centers=_AROUND,
    interface_cells=_HOLES,
    interface_tiles=("Asteroid", "Asteroid", "Proto"),
    deep_slots=(
        map_tiles.DeepSlot(((-5, 7), (-4, 7), (-4, 6)), "A"),
        map_tiles.DeepSlot(((2, 5), (2, 4), (3, 4)), "B"),
        map_tiles.DeepSlot(((6, -2), (7, -2), (7, -3)), "A"),
        map_tiles.DeepSlot(((-7, 3), (-7, 2), (-6, 2)), "B"),
        map_tiles.DeepSlot(((-3, -4), (-2, -4), (-2, -5)), "A"),
        map_tiles.DeepSlot(((4, -6), (4, -7), (5, -7)), "B"),
    ),
    deep_tiles=map_tiles.DEEP_TILES[:12],
    required_planets=map_tiles.RequiredPlanets("ASTEROID_BUILDINGS", "Asteroid", 6, "DS6A"),
)

# The two other tiles lie next to (5, -4), with two deep tiles side by side between them.
MAP_FOR_THREE = replace(
    _SMALL_MAP,
    sector_tiles=(*_SMALL_TILES, *SECTOR_TILES[8:]),
    sector_centers=(*_AROUND, (9, -3), (6, -9)),
    interface_cells=(*_HOLES, (4, -6), (6, -2)),
    interface_tiles=("Asteroid", "Asteroid", "Proto", "Empty"),
    deep_slots=(
        map_tiles.DeepSlot(((-5, 7), (-4, 7), (-4, 6)), "A"),
        map_tiles.DeepSlot(((2, 5), (2, 4), (3, 4)), "B"),
        map_tiles.DeepSlot(((7, 1), (7, 0), (8, 0)), "B"),
        map_tiles.DeepSlot(((8, -5), (8, -6), (9, -6)), "B"),
        map_tiles.DeepSlot(((7, -7), (8, -7), (8, -8)), "A"),
        map_tiles.DeepSlot(((-7, 3), (-7, 2), (-6, 2)), "B"),
        map_tiles.DeepSlot(((-3, -4), (-2, -4), (-2, -5)), "A"),
        map_tiles.DeepSlot(((2, -8), (3, -8), (3, -9)), "A"),
    ),
)

# With two the Rebellion, its actions and one kind of ship tile stay in the box (PLA-09), each
# player has a shuttle less (PLA-12), and the Lantids a tile over their PI (PLA-13).
_ABSENT_SHIP = "REBELLION"
SHIPS_FOR_TWO = tuple(ship for ship in map_tiles.SHIPS if ship != _ABSENT_SHIP)
SHIP_TILE_SHIPS_FOR_TWO = tuple(ship for ship in tech_tiles.SHIP_TILE_SHIPS if ship != _ABSENT_SHIP)
SHIP_ACTIONS_FOR_TWO = tuple(action for action in SHIP_ACTIONS if action.ship != _ABSENT_SHIP)
EXTRA_CONDITIONS_FOR_TWO = tech_tiles.EXTRA_CONDITIONS[:1]
FACTIONS_FOR_TWO = tuple(
    replace(faction, shuttles=faction.shuttles - 1)
    for faction in changed(FACTIONS, {"LANTIDS": {"pi_home_knowledge": 2}})
)
FACTIONS_FOR_THREE = changed(FACTIONS, {"LANTIDS": {"pi_guest_charge": 1}})

# Alone, the Twilight stays in the box, with all artifacts (AUT-40).
SHIPS_FOR_ONE = tuple(ship for ship in map_tiles.SHIPS if ship != ships.ARTIFACT_SHIP)
SHIP_ACTIONS_FOR_ONE = tuple(
    action for action in SHIP_ACTIONS if action.ship != ships.ARTIFACT_SHIP
)

# The neutral player of two, as printed on the final tiles (PLA-14).
NEUTRAL_PLAYER = {
    "BUILDINGS": 11,
    "DEEP_SECTORS": 3,
    "PLANET_TYPES": 6,
    "PI_AC_DISTANCE": 8,
    "SATELLITES": 8,
    "ASTEROID_BUILDINGS": 3,
    "MAIN_SECTORS": 6,
    "GAIA_BUILDINGS": 4,
    "FEDERATION_BUILDINGS": 10,
}
