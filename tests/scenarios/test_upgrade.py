"""Upgrades: price, pieces, what follows (UPG)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import own, piece, scene, upgraded


def home(structure="MINE", faction="TERRANS", planets=None, **setup):
    """A structure of player 0 at 0,0; 20 credits and 10 ore."""
    table = scene(faction, planets={"0,0": "Blue"} | (planets or {}), **setup)
    return table.place(0, "0,0", structure).give(0, credits=20, ore=10, power=(0, 0, 9))


@pytest.mark.parametrize(
    ("faction", "old", "new", "ore", "credits"),
    [
        ("TERRANS", "MINE", "TS", 2, 6),
        ("TERRANS", "TS", "RL", 3, 5),
        ("TERRANS", "TS", "PI", 4, 6),
        ("TERRANS", "RL", "AC_A", 6, 6),
        ("TERRANS", "RL", "AC_B", 6, 6),
        ("BESCODS", "TS", "RL", 3, 5),
        ("BESCODS", "TS", "AC_B", 6, 6),
        ("BESCODS", "RL", "PI", 4, 6),
    ],
)
def test_upg_01_paths_and_prices(faction, old, new, ore, credits):
    table = upgraded(home(old, faction), new)
    assert piece(table, "0,0") == new
    assert (table.player(0).ore, table.player(0).credits) == (10 - ore, 20 - credits)


@pytest.mark.parametrize(("old", "ore", "credits"), [("MINE", 2, 6), ("RL", 6, 6)])
def test_upg_01_the_whole_price_must_be_there(old, ore, credits):
    table = home(old).give(0, ore=ore, credits=credits)
    assert table.can("upgrade 0,0")
    assert not table.give(0, ore=ore - 1).can("upgrade 0,0")
    assert not table.give(0, credits=credits - 1).can("upgrade 0,0")


def test_upg_01_only_payable_pieces_are_offered():
    table = home("TS").play("upgrade 0,0")
    assert table.options() == {"piece RL", "piece PI"}
    poor = home("TS").give(0, ore=3).play("upgrade 0,0")
    assert piece(poor, "0,0") == "RL"  # no choice, no question


@pytest.mark.parametrize(
    ("faction", "old", "choices"),
    [
        ("TERRANS", "RL", {"piece AC_A", "piece AC_B"}),
        ("BESCODS", "TS", {"piece RL", "piece AC_A", "piece AC_B"}),
    ],
)
def test_upg_01_each_structure_has_its_own_next_ones(faction, old, choices):
    assert home(old, faction).play("upgrade 0,0").options() == choices


@pytest.mark.parametrize("last", ["PI", "AC_A", "AC_B"])
def test_upg_01_an_institute_or_academy_grows_no_further(last):
    assert not home(last).options("upgrade")


@pytest.mark.parametrize(
    ("old", "built"), [("MINE", (0, 1, 4, 0, 0, 0, 0)), ("RL", (0, 0, 0, 1, 0, 1, 1))]
)
def test_upg_02_a_piece_must_be_left(old, built):
    table = home(old)
    assert table.can("upgrade 0,0")
    assert not table.give(0, built=built).can("upgrade 0,0")


def test_upg_02_three_labs_and_one_institute():
    table = home("TS")
    assert piece(table.give(0, built=(0, 0, 1, 3, 0, 0, 0)).play("upgrade 0,0"), "0,0") == "PI"
    assert piece(table.give(0, built=(0, 0, 1, 0, 1, 0, 0)).play("upgrade 0,0"), "0,0") == "RL"


def test_upg_02_the_replaced_piece_returns():
    table = home(planets={"1,0": "Blue"}).give(0, built=(0, 8, 0, 0, 0, 0, 0))
    assert not table.can("mine 1,0")
    table = table.play("upgrade 0,0")
    assert table.player(0).built == (0, 7, 1, 0, 0, 0, 0)
    assert table.turn(0).can("mine 1,0")


@pytest.mark.parametrize(
    ("cell", "structure", "credits"),
    [
        ("1,0", "MINE", 3),
        ("2,0", "MINE", 3),
        ("3,0", "MINE", 6),
        ("2,0", "GAIAFORMER", 6),
        ("2,0", "SATELLITE", 6),
    ],
)
def test_upg_03_a_structure_of_another_within_two_gives_the_discount(cell, structure, credits):
    table = home(planets={cell: "Red"}).place(1, cell, structure).play("upgrade 0,0")
    assert table.player(0).credits == 20 - credits


def test_upg_03_own_structures_give_no_discount_a_guest_does():
    table = home(planets={"1,0": "Red"}).place(0, "1,0")
    assert table.play("upgrade 0,0").player(0).credits == 14
    table = scene("GEODENS", "LANTIDS", planets={"0,0": "Orange"}).place(0, "0,0")
    table = table.place(1, "0,0", "GUEST").give(0, credits=3, ore=2)
    assert table.play("upgrade 0,0").player(0).credits == 0


def test_upg_04_each_academy_once():
    table = home("RL").give(0, built=(0, 0, 0, 1, 0, 1, 0))
    assert piece(table.play("upgrade 0,0"), "0,0") == "AC_B"
    table = home("RL").give(0, built=(0, 0, 0, 1, 0, 0, 1))
    assert piece(table.play("upgrade 0,0"), "0,0") == "AC_A"


def test_upg_05_the_lost_planet_and_guests_are_not_upgradable():
    assert not home(planets={"0,0": "Lost"}).options("upgrade")
    table = scene("LANTIDS", planets={"0,0": "Red", "1,0": "Blue"}).place(1, "0,0")
    table = table.place(0, "0,0", "GUEST").place(0, "1,0").give(0, credits=20, ore=10)
    assert table.options("upgrade") == {"upgrade 1,0"}


@pytest.mark.parametrize(
    ("old", "new", "tile"),
    [("MINE", "TS", False), ("TS", "RL", True), ("TS", "PI", False), ("RL", "AC_A", True)],
)
def test_upg_06_a_lab_and_an_academy_give_a_tile(old, new, tile):
    assert (upgraded(home(old), new).node == Node.TILE) is tile


def test_upg_06_the_lab_of_twilight_gives_a_tile():
    table = own(home("TS"), 0, "TWILIGHT").play("ship TWI_P", "pick 0,0")
    assert piece(table, "0,0") == "RL" and table.node == Node.TILE


def test_upg_07_upgrades_are_leeched_free_ones_too():
    def near(structure, faction="TERRANS"):
        table = home(structure, faction, {"1,0": "Red", "0,1": "Black"}).place(1, "1,0", "TS")
        return own(table.give(1, power=(4, 0, 0)), 0, "REBELLION")

    assert near("MINE").play("upgrade 0,0").node == Node.LEECH
    assert near("MINE").play("ship REB_P", "pick 0,0").node == Node.LEECH
    firaks = near("RL", "FIRAKS").place(0, "0,1", "PI")
    assert firaks.play("special FACTION", "pick 0,0", "advance ai").node == Node.LEECH


@pytest.mark.parametrize(
    ("ship", "action", "old", "new"),
    [("REBELLION", "REB_P", "MINE", "TS"), ("TWILIGHT", "TWI_P", "TS", "RL")],
)
def test_upg_08_the_ships_upgrade_for_3_power_alone(ship, action, old, new):
    table = own(home(old), 0, ship).give(0, ore=0, credits=0, power=(0, 0, 3))
    assert not table.give(0, power=(0, 0, 2)).can(f"ship {action}")
    table = table.play(f"ship {action}", "pick 0,0")
    assert piece(table, "0,0") == new
    assert (table.player(0).ore, table.player(0).power) == (0, (3, 0, 0))


def test_act_17_a_free_upgrade_needs_an_own_ordinary_mine_and_a_piece():
    table = own(home(planets={"1,0": "Lost"}).place(0, "1,0"), 0, "REBELLION")
    assert table.play("ship REB_P").options() == {"pick 0,0"}
    assert not table.give(0, built=(0, 1, 4, 0, 0, 0, 0)).can("ship REB_P")
