"""Gaia projects and instant gaiaforming (GPJ)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import holding, planet, scene


def home(planets, faction="TERRANS", level=1, **setup):
    """A mine of player 0 at 0,0, one gaiaformer, the Gaia track at `level`."""
    table = scene(faction, planets={"0,0": "Blue"} | planets, **setup).place(0, "0,0")
    table = table.give(0, tracks=(0, 0, 0, level, 0, 0), gaiaformers=1, qic=0)
    return table.give(0, power=(4, 4, 0))


@pytest.mark.parametrize(("level", "tokens"), [(1, 6), (2, 6), (3, 4), (4, 3), (5, 3)])
def test_gpj_01_a_project_moves_tokens_by_the_level(level, tokens):
    table = home({"1,0": "Transdim"}, level=level)
    assert not table.give(0, power=(0, tokens - 1, 0)).can("project 1,0")
    row = table.give(0, power=(0, tokens, 0)).play("project 1,0").player(0)
    assert (row.power, row.gaia_power) == ((0, 0, 0), tokens)
    assert (row.gaiaformers, row.gaiaformers_out) == (0, 1)


def test_gpj_01_a_project_needs_an_available_gaiaformer():
    table = home({"1,0": "Transdim"})
    assert table.can("project 1,0")
    assert not table.give(0, gaiaformers=0, gaiaformers_out=1).can("project 1,0")


def test_gpj_01_the_planet_stays_transdim_until_the_gaia_phase():
    table = home({"1,0": "Transdim"}).play("project 1,0")
    assert planet(table, "1,0") == "Transdim"
    assert not table.give(0, qic=5).turn(0).can("mine 1,0")


def test_gpj_02_the_least_charged_tokens_go_first():
    table = home({"1,0": "Transdim"}).give(0, power=(2, 3, 4)).play("project 1,0")
    assert (table.player(0).power, table.player(0).gaia_power) == ((0, 0, 3), 6)


def test_gpj_03_a_transdim_planet_without_a_gaiaformer_in_range():
    table = home({"1,0": "Transdim", "0,1": "Transdim", "3,0": "Transdim", "-1,0": "Gaia"})
    table = table.place(1, "1,0", "GAIAFORMER")
    assert table.options("project") == {"project 0,1"}
    table = table.give(0, qic=1)
    assert table.options("project") == {"project 0,1", "project 3,0"}
    assert table.play("project 3,0").player(0).qic == 0


def test_gpj_05_booster_4_counts_owned_gaiaformers_wherever_they_are():
    table = holding(home({"1,0": "Asteroid"}, "BAL_TAKS"), "RB4")
    table = table.give(0, gaiaformers=1, gaiaformers_out=1, gaiaformers_gaia=1)
    assert table.play("booster RB5").vp(0, "BOOSTER") == 9
    destroyed = table.play("mine 1,0").turn(0)
    assert destroyed.play("booster RB5").vp(0, "BOOSTER") == 6


def test_gpj_06_a_gaiaformer_triggers_nothing():
    table = home({"1,0": "Transdim", "2,0": "Red"}, mission="RM-GAIA-3VP").place(1, "2,0", "PI")
    table = table.give(1, power=(4, 0, 0)).play("project 1,0")
    assert table.node != Node.LEECH and table.player(0).vp == 10
    assert table.player(1).power == (4, 0, 0)
