"""The Automa of the solo game: decision cards, factions, levels, VP of the round tiles (AUT).

The cards are numbered as printed, 1 to 17. Card sides: the right column is the action that a card
is drawn for, the left column supports the action of the next card.
"""

from dataclasses import dataclass, field, replace

from gaia_jax.components.research import TRACKS

# What a decision card makes the Automa do (AUT-19 to AUT-26).
MINE, UPGRADE, RESEARCH_HIGHEST, RESEARCH_RANDOM, POWER, FACTION = (
    "build_mine",
    "upgrade",
    "research_highest",
    "research_random",
    "power_qic",
    "faction",
)
ACTIONS = (MINE, UPGRADE, RESEARCH_HIGHEST, RESEARCH_RANDOM, POWER, FACTION)

# The final mission that a support card shows (AUT-20): none, the upper, the lower.
NO_MISSION, UPPER, LOWER = -1, 0, 1
# The place of the booster that a support card shows (AUT-28).
LEFT, MIDDLE, RIGHT = range(3)


@dataclass(frozen=True)
class DecisionCard:
    """One decision card. The first line is its right column, the rest its left column."""

    number: int
    action: str  # one of ACTIONS
    vp: int
    red: bool  # a red lamp ends the round near the bottom of the deck (AUT-13)
    booster: int  # LEFT, MIDDLE, RIGHT
    mission: int  # NO_MISSION, UPPER, LOWER
    range: int
    reverse: bool  # the directional selection starts at the bottom right (AUT-16)
    number_chosen: int  # of the numbered selection (AUT-17)
    from_right: bool  # it counts from the rightmost option
    setup_booster: int  # place 1 to 5 in the row of the set-up (AUT-07)


CARDS = (
    DecisionCard(1, UPGRADE, 1, True, LEFT, UPPER, 4, False, 1, False, 1),
    DecisionCard(2, UPGRADE, 1, True, MIDDLE, LOWER, 2, False, 2, False, 2),
    DecisionCard(3, RESEARCH_HIGHEST, 1, True, RIGHT, UPPER, 2, False, 3, False, 3),
    DecisionCard(4, MINE, 1, False, LEFT, NO_MISSION, 2, True, 4, True, 4),
    DecisionCard(5, POWER, 1, True, MIDDLE, LOWER, 2, True, 5, True, 5),
    DecisionCard(6, MINE, 3, False, RIGHT, UPPER, 2, False, 1, True, 1),
    DecisionCard(7, RESEARCH_RANDOM, 0, False, RIGHT, UPPER, 2, False, 4, False, 2),
    DecisionCard(8, MINE, 3, True, MIDDLE, LOWER, 4, True, 1, True, 3),
    DecisionCard(9, FACTION, 0, False, RIGHT, LOWER, 2, True, 2, True, 4),
    DecisionCard(10, UPGRADE, 3, True, LEFT, UPPER, 2, True, 3, True, 5),
    DecisionCard(11, UPGRADE, 2, False, MIDDLE, LOWER, 4, False, 1, False, 1),
    DecisionCard(12, POWER, 3, True, RIGHT, UPPER, 2, True, 1, True, 2),
    DecisionCard(13, FACTION, 0, False, RIGHT, NO_MISSION, 2, True, 2, True, 3),
    DecisionCard(14, POWER, 3, False, MIDDLE, LOWER, 2, True, 3, True, 4),
    DecisionCard(15, RESEARCH_HIGHEST, 1, False, LEFT, UPPER, 2, True, 2, False, 5),
    DecisionCard(16, POWER, 3, True, LEFT, UPPER, 2, False, 3, False, 1),
    DecisionCard(17, RESEARCH_RANDOM, 2, False, LEFT, LOWER, 2, False, 5, False, 2),
)

# The first tie-breaker of a faction's mine (AUT-20).
NEAR_HUMAN, TRANSDIM = "near_human", "transdim"


@dataclass(frozen=True)
class AutomaFaction:
    """The card of one faction of the Automa (AUT-05, AUT-26, AUT-27).

    The faction action researches, places a mine or upgrades, then covers action spaces.
    """

    id: str
    start_track: str | None
    vp: int  # of the faction action
    research: str | None = None  # one of TRACKS, or RESEARCH_RANDOM
    mine_range: int = 0  # 0: the faction action places no mine
    mine_prefers: str | None = None  # NEAR_HUMAN or TRANSDIM
    upgrades_first: bool = False  # an upgrade, and a mine only where none is possible
    downgrades: bool = False  # the first upgrade of all is a research lab to a trading station
    power_actions: int = 0  # action spaces of the faction action
    card_power_actions: int = 1  # action spaces of a power/QIC card
    trading_station_vp: int = 0  # after each upgrade to a trading station
    new_type_vp: int = 0  # for a mine on a planet type new to the Automa
    lab_research: bool = False  # a research step, numbered selection, after an upgrade to a lab


FACTIONS = (
    AutomaFaction("TAKLONS", None, 2, mine_range=3, mine_prefers=NEAR_HUMAN, power_actions=1),
    AutomaFaction("TERRANS", "gaia", 2, research="gaia", mine_range=4, mine_prefers=TRANSDIM),
    AutomaFaction("XENOS", "ai", 2, mine_range=2, power_actions=1, card_power_actions=2),
    AutomaFaction(
        "HADSCH_HALLAS", "economy", 1, mine_range=3, upgrades_first=True, trading_station_vp=3
    ),
    AutomaFaction(
        "GEODENS", "terraforming", 1, research=RESEARCH_RANDOM, power_actions=1, new_type_vp=2
    ),
    AutomaFaction("FIRAKS", None, 2, upgrades_first=True, downgrades=True, lab_research=True),
    AutomaFaction("ITARS", None, 4, power_actions=2),
)


@dataclass(frozen=True)
class Level:
    """A level: the cards that are surely in every deck, and the VP at the start (AUT-10)."""

    id: str  # the printed name in ASCII
    fixed_cards: tuple[int, ...]
    start_vp: int
    extra_vp: int = 0  # with every gain of VP (AUT-11)


LEVELS = (
    Level("automalein", (1, 4, 5, 7, 13), 0),
    Level("automa", (1, 2, 4, 5, 7, 13), 10),
    Level("automachtig", (1, 2, 4, 5, 7, 9, 13), 10),
    Level("ultoma", (1, 2, 4, 5, 7, 9, 13, 15), 10),
    Level("alptrauma", (1, 2, 4, 5, 7, 9, 13, 15), 10, extra_vp=1),
)
DEFAULT_LEVEL = "automachtig"

# VP of the Automa's pass by round tile, in rounds 1 to 3 and 4 to 6 (AUT-28).
ROUND_TILE_VP = {
    "RM-MINE-2VP": (4, 6),
    "RM-TF-2VP": (4, 6),
    "RM-RS-2VP": (2, 4),
    "RM-FED-5VP": (0, 5),
    "RM-TS-3VP": (3, 6),
    "RM-TS-4VP": (3, 6),
    "RM-GAIA-3VP": (2, 2),
    "RM-GAIA-4VP": (2, 2),
    "RM-PI-ACAD-1-5VP": (0, 5),
    "RM-PI-ACAD-2-5VP": (0, 5),
    "RM-DIV-3VP": (4, 6),
    "RM-SECTOR-3VP": (3, 6),
    "RM-LAB-4VP": (4, 8),
}

# The action spaces from left to right (AUT-25).
ACTION_ROW = (
    "PA_3K",
    "PA_TF2",
    "PA_2O",
    "PA_7C",
    "PA_2K",
    "PA_TF1",
    "PA_2PT",
    "QIC_TECH",
    "QIC_TOKEN",
    "QIC_TYPES",
)


@dataclass(frozen=True)
class ShipTile:
    """A tile to the right of the action spaces, the side of its ship up until the Automa is there.

    The other side has the ship's actions as spaces, from left to right (AUT-42).
    """

    ship: str
    spaces: tuple[str, ...]


SHIP_TILES = (
    ShipTile("REBELLION", ("REB_Q", "REB_P", "REB_K")),
    ShipTile("ECLIPSE", ("ECL_Q", "ECL_P", "ECL_C")),
    ShipTile("TF_MARS", ("TFM_Q", "TFM_P", "TFM_C")),
)

# What an upgrade replaces, and by what, in the order of preference; AC is either academy (AUT-23).
UPGRADES = (("TS", "PI"), ("MINE", "TS"), ("RL", "AC"), ("TS", "RL"))
DOWNGRADE = ("RL", "TS")

# Terraforming steps of a mine on planets off the ring of colours (AUT-20, AUT-41).
OTHER_STEPS = {"Gaia": 1, "Transdim": 2, "Asteroid": 2, "Proto": 3}

# The last cards of a deck that may end the Automa's round (AUT-13).
BOTTOM_CARDS = 3
# Cards of the largest deck; planets that the set-up turns a card for at most (AUT-06, AUT-09).
LARGEST_DECK = 14
START_MINES = 3
# Federation tokens of each kind (AUT-03).
TOKEN_COPIES = 2


@dataclass(frozen=True)
class Automa:
    """The pieces of the Automa in one ruleset."""

    cards: tuple[DecisionCard, ...] = CARDS
    factions: tuple[AutomaFaction, ...] = FACTIONS
    levels: tuple[Level, ...] = LEVELS
    round_tile_vp: dict[str, tuple[int, int]] = field(default_factory=lambda: ROUND_TILE_VP)
    action_row: tuple[str, ...] = ACTION_ROW
    ship_tiles: tuple[ShipTile, ...] = ()  # from left to right, next to `action_row`


AUTOMA = Automa()

# In The Lost Fleet ship tiles cover the QIC actions, and the levels have other VP (AUT-42, AUT-45).
_LOST_FLEET_START_VP = (0, 15, 20, 25, 10)
AUTOMA_IN_LOST_FLEET = Automa(
    levels=tuple(
        replace(level, start_vp=vp) for level, vp in zip(LEVELS, _LOST_FLEET_START_VP, strict=True)
    ),
    action_row=tuple(space for space in ACTION_ROW if space.startswith("PA_")),
    ship_tiles=SHIP_TILES,
)

assert all(f.research in (None, RESEARCH_RANDOM, *TRACKS) for f in FACTIONS)
