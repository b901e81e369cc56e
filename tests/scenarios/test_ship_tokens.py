"""The eight federation tokens of the ships: who may take them, what they give, once and again."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import POOR, SHIPS, form, own, piece, scene

TOKENS = [
    "SFT_12VP", "SFT_8VP_8C", "SFT_4VP_4K", "SFT_4VP_2O_1Q", "SFT_7VP_2PT3", "SFT_RANGE_MINE",
    "SFT_TF3_MINE", "SFT_TECH",
]  # fmt: skip
NEAR = {
    "0,0": "Orange",  # a PI here and stations on the next two: power 7
    "1,0": "Orange",
    "0,1": "Orange",
    "-1,0": "Red",
    "-1,-1": "Black",
    "-2,0": "Asteroid",
    "-3,0": "Gaia",
    "6,-7": "Blue",
}


def federation(token, *items, mission="RM-TS-3VP", **fields):
    """Geodens with 7 power touching; Eclipse was dealt the token, they have a shuttle there."""
    ships = ["ECLIPSE", *(ship for ship in sorted(SHIPS) if ship != "ECLIPSE")]
    dealt = dict(zip(ships, [token, *(t for t in TOKENS if t != token)], strict=False))
    table = scene("GEODENS", "AMBAS", planets=NEAR, mission=mission, ship_tokens=dealt)
    table = table.place(0, {"0,0": "PI", "1,0": "TS", "0,1": "TS"})
    return own(table, 0, "ECLIPSE", *items, **(POOR | fields)).turn(0)


def formed(token, *items, **fields):
    """The federation is formed and the token of Eclipse taken."""
    return form(federation(token, *items, **fields)).play("token ECLIPSE")


def count(table, token):
    """How many of the kind player 0 owns."""
    return table.player(0).tokens[table.env.ruleset.ids["token"].index(token)]


@pytest.mark.parametrize("token", TOKENS)
def test_set_23_each_ship_token_is_single_counted_and_green(token):
    table = formed(token)
    assert count(table, token) == 1 and table.player(0).green == 1
    assert table.player(0).formed == 1
    bit = table.env.ruleset.ids["ship"].index("ECLIPSE")
    assert not int(table.game.turn.ship_tokens) >> bit & 1


@pytest.mark.parametrize(
    "token, vp, gained",
    [
        ("SFT_12VP", 12, {}),
        ("SFT_8VP_8C", 8, {"credits": 8}),
        ("SFT_4VP_4K", 4, {"knowledge": 4}),
        ("SFT_4VP_2O_1Q", 4, {"ore": 2, "qic": 1}),
        ("SFT_7VP_2PT3", 7, {"power": (0, 0, 2)}),
    ],
)
def test_set_23_the_plain_tokens_give_their_vp_and_goods(token, vp, gained):
    table = formed(token)
    row = table.player(0)
    assert {name: getattr(row, name) for name in POOR} == POOR | gained
    assert table.vp(0, "FEDERATION") == vp


def test_rms_07_a_ship_token_scores_the_federation_mission():
    assert formed("SFT_12VP", mission="RM-FED-5VP").vp(0, "ROUND_TILE") == 5


def test_tec_07_the_ship_12_vp_is_green_and_the_base_12_vp_is_not():
    assert formed("SFT_12VP").player(0).green == 1
    assert form(federation("SFT_12VP")).play("token FT_12VP").player(0).green == 0


def test_min_13_sft_range_mine_takes_an_asteroid_for_a_gaiaformer():
    assert formed("SFT_RANGE_MINE").node != Node.FREE_MINE  # nothing can be paid (A12)
    table = formed("SFT_RANGE_MINE", gaiaformers=1)
    assert table.options() == {"pick -2,0", "skip"}
    row = table.play("pick -2,0").player(0)
    assert row.gaiaformers == 0 and row.gaiaformers_out == 0


def test_fed_19_sft_tf3_mine_pays_qic_for_range_and_takes_no_asteroid():
    table = formed("SFT_TF3_MINE", gaiaformers=1)
    assert not table.can("pick -2,0") and not table.can("pick -1,-1")  # at 2
    table = formed("SFT_TF3_MINE", gaiaformers=1, qic=1)
    assert table.can("pick -1,-1") and not table.can("pick -2,0")
    table = table.play("pick -1,-1")  # Black is 3 steps from Orange
    assert table.player(0).qic == 0 and table.player(0).ore == 0


@pytest.mark.parametrize("token", ["SFT_RANGE_MINE", "SFT_TF3_MINE"])
def test_fed_19_the_mine_may_be_skipped_and_wants_a_piece(token):
    table = formed(token, ore=3).play("skip")
    assert piece(table, "-1,0") == "NONE" and table.node != Node.FREE_MINE
    table = formed(token, ore=3, built=(0, 8, 2, 0, 1, 0, 0))
    assert table.node != Node.FREE_MINE


@pytest.mark.parametrize("token, steps", [("SFT_RANGE_MINE", 1), ("SFT_TF3_MINE", 1)])
def test_fed_19_the_mine_scores_its_steps_and_is_leeched(token, steps):
    table = formed(token, ore=3, mission="RM-TF-2VP")
    table = table.planet("-2,1", "Brown").place(1, "-2,1", "TS").give(1, power=(2, 0, 0))
    table = table.play("pick -1,0")
    assert table.vp(0, "ROUND_TILE") == 2 * steps
    assert table.node == Node.LEECH and table.decider == 1


def test_fed_19_sft_tech_is_a_tech_tile_by_the_usual_rules():
    table = formed("SFT_TECH", "BT9_7VP")
    assert table.node == Node.TILE and table.vp(0, "FEDERATION") == 0
    assert not table.can("tile BT9_7VP") and table.can("tile BT4_INC_C4")
    assert not table.options("advanced")


@pytest.mark.parametrize("token", ["SFT_12VP", "SFT_4VP_4K"])
def test_fed_21_a_ship_token_can_be_scored_again(token):
    # An owned ship token is named by the ship that was dealt it.
    table = own(formed(token), 0, "TWILIGHT", qic=3, knowledge=0).turn(0).play("ship TWI_Q")
    assert table.options() == {"token ECLIPSE"}
    before = table.player(0).vp
    table = table.play("token ECLIPSE")
    gained = {"SFT_12VP": (12, 0), "SFT_4VP_4K": (4, 4)}[token]
    assert (table.player(0).vp - before, table.player(0).knowledge) == gained


def test_fed_21_a_mine_token_again_builds_another_mine():
    table = formed("SFT_TF3_MINE").play("skip")
    table = own(table, 0, "TWILIGHT", qic=3).turn(0).play("ship TWI_Q", "token ECLIPSE")
    assert table.node == Node.FREE_MINE
    assert piece(table.play("pick -1,0"), "-1,0") == "MINE"


def test_fed_21_sft_tech_again_gives_another_tile():
    table = formed("SFT_TECH").play("tile BT9_7VP")
    while table.node == Node.STEP:
        table = table.play(min(table.options("advance")))
    table = own(table, 0, "TWILIGHT", qic=3).turn(0)
    second_tile = table.play("ship TWI_Q", "token ECLIPSE")
    assert second_tile.node == Node.TILE and not second_tile.can("tile BT9_7VP")
