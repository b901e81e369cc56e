"""Technology tiles: 9 basic, 3 of the ships, 21 advanced (SET-01 to SET-04, SET-21, TEC, ADV)."""

from dataclasses import dataclass
from typing import Any

from gaia_jax.components.common import NOTHING, Gain, Per


@dataclass(frozen=True)
class TechTile:
    """A tile and everything that can be printed on one."""

    id: str
    kind: str  # "basic", "ship" or "advanced"
    gain: Gain[int] = NOTHING  # once, when taken
    per: Per[int] | None = None  # once, when taken, for each counted thing
    income: Gain[int] = NOTHING
    special: Gain[int] | None = None  # an action once a round
    pass_per: Per[int] | None = None  # on every pass
    trigger: tuple[str, int] | None = None  # (event, VP) each time it happens
    power_value_pi_ac: int | None = None  # power value of own planetary institute and academies
    range_bonus: int = 0
    free_mine_steps: int | None = None  # a mine at once, base cost waived, that many steps free


def _basic(id: str, **effects: Any) -> TechTile:
    return TechTile(id, "basic", **effects)


def _advanced(id: str, **effects: Any) -> TechTile:
    return TechTile(id, "advanced", **effects)


BASIC_TILES = (
    _basic("BT1_ACT_CHARGE4", special=Gain(charge=4)),
    _basic("BT2_INC_O1_CH1", income=Gain(ore=1, charge=1)),
    _basic("BT3_O1_Q1", gain=Gain(ore=1, qic=1)),
    _basic("BT4_INC_C4", income=Gain(credits=4)),
    _basic("BT5_INC_C1_K1", income=Gain(credits=1, knowledge=1)),
    _basic("BT6_GAIA_3VP", trigger=("gaia_mine", 3)),
    _basic("BT7_TYPES_K", per=Per("planet_types", knowledge=1)),
    _basic("BT8_PIAC_4", power_value_pi_ac=4),
    _basic("BT9_7VP", gain=Gain(vp=7)),
)

SHIP_TILES = (
    TechTile("LF-ORE1-KN3", "ship", gain=Gain(ore=1, knowledge=3)),
    TechTile("LF-TF2-FREE-MINE", "ship", free_mine_steps=2),
    TechTile("LF-NAV+1", "ship", range_bonus=1),
)
# The ships that hold a tile, in the order in which the three are laid out (SET-21).
SHIP_TILE_SHIPS = ("REBELLION", "TF_MARS", "ECLIPSE")

ADVANCED_TILES = (
    _advanced("SA-K-3", special=Gain(knowledge=3)),
    _advanced("SA-O-3", special=Gain(ore=3)),
    _advanced("SA-QIC-4VP", trigger=("qic_action", 4)),
    _advanced("SA-QIC-CRED", special=Gain(qic=1, credits=5)),
    _advanced("RS-2VP", trigger=("research_step", 2)),
    _advanced("TF-2VP", trigger=("terraform_step", 2)),
    _advanced("PI-AC-6VP", per=Per("pi_academies", vp=6)),
    _advanced("DG-4VP", per=Per("deep_sectors", vp=4)),
    _advanced("FED-5VP", per=Per("federation_tokens", vp=5)),
    _advanced("GAIA-2VP", per=Per("gaia_planets", vp=2)),
    _advanced("MINE-2VP", per=Per("mines", vp=2)),
    _advanced("TS-4VP", per=Per("trading_stations", vp=4)),
    _advanced("MS-2VP", per=Per("main_sectors", vp=2)),
    _advanced("MS-ORE", per=Per("main_sectors", ore=1)),
    _advanced("AST-2VP-PASS", pass_per=Per("asteroid_buildings", vp=2)),
    _advanced("DG-2VP-PASS", pass_per=Per("deep_sectors", vp=2)),
    _advanced("FED-3VP-PASS", pass_per=Per("federation_tokens", vp=3)),
    _advanced("RS-3VP-PASS", pass_per=Per("research_labs", vp=3)),
    _advanced("MINE-3VP-BUILD", trigger=("mine", 3)),
    _advanced("TYPE-1VP-PASS", pass_per=Per("planet_types", vp=1)),
    _advanced("TRADE-3VP-UPG", trigger=("trading_station", 3)),
)

# The track level from which its advanced tile can be taken (TEC-02).
ADVANCED_TILE_LEVEL = 4

# When the extra tile can be taken (SET-04, TEC-14).
EXTRA_CONDITIONS = ("A", "B")
EXTRA_A_VP = 25  # A: that many VP
EXTRA_B_SHIPS = 3  # B: shuttles on that many ships
