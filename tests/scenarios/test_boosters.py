"""The boosters with a special: RB6 gaiaforms at once, RB11 reaches farther, RB13 terraforms."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, holding, last_to_pass, own, piece, planet, scene

NEAR = {"0,0": "Orange", "1,0": "Transdim", "0,1": "Red", "-1,0": "Brown", "4,0": "Orange"}
RICH = {"credits": 9, "ore": 9, "qic": 0, "power": (6, 0, 0), "gaiaformers": 1, "vp": 10}


def home(booster, *, planets=None, **fields):
    """Geodens with a mine at 0,0 and the booster in front of them."""
    table = scene("GEODENS", "AMBAS", planets=NEAR | (planets or {})).place(0, "0,0")
    return holding(table.give(0, **(RICH | fields)), booster).turn(0)


@pytest.mark.parametrize("booster", ["RB6", "RB11", "RB13"])
def test_act_11_a_booster_special_is_its_holders_and_once_a_round(booster):
    table = home(booster)
    assert table.options("special") == {f"special {booster}"}
    assert not table.turn(1).options("special")
    table = table.play(f"special {booster}")
    table = table.play(min(table.options("pick"))).turn(0)
    assert not table.options("special")


@pytest.mark.parametrize("booster", ["RB1", "RB4", "RB9"])
def test_act_11_other_boosters_have_no_special(booster):
    assert not home(booster).options("special")


def test_pas_03_the_special_of_a_booster_is_there_again_when_it_is_taken_next():
    table = last_to_pass(home("RB4", ore=9)).play("booster RB6")
    assert table.game.turn.round == 2
    assert table.turn(0).can("special RB6")


def test_gpj_04_rb6_gaiaforms_free_and_leaves_the_gaiaformer():
    table = home("RB6").play("special RB6")
    assert table.options() == {"pick 1,0"}
    table = table.play("pick 1,0")
    row = table.player(0)
    assert planet(table, "1,0") == "Gaia" and row.power == (6, 0, 0) and row.gaia_power == 0
    assert (row.gaiaformers, row.gaiaformers_out) == (0, 1)
    assert int(table.game.board.gaiaformer[table.cell("1,0")]) == 0


def test_gpj_03_rb6_wants_an_available_gaiaformer_and_a_free_transdim():
    assert not home("RB6", gaiaformers=0).can("special RB6")
    assert not home("RB6", gaiaformers=0, gaiaformers_out=1).can("special RB6")
    assert not home("RB6", planets={"1,0": "Gaia"}).can("special RB6")
    assert not home("RB6").place(1, "1,0", "GAIAFORMER").turn(0).can("special RB6")


def test_min_06_rb6_pays_qic_for_range():
    far = {"1,0": "Empty", "3,0": "Transdim"}
    assert not home("RB6", planets=far).can("special RB6")
    table = home("RB6", planets=far, qic=1).play("special RB6", "pick 3,0")
    assert table.player(0).qic == 0


def test_min_20_the_planet_of_rb6_waits_for_the_next_round_and_is_its_owners():
    table = home("RB6").place(1, "0,1").play("special RB6", "pick 1,0")
    table = table.give(1, ore=9, credits=9, qic=9)
    assert not table.turn(0).can("mine 1,0") and not table.turn(1).can("mine 1,0")
    table = last_to_pass(table.turn(0)).play("booster RB7").give(0, qic=0)
    assert table.turn(0).can("mine 1,0") and not table.turn(1).can("mine 1,0")


def test_gai_03_the_mine_there_pays_no_qic_and_returns_the_gaiaformer():
    table = last_to_pass(home("RB6").play("special RB6", "pick 1,0").turn(0))
    table = table.play("booster RB7").give(0, qic=0, ore=1, credits=2).turn(0).play("mine 1,0")
    row = table.player(0)
    assert (row.ore, row.credits, row.gaiaformers, row.gaiaformers_out) == (0, 0, 1, 0)


def test_gpj_06_rb6_triggers_no_leech():
    table = home("RB6").place(1, "0,1", "PI").give(1, power=(4, 0, 0)).turn(0)
    assert table.play("special RB6", "pick 1,0").node != Node.LEECH


def test_min_18_rb11_reaches_3_farther_for_a_mine_at_its_usual_price():
    table = home("RB11", ore=1, credits=2)
    assert not table.can("mine 4,0")
    table = table.play("special RB11", "pick 4,0")
    assert piece(table, "4,0") == "MINE" and table.player(0).ore == 0
    assert not home("RB11", ore=0, gaiaformers=0, vp=0).can("special RB11")


def test_min_18_rb11_reaches_farther_for_a_project_too():
    far = {"1,0": "Empty", "4,-1": "Transdim"}
    table = at(home("RB11", planets=far), 0, gaia=1).turn(0)
    assert not table.options("project")
    table = table.play("special RB11", "pick 4,-1")
    row = table.player(0)
    assert row.gaia_power == 6 and row.gaiaformers == 0 and planet(table, "4,-1") == "Transdim"


def test_gpj_01_rb11_starts_no_project_at_gaia_level_0():
    table = home("RB11", tracks=(0, 0, 0, 0, 0, 0), gaiaformers=0).play("special RB11")
    assert not table.can("pick 1,0") and table.can("pick 4,0")


def test_min_18_rb11_reaches_farther_for_an_exploration():
    table = home("RB11")  # Rebellion and Twilight at 3
    assert not table.options("explore")
    table = table.play("special RB11")
    assert table.options("explore") == {"explore REBELLION", "explore TWILIGHT"}
    assert table.play("explore TWILIGHT").player(0).vp == 5
    assert not home("RB11", vp=4).play("special RB11").options("explore")


def test_min_05_rb11_goes_with_qic():
    far = {"4,0": "Empty", "5,1": "Orange"}  # at 6, range 1 + 3
    assert not home("RB11", planets=far).play("special RB11").can("pick 5,1")
    table = home("RB11", planets=far, qic=1).play("special RB11", "pick 5,1")
    assert table.player(0).qic == 0


def test_min_14_rb13_builds_a_mine_with_a_free_step_and_pays_the_rest():
    table = home("RB13", ore=1, credits=2)
    assert table.play("special RB13").options() == {"pick 0,1"}
    row = table.play("special RB13", "pick 0,1").player(0)
    assert (row.ore, row.credits) == (0, 0)
    table = home("RB13", ore=4, credits=2).play("special RB13", "pick -1,0")  # 2 steps
    assert table.player(0).ore == 0


def test_min_14_rb13_is_illegal_where_no_mine_can_be_paid():
    assert not home("RB13", ore=0).can("special RB13")
    assert not home("RB13", credits=1).can("special RB13")
    assert not home("RB13", built=(0, 8, 0, 0, 0, 0, 0)).can("special RB13")


def test_min_15_rb13_may_be_spent_on_a_planet_without_steps():
    table = home("RB13", planets={"0,-1": "Orange", "-1,1": "Gaia"}, ore=1, credits=2)
    assert table.play("special RB13").can("pick 0,-1")
    assert not table.play("special RB13").can("pick -1,1")  # 1 QIC
    table = table.give(0, qic=1).turn(0).play("special RB13", "pick -1,1")
    assert table.player(0).qic == 0


def test_rms_03_the_free_step_of_rb13_scores():
    table = scene("GEODENS", planets=NEAR, mission="RM-TF-2VP").place(0, "0,0")
    table = own(table, 0, ore=1, credits=2, booster=12).turn(0)
    assert table.play("special RB13", "pick 0,1").vp(0, "ROUND_TILE") == 2


def test_pas_03_a_special_ends_with_the_pass():
    table = home("RB13").play("booster RB7")
    assert not table.turn(0).options("special")
