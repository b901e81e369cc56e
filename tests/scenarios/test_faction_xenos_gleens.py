"""The Xenos: tokens into bowl III, federations of 6. The Gleens: ore for QIC, Gaia, their token."""

import pytest

from tests.scenarios.scene import POOR, at, last_to_pass, own, scene, upgraded

NEAR = {"0,0": "Yellow", "1,0": "Yellow", "0,1": "Yellow", "-1,0": "Gaia", "-1,1": "Red"}


def xenos(*structures, **fields):
    """Xenos with structures at 0,0, 1,0 and 0,1, which touch, without resources."""
    table = scene("XENOS", "FIRAKS", planets=NEAR)
    table = table.place(0, dict(zip(("0,0", "1,0", "0,1"), structures, strict=False)))
    return table.give(0, **(POOR | fields)).turn(0)


def test_xen_01_an_ore_becomes_a_token_in_bowl_iii():
    table = xenos("MINE", ore=2).play("free O_to_token", "free O_to_token")
    assert table.player(0).power == (0, 0, 2) and table.player(0).ore == 0


def test_xen_01_other_gains_go_to_bowl_i():
    table = xenos("MINE", power=(0, 0, 3)).play("power PA_2PT")
    assert table.player(0).power == (5, 0, 0)
    table = at(xenos("MINE", knowledge=4), 0, gaia=1).turn(0).play("advance gaia")
    assert table.player(0).power == (3, 0, 0)


def test_xen_01_is_no_power_of_the_others():
    table = xenos("MINE").give(1, ore=1, power=(0, 0, 0)).turn(1).play("free O_to_token")
    assert table.player(1).power == (1, 0, 0)


def test_xen_01_the_token_can_be_spent_in_the_same_turn():
    table = xenos("MINE", ore=3).play(*["free O_to_token"] * 3)
    assert table.can("power PA_2PT") and table.can("free P3_to_O")


@pytest.mark.parametrize("structures, legal", [(("PI", "TS", "MINE"), True), (("PI", "TS"), False)])
def test_fed_10_a_federation_needs_6_with_the_pi(structures, legal):
    assert xenos(*structures).can("form_federation") == legal


@pytest.mark.parametrize("third, legal", [("MINE", False), ("TS", True)])
def test_fed_10_and_7_without_it(third, legal):
    assert xenos("AC_A", "TS", third).can("form_federation") == legal


def test_fed_02_with_6_needed_a_mine_apart_makes_7_illegal():
    # PI 3 and academy 3 are 6; a mine at a distance of 2 is one too many.
    table = xenos("PI", "AC_A", power=(3, 0, 0)).planet("-2,0", "Yellow").place(0, "-2,0")
    table = table.turn(0).play("form_federation")
    assert table.options("pick") == {"pick 0,0"}


def test_pi_income_of_the_xenos_is_a_qic_and_no_token():
    table = last_to_pass(xenos("PI", power=(4, 0, 0))).play("booster RB5")
    assert table.player(0).qic == 1 and table.player(0).power == (0, 4, 0)


def gleens(structure="MINE", *items, **fields):
    """Gleens with a structure at 0,0, without resources."""
    table = scene("GLEENS", "FIRAKS", planets=NEAR).place(0, "0,0", structure)
    return own(table, 0, *items, **(POOR | {"tracks": (0,) * 6} | fields)).turn(0)


# Every source of QIC: fields of the player before, items, actions, number of QIC.
SOURCES = {
    "ship action": ({"knowledge": 2}, ("REBELLION",), ("ship REB_K",), 1),
    "free action": ({"power": (0, 0, 4)}, (), ("free P4_to_Q",), 1),
    "navigation 1": ({"knowledge": 4}, (), ("advance navigation",), 1),
    "navigation 3": (
        {"knowledge": 4, "tracks": (0, 2, 0, 0, 0, 0)},
        (),
        ("advance navigation",),
        1,
    ),
    "ai 1": ({"knowledge": 4}, (), ("advance ai",), 1),
    "ai 4": ({"knowledge": 4, "tracks": (0, 0, 3, 0, 0, 0)}, (), ("advance ai",), 2),
    "ai 5": ({"knowledge": 4, "tracks": (0, 0, 4, 0, 0, 0)}, ("FT_6VP_2K",), ("advance ai",), 4),
    "advanced tile": ({}, ("SA-QIC-CRED",), ("special SA-QIC-CRED",), 1),
    "token again": ({"qic": 3}, ("TWILIGHT", "FT_8VP_QIC"), ("ship TWI_Q", "token FT_8VP_QIC"), 1),
}


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_gle_02_every_qic_gained_is_an_ore_before_academy_b(source):
    fields, items, texts, amount = SOURCES[source]
    row = gleens("MINE", *items, **fields).play(*texts).player(0)
    assert (row.qic, row.ore) == (0, amount)


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_gle_01_and_a_qic_from_academy_b_on(source):
    fields, items, texts, amount = SOURCES[source]
    row = gleens("AC_B", *items, **fields).play(*texts).player(0)
    assert (row.qic, row.ore) == (amount, 0)


@pytest.mark.parametrize("structure, qic", [("AC_A", 0), ("AC_B", 1)])
def test_gle_01_only_academy_b_ends_it(structure, qic):
    row = gleens(structure, knowledge=4).play("advance ai").player(0)
    assert (row.qic, row.ore) == (qic, 1 - qic)


def test_gle_02_the_tile_bt3_and_the_income_of_rb10():
    table = upgraded(gleens("TS", ore=3, credits=5), "RL").play("tile BT3_O1_Q1")
    assert (table.player(0).qic, table.player(0).ore) == (0, 2)
    boosters = ["RB1", "RB2", "RB3", "RB4", "RB5", "RB6", "RB10"]
    table = scene("GLEENS", "FIRAKS", planets=NEAR, boosters=boosters).place(0, "0,0")
    table = last_to_pass(table.give(0, **POOR)).play("booster RB10")
    assert (table.player(0).qic, table.player(0).ore) == (0, 1 + 1 + 1)  # board, mine, RB10


def test_gle_01_the_tile_of_academy_b_itself_brings_a_real_qic():
    table = gleens("RL", ore=6, credits=6).play("upgrade 0,0", "piece AC_B", "tile BT3_O1_Q1")
    assert (table.player(0).qic, table.player(0).ore) == (1, 1)


def test_gle_02_the_ore_cap_applies():
    row = gleens("MINE", "FT_6VP_2K", knowledge=4, ore=13, tracks=(0, 0, 4, 0, 0, 0))
    assert row.play("advance ai").player(0).ore == 15
    assert not gleens(ore=15, power=(0, 0, 4)).can("free P4_to_Q")  # FRE-03


@pytest.mark.parametrize(
    "ore, qic, left", [(2, 0, (0, 0)), (2, 1, (0, 1)), (1, 1, (0, 0)), (1, 0, None)]
)
def test_min_10_a_gaia_planet_costs_an_ore_or_else_a_qic(ore, qic, left):
    table = gleens(ore=ore, qic=qic, credits=2)
    assert table.can("mine -1,0") == (left is not None)
    if left is not None:
        row = table.play("mine -1,0").player(0)
        assert (row.ore, row.qic) == left


def test_gle_03_a_mine_on_a_gaia_planet_scores_2():
    table = gleens(ore=2, credits=2).play("mine -1,0")
    assert table.vp(0, "FACTION") == 2
    assert gleens(ore=1, credits=2).play("mine 1,0").vp(0, "FACTION") == 0


def test_gle_03_its_own_gaiaformed_planet_scores_too_and_is_free():
    table = gleens(ore=1, credits=2, gaiaformers_out=0).place(0, "-1,0", "GAIAFORMER").turn(0)
    table = table.play("mine -1,0")
    assert table.vp(0, "FACTION") == 2 and table.player(0).ore == 0


def institute(mission="RM-FED-5VP"):
    """Gleens who have just built their PI."""
    table = scene("GLEENS", "FIRAKS", planets=NEAR, mission=mission).place(0, "0,0", "TS")
    return upgraded(table.give(0, **(POOR | {"ore": 4, "credits": 6})).turn(0), "PI")


def test_gle_04_the_pi_brings_the_token_its_goods_and_the_federation_mission():
    table = institute()
    row = table.player(0)
    assert row.tokens[table.env.ruleset.ids["token"].index("FT_GLEENS")] == 1
    assert (row.ore, row.knowledge, row.credits, row.green) == (1, 1, 2, 1)
    assert table.vp(0, "ROUND_TILE") == 5 and row.formed == 0


def test_gle_04_the_token_pays_for_level_5_and_is_scored_again_by_twilight():
    table = at(institute().give(0, knowledge=4), 0, science=4).turn(0)
    assert table.play("advance science").player(0).green == 0
    table = own(institute(), 0, "TWILIGHT", qic=3, ore=0).turn(0)
    table = table.play("ship TWI_Q", "token FT_GLEENS")
    assert table.player(0).ore == 1 and table.vp(0, "ROUND_TILE") == 5


def test_gle_04_the_pi_can_still_be_in_a_federation():
    table = institute().place(0, "1,0", "TS").place(0, "0,1", "TS").turn(0)
    assert table.can("form_federation")
