"""The Firaks turn labs back into stations; the Bescods build and earn in another order."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import POOR, at, last_to_pass, own, piece, scene

NEAR = {"0,0": "Black", "1,0": "Black", "0,1": "Black", "3,0": "Black", "-1,0": "Red"}


def firaks(*structures, mission="RM-FED-5VP", **fields):
    """Firaks with the PI at 3,0 and structures at 0,0, 1,0 and 0,1, without resources."""
    table = scene("FIRAKS", "AMBAS", planets=NEAR, mission=mission).place(0, "3,0", "PI")
    table = table.place(0, dict(zip(("0,0", "1,0", "0,1"), structures, strict=False)))
    return table.give(0, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


def test_fir_01_a_lab_becomes_a_station_and_a_track_advances():
    table = firaks("RL").play("special FACTION", "pick 0,0")
    assert piece(table, "0,0") == "TS" and table.node == Node.STEP
    assert len(table.options()) == 6  # any track, no way to decline
    table = table.play("advance ai")
    assert table.player(0).tracks[2] == 1 and table.player(0).qic == 1
    assert not table.turn(0).can("special FACTION")


def test_fir_01_wants_a_lab_a_station_piece_and_the_pi():
    assert not firaks("TS", "AC_A").can("special FACTION")
    assert firaks("RL").can("special FACTION")
    assert not firaks("RL", built=(0, 0, 4, 1, 1, 0, 0)).can("special FACTION")
    no_pi = scene("FIRAKS", planets=NEAR).place(0, "0,0", "RL").place(0, "1,0", "AC_A")
    assert not no_pi.turn(0).can("special FACTION")


def test_rms_08_and_09_the_downgrade_scores_a_station_and_a_step():
    table = firaks("RL", mission="RM-TS-4VP").play("special FACTION", "pick 0,0", "advance ai")
    assert table.vp(0, "ROUND_TILE") == 4
    table = firaks("RL", mission="RM-RS-2VP").play("special FACTION", "pick 0,0", "advance ai")
    assert table.vp(0, "ROUND_TILE") == 2


def test_adv_08_the_tiles_for_stations_and_steps_score_it():
    table = own(firaks("RL"), 0, "TRADE-3VP-UPG", "RS-2VP").turn(0)
    table = table.play("special FACTION", "pick 0,0", "advance ai")
    assert table.vp(0, "ADVANCED_TILE") == 3 + 2


def test_upg_06_the_lab_built_again_brings_another_tile():
    table = firaks("RL", ore=3, credits=5).play("special FACTION", "pick 0,0", "advance science")
    table = table.turn(0).play("upgrade 0,0")
    assert piece(table, "0,0") == "RL" and table.node == Node.TILE


def test_tec_09_level_5_by_the_downgrade_is_a_choice_for_a_green_token():
    table = firaks("RL", tracks=(4, 4, 4, 4, 4, 4))
    assert table.play("special FACTION", "pick 0,0").node != Node.STEP  # nothing can advance
    table = own(table, 0, "FT_6VP_2K").turn(0).play("special FACTION", "pick 0,0")
    assert table.can("skip") and table.can("advance science")
    assert table.play("advance science").player(0).green == 0
    assert table.play("skip").player(0).green == 1


def test_tec_09_no_skip_while_a_step_below_level_5_is_there():
    table = own(firaks("RL", tracks=(4, 4, 4, 4, 4, 3)), 0, "FT_6VP_2K").turn(0)
    table = table.play("special FACTION", "pick 0,0")
    assert not table.can("skip") and table.can("advance science") and table.can("advance ai")


def test_inc_01_the_lab_given_back_brings_no_more_knowledge():
    table = last_to_pass(firaks("RL").play("special FACTION", "pick 0,0", "advance ai").turn(0))
    row = table.play("booster RB7").player(0)
    assert (row.knowledge, row.credits) == (2, 3)  # 2 of the board; the station's 3


def bescods(*places, mission="RM-FED-5VP", **fields):
    """Bescods with (cell, structure) on the map, without resources."""
    table = scene("BESCODS", "AMBAS", planets=NEAR, mission=mission)
    table = table.place(0, dict(places))
    return table.give(0, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


def pieces(table, cell):
    """The structures that an upgrade on the cell may place."""
    table = table.play(f"upgrade {cell}")
    options = table.options("piece")
    return {text.split()[1] for text in options} if options else {piece(table, cell)}


@pytest.mark.parametrize("ore, credits, offered", [(6, 6, True), (5, 6, False), (6, 5, False)])
def test_upg_01_the_academy_costs_6_ore_and_6_credits(ore, credits, offered):
    table = bescods(("0,0", "TS"), ore=ore, credits=credits)
    assert ("AC_A" in pieces(table, "0,0")) == offered


@pytest.mark.parametrize("ore, credits, legal", [(4, 6, True), (3, 6, False), (4, 5, False)])
def test_upg_01_the_pi_of_the_bescods_costs_4_ore_and_6_credits(ore, credits, legal):
    table = bescods(("1,0", "RL"), ore=ore, credits=credits)
    assert table.can("upgrade 1,0") == legal


def test_upg_06_the_academy_from_a_station_brings_a_tile_and_scores():
    table = bescods(("0,0", "TS"), mission="RM-PI-ACAD-1-5VP", ore=6, credits=6)
    table = table.play("upgrade 0,0", "piece AC_B")
    assert table.node == Node.TILE and table.vp(0, "ROUND_TILE") == 5


def test_tec_01_the_pi_from_a_lab_brings_no_tile_and_scores():
    table = bescods(("1,0", "RL"), mission="RM-PI-ACAD-1-5VP", ore=4, credits=6)
    table = table.play("upgrade 1,0")
    assert table.node != Node.TILE and table.vp(0, "ROUND_TILE") == 5
    assert piece(table, "1,0") == "PI"


def test_upg_02_each_academy_once_and_one_pi():
    table = bescods(("0,0", "TS"), ("1,0", "AC_A"), ore=6, credits=6)
    assert pieces(table, "0,0") == {"RL", "AC_B"}
    table = bescods(("0,0", "RL"), ("1,0", "PI"), ore=9, credits=9)
    assert not table.can("upgrade 0,0")


def test_inc_01_stations_bring_knowledge_labs_credits_and_the_board_none():
    table = bescods(("0,0", "TS"), ("1,0", "TS"), ("0,1", "RL"), ("3,0", "RL"))
    row = last_to_pass(table).play("booster RB7").player(0)
    assert (row.knowledge, row.credits, row.ore) == (2, 3 + 4, 1 + 1)


def test_inc_01_academy_a_brings_2_knowledge_academy_b_a_qic_action():
    table = last_to_pass(bescods(("0,0", "AC_A"), ("1,0", "AC_B"))).play("booster RB7").turn(0)
    assert table.player(0).knowledge == 2
    assert table.play("special AC_B").player(0).qic == 1


def test_act_15_the_special_advances_a_lowest_track_from_round_1_without_the_pi():
    table = bescods(("0,0", "MINE"), tracks=(1, 0, 2, 0, 1, 1)).play("special FACTION")
    assert table.options() == {"advance navigation", "advance gaia"}
    table = table.play("advance gaia")
    assert table.player(0).tracks[3] == 1 and table.player(0).gaiaformers == 1
    assert not table.turn(0).can("special FACTION")


def test_act_15_it_charges_and_scores_like_any_step():
    table = bescods(("0,0", "MINE"), mission="RM-RS-2VP", tracks=(2,) * 6, power=(3, 0, 0))
    table = table.play("special FACTION", "advance science")
    assert table.vp(0, "ROUND_TILE") == 2 and table.player(0).power == (0, 3, 0)


def test_act_15_level_5_needs_a_green_token_and_a_free_place():
    four = bescods(("0,0", "MINE"), tracks=(4,) * 6)
    assert not four.can("special FACTION")
    table = own(four, 0, "FT_6VP_2K").turn(0)
    assert len(table.play("special FACTION").options()) == 6
    table = at(table, 1, science=5).turn(0).play("special FACTION")
    assert not table.can("advance science") and len(table.options()) == 5


def test_fed_09_bes_01_the_pi_adds_1_on_every_black_planet():
    # PI 3, station 2 on Black: 4 + 3 with the bonus, 5 without.
    assert bescods(("0,0", "PI"), ("1,0", "TS")).can("form_federation")
    assert not bescods(("0,0", "AC_A"), ("1,0", "TS")).can("form_federation")
    red = bescods().planet("1,0", "Red").place(0, "0,0", "PI").place(0, "1,0", "TS")
    assert not red.turn(0).can("form_federation")  # 4 + 2


@pytest.mark.parametrize("tiles, legal", [((), False), (("BT8_PIAC_4",), True)])
def test_tec_12_the_tile_for_academies_adds_to_the_bonus(tiles, legal):
    # On Red: academy 3 or 4; on Black: the PI 3 + 1 or 4 + 1. Without the tile 7 is reached alone.
    table = bescods().planet("1,0", "Red").planet("0,1", "Red").place(0, "0,0", "PI")
    table = own(table.place(0, "1,0", "TS"), 0, *tiles).turn(0)
    assert table.can("form_federation") == legal  # 4 + 2, or 5 + 2


def test_bes_01_the_tile_of_a_free_lab_works_for_them_too():
    table = own(bescods(("0,0", "TS")), 0, "TWILIGHT", power=(0, 0, 3)).turn(0)
    table = table.play("ship TWI_P", "pick 0,0")
    assert piece(table, "0,0") == "RL" and table.node == Node.TILE
