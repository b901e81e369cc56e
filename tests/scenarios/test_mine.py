"""Building a mine: price, range, what may be built on (MIN)."""

import pytest

from tests.scenarios.scene import holding, own, piece, scene


def home(planets, faction="TERRANS", start="Blue", **setup):
    """A mine of player 0 at 0,0; 20 credits, 10 ore, no QIC, no research."""
    table = scene(faction, planets={"0,0": start} | planets, **setup).place(0, "0,0")
    return table.give(0, credits=20, ore=10, knowledge=0, qic=0, tracks=0, power=(0, 0, 9))


def test_min_01_the_ninth_mine_has_no_piece():
    table = home({"1,0": "Blue"})
    assert table.give(0, built=(0, 7, 0, 0, 0, 0, 0)).can("mine 1,0")
    assert not table.give(0, built=(0, 8, 0, 0, 0, 0, 0)).can("mine 1,0")


@pytest.mark.parametrize(("level", "ore"), [(0, 7), (1, 7), (2, 5), (3, 3), (4, 3), (5, 3)])
def test_min_02_two_steps_cost_by_the_terraforming_level(level, ore):
    table = home({"1,0": "Orange"}).give(0, tracks=(level, 0, 0, 0, 0, 0), ore=ore, credits=2)
    assert not table.give(0, ore=ore - 1).can("mine 1,0")
    assert not table.give(0, credits=1).can("mine 1,0")
    table = table.play("mine 1,0")
    assert piece(table, "1,0") == "MINE"
    assert (table.player(0).ore, table.player(0).credits) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "reaches"),
    [("SATELLITE", False), ("GAIAFORMER", False), ("STATION", True), ("GUEST", True)],
)
def test_min_03_structures_and_stations_are_sources_and_nothing_else(kind, reaches):
    table = home({"4,0": "Red", "5,0": "Blue"}).place(0, "4,0", kind)
    assert table.can("mine 5,0") is reaches


def test_min_03_the_lost_planet_is_a_source_and_a_ship_is_none():
    table = home({"2,2": "Blue", "5,1": "Blue", "5,0": "Lost"}).give(0, shuttles=1)
    assert not table.can("mine 2,2")  # next to Twilight, where the shuttle is
    assert not table.can("mine 5,1")
    assert table.place(0, "5,0").can("mine 5,1")


@pytest.mark.parametrize(("level", "reach"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 4)])
def test_min_04_the_navigation_level_gives_the_range(level, reach):
    table = home({f"{q},0": "Blue" for q in range(1, 7)})
    table = table.give(0, tracks=(0, level, 0, 0, 0, 0))
    assert table.options("mine") == {f"mine {q},0" for q in range(1, reach + 1)}


def test_min_04_the_ship_tile_adds_one_to_the_range_until_it_is_covered():
    table = own(home({"2,0": "Blue"}), 0, "LF-NAV+1")
    assert table.can("mine 2,0")
    assert not table.give(0, covered=table.player(0).tiles).can("mine 2,0")


@pytest.mark.parametrize(("cell", "qic"), [("1,0", 0), ("2,0", 1), ("3,0", 1), ("4,0", 2)])
def test_min_05_a_qic_reaches_two_cells_and_no_more_are_paid_than_needed(cell, qic):
    table = home({cell: "Blue"})
    assert qic == 0 or not table.give(0, qic=qic - 1).can(f"mine {cell}")
    assert table.give(0, qic=3).play(f"mine {cell}").player(0).qic == 3 - qic


def test_min_05_the_nearest_source_counts():
    table = home({"5,0": "Blue", "4,0": "Blue"}).place(0, "4,0").give(0, qic=2)
    assert table.play("mine 5,0").player(0).qic == 2


def test_min_06_range_qic_serve_a_terraforming_action_too():
    table = home({"3,0": "Red"})
    assert not table.can("power PA_TF1")
    table = table.give(0, qic=1, ore=1).play("power PA_TF1", "pick 3,0")
    assert (table.player(0).qic, table.player(0).ore, piece(table, "3,0")) == (0, 0, "MINE")


def test_min_07_a_structure_of_anybody_blocks_a_planet():
    table = home({"1,0": "Blue", "0,1": "Blue"}).place(1, "1,0")
    assert table.options("mine") == {"mine 0,1"}


def test_min_07_a_gaiaformer_blocks_all_but_its_owner():
    table = home({"1,0": "Gaia", "0,1": "Gaia"}).give(0, qic=1)
    assert table.options("mine") == {"mine 1,0", "mine 0,1"}
    table = table.place(1, "1,0", "GAIAFORMER").place(0, "0,1", "GAIAFORMER").give(0, qic=0)
    assert table.options("mine") == {"mine 0,1"}


@pytest.mark.parametrize(
    ("colour", "steps"),
    [("Blue", 0), ("White", 1), ("Red", 1), ("Black", 2), ("Orange", 2), ("Brown", 3)],
)
def test_min_08_steps_are_the_distance_on_the_cycle(colour, steps):
    table = home({"1,0": colour}).play("mine 1,0")
    assert table.player(0).ore == 10 - 1 - 3 * steps


@pytest.mark.parametrize(
    ("faction", "start", "qic"),
    [
        ("TERRANS", "Blue", 1),
        ("MOWEYDS", "Proto", 1),
        ("TINKEROIDS", "Asteroid", 2),
        ("DARKANIANS", "Asteroid", 2),
        ("SPACE_GIANTS", "Proto", 2),
    ],
)
def test_min_09_a_gaia_planet_costs_qic_by_faction_and_no_steps(faction, start, qic):
    table = home({"1,0": "Gaia"}, faction, start).give(0, ore=1, credits=2, qic=qic)
    assert not table.give(0, qic=qic - 1).can("mine 1,0")
    table = table.play("mine 1,0")
    assert (table.player(0).qic, table.player(0).ore) == (0, 0)


def test_min_09_range_and_gaia_qic_add_up_and_an_own_gaiaformer_waives_both():
    table = home({"2,0": "Gaia"})
    assert not table.give(0, qic=1).can("mine 2,0")
    assert table.give(0, qic=2).play("mine 2,0").player(0).qic == 0
    mine = table.place(0, "2,0", "GAIAFORMER").give(0, gaiaformers=0).play("mine 2,0")
    assert (mine.player(0).qic, mine.player(0).gaiaformers) == (0, 1)


def test_min_14_free_steps_are_taken_off_and_the_rest_is_paid():
    table = home({"1,0": "Orange"})
    assert table.give(0, ore=3).can("power PA_TF1") is False
    assert table.give(0, ore=4).play("power PA_TF1", "pick 1,0").player(0).ore == 0
    assert table.give(0, ore=1).play("power PA_TF2", "pick 1,0").player(0).ore == 0


@pytest.mark.parametrize("target", ["Blue", "Gaia"])
def test_min_15_free_steps_may_be_wasted(target):
    table = home({"1,0": target}).give(0, qic=1, ore=1).play("power PA_TF2", "pick 1,0")
    assert piece(table, "1,0") == "MINE"
    assert (table.player(0).ore, table.player(0).qic) == (0, 0 if target == "Gaia" else 1)


def test_min_17_one_action_has_one_modifier():
    table = holding(home({"4,0": "Red"}), "RB11").give(0, ore=4)
    assert not table.can("power PA_TF1")  # out of range
    assert "pick 4,0" not in table.give(0, ore=3).play("special RB11").options()  # no free step
    table = table.play("special RB11", "pick 4,0")
    assert table.player(0).ore == 0
    assert table.options() >= {"end_turn"} and not table.options("power")


def test_min_19_a_transdim_planet_takes_no_mine():
    assert not home({"1,0": "Transdim"}).give(0, qic=9).options("mine")


@pytest.mark.parametrize(
    ("colour", "steps"), [("Yellow", 3), ("Orange", 3), ("Blue", 3), ("Red", 1)]
)
@pytest.mark.parametrize("faction", ["MOWEYDS", "TINKEROIDS"])
def test_min_22_three_steps_to_the_colours_of_the_opponents(faction, colour, steps):
    # The opponents are Xenos, Geodens and Terrans.
    table = home({"1,0": colour}, faction, "Proto").play("mine 1,0")
    assert table.player(0).ore == 10 - 1 - 3 * steps
