"""Words shared by all pieces: what is gained, what is paid, what is counted, what is scored."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

# A number as it is printed, int, or as the rules read it from a table, an array.
N = TypeVar("N")


def number(default: int = 0) -> Any:
    """A field that holds a number."""
    return field(default=default)


# What a player owns and pays with, except power tokens and VP.
RESOURCES = ("credits", "ore", "knowledge", "qic")

# Structures on planets. AC_A is the academy with knowledge income, AC_B the one with the action.
STRUCTURES = ("NONE", "MINE", "TS", "RL", "PI", "AC_A", "AC_B")

# Where a player's VP came from.
VP_SOURCES = (
    "START",
    "ROUND_TILE",
    "BOOSTER",
    "BASIC_TILE",
    "ADVANCED_TILE",
    "FEDERATION",
    "RESEARCH",
    "FACTION",
    "PROTO",
    "ARTIFACT",
    "SHIP",
    "ECONOMY",
    "LEECH",
    "EXPLORE",
    "FINAL_1",
    "FINAL_2",
    "RESEARCH_END",
    "RESOURCES",
)
# Those scored at the end of the game (FIN-01), for all players.
VP_AT_THE_END = ("FINAL_1", "FINAL_2", "RESEARCH_END", "RESOURCES")

# What "for each ..." counts.
COUNTS = (
    "mines",  # on the map (guests included), the Lost Planet, artifact mines (ADV-02)
    "trading_stations",
    "research_labs",
    "pi_academies",
    "planet_types",  # artifact types included, guest mines not (GEN-09, PAS-05, FIN-05)
    "gaia_planets",  # own structures on Gaia planets, guest mines not (ADV-05)
    "asteroid_buildings",  # own structures on asteroids and ART-AS-MINE (ADV-04)
    "main_sectors",  # with an own structure (ADV-07)
    "deep_sectors",
    "federation_tokens",  # of all kinds, green and grey (ADV-06)
    "gaiaformers",  # owned, wherever they are, unless destroyed
    "basic_tiles",  # basic and ship tiles, covered ones too (TEC-15)
    "science_level",
    "gaia_level",
    "tracks_at_3",  # research tracks at level 3 or higher (ART-04)
)

# What round tiles, tech tiles and factions score each time it happens.
EVENTS = (
    "new_type",  # a mine on a planet type not yet owned (RMS-02)
    "terraform_step",  # a step that the planet needed, paid or free (RMS-03)
    "gaia_mine",  # a mine on a Gaia planet, guests not (RMS-04)
    "mine",  # any mine (RMS-05)
    "new_sector",  # a mine in a main or deep sector without an own structure (RMS-06)
    "federation_token",  # a token obtained, not one re-triggered (RMS-07)
    "trading_station",  # a trading station placed (RMS-08)
    "research_step",  # a level gained on any track (RMS-09)
    "pi_academy",  # an upgrade to a planetary institute or academy (RMS-10)
    "qic_action",  # one of the four QIC actions of the ships (ADV-01)
    "new_main_sector",  # a mine in a main sector without an own structure (DAR-01)
    "guest_mine",  # a mine on a planet of another player (LAN-02)
    "research_lab",  # a research lab placed (SET-07)
)


@dataclass(frozen=True)
class Gain(Generic[N]):
    """A gain. Fields are amounts, 0 by default."""

    vp: N = number()
    credits: N = number()
    ore: N = number()
    knowledge: N = number()
    qic: N = number()
    tokens: N = number()  # new power tokens into bowl I
    tokens_iii: N = number()  # new power tokens into bowl III
    charge: N = number()  # power charged
    gaiaformers: N = number()


@dataclass(frozen=True)
class Cost(Generic[N]):
    """A cost."""

    credits: N = number()
    ore: N = number()
    knowledge: N = number()
    qic: N = number()
    power: N = number()  # spent from bowl III to bowl I
    tokens: N = number()  # power tokens out of the game, from bowls I, II, III in this order
    vp: N = number()


@dataclass(frozen=True)
class Per(Generic[N]):
    """So much for each counted thing; `count` is one of COUNTS."""

    count: str
    vp: N = number()
    knowledge: N = number()
    ore: N = number()


# Defaults of the fields of pieces.
NOTHING: Gain[int] = Gain()
FREE: Cost[int] = Cost()
