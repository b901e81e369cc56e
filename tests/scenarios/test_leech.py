"""Charging power when others build (LEE)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import own, piece, scene


def neighbours(
    structure="TS", *, cell="1,0", faction="XENOS", planets=None, mover="TERRANS", **setup
):
    """Player 0 has a mine at 0,0 to upgrade; player 1 a structure at `cell`, 4 tokens in bowl I."""
    planets = {"0,0": "Blue", cell: "Red"} | (planets or {})
    table = scene(mover, faction, planets=planets, **setup).place(0, "0,0")
    table = table.place(1, cell, structure).give(0, credits=20, ore=10, power=(0, 0, 0), qic=0)
    return table.give(1, power=(4, 0, 0), vp=10)


def upgrade(table):
    """Player 0 builds a trading station at 0,0."""
    return table.play("upgrade 0,0")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((4, 0, 0), (1, 3, 0)),
        ((2, 0, 0), (0, 1, 1)),
        ((2, 2, 0), (0, 3, 1)),
        ((0, 2, 2), (0, 0, 4)),
        ((1, 0, 5), (0, 0, 6)),
    ],
)
def test_lee_01_a_token_may_move_twice_in_one_charge(before, after):
    table = upgrade(neighbours("PI").give(1, power=before)).play("leech CHARGE")
    assert table.player(1).power == after


@pytest.mark.parametrize(("structure", "vp"), [("TS", 1), ("RL", 1), ("PI", 2), ("AC_A", 2)])
def test_lee_02_charging_costs_a_vp_less_than_the_power(structure, vp):
    table = upgrade(neighbours(structure))
    assert (table.node, table.decider) == (Node.LEECH, 1)
    assert table.options() == {"leech CHARGE", "leech DECLINE"}
    yes, no = table.play("leech CHARGE"), table.play("leech DECLINE")
    assert yes.player(1).power == (4 - vp - 1, vp + 1, 0)
    assert (yes.player(1).vp, yes.vp(1, "LEECH")) == (10 - vp, -vp)
    assert (no.player(1).power, no.player(1).vp) == ((4, 0, 0), 10)


def test_lee_02_the_most_powerful_structure_within_two_counts_alone():
    table = neighbours("MINE", planets={"2,0": "Red", "3,0": "Red"})
    table = table.place(1, "2,0", "TS").place(1, "3,0", "PI")
    assert upgrade(table).play("leech CHARGE").player(1).power == (2, 2, 0)


@pytest.mark.parametrize(("vp", "charged"), [(5, 3), (2, 3), (1, 2)])
def test_lee_02_a_poor_player_charges_only_what_his_vp_allow(vp, charged):
    table = upgrade(neighbours("PI").give(1, vp=vp)).play("leech CHARGE").player(1)
    assert (table.power, table.vp) == ((4 - charged, charged, 0), vp - charged + 1)


def test_lee_02_without_vp_one_power_is_free():
    table = upgrade(neighbours("PI").give(1, vp=0))
    assert table.node != Node.LEECH
    assert (table.player(1).power, table.player(1).vp) == ((3, 1, 0), 0)


@pytest.mark.parametrize(("power", "vp"), [((1, 0, 0), 9), ((0, 2, 3), 9), ((1, 1, 0), 8)])
def test_lee_02_capacity_limits_the_charge(power, vp):
    table = upgrade(neighbours("PI").give(1, power=power)).play("leech CHARGE")
    assert table.player(1).vp == vp
    assert table.player(1).power == (0, 0, sum(power))


def test_lee_02_with_full_bowls_there_is_no_offer():
    table = upgrade(neighbours("PI").give(1, power=(0, 0, 9)))
    assert table.node == Node.AFTER and table.player(1).vp == 10


def test_lee_03_one_power_is_free_and_comes_by_itself():
    table = upgrade(neighbours("MINE"))
    assert table.node == Node.AFTER
    assert (table.player(1).power, table.player(1).vp) == ((3, 1, 0), 10)
    last = upgrade(neighbours("PI").give(1, power=(0, 1, 0)))
    assert last.node == Node.AFTER and last.player(1).power == (0, 0, 1)


def test_a20_itars_with_their_institute_decide_on_free_power():
    table = neighbours("MINE", faction="ITARS", planets={"7,0": "White"}).give(1, power=(0, 2, 0))
    decision = upgrade(table.place(1, "7,0", "PI"))
    assert (decision.node, decision.decider) == (Node.LEECH, 1)
    assert decision.options() == {"leech CHARGE", "leech DECLINE"}
    assert decision.play("leech CHARGE").player(1).power == (0, 1, 1)
    declined = decision.play("leech DECLINE").player(1)
    assert (declined.power, declined.vp) == ((0, 2, 0), 10)
    without = upgrade(table)
    assert without.node == Node.AFTER and without.player(1).power == (0, 1, 1)


def test_a20_nobody_else_is_asked():
    other = neighbours("MINE", faction="NEVLAS", planets={"7,0": "White"}).place(1, "7,0", "PI")
    assert upgrade(other).node == Node.AFTER


def test_lee_04_players_are_asked_in_turn_order_after_the_active_one():
    planets = {"0,1": "Red", "-1,0": "Red"}
    table = neighbours(planets=planets).place(2, "0,1", "TS").place(3, "-1,0", "TS")
    for player in (2, 3):
        table = table.give(player, power=(4, 0, 0))
    table = table.set_turn(order=(3, 0, 2, 1))
    table = upgrade(table.turn(0))
    deciders = []
    while table.node == Node.LEECH:
        deciders.append(table.decider)
        table = table.play("leech DECLINE")
    assert deciders == [2, 1, 3]


def test_lee_04_passed_players_are_asked():
    table = upgrade(neighbours().set_turn(passed=(0, 1, 0, 0)).turn(0))
    assert (table.node, table.decider) == (Node.LEECH, 1)


def test_a13_a_free_offer_waits_behind_an_open_one():
    table = neighbours(planets={"0,1": "Red"}).place(2, "0,1").give(2, power=(4, 0, 0))
    table = upgrade(table)
    assert table.decider == 1 and table.player(2).power == (4, 0, 0)
    table = table.play("leech DECLINE")
    assert table.node == Node.AFTER and table.player(2).power == (3, 1, 0)


def test_lee_05_the_offer_waits_for_the_tile_and_comes_before_the_end_of_the_turn():
    table = upgrade(neighbours().place(0, "0,0", "TS").give(0, built=(0, 0, 1, 0, 1, 0, 0)))
    assert piece(table, "0,0") == "RL" and table.node == Node.TILE
    table = table.play("tile BT9_7VP", "advance ai")
    assert table.node == Node.LEECH
    table = table.play("leech CHARGE")
    assert table.node == Node.AFTER and table.decider == 0


def test_lee_05_two_events_are_two_offers_and_bowls_are_read_at_the_second():
    table = neighbours(planets={"-1,0": "Orange"}).place(0, "0,0", "TS")
    table = own(table, 0, "ECLIPSE").give(0, built=(0, 0, 1, 0, 1, 0, 0))
    table = upgrade(table).play("tile LF-TF2-FREE-MINE", "pick -1,0", "advance ai")
    both = table.play("leech CHARGE")
    assert both.node == Node.LEECH
    assert both.play("leech CHARGE").player(1).power == (0, 4, 0)
    # One token: 2 power bring it to bowl III, and the mine has nothing to charge.
    once = table.give(1, power=(1, 0, 0)).play("leech CHARGE")
    assert once.node == Node.AFTER and once.player(1).power == (0, 0, 1)


def test_lee_06_the_tile_makes_institute_and_academies_worth_4():
    table = own(neighbours("PI"), 1, "BT8_PIAC_4")
    assert upgrade(table).play("leech CHARGE").player(1).vp == 7
    covered = table.give(1, covered=table.player(1).tiles)
    assert upgrade(covered).play("leech CHARGE").player(1).vp == 8


@pytest.mark.parametrize("kind", ["STATION", "GAIAFORMER", "SATELLITE"])
def test_lee_06_only_structures_charge(kind):
    table = neighbours("MINE", cell="5,0", planets={"1,0": "Red"}).place(1, "1,0", kind)
    table = upgrade(table)
    assert table.node == Node.AFTER and table.player(1).power == (4, 0, 0)


def test_fed_11_ring_and_bescods_bonus_are_not_for_leech():
    ring = neighbours("TS", faction="MOWEYDS").place(1, "1,0", "RING")
    assert upgrade(ring).play("leech CHARGE").player(1).power == (2, 2, 0)
    black = neighbours("TS", faction="BESCODS", planets={"1,0": "Black", "5,0": "Black"})
    black = black.place(1, "5,0", "PI")
    assert upgrade(black).play("leech CHARGE").player(1).power == (2, 2, 0)


def taklons(structure="TS", institute=True, **given):
    """The Taklons are player 1, their institute out of reach."""
    table = neighbours(structure, faction="TAKLONS", planets={"7,0": "Brown"})
    table = table.place(1, "7,0", "PI") if institute else table
    return table.give(1, **({"brainstone": -1} | given))


def test_lee_07_the_taklons_choose_the_order_of_token_and_charge():
    table = upgrade(taklons("PI", power=(0, 1, 0)))
    assert table.options() == {"leech CHARGE", "leech TOKEN_FIRST", "leech DECLINE"}
    first = table.play("leech TOKEN_FIRST").player(1)
    assert (first.power, first.vp) == ((0, 0, 2), 8)  # token, then 3 of capacity 3
    after = table.play("leech CHARGE").player(1)
    assert (after.power, after.vp) == ((1, 0, 1), 10)
    none = table.play("leech DECLINE").player(1)
    assert (none.power, none.vp) == ((0, 1, 0), 10)


def test_lee_07_they_are_asked_with_full_bowls_and_for_one_power():
    full = upgrade(taklons("PI", power=(0, 0, 3)))
    assert full.options() == {"leech TOKEN_FIRST", "leech DECLINE"}
    token = full.play("leech TOKEN_FIRST").player(1)
    assert (token.power, token.vp) == ((0, 0, 4), 9)
    assert upgrade(taklons("MINE", power=(4, 0, 0))).node == Node.LEECH


def test_lee_07_without_the_institute_they_are_like_all_others():
    table = upgrade(taklons(institute=False, power=(4, 0, 0)))
    assert table.options() == {"leech CHARGE", "leech DECLINE"}


def test_lee_07_the_brainstone_is_charged_first_and_counts_as_a_token():
    table = upgrade(taklons(institute=False, power=(2, 0, 0), brainstone=0)).play("leech CHARGE")
    assert (table.player(1).power, table.player(1).brainstone) == ((1, 1, 0), 1)
    table = upgrade(taklons(institute=False, power=(0, 0, 3), brainstone=0)).play("leech CHARGE")
    assert (table.player(1).vp, table.player(1).brainstone) == (9, 2)


@pytest.mark.parametrize("event", ["mine 1,1", "mine 0,-1", "mine 0,1", "upgrade 0,0"])
def test_lee_08_every_mine_and_upgrade_is_leeched(event):
    planets = {"1,1": "Blue", "0,1": "Asteroid", "0,-1": "Gaia"}
    table = neighbours(planets=planets).give(0, qic=2, gaiaformers=1).play(event)
    assert table.node == Node.LEECH and table.decider == 1


def test_lee_08_the_gaiaformer_and_the_artifact_mine_are_not():
    artifacts = ["ART-PP-MINE", "ART-AS-MINE", "ART-K-QIC", "ART-RS3VP"]
    table = neighbours(planets={"0,1": "Transdim"}, artifacts=artifacts)
    table = own(table, 0, "TWILIGHT").give(0, gaiaformers=1, power=(9, 0, 0))
    table = table.give(0, tracks=(0, 0, 0, 1, 0, 0))
    for text in ("project 0,1", "artifact 1"):
        assert table.play(text).node != Node.LEECH


def test_lee_08_the_ambas_swap_and_the_station_are_not():
    table = neighbours(mover="AMBAS", planets={"0,1": "Red"}).place(0, "0,1", "PI")
    assert table.play("special FACTION", "pick 0,0").node != Node.LEECH
    table = neighbours(mover="HIVES", planets={"0,1": "Red"}).place(0, "0,1", "PI")
    assert table.play("special FACTION", "pick -1,0").node != Node.LEECH


def test_lee_09_the_same_planet_is_at_distance_0():
    table = scene("GEODENS", "LANTIDS", planets={"0,0": "Orange"}).place(0, "0,0")
    table = table.place(1, "0,0", "GUEST").give(0, credits=20, ore=10).give(1, power=(4, 0, 0))
    assert upgrade(table).player(1).power == (3, 1, 0)
    table = scene("GEODENS", "LANTIDS", planets={"0,0": "Orange", "1,0": "Blue"})
    table = table.place(0, "0,0", "TS").place(1, "1,0").give(1, credits=9, ore=9)
    table = table.give(0, power=(4, 0, 0)).turn(1).play("mine 0,0")
    assert (table.node, table.decider) == (Node.LEECH, 0)


def test_lee_10_other_charges_cost_no_vp():
    table = own(neighbours(), 0, "BT1_ACT_CHARGE4").give(0, power=(4, 0, 0))
    table = table.play("special BT1_ACT_CHARGE4")
    assert (table.player(0).power, table.player(0).vp) == ((0, 4, 0), 10)
