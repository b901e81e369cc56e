"""What a federation earns, and the growing federation of the Hive (FED-15 to FED-22)."""

from functools import partial

import pytest

from gaia_jax.state import Node
from tests.scenarios import scene as scenes
from tests.scenarios.scene import POOR, form, own, scene

TOUCHING = {"0,0": "PI", "1,0": "AC_A", "2,0": "MINE"}
SHIP_TOKENS = {
    "TWILIGHT": "SFT_12VP",
    "ECLIPSE": "SFT_4VP_4K",
    "REBELLION": "SFT_8VP_8C",
    "TF_MARS": "SFT_TECH",
}
camp = partial(scenes.camp, power=(0, 0, 0))


@pytest.mark.parametrize(
    ("token", "vp", "gain", "green"),
    [
        ("FT_12VP", 12, {}, 0),
        ("FT_8VP_QIC", 8, {"qic": 1}, 1),
        ("FT_8VP_2PT", 8, {"power": (2, 0, 0)}, 1),
        ("FT_7VP_2O", 7, {"ore": 2}, 1),
        ("FT_7VP_6C", 7, {"credits": 6}, 1),
        ("FT_6VP_2K", 6, {"knowledge": 2}, 1),
    ],
)
def test_set_24_and_fed_22_what_a_token_gives(token, vp, gain, green):
    table = camp(TOUCHING, ship_tokens=SHIP_TOKENS).give(0, shuttles=0b1111)
    table = form(table, "0,0").play(f"token {token}")
    assert table.vp(0, "FEDERATION") == vp
    assert {name: getattr(table.player(0), name) for name in POOR} == POOR | gain
    assert (table.player(0).green, table.player(0).formed) == (green, 1)


def test_rms_07_a_federation_scores_its_round_tile():
    table = form(camp(TOUCHING, mission="RM-FED-5VP"), "0,0")
    assert table.play("token FT_12VP").vp(0, "ROUND_TILE") == 5
    assert form(camp(TOUCHING, mission="RM-TS-3VP"), "0,0").vp(0, "ROUND_TILE") == 0


@pytest.mark.parametrize("num_satellites", [1, 24, 25])
def test_fed_17_25_satellites_are_all(num_satellites):
    structures = {"0,0": "PI", "1,0": "TS", "3,0": "AC_A"}
    table = camp(structures).give(0, power=(9, 0, 0), satellites=num_satellites)
    assert table.can("form_federation") is (num_satellites < 25)


def test_fed_18_a_kind_in_supply_or_the_token_of_a_ship_with_a_shuttle():
    base = {"FT_12VP", "FT_8VP_QIC", "FT_8VP_2PT", "FT_7VP_2O", "FT_7VP_6C", "FT_6VP_2K"}
    table = camp(TOUCHING).set_turn(token_supply=(3, 0, 1, 3, 3, 3))
    table = own(table, 0, "TWILIGHT", "ECLIPSE").set_turn(ship_tokens=0b1101)  # Eclipse's is gone
    offered = form(table, "0,0")
    expected = base - {"FT_8VP_QIC"} | {"TWILIGHT"}
    assert offered.options() == {f"token {kind}" for kind in expected}


def test_fed_18_a_taken_token_is_gone():
    table = form(own(camp(TOUCHING), 0, "TWILIGHT"), "0,0")
    assert table.game.turn.token_supply[3] == 3
    assert table.play("token FT_7VP_2O").game.turn.token_supply[3] == 2
    assert table.play("token TWILIGHT").game.turn.ship_tokens == 0b1110


def test_a16_a_token_is_green_before_its_effect_and_pays_for_its_own_tile():
    table = own(camp(TOUCHING, ship_tokens=SHIP_TOKENS), 0, "TF_MARS", "BT4_INC_C4")
    table = table.give(0, tracks=(0, 0, 0, 0, 0, 4))
    table = form(table, "0,0").play("token TF_MARS", "advanced science", "tile BT4_INC_C4")
    assert (table.player(0).green, sum(table.player(0).tokens)) == (0, 1)


def test_a16_to_score_the_tile_token_again_with_nothing_to_take_is_void():
    kinds = scene("TERRANS", planets={}).env.ruleset.ids["tile"]
    table = own(camp({"0,0": "MINE"}, ship_tokens=SHIP_TOKENS), 0, "TWILIGHT", "SFT_TECH", *kinds)
    table = table.give(0, qic=3, green=0).play("ship TWI_Q", "token TF_MARS")
    assert table.node != Node.TILE and table.player(0).qic == 0


def mine_token(kind, planets, **given):
    """A federation of player 0 whose token is the mine of that kind, which is to be placed."""
    tokens = SHIP_TOKENS | {"TF_MARS": kind}
    table = own(camp(TOUCHING, planets=planets, ship_tokens=tokens), 0, "TF_MARS").give(0, **given)
    return form(table, "0,0").play("token TF_MARS")


def test_fed_19_the_mine_of_unlimited_range_pays_steps_and_gaia_alone():
    planets = {"9,-8": "Blue", "10,-8": "Red", "10,-9": "Gaia"}
    table = mine_token("SFT_RANGE_MINE", planets)
    assert table.options() == {"pick 9,-8", "skip"}
    rich = mine_token("SFT_RANGE_MINE", planets, ore=3, qic=1)
    assert rich.options() == {"pick 9,-8", "pick 10,-8", "pick 10,-9", "skip"}
    assert rich.play("pick 10,-8").player(0).ore == 0
    assert rich.play("pick 10,-9").player(0).qic == 0
    assert rich.play("pick 9,-8").player(0).built[1] == 2


def test_fed_19_the_mine_of_three_steps_pays_its_range():
    planets = {"3,0": "Brown", "4,0": "Brown"}
    table = mine_token("SFT_TF3_MINE", planets)
    assert table.options() == {"pick 3,0", "skip"}
    far = mine_token("SFT_TF3_MINE", planets, qic=1)
    assert far.play("pick 4,0").player(0).qic == 0


def test_fed_21_twilight_gives_a_token_again_without_the_round_tile():
    table = own(camp(TOUCHING, mission="RM-FED-5VP"), 0, "TWILIGHT").give(0, qic=3)
    assert not table.can("ship TWI_Q")
    table = own(table, 0, "FT_7VP_2O", "FT_12VP").play("ship TWI_Q")
    assert table.options() == {"token FT_7VP_2O", "token FT_12VP"}
    table = table.play("token FT_7VP_2O")
    row = table.player(0)
    assert (table.vp(0, "FEDERATION"), row.ore, row.qic, row.green) == (7, 2, 0, 1)
    assert sum(row.tokens) == 2 and table.vp(0, "ROUND_TILE") == 0


# The Hive: a federation of 7 power around 0,0.
HIVE = {"0,0": "PI", "1,0": "AC_A", "2,0": "MINE"}


def hive(structures, formed=1, stations=(), **setup):
    """A Hive with a federation of 7 power, and more structures outside."""
    table = camp(HIVE | structures, "HIVES", **setup)
    table = table.place(0, list(HIVE), "FEDERATED")
    table = table.place(0, list(stations), "STATION")
    return table.give(0, formed=formed)


def test_fed_15_the_first_federation_of_the_hive_costs_qic_for_satellites():
    table = camp({"0,0": "PI", "1,0": "TS", "4,0": "AC_A"}, "HIVES").give(0, power=(9, 0, 0))
    assert not table.give(0, qic=1).can("form_federation")
    table = form(table.give(0, qic=2), "0,0", "4,0")
    assert (table.player(0).qic, table.player(0).power) == (0, (9, 0, 0))
    assert table.player(0).satellites == 2


def test_fed_15_it_grows_to_14_and_21():
    grown = {"4,0": "AC_B", "5,0": "TS", "6,0": "TS"}
    table = hive(grown).give(0, qic=1)
    assert form(table, "4,0").node == Node.TOKEN
    assert not table.give(0, qic=0).can("form_federation")
    assert not hive(grown | {"6,0": "MINE"}).give(0, qic=1).can("form_federation")  # 13
    assert not hive(grown, formed=2).give(0, qic=1).can("form_federation")


def test_fed_15_every_added_structure_is_needed():
    structures = {"4,0": "AC_B", "5,0": "TS", "6,0": "TS", "2,2": "MINE"}
    table = hive(structures).give(0, qic=9).play("form_federation")
    assert table.options() == {"pick 4,0"}


def test_fed_16_the_token_of_terraforming_5_is_no_federation():
    table = camp({"0,0": "PI", "1,0": "AC_A", "2,0": "MINE"}, "HIVES", tf5_token="FT_6VP_2K")
    table = own(table, 0, "FT_7VP_2O").give(0, knowledge=4, tracks=(4, 0, 0, 0, 0, 0))
    table = table.play("advance terraforming").turn(0)
    assert table.player(0).formed == 0
    assert form(table, "0,0").node == Node.TOKEN  # 7 are enough for the first
