"""The base game for four: what it has of the pieces of the expansion's game, and what is its own.

Everything that it shares with The Lost Fleet keeps its id.
"""

from dataclasses import replace

from gaia_jax.components import boosters, factions, map_tiles, missions, published, tech_tiles
from gaia_jax.components.common import Cost, Gain, Per
from gaia_jax.components.published import changed
from gaia_jax.components.research import ECONOMY_INCOME as OVERLAYS
from gaia_jax.components.ships import ShipAction

_KNOWLEDGE_1 = Gain(credits=15, ore=4, knowledge=1, qic=1)
FACTIONS = changed(
    tuple(faction for faction in published.FACTIONS if faction.home),
    {
        "HIVES": {"start_power": (2, 4, 0)},
        "GLEENS": {"special": None, "special_range_bonus": 0},
        "XENOS": {"ore_token_bowl": 1},
        "BESCODS": {"start": _KNOWLEDGE_1},
        "LANTIDS": {"base_income": Gain(ore=1, knowledge=1)},
    },
)
FACTION_BOARDS = tuple(
    board for board in factions.FACTION_BOARDS if board[0] in {f.id for f in FACTIONS}
)

_BOOSTERS = ("RB1", "RB2", "RB5", "RB7", "RB9", "RB10", "RB11", "RB12", "RB13", "RB14")
BOOSTERS = tuple(booster for booster in boosters.BOOSTERS if booster.id in _BOOSTERS)

_EVENTS_OF_THE_EXPANSION = ("new_type", "new_sector")
ROUND_TILES = tuple(
    tile for tile in missions.ROUND_TILES if tile.event not in _EVENTS_OF_THE_EXPANSION
)

FINAL_MISSIONS = (
    "BUILDINGS",
    "PLANET_TYPES",
    "SATELLITES",
    "MAIN_SECTORS",
    "GAIA_BUILDINGS",
    "FEDERATION_BUILDINGS",
)

_TILES_OF_THE_EXPANSION = (
    "SA-QIC-4VP",
    "TF-2VP",
    "PI-AC-6VP",
    "DG-4VP",
    "AST-2VP-PASS",
    "DG-2VP-PASS",
)
ADVANCED_TILES = tuple(
    tile for tile in tech_tiles.ADVANCED_TILES if tile.id not in _TILES_OF_THE_EXPANSION
)

# The three QIC actions of the research board, which The Lost Fleet covers.
QIC_ACTIONS = (
    ShipAction("QIC_TECH", None, Cost(qic=4), effect="TECH"),
    ShipAction("QIC_TOKEN", None, Cost(qic=3), effect="RETRIGGER"),
    ShipAction("QIC_TYPES", None, Cost(qic=2), Gain(vp=3), Per("planet_types", vp=1)),
)

# The economy track without an overlay: levels 0 to 5.
ECONOMY_INCOME = (
    (
        *OVERLAYS[0][:3],
        Gain(ore=1, credits=3, charge=3),
        Gain(ore=2, credits=4, charge=4),
        OVERLAYS[0][5],
    ),
)

# Ten places that touch without holes; any tile may lie anywhere.
SECTOR_CENTERS: tuple[map_tiles.Cell, ...] = (
    (0, 0),
    (3, 2),
    (5, -3),
    (2, -5),
    (-3, -2),
    (-5, 3),
    (-2, 5),
    (7, -8),
    (4, -10),
    (-1, -7),
)
MAP = replace(
    published.MAP,
    sector_centers=SECTOR_CENTERS,
    center_slots=(),
    center_pool=(),
    interface_cells=(),
    interface_tiles=(),
    ship_cell_sets=(),
    deep_slots=(),
    deep_tiles=(),
)
