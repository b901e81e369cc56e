"""The Geodens learn from new planet types; the Bal T'aks lock navigation and spend gaiaformers."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, own, scene, upgraded

NEAR = {"0,0": "Orange", "1,0": "Orange", "0,1": "Red", "-1,0": "Red", "-1,1": "Asteroid"}
RICH = {"credits": 20, "ore": 15, "knowledge": 0, "qic": 2, "gaiaformers": 1}


def geodens(structure="PI", *items, **fields):
    """Geodens with a structure at 0,0, rich but for knowledge."""
    table = scene("GEODENS", "FIRAKS", planets=NEAR).place(0, "0,0", structure)
    return own(table, 0, *items, **(RICH | fields)).turn(0)


@pytest.mark.parametrize("structure, knowledge", [("PI", 3), ("AC_A", 0)])
def test_geo_01_a_new_type_brings_3_knowledge_with_the_pi_alone(structure, knowledge):
    assert geodens(structure).play("mine 0,1").player(0).knowledge == knowledge


def test_geo_01_a_type_owned_before_the_pi_brings_nothing():
    table = geodens().place(0, "-1,0").turn(0).play("mine 0,1")
    assert table.player(0).knowledge == 0
    assert geodens().play("mine 1,0").player(0).knowledge == 0  # the home colour


def test_geo_01_the_second_mine_of_a_new_type_brings_nothing():
    table = geodens().play("mine 0,1").turn(0).play("mine -1,0")
    assert table.player(0).knowledge == 3


@pytest.mark.parametrize("kind", ["Gaia", "Asteroid", "Proto"])
def test_geo_01_every_type_counts(kind):
    table = geodens().planet("-1,1", kind).turn(0).play("mine -1,1")
    assert table.player(0).knowledge == 3


def test_geo_01_an_upgrade_and_the_pi_itself_bring_nothing():
    table = geodens("TS").play("upgrade 0,0", "piece PI")
    assert table.player(0).knowledge == 0
    assert geodens().place(0, "0,1").turn(0).play("upgrade 0,1").player(0).knowledge == 0


def test_geo_01_a_free_mine_counts_too():
    table = geodens("PI", "TF_MARS", power=(0, 0, 3)).play("power PA_TF1", "pick 0,1")
    assert table.player(0).knowledge == 3


def bal_taks(structure="MINE", *items, **fields):
    """Bal T'aks with a structure at 0,0 and some resources."""
    table = scene("BAL_TAKS", "FIRAKS", planets=NEAR).place(0, "0,0", structure)
    given = {"credits": 20, "ore": 15, "knowledge": 8, "qic": 0, "gaiaformers": 1}
    return own(table, 0, *items, **(given | {"tracks": (0,) * 6} | fields)).turn(0)


def test_bal_01_navigation_is_locked_before_the_pi():
    assert "advance navigation" not in bal_taks().options("advance")
    assert len(bal_taks().options("advance")) == 5
    assert bal_taks("PI").can("advance navigation")


def test_bal_01_ecl_p_does_not_unlock_it():
    table = bal_taks("MINE", "ECLIPSE", power=(0, 0, 3)).play("ship ECL_P")
    assert len(table.options()) == 5 and not table.can("advance navigation")


def test_tec_11_the_tile_under_navigation_comes_without_its_step():
    table = upgraded(bal_taks("TS"), "RL").play("tile BT2_INC_O1_CH1")
    assert table.player(0).tiles == 0b10
    assert table.node != Node.STEP and sum(table.player(0).tracks) == 0
    with_pi = upgraded(bal_taks("TS").place(0, "1,0", "PI").turn(0), "RL")
    with_pi = with_pi.play("tile BT2_INC_O1_CH1")
    assert with_pi.player(0).tracks[1] == 1


def test_tec_11_a_free_step_does_not_go_to_navigation_either():
    table = upgraded(bal_taks("TS"), "RL").play("tile BT4_INC_C4")
    assert table.node == Node.STEP
    assert len(table.options()) == 5 and not table.can("advance navigation")


def test_bal_01_the_lock_leaves_level_5_elsewhere_as_an_option_to_skip():
    # Only navigation could advance without entering level 5: "no step" is offered (TEC-09).
    table = bal_taks("TS", "FT_6VP_2K", tracks=(4, 0, 4, 4, 4, 4))
    table = upgraded(table, "RL").play("tile BT4_INC_C4")
    assert table.can("skip") and not table.can("advance navigation") and table.can("advance ai")


def test_bal_01_lf_nav_1_works_all_the_same():
    table = bal_taks("MINE", "LF-NAV+1").planet("2,0", "Orange").turn(0)
    assert table.can("mine 2,0") and not bal_taks().planet("2,0", "Orange").turn(0).can("mine 2,0")


def test_fre_09_it_is_the_bal_taks_alone_and_not_a_deployed_one():
    assert not bal_taks(gaiaformers=0, gaiaformers_out=1).can("free GF_to_Q")
    assert not bal_taks().give(1, gaiaformers=1).turn(1).can("free GF_to_Q")


def test_bal_01_the_pi_unlocks_the_steps_of_the_same_turn_on():
    table = at(bal_taks("TS", knowledge=4), 0).turn(0).play("upgrade 0,0", "piece PI").turn(0)
    assert table.play("advance navigation").player(0).tracks[1] == 1
