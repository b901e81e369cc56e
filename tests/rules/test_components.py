"""The pieces against the totals and golden values of the rulings: counts, prices, tracks."""

from collections import Counter
from dataclasses import fields

import pytest

from gaia_jax.components import map_tiles as tiles
from gaia_jax.components.artifacts import ARTIFACTS
from gaia_jax.components.boosters import BOOSTERS
from gaia_jax.components.common import COUNTS, EVENTS, STRUCTURES, VP_SOURCES, Gain, Per
from gaia_jax.components.costs import CAPS, PIECES, POWER_VALUE, UPGRADE_COST
from gaia_jax.components.factions import FACTIONS
from gaia_jax.components.federation_tokens import BASE_TOKENS, GLEENS_TOKEN, SHIP_TOKENS
from gaia_jax.components.free_actions import FREE_ACTIONS, NEVLAS_PI_BUNDLES
from gaia_jax.components.missions import FINAL_MISSIONS, FINAL_PRIZES, ROUND_TILES
from gaia_jax.components.planets import PLANET_TYPES, PLANETS
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

pytestmark = pytest.mark.no_compile

TILE = {tile.id: tile for tile in (*BASIC_TILES, *SHIP_TILES, *ADVANCED_TILES)}


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
    # The power of one board with every piece placed (Bounds).
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
