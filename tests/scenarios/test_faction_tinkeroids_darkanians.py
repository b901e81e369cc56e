"""The Tinkeroids: a tinkering tile each round, hard colours. The Darkanians: new main sectors."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, last_to_pass, own, piece, scene

NEAR = {"0,0": "Asteroid", "1,0": "Red", "0,1": "Yellow", "-1,0": "Gaia", "-1,1": "White"}
RICH = {"credits": 20, "ore": 15, "knowledge": 0, "qic": 0, "power": (4, 0, 0)}
EARLY = {"tinkering TK-EARLY-PW4", "tinkering TK-EARLY-TF1", "tinkering TK-EARLY-QIC1"}
LATE = {"tinkering TK-LATE-TF3", "tinkering TK-LATE-QIC3", "tinkering TK-LATE-KN3"}


def tinkeroids(tile=None, *, round=1, mission="RM-FED-5VP", **fields):
    """Tinkeroids with their PI at 0,0 and the tile of this round; 3 steps to Red, Yellow, Blue."""
    table = scene(
        "TINKEROIDS",
        "HADSCH_HALLAS",
        "XENOS",
        "TERRANS",
        planets=NEAR,
        round=round,
        mission=mission,
    )
    index = -1 if tile is None else table.env.ruleset.ids["tinkering"].index(tile)
    return table.place(0, "0,0", "PI").give(0, **(RICH | {"tinkering": index} | fields)).turn(0)


def new_round(table):
    """The round ends; the Tinkeroids are the last to pass."""
    return last_to_pass(table).play("booster RB5")


def test_tin_01_a_tile_is_chosen_at_the_start_of_the_round_before_income():
    table = new_round(tinkeroids(ore=0))
    assert table.node == Node.TINKERING and table.decider == 0
    assert table.player(0).ore == 0 and table.options() == EARLY
    table = table.play("tinkering TK-EARLY-QIC1")
    assert table.node != Node.TINKERING and table.player(0).ore > 0


@pytest.mark.parametrize("used, offered", [(0b001, 2), (0b011, 1)])
def test_tin_01_each_tile_once_and_the_third_is_forced(used, offered):
    table = new_round(tinkeroids(tinkered=used))
    assert len(table.options()) == offered and table.options() < EARLY
    assert table.node == Node.TINKERING  # a decision even with one tile


def test_tin_01_rounds_4_to_6_have_the_late_tiles():
    assert new_round(tinkeroids(round=3, tinkered=0b111)).options() == LATE
    assert new_round(tinkeroids(round=2, tinkered=0b001)).options() < EARLY


def test_a6_a_tile_not_used_is_gone_after_the_round():
    table = new_round(tinkeroids("TK-EARLY-PW4", tinkered=0b001))
    assert "tinkering TK-EARLY-PW4" not in table.options()
    assert table.player(0).tinkering == -1


@pytest.mark.parametrize(
    "tile, gained",
    [
        ("TK-EARLY-PW4", {"power": (0, 4, 0)}),
        ("TK-EARLY-QIC1", {"qic": 1}),
        ("TK-LATE-QIC3", {"qic": 3}),
        ("TK-LATE-KN3", {"knowledge": 3}),
    ],
)
def test_tin_04_the_plain_tiles_work_at_once_and_once_a_round(tile, gained):
    table = tinkeroids(tile, round=5 if "LATE" in tile else 1).play("special FACTION")
    assert {name: getattr(table.player(0), name) for name in gained} == gained
    assert not table.turn(0).can("special FACTION")


def test_act_11_no_tile_no_special():
    assert not tinkeroids().can("special FACTION")
    assert tinkeroids("TK-EARLY-QIC1").can("special FACTION")
    assert not tinkeroids("TK-EARLY-QIC1").turn(1).can("special FACTION")


@pytest.mark.parametrize(
    "tile, cell, ore",
    [("TK-EARLY-TF1", "1,0", 7), ("TK-EARLY-TF1", "-1,1", 1), ("TK-LATE-TF3", "1,0", 1)],
)
def test_tin_03_the_tf_tiles_build_a_mine_with_free_steps(tile, cell, ore):
    table = tinkeroids(tile, round=4, ore=ore, credits=2)
    row = table.play("special FACTION", f"pick {cell}").player(0)
    assert (row.ore, row.credits) == (0, 0)
    poor = table.give(0, ore=ore - 1).turn(0)
    assert not poor.can("special FACTION") or not poor.play("special FACTION").can(f"pick {cell}")


def test_min_21_three_colours_take_3_steps_and_four_take_1():
    for cell, ore in (("1,0", 10), ("0,1", 10), ("-1,1", 4)):  # Red, Yellow, White
        table = tinkeroids(ore=ore)
        assert table.can(f"mine {cell}")
        assert not table.give(0, ore=ore - 1).turn(0).can(f"mine {cell}")


def steps(table, player):
    """The colours that take the player 3 steps."""
    planets = table.env.ruleset.ids["planet"]
    return {planets[i] for i in range(1, 8) if int(table.game.steps[player, i]) == 3}


def test_ini_09_the_homes_of_three_opponents_are_the_hard_colours():
    assert steps(tinkeroids(), 0) == {"Red", "Yellow", "Blue"}


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 0, 2, 3]])
def test_ini_09_with_moweyds_each_fills_up_with_a_colour_of_his_own_in_turn_order(order):
    colours = ["Yellow", "Black", "Blue", "Brown", "Red", "Orange", "White"]
    table = scene(
        "TINKEROIDS",
        "MOWEYDS",
        "XENOS",
        "TERRANS",
        planets=NEAR,
        turn_order=order,
        colour_order=colours,
    )
    assert steps(table, order[0]) == {"Yellow", "Blue", "Black"}
    assert steps(table, order[1]) == {"Yellow", "Blue", "Brown"}


def test_ini_09_the_steps_are_paid_by_either():
    table = scene("TINKEROIDS", "MOWEYDS", "XENOS", "TERRANS", planets=NEAR)
    table = table.planet("2,0", "Black").place(0, "0,0", "PI").place(1, "3,0")
    for player, hard, easy in ((0, "1,0", "-1,1"), (1, "2,0", "4,0")):
        table = table.planet("4,0", "Brown").give(player, ore=4, credits=2, qic=0)
        table = at(table, player).turn(player)  # Red is hard for the first, Black for the second
        assert table.can(f"mine {easy}") and not table.can(f"mine {hard}")
        assert table.give(player, ore=10).turn(player).can(f"mine {hard}")


def test_rms_03_a_hard_colour_scores_three_steps():
    table = tinkeroids(mission="RM-TF-2VP").play("mine 1,0")
    assert table.vp(0, "ROUND_TILE") == 6
    assert tinkeroids(mission="RM-TF-2VP").play("mine -1,1").vp(0, "ROUND_TILE") == 2


def darkanians(structure="PI", *items, mission="RM-FED-5VP", **fields):
    """Darkanians with a structure at 0,0 in main sector 1, rich but for QIC and knowledge."""
    table = scene("DARKANIANS", "AMBAS", planets=NEAR, mission=mission).place(0, "0,0", structure)
    return own(table, 0, *items, **(RICH | {"tracks": (0,) * 6} | fields)).turn(0)


def gains(table, text):
    """Knowledge and credits that an action brings on top of the 2 credits of a mine."""
    before, after = table.player(0), table.play(*text.split(", ")).player(0)
    return after.knowledge - before.knowledge, after.credits - before.credits + 2


FAR = {"3,0": "Red", "4,0": "Red", "2,4": "Red", "3,-1": "Red"}  # sector 5, deep, interspace


def far(table, *cells):
    """The table with Red planets on cells of other sectors."""
    for cell in cells:
        table = table.planet(cell, FAR[cell])
    return table.give(0, qic=4).turn(0)


def test_dar_01_a_mine_in_a_new_main_sector_brings_a_knowledge_and_2_credits():
    assert gains(far(darkanians(), "3,0"), "mine 3,0") == (1, 2)
    assert gains(far(darkanians("AC_A"), "3,0"), "mine 3,0") == (0, 0)  # without the PI


def test_dar_01_not_in_a_sector_with_an_own_structure():
    assert gains(darkanians(), "mine 1,0") == (0, 0)
    table = far(darkanians(), "3,0", "4,0").play("mine 3,0").turn(0)
    assert gains(table, "mine 4,0") == (0, 0)


@pytest.mark.parametrize("cell", ["2,4", "3,-1"])
def test_dar_01_deep_sectors_and_interspace_bring_nothing(cell):
    assert gains(far(darkanians(), cell), f"mine {cell}") == (0, 0)


def test_dar_01_a_sector_of_others_is_new_all_the_same():
    table = far(darkanians(), "3,0", "4,0").place(1, "4,0").give(1, power=(0, 0, 9))
    assert gains(table.turn(0), "mine 3,0") == (1, 2)


def test_dar_01_an_upgrade_brings_nothing():
    table = darkanians().place(0, "1,0").turn(0).play("upgrade 1,0")
    assert table.player(0).knowledge == 0


@pytest.mark.parametrize("colour", ["Red", "Orange", "Yellow", "Brown", "Black", "White", "Blue"])
def test_dar_02_every_colour_takes_1_step(colour):
    table = darkanians(ore=4, credits=2).planet("1,0", colour).turn(0)
    assert table.play("mine 1,0").player(0).ore == 0
    assert not table.give(0, ore=3).turn(0).can("mine 1,0")


def test_dar_02_a_gaia_planet_takes_2_qic_and_no_step():
    assert not darkanians(qic=1).can("mine -1,0")
    table = darkanians(qic=2, mission="RM-TF-2VP").play("mine -1,0")
    assert table.player(0).qic == 0 and table.player(0).ore == 14
    assert table.vp(0, "ROUND_TILE") == 0 and piece(table, "-1,0") == "MINE"
