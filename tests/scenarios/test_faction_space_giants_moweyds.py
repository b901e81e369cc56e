"""The Space Giants: two steps and a tile. The Moweyds: a shuttle from the start, power rings."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import POOR, last_to_pass, own, piece, scene

NEAR = {"0,0": "Proto", "1,0": "Red", "0,1": "Brown", "-1,0": "Gaia", "-1,1": "Asteroid"}


def giants(structure="MINE", *items, mission="RM-FED-5VP", **fields):
    """Space Giants with a structure at 0,0, without resources."""
    table = scene("SPACE_GIANTS", "AMBAS", planets=NEAR, mission=mission)
    table = table.place(0, "0,0", structure)
    return own(table, 0, *items, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


def institute(table):
    """The station at 0,0 becomes the PI."""
    return table.play("upgrade 0,0", "piece PI")


def test_spg_01_the_pi_brings_one_tech_tile_by_the_usual_rules():
    table = institute(giants("TS", "BT9_7VP", "FT_6VP_2K", ore=4, credits=6))
    assert piece(table, "0,0") == "PI" and table.node == Node.TILE
    assert not table.can("tile BT9_7VP") and not table.options("advanced")
    table = table.play("tile BT4_INC_C4")
    assert table.node == Node.STEP and table.play("advance ai").node != Node.TILE


def test_spg_01_an_advanced_tile_may_be_that_tile():
    table = giants("TS", "BT9_7VP", "FT_6VP_2K", ore=4, credits=6, tracks=(0, 0, 4, 0, 0, 0))
    table = institute(table).play("advanced ai", "tile BT9_7VP")
    assert table.player(0).green == 0


def test_spg_01_the_pi_of_others_brings_none():
    table = scene("GEODENS", planets=NEAR).place(0, "0,0", "TS").give(0, ore=9, credits=9)
    assert institute(table.turn(0)).node != Node.TILE


def test_spg_02_two_free_steps_from_round_1_once_a_round_without_the_pi():
    table = giants(ore=1, credits=2).play("special FACTION")
    assert table.options() == {"pick 1,0", "pick 0,1"}
    table = table.play("pick 1,0")
    assert piece(table, "1,0") == "MINE" and table.player(0).ore == 0
    assert not table.give(0, ore=9, credits=9).turn(0).can("special FACTION")


def test_spg_02_the_special_comes_back_each_round():
    table = giants(ore=1, credits=2).play("special FACTION", "pick 1,0").turn(0)
    table = last_to_pass(table).play("booster RB5").give(0, ore=1, credits=2)
    assert table.turn(0).can("special FACTION")


def test_spg_02_the_mine_and_the_range_are_paid():
    assert not giants(ore=0, credits=2).can("special FACTION")
    assert not giants(ore=1, credits=1).can("special FACTION")
    table = giants(ore=1, credits=2).planet("1,0", "Empty").planet("0,1", "Empty")
    table = table.planet("3,0", "Blue").turn(0)
    assert not table.can("special FACTION")
    assert table.give(0, qic=1).turn(0).play("special FACTION", "pick 3,0").player(0).qic == 0


def test_spg_02_a_protoplanet_pays_its_third_step():
    table = giants(ore=4, credits=2).planet("1,0", "Proto").turn(0)
    table = table.play("special FACTION", "pick 1,0")
    assert table.player(0).ore == 0 and table.vp(0, "PROTO") == 6


def test_spg_02_the_free_steps_score():
    table = giants(ore=1, credits=2, mission="RM-TF-2VP").play("special FACTION", "pick 1,0")
    assert table.vp(0, "ROUND_TILE") == 4


@pytest.mark.parametrize("colour", ["Red", "Orange", "Yellow", "Brown", "Black", "White", "Blue"])
def test_min_21_every_colour_takes_2_steps(colour):
    table = giants(ore=7, credits=2).planet("1,0", colour).turn(0)
    assert table.play("mine 1,0").player(0).ore == 0
    assert not table.give(0, ore=6).turn(0).can("mine 1,0")


def test_inc_01_the_pi_charges_6():
    table = last_to_pass(giants("PI", power=(9, 0, 0))).play("booster RB5")
    while table.node == Node.INCOME:
        table = table.play(min(table.options()))
    assert table.player(0).power[1] == 6


def moweyds(*places, mission="RM-FED-5VP", **fields):
    """Moweyds with (cell, structure) on the map, without resources."""
    table = scene("MOWEYDS", "AMBAS", planets=NEAR, mission=mission)
    for cell, structure in places:
        table = table.planet(cell, NEAR.get(cell, "Red")).place(0, cell, structure)
    return table.give(0, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


def test_ini_08_a_shuttle_is_on_tf_mars_from_the_start_for_no_vp():
    table = moweyds(("0,0", "MINE"))
    assert table.player(0).shuttles == 1 << table.env.ruleset.ids["ship"].index("TF_MARS")
    assert table.player(0).vp == 10 and table.vp(0, "EXPLORE") == 0
    assert table.give(0, qic=2).turn(0).can("ship TFM_Q")


def test_ini_08_it_holds_slot_1_for_the_next_explorer():
    table = moweyds(("0,0", "MINE")).planet("8,-6", "Brown").place(1, "8,-6")
    table = table.give(1, power=(4, 0, 0)).turn(1).play("explore TF_MARS")
    assert table.player(1).power == (2, 2, 0)


def test_exp_03_two_shuttles_more():
    table = moweyds(("1,1", "MINE"))
    assert own(table, 0, "REBELLION").turn(0).can("explore TWILIGHT")
    assert not own(table, 0, "REBELLION", "ECLIPSE").turn(0).can("explore TWILIGHT")


def test_tec_14_the_shuttle_counts_for_condition_b():
    table = scene("MOWEYDS", planets=NEAR, extra_condition="B").place(0, "0,0", "TS")
    given = {"ore": 3, "credits": 5}
    table = own(table, 0, "REBELLION", "ECLIPSE", "BT9_7VP", "FT_6VP_2K", **given).turn(0)
    assert table.play("upgrade 0,0").can("advanced extra")


def test_mow_01_a_ring_is_set_once_a_round_with_the_pi():
    assert not moweyds(("0,0", "MINE"), ("1,0", "AC_A")).can("special FACTION")
    table = moweyds(("0,0", "PI"), ("1,0", "TS")).play("special FACTION")
    assert table.options() == {"pick 0,0", "pick 1,0"}
    table = table.play("pick 1,0")
    assert table.player(0).rings == 1 and not table.turn(0).can("special FACTION")
    assert bool(table.game.board.ring[table.cell("1,0")])


def test_mow_01_one_ring_a_structure_six_in_all_and_the_lost_planet_too():
    table = moweyds(("0,0", "PI"), ("1,0", "TS")).place(0, "1,0", "RING").turn(0)
    assert table.play("special FACTION").options() == {"pick 0,0"}
    assert not table.give(0, rings=6).turn(0).can("special FACTION")
    lost = table.planet("2,0", "Lost").place(0, "2,0").turn(0).play("special FACTION")
    assert lost.can("pick 2,0")
    others = table.place(1, "0,1").turn(0).play("special FACTION")
    assert not others.can("pick 0,1")


def test_fed_09_a_ring_adds_2_to_a_federation():
    table = moweyds(("0,0", "PI"), ("1,0", "TS"))
    assert not table.can("form_federation")
    assert table.place(0, "1,0", "RING").turn(0).can("form_federation")


def test_mow_01_the_ring_stays_through_an_upgrade():
    table = moweyds(("0,0", "PI"), ("1,0", "MINE"), ore=2, credits=6).place(0, "1,0", "RING")
    assert not table.turn(0).can("form_federation")  # 3 + 1 + 2
    table = table.turn(0).play("upgrade 1,0").turn(0)
    assert table.can("form_federation")  # 3 + 2 + 2


def test_mow_01_a_ring_in_a_formed_federation_changes_nothing():
    table = moweyds(("0,0", "PI"), ("1,0", "TS"), ("0,1", "TS"))
    table = table.place(0, ["0,0", "1,0", "0,1"], "FEDERATED")
    table = table.turn(0).play("special FACTION", "pick 0,0").turn(0)
    assert table.player(0).rings == 1 and not table.can("form_federation")


def test_mow_01_setting_a_ring_is_the_main_action():
    table = moweyds(("0,0", "PI"), ore=1).play("special FACTION", "pick 0,0")
    assert table.node == Node.AFTER and not table.options("special")
