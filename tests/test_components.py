"""The pieces against the totals and golden values of the rulings."""

from collections import Counter
from dataclasses import fields
from itertools import combinations

import pytest

from gaia_jax.components import map_tiles as tiles
from gaia_jax.components.artifacts import ARTIFACTS
from gaia_jax.components.boosters import BOOSTERS
from gaia_jax.components.common import COUNTS, EVENTS, STRUCTURES, VP_SOURCES, Cost, Gain, Per
from gaia_jax.components.costs import CAPS, PIECES, POWER_VALUE, START_VP, UPGRADE_COST
from gaia_jax.components.factions import FACTION_BOARDS, FACTIONS
from gaia_jax.components.federation_tokens import BASE_TOKENS, GLEENS_TOKEN, SHIP_TOKENS
from gaia_jax.components.free_actions import FREE_ACTIONS, NEVLAS_PI_BUNDLES
from gaia_jax.components.missions import FINAL_MISSIONS, FINAL_PRIZES, ROUND_TILES
from gaia_jax.components.planets import PLANET_TYPES, PLANETS, TERRAFORM_CYCLE
from gaia_jax.components.power_actions import POWER_ACTIONS
from gaia_jax.components.research import (
    CHARGE_AT_3,
    ECONOMY_INCOME,
    END_VP,
    LEVEL_BONUS,
    NAVIGATION_RANGE,
    ORE_PER_STEP,
    PROJECT_COST,
    SCIENCE_INCOME,
    TRACKS,
)
from gaia_jax.components.ships import SHIP_ACTIONS, SHUTTLE_CHARGE
from gaia_jax.components.tech_tiles import ADVANCED_TILES, BASIC_TILES, SHIP_TILES
from gaia_jax.components.tinkering import TINKERING_TILES
from gaia_jax.ruleset.geometry import hex_distance, rotate

FACTION = {faction.id: faction for faction in FACTIONS}
TILE = {tile.id: tile for tile in (*BASIC_TILES, *SHIP_TILES, *ADVANCED_TILES)}
COLOURS = set(TERRAFORM_CYCLE)


def test_counts_of_all_pieces():
    assert len(FACTIONS) == 18
    assert len(BOOSTERS) == 14
    assert len(ROUND_TILES) == 12  # SET-07
    assert len(FINAL_MISSIONS) == 9  # SET-08
    assert (len(BASIC_TILES), len(SHIP_TILES), len(ADVANCED_TILES)) == (9, 3, 21)  # SET-02
    assert len(ARTIFACTS) == 13  # SET-20
    assert (len(POWER_ACTIONS), len(SHIP_ACTIONS)) == (7, 12)
    assert (len(BASE_TOKENS), len(SHIP_TOKENS)) == (6, 8)
    assert len(TINKERING_TILES) == 6
    assert len(PLANET_TYPES) == 11  # GEN-09
    assert (len(STRUCTURES), len(PLANETS), len(VP_SOURCES)) == (7, 14, 18)
    assert FINAL_PRIZES == (18, 12, 6, 0)


@pytest.mark.parametrize(
    "pieces",
    [
        FACTIONS,
        BOOSTERS,
        ROUND_TILES,
        (*BASIC_TILES, *SHIP_TILES, *ADVANCED_TILES),
        (*BASE_TOKENS, GLEENS_TOKEN, *SHIP_TOKENS),
        ARTIFACTS,
        POWER_ACTIONS,
        SHIP_ACTIONS,
        TINKERING_TILES,
        FREE_ACTIONS,
        tiles.SECTOR_TILES,
        tiles.DEEP_TILES,
    ],
)
def test_ids_are_unique_and_words_are_known(pieces):
    assert len({piece.id for piece in pieces}) == len(pieces)
    for piece in pieces:
        for field in fields(piece):
            value = getattr(piece, field.name)
            if isinstance(value, Per):
                assert value.count in COUNTS
            if field.name == "trigger" and value is not None:
                assert value[0] in EVENTS
            if field.name == "event":
                assert value in EVENTS


# The map.


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
    (found,) = [t for t in tiles.SECTOR_TILES if t.id == tile]
    assert _planets(found) == Counter(planets.split())
    assert len({cell for cell, _ in found.planets}) == len(found.planets)


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
    def apart(cells):
        return all(hex_distance(a, b) >= tiles.SHIP_MIN_DISTANCE for a, b in combinations(cells, 2))

    sets = tuple(
        places
        for places in combinations(range(10), 4)
        if apart([tiles.INTERFACE_CELLS[place] for place in places])
    )
    assert sets == tiles.SHIP_CELL_SETS
    assert len(sets) == 21
    members = Counter(place for places in sets for place in places)
    assert [members[place] for place in range(10)] == [8, 8, 10, 10, 6, 6, 10, 10, 8, 8]
    assert Counter(tiles.INTERFACE_TILES) == {"Asteroid": 4, "Proto": 1, "Empty": 1}


def test_map_09_orientation_of_the_deep_slots():
    """An A slot is the tile shifted and turned by 0, 120 or 240 degrees, a B slot by 60 more."""
    tile = ((0, 0), (1, 0), (1, -1))  # the three cells of a tile, as it lies unturned
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


# Factions. Income is that of round 1, without a booster.

# (credits, ore, knowledge, QIC) at the start with the bonuses of the tracks, bowls, gaiaformers,
# the same after income, and what else the income brings: charge and tokens into bowl I.
GOLDEN = {
    "HIVES": ((15, 4, 3, 1), (2, 2, 0), 0, (15, 5, 4, 2), 4, 1),
    "HADSCH_HALLAS": ((15, 4, 3, 1), (2, 4, 0), 0, (20, 7, 4, 1), 1, 0),
    "GEODENS": ((15, 6, 3, 1), (2, 4, 0), 0, (15, 9, 4, 1), 0, 0),
    "BAL_TAKS": ((15, 4, 3, 1), (2, 2, 0), 1, (15, 7, 4, 1), 0, 0),
    "XENOS": ((15, 4, 3, 2), (2, 4, 0), 0, (15, 7, 4, 2), 0, 0),
    "GLEENS": ((15, 5, 3, 1), (2, 4, 0), 0, (15, 8, 4, 1), 0, 0),
    "TAKLONS": ((15, 4, 3, 1), (2, 4, 0), 0, (15, 7, 4, 1), 0, 0),
    "AMBAS": ((15, 4, 3, 2), (2, 4, 0), 0, (15, 8, 4, 2), 0, 0),
    "FIRAKS": ((15, 3, 2, 1), (2, 4, 0), 0, (15, 6, 4, 1), 0, 0),
    "BESCODS": ((15, 4, 3, 1), (2, 4, 0), 0, (15, 7, 3, 1), 0, 0),
    "ITARS": ((15, 5, 3, 1), (4, 4, 0), 0, (15, 8, 3, 1), 0, 1),
    "NEVLAS": ((15, 4, 2, 1), (4, 2, 0), 0, (15, 7, 4, 1), 0, 0),
    "TERRANS": ((15, 4, 3, 1), (4, 4, 0), 1, (15, 7, 4, 1), 0, 0),
    "LANTIDS": ((13, 4, 3, 1), (0, 4, 0), 0, (13, 7, 4, 1), 0, 1),
    "TINKEROIDS": ((15, 4, 2, 1), (4, 2, 0), 0, (15, 5, 4, 1), 4, 1),
    "DARKANIANS": ((15, 7, 3, 2), (4, 2, 0), 0, (17, 9, 4, 2), 1, 0),
    "SPACE_GIANTS": ((15, 6, 3, 2), (4, 4, 0), 0, (15, 8, 4, 2), 0, 0),
    "MOWEYDS": ((15, 6, 5, 1), (4, 4, 0), 1, (15, 8, 6, 1), 0, 0),
}


def _sum(gains):
    return Gain(**{f.name: sum(getattr(gain, f.name) for gain in gains) for f in fields(Gain)})


def _resources(gain):
    return gain.credits, gain.ore, gain.knowledge, gain.qic


def _start(faction):
    bonuses = [LEVEL_BONUS[t][level] for t, level in enumerate(faction.start_tracks)]
    gained = _sum(bonuses)
    if faction.qic_becomes_ore_until_academy_b:  # the gain, not the starting stock (SET-15)
        gained = _sum([gained, Gain(ore=gained.qic, qic=-gained.qic)])
    return _sum([faction.start, gained])


def _first_income(faction):
    structures = dict(faction.start_structures)
    mines = sum(faction.mine_income_ore[: structures.get("MINE", 0)])
    levels = dict(zip(TRACKS, faction.start_tracks, strict=True))
    parts = [faction.base_income, Gain(ore=mines)]
    parts += [faction.pi_income] * structures.get("PI", 0)
    parts += [ECONOMY_INCOME[0][levels["economy"]], SCIENCE_INCOME[levels["science"]]]
    return _sum(parts)


@pytest.mark.parametrize("faction", GOLDEN)
def test_set_14_to_set_19_start_and_first_income(faction):
    start, bowls, gaiaformers, after, charge, tokens = GOLDEN[faction]
    at_start, income = _start(FACTION[faction]), _first_income(FACTION[faction])
    assert _resources(at_start) == start
    assert FACTION[faction].start_power == bowls
    assert at_start.gaiaformers == gaiaformers
    assert _resources(_sum([at_start, income])) == after
    assert (income.charge, income.tokens, income.vp) == (charge, tokens, 0)
    assert START_VP == 10


def test_gen_17_the_third_mine_brings_no_ore():
    for faction in FACTIONS:
        assert faction.mine_income_ore == (1, 1, 0, 1, 1, 1, 1, 1)
    assert dict(FACTION["XENOS"].start_structures) == {"MINE": 3}


def test_set_11_two_sides_to_a_board_and_one_home_colour():
    assert len(FACTION_BOARDS) == 9
    assert tuple(side for board in FACTION_BOARDS for side in board) == tuple(FACTION)
    for board, sides in enumerate(FACTION_BOARDS):
        assert {FACTION[side].board for side in sides} == {board}
        assert len({FACTION[side].home for side in sides}) == 1
    homes = [FACTION[board[0]].home for board in FACTION_BOARDS]
    assert set(homes) == COLOURS | {None}
    assert homes.count(None) == 2


def test_expansion_factions_have_no_home_and_their_own_steps():
    for faction in FACTIONS:
        assert faction.expansion == (faction.home is None)
        assert (faction.colour_steps is not None or faction.drawn_colours) == faction.expansion
    steps = {f.id: (f.colour_steps, f.drawn_colours) for f in FACTIONS if f.expansion}
    assert steps == {  # MIN-21, MIN-22
        "TINKEROIDS": (None, True),
        "DARKANIANS": (1, False),
        "SPACE_GIANTS": (2, False),
        "MOWEYDS": (None, True),
    }


def _differing(name, usual):
    return {f.id: getattr(f, name) for f in FACTIONS if getattr(f, name) != usual}


@pytest.mark.parametrize(
    ("field", "usual", "others"),
    [
        ("brainstone", False, {"TAKLONS": True}),
        ("shuttles", 3, {"MOWEYDS": 2}),
        (
            "shuttle_cost",
            Cost(vp=5),
            {"BAL_TAKS": Cost(vp=7)}
            | dict.fromkeys(("ITARS", "NEVLAS"), Cost(vp=5, tokens=1)),  # EXP-01
        ),
        ("shuttle_brainstone", False, {"TAKLONS": True}),
        ("preplaced_ship", None, {"MOWEYDS": "TF_MARS"}),  # INI-08
        (
            "gaia_planet_cost",
            Cost(qic=1),
            {"GLEENS": Cost(ore=1)}
            | dict.fromkeys(("TINKEROIDS", "DARKANIANS", "SPACE_GIANTS"), Cost(qic=2)),  # MIN-09
        ),
        ("federation_requirement", 7, {}),
        ("federation_requirement_pi", 7, {"XENOS": 6}),
        ("federation_grows", False, {"HIVES": True}),
        ("satellite_qic", False, {"HIVES": True}),
        ("navigation_needs_pi", False, {"BAL_TAKS": True}),  # BAL-01
        ("qic_becomes_ore_until_academy_b", False, {"GLEENS": True}),  # GLE-01
        ("gaia_mine_vp", 0, {"GLEENS": 2}),  # GLE-03
        ("pi_token", False, {"GLEENS": True}),  # GLE-04
        ("pi_new_type_knowledge", 0, {"GEODENS": 3}),  # GEO-01
        ("pi_new_main_sector", Gain(), {"DARKANIANS": Gain(knowledge=1, credits=2)}),  # DAR-01
        ("guest_mines", False, {"LANTIDS": True}),  # LAN-01
        ("pi_guest_knowledge", 0, {"LANTIDS": 2}),  # LAN-02
        ("burn_to_gaia", False, {"ITARS": True}),  # FRE-05
        ("pi_gaia_tiles", False, {"ITARS": True}),  # GAI-09
        ("gaia_tokens_to_bowl", 1, {"TERRANS": 2}),  # GAI-05
        ("pi_gaia_convert", False, {"TERRANS": True}),  # GAI-08
        ("ore_token_bowl", 1, {"XENOS": 3}),  # XEN-01
        ("pi_power_worth", 1, {"NEVLAS": 2}),  # NEV-01
        ("pi_leech_token", False, {"TAKLONS": True}),  # LEE-07
        ("black_planet_bonus_pi", 0, {"BESCODS": 1}),  # BES-01
        ("pi_tech_tile", False, {"SPACE_GIANTS": True}),  # SPG-01
        ("tinkering", False, {"TINKEROIDS": True}),  # TIN-01
        ("special_free_steps", 0, {"SPACE_GIANTS": 2}),  # SPG-02
        (
            "special",
            None,
            {
                "HIVES": "HIVE_STATION",
                "AMBAS": "AMBAS_SWAP",
                "FIRAKS": "FIRAKS_DOWNGRADE",
                "BESCODS": "BESCODS_LOWEST",
                "TINKEROIDS": "TINKEROIDS_TILE",
                "SPACE_GIANTS": "SPACE_GIANTS_TF2",
                "MOWEYDS": "MOWEYDS_RING",
            },
        ),
        (
            "special_needs_pi",
            False,
            dict.fromkeys(("HIVES", "AMBAS", "FIRAKS", "TINKEROIDS", "MOWEYDS"), True),
        ),
        ("academy_a_income", Gain(knowledge=2), {"ITARS": Gain(knowledge=3)}),
        ("academy_b_action", Gain(qic=1), {"BAL_TAKS": Gain(credits=4)}),  # ACT-14
        (
            "pi_income",
            Gain(charge=4, tokens=1),
            {
                "HIVES": Gain(charge=4, qic=1, tokens=1),
                "XENOS": Gain(charge=4, qic=1),
                "GLEENS": Gain(charge=4, ore=1),
                "AMBAS": Gain(charge=4, tokens=2),
                "BESCODS": Gain(charge=4, tokens=2),
                "SPACE_GIANTS": Gain(charge=6, tokens=1),
            },
        ),
    ],
)
def test_what_only_some_factions_have(field, usual, others):
    assert _differing(field, usual) == others


def test_upg_01_the_bescods_swap_two_upgrades():
    usual = FACTION["TERRANS"].upgrades
    assert set(_differing("upgrades", usual)) == {"BESCODS"}
    assert set(usual) ^ set(FACTION["BESCODS"].upgrades) == {
        ("TS", "PI"),
        ("RL", "AC_A"),
        ("RL", "AC_B"),
        ("RL", "PI"),
        ("TS", "AC_A"),
        ("TS", "AC_B"),
    }
    assert FACTION["BESCODS"].ts_income == (Gain(knowledge=1),) * 4
    assert [gain.credits for gain in FACTION["BESCODS"].rl_income] == [3, 4, 5]
    for faction in FACTIONS:
        assert (len(faction.ts_income), len(faction.rl_income)) == (PIECES["TS"], PIECES["RL"])
        assert all(a in STRUCTURES and b in UPGRADE_COST for a, b in faction.upgrades)


def test_free_actions_name_their_factions():
    own = {action.id: action.faction for action in FREE_ACTIONS if action.faction}
    assert own == {id: faction.id for faction in FACTIONS for id in faction.free_actions}


# Prices and tracks.


def test_upg_01_upg_02_costs_and_supplies():
    assert {to: (cost.ore, cost.credits) for to, cost in UPGRADE_COST.items()} == {
        "TS": (2, 6),
        "RL": (3, 5),
        "PI": (4, 6),
        "AC_A": (6, 6),
        "AC_B": (6, 6),
    }
    assert sum(PIECES.values()) == 18
    assert set(POWER_VALUE) == set(STRUCTURES)
    # All power that stands on one board with every piece placed (Bounds).
    assert sum(PIECES[piece] * POWER_VALUE[piece] for piece in PIECES) == 31
    assert CAPS == {"ore": 15, "knowledge": 15, "credits": 30}  # GEN-07


def test_research_tracks():
    assert len(LEVEL_BONUS) == len(TRACKS) == 6
    assert all(len(track) == 6 for track in (*LEVEL_BONUS, *ECONOMY_INCOME, SCIENCE_INCOME))
    assert ORE_PER_STEP == (3, 3, 2, 1, 1, 1)  # MIN-02
    assert NAVIGATION_RANGE == (1, 1, 2, 2, 3, 4)  # MIN-04
    assert PROJECT_COST[1:] == (6, 6, 4, 3, 3)  # GPJ-01
    assert END_VP == (0, 0, 0, 4, 8, 12)  # RES-10
    assert CHARGE_AT_3 == 3  # RES-03
    gaiaformers = [bonus.gaiaformers for bonus in LEVEL_BONUS[TRACKS.index("gaia")]]
    assert gaiaformers == [0, 1, 0, 1, 1, 0]  # RES-04: 1, 1, 2, 3, 3 in all
    assert [bonus.qic for bonus in LEVEL_BONUS[TRACKS.index("ai")]] == [0, 1, 1, 2, 2, 4]


def test_set_05_sides_of_the_economy_overlay():
    side_a, side_b = ECONOMY_INCOME
    assert side_a[:3] == side_b[:3]
    assert (side_a[3].charge, side_a[4].charge) == (3, 2)  # level 4 charges less
    assert side_b[3] == Gain(ore=1, credits=3, vp=1)
    assert side_b[4] == Gain(ore=2, credits=4, vp=1)
    assert side_a[5] == side_b[5] == Gain()  # RES-06


def test_set_23_set_24_federation_tokens():
    assert sum(token.copies for token in (*BASE_TOKENS, GLEENS_TOKEN, *SHIP_TOKENS)) == 18 + 1 + 8
    grey = [token.id for token in (*BASE_TOKENS, GLEENS_TOKEN, *SHIP_TOKENS) if not token.green]
    assert grey == ["FT_12VP"]  # TEC-07
    assert sum(token.gain.vp for token in BASE_TOKENS) == 12 + 8 + 8 + 7 + 7 + 6
    assert {token.effect for token in SHIP_TOKENS} == {None, "RANGE_MINE", "TF3_MINE", "TECH"}


def test_pas_04_what_scores_on_a_pass():
    scoring = {b.id: (b.pass_per.vp, b.pass_per.count) for b in BOOSTERS if b.pass_per}
    scoring |= {t.id: (t.pass_per.vp, t.pass_per.count) for t in ADVANCED_TILES if t.pass_per}
    assert scoring == {
        "RB2": (4, "pi_academies"),
        "RB3": (2, "deep_sectors"),
        "RB4": (3, "gaiaformers"),
        "RB5": (1, "gaia_planets"),
        "RB7": (1, "mines"),
        "RB8": (1, "planet_types"),
        "RB12": (3, "research_labs"),
        "RB14": (2, "trading_stations"),
        "AST-2VP-PASS": (2, "asteroid_buildings"),
        "DG-2VP-PASS": (2, "deep_sectors"),
        "FED-3VP-PASS": (3, "federation_tokens"),
        "RS-3VP-PASS": (3, "research_labs"),
        "TYPE-1VP-PASS": (1, "planet_types"),
    }


def test_act_11_special_actions_of_tiles_and_boosters():
    specials = {tile.id: tile.special for tile in TILE.values() if tile.special}
    assert specials == {
        "BT1_ACT_CHARGE4": Gain(charge=4),
        "SA-K-3": Gain(knowledge=3),
        "SA-O-3": Gain(ore=3),
        "SA-QIC-CRED": Gain(qic=1, credits=5),
    }
    assert [b.special for b in BOOSTERS if b.special] == ["RB6", "RB11", "RB13"]


def test_every_tech_tile_does_something_and_advanced_ones_one_thing():
    for tile in TILE.values():
        effects = [f.name for f in fields(tile)[2:] if getattr(tile, f.name) != f.default]
        assert len(effects) == 1, tile.id
    assert {tile.id: tile.trigger for tile in TILE.values() if tile.trigger} == {
        "BT6_GAIA_3VP": ("gaia_mine", 3),
        "SA-QIC-4VP": ("qic_action", 4),
        "RS-2VP": ("research_step", 2),
        "TF-2VP": ("terraform_step", 2),
        "MINE-3VP-BUILD": ("mine", 3),
        "TRADE-3VP-UPG": ("trading_station", 3),
    }
    assert {tile.id: tile.per for tile in ADVANCED_TILES if tile.per} == {
        "PI-AC-6VP": Per("pi_academies", vp=6),
        "DG-4VP": Per("deep_sectors", vp=4),
        "FED-5VP": Per("federation_tokens", vp=5),
        "GAIA-2VP": Per("gaia_planets", vp=2),
        "MINE-2VP": Per("mines", vp=2),
        "TS-4VP": Per("trading_stations", vp=4),
        "MS-2VP": Per("main_sectors", vp=2),
        "MS-ORE": Per("main_sectors", ore=1),
    }


def test_round_tiles_name_their_points():
    for tile in ROUND_TILES:
        assert tile.id.endswith(f"{tile.vp}VP")


def test_exp_02_charges_of_the_shuttle_slots():
    assert SHUTTLE_CHARGE == (0, 2, 2, 3)


def test_three_actions_on_each_ship():
    assert Counter(action.ship for action in SHIP_ACTIONS) == dict.fromkeys(tiles.SHIPS, 3)


def test_fre_07_nevlas_bundles_never_pay_less_than_the_plain_conversion():
    plain = {action.id: action for action in FREE_ACTIONS}
    for bundle in NEVLAS_PI_BUNDLES:
        for field in fields(Gain):
            assert getattr(bundle.gain, field.name) >= getattr(plain[bundle.id].gain, field.name)
    assert [(b.id, b.tokens) for b in NEVLAS_PI_BUNDLES] == [
        ("P1_to_C", 1),
        ("P3_to_O", 2),
        ("P4_to_K", 2),
        ("P4_to_Q", 2),
        ("T3_to_2O", 3),
    ]


def test_tinkering_tiles_three_early_three_late():
    assert [tile.rounds for tile in TINKERING_TILES] == [(1, 2, 3)] * 3 + [(4, 5, 6)] * 3
    assert TINKERING_TILES[4].gain == Gain(qic=3)  # TIN-04
