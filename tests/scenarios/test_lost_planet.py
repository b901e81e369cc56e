"""The Lost Planet of navigation 5 (RES-07 to RES-09)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, own, piece, planet, scene

SHIPS = {"1,2", "4,-6", "-3,1", "8,-5"}


def at_navigation_4(faction="TERRANS", planets=None, start="Blue", **setup):
    """Player 0 with a mine at 0,0 can reach navigation 5."""
    table = scene(faction, planets={"0,0": start} | (planets or {}), **setup).place(0, "0,0")
    table = table.give(0, knowledge=4, qic=0, credits=0, ore=0, power=(0, 0, 0))
    return own(at(table, 0, navigation=4), 0, "FT_7VP_2O")


def placed(table, cell):
    """The player advances and places the Lost Planet."""
    return table.play("advance navigation", f"pick {cell}")


def test_res_07_an_empty_cell_within_the_range_of_level_5():
    table = at_navigation_4(planets={"1,0": "Red"}).play("advance navigation")
    assert table.node == Node.LOST_PLANET
    cells = set(table.near("0,0", 1, 4)) - SHIPS - {"1,0"}
    assert table.options() == {f"pick {cell}" for cell in cells}


def test_res_07_satellites_of_anyone_and_stations_block_a_cell():
    table = at_navigation_4("HIVES", start="Red").place(0, "1,0", "SATELLITE")
    table = table.place(1, "0,1", "SATELLITE").place(0, "-1,0", "STATION")
    table = table.play("advance navigation")
    assert not table.options() & {"pick 1,0", "pick 0,1", "pick -1,0"}
    assert table.can("pick 0,-1")


def test_res_07_qic_and_the_ship_tile_reach_farther():
    table = at_navigation_4()
    assert not table.play("advance navigation").can("pick 5,0")
    near = own(table, 0, "LF-NAV+1").play("advance navigation")
    assert near.can("pick 5,0") and not near.can("pick 6,0")
    far = table.give(0, qic=1).play("advance navigation")
    assert far.can("pick 6,0") and not far.can("pick 7,0")
    assert far.play("pick 6,0").player(0).qic == 0


def test_res_07_the_placement_is_mandatory():
    assert not at_navigation_4().play("advance navigation").can("skip")


def test_res_07_without_an_empty_cell_nothing_is_placed():
    near = at_navigation_4().near("0,0", 1, 4)
    table = at_navigation_4(planets=dict.fromkeys(set(near) - SHIPS, "Transdim"))
    table = table.play("advance navigation")
    assert table.node == Node.AFTER or table.decider == 1
    assert table.player(0).tracks[1] == 5 and table.player(0).green == 0


def test_res_08_it_counts_as_a_mine_of_the_type_lost():
    table = placed(at_navigation_4(), "3,0")
    row = table.player(0)
    assert planet(table, "3,0") == "Lost" and piece(table, "3,0") == "MINE"
    assert row.colonized[table.env.ruleset.ids["planet"].index("Lost")] == 1
    assert (row.built[1], row.satellites) == (1, 0)  # no piece of the board, no satellite


def test_res_08_it_needs_no_mine_piece():
    table = at_navigation_4().give(0, built=(0, 8, 0, 0, 0, 0, 0))
    assert piece(placed(table, "3,0"), "3,0") == "MINE"


@pytest.mark.parametrize(
    ("mission", "cell", "vp"),
    [
        ("RM-MINE-2VP", "2,0", 2),
        ("RM-DIV-3VP", "2,0", 3),
        ("RM-SECTOR-3VP", "3,0", 3),
        ("RM-SECTOR-3VP", "1,0", 0),
        ("RM-TF-2VP", "2,0", 0),
        ("RM-GAIA-3VP", "2,0", 0),
    ],
)
def test_res_08_the_round_tiles_that_score_it(mission, cell, vp):
    # 3,0 is in sector 5, the others in the sector of the mine.
    assert placed(at_navigation_4(mission=mission), cell).vp(0, "ROUND_TILE") == vp


def test_res_08_the_tile_for_mines_scores_it():
    assert placed(own(at_navigation_4(), 0, "MINE-3VP-BUILD"), "3,0").vp(0, "ADVANCED_TILE") == 3


def test_res_08_the_geodens_learn_from_it_after_their_institute():
    table = at_navigation_4("GEODENS", {"1,0": "Orange"}, "Orange")
    assert placed(table, "3,0").player(0).knowledge == 0
    assert placed(table.place(0, "1,0", "PI"), "3,0").player(0).knowledge == 3


@pytest.mark.parametrize(("cell", "knowledge"), [("3,0", 1), ("2,0", 0), ("2,4", 0), ("2,-3", 0)])
def test_res_08_the_darkanians_learn_in_a_new_main_sector_alone(cell, knowledge):
    # 2,0 is their own sector, 2,4 a deep one, 2,-3 interspace.
    table = at_navigation_4("DARKANIANS", {"1,0": "Red"}, "Asteroid").place(0, "1,0", "PI")
    table = placed(table.give(0, qic=1), cell)
    assert (table.player(0).knowledge, table.player(0).credits) == (knowledge, 2 * knowledge)


def test_res_08_others_leech_from_it():
    table = at_navigation_4(planets={"5,0": "Red"}).place(1, "5,0", "TS").give(1, power=(4, 0, 0))
    table = placed(table, "3,0")
    assert table.node == Node.LEECH and table.decider == 1
    assert table.play("leech CHARGE").player(1).power == (2, 2, 0)


def test_lee_05_upgrade_free_mine_and_lost_planet_are_three_events():
    table = at_navigation_4(planets={"1,0": "Red", "-1,0": "Blue"})
    table = own(table.place(0, "0,0", "TS"), 0, "ECLIPSE").place(1, "1,0", "TS")
    table = table.give(0, ore=3, credits=5, built=(0, 0, 1, 0, 1, 0, 0)).give(1, power=(9, 0, 0))
    table = table.play("upgrade 0,0", "tile LF-TF2-FREE-MINE", "pick -1,0", "advance navigation")
    assert table.node == Node.LOST_PLANET
    table = table.play("pick 0,1", "leech CHARGE", "leech DECLINE", "leech CHARGE")
    assert table.node != Node.LEECH
    assert (table.player(1).power, table.vp(1, "LEECH")) == ((5, 4, 0), -2)


def test_fed_07_it_joins_a_federation_beside_it():
    table = at_navigation_4().place(0, "0,0", "FEDERATED").give(0, formed=1)
    federated = placed(table, "1,0").game.board.federated[0]
    assert federated[table.cell("1,0")]
    assert not placed(table, "2,0").game.board.federated[0][table.cell("2,0")]


def test_res_08_it_has_power_1_when_its_owner_leeches():
    table = scene("TERRANS", planets={"0,0": "Lost", "1,0": "Yellow"}).place(0, "0,0")
    table = table.place(1, "1,0").give(1, credits=9, ore=9).give(0, power=(4, 0, 0)).turn(1)
    assert table.play("upgrade 1,0").player(0).power == (3, 1, 0)


def test_res_08_it_earns_no_income_and_is_not_upgraded():
    table = placed(at_navigation_4(), "3,0").give(0, credits=20, ore=9).turn(0)
    assert table.options("upgrade") == {"upgrade 0,0"}


@pytest.mark.parametrize(("cell", "bit"), [("2,4", 11), ("3,0", 4), ("2,-3", None)])
def test_res_09_it_stands_in_the_sector_of_its_cell(cell, bit):
    table = placed(at_navigation_4().give(0, qic=1), cell)
    home = 1 << 0
    assert table.player(0).sectors == (home if bit is None else home | 1 << bit)
