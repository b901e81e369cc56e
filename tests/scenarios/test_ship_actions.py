"""The twelve actions of the ships: what each pays and gives, and when it is not to be had."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, last_to_pass, own, piece, planet, scene

SHIPS = {"REBELLION": "REB", "TWILIGHT": "TWI", "ECLIPSE": "ECL", "TF_MARS": "TFM"}
ACTIONS = [
    "REB_Q", "REB_P", "REB_K", "TWI_Q", "TWI_P", "TWI_K", "TFM_P", "TFM_C", "TFM_Q", "ECL_Q",
    "ECL_P", "ECL_C",
]  # fmt: skip
RICH = {"credits": 20, "ore": 10, "knowledge": 10, "qic": 5, "power": (0, 0, 8), "gaiaformers": 1}


def aboard(*items, **fields):
    """Geodens with a mine at 0,0, a Transdim and an asteroid next to it, shuttles, nothing else."""
    near = {"0,0": "Orange", "1,0": "Transdim", "0,1": "Asteroid", "0,-1": "Red"}
    table = scene("GEODENS", "XENOS", planets=near).place(0, "0,0")
    empty = dict.fromkeys(RICH, 0) | {"power": (0, 0, 0)}
    return own(table, 0, *items, **(empty | fields)).turn(0)


def everything():
    """The same with everything that any ship action needs."""
    table = aboard("REBELLION", "TWILIGHT", "ECLIPSE", "TF_MARS", "FT_7VP_2O", **RICH)
    return table.planet("-1,0", "Orange").place(0, "-1,0", "TS").turn(0)


def test_act_02_every_ship_action_is_there_with_a_shuttle_on_its_ship():
    assert everything().options("ship") == {f"ship {action}" for action in ACTIONS}


@pytest.mark.parametrize("ship", SHIPS)
def test_act_02_no_action_of_a_ship_without_an_own_shuttle(ship):
    index = everything().env.ruleset.ids["ship"].index(ship)
    table = everything().give(0, shuttles=15 & ~(1 << index)).turn(0)
    without = {f"ship {a}" for a in ACTIONS if not a.startswith(SHIPS[ship])}
    assert table.options("ship") == without


def test_reb_q_pays_3_qic_for_a_tech_tile():
    table = aboard("REBELLION", qic=4).play("ship REB_Q")
    assert table.node == Node.TILE and table.player(0).qic == 1
    table = table.play("tile BT9_7VP")
    assert table.vp(0, "BASIC_TILE") == 7
    assert not aboard("REBELLION", qic=2).can("ship REB_Q")


def test_act_17_reb_p_takes_an_ordinary_mine_while_a_station_piece_is_left():
    table = aboard("REBELLION", power=(0, 0, 3))
    assert not table.give(0, built=(0, 1, 4, 0, 0, 0, 0)).turn(0).can("ship REB_P")
    only_lost = table.planet("0,0", "Lost").turn(0)
    assert not only_lost.can("ship REB_P")
    no_mine = scene("GEODENS", planets={"0,0": "Orange"}).place(0, "0,0", "TS")
    assert not own(no_mine, 0, "REBELLION", power=(0, 0, 3)).turn(0).can("ship REB_P")


def test_reb_k_pays_2_knowledge_for_2_credits_and_a_qic():
    table = aboard("REBELLION", knowledge=3).play("ship REB_K")
    row = table.player(0)
    assert (row.knowledge, row.credits, row.qic) == (1, 2, 1)
    assert not aboard("REBELLION", knowledge=1).can("ship REB_K")


def test_act_17_twi_p_takes_a_station_while_a_lab_piece_is_left():
    assert not aboard("TWILIGHT", power=(0, 0, 3)).can("ship TWI_P")  # a mine only
    table = scene("GEODENS", planets={"0,0": "Orange"}).place(0, "0,0", "TS")
    table = own(table, 0, "TWILIGHT", power=(0, 0, 3))
    assert table.turn(0).can("ship TWI_P")
    assert not table.give(0, built=(0, 0, 1, 3, 0, 0, 0)).turn(0).can("ship TWI_P")


def test_min_18_twi_k_reaches_3_farther_for_a_mine():
    table = aboard("TWILIGHT", knowledge=1, ore=1, credits=2).planet("4,0", "Orange").turn(0)
    table = table.play("ship TWI_K")
    assert "pick 4,0" in table.options()
    row = table.play("pick 4,0").player(0)
    assert (row.knowledge, row.ore, row.credits, row.qic) == (0, 0, 0, 0)


def test_min_18_twi_k_reaches_no_farther_than_3_more_and_no_project():
    table = aboard("TWILIGHT", **RICH).give(0, qic=0).turn(0)
    table = at(table.planet("4,0", "Transdim").planet("4,1", "Orange"), 0, gaia=1).turn(0)
    picks = table.play("ship TWI_K").options()  # range 4
    assert "pick 4,0" not in picks and "pick 1,0" not in picks and "pick 4,1" not in picks
    assert "pick 0,1" in picks  # an asteroid with a gaiaformer is a mine (MIN-13)


def test_min_18_twi_k_explores_a_ship_and_pays_for_it():
    table = aboard("TWILIGHT", knowledge=1, qic=0, vp=10)  # Rebellion at 3 of range 1 + 3
    assert not table.can("explore REBELLION")
    table = table.play("ship TWI_K", "explore REBELLION")
    assert table.player(0).vp == 5 and table.player(0).knowledge == 0
    poor = aboard("TWILIGHT", knowledge=1, vp=4)
    assert not poor.can("ship TWI_K")  # nothing else in range either


def test_gpj_04_tfm_p_gaiaforms_at_once_without_tokens():
    table = aboard("TF_MARS", power=(0, 0, 2), gaiaformers=1).play("ship TFM_P")
    assert table.options() == {"pick 1,0"}
    table = table.play("pick 1,0")
    row = table.player(0)
    assert planet(table, "1,0") == "Gaia" and row.power == (2, 0, 0) and row.gaia_power == 0
    assert row.gaiaformers == 0 and row.gaiaformers_out == 1


def test_gpj_03_tfm_p_wants_a_gaiaformer_a_transdim_and_2_power():
    ready = {"power": (0, 0, 2), "gaiaformers": 1}
    assert aboard("TF_MARS", **ready).can("ship TFM_P")
    assert not aboard("TF_MARS", **ready | {"gaiaformers": 0}).can("ship TFM_P")
    assert not aboard("TF_MARS", **ready | {"power": (0, 1, 1)}).can("ship TFM_P")
    assert not aboard("TF_MARS", **ready).planet("1,0", "Red").turn(0).can("ship TFM_P")


def test_min_20_a_planet_gaiaformed_by_tfm_p_waits_for_the_next_round():
    table = aboard("TF_MARS", **RICH).play("ship TFM_P", "pick 1,0").turn(0)
    assert not table.can("mine 1,0")
    table = last_to_pass(table).play("booster RB7").give(0, qic=0, ore=1, credits=2).turn(0)
    assert table.can("mine 1,0")  # its own: no QIC
    row = table.play("mine 1,0").player(0)
    assert (row.ore, row.credits, row.gaiaformers, row.gaiaformers_out) == (0, 0, 1, 0)


def test_min_16_tfm_c_pays_5_credits_and_the_mine_for_one_free_step():
    table = aboard("TF_MARS", credits=7, ore=1)  # Red is 1 step from Orange
    table = table.play("ship TFM_C")
    assert table.options() == {"pick 0,-1"}  # no asteroid, no Transdim (MIN-13, MIN-19)
    row = table.play("pick 0,-1").player(0)
    assert (row.credits, row.ore) == (0, 0)
    assert not aboard("TF_MARS", credits=6, ore=1).can("ship TFM_C")
    assert not aboard("TF_MARS", credits=7, ore=0).can("ship TFM_C")


def test_min_14_tfm_c_pays_the_steps_beyond_the_free_one():
    table = aboard("TF_MARS", credits=7, ore=4).planet("0,-1", "Brown").turn(0)  # 2 steps
    assert table.play("ship TFM_C", "pick 0,-1").player(0).ore == 0
    assert not table.give(0, ore=3).turn(0).can("ship TFM_C")


def test_tec_15_tfm_q_scores_2_and_every_basic_or_ship_tile_covered_ones_too():
    table = aboard("TF_MARS", "BT9_7VP", "BT4_INC_C4", "LF-NAV+1", "SA-K-3", qic=2)
    table = table.give(0, covered=1 << 8).turn(0).play("ship TFM_Q")
    assert table.vp(0, "SHIP") == 2 + 3 and table.player(0).qic == 0
    assert not aboard("TF_MARS", qic=1).can("ship TFM_Q")


def test_ecl_q_scores_2_and_every_planet_type_artifact_types_included():
    table = aboard("ECLIPSE", "ART-PP-MINE", qic=2).place(0, "0,1").turn(0)
    assert table.play("ship ECL_Q").vp(0, "SHIP") == 2 + 3  # Orange, Asteroid, Proto
    assert not aboard("ECLIPSE", qic=1).can("ship ECL_Q")


def test_act_09_ecl_p_advances_any_track_for_3_power_and_2_knowledge():
    table = aboard("ECLIPSE", power=(0, 0, 3), knowledge=2).play("ship ECL_P")
    assert len(table.options("advance")) == 6 and not table.can("skip")
    row = table.play("advance science").player(0)
    assert (row.power, row.knowledge, row.tracks[5]) == ((3, 0, 0), 0, 1)
    assert not aboard("ECLIPSE", power=(0, 0, 3), knowledge=1).can("ship ECL_P")
    assert not aboard("ECLIPSE", power=(0, 0, 2), knowledge=2).can("ship ECL_P")


def test_act_09_ecl_p_enters_level_5_only_with_a_green_token():
    table = aboard("ECLIPSE", power=(0, 0, 3), knowledge=2).give(0, tracks=(4, 4, 4, 4, 4, 4))
    assert not table.turn(0).can("ship ECL_P")
    table = own(table, 0, "FT_6VP_2K").turn(0).play("ship ECL_P", "advance science")
    assert table.player(0).green == 0 and table.player(0).tracks[5] == 5


def test_min_12_ecl_c_builds_on_an_asteroid_for_6_credits_alone():
    table = aboard("ECLIPSE", credits=6).play("ship ECL_C")
    assert table.options() == {"pick 0,1"}
    table = table.play("pick 0,1")
    assert piece(table, "0,1") == "MINE" and table.player(0).credits == 0
    assert not aboard("ECLIPSE", credits=5).can("ship ECL_C")
    assert not aboard("ECLIPSE", credits=6).planet("0,1", "Red").turn(0).can("ship ECL_C")


def test_min_06_ecl_c_pays_qic_for_range_and_wants_a_mine_piece():
    table = aboard("ECLIPSE", credits=6, qic=1).planet("0,1", "Empty").planet("3,0", "Asteroid")
    table = table.turn(0)
    assert table.play("ship ECL_C", "pick 3,0").player(0).qic == 0
    assert not table.give(0, qic=0).turn(0).can("ship ECL_C")
    assert not table.give(0, built=(0, 8, 0, 0, 0, 0, 0)).turn(0).can("ship ECL_C")


def test_act_18_gleens_pay_ship_actions_with_real_qic():
    table = scene("GLEENS", planets={"0,0": "Yellow"}).place(0, "0,0")
    table = own(table, 0, "ECLIPSE", "TF_MARS", ore=15, qic=1).turn(0)
    assert not table.can("ship ECL_Q") and not table.can("ship TFM_Q")
    assert table.give(0, qic=2, ore=0).turn(0).can("ship ECL_Q")


def test_rou_03_a_ship_action_is_the_main_action_of_the_turn():
    table = everything().play("ship REB_K")
    assert table.node == Node.AFTER and not table.options("ship") and not table.options("mine")
