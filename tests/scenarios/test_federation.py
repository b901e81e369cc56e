"""Federations: what is legal, what is laid, what is paid (FED-01 to FED-14)."""

import numpy as np
import pytest

from gaia_jax.state import GAIA_AREA, NO_BRAINSTONE, Node
from tests.scenarios.scene import camp, form, own, scene


def laid(table):
    """The cells with a satellite of player 0."""
    board = table.game.board.satellite[0]
    cells = table.env.ruleset.geometry.cells
    return {f"{q},{r}" for q, r in cells[np.flatnonzero(board)].tolist()}


def joined(table, cell, player=0):
    """Whether the player's structure there is in one of their federations."""
    return bool(table.game.board.federated[player][table.cell(cell)])


TOUCHING = {"0,0": "PI", "1,0": "AC_A", "2,0": "MINE"}


def test_fed_01_seven_power_that_touch_need_no_satellite():
    table = camp(TOUCHING).give(0, power=(0, 0, 0))
    table = form(table, "0,0")
    assert table.node == Node.TOKEN
    assert laid(table) == set() and all(joined(table, cell) for cell in TOUCHING)


def test_fed_01_six_power_are_too_few():
    assert not camp({"0,0": "PI", "1,0": "AC_A"}).can("form_federation")


def test_fed_01_a_structure_of_another_does_not_count():
    table = camp({"0,0": "PI", "1,0": "AC_A"}, planets={"2,0": "Red"}).place(1, "2,0")
    assert not table.can("form_federation")


# Power 3, 3, 2 and 1 on a line, a gap of one cell between them.
LINE = {"0,0": "PI", "2,0": "AC_A", "4,0": "TS", "6,0": "MINE"}


def test_fed_02_no_structure_that_could_be_missed():
    table = camp(LINE)
    assert table.play("form_federation").options("pick") == {f"pick {cell}" for cell in LINE}
    mine = table.play("form_federation", "pick 6,0")
    assert mine.options("pick") == {"pick 0,0", "pick 2,0"}  # 1 + 2 + 3 + 3 could miss the mine


def test_fed_02_the_picks_commit_as_soon_as_they_are_legal():
    table = form(camp(LINE), "0,0", "2,0", "4,0")
    assert table.node == Node.TOKEN
    assert laid(table) == {"1,0", "3,0"}
    assert joined(table, "4,0") and not joined(table, "6,0")


def test_fed_02_a_group_of_touching_structures_is_taken_whole():
    table = camp({"0,0": "PI", "1,0": "AC_A", "3,0": "TS", "4,0": "MINE"})
    assert table.play("form_federation").options("pick") == {"pick 0,0", "pick 3,0"}


@pytest.mark.parametrize(("far", "satellites"), [("3,0", 1), ("4,0", 2), ("5,0", 3)])
def test_fed_03_the_fewest_satellites_that_connect(far, satellites):
    table = camp({"0,0": "PI", "1,0": "TS", far: "AC_A"})
    assert not table.give(0, power=(satellites - 1, 0, 0)).can("form_federation")
    table = form(table.give(0, power=(satellites, 0, 0)), "0,0", far)
    assert len(laid(table)) == satellites == table.player(0).satellites
    assert table.player(0).power == (0, 0, 0)


# Between 0,0 and 1,1 lie 1,0 and 0,1 alone; 2,-1 touches the first, -1,2 the second.
BENT = {"-1,0": "RL", "0,0": "PI", "1,1": "AC_A"}


@pytest.mark.parametrize(("bystander", "satellite"), [("2,-1", "0,1"), ("-1,2", "1,0")])
def test_fed_03_of_the_minimum_sets_one_that_absorbs_least(bystander, satellite):
    table = form(camp(BENT | {bystander: "MINE"}), "-1,0", "1,1")
    assert laid(table) == {satellite} and not joined(table, bystander)


def test_fed_03_the_choice_does_not_hang_on_the_order_of_the_picks():
    assert laid(form(camp(BENT), "-1,0", "1,1")) == laid(form(camp(BENT), "1,1", "-1,0"))


def test_fed_04_no_satellite_on_a_planet():
    table = camp({"-1,0": "TS", "0,0": "PI", "2,0": "AC_A"}, planets={"1,0": "Blue"})
    assert not table.give(0, power=(1, 0, 0)).can("form_federation")
    assert len(laid(form(table, "-1,0", "2,0"))) == 2


def test_fed_04_no_satellite_on_a_ship():
    table = camp({"-5,1": "TS", "-4,1": "PI", "-2,1": "AC_A"})  # Rebellion is at -3,1
    assert not table.give(0, power=(1, 0, 0)).can("form_federation")
    assert len(laid(form(table, "-5,1", "-2,1"))) == 2


def test_fed_04_no_satellite_on_the_lost_planet():
    table = camp({"-1,0": "TS", "0,0": "PI", "2,0": "AC_A"}, planets={"1,0": "Lost"})
    assert len(laid(form(table.place(1, "1,0"), "-1,0", "2,0"))) == 2


def test_fed_04_satellites_and_stations_of_others_do_not_matter():
    table = camp({"-1,0": "TS", "0,0": "PI", "2,0": "AC_A", "4,0": "MINE"})
    table = table.place(1, "1,0", "SATELLITE").place(1, "1,0", "STATION").give(0, power=(1, 0, 0))
    assert laid(form(table, "-1,0", "2,0")) == {"1,0"}


def test_fed_05_no_satellite_beside_an_own_federation():
    table = camp(BENT | {"2,-1": "MINE", "-1,2": "MINE"})
    free = table.give(0, power=(1, 0, 0))
    assert laid(form(free.place(0, "2,-1", "FEDERATED"), "-1,0", "1,1")) == {"0,1"}
    assert laid(form(free.place(0, "-1,2", "FEDERATED"), "-1,0", "1,1")) == {"1,0"}
    both = free.place(0, "2,-1", "FEDERATED").place(0, "-1,2", "FEDERATED")
    assert not both.can("form_federation")


def test_fed_05_no_satellite_beside_a_satellite_of_an_own_federation():
    table = camp(BENT).give(0, power=(1, 0, 0)).place(0, "2,-1", "SATELLITE")
    assert laid(form(table, "-1,0", "1,1")) == {"2,-1", "0,1"}
    assert not table.place(0, "-1,2", "SATELLITE").can("form_federation")
    assert table.place(1, "-1,2", "SATELLITE").can("form_federation")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((3, 2, 2), (1, 2, 2)),
        ((1, 2, 2), (0, 1, 2)),
        ((0, 1, 2), (0, 0, 1)),
        ((0, 0, 2), (0, 0, 0)),
    ],
)
def test_fed_06_satellites_take_tokens_of_the_lowest_bowls(before, after):
    table = camp({"0,0": "PI", "1,0": "TS", "4,0": "AC_A"}).give(0, power=before)
    assert form(table, "0,0", "4,0").player(0).power == after


def test_fed_06_tokens_in_the_gaia_area_do_not_pay():
    table = camp({"0,0": "PI", "1,0": "TS", "4,0": "AC_A"})
    assert not table.give(0, power=(0, 0, 1), gaia_power=9).can("form_federation")


def test_fed_06_the_brainstone_goes_last():
    table = camp({"0,0": "PI", "1,0": "TS", "4,0": "AC_A"}, "TAKLONS").give(0, brainstone=0)
    with_two = form(table.give(0, power=(0, 0, 2)), "0,0", "4,0").player(0)
    assert (with_two.power, with_two.brainstone) == ((0, 0, 0), 0)
    with_one = form(table.give(0, power=(0, 0, 1)), "0,0", "4,0").player(0)
    assert (with_one.power, with_one.brainstone) == ((0, 0, 0), NO_BRAINSTONE)
    away = table.give(0, power=(0, 0, 1), brainstone=GAIA_AREA)
    assert not away.can("form_federation")


def test_fed_07_what_touches_a_new_federation_joins_it():
    structures = {"0,0": "PI", "1,0": "TS", "4,0": "AC_A", "2,1": "MINE", "5,2": "MINE"}
    table = form(camp(structures), "0,0", "4,0")
    assert laid(table) == {"2,0", "3,0"}
    # 2,1 touches both satellites; 5,2 touches nothing.
    assert joined(table, "2,1") and not joined(table, "5,2")


def test_fed_07_what_is_built_beside_a_federation_joins_it_and_is_used_up():
    structures = TOUCHING | {"4,0": "MINE"}
    table = camp(structures, planets={"3,0": "Blue"})
    table = table.place(0, list(TOUCHING), "FEDERATED")
    table = table.give(0, ore=9, credits=9, formed=1).play("mine 3,0")
    assert joined(table, "3,0") and joined(table, "4,0")  # until nothing more touches


def test_fed_08_an_own_structure_outside_the_federation_is_no_bridge():
    # 5 + 3 power with a mine in the middle of the only straight line.
    structures = {"-1,0": "RL", "0,0": "PI", "2,0": "MINE", "4,0": "AC_A"}
    table = camp(structures)
    assert not table.give(0, power=(3, 0, 0)).can("form_federation")
    table = form(table.give(0, power=(4, 0, 0)), "-1,0", "4,0")
    assert len(laid(table)) == 4 and joined(table, "2,0")


@pytest.mark.parametrize(
    ("structures", "legal"),
    [
        (("PI", "TS", "RL"), True),
        (("PI", "TS", "MINE"), False),
        (("AC_A", "AC_B", "MINE"), True),
        (("PI", "RL", "MINE"), False),
        (("TS", "TS", "TS", "MINE"), True),
        (("RL", "RL", "MINE", "MINE"), False),
    ],
)
def test_fed_09_the_power_of_structures(structures, legal):
    table = camp({f"{q},0": structure for q, structure in enumerate(structures)})
    assert table.can("form_federation") is legal


def test_fed_09_the_tile_makes_institute_and_academies_worth_4():
    table = camp({"0,0": "PI", "1,0": "AC_A"})
    tile = own(table, 0, "BT8_PIAC_4")
    assert tile.can("form_federation") and not table.can("form_federation")
    assert not tile.give(0, covered=tile.player(0).tiles).can("form_federation")


def test_fed_09_the_lost_planet_has_power_1():
    table = camp({"0,0": "PI", "1,0": "AC_A", "2,0": "MINE"}, planets={"2,0": "Lost"})
    assert table.can("form_federation")


def test_fed_13_membership_stays_on_the_cell_when_the_ambas_swap():
    table = camp(TOUCHING | {"5,0": "MINE"}, "AMBAS")
    table = table.place(0, list(TOUCHING), "FEDERATED")
    table = table.play("special FACTION", "pick 5,0")
    board = table.game.board
    assert int(board.structure[table.cell("5,0")]) == 4  # the institute
    assert joined(table, "0,0") and not joined(table, "5,0")


def test_fed_14_host_and_guest_have_their_own_federations():
    table = scene("LANTIDS", planets=dict.fromkeys(TOUCHING, "Red"))
    for cell, structure in TOUCHING.items():
        table = table.place(1, cell, structure).place(1, cell, "FEDERATED")
    table = table.place(0, "2,0", "GUEST").planet("3,0", "Red").planet("4,0", "Red")
    table = table.place(0, "3,0", "PI").place(0, "4,0", "AC_A").give(0, power=(0, 0, 0))
    assert table.can("form_federation")  # 1 + 3 + 3
    table = form(table, "2,0")
    assert joined(table, "2,0", 0) and joined(table, "2,0", 1) and not joined(table, "0,0", 0)


def test_fed_20_without_a_token_there_is_no_federation():
    table = camp(TOUCHING)
    empty = table.set_turn(token_supply=(0,) * 6)
    assert not empty.can("form_federation")
    ship = own(empty, 0, "ECLIPSE")
    assert ship.can("form_federation")
    assert form(ship, "0,0").options() == {"token ECLIPSE"}
    assert not ship.set_turn(ship_tokens=0b1101).can("form_federation")
    assert table.set_turn(token_supply=(0,) * 5 + (1,)).can("form_federation")


def test_fed_24_every_pick_leads_to_a_federation():
    table = camp(LINE | {"0,2": "TS"})
    options = table.play("form_federation").options()
    assert options and all(text.startswith("pick") for text in options)
    for first in options:
        once = table.play("form_federation", first)
        assert once.options() and "skip" not in once.options()
        for second in once.options():
            assert once.play(second).node in (Node.FEDERATION, Node.TOKEN)
