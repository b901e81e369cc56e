"""The base game for one to four: its pieces, of the expansion's game or its own.

Everything that it shares with The Lost Fleet keeps its id. Boosters and tiles are listed by id, so
that a new one of the expansion does not come into this game.
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

_ROUND_TILES = (
    "RM-TF-2VP",
    "RM-GAIA-3VP",
    "RM-GAIA-4VP",
    "RM-MINE-2VP",
    "RM-FED-5VP",
    "RM-TS-3VP",
    "RM-TS-4VP",
    "RM-RS-2VP",
    "RM-PI-ACAD-1-5VP",
    "RM-PI-ACAD-2-5VP",
)
ROUND_TILES = tuple(tile for tile in missions.ROUND_TILES if tile.id in _ROUND_TILES)

FINAL_MISSIONS = (
    "BUILDINGS",
    "PLANET_TYPES",
    "SATELLITES",
    "MAIN_SECTORS",
    "GAIA_BUILDINGS",
    "FEDERATION_BUILDINGS",
)

_ADVANCED_TILES = (
    "SA-K-3",
    "SA-O-3",
    "SA-QIC-CRED",
    "RS-2VP",
    "FED-5VP",
    "GAIA-2VP",
    "MINE-2VP",
    "TS-4VP",
    "MS-2VP",
    "MS-ORE",
    "FED-3VP-PASS",
    "RS-3VP-PASS",
    "MINE-3VP-BUILD",
    "TYPE-1VP-PASS",
    "TRADE-3VP-UPG",
)
ADVANCED_TILES = tuple(tile for tile in tech_tiles.ADVANCED_TILES if tile.id in _ADVANCED_TILES)

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
    deep_slots=(),
    deep_tiles=(),
)

# Three may leave out two tiles (PLA-04).
MAP_FOR_THREE = replace(MAP, spare_tiles=("M09", "M10"))

# Two play on the tiles 1 to 7, with the other sides of 5, 6 and 7, in the
# middle and around it (PLA-03).
MAP_FOR_TWO = replace(
    MAP,
    sector_tiles=(*MAP.sector_tiles[:4], *map_tiles.OTHER_SIDES),
    sector_centers=SECTOR_CENTERS[:7],
)

# With two players, a neutral player has these counts in the final missions, as printed on their
# tiles, and takes a rank (PLA-06).
NEUTRAL_PLAYER = {
    "BUILDINGS": 11,
    "PLANET_TYPES": 5,
    "SATELLITES": 8,
    "MAIN_SECTORS": 6,
    "GAIA_BUILDINGS": 4,
    "FEDERATION_BUILDINGS": 10,
}

# The first game of the rulebook (PLA-07): every tile is on the place of its number, number up,
# which is that many turns from how the tiles are written here. The first player chooses first.
FIRST_ROTATION = 5
FIRST_FACTIONS = {
    1: ("HADSCH_HALLAS", "TAKLONS"),  # the human, the Automa (AUT-04)
    2: ("HADSCH_HALLAS", "XENOS"),
    3: ("TERRANS", "TAKLONS", "GEODENS"),
    4: ("TERRANS", "HADSCH_HALLAS", "XENOS", "TAKLONS"),
}
