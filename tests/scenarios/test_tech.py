"""Technology tiles: what may be taken, covered, stepped (TEC)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import DEALT, at, own, piece, scene

BASIC = tuple(DEALT["basic_tiles"].values())
TRACKS = ("terraforming", "navigation", "ai", "gaia", "economy", "science")


def home(faction="TERRANS", planets=None, structure="TS", **setup):
    """A trading station of player 0 at 0,0, no piece left for an institute, all tracks at 0."""
    table = scene(faction, planets={"0,0": "Blue"} | (planets or {}), **setup)
    table = table.place(0, "0,0", structure).give(0, tracks=0, credits=30, ore=14, qic=0)
    return table.give(0, built=(0, 1, 1, 0, 1, 0, 0), power=(9, 0, 0), knowledge=0)


def lab(table):
    """The trading station becomes a lab: a tile is to be taken."""
    return table.play("upgrade 0,0")


def step(table, track):
    """The level of player 0 on the track."""
    return table.player(0).tracks[TRACKS.index(track)]


@pytest.mark.parametrize("source", ["lab", "academy", "rebellion", "giants", "token", "twilight"])
def test_tec_01_all_sources_offer_the_same_tiles(source):
    faction = "SPACE_GIANTS" if source == "giants" else "TERRANS"
    tokens = DEALT["ship_tokens"] | {"TWILIGHT": "SFT_TECH"}
    table = own(home(faction, ship_tokens=tokens), 0, "REBELLION", "TWILIGHT", "BT4_INC_C4")
    if source == "lab":
        table = lab(table)
    elif source == "academy":
        table = table.planet("1,0", "Red").place(0, "1,0", "RL")
        table = table.play("upgrade 1,0", "piece AC_A")
    elif source == "rebellion":
        table = table.give(0, qic=3).play("ship REB_Q")
    elif source == "giants":
        table = table.give(0, built=(0, 0, 1, 3, 0, 0, 0)).play("upgrade 0,0")
        assert piece(table, "0,0") == "PI"
    elif source == "twilight":
        table = table.give(0, power=(0, 0, 3)).play("ship TWI_P", "pick 0,0")
    else:
        table = own(table, 0, "SFT_TECH").give(0, qic=3)
        table = table.play("ship TWI_Q", "token TWILIGHT")
    assert table.node == Node.TILE
    basic = {f"tile {tile}" for tile in BASIC if tile != "BT4_INC_C4"}
    assert table.options() == basic | {"tile LF-NAV+1"}


def test_tec_02_a_ship_tile_needs_an_own_shuttle_there():
    assert not lab(home()).can("tile LF-ORE1-KN3")
    table = lab(own(home(), 0, "TF_MARS"))
    assert table.can("tile LF-ORE1-KN3") and not table.can("tile LF-TF2-FREE-MINE")


@pytest.mark.parametrize("level", [3, 4, 5])
def test_tec_02_an_advanced_tile_needs_level_4_of_its_track(level):
    table = lab(at(own(home(), 0, "FT_7VP_2O", "BT4_INC_C4"), 0, ai=level))
    assert table.options("advanced") == ({"advanced ai"} if level >= 4 else set())


def test_tec_02_an_advanced_tile_needs_a_green_token_and_a_tile_to_cover():
    table = at(home(), 0, ai=4)
    green, tile = own(table, 0, "FT_7VP_2O"), own(table, 0, "BT4_INC_C4")
    assert not lab(green).options("advanced") and not lab(tile).options("advanced")
    both = own(green, 0, "BT4_INC_C4")
    assert lab(both).options("advanced") == {"advanced ai"}
    assert not lab(both.give(0, covered=both.player(0).tiles)).options("advanced")
    assert not lab(own(tile, 0, "FT_12VP")).options("advanced")


def test_tec_02_a_taken_advanced_tile_is_gone():
    table = at(own(home(), 0, "FT_7VP_2O", "BT4_INC_C4"), 0, ai=4, science=4)
    table = table.set_turn(advanced_left=0b1111011)  # all but the slot of ai
    assert lab(table).options("advanced") == {"advanced science"}


def test_tec_03_an_owned_kind_is_not_offered_covered_or_not():
    table = own(home(), 0, "BT4_INC_C4", "BT9_7VP")
    table = lab(table.give(0, covered=1 << 3))
    assert table.options() == {f"tile {t}" for t in BASIC if t not in ("BT4_INC_C4", "BT9_7VP")}


def test_tec_03_with_nothing_to_take_the_gain_is_skipped():
    table = lab(own(home(), 0, *BASIC))
    assert piece(table, "0,0") == "RL" and table.node == Node.AFTER


def test_act_10_rebellion_is_illegal_with_nothing_to_take():
    table = own(home(), 0, "REBELLION", *BASIC).give(0, qic=3)
    assert table.can("ship REB_Q")  # the tile of the ship itself
    assert not own(table, 0, "LF-NAV+1").can("ship REB_Q")


def test_tec_04_a_tile_must_be_taken():
    assert not lab(home()).can("skip")


@pytest.mark.parametrize(
    ("tile", "gain"),
    [("BT3_O1_Q1", {"ore": 12, "qic": 1}), ("LF-ORE1-KN3", {"ore": 12, "knowledge": 3})],
)
def test_tec_08_a_tile_gives_at_once_what_it_says(tile, gain):
    table = lab(own(home(), 0, "TF_MARS")).play(f"tile {tile}")
    assert {name: getattr(table.player(0), name) for name in gain} == gain


def test_tec_08_the_tile_of_seven_vp():
    assert lab(home()).play("tile BT9_7VP").vp(0, "BASIC_TILE") == 7


def test_tec_05_a_covered_tile_ends_and_still_counts_as_owned():
    table = own(home(), 0, "FT_7VP_2O", "BT1_ACT_CHARGE4", "BT4_INC_C4")
    table = at(table, 0, navigation=4)
    assert table.can("special BT1_ACT_CHARGE4")
    table = lab(table).play("advanced navigation")
    assert table.node == Node.COVER
    assert table.options() == {"tile BT1_ACT_CHARGE4", "tile BT4_INC_C4"}
    table = table.play("tile BT1_ACT_CHARGE4", "advance ai").turn(0)
    row = table.player(0)
    assert (row.tiles, row.covered, row.green) == (0b1001, 0b1, 0)
    assert not table.can("special BT1_ACT_CHARGE4") and table.can("special SA-O-3")


def test_tec_05_an_advanced_tile_is_never_covered_a_ship_tile_may_be():
    table = at(own(home(), 0, "FT_7VP_2O", "FT_8VP_QIC", "LF-NAV+1"), 0, ai=4, science=4)
    table = own(table, 0, "RS-2VP").set_turn(advanced_left=0b1111011)
    assert lab(table).play("advanced science").options() == {"tile LF-NAV+1"}


def test_tec_08_the_tile_works_before_its_own_step():
    table = lab(at(own(home(), 0, "FT_7VP_2O", "BT4_INC_C4"), 0, ai=4))
    table = table.play("advanced ai", "tile BT4_INC_C4", "advance science")
    assert table.vp(0, "ADVANCED_TILE") == 2


def test_tec_08_the_free_mine_comes_before_the_step():
    table = lab(own(home(planets={"1,0": "Blue"}), 0, "ECLIPSE")).play("tile LF-TF2-FREE-MINE")
    assert table.node == Node.FREE_MINE
    table = table.play("pick 1,0")
    assert table.node == Node.STEP and piece(table, "1,0") == "MINE"


def test_tec_09_a_track_slot_steps_on_its_own_track():
    table = lab(home()).play("tile BT5_INC_C1_K1")
    assert (step(table, "ai"), table.node) == (1, Node.AFTER)


def test_tec_09_to_enter_level_5_by_a_tile_is_a_choice():
    table = lab(at(own(home(), 0, "FT_7VP_2O"), 0, ai=4)).play("tile BT5_INC_C1_K1")
    assert table.options() == {"advance ai", "skip"}
    yes, no = table.play("advance ai"), table.play("skip")
    assert (step(yes, "ai"), yes.player(0).green) == (5, 0)
    assert (step(no, "ai"), no.player(0).green) == (4, 1)


def test_tec_09_without_a_green_token_there_is_no_question():
    table = lab(at(home(), 0, ai=4)).play("tile BT5_INC_C1_K1")
    assert (step(table, "ai"), table.node) == (4, Node.AFTER)


def test_tec_09_a_free_step_is_mandatory_while_one_stays_below_level_5():
    table = at(own(home(), 0, "FT_7VP_2O"), 0, **dict.fromkeys(TRACKS, 4))
    below = at(table, 0, **(dict.fromkeys(TRACKS, 4) | {"science": 3}))
    assert lab(below).play("tile BT9_7VP").options() == {f"advance {t}" for t in TRACKS}
    options = {f"advance {t}" for t in TRACKS} | {"skip"}
    assert lab(table).play("tile BT9_7VP").options() == options


def test_tec_09_when_nothing_can_advance_the_step_is_skipped():
    table = lab(at(home(), 0, **dict.fromkeys(TRACKS, 4))).play("tile BT9_7VP")
    assert table.node == Node.AFTER and table.player(0).tracks == (4,) * 6


@pytest.mark.parametrize("tile", ["BT9_7VP", "BT4_INC_C4", "BT1_ACT_CHARGE4", "LF-NAV+1"])
def test_tec_10_free_slots_and_ship_tiles_step_anywhere(tile):
    table = lab(own(home(), 0, "REBELLION")).play(f"tile {tile}")
    assert table.options() == {f"advance {track}" for track in TRACKS}


def test_tec_10_advanced_tiles_step_anywhere():
    table = lab(at(own(home(), 0, "FT_7VP_2O", "BT4_INC_C4"), 0, science=4))
    table = table.play("advanced science", "tile BT4_INC_C4")
    assert table.options() == {f"advance {t}" for t in TRACKS if t != "science"}


def test_tec_13_the_free_mine_takes_two_steps_and_no_asteroid():
    planets = {"1,0": "Orange", "0,1": "Asteroid", "1,-1": "Proto", "-1,0": "Gaia"}
    table = own(home(planets=planets), 0, "ECLIPSE").give(0, gaiaformers=1)
    table = lab(table.give(0, ore=6, qic=0)).play("tile LF-TF2-FREE-MINE")
    # 3 ore are left after the lab, the third step to the proto planet costs 3.
    assert table.options() == {"pick 1,0", "pick 1,-1", "skip"}
    assert table.play("pick 1,0").player(0).ore == 3
    proto = table.play("pick 1,-1")
    assert (proto.player(0).ore, proto.vp(0, "PROTO")) == (0, 6)


def test_tec_13_the_free_mine_needs_a_piece_and_may_be_refused():
    table = own(home(planets={"1,0": "Blue"}), 0, "ECLIPSE")
    full = lab(table.give(0, built=(0, 8, 1, 0, 1, 0, 0))).play("tile LF-TF2-FREE-MINE")
    assert full.node == Node.STEP
    refused = lab(table).play("tile LF-TF2-FREE-MINE", "skip")
    assert refused.node == Node.STEP and piece(refused, "1,0") == "NONE"


def test_tec_13_the_free_mine_is_scored_and_leeched():
    table = own(home(planets={"1,0": "Orange", "2,0": "Red"}, mission="RM-TF-2VP"), 0, "ECLIPSE")
    table = table.place(1, "2,0").give(1, power=(4, 0, 0))
    table = lab(table).play("tile LF-TF2-FREE-MINE", "pick 1,0", "advance ai")
    assert table.vp(0, "ROUND_TILE") == 4
    assert table.player(1).power == (2, 2, 0)  # 1 for the lab, 1 for the mine


def test_tec_14_condition_a_is_25_vp():
    table = own(home(extra_condition="A"), 0, "FT_7VP_2O", "BT4_INC_C4", vp=25)
    assert lab(table).options("advanced") == {"advanced extra"}
    assert not lab(table.give(0, vp=24)).options("advanced")


def test_tec_14_vp_of_the_same_action_count_for_condition_a():
    table = own(home(extra_condition="A"), 0, "FT_7VP_2O", "BT4_INC_C4", vp=20)
    academy = table.place(0, "0,0", "RL").give(0, built=(0, 0, 0, 1, 1, 0, 0))
    assert not academy.play("upgrade 0,0", "piece AC_A").options("advanced")
    table = own(
        home(extra_condition="A", mission="RM-PI-ACAD-1-5VP", structure="RL"),
        0, "FT_7VP_2O", "BT4_INC_C4", vp=20,
    ).give(0, built=(0, 0, 0, 1, 1, 0, 0))  # fmt: skip
    table = table.play("upgrade 0,0", "piece AC_A")
    assert table.player(0).vp == 25 and table.options("advanced") == {"advanced extra"}


def test_tec_14_condition_b_is_three_ships():
    table = own(home(), 0, "FT_7VP_2O", "BT4_INC_C4", "TWILIGHT", "REBELLION", vp=90)
    assert not lab(table).options("advanced")
    assert lab(own(table, 0, "ECLIPSE")).options("advanced") == {"advanced extra"}


def test_tec_16_knowledge_for_each_type_the_artifact_types_too():
    planets = {"1,0": "Red", "2,0": "Red", "3,0": "Gaia"}
    table = home(planets=planets).place(0, "1,0").place(0, "2,0").place(0, "3,0")
    table = own(table, 0, "ART-AS-MINE")  # Blue, Red, Gaia and Asteroid
    assert lab(table).play("tile BT7_TYPES_K").player(0).knowledge == 4
