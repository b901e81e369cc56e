"""The Hive: one growing federation, satellites for QIC, stations. The Hadsch Hallas: credits."""

from gaia_jax.state import Node
from tests.scenarios.scene import POOR, form, last_to_pass, own, piece, scene, upgraded

NEAR = {"0,0": "Red", "1,0": "Red", "0,1": "Red", "3,0": "Red", "2,0": "Red"}


def hive(*places, **fields):
    """The Hive with (cell, structure) on the map, without resources."""
    table = scene("HIVES", "FIRAKS", planets=NEAR)
    table = table.place(0, dict(places))
    return table.give(0, **(POOR | fields)).turn(0)


def grown(power, *places, **fields):
    """The Hive with one federation of that power at 0,0 and about, and other places."""
    parts = [("0,0", "PI"), ("1,0", "TS"), ("0,1", "TS")]
    extra = [("2,0", "TS"), ("3,0", "AC_A"), ("-1,1", "TS"), ("-1,0", "MINE")]
    worth = {"PI": 3, "TS": 2, "AC_A": 3, "MINE": 1}
    table, total = hive(), 0
    for cell, structure in parts + extra:
        if total + worth[structure] <= power:
            table = table.planet(cell, "Red").place(0, cell, structure).place(0, cell, "FEDERATED")
            total += worth[structure]
    assert total == power
    for cell, structure in places:
        table = table.planet(cell, "Red").place(0, cell, structure)
    return table.give(0, formed=1, **fields).turn(0)


def test_fed_15_the_first_federation_needs_7():
    table = hive(("0,0", "PI"), ("1,0", "TS"), ("0,1", "TS"))
    assert table.player(0).formed == 0 and form(table).play("token FT_7VP_2O").player(0).formed == 1
    assert not hive(("0,0", "PI"), ("1,0", "TS"), ("0,1", "MINE")).can("form_federation")


def test_fed_15_the_second_needs_14_in_all_and_may_add_nothing():
    assert not grown(13).can("form_federation")
    table = grown(14).play("form_federation")
    assert table.node == Node.TOKEN  # no pick, no satellite
    table = table.play("token FT_7VP_2O")
    assert table.player(0).formed == 2 and table.player(0).satellites == 0
    assert not table.turn(0).can("form_federation")  # 21 next


def test_fed_07_what_is_built_beside_the_federation_joins_it():
    table = grown(13).planet("1,-1", "Red")
    table = table.give(0, ore=1, credits=2).turn(0)
    assert not table.can("form_federation")
    table = table.play("mine 1,-1").turn(0)
    assert table.play("form_federation").node == Node.TOKEN


def test_fed_16_with_that_token_the_second_federation_needs_14_not_21():
    assert own(grown(14), 0, "FT_8VP_QIC").turn(0).can("form_federation")
    assert not own(grown(13), 0, "FT_8VP_QIC").turn(0).can("form_federation")


def test_hiv_01_a_station_stands_on_empty_space_in_range_for_nothing():
    table = hive(("0,0", "PI")).play("special FACTION")
    assert table.options("pick") == {f"pick {c}" for c in table.near("0,0") if c not in NEAR}
    table = table.play("pick -1,0")
    row = table.player(0)
    assert row.stations == 1 and sum(row.colonized) == 1 and row.qic == 0
    assert not table.turn(0).can("special FACTION")  # once a round


def test_hiv_01_no_station_on_a_station_or_the_lost_planet_but_beside_satellites():
    table = hive(("0,0", "PI")).place(0, "-1,0", "STATION").place(1, "-1,1", "SATELLITE")
    table = table.place(0, "0,-1", "SATELLITE").planet("1,-1", "Lost").turn(0)
    table = table.play("special FACTION")
    assert not table.can("pick -1,0") and not table.can("pick 1,-1")
    assert table.can("pick -1,1") and table.can("pick 0,-1")


def test_hiv_01_a_station_reaches_farther_for_qic_and_is_a_range_source():
    table = hive(("0,0", "PI"), qic=1, ore=1, credits=2).planet("-4,0", "Red").turn(0)
    assert not table.give(0, qic=0).turn(0).can("mine -4,0")
    table = table.play("special FACTION", "pick -3,0")
    assert table.player(0).qic == 0
    assert table.turn(0).can("mine -4,0")


def test_hiv_01_six_stations_at_most():
    assert hive(("0,0", "PI"), stations=5).can("special FACTION")
    assert not hive(("0,0", "PI"), stations=6).can("special FACTION")


def test_hiv_01_a_station_is_no_sector_and_not_leeched():
    table = hive(("0,0", "PI")).planet("-1,1", "Black").place(1, "-1,1", "TS")
    table = table.give(1, power=(4, 0, 0)).turn(0).play("special FACTION", "pick -1,0")
    assert table.node != Node.LEECH and table.player(1).power == (4, 0, 0)
    assert table.player(0).sectors == hive(("0,0", "PI")).player(0).sectors


def test_hiv_03_a_station_beside_the_federation_adds_1():
    table = grown(13).play("special FACTION", "pick 1,-1")
    assert table.turn(0).play("form_federation").node == Node.TOKEN


def test_fed_09_a_station_counts_1_in_a_first_federation():
    table = hive(("0,0", "PI"), ("1,0", "TS"), ("0,1", "MINE"))
    assert not table.can("form_federation")
    assert table.place(0, "-1,0", "STATION").turn(0).can("form_federation")


def test_hiv_02_and_a22_stations_do_not_count_for_the_satellite_mission():
    missions = ["SATELLITES", "DEEP_SECTORS"]
    table = scene("HIVES", "FIRAKS", planets=NEAR, round=6, final_missions=missions)
    table = table.place(0, "0,0", "PI").give(1, satellites=3)
    tie = last_to_pass(table.give(0, satellites=3, stations=2).turn(0)).play("pass")
    assert (tie.vp(0, "FINAL_1"), tie.vp(1, "FINAL_1")) == (15, 15)
    second = last_to_pass(table.give(0, satellites=1, stations=6).turn(0)).play("pass")
    assert second.vp(0, "FINAL_1") == 12


def hadsch(*places, **fields):
    """The Hadsch Hallas with (cell, structure) on the map, without resources."""
    table = scene("HADSCH_HALLAS", "FIRAKS", planets=NEAR)
    table = table.place(0, dict(places))
    return table.give(0, **(POOR | fields)).turn(0)


CREDITS = {"free C4_to_K", "free C3_to_O", "free C4_to_Q"}


def test_fre_03_no_conversion_into_a_full_track():
    table = hadsch(("0,0", "PI"), credits=12, ore=15, knowledge=15)
    assert table.options("free") & CREDITS == {"free C4_to_Q"}


def test_fre_12_only_on_the_own_turn_and_for_the_own_faction():
    table = hadsch(("0,0", "PI"), credits=12).planet("-1,0", "Black").place(1, "-1,0", "PI")
    assert not table.give(1, credits=12).turn(1).options("free") & CREDITS


def test_rou_03_conversions_pay_for_the_same_turn_before_and_after():
    table = hadsch(("0,0", "PI"), credits=16).play(*["free C4_to_K"] * 4).turn(0)
    assert table.can("advance economy")
    table = hadsch(("0,0", "PI"), credits=8, power=(0, 0, 3)).play("power PA_2PT")
    assert table.node == Node.AFTER and table.can("free C4_to_Q")


def test_fre_08_no_conversion_goes_back_to_credits_at_that_rate():
    table = hadsch(("0,0", "PI"), credits=3).play("free C3_to_O")
    assert table.options("free") == {"free O_to_C", "free O_to_token"}


def test_inc_05_the_board_brings_3_credits():
    table = last_to_pass(hadsch(("0,0", "MINE"))).play("booster RB7")  # RB7: an ore
    row = table.player(0)
    assert (row.credits, row.ore, row.knowledge) == (3 + 2, 3, 1)  # 2 of economy 1


def test_upg_01_the_pi_of_the_hadsch_hallas_costs_4_ore_and_6_credits():
    table = upgraded(hadsch(("0,0", "TS"), ore=4, credits=6), "PI")
    assert piece(table, "0,0") == "PI" and table.player(0).credits == 0
