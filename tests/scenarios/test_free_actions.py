"""Free actions (FRE, ROU-08)."""

import pytest

from gaia_jax.state import GAIA_AREA, NO_BRAINSTONE, Node
from tests.scenarios.scene import last_to_pass, scene

FIELDS = ("credits", "ore", "knowledge", "qic", "power", "gaia_power")
NOTHING = dict.fromkeys(FIELDS, 0) | {"power": (0, 0, 0)}


def poor(faction="TERRANS", institute=False, **given):
    """Player 0 has this and nothing else."""
    table = scene(faction, planets={"0,0": "Blue"}).place(0, "0,0", "PI" if institute else "MINE")
    return table.give(0, **(NOTHING | {"brainstone": NO_BRAINSTONE} | given))


def has(table):
    """What player 0 has."""
    return {name: getattr(table.player(0), name) for name in FIELDS}


BASIC = [
    ("K_to_C", {"knowledge": 1}, {"credits": 1}),
    ("O_to_C", {"ore": 1}, {"credits": 1}),
    ("Q_to_O", {"qic": 1}, {"ore": 1}),
    ("O_to_token", {"ore": 1}, {"power": (1, 0, 0)}),
    ("burn", {"power": (0, 2, 0)}, {"power": (0, 0, 1)}),
    ("P1_to_C", {"power": (0, 0, 1)}, {"credits": 1, "power": (1, 0, 0)}),
    ("P3_to_O", {"power": (0, 0, 3)}, {"ore": 1, "power": (3, 0, 0)}),
    ("P4_to_K", {"power": (0, 0, 4)}, {"knowledge": 1, "power": (4, 0, 0)}),
    ("P4_to_Q", {"power": (0, 0, 4)}, {"qic": 1, "power": (4, 0, 0)}),
]


@pytest.mark.parametrize(("action", "price", "gain"), BASIC)
def test_fre_01_and_fre_02_the_basic_conversions(action, price, gain):
    table = poor(**price)
    assert has(table.play(f"free {action}")) == NOTHING | gain


@pytest.mark.parametrize(
    ("action", "short"),
    [
        ("burn", {"power": (9, 1, 9)}),
        ("P1_to_C", {"power": (9, 9, 0)}),
        ("P3_to_O", {"power": (9, 9, 2)}),
        ("P4_to_K", {"power": (9, 9, 3)}),
        ("P4_to_Q", {"power": (0, 0, 3), "gaia_power": 9}),
        ("K_to_C", {"ore": 9}),
        ("Q_to_O", {"ore": 9}),
    ],
)
def test_fre_02_the_price_must_be_there(action, short):
    assert not poor(**short).can(f"free {action}")


def test_fre_02_a_new_token_lies_in_bowl_1_that_of_the_xenos_in_bowl_3():
    assert poor(ore=1).play("free O_to_token").player(0).power == (1, 0, 0)
    assert poor("XENOS", ore=1).play("free O_to_token").player(0).power == (0, 0, 1)


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("K_to_C", {"knowledge": 1, "credits": 30}),
        ("P1_to_C", {"power": (0, 0, 1), "credits": 30}),
        ("Q_to_O", {"qic": 1, "ore": 15}),
        ("P3_to_O", {"power": (0, 0, 3), "ore": 15}),
        ("P4_to_K", {"power": (0, 0, 4), "knowledge": 15}),
    ],
)
def test_fre_03_no_conversion_whose_gain_is_lost(action, given):
    assert not poor(**given).can(f"free {action}")
    caps = {name: given[name] - 1 for name in given if given[name] in (15, 30)}
    assert poor(**(given | caps)).can(f"free {action}")


def test_fre_05_the_burned_token_of_the_itars_goes_to_the_gaia_area():
    assert has(poor("ITARS", power=(0, 2, 0)).play("free burn"))["gaia_power"] == 1
    assert has(poor(power=(0, 2, 0)).play("free burn"))["gaia_power"] == 0


@pytest.mark.parametrize("institute", [False, True])
def test_fre_06_the_nevlas_turn_a_token_into_knowledge(institute):
    table = poor("NEVLAS", institute, power=(0, 0, 1))
    assert has(table.play("free T_to_K")) == NOTHING | {"knowledge": 1, "gaia_power": 1}
    assert not poor("NEVLAS", institute, power=(9, 9, 0)).can("free T_to_K")
    assert not poor(power=(0, 0, 9)).can("free T_to_K")


@pytest.mark.parametrize(
    ("action", "tokens", "gain"),
    [
        ("P1_to_C", 1, {"credits": 2}),
        ("P3_to_O", 2, {"ore": 1, "credits": 1}),
        ("T3_to_2O", 3, {"ore": 2}),
        ("P4_to_K", 2, {"knowledge": 1}),
        ("P4_to_Q", 2, {"qic": 1}),
    ],
)
def test_fre_07_the_bundles_of_the_nevlas_institute(action, tokens, gain):
    table = poor("NEVLAS", True, power=(0, 0, tokens))
    assert has(table.play(f"free {action}")) == NOTHING | gain | {"power": (tokens, 0, 0)}
    assert not table.give(0, power=(9, 9, tokens - 1)).can(f"free {action}")


def test_fre_07_without_the_institute_a_token_is_worth_1():
    table = poor("NEVLAS", power=(0, 0, 4))
    assert not table.can("free T3_to_2O")
    assert has(table.play("free P4_to_K"))["power"] == (4, 0, 0)
    assert not poor(institute=True, power=(0, 0, 9)).can("free T3_to_2O")


def test_fre_07_a_bundle_is_legal_while_one_of_its_gains_is_not_lost():
    table = poor("NEVLAS", True, power=(0, 0, 2), ore=15, credits=29)
    assert table.play("free P3_to_O").player(0).credits == 30
    assert not table.give(0, credits=30).can("free P3_to_O")


@pytest.mark.parametrize(
    ("action", "credits", "gain"),
    [("C4_to_K", 4, {"knowledge": 1}), ("C3_to_O", 3, {"ore": 1}), ("C4_to_Q", 4, {"qic": 1})],
)
def test_fre_08_the_hadsch_hallas_buy_with_credits_after_their_institute(action, credits, gain):
    table = poor("HADSCH_HALLAS", True, credits=credits)
    assert has(table.play(f"free {action}")) == NOTHING | gain
    assert not table.give(0, credits=credits - 1).can(f"free {action}")
    assert not poor("HADSCH_HALLAS", credits=9).can(f"free {action}")
    assert not poor("TERRANS", True, credits=9).can(f"free {action}")


def test_fre_09_the_bal_taks_turn_gaiaformers_into_qic_until_the_next_gaia_phase():
    table = poor("BAL_TAKS", gaiaformers=2).play("free GF_to_Q", "free GF_to_Q")
    row = table.player(0)
    assert (row.qic, row.gaiaformers, row.gaiaformers_gaia) == (2, 0, 2)
    assert not table.can("free GF_to_Q")
    assert not poor(gaiaformers=2).can("free GF_to_Q")
    row = last_to_pass(table, 0).play("booster RB5").player(0)
    assert (row.gaiaformers, row.gaiaformers_gaia) == (2, 0)


def test_fre_10_the_brainstone_pays_3_in_the_larger_conversions():
    ore = poor("TAKLONS", brainstone=2).play("free P3_to_O").player(0)
    assert (ore.ore, ore.brainstone) == (1, 0)
    table = poor("TAKLONS", brainstone=2, power=(0, 0, 1))
    row = table.play("free P4_to_K").player(0)
    assert (row.knowledge, row.power, row.brainstone) == (1, (1, 0, 0), 0)
    assert not table.give(0, brainstone=GAIA_AREA).can("free P4_to_K")
    assert not poor("TAKLONS", brainstone=2).can("free P4_to_Q")


def test_fre_11_the_gleens_gain_ore_for_qic_before_academy_b():
    table = poor("GLEENS", power=(0, 0, 4))
    before = table.play("free P4_to_Q").player(0)
    assert (before.ore, before.qic) == (1, 0)
    academy = table.planet("1,0", "Red").place(0, "1,0", "AC_B").play("free P4_to_Q").player(0)
    assert (academy.ore, academy.qic) == (0, 1)
    assert poor("GLEENS", qic=1).play("free Q_to_O").player(0).ore == 1


def test_fre_12_free_actions_come_before_and_after_the_main_action_of_the_own_turn():
    table = poor(ore=9, knowledge=4).play("free O_to_C", "advance ai")
    assert table.node == Node.AFTER
    table = table.play("free O_to_C", "free O_to_token")
    assert table.node == Node.AFTER and table.decider == 0
    table = table.play("end_turn")
    assert table.decider == 1


def test_fre_12_none_inside_an_action_and_none_when_leeching():
    table = poor(ore=9, credits=9, qic=9).planet("1,0", "Red").place(1, "1,0", "TS")
    table = table.give(1, ore=9, power=(4, 0, 0))
    leeching = table.place(0, "0,0").give(0, built=(0, 1, 0, 0, 0, 0, 0)).play("upgrade 0,0")
    assert leeching.node == Node.LEECH and not leeching.options("free")
    choosing = table.place(0, "0,0", "TS").play("upgrade 0,0")
    assert choosing.node in (Node.PIECE, Node.TILE) and not choosing.options("free")


def test_rou_03_the_turn_ends_by_itself_when_nothing_is_left_to_convert():
    table = poor(knowledge=4).play("advance science")
    assert (table.node, table.decider) == (Node.TURN, 1)


def test_rou_08_at_most_64_free_actions_a_turn():
    table = poor(ore=9).set_turn(free_actions=63)
    table = table.play("free O_to_C")
    assert not table.options("free") and table.options("booster")
    assert poor(ore=9, knowledge=4).set_turn(free_actions=64).play("advance ai").decider == 1
