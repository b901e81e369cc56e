"""Power actions and how power is paid; own special actions (ACT)."""

import pytest

from gaia_jax.state import NO_BRAINSTONE, Node
from tests.scenarios.scene import last_to_pass, own, scene


def home(faction="TERRANS", planets=None, **setup):
    """A mine of player 0 at 0,0, 9 tokens in bowl III, no resources."""
    table = scene(faction, planets={"0,0": "Blue"} | (planets or {}), **setup).stand(0, "0,0")
    table = table.give(0, credits=0, ore=0, knowledge=0, qic=0, power=(0, 0, 9))
    return table.give(0, brainstone=NO_BRAINSTONE)


@pytest.mark.parametrize(
    ("action", "cost", "gain"),
    [
        ("PA_2PT", 3, {"power": (5, 0, 0)}),
        ("PA_7C", 4, {"credits": 7, "power": (4, 0, 0)}),
        ("PA_2O", 4, {"ore": 2, "power": (4, 0, 0)}),
        ("PA_2K", 4, {"knowledge": 2, "power": (4, 0, 0)}),
        ("PA_3K", 7, {"knowledge": 3, "power": (7, 0, 0)}),
    ],
)
def test_act_05_power_goes_from_bowl_3_to_bowl_1(action, cost, gain):
    table = home().give(0, power=(0, 0, cost))
    assert not table.give(0, power=(9, 9, cost - 1)).can(f"power {action}")
    table = table.play(f"power {action}")
    assert {name: getattr(table.player(0), name) for name in gain} == gain


@pytest.mark.parametrize(("action", "cost"), [("PA_TF1", 3), ("PA_TF2", 5)])
def test_act_05_the_terraforming_actions(action, cost):
    table = home(planets={"1,0": "Red"}).give(0, ore=1, credits=2, power=(0, 0, cost))
    assert not table.give(0, power=(9, 9, cost - 1)).can(f"power {action}")
    table = table.play(f"power {action}", "pick 1,0")
    assert table.player(0).power == (cost, 0, 0)


def test_act_01_the_board_has_power_actions_alone():
    assert {text.split("_")[0] for text in home().options("power")} == {"power PA"}


def test_act_02_an_action_serves_one_player_a_round():
    table = home().give(1, power=(0, 0, 9)).play("power PA_2O").turn(1)
    assert not table.can("power PA_2O") and table.can("power PA_2K")
    table = last_to_pass(table, 0).play("booster RB7")
    assert table.game.turn.round == 2
    assert table.turn(1).can("power PA_2O")


def test_act_02_a_ship_action_needs_an_own_shuttle_and_serves_one_player_a_round():
    table = home().give(0, knowledge=2).give(1, knowledge=2).give(2, knowledge=2)
    assert not table.can("ship REB_K")
    table = own(own(table, 0, "REBELLION"), 1, "REBELLION").play("ship REB_K")
    assert (table.player(0).credits, table.player(0).qic, table.player(0).knowledge) == (2, 1, 0)
    assert not table.turn(1).can("ship REB_K")
    table = last_to_pass(table.turn(0), 0).play("booster RB7").give(1, knowledge=2)
    assert table.turn(1).can("ship REB_K") and not table.turn(2).can("ship REB_K")


def test_act_03_an_own_special_concerns_its_owner_alone():
    table = own(own(home(), 0, "BT1_ACT_CHARGE4"), 1, "BT1_ACT_CHARGE4")
    table = table.play("special BT1_ACT_CHARGE4").turn(1)
    assert table.can("special BT1_ACT_CHARGE4")
    assert not table.turn(0).can("special BT1_ACT_CHARGE4")
    assert not table.turn(2).can("special BT1_ACT_CHARGE4")


@pytest.mark.parametrize(
    ("ordinary", "action", "left", "brainstone"),
    [
        (4, "PA_2O", (1, 0, 3), 0),  # 4 power: the brainstone and 1
        (3, "PA_2PT", (2, 0, 3), 0),  # 3 power: the brainstone alone
        (0, "PA_2PT", (2, 0, 0), 0),
        (4, "PA_3K", (4, 0, 0), 0),  # 7 power
    ],
)
def test_act_06_the_brainstone_pays_3(ordinary, action, left, brainstone):
    table = home("TAKLONS").give(0, power=(0, 0, ordinary), brainstone=2)
    row = table.play(f"power {action}").player(0)
    assert (row.power, row.brainstone) == (left, brainstone)


def test_act_06_without_the_brainstone_in_bowl_3_a_token_pays_1():
    table = home("TAKLONS").give(0, power=(0, 0, 3), brainstone=1)
    assert not table.can("power PA_2O")
    assert table.give(0, brainstone=2).can("power PA_2O")
    assert not table.give(0, power=(0, 0, 3), brainstone=2).can("power PA_3K")


def test_act_06_small_costs_are_paid_with_ordinary_tokens_first():
    table = own(home("TAKLONS", {"1,0": "Transdim"}), 0, "TF_MARS")
    table = table.give(0, gaiaformers=1, brainstone=2)
    ordinary = table.give(0, power=(0, 0, 2)).play("ship TFM_P", "pick 1,0").player(0)
    assert (ordinary.power, ordinary.brainstone) == ((2, 0, 0), 2)
    stone = table.give(0, power=(0, 0, 1)).play("ship TFM_P", "pick 1,0").player(0)
    assert (stone.power, stone.brainstone) == ((0, 0, 1), 0)


@pytest.mark.parametrize(
    ("action", "tokens"), [("PA_2PT", 2), ("PA_7C", 2), ("PA_3K", 4), ("PA_2K", 2)]
)
def test_act_07_nevlas_tokens_pay_2_with_the_institute(action, tokens):
    table = home("NEVLAS", {"1,0": "Red"}).give(0, power=(0, 0, tokens))
    assert not table.can(f"power {action}")
    table = table.stand(0, "1,0", "PI")
    assert not table.give(0, power=(0, 0, tokens - 1)).can(f"power {action}")
    row = table.play(f"power {action}").player(0)
    assert sum(row.power) == tokens + (2 if action == "PA_2PT" else 0)
    assert row.power[2] == 0


def test_act_08_new_tokens_lie_in_bowl_1_the_xenos_too():
    row = home("XENOS").play("power PA_2PT").player(0)
    assert row.power == (3 + 2, 0, 6)


def test_act_09_the_eclipse_advances_a_track_or_is_illegal():
    table = own(home(), 0, "ECLIPSE").give(0, knowledge=2, power=(0, 0, 3))
    assert table.play("ship ECL_P", "advance ai").player(0).knowledge == 0
    assert not table.give(0, tracks=(4,) * 6).can("ship ECL_P")
    assert own(table.give(0, tracks=(4,) * 6), 0, "FT_7VP_2O").can("ship ECL_P")
    assert not table.give(0, power=(0, 0, 2)).can("ship ECL_P")


@pytest.mark.parametrize(
    ("special", "field", "value"),
    [("SA-K-3", {"knowledge": 15}, (0, 0, 15, 0)), ("SA-O-3", {"ore": 15}, (0, 15, 0, 0))],
)
def test_act_13_a_special_without_effect_is_legal(special, field, value):
    table = own(home(), 0, special).give(0, **field)
    assert table.play(f"special {special}").player(0).resources == value


def test_act_13_the_tile_that_charges_is_legal_with_full_bowls():
    table = own(home(), 0, "BT1_ACT_CHARGE4")
    assert table.play("special BT1_ACT_CHARGE4").player(0).power == (0, 0, 9)
    charged = table.give(0, power=(1, 2, 0)).play("special BT1_ACT_CHARGE4")
    assert charged.player(0).power == (0, 0, 3)


@pytest.mark.parametrize(
    ("faction", "gain"), [("TERRANS", (0, 0, 0, 1)), ("BAL_TAKS", (4, 0, 0, 0))]
)
def test_act_14_academy_b_gives_a_qic_or_4_credits(faction, gain):
    table = home(faction, {"1,0": "Red", "2,0": "Red"})
    assert not table.stand(0, "1,0", "AC_A").can("special AC_B")
    table = table.stand(0, "2,0", "AC_B").play("special AC_B")
    assert table.player(0).resources == gain
    assert not table.turn(0).can("special AC_B")


def test_act_15_the_bescods_advance_one_of_their_lowest_tracks():
    table = home("BESCODS").give(0, tracks=(1, 0, 2, 0, 1, 3)).play("special FACTION")
    assert table.options() == {"advance navigation", "advance gaia"}
    table = table.play("advance gaia")
    assert table.player(0).tracks == (1, 0, 2, 1, 1, 3)
    assert not table.turn(0).can("special FACTION")


def test_act_15_only_the_minimum_counts_also_when_it_is_blocked():
    table = home("BESCODS").give(0, tracks=(4, 4, 4, 4, 5, 5))
    assert not table.can("special FACTION")


def test_act_18_a_ship_action_of_the_gleens_takes_real_qic():
    table = own(home("GLEENS"), 0, "ECLIPSE").give(0, ore=9)
    assert not table.can("ship ECL_Q")
    assert table.give(0, qic=2).play("ship ECL_Q").vp(0, "SHIP") == 2 + 1


def test_rou_03_one_main_action_a_turn():
    table = home().play("power PA_2O")
    assert table.node == Node.AFTER and not table.options("power")
    table = table.play("end_turn")
    assert table.node == Node.TURN and table.decider == 1
