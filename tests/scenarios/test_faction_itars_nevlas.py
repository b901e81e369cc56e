"""The Itars: Gaia-area tokens for tech tiles. The Nevlas: tokens worth two, and knowledge."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import POOR, at, last_to_pass, own, piece, scene

NEAR = {"0,0": "White", "1,0": "White", "0,1": "Transdim", "-1,0": "Black", "3,0": "White"}


def itars(structure="PI", *items, **fields):
    """Itars with a structure at 0,0, without resources."""
    table = scene("ITARS", "AMBAS", planets=NEAR)
    table = table.place(0, "0,0", structure)
    return own(table, 0, *items, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


def gaia_phase(table):
    """The round ends and the income is taken: the next decision is of the Gaia phase or later."""
    table = last_to_pass(table).play("booster RB7")
    while table.node == Node.INCOME:
        table = table.play(min(table.options()))
    return table


def test_gai_05_without_the_pi_the_tokens_return_to_bowl_i():
    table = gaia_phase(itars("MINE", gaia_power=8))
    assert table.node != Node.ITARS
    assert table.player(0).power == (9, 0, 0)  # and one of the board
    assert table.player(0).gaia_power == 0


def test_gai_09_four_tokens_are_a_tile_again_and_again():
    table = gaia_phase(itars(gaia_power=9))
    assert table.node == Node.ITARS and table.can("skip")
    table = table.play("tile BT9_7VP")
    assert table.vp(0, "BASIC_TILE") == 7 and table.player(0).gaia_power == 5
    while table.node == Node.STEP:
        table = table.play(min(table.options("advance")))
    assert table.node == Node.ITARS and not table.can("tile BT9_7VP")
    table = table.play("tile BT3_O1_Q1")
    while table.node == Node.STEP:
        table = table.play(min(table.options("advance")))
    row = table.player(0)
    assert table.node == Node.TURN and row.gaia_power == 0
    assert sum(row.power) == 1 + 2  # the ninth returns; the board and the PI brought two


def test_gai_09_stop_returns_the_tokens():
    table = gaia_phase(itars(gaia_power=4)).play("skip")
    assert table.player(0).gaia_power == 0 and sum(table.player(0).power) == 4 + 2
    assert table.player(0).tiles == 0


def test_gai_09_three_tokens_are_no_tile():
    assert gaia_phase(itars(gaia_power=3)).node == Node.TURN


def test_gai_09_no_decision_where_no_tile_can_be_taken():
    tiles = itars().env.ruleset.ids["tile"]
    assert gaia_phase(itars("PI", *tiles, gaia_power=4)).node == Node.TURN


def test_gai_09_the_income_of_the_tile_starts_next_round_and_its_step_scores_now():
    table = gaia_phase(itars("PI", "RS-2VP", gaia_power=4)).play("tile BT4_INC_C4")
    assert table.player(0).credits == 0
    assert table.play("advance science").vp(0, "ADVANCED_TILE") == 2


def test_gai_09_an_advanced_tile_covers_and_enters_level_5_by_choice():
    items = ("PI", "BT9_7VP", "FT_6VP_2K", "FT_7VP_2O")
    table = gaia_phase(itars(*items, gaia_power=4, tracks=(0, 0, 4, 0, 0, 0)))
    assert table.can("advanced ai")
    table = table.play("advanced ai", "tile BT9_7VP")
    assert table.player(0).green == 1 and table.player(0).gaia_power == 0
    assert table.node == Node.STEP and not table.can("skip")  # lower tracks are there
    table = table.play("advance ai")
    assert table.player(0).tracks[2] == 5 and table.player(0).green == 0
    assert table.player(0).qic == 4


def test_gai_09_with_one_green_token_the_advanced_tile_takes_it_and_level_5_is_shut():
    table = gaia_phase(itars("PI", "BT9_7VP", "FT_6VP_2K", gaia_power=4, tracks=(0, 0, 4, 0, 0, 0)))
    table = table.play("advanced ai", "tile BT9_7VP")
    assert table.player(0).green == 0
    assert not table.can("advance ai") and table.can("advance science")


def test_gai_09_the_tile_on_the_track_at_level_4_asks_for_level_5():
    table = itars("PI", "FT_6VP_2K", gaia_power=4, tracks=(4, 4, 4, 4, 4, 4))
    table = gaia_phase(table).play("tile BT9_7VP")
    assert table.node == Node.STEP and table.can("skip")
    assert table.play("skip").player(0).green == 1


def test_gai_06_a_free_mine_of_the_gaia_phase_is_built_and_leeched_at_once():
    table = itars("PI", "ECLIPSE", gaia_power=8).place(1, "3,0", "TS").planet("2,0", "White")
    table = gaia_phase(table).give(0, qic=1).give(1, power=(4, 0, 0), vp=10)
    table = table.play("tile LF-TF2-FREE-MINE", "pick 1,0")
    while table.node == Node.STEP:
        table = table.play("advance science")
    assert piece(table, "1,0") == "MINE" and table.node == Node.LEECH and table.decider == 1
    assert table.play("leech CHARGE").node == Node.ITARS  # before the next STOP (A13)


def test_inc_01_academy_a_brings_3_knowledge_and_the_board_none():
    assert gaia_phase(itars("AC_A")).player(0).knowledge == 3
    assert gaia_phase(itars("MINE")).player(0).knowledge == 0


def test_ita_01_tokens_of_artifacts_leave_the_game():
    table = itars("MINE", "TWILIGHT", power=(6, 0, 0)).play("artifact 1")
    assert table.player(0).gaia_power == 0 and table.player(0).power == (0, 0, 0)


def nevlas(structure="MINE", *items, **fields):
    """Nevlas with a structure at 0,0, without resources."""
    table = scene("NEVLAS", "AMBAS", planets=NEAR).place(0, "0,0", structure)
    return own(table, 0, *items, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


def test_gai_05_those_tokens_come_back_to_bowl_i():
    table = gaia_phase(nevlas(power=(0, 0, 2)).play("free T_to_K").turn(0))
    assert table.player(0).power == (1, 0, 1) and table.player(0).gaia_power == 0


@pytest.mark.parametrize(
    "action, price", [("P1_to_C", 1), ("P3_to_O", 3), ("P4_to_K", 4), ("P4_to_Q", 4)]
)
def test_fre_07_without_the_pi_the_common_rates_hold(action, price):
    table = nevlas("MINE", power=(0, 0, price))
    assert table.play(f"free {action}").player(0).power == (price, 0, 0)
    assert not table.give(0, power=(0, 0, price - 1)).turn(0).can(f"free {action}")
    assert not table.can("free T3_to_2O")


@pytest.mark.parametrize("action, cost", [("PA_2PT", 3), ("PA_7C", 4), ("PA_3K", 7)])
def test_act_07_with_the_pi_a_power_action_takes_half_the_tokens_rounded_up(action, cost):
    half = -(-cost // 2)
    table = nevlas("PI", power=(0, 0, half))
    new = 2 if action == "PA_2PT" else 0
    assert table.play(f"power {action}").player(0).power == (half + new, 0, 0)
    assert not table.give(0, power=(0, 0, half - 1)).turn(0).can(f"power {action}")
    assert not nevlas("MINE", power=(0, 0, cost - 1)).can(f"power {action}")


def test_act_07_the_power_actions_of_ships_too():
    table = nevlas("PI", "TF_MARS", "ECLIPSE", power=(0, 0, 1), gaiaformers=1, knowledge=2)
    assert table.can("ship TFM_P") and not table.can("ship ECL_P")  # 2 and 3 power
    row = table.play("ship TFM_P", "pick 0,1").player(0)
    assert row.power == (1, 0, 0)
    table = table.give(0, power=(0, 0, 2)).turn(0).play("ship ECL_P", "advance science")
    assert table.player(0).power == (2, 0, 0)
    plain = nevlas("MINE", "TF_MARS", power=(0, 0, 1), gaiaformers=1)
    assert not plain.can("ship TFM_P")


def test_nev_01_a_removed_token_is_one_token():
    assert not nevlas("PI", "TWILIGHT", power=(0, 0, 5)).options("artifact")
    table = nevlas("PI", "TWILIGHT", power=(0, 0, 6)).play("artifact 1")
    assert table.player(0).power == (0, 0, 0)


def test_nev_01_a_project_moves_whole_tokens():
    table = at(nevlas("PI", power=(0, 0, 5), gaiaformers=1), 0, gaia=1).turn(0)
    assert not table.can("project 0,1")
    table = table.give(0, power=(0, 0, 6)).turn(0).play("project 0,1")
    assert table.player(0).gaia_power == 6


def test_set_16_each_lab_brings_a_knowledge():
    table = nevlas("RL").place(0, "1,0", "RL")
    assert gaia_phase(table.turn(0)).player(0).knowledge == 1 + 2  # 1 of the board
