"""The printed Lost Fleet for two and three: ships, shuttles, tiles, the Lantids (PLA-09 to 13)."""

import numpy as np
import pytest

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


def small(*factions, planets, **fields):
    """A mine of player 0 at 0,0 and plenty of everything, in a game for that many."""
    dealt = OF_TWO if len(factions) == 2 else OF_THREE
    table = Table(
        factions=factions, ruleset="lost_fleet_published", players=len(factions), **dealt
    ).start()
    table = cleared(table, planets).stand(0, "0,0").give(0, **(RICH | fields))
    return table.turn(0)


def test_pla_09_the_rebellion_and_its_actions_are_absent():
    texts = PUBLISHED_FOR_TWO.actions.texts
    absent = set(LOST_FLEET_PUBLISHED.actions.texts) - set(texts)
    assert {"explore REBELLION", "ship REB_Q", "ship REB_P", "ship REB_K"} <= absent
    assert {text for text in texts if text.startswith("explore")} == {f"explore {s}" for s in SHIPS}


def test_pla_12_two_shuttles_a_player():
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"})
    for ship in ("TWILIGHT", "ECLIPSE"):
        assert {f"explore {ship}", "explore TF_MARS"} <= table.options("explore")
        table = table.play(f"explore {ship}").turn(0)
    assert not table.options("explore") and table.player(0).vp == 30 - 2 * 5
    assert small("XENOS", "TERRANS", planets={"0,0": "Yellow"}).options("explore")


def test_pla_12_the_moweyds_have_one_left_beside_that_on_tf_mars():
    table = small("MOWEYDS", "XENOS", planets={"0,0": "Proto"})
    assert table.options("explore") == {"explore TWILIGHT", "explore ECLIPSE"}
    assert not table.play("explore ECLIPSE").turn(0).options("explore")


def test_pla_11_two_artifacts_lie_on_the_twilight():
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"}, power=(9, 0, 0))
    table = own(table, 0, "TWILIGHT").turn(0)
    assert table.options("artifact") == {"artifact 1", "artifact 2"}
    table = table.play("artifact 2")
    assert (table.player(0).ore, table.player(0).credits) == (9 + 2, 20 + 5)
    assert table.turn(0).options("artifact") == set()


def test_pla_09_only_the_ship_tiles_dealt_can_be_taken():
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"}).stand(0, "0,0", "TS")
    table = own(table, 0, *SHIPS).turn(0).play("upgrade 0,0", "piece RL")
    ship_tiles = {f"tile {tile.id}" for tile in PUBLISHED_FOR_TWO.ship_tiles}
    assert table.options("tile") & ship_tiles == {"tile LF-ORE1-KN3", "tile LF-NAV+1"}


@pytest.mark.parametrize("vp, offered", [(24, False), (25, True)])
def test_pla_09_the_extra_tile_asks_for_25_vp(vp, offered):
    """Shuttles do not help, and with two no third ship can be explored."""
    table = small("TERRANS", "XENOS", planets={"0,0": "Blue"}, vp=vp).stand(0, "0,0", "TS")
    table = own(table, 0, "TWILIGHT", "ECLIPSE", "FT_7VP_2O", "BT9_7VP")
    table = table.turn(0).play("upgrade 0,0", "piece RL")
    assert table.can("advanced extra") is offered


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
    table = table.stand(0, "0,0", structure)
    if host:
        table = table.stand(1, "1,0", host)
    assert table.turn(0).play("mine 1,0").player(0).knowledge == knowledge


@pytest.mark.slow  # compiles a game of its own
@pytest.mark.parametrize("structure, host, gained", [("PI", True, (2, 1)), ("PI", False, (0, 0))])
def test_pla_13_the_lantids_of_three(structure, host, gained):
    planets = {"0,0": "Blue", "1,0": "Blue"}
    table = small("LANTIDS", "HADSCH_HALLAS", "XENOS", planets=planets, power=(4, 0, 0))
    table = table.stand(0, "0,0", structure)
    if host:
        table = table.stand(1, "1,0")
    row = table.turn(0).play("mine 1,0").player(0)
    assert (row.knowledge, int(row.power[1])) == gained


@pytest.mark.parametrize("rules", [PUBLISHED_FOR_TWO, PUBLISHED_FOR_THREE], ids=repr)
def test_pla_12_and_13_no_other_number_of_a_faction_changes(rules):
    before, after = (r.tables.faction.arrays for r in (LOST_FLEET_PUBLISHED, rules))
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    two = {"shuttles", "pi_home_knowledge", "preplaced_ship"}
    changed -= {name for name in changed if name.endswith("_op")}  # rows of another table
    assert changed == (two if rules.players == 2 else {"pi_guest_charge"})
