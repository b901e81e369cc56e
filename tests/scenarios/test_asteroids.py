"""Mines on asteroids and protoplanets: who pays what, by which action, and what they count for."""

import pytest

from tests.scenarios.scene import at, last_to_pass, own, piece, scene

NEAR = {"0,0": "Orange", "1,0": "Asteroid", "0,1": "Proto", "3,0": "Asteroid", "4,0": "Proto"}
RICH = {"credits": 20, "ore": 15, "knowledge": 9, "qic": 0, "power": (0, 0, 9), "gaiaformers": 1}


def near_asteroid(*items, faction="GEODENS", mission="RM-FED-5VP", **fields):
    """A mine at 0,0 with an asteroid and a protoplanet at 1 and at 3 and 4; rich but for QIC."""
    table = scene(faction, "AMBAS", planets=NEAR, mission=mission).place(0, "0,0")
    return own(table, 0, *items, **(RICH | fields)).turn(0)


def picks(table, action):
    """The cells that an action offers, "q,r"."""
    return {text.split()[1] for text in table.play(action).options("pick")}


def test_min_12_an_asteroid_takes_a_gaiaformer_for_ever_and_nothing_else():
    table = near_asteroid(credits=0, ore=0).play("mine 1,0")
    row = table.player(0)
    assert piece(table, "1,0") == "MINE" and (row.credits, row.ore) == (0, 0)
    assert (row.gaiaformers, row.gaiaformers_out, row.gaiaformers_gaia) == (0, 0, 0)


def test_min_12_the_gaiaformer_must_be_available():
    assert not near_asteroid(gaiaformers=0, gaiaformers_out=2).can("mine 1,0")
    assert not near_asteroid(faction="BAL_TAKS", gaiaformers=0, gaiaformers_gaia=1).can("mine 1,0")


def test_min_12_range_is_paid_in_qic():
    assert not near_asteroid().can("mine 3,0")
    assert near_asteroid(qic=1).play("mine 3,0").player(0).qic == 0


def test_min_01_an_asteroid_mine_needs_a_piece():
    assert not near_asteroid(built=(0, 8, 0, 0, 0, 0, 0)).can("mine 1,0")


def test_gpj_05_a_destroyed_gaiaformer_is_not_counted_by_rb4():
    table = near_asteroid(gaiaformers=1, gaiaformers_out=1).play("mine 1,0")
    table = last_to_pass(table).play("booster RB7")  # the booster given back is RB4
    assert table.vp(0, "BOOSTER") == 3


def test_gpj_05_a_destroyed_gaiaformer_never_comes_back_with_the_track():
    table = at(near_asteroid(), 0, gaia=2).turn(0).play("mine 1,0").turn(0).play("advance gaia")
    assert table.player(0).gaiaformers == 1  # the one of level 3 (RES-04)


@pytest.mark.parametrize("mission, vp", [("RM-TF-2VP", 0), ("RM-MINE-2VP", 2), ("RM-DIV-3VP", 3)])
def test_rms_03_an_asteroid_has_no_steps_but_is_a_mine_of_a_type(mission, vp):
    assert near_asteroid(mission=mission).play("mine 1,0").vp(0, "ROUND_TILE") == vp


@pytest.mark.parametrize("action", ["power PA_TF1", "power PA_TF2", "special RB13"])
def test_min_13_terraforming_actions_take_no_asteroid(action):
    table = near_asteroid(booster=12)  # RB13
    assert picks(table, action) == {"0,1"}


def test_min_13_tfm_c_takes_no_asteroid():
    assert picks(near_asteroid("TF_MARS"), "ship TFM_C") == {"0,1"}


def test_min_13_space_giants_and_tinkeroids_terraform_no_asteroid():
    assert picks(near_asteroid(faction="SPACE_GIANTS"), "special FACTION") == {"0,1"}
    table = near_asteroid(faction="TINKEROIDS", built=(0, 1, 0, 0, 1, 0, 0), tinkering=1)
    assert picks(table.place(0, "0,0", "PI").turn(0), "special FACTION") == {"0,1"}


@pytest.mark.parametrize("action, items", [("special RB11", ()), ("ship TWI_K", ("TWILIGHT",))])
def test_min_13_range_actions_take_an_asteroid_for_the_gaiaformer(action, items):
    table = near_asteroid(*items, booster=10)  # RB11
    assert picks(table, action) == {"1,0", "0,1", "3,0", "4,0"}
    table = table.play(action, "pick 3,0")
    assert table.player(0).gaiaformers == 0 and table.player(0).ore == 15
    assert not picks(near_asteroid(*items, booster=10, gaiaformers=0), action) & {"1,0", "3,0"}


def test_min_12_ecl_c_spares_the_gaiaformer():
    table = near_asteroid("ECLIPSE", credits=6)
    assert picks(table, "ship ECL_C") == {"1,0"}
    row = table.play("ship ECL_C", "pick 1,0").player(0)
    assert (row.gaiaformers, row.credits, row.ore) == (1, 0, 15)
    assert near_asteroid("ECLIPSE", credits=6, gaiaformers=0).can("ship ECL_C")


@pytest.mark.parametrize("faction", ["TINKEROIDS", "DARKANIANS"])
def test_min_12_asteroid_factions_pay_the_gaiaformer_like_others(faction):
    assert not near_asteroid(faction=faction, gaiaformers=0).can("mine 1,0")
    assert near_asteroid(faction=faction).play("mine 1,0").player(0).gaiaformers == 0


def test_upg_an_asteroid_mine_is_upgraded_like_any_other():
    table = near_asteroid().place(0, "1,0").turn(0).play("upgrade 1,0")
    assert piece(table, "1,0") == "TS" and table.player(0).ore == 13


@pytest.mark.parametrize("level, ore", [(0, 9), (1, 9), (2, 6), (3, 3), (5, 3)])
@pytest.mark.parametrize("faction", ["GEODENS", "DARKANIANS", "SPACE_GIANTS", "MOWEYDS"])
def test_min_11_a_protoplanet_takes_3_steps_of_every_faction(faction, level, ore):
    table = near_asteroid(faction=faction, ore=ore + 1, credits=2)
    table = at(table, 0, terraforming=level).turn(0)
    row = table.play("mine 0,1").player(0)
    assert (row.ore, row.credits) == (0, 0)
    assert not table.give(0, ore=ore).turn(0).can("mine 0,1")


def test_min_11_a_mine_on_a_protoplanet_scores_6_vp():
    table = near_asteroid().play("mine 0,1")
    assert table.vp(0, "PROTO") == 6 and table.player(0).gaiaformers == 1


@pytest.mark.parametrize(
    "action, ore", [("power PA_TF1", 7), ("power PA_TF2", 4), ("special RB13", 7)]
)
def test_min_11_free_steps_count_and_6_vp_come_all_the_same(action, ore):
    table = near_asteroid(booster=12, ore=ore).play(action, "pick 0,1")
    assert table.player(0).ore == 0 and table.vp(0, "PROTO") == 6
    assert not near_asteroid(booster=12, ore=ore - 1).can(action)


def test_rms_03_a_protoplanet_scores_three_steps_free_ones_too():
    assert near_asteroid(mission="RM-TF-2VP").play("mine 0,1").vp(0, "ROUND_TILE") == 6
    table = near_asteroid(mission="RM-TF-2VP").play("power PA_TF2", "pick 0,1")
    assert table.vp(0, "ROUND_TILE") == 6


def test_min_11_a_guest_on_a_protoplanet_scores_no_6_vp_and_pays_no_steps():
    table = scene("LANTIDS", "AMBAS", planets=NEAR, mission="RM-TF-2VP").place(0, "0,0")
    table = table.place(1, "0,1").give(0, ore=1, credits=2).turn(0).play("mine 0,1")
    assert table.vp(0, "PROTO") == 0 and table.vp(0, "ROUND_TILE") == 0
    assert table.player(0).ore == 0 and table.player(0).guest_protos == 1


def test_a5_a_guest_on_an_asteroid_pays_the_mine_and_no_gaiaformer():
    table = scene("LANTIDS", "AMBAS", planets=NEAR).place(0, "0,0").place(1, "1,0")
    table = table.give(0, ore=1, credits=2, gaiaformers=1).turn(0).play("mine 1,0")
    row = table.player(0)
    assert (row.gaiaformers, row.ore, row.credits, row.guest_asteroids) == (1, 0, 0, 1)


def test_min_07_an_occupied_asteroid_is_no_target():
    table = near_asteroid().place(1, "1,0").turn(0)
    assert not table.can("mine 1,0") and near_asteroid().can("mine 1,0")


@pytest.mark.parametrize("cell, sectors", [("2,5", 3), ("6,-2", 0)])
def test_map_14_deep_asteroids_are_a_sector_and_interspace_is_none(cell, sectors):
    near = {"2,5": "Asteroid", "6,-2": "Asteroid", "2,3": "Orange", "5,-1": "Orange"}
    table = scene("GEODENS", planets=near, mission="RM-SECTOR-3VP")
    table = table.place(0, "2,3").place(0, "5,-1").give(0, gaiaformers=1, qic=1).turn(0)
    table = table.play(f"mine {cell}")
    assert table.vp(0, "ROUND_TILE") == sectors
