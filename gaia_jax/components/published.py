"""The Lost Fleet as it is printed, where the default ruleset reads otherwise (A4).

Each tuple is the one of the default with the rows below changed;
docs/reference/rulesets.md lists them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gaia_jax.components import artifacts, factions, map_tiles, missions, ships, tinkering
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
