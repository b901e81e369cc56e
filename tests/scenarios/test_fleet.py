"""Exploring, the tiles of the ships, and the extra advanced tile."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import BESIDE, at, own, piece, scene


def explorer(*factions, ship="TWILIGHT", **fields):
    """A mine of player 0 beside the ship, who has no QIC and 10 VP."""
    table = scene(*(factions or ("GEODENS",)), planets={BESIDE[ship]: "Orange"})
    return table.stand(0, BESIDE[ship]).give(0, **({"qic": 0, "vp": 10} | fields)).turn(0)


def lab(*things, ship_tiles=("LF-NAV+1", "LF-ORE1-KN3", "LF-TF2-FREE-MINE"), **fields):
    """Geodens who may turn their station at 0,0 into a lab; things they own besides."""
    laid = dict(zip(("REBELLION", "TF_MARS", "ECLIPSE"), ship_tiles, strict=True))
    setup = {"ship_tiles": laid, "extra_condition": fields.pop("condition", "B")}
    near = {"0,0": "Orange", "1,0": "Brown", "0,1": "Asteroid", "3,-2": "Orange"}
    table = scene("GEODENS", planets=near, **setup).stand(0, "0,0", "TS")
    table = own(table, 0, *things, **({"ore": 3, "credits": 5, "qic": 0} | fields))
    return table.turn(0)


def to_lab(table):
    """The lab is built; a tile is to be taken."""
    table = table.play("upgrade 0,0")
    return table.play("piece RL") if table.node == Node.PIECE else table


@pytest.mark.parametrize("ship", sorted(BESIDE))
def test_exp_01_a_shuttle_costs_5_vp(ship):
    table = explorer(ship=ship).play(f"explore {ship}")
    assert table.vp(0, "EXPLORE") == -5 and table.player(0).vp == 5
    assert table.player(0).shuttles == 1 << table.env.ruleset.ids["ship"].index(ship)


def test_exp_01_vp_must_be_there():
    assert explorer(vp=5).can("explore TWILIGHT") and not explorer(vp=4).can("explore TWILIGHT")


@pytest.mark.parametrize("earlier, charged", [(0, 0), (1, 2), (2, 2), (3, 3)])
def test_exp_02_the_kth_shuttle_takes_slot_k_and_charges_0_2_2_3(earlier, charged):
    table = explorer(power=(5, 0, 0))
    for other in range(earlier):
        table = own(table, other + 1, "TWILIGHT")
    table = table.turn(0).play("explore TWILIGHT")
    assert table.player(0).power == (5 - charged, charged, 0)


def test_exp_02_the_charge_is_no_leech_and_costs_no_vp():
    table = own(explorer(power=(5, 0, 0)), 1, "TWILIGHT").turn(0).play("explore TWILIGHT")
    assert table.player(0).vp == 5 and table.vp(0, "LEECH") == 0


def test_exp_02_the_charge_comes_after_paying():
    # The Itars discard their one token first: nothing is left to charge.
    table = own(explorer("ITARS", power=(1, 0, 0)), 1, "TWILIGHT").turn(0)
    assert table.play("explore TWILIGHT").player(0).power == (0, 0, 0)


def test_exp_03_one_shuttle_a_ship_and_three_in_all():
    table = own(explorer(), 0, "TWILIGHT").turn(0)
    assert not table.can("explore TWILIGHT")
    three = own(explorer(), 0, "REBELLION", "ECLIPSE", "TF_MARS").turn(0)
    assert not three.can("explore TWILIGHT")
    assert own(explorer(), 0, "REBELLION", "ECLIPSE").turn(0).can("explore TWILIGHT")


def test_min_05_range_to_a_ship_is_paid_in_qic():
    table = explorer().planet("-1,1", "Orange").stand(0, "-1,1").turn(0)  # Rebellion at 2
    assert not table.can("explore REBELLION")
    table = table.give(0, qic=1).turn(0).play("explore REBELLION")
    assert table.player(0).qic == 0


def test_exp_05_actions_of_the_ship_come_with_the_next_turn():
    table = explorer(knowledge=5, power=(0, 0, 4)).play("explore TWILIGHT")
    assert not table.options("ship") and not table.options("artifact")
    assert table.turn(0).can("ship TWI_K")


def test_exp_06_a_ship_is_no_range_source_no_type_no_sector():
    table = explorer(ore=9, credits=9).planet("1,3", "Orange").turn(0)  # beside Twilight, at 2
    table = table.play("explore TWILIGHT").turn(0)
    assert not table.can("mine 1,3") and sum(table.player(0).colonized) == 1
    assert table.player(0).sectors == explorer().player(0).sectors


def test_exp_06_exploring_is_not_leeched():
    table = explorer().planet("1,0", "Red").stand(1, "1,0", "PI").give(1, power=(4, 0, 0))
    table = table.turn(0).play("explore TWILIGHT")
    assert table.player(1).power == (4, 0, 0) and table.node != Node.LEECH


def test_exp_01_bal_taks_pay_7_vp():
    assert explorer("BAL_TAKS", vp=7).play("explore TWILIGHT").player(0).vp == 0
    assert not explorer("BAL_TAKS", vp=6).can("explore TWILIGHT")


@pytest.mark.parametrize("faction", ["ITARS", "NEVLAS"])
def test_exp_07_itars_and_nevlas_lose_a_token_for_good(faction):
    table = explorer(faction, power=(0, 1, 2)).play("explore TWILIGHT")
    assert table.player(0).power == (0, 0, 2) and table.player(0).gaia_power == 0
    assert not explorer(faction, power=(0, 0, 0), gaia_power=3).can("explore TWILIGHT")


@pytest.mark.parametrize("bowl", [0, 1, 2])
def test_exp_01_taklons_send_the_brainstone_to_the_gaia_area(bowl):
    table = explorer("TAKLONS", power=(2, 2, 0), brainstone=bowl).play("explore TWILIGHT")
    assert table.player(0).brainstone == 3 and table.player(0).power == (2, 2, 0)


@pytest.mark.parametrize("place", [3, -1])
def test_exp_01_taklons_cannot_explore_without_the_brainstone(place):
    assert not explorer("TAKLONS", power=(2, 2, 0), brainstone=place).can("explore TWILIGHT")


def test_tec_02_the_tile_of_a_ship_is_for_those_with_a_shuttle_there():
    assert not to_lab(lab()).options("tile") & {"tile LF-NAV+1", "tile LF-ORE1-KN3"}
    offered = to_lab(lab("REBELLION")).options("tile")
    assert "tile LF-NAV+1" in offered and "tile LF-ORE1-KN3" not in offered


def test_tec_02_twilight_has_no_tile():
    assert not {t for t in to_lab(lab("TWILIGHT")).options("tile") if "LF-" in t}


def test_tec_03_a_ship_tile_owned_is_not_offered_again():
    table = to_lab(lab("REBELLION", "LF-NAV+1"))
    assert "tile LF-NAV+1" not in table.options("tile")


def test_lf_ore1_kn3_gives_1_ore_and_3_knowledge_and_a_free_step():
    table = to_lab(lab("TF_MARS", knowledge=0)).play("tile LF-ORE1-KN3")
    assert (table.player(0).ore, table.player(0).knowledge) == (1, 3)
    assert table.node == Node.STEP and len(table.options("advance")) == 6  # TEC-10


def test_min_04_lf_nav_1_reaches_one_farther_until_it_is_covered():
    table = lab("LF-NAV+1", ore=9, credits=9).planet("2,0", "Orange").turn(0)
    assert table.can("mine 2,0") and not table.can("mine 3,-2")
    index = table.env.ruleset.ids["tile"].index("LF-NAV+1")
    assert not table.give(0, covered=1 << index).turn(0).can("mine 2,0")


def test_tec_13_lf_tf2_builds_a_mine_with_2_free_steps_and_no_base_cost():
    table = to_lab(lab("ECLIPSE")).play("tile LF-TF2-FREE-MINE")  # nothing is left to pay with
    assert table.node == Node.FREE_MINE and table.options() == {"pick 1,0", "skip"}
    table = table.play("pick 1,0")  # Brown, 2 steps; then the step of the tile (TEC-08)
    assert piece(table, "1,0") == "MINE" and table.node == Node.STEP
    assert (table.player(0).ore, table.player(0).credits) == (0, 0)


def test_tec_13_lf_tf2_may_be_skipped_and_takes_no_asteroid():
    table = to_lab(lab("ECLIPSE", gaiaformers=1)).play("tile LF-TF2-FREE-MINE")
    assert not table.can("pick 0,1")
    table = table.play("skip")
    assert table.node == Node.STEP and piece(table, "1,0") == "NONE"


def test_tec_13_lf_tf2_pays_the_third_step_and_the_range():
    table = lab("ECLIPSE", ore=6, qic=1).planet("1,0", "Black").turn(0)  # 3 steps
    table = to_lab(table).play("tile LF-TF2-FREE-MINE")
    assert table.can("pick 1,0") and table.can("pick 3,-2")
    assert table.play("pick 1,0").player(0).ore == 0
    assert table.play("pick 3,-2").player(0).qic == 0


def test_tec_13_lf_tf2_wants_a_mine_piece():
    table = lab("ECLIPSE").give(0, built=(0, 8, 1, 0, 0, 0, 0)).turn(0)
    assert to_lab(table).play("tile LF-TF2-FREE-MINE").node == Node.STEP  # nothing to choose (A12)


def test_tec_13_lf_tf2_scores_the_steps_it_needed():
    near = {"0,0": "Orange", "1,0": "Brown"}
    tiles = {"REBELLION": "LF-NAV+1", "TF_MARS": "LF-ORE1-KN3", "ECLIPSE": "LF-TF2-FREE-MINE"}
    table = scene("GEODENS", planets=near, mission="RM-TF-2VP", ship_tiles=tiles)
    table = own(table.stand(0, "0,0", "TS"), 0, "ECLIPSE", ore=3, credits=5).turn(0)
    table = to_lab(table).play("tile LF-TF2-FREE-MINE", "pick 1,0")
    assert table.vp(0, "ROUND_TILE") == 4


EXTRA = ("BT9_7VP", "FT_6VP_2K")  # something to cover, a green token
THREE = ("ECLIPSE", "TF_MARS", "TWILIGHT")


@pytest.mark.parametrize("vp, offered", [(25, True), (24, False)])
def test_tec_14_condition_a_is_25_vp(vp, offered):
    table = to_lab(lab(*EXTRA, condition="A", vp=vp))
    assert table.can("advanced extra") == offered


@pytest.mark.parametrize("ships, offered", [(THREE, True), ((), False)])
def test_tec_14_condition_b_is_shuttles_on_three_ships(ships, offered):
    table = to_lab(lab(*EXTRA, *ships, condition="B", vp=60))
    assert table.can("advanced extra") == offered
    assert not to_lab(lab(*EXTRA, "ECLIPSE", "TWILIGHT", condition="B")).can("advanced extra")


def test_tec_14_condition_a_counts_the_vp_of_the_same_upgrade():
    near, round_tile = {"0,0": "Orange"}, "RM-PI-ACAD-1-5VP"
    table = scene("GEODENS", planets=near, extra_condition="A", mission=round_tile)
    table = own(table.stand(0, "0,0", "RL"), 0, *EXTRA, ore=6, credits=6, vp=20).turn(0)
    assert table.play("upgrade 0,0", "piece AC_A").can("advanced extra")  # 20 + 5


def test_tec_02_the_extra_tile_wants_a_green_token_and_a_tile_to_cover():
    assert not to_lab(lab(*THREE, "BT9_7VP")).can("advanced extra")
    assert not to_lab(lab(*THREE, "FT_6VP_2K")).can("advanced extra")
    assert not to_lab(lab(*THREE, "BT9_7VP", "FT_12VP")).can("advanced extra")  # grey (TEC-07)


def test_tec_05_the_extra_tile_flips_the_token_covers_and_gives_any_step():
    table = to_lab(lab(*EXTRA, *THREE)).play("advanced extra")
    assert table.node == Node.COVER and table.options() == {"tile BT9_7VP"}
    table = table.play("tile BT9_7VP")
    assert table.player(0).green == 0 and table.player(0).covered == 1 << 8
    assert table.node == Node.STEP and len(table.options("advance")) == 6
    assert not int(table.game.turn.advanced_left) >> 6 & 1


def test_tec_02_a_track_tile_needs_level_4_and_the_extra_tile_no_level():
    table = to_lab(at(lab(*EXTRA, *THREE), 0, ai=4, science=3).turn(0))
    assert table.options("advanced") == {"advanced ai", "advanced extra"}
