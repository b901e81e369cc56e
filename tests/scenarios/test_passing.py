"""Passing, boosters, the turn order of the next round (PAS, ROU)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import holding, last_to_pass, own, scene

DEALT = ["RB1", "RB2", "RB3", "RB4", "RB9", "RB10", "RB13"]


def booster_scene(booster, structures=None, faction="TERRANS", planets=None, **setup):
    """Player 0 holds the booster and has structures on Red planets; RB13 is open."""
    planets = dict.fromkeys(structures or {}, "Red") | (planets or {})
    table = scene(faction, planets=planets, boosters=DEALT, **setup)
    table = table.place(0, structures or {})
    for player, other in enumerate((booster, "RB2", "RB3", "RB4")):
        table = holding(table, other, player)
    return table


def scored(table):
    """VP from the booster when player 0 passes."""
    return table.play("booster RB13").vp(0, "BOOSTER")


def test_pas_01_one_of_the_three_open_boosters_never_the_old_one():
    table = booster_scene("RB1")
    assert table.options("booster") == {"booster RB9", "booster RB10", "booster RB13"}
    table = table.play("booster RB9")
    assert (table.decider, table.node) == (1, Node.TURN)
    # The old one is open for the next.
    assert table.options("booster") == {"booster RB1", "booster RB10", "booster RB13"}


def test_pas_02_in_round_6_a_pass_only_scores():
    table = booster_scene("RB7", {"0,0": "MINE", "1,0": "MINE"}).set_turn(round=6)
    assert table.can("pass") and not table.options("booster")
    assert not table.set_turn(round=5).can("pass")
    table = table.play("pass")
    assert table.vp(0, "BOOSTER") == 2
    assert table.player(0).booster == table.env.ruleset.ids["booster"].index("RB7")


def test_pas_03_the_reserved_booster_works_from_the_next_round_on():
    table = booster_scene("RB13", {"0,0": "MINE"}, planets={"1,0": "Red"})
    table = table.give(0, credits=9, ore=9)
    assert table.can("special RB13")
    # The player has passed with another one: its special has ended, the new income waits.
    table = last_to_pass(table, 0).give(0, credits=0, ore=0, knowledge=0, tracks=0)
    table = table.play("booster RB10")
    assert int(table.game.turn.round) == 2
    assert table.player(0).credits == 2 and not table.turn(0).can("special RB13")


def test_pas_03_nothing_of_the_new_booster_comes_before_the_income():
    table = booster_scene("RB1").give(0, credits=0, qic=0).play("booster RB10")
    assert (table.player(0).credits, table.player(0).qic) == (0, 0)


SEATS = {"0,0": "PI", "1,0": "AC_A", "2,0": "AC_B", "3,0": "TS"}
LABS = {"0,0": "RL", "1,0": "RL", "2,0": "TS", "3,0": "MINE"}


@pytest.mark.parametrize(
    ("booster", "structures", "vp"),
    [
        ("RB2", SEATS, 12),
        ("RB2", LABS, 0),
        ("RB12", LABS, 6),
        ("RB12", SEATS, 0),
        ("RB14", LABS, 2),
        ("RB14", {"0,0": "TS", "1,0": "TS", "2,0": "MINE"}, 4),
        ("RB7", LABS, 1),
        ("RB7", {"0,0": "MINE", "1,0": "MINE", "2,0": "TS"}, 2),
        ("RB3", {"0,0": "TS"}, 0),
        ("RB3", {"2,4": "MINE", "2,5": "MINE", "7,0": "TS", "0,0": "MINE"}, 4),
        ("RB1", SEATS, 0),
        ("RB9", SEATS, 0),
        ("RB10", LABS, 0),
    ],
)
def test_pas_04_what_each_booster_scores(booster, structures, vp):
    table = booster_scene(booster, structures)
    for player in (1, 2, 3):
        table = table.give(player, booster=5)
    assert table.play("booster RB13").vp(0, "BOOSTER") == vp


def test_pas_04_booster_4_scores_3_for_each_gaiaformer():
    table = booster_scene("RB4").give(1, booster=0).give(0, gaiaformers=2, gaiaformers_out=1)
    assert scored(table) == 9
    assert scored(table.give(0, gaiaformers=0, gaiaformers_out=0)) == 0


def test_pas_04_booster_5_scores_1_for_each_gaia_planet_not_for_guests():
    gaia = dict.fromkeys(("0,0", "1,0", "2,0"), "Gaia")
    table = booster_scene("RB5", {"0,0": "MINE", "1,0": "PI"}, "LANTIDS", gaia)
    assert scored(table.place(1, "2,0").place(0, "2,0", "GUEST")) == 2


def test_pas_04_booster_7_counts_guests_the_lost_planet_and_artifact_mines():
    table = booster_scene(
        "RB7", {"0,0": "MINE", "1,0": "MINE"}, "LANTIDS", {"1,0": "Lost", "2,0": "Red"}
    )
    table = own(table.place(1, "2,0").place(0, "2,0", "GUEST"), 0, "ART-PP-MINE", "ART-AS-MINE")
    assert scored(table) == 5


def test_pas_04_booster_8_counts_types_once_and_no_guests():
    planets = {"1,0": "Red", "2,0": "Gaia", "3,0": "Blue"}
    table = booster_scene("RB8", {"0,0": "MINE", "1,0": "MINE", "2,0": "TS"}, "LANTIDS", planets)
    assert scored(table.place(1, "3,0").place(0, "3,0", "GUEST")) == 2


def test_pas_05_artifact_types_and_the_lost_planet_count_for_booster_8():
    table = booster_scene("RB8", {"0,0": "MINE", "1,0": "MINE"}, planets={"1,0": "Lost"})
    assert scored(table) == 2
    assert scored(own(table, 0, "ART-PP-MINE", "ART-AS-MINE")) == 4
    asteroid = booster_scene("RB8", {"0,0": "MINE"}, planets={"0,0": "Asteroid"})
    assert scored(own(asteroid, 0, "ART-AS-MINE")) == 1


def test_rms_01_round_tiles_score_nothing_on_passing():
    table = booster_scene("RB1", LABS, mission="RM-TS-4VP").play("booster RB13")
    assert table.vp(0, "ROUND_TILE") == 0 and table.player(0).vp == 10


def test_rou_02_the_order_of_passing_is_the_next_turn_order():
    table = booster_scene("RB1").turn(2).play("booster RB13").turn(0).play("booster RB9")
    table = table.turn(3).play("booster RB10").turn(1)
    table = table.play(sorted(table.options("booster"))[0])
    assert int(table.game.turn.round) == 2
    assert table.game.turn.order.tolist() == [2, 0, 3, 1]
    assert table.decider == 2


def test_rou_04_free_actions_come_before_the_pass_and_not_after_it():
    table = booster_scene("RB1").give(0, ore=2).play("free O_to_C", "booster RB13")
    assert (table.node, table.decider) == (Node.TURN, 1)


def test_rou_05_passing_is_always_possible():
    table = booster_scene("RB1").give(
        0, credits=0, ore=0, knowledge=0, qic=0, power=(0, 0, 0), vp=0
    )
    assert table.options() == {"booster RB9", "booster RB10", "booster RB13"}


def test_rou_06_who_has_passed_is_skipped_and_the_last_one_goes_on():
    table = booster_scene("RB1").give(0, power=(0, 0, 9)).set_turn(passed=(0, 1, 0, 2)).turn(0)
    second = table.play("power PA_2O", "end_turn")
    assert second.decider == 2
    alone = table.set_turn(passed=(0, 1, 3, 2)).turn(0).play("power PA_2O", "end_turn")
    assert (alone.node, alone.decider) == (Node.TURN, 0)


def test_rou_07_clean_up_makes_actions_available_again():
    table = own(booster_scene("RB1"), 0, "BT1_ACT_CHARGE4", "REBELLION").give(0, power=(0, 0, 9))
    table = table.give(0, knowledge=2).play("special BT1_ACT_CHARGE4").turn(0)
    table = table.play("power PA_2O").turn(0).play("ship REB_K").turn(0)
    assert not table.options("special") and not table.can("power PA_2O")
    table = last_to_pass(table, 0).play("booster RB13").turn(0).give(0, knowledge=2)
    table = table.give(0, power=(0, 0, 9))
    assert table.can("special BT1_ACT_CHARGE4") and table.can("power PA_2O")
    assert table.can("ship REB_K")
    assert int(table.game.turn.round) == 2 and not any(table.game.turn.passed.tolist())
