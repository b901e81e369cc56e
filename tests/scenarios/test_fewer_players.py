"""The printed Lost Fleet for two and three: ships, shuttles, tiles, colours (PLA-09 to PLA-13)."""

from types import SimpleNamespace

import numpy as np
import pytest

from gaia_jax.components.planets import TERRAFORM_CYCLE
from gaia_jax.rules.setup import terraforming_steps
from gaia_jax.ruleset import LOST_FLEET_PUBLISHED, PUBLISHED_FOR_THREE, PUBLISHED_FOR_TWO
from tests.scenarios.scene import cleared, own
from tests.scenarios.table import Table

# Each ship is at a distance of 3 from 0,0.
SHIPS = {"TWILIGHT": "-3,1", "ECLIPSE": "1,2", "TF_MARS": "2,-3"}
OF_TWO = {
    "ships": SHIPS,
    "interface": {"-2,3": "Asteroid", "-1,-2": "Asteroid", "3,-1": "Proto"},
    "ship_tiles": {"TF_MARS": "LF-ORE1-KN3", "ECLIPSE": "LF-NAV+1"},
    "artifacts": ["ART-ORE3CR3", "ART-ORE-CRED"],
    "final_missions": ["BUILDINGS", "PLANET_TYPES"],
}
OF_THREE = {"final_missions": ["BUILDINGS", "PLANET_TYPES"]}
RICH = {"credits": 20, "ore": 9, "knowledge": 0, "qic": 9, "vp": 30, "tracks": 0}

compiled = pytest.mark.slow  # each number of players compiles a game of its own, half a minute


def small(*factions, planets, **fields):
    """A mine of player 0 at 0,0 and plenty of everything, in a game for that many."""
    dealt = OF_TWO if len(factions) == 2 else OF_THREE
    table = Table(
        factions=factions, ruleset="lost_fleet_published", players=len(factions), **dealt
    ).start()
    table = cleared(table, planets).place(0, "0,0").give(0, **(RICH | fields))
    return table.turn(0)


def test_pla_09_the_rebellion_and_its_actions_are_absent():
    texts = PUBLISHED_FOR_TWO.actions.texts
    absent = set(LOST_FLEET_PUBLISHED.actions.texts) - set(texts)
    assert {"explore REBELLION", "ship REB_Q", "ship REB_P", "ship REB_K"} <= absent
    assert {text for text in texts if text.startswith("explore")} == {f"explore {s}" for s in SHIPS}


@compiled
def test_pla_12_two_shuttles_a_player():
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"})
    for ship in ("TWILIGHT", "ECLIPSE"):
        assert {f"explore {ship}", "explore TF_MARS"} <= table.options("explore")
        table = table.play(f"explore {ship}").turn(0)
    assert not table.options("explore") and table.player(0).vp == 30 - 2 * 5
    assert small("XENOS", "TERRANS", planets={"0,0": "Yellow"}).options("explore")


@compiled
def test_pla_12_the_moweyds_have_one_left_beside_that_on_tf_mars():
    table = small("MOWEYDS", "XENOS", planets={"0,0": "Proto"})
    assert table.options("explore") == {"explore TWILIGHT", "explore ECLIPSE"}
    assert not table.play("explore ECLIPSE").turn(0).options("explore")


@compiled
def test_pla_11_two_artifacts_lie_on_the_twilight():
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"}, power=(9, 0, 0))
    table = own(table, 0, "TWILIGHT").turn(0)
    assert table.options("artifact") == {"artifact 1", "artifact 2"}
    table = table.play("artifact 2")
    assert (table.player(0).ore, table.player(0).credits) == (9 + 2, 20 + 5)
    assert table.turn(0).options("artifact") == set()


@compiled
def test_pla_09_only_the_ship_tiles_dealt_can_be_taken():
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"}).place(0, "0,0", "TS")
    table = own(table, 0, *SHIPS).turn(0).play("upgrade 0,0", "piece RL")
    ship_tiles = {f"tile {tile.id}" for tile in PUBLISHED_FOR_TWO.ship_tiles}
    assert table.options("tile") & ship_tiles == {"tile LF-ORE1-KN3", "tile LF-NAV+1"}


@compiled
@pytest.mark.parametrize("vp, offered", [(24, False), (25, True)])
def test_pla_09_the_extra_tile_asks_for_25_vp(vp, offered):
    """Shuttles do not help, and with two no third ship can be explored."""
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"}, vp=vp).place(0, "0,0", "TS")
    table = own(table, 0, "TWILIGHT", "ECLIPSE", "FT_7VP_2O", "BT9_7VP")
    table = table.turn(0).play("upgrade 0,0", "piece RL")
    assert table.can("advanced extra") is offered


@compiled
@pytest.mark.parametrize(
    "structure, planet, host, knowledge",
    [
        ("PI", "Blue", None, 2),  # an own mine at home
        ("MINE", "Blue", None, 0),  # without the PI
        ("PI", "Red", None, 0),
        ("PI", "Red", "MINE", 2),  # a guest
        ("PI", "Blue", "MINE", 2),  # a guest at home, once
    ],
)
def test_pla_13_the_lantids_of_two(structure, planet, host, knowledge):
    table = small("LANTIDS", "HADSCH_HALLAS", planets={"0,0": "Blue", "1,0": planet})
    table = table.place(0, "0,0", structure)
    if host:
        table = table.place(1, "1,0", host)
    assert table.turn(0).play("mine 1,0").player(0).knowledge == knowledge


@compiled
@pytest.mark.parametrize("structure, host, gained", [("PI", True, (2, 1)), ("PI", False, (0, 0))])
def test_pla_13_the_lantids_of_three(structure, host, gained):
    planets = {"0,0": "Blue", "1,0": "Blue"}
    table = small("LANTIDS", "HADSCH_HALLAS", "XENOS", planets=planets, power=(4, 0, 0))
    table = table.place(0, "0,0", structure)
    if host:
        table = table.place(1, "1,0")
    row = table.turn(0).play("mine 1,0").player(0)
    assert (row.knowledge, int(row.power[1])) == gained


@pytest.mark.parametrize("rules", [PUBLISHED_FOR_TWO, PUBLISHED_FOR_THREE], ids=repr)
def test_pla_12_and_13_no_other_number_of_a_faction_changes(rules):
    before, after = (r.tables.faction.arrays for r in (LOST_FLEET_PUBLISHED, rules))
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    two = {"shuttles", "pi_home_knowledge", "preplaced_ship"}
    changed -= {name for name in changed if name.endswith("_op")}  # rows of another table
    assert changed == (two if rules.players == 2 else {"pi_guest_charge"})


def hard_colours(*factions, order):
    """The colours that cost 3 steps, of each player without a home, in a game for that many."""
    rules = {2: PUBLISHED_FOR_TWO, 3: PUBLISHED_FOR_THREE}[len(factions)]
    ids = rules.ids["faction"]
    setup = SimpleNamespace(
        faction=np.array([ids.index(faction) for faction in factions]),
        colour_order=np.array([TERRAFORM_CYCLE.index(colour) for colour in order]),
        turn_order=np.arange(len(factions)),
    )
    steps = np.asarray(terraforming_steps(rules, setup))
    first = rules.ids["planet"].index(TERRAFORM_CYCLE[0])
    colours = steps[:, first : first + len(TERRAFORM_CYCLE)]
    return [
        {TERRAFORM_CYCLE[i] for i in np.flatnonzero(row == 3)}
        for row, faction in zip(colours, factions, strict=True)
        if rules.factions[ids.index(faction)].drawn_colours
    ]


def test_ini_09_the_example_of_the_rulebook_for_three():
    """Page 8: the home of the Bescods for both, then the first colours of the row in turn order."""
    order = ["Blue", "Black", "Yellow", "Red", "White", "Brown", "Orange"]
    hard = hard_colours("TINKEROIDS", "BESCODS", "MOWEYDS", order=order)
    assert hard == [{"Black", "Blue", "Yellow"}, {"Black", "Red", "White"}]


def test_ini_09_two_without_a_home_share_no_colour():
    order = ["White", "Orange", "Red", "Blue", "Brown", "Yellow", "Black"]
    hard = hard_colours("MOWEYDS", "TINKEROIDS", order=order)
    assert hard == [{"White", "Orange", "Red"}, {"Blue", "Brown", "Yellow"}]
    assert hard_colours("XENOS", "MOWEYDS", order=order) == [{"Yellow", "White", "Orange"}]
