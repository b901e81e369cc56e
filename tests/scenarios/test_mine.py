"""Building a mine: price, range, what may be built on (MIN)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import last_to_pass, own, piece, planet, scene


def home(planets, faction="TERRANS", start="Blue", **setup):
    """A mine of player 0 at 0,0; 20 credits, 10 ore, no QIC, no research."""
    table = scene(faction, planets={"0,0": start} | planets, **setup).stand(0, "0,0")
    return table.give(0, credits=20, ore=10, knowledge=0, qic=0, tracks=0, power=(0, 0, 9))


def booster(table, name):
    """Player 0 holds this booster."""
    return table.give(0, booster=table.env.ruleset.ids["booster"].index(name))


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
    ("thing", "reaches"),
    [("SATELLITE", False), ("GAIAFORMER", False), ("STATION", True), ("GUEST", True)],
)
def test_min_03_structures_and_stations_are_sources_and_nothing_else(thing, reaches):
    table = home({"4,0": "Red", "5,0": "Blue"}).stand(0, "4,0", thing)
    assert table.can("mine 5,0") is reaches


def test_min_03_the_lost_planet_is_a_source_and_a_ship_is_none():
    table = home({"2,2": "Blue", "5,1": "Blue", "5,0": "Lost"}).give(0, shuttles=1)
    assert not table.can("mine 2,2")  # beside Twilight, where the shuttle is
    assert not table.can("mine 5,1")
    assert table.stand(0, "5,0").can("mine 5,1")


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
    table = home({"5,0": "Blue", "4,0": "Blue"}).stand(0, "4,0").give(0, qic=2)
    assert table.play("mine 5,0").player(0).qic == 2


def test_min_06_range_qic_serve_a_terraforming_action_too():
    table = home({"3,0": "Red"})
    assert not table.can("power PA_TF1")
    table = table.give(0, qic=1, ore=1).play("power PA_TF1", "pick 3,0")
    assert (table.player(0).qic, table.player(0).ore, piece(table, "3,0")) == (0, 0, "MINE")


def test_min_07_a_structure_of_anybody_blocks_a_planet():
    table = home({"1,0": "Blue", "0,1": "Blue"}).stand(1, "1,0")
    assert table.options("mine") == {"mine 0,1"}


def test_min_07_a_gaiaformer_blocks_all_but_its_owner():
    table = home({"1,0": "Gaia", "0,1": "Gaia"}).give(0, qic=1)
    assert table.options("mine") == {"mine 1,0", "mine 0,1"}
    table = table.stand(1, "1,0", "GAIAFORMER").stand(0, "0,1", "GAIAFORMER").give(0, qic=0)
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
    mine = table.stand(0, "2,0", "GAIAFORMER").give(0, gaiaformers=0).play("mine 2,0")
    assert (mine.player(0).qic, mine.player(0).gaiaformers) == (0, 1)


def test_min_10_gleens_pay_ore_for_gaia_and_a_qic_only_when_ore_is_short():
    table = home({"1,0": "Gaia"}, "GLEENS", "Yellow")
    paid = table.give(0, ore=2, qic=1).play("mine 1,0").player(0)
    assert (paid.ore, paid.qic) == (0, 1)
    paid = table.give(0, ore=1, qic=1).play("mine 1,0").player(0)
    assert (paid.ore, paid.qic) == (0, 0)
    assert not table.give(0, ore=1, qic=0).can("mine 1,0")


@pytest.mark.parametrize(
    ("faction", "start"), [("TERRANS", "Blue"), ("SPACE_GIANTS", "Proto"), ("DARKANIANS", "Proto")]
)
def test_min_11_a_proto_planet_takes_three_steps_and_gives_6_vp(faction, start):
    table = home({"1,0": "Proto"}, faction, start).give(0, ore=10)
    assert not table.give(0, ore=9).can("mine 1,0")
    table = table.play("mine 1,0")
    assert (table.player(0).ore, table.vp(0, "PROTO")) == (0, 6)


def test_min_12_an_asteroid_costs_an_available_gaiaformer_for_ever():
    table = home({"1,0": "Asteroid"}).give(0, ore=0, credits=0, gaiaformers=1)
    assert not table.give(0, gaiaformers=0, gaiaformers_out=1, ore=9, credits=9).can("mine 1,0")
    table = table.play("mine 1,0")
    assert piece(table, "1,0") == "MINE"
    assert (table.player(0).gaiaformers, table.player(0).gaiaformers_out) == (0, 0)


def test_min_12_the_eclipse_builds_on_an_asteroid_for_credits_alone():
    table = own(home({"1,0": "Asteroid", "0,1": "Blue"}), 0, "ECLIPSE")
    table = table.give(0, gaiaformers=0, ore=0, credits=6)
    assert not table.give(0, credits=5).can("ship ECL_C")
    assert table.play("ship ECL_C").options() == {"pick 1,0"}
    table = table.play("ship ECL_C", "pick 1,0")
    assert (table.player(0).credits, piece(table, "1,0")) == (0, "MINE")


@pytest.mark.parametrize("action", ["power PA_TF1", "power PA_TF2", "ship TFM_C"])
def test_min_13_a_terraforming_action_takes_no_asteroid(action):
    table = own(home({"1,0": "Asteroid", "0,1": "Red"}), 0, "TF_MARS").give(0, gaiaformers=1)
    assert table.can("mine 1,0")
    assert table.play(action).options() == {"pick 0,1"}


def test_min_13_booster_11_reaches_an_asteroid_and_booster_13_does_not():
    table = home({"3,0": "Asteroid", "1,0": "Asteroid"}).give(0, gaiaformers=1)
    assert booster(table, "RB11").play("special RB11").can("pick 3,0")
    assert not booster(table, "RB13").can("special RB13")


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


def test_min_16_tf_mars_costs_5_credits_and_the_mine():
    table = own(home({"1,0": "Red"}), 0, "TF_MARS").give(0, ore=1, credits=7)
    assert not table.give(0, credits=6).can("ship TFM_C")
    table = table.play("ship TFM_C", "pick 1,0")
    assert (table.player(0).credits, table.player(0).ore) == (0, 0)


def test_min_17_one_action_has_one_modifier():
    table = booster(home({"4,0": "Red"}), "RB11").give(0, ore=4)
    assert not table.can("power PA_TF1")  # out of range
    assert "pick 4,0" not in table.give(0, ore=3).play("special RB11").options()  # no free step
    table = table.play("special RB11", "pick 4,0")
    assert table.player(0).ore == 0
    assert table.options() >= {"end_turn"} and not table.options("power")


def test_min_18_booster_11_serves_mine_project_and_exploration():
    table = booster(home({"4,0": "Blue", "0,4": "Transdim"}), "RB11")
    table = table.give(0, gaiaformers=1, tracks=(0, 0, 0, 1, 0, 0))
    options = table.play("special RB11").options()
    assert {"pick 4,0", "pick 0,4", "explore TWILIGHT"} <= options
    explored = table.play("special RB11", "explore TWILIGHT")
    assert explored.player(0).shuttles == 1 and explored.vp(0, "EXPLORE") == -5
    assert not explored.turn(0).can("special RB11")


def test_min_18_twilight_serves_mine_and_exploration_but_no_project():
    table = own(home({"4,0": "Blue", "0,4": "Transdim"}), 0, "TWILIGHT")
    table = table.give(0, gaiaformers=1, knowledge=1, tracks=(0, 0, 0, 1, 0, 0))
    options = table.play("ship TWI_K").options()
    assert "pick 4,0" in options and "explore REBELLION" in options
    assert "pick 0,4" not in options
    assert table.play("ship TWI_K", "pick 4,0").player(0).knowledge == 0


def test_min_19_a_transdim_planet_takes_no_mine():
    assert not home({"1,0": "Transdim"}).give(0, qic=9).options("mine")


def test_min_20_an_instantly_formed_planet_is_buildable_from_the_next_round_on():
    table = home({"1,0": "Transdim"}).give(0, gaiaformers=1, qic=2)
    table = booster(table, "RB6").play("special RB6", "pick 1,0")
    assert planet(table, "1,0") == "Gaia"
    table = booster(last_to_pass(table.turn(0)), "RB6")
    assert not table.can("mine 1,0")
    table = table.play("booster RB5")
    assert table.game.turn.round == 2 and table.node == Node.TURN
    assert not table.turn(1).can("mine 1,0")
    mine = table.turn(0).play("mine 1,0")
    assert (mine.player(0).gaiaformers, mine.player(0).qic) == (1, 2)


@pytest.mark.parametrize(("faction", "steps"), [("DARKANIANS", 1), ("SPACE_GIANTS", 2)])
@pytest.mark.parametrize("colour", ["Red", "Yellow", "Blue"])
def test_min_21_one_number_of_steps_for_every_colour(faction, steps, colour):
    table = home({"1,0": colour}, faction, "Asteroid").play("mine 1,0")
    assert table.player(0).ore == 10 - 1 - 3 * steps


@pytest.mark.parametrize(
    ("colour", "steps"), [("Yellow", 3), ("Orange", 3), ("Blue", 3), ("Red", 1)]
)
@pytest.mark.parametrize("faction", ["MOWEYDS", "TINKEROIDS"])
def test_min_22_three_steps_to_the_colours_of_the_opponents(faction, colour, steps):
    # The opponents are Xenos, Geodens and Terrans.
    table = home({"1,0": colour}, faction, "Proto").play("mine 1,0")
    assert table.player(0).ore == 10 - 1 - 3 * steps
