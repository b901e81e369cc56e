"""The advanced tiles (ADV)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, last_to_pass, own, scene, upgraded

# Deep sectors: deep 2 holds 2,4 and 2,5; deep 3 holds 7,0. Sector 1 is around 0,0, sector 2 around
# 5,-4, sector 10 around -4,-1.


def taking(tile, planets=None, faction="TERRANS", structure="TS", **setup):
    """Player 0 is to take `tile` after a lab at 0,0, covering BT4."""
    planets = {"0,0": "Blue"} | (planets or {})
    pool = [t for t in ("TS-4VP", "SA-O-3", "RS-2VP", "SA-K-3", "TF-2VP", "FED-5VP") if t != tile]
    slots = ("terraforming", "navigation", "ai", "gaia", "economy", "extra")
    tiles = dict(zip(slots, pool + ["MS-ORE"], strict=False)) | {"science": tile}
    table = scene(faction, planets=planets, advanced_tiles=tiles, **setup)
    table = table.place(0, "0,0", structure).give(0, credits=20, ore=10, knowledge=0)
    return own(at(table, 0, science=4), 0, "FT_7VP_2O", "BT4_INC_C4")


def take(table, piece="RL"):
    """The upgrade at 0,0, the tile, its covering, a step in ai."""
    table = upgraded(table, piece).play("advanced science", "tile BT4_INC_C4")
    return table.play("advance terraforming")


def owner(tile, planets=None, faction="TERRANS", **setup):
    """A mine of player 0 at 0,0, who owns the tile."""
    table = scene(faction, planets={"0,0": "Blue"} | (planets or {}), **setup).place(0, "0,0")
    table = own(table, 0, tile)
    return table.give(0, credits=20, ore=12, knowledge=9, qic=9, power=(0, 0, 9))


SHIP_QIC = [
    ("REB_Q", "REBELLION"),
    ("TWI_Q", "TWILIGHT"),
    ("TFM_Q", "TF_MARS"),
    ("ECL_Q", "ECLIPSE"),
]


@pytest.mark.parametrize(("action", "ship"), SHIP_QIC)
def test_adv_01_four_vp_after_each_qic_action_of_a_ship(action, ship):
    table = own(owner("SA-QIC-4VP"), 0, ship, "FT_7VP_2O").play(f"ship {action}")
    if action == "TWI_Q":
        table = table.play("token FT_7VP_2O")
    if action == "REB_Q":
        assert table.vp(0, "ADVANCED_TILE") == 0  # when all is resolved
        table = table.play("tile BT9_7VP", "advance ai")
    assert table.vp(0, "ADVANCED_TILE") == 4


@pytest.mark.parametrize(
    "text", ["mine 2,0", "mine 0,1", "free Q_to_O", "ship REB_K", "advance ai", "power PA_2O"]
)
def test_adv_01_other_qic_give_nothing(text):
    table = own(owner("SA-QIC-4VP", {"2,0": "Blue", "0,1": "Gaia"}), 0, "REBELLION")
    assert table.play(text).vp(0, "ADVANCED_TILE") == 0


def test_adv_01_the_tile_taken_by_the_rebellion_does_not_pay_itself():
    table = own(taking("SA-QIC-4VP"), 0, "REBELLION").give(0, qic=3).play("ship REB_Q")
    table = table.play("advanced science", "tile BT4_INC_C4", "advance ai")
    assert table.vp(0, "ADVANCED_TILE") == 0


def test_adv_02_two_vp_a_mine_with_guests_the_lost_planet_and_artifact_mines():
    planets = {"1,0": "Red", "2,0": "Red", "3,0": "Lost"}
    table = taking("MINE-2VP", planets, "LANTIDS").place(0, "1,0").place(0, "3,0")
    table = own(table.place(1, "2,0").place(0, "2,0", "GUEST"), 0, "ART-PP-MINE")
    assert take(table).vp(0, "ADVANCED_TILE") == 8


def test_adv_03_the_building_that_gives_the_tile_counts_and_the_replaced_one_does_not():
    academy = taking("PI-AC-6VP", structure="RL")
    assert take(academy, "AC_A").vp(0, "ADVANCED_TILE") == 6
    stations = taking("TS-4VP", {"1,0": "Red"}).place(0, "1,0", "TS")
    assert take(stations).vp(0, "ADVANCED_TILE") == 4


def test_adv_03_six_vp_for_the_institute_and_both_academies():
    table = taking("PI-AC-6VP", {"1,0": "Red", "2,0": "Red", "3,0": "Red"})
    table = table.place(0, "1,0", "PI").place(0, "2,0", "AC_A").place(0, "3,0", "AC_B")
    assert take(table).vp(0, "ADVANCED_TILE") == 18


def test_adv_04_two_vp_on_passing_for_asteroids_with_the_artifact_not_for_protos():
    table = owner("AST-2VP-PASS", {"1,0": "Asteroid", "2,0": "Proto"})
    table = own(table.place(0, "1,0").place(0, "2,0"), 0, "ART-AS-MINE", "ART-PP-MINE")
    assert table.play("booster RB7").vp(0, "ADVANCED_TILE") == 4


def test_adv_05_two_vp_for_each_gaia_planet_native_or_formed_not_for_guests():
    planets = {"1,0": "Gaia", "2,0": "Gaia", "3,0": "Gaia"}
    table = taking("GAIA-2VP", planets, "LANTIDS").place(0, "1,0").place(0, "2,0", "GAIAFORMER")
    table = table.place(1, "3,0").place(0, "3,0", "GUEST")
    assert take(table).vp(0, "ADVANCED_TILE") == 2


def test_adv_06_five_vp_for_each_token_green_or_grey_of_any_pool():
    table = own(taking("FED-5VP"), 0, "FT_12VP", "FT_12VP", "SFT_12VP", "FT_GLEENS")
    assert take(table).vp(0, "ADVANCED_TILE") == 25


def test_adv_06_three_vp_for_each_token_on_passing():
    table = own(owner("FED-3VP-PASS"), 0, "FT_12VP", "FT_7VP_2O").give(0, green=0)
    assert table.play("booster RB7").vp(0, "ADVANCED_TILE") == 6


def test_adv_07_sectors_count_once_and_deep_ones_apart():
    planets = {"1,0": "Red", "5,-4": "Red", "2,4": "Red", "2,5": "Red", "7,0": "Lost"}
    planets |= {"3,-1": "Asteroid", "-4,-1": "Transdim"}  # interspace, a gaiaformer
    expected = {"MS-2VP": ("vp", 4), "DG-4VP": ("vp", 8), "MS-ORE": ("ore", 2)}
    for tile, (kind, amount) in expected.items():
        table = taking(tile, planets)
        for cell in ("1,0", "5,-4", "2,4", "2,5", "7,0", "3,-1"):
            table = table.place(0, cell)
        table = take(table.place(0, "-4,-1", "GAIAFORMER"))
        if kind == "vp":
            assert table.vp(0, "ADVANCED_TILE") == amount
        else:
            assert table.player(0).ore == 10 - 3 + 2 + amount  # the lab, terraforming 1


def test_adv_07_a_guest_counts_for_its_sector():
    table = taking("MS-2VP", {"5,-4": "Red"}, "LANTIDS").place(1, "5,-4")
    assert take(table.place(0, "5,-4", "GUEST")).vp(0, "ADVANCED_TILE") == 4


def test_adv_07_two_vp_a_deep_sector_on_passing():
    table = owner("DG-2VP-PASS", {"2,4": "Red", "2,5": "Red", "7,0": "Red"})
    table = table.place(0, ["2,4", "2,5", "7,0"])
    assert table.play("booster RB7").vp(0, "ADVANCED_TILE") == 4


def test_adv_08_three_vp_for_each_new_trading_station():
    table = own(owner("TRADE-3VP-UPG", {"1,0": "Blue"}), 0, "REBELLION")
    assert table.play("upgrade 0,0").vp(0, "ADVANCED_TILE") == 3
    assert table.play("ship REB_P", "pick 0,0").vp(0, "ADVANCED_TILE") == 3
    assert table.play("mine 1,0").vp(0, "ADVANCED_TILE") == 0


@pytest.mark.parametrize(
    ("colour", "steps"), [("Blue", 0), ("Red", 1), ("Orange", 2), ("Brown", 3)]
)
def test_adv_09_two_vp_for_each_step_the_planet_needs(colour, steps):
    table = owner("TF-2VP", {"1,0": colour})
    assert table.play("mine 1,0").vp(0, "ADVANCED_TILE") == 2 * steps
    free = table.play("power PA_TF2", "pick 1,0")
    assert free.vp(0, "ADVANCED_TILE") == 2 * steps


def test_adv_09_a_gaia_planet_and_an_asteroid_need_no_step_a_proto_three():
    table = owner("TF-2VP", {"1,0": "Gaia", "0,1": "Asteroid", "-1,0": "Proto"})
    table = table.give(0, gaiaformers=1)
    assert table.play("mine 1,0").vp(0, "ADVANCED_TILE") == 0
    assert table.play("mine 0,1").vp(0, "ADVANCED_TILE") == 0
    assert table.play("mine -1,0").vp(0, "ADVANCED_TILE") == 6


@pytest.mark.parametrize(
    ("tile", "gain"),
    [
        ("SA-K-3", {"knowledge": 3}),
        ("SA-O-3", {"ore": 3}),
        ("SA-QIC-CRED", {"qic": 1, "credits": 5}),
    ],
)
def test_adv_10_a_special_works_once_a_round_as_a_main_action(tile, gain):
    table = owner(tile).give(0, credits=0, ore=0, knowledge=0, qic=0)
    table = table.play(f"special {tile}")
    assert {name: getattr(table.player(0), name) for name in gain} == gain
    assert table.node == Node.AFTER
    assert not table.turn(0).can(f"special {tile}")
    next_round = last_to_pass(table.turn(0)).play("booster RB7").turn(0)
    assert next_round.can(f"special {tile}")


def test_adv_10_a_special_waits_for_the_next_turn():
    table = take(taking("SA-K-3"))
    assert table.node == Node.AFTER and not table.can("special SA-K-3")
    assert table.turn(0).can("special SA-K-3")
    assert not table.turn(1).can("special SA-K-3")


def test_adv_02_three_vp_for_each_mine_built_of_any_kind():
    planets = {"1,0": "Blue", "0,1": "Gaia"}
    table = owner("MINE-3VP-BUILD", planets)
    assert table.play("mine 1,0").vp(0, "ADVANCED_TILE") == 3
    assert table.play("mine 0,1").vp(0, "ADVANCED_TILE") == 3
    assert table.play("upgrade 0,0").vp(0, "ADVANCED_TILE") == 0


def test_adv_02_an_artifact_mine_is_a_mine_built():
    artifacts = ["ART-PP-MINE", "ART-AS-MINE", "ART-K-QIC", "ART-RS3VP"]
    table = own(owner("MINE-3VP-BUILD", artifacts=artifacts), 0, "TWILIGHT")
    assert table.play("artifact 1").vp(0, "ADVANCED_TILE") == 3
    assert table.play("artifact 3").vp(0, "ADVANCED_TILE") == 0


def test_tec_08_two_vp_for_every_research_step():
    assert owner("RS-2VP").play("advance ai").vp(0, "ADVANCED_TILE") == 2
    assert owner("TF-2VP").play("advance ai").vp(0, "ADVANCED_TILE") == 0


def test_pas_04_labs_and_types_score_on_passing():
    table = owner("RS-3VP-PASS", {"1,0": "Red", "2,0": "Red"})
    table = table.place(0, "1,0", "RL").place(0, "2,0", "RL")
    assert table.play("booster RB7").vp(0, "ADVANCED_TILE") == 6
    types = own(owner("TYPE-1VP-PASS", {"1,0": "Lost"}).place(0, "1,0"), 0, "ART-AS-MINE")
    assert types.play("booster RB7").vp(0, "ADVANCED_TILE") == 3
