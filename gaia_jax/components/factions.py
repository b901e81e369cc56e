"""The 18 factions on 9 double-sided boards (SET-11 to SET-19, and the faction rulings)."""

from dataclasses import dataclass
from typing import Generic

from gaia_jax.components.common import NOTHING, Cost, Gain, N, number

# What most boards print alike.
_UPGRADES = (
    ("MINE", "TS"),
    ("TS", "RL"),
    ("TS", "PI"),
    ("RL", "AC_A"),
    ("RL", "AC_B"),
)
_START = Gain(credits=15, ore=4, knowledge=3, qic=1)
_BASE_INCOME = Gain(ore=1, knowledge=1)
_PI_INCOME = Gain(charge=4, tokens=1)
_ACADEMY_A_INCOME = Gain(knowledge=2)
_ACADEMY_B_ACTION = Gain(qic=1)
_SHUTTLE_COST = Cost(vp=5)
_GAIA_PLANET_COST = Cost(qic=1)
_CREDITS_4 = (Gain(credits=3), Gain(credits=4), Gain(credits=4), Gain(credits=5))
_KNOWLEDGE_3 = (Gain(knowledge=1),) * 3


@dataclass(frozen=True, kw_only=True)
class FactionNumbers(Generic[N]):
    """Printed numbers of a faction board: int as printed, arrays in a `FactionRow`.

    Names with `pi_` require the planetary institute.
    """

    expansion: N = number()  # a faction of the Lost Fleet
    brainstone: N = number()  # starts in bowl I
    drawn_colours: N = number()  # 3 steps for three drawn colours, 1 for the others (INI-09)
    gaia_mine_vp: N = number()
    guest_mines: N = number()  # may build on planets of other players (LAN-01)
    pi_guest_knowledge: N = number()
    pi_guest_charge: N = number()
    pi_home_knowledge: N = number()  # for an own mine on a planet of the home type
    pi_new_type_knowledge: N = number()
    navigation_needs_pi: N = number()
    pi_tech_tile: N = number()  # one tech tile when the PI is built
    federation_requirement: N = number(7)
    federation_requirement_pi: N = number(7)
    federation_grows: N = number()  # one federation, grown by steps of the requirement
    satellite_qic: N = number()  # a satellite costs a QIC, not a token
    pi_token: N = number()  # the Gleens' federation token when the PI is built
    black_planet_bonus_pi: N = number()  # power of each own structure on a Black planet
    qic_becomes_ore_until_academy_b: N = number()
    burn_to_gaia: N = number()  # a burned token goes to the Gaia area
    gaia_tokens_to_bowl: N = number(1)  # where tokens of the Gaia area return to
    ore_token_bowl: N = number(1)  # where the token of the free action O_to_token goes
    pi_power_worth: N = number(1)  # power that a token of bowl III is worth when spent
    pi_leech_token: N = number()  # a new token with each accepted leech
    pi_gaia_convert: N = number()  # tokens that leave the Gaia area are converted too
    pi_gaia_tiles: N = number()  # four tokens of the Gaia area for a tech tile
    special_needs_pi: N = number()
    tinkering: N = number()  # a tinkering tile is chosen each round
    shuttles: N = number(3)


@dataclass(frozen=True)
class Faction(FactionNumbers[int]):
    """One side of a faction board. Names with `pi_` require the planetary institute."""

    id: str
    name: str
    board: int  # 0..8, index in FACTION_BOARDS
    home: str | None  # None for the factions of the Lost Fleet
    start_planet: str

    # At the start, without the bonuses of start_tracks (SET-14).
    start_tracks: tuple[int, ...] = (0, 0, 0, 0, 0, 0)  # in the order of research.TRACKS
    start_structures: tuple[tuple[str, int], ...] = (("MINE", 2),)
    start: Gain[int] = _START
    start_power: tuple[int, int, int] = (2, 4, 0)  # ordinary tokens in bowls I, II, III

    # Income: of the board, of each piece in the order in which they leave it, of the rest.
    base_income: Gain[int] = _BASE_INCOME
    mine_income_ore: tuple[int, ...] = (1, 1, 0, 1, 1, 1, 1, 1)
    ts_income: tuple[Gain[int], ...] = _CREDITS_4
    rl_income: tuple[Gain[int], ...] = _KNOWLEDGE_3
    pi_income: Gain[int] = _PI_INCOME
    academy_a_income: Gain[int] = _ACADEMY_A_INCOME
    academy_b_action: Gain[int] = _ACADEMY_B_ACTION  # once a round

    # Ships (EXP-01).
    shuttle_cost: Cost[int] = _SHUTTLE_COST
    shuttle_brainstone: bool = False  # the brainstone goes to the Gaia area besides
    preplaced_ship: str | None = None  # a shuttle is there from the start

    # Planets.
    gaia_planet_cost: Cost[int] = _GAIA_PLANET_COST
    gaia_planet_qic_instead: bool = False  # 1 QIC where the ore of that cost is short (MIN-10)
    colour_steps: int | None = None  # as many steps for each of the seven colours
    pi_new_main_sector: Gain[int] = NOTHING
    pi_new_sector: Gain[int] = NOTHING  # main or deep

    # Building and research.
    upgrades: tuple[tuple[str, str], ...] = _UPGRADES

    # Own actions: free ones by their ids, and the special one, once a round.
    free_actions: tuple[str, ...] = ()
    special: str | None = None
    special_free_steps: int = 0  # of a special that is a mine
    special_range_bonus: int = 0  # of a special that reaches farther


FACTIONS = (
    Faction(
        id="HIVES",
        name="Hive (Ivits)",
        board=0,
        home="Red",
        start_planet="Red",
        start_structures=(("PI", 1),),
        start_power=(2, 2, 0),
        pi_income=Gain(charge=4, qic=1, tokens=1),
        federation_grows=True,
        satellite_qic=True,
        special="HIVE_STATION",
        special_needs_pi=True,
    ),
    Faction(
        id="HADSCH_HALLAS",
        name="Hadsch Hallas",
        board=0,
        home="Red",
        start_planet="Red",
        start_tracks=(0, 0, 0, 0, 1, 0),
        base_income=Gain(credits=3, ore=1, knowledge=1),
        free_actions=("C4_to_K", "C3_to_O", "C4_to_Q"),
    ),
    Faction(
        id="GEODENS",
        name="Geodens",
        board=1,
        home="Orange",
        start_planet="Orange",
        start_tracks=(1, 0, 0, 0, 0, 0),
        pi_new_type_knowledge=3,
    ),
    Faction(
        id="BAL_TAKS",
        name="Bal T'aks",
        board=1,
        home="Orange",
        start_planet="Orange",
        start_tracks=(0, 0, 0, 1, 0, 0),
        start_power=(2, 2, 0),
        academy_b_action=Gain(credits=4),
        shuttle_cost=Cost(vp=7),
        navigation_needs_pi=True,
        free_actions=("GF_to_Q",),
    ),
    Faction(
        id="XENOS",
        name="Xenos",
        board=2,
        home="Yellow",
        start_planet="Yellow",
        start_tracks=(0, 0, 1, 0, 0, 0),
        start_structures=(("MINE", 3),),
        pi_income=Gain(charge=4, qic=1),
        federation_requirement_pi=6,
        ore_token_bowl=3,
    ),
    Faction(
        id="GLEENS",
        name="Gleens",
        board=2,
        home="Yellow",
        start_planet="Yellow",
        start_tracks=(0, 1, 0, 0, 0, 0),
        pi_income=Gain(charge=4, ore=1),
        gaia_planet_cost=Cost(ore=1),
        gaia_planet_qic_instead=True,
        gaia_mine_vp=2,
        pi_token=True,
        qic_becomes_ore_until_academy_b=True,
    ),
    Faction(
        id="TAKLONS",
        name="Taklons",
        board=3,
        home="Brown",
        start_planet="Brown",
        brainstone=True,
        shuttle_brainstone=True,
        pi_leech_token=True,
        free_actions=("brainstone",),
    ),
    Faction(
        id="AMBAS",
        name="Ambas",
        board=3,
        home="Brown",
        start_planet="Brown",
        start_tracks=(0, 1, 0, 0, 0, 0),
        base_income=Gain(ore=2, knowledge=1),
        pi_income=Gain(charge=4, tokens=2),
        special="AMBAS_SWAP",
        special_needs_pi=True,
    ),
    Faction(
        id="FIRAKS",
        name="Firaks",
        board=4,
        home="Black",
        start_planet="Black",
        start=Gain(credits=15, ore=3, knowledge=2, qic=1),
        base_income=Gain(ore=1, knowledge=2),
        special="FIRAKS_DOWNGRADE",
        special_needs_pi=True,
    ),
    Faction(
        id="BESCODS",
        name="Mad Androids (Bescods)",
        board=4,
        home="Black",
        start_planet="Black",
        base_income=Gain(ore=1),
        ts_income=(Gain(knowledge=1),) * 4,
        rl_income=(Gain(credits=3), Gain(credits=4), Gain(credits=5)),
        pi_income=Gain(charge=4, tokens=2),
        upgrades=(
            ("MINE", "TS"),
            ("TS", "RL"),
            ("RL", "PI"),
            ("TS", "AC_A"),
            ("TS", "AC_B"),
        ),
        black_planet_bonus_pi=1,
        special="BESCODS_LOWEST",
    ),
    Faction(
        id="ITARS",
        name="Itars",
        board=5,
        home="White",
        start_planet="White",
        start=Gain(credits=15, ore=5, knowledge=3, qic=1),
        start_power=(4, 4, 0),
        base_income=Gain(ore=1, tokens=1),
        academy_a_income=Gain(knowledge=3),
        shuttle_cost=Cost(vp=5, tokens=1),
        burn_to_gaia=True,
        pi_gaia_tiles=True,
    ),
    Faction(
        id="NEVLAS",
        name="Nevlas",
        board=5,
        home="White",
        start_planet="White",
        start_tracks=(0, 0, 0, 0, 0, 1),
        start=Gain(credits=15, ore=4, knowledge=2, qic=1),
        start_power=(4, 2, 0),
        shuttle_cost=Cost(vp=5, tokens=1),
        pi_power_worth=2,
        free_actions=("T_to_K", "T3_to_2O"),
    ),
    Faction(
        id="TERRANS",
        name="Terrans",
        board=6,
        home="Blue",
        start_planet="Blue",
        start_tracks=(0, 0, 0, 1, 0, 0),
        start_power=(4, 4, 0),
        gaia_tokens_to_bowl=2,
        pi_gaia_convert=True,
    ),
    Faction(
        id="LANTIDS",
        name="Lantids",
        board=6,
        home="Blue",
        start_planet="Blue",
        start=Gain(credits=13, ore=4, knowledge=3, qic=1),
        start_power=(0, 4, 0),
        base_income=Gain(ore=1, knowledge=1, tokens=1),
        guest_mines=True,
        pi_guest_knowledge=2,
    ),
    Faction(
        id="TINKEROIDS",
        name="Tinkeroids",
        board=7,
        home=None,
        start_planet="Asteroid",
        expansion=True,
        start_tracks=(0, 0, 0, 0, 0, 1),
        start_structures=(("PI", 1),),
        start=Gain(credits=15, ore=4, knowledge=2, qic=1),
        start_power=(4, 2, 0),
        gaia_planet_cost=Cost(qic=2),
        drawn_colours=True,
        special="TINKEROIDS_TILE",
        special_needs_pi=True,
        tinkering=True,
    ),
    Faction(
        id="DARKANIANS",
        name="Darkanians",
        board=7,
        home=None,
        start_planet="Asteroid",
        expansion=True,
        start_tracks=(0, 1, 0, 0, 1, 0),
        start_structures=(("MINE", 1),),
        start=Gain(credits=15, ore=7, knowledge=3, qic=1),
        start_power=(4, 2, 0),
        gaia_planet_cost=Cost(qic=2),
        colour_steps=1,
        pi_new_main_sector=Gain(knowledge=1, credits=2),
    ),
    Faction(
        id="SPACE_GIANTS",
        name="Space Giants",
        board=8,
        home=None,
        start_planet="Proto",
        expansion=True,
        start_tracks=(0, 1, 0, 0, 0, 0),
        start_structures=(("MINE", 1),),
        start=Gain(credits=15, ore=6, knowledge=3, qic=1),
        start_power=(4, 4, 0),
        pi_income=Gain(charge=6, tokens=1),
        gaia_planet_cost=Cost(qic=2),
        colour_steps=2,
        pi_tech_tile=True,
        special="SPACE_GIANTS_TF2",
        special_free_steps=2,
    ),
    Faction(
        id="MOWEYDS",
        name="Moweyds",
        board=8,
        home=None,
        start_planet="Proto",
        expansion=True,
        start_tracks=(0, 0, 0, 1, 0, 0),
        start_structures=(("MINE", 1),),
        start=Gain(credits=15, ore=6, knowledge=5, qic=1),
        start_power=(4, 4, 0),
        shuttles=2,
        preplaced_ship="TF_MARS",
        drawn_colours=True,
        special="MOWEYDS_RING",
        special_needs_pi=True,
    ),
)

# The two sides of each board; only one of them is in a game (SET-11).
FACTION_BOARDS = (
    ("HIVES", "HADSCH_HALLAS"),
    ("GEODENS", "BAL_TAKS"),
    ("XENOS", "GLEENS"),
    ("TAKLONS", "AMBAS"),
    ("FIRAKS", "BESCODS"),
    ("ITARS", "NEVLAS"),
    ("TERRANS", "LANTIDS"),
    ("TINKEROIDS", "DARKANIANS"),
    ("SPACE_GIANTS", "MOWEYDS"),
)
