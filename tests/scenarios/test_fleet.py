"""Exploring, the tiles of the ships, and the extra advanced tile."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import NEXT_TO, at, own, piece, scene, upgraded


def explorer(*factions, ship="TWILIGHT", **fields):
    """A mine of player 0, who has no QIC and 10 VP, next to the ship."""
    table = scene(*(factions or ("GEODENS",)), planets={NEXT_TO[ship]: "Orange"})
    return table.place(0, NEXT_TO[ship]).give(0, **({"qic": 0, "vp": 10} | fields)).turn(0)


def lab(*items, **fields):
    """Geodens who may turn their station at 0,0 into a lab; items they also own."""
    near = {"0,0": "Orange", "1,0": "Brown", "3,-2": "Orange"}
    table = scene("GEODENS", planets=near).place(0, "0,0", "TS")
    table = own(table, 0, *items, **({"ore": 3, "credits": 5, "qic": 0} | fields))
    return table.turn(0)


@pytest.mark.parametrize("ship", sorted(NEXT_TO))
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
    table = explorer().planet("-1,1", "Orange").place(0, "-1,1").turn(0)  # Rebellion at 2
    assert not table.can("explore REBELLION")
    table = table.give(0, qic=1).turn(0).play("explore REBELLION")
    assert table.player(0).qic == 0


def test_exp_05_actions_of_the_ship_come_with_the_next_turn():
    table = explorer(knowledge=5, power=(0, 0, 4)).play("explore TWILIGHT")
    assert not table.options("ship") and not table.options("artifact")
    assert table.turn(0).can("ship TWI_K")


def test_exp_06_a_ship_is_no_range_source_no_type_no_sector():
    table = explorer(ore=9, credits=9).planet("1,3", "Orange").turn(0)  # next to Twilight, at 2
    table = table.play("explore TWILIGHT").turn(0)
    assert not table.can("mine 1,3") and sum(table.player(0).colonized) == 1
    assert table.player(0).sectors == explorer().player(0).sectors


def test_exp_06_exploring_is_not_leeched():
    table = explorer().planet("1,0", "Red").place(1, "1,0", "PI").give(1, power=(4, 0, 0))
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


def test_tec_13_lf_tf2_builds_a_mine_with_2_free_steps_and_no_base_cost():
    table = upgraded(lab("ECLIPSE"), "RL")  # nothing is left to pay with
    table = table.play("tile LF-TF2-FREE-MINE")
    assert table.node == Node.FREE_MINE and table.options() == {"pick 1,0", "skip"}
    table = table.play("pick 1,0")  # Brown, 2 steps; then the step of the tile (TEC-08)
    assert piece(table, "1,0") == "MINE" and table.node == Node.STEP
    assert (table.player(0).ore, table.player(0).credits) == (0, 0)


def test_tec_13_lf_tf2_pays_the_third_step_and_the_range():
    table = lab("ECLIPSE", ore=6, qic=1).planet("1,0", "Black").turn(0)  # 3 steps
    table = upgraded(table, "RL").play("tile LF-TF2-FREE-MINE")
    assert table.can("pick 1,0") and table.can("pick 3,-2")
    assert table.play("pick 1,0").player(0).ore == 0
    assert table.play("pick 3,-2").player(0).qic == 0


EXTRA = ("BT9_7VP", "FT_6VP_2K")  # something to cover, a green token
THREE = ("ECLIPSE", "TF_MARS", "TWILIGHT")


def test_tec_02_the_extra_tile_wants_a_green_token_and_a_tile_to_cover():
    assert not upgraded(lab(*THREE, "BT9_7VP"), "RL").can("advanced extra")
    assert not upgraded(lab(*THREE, "FT_6VP_2K"), "RL").can("advanced extra")
    grey = lab(*THREE, "BT9_7VP", "FT_12VP")  # TEC-07
    assert not upgraded(grey, "RL").can("advanced extra")


def test_tec_05_the_extra_tile_flips_the_token_covers_and_gives_any_step():
    table = upgraded(lab(*EXTRA, *THREE), "RL").play("advanced extra")
    assert table.node == Node.COVER and table.options() == {"tile BT9_7VP"}
    table = table.play("tile BT9_7VP")
    assert table.player(0).green == 0 and table.player(0).covered == 1 << 8
    assert table.node == Node.STEP and len(table.options("advance")) == 6
    assert not int(table.game.turn.advanced_left) >> 6 & 1


def test_tec_02_a_track_tile_needs_level_4_and_the_extra_tile_no_level():
    table = upgraded(at(lab(*EXTRA, *THREE), 0, ai=4, science=3).turn(0), "RL")
    assert table.options("advanced") == {"advanced ai", "advanced extra"}
