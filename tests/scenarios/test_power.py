"""Power actions and how power is paid; own special actions (ACT)."""

import pytest

from gaia_jax.state import NO_BRAINSTONE, Node
from tests.scenarios.scene import last_to_pass, own, scene


def home(faction="TERRANS", planets=None, **setup):
    """A mine of player 0 at 0,0, 9 tokens in bowl III, no resources."""
    table = scene(faction, planets={"0,0": "Blue"} | (planets or {}), **setup).place(0, "0,0")
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


def test_act_08_new_tokens_lie_in_bowl_1_the_xenos_too():
    row = home("XENOS").play("power PA_2PT").player(0)
    assert row.power == (3 + 2, 0, 6)


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
    assert not table.place(0, "1,0", "AC_A").can("special AC_B")
    table = table.place(0, "2,0", "AC_B").play("special AC_B")
    assert table.player(0).resources == gain
    assert not table.turn(0).can("special AC_B")


def test_rou_03_one_main_action_a_turn():
    table = home().play("power PA_2O")
    assert table.node == Node.AFTER and not table.options("power")
    table = table.play("end_turn")
    assert table.node == Node.TURN and table.decider == 1
