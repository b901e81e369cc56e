"""The Terrans: the Gaia area pays. The Lantids: mines next to other players."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import POOR, last_to_pass, own, piece, planet, scene, upgraded


def gaia_phase(structure, tokens, **fields):
    """The Gaia phase of round 2: the Terrans with a structure and tokens in the Gaia area."""
    table = scene("TERRANS", "AMBAS", planets={"0,0": "Blue", "1,0": "Transdim"})
    table = table.place(0, "0,0", structure).give(0, **(POOR | {"gaia_power": tokens} | fields))
    table = last_to_pass(table.turn(0)).play("booster RB6")
    while table.node == Node.INCOME:
        table = table.play(min(table.options()))
    return table


def test_gai_05_the_tokens_return_to_bowl_ii_without_the_pi_too():
    table = gaia_phase("MINE", 6)
    assert table.node == Node.TURN and table.player(0).power == (0, 6, 0)
    assert table.player(0).credits == 0  # nothing is converted


def test_gai_08_with_the_pi_each_token_is_a_point_to_convert():
    table = gaia_phase("PI", 11)
    assert table.node == Node.TERRANS and table.decider == 0
    assert table.options() == {"free P4_to_Q", "free P3_to_O", "free P4_to_K", "skip"}
    before = table.player(0)
    table = table.play("free P4_to_Q", "free P3_to_O", "free P4_to_K")
    row = table.player(0)
    assert (row.qic, row.ore, row.knowledge) == (1, before.ore + 1, before.knowledge + 1)
    assert row.credits == before.credits and table.node == Node.TURN


def test_gai_08_all_tokens_are_in_bowl_ii_before_the_first_pick():
    table = gaia_phase("PI", 6)
    assert table.player(0).power[1] >= 6 and table.player(0).gaia_power == 0


def test_gai_08_what_is_left_turns_into_credits():
    table = gaia_phase("PI", 6)
    assert table.play("skip").player(0).credits == 6
    table = table.play("free P4_to_K")  # 2 points are too few for a pick
    assert table.node == Node.TURN and table.player(0).credits == 2


def test_gai_08_two_points_open_no_decision():
    table = gaia_phase("PI", 2)
    assert table.node == Node.TURN and table.player(0).credits == 2


@pytest.mark.parametrize("points, options", [(3, {"free P3_to_O", "skip"}), (4, None)])
def test_gai_08_a_pick_wants_its_points(points, options):
    choices = gaia_phase("PI", points).options()
    assert choices == (options or {"free P3_to_O", "free P4_to_K", "free P4_to_Q", "skip"})


def test_gai_08_no_pick_for_a_resource_at_its_cap():
    assert not gaia_phase("PI", 8, ore=15).can("free P3_to_O")
    assert not gaia_phase("PI", 8, knowledge=15).can("free P4_to_K")


def test_gai_05_the_tokens_of_a_project_come_back_and_pay():
    table = scene("TERRANS", "AMBAS", planets={"0,0": "Blue", "1,0": "Transdim"})
    table = table.place(0, "0,0", "PI").give(0, **(POOR | {"power": (6, 0, 0)})).turn(0)
    table = last_to_pass(table.play("project 1,0").turn(0)).play("booster RB6")
    while table.node == Node.INCOME:
        table = table.play(min(table.options()))
    assert table.node == Node.TERRANS and planet(table, "1,0") == "Gaia"
    assert table.play("free P4_to_Q").player(0).credits == 2


NEAR = {"0,0": "Blue", "1,0": "Red", "0,1": "Gaia", "-1,0": "Asteroid", "-1,1": "Proto"}


def lantids(structure="MINE", *items, host=("1,0", "TS"), mission="RM-FED-5VP", **fields):
    """Lantids at 0,0 with 1 ore and 2 credits; the Ambas next to them."""
    table = scene("LANTIDS", "AMBAS", planets=NEAR, mission=mission).place(0, "0,0", structure)
    table = table.place(1, *host).give(1, power=(0, 0, 0), brainstone=-1)
    given = POOR | {"ore": 1, "credits": 2, "tracks": (0,) * 6}
    return own(table, 0, *items, **(given | fields)).turn(0)


@pytest.mark.parametrize("cell", ["1,0", "0,1", "-1,0", "-1,1"])
def test_lan_01_a_guest_costs_a_mine_on_every_planet(cell):
    table = lantids(host=(cell, "TS")).play(f"mine {cell}")
    row = table.player(0)
    assert (row.ore, row.credits, row.qic, row.guests) == (0, 0, 0, 1)
    assert piece(table, cell) == "TS" and bool(table.game.board.has_guest[table.cell(cell)])
    assert not lantids(host=(cell, "TS"), ore=0).can(f"mine {cell}")


def test_lan_01_on_the_lost_planet_too_but_not_on_a_mere_gaiaformer():
    table = lantids().planet("0,-1", "Lost").place(1, "0,-1").turn(0)
    assert table.can("mine 0,-1")
    table = lantids().planet("0,-1", "Transdim").place(1, "0,-1", "GAIAFORMER").turn(0)
    assert not table.can("mine 0,-1")
    assert not table.planet("0,-1", "Gaia").turn(0).can("mine 0,-1")


def test_lan_01_one_guest_a_planet_and_none_on_an_own_planet():
    table = lantids(ore=5, credits=9)
    assert not table.can("mine 0,0") and table.can("mine 1,0")
    assert not table.play("mine 1,0").turn(0).can("mine 1,0")


def test_lan_01_only_the_lantids_build_beside_others():
    table = lantids().give(1, ore=9, credits=9).place(2, "0,1").turn(1)
    assert not table.can("mine 0,0") and not table.can("mine 0,1")


def test_lan_01_a_guest_needs_a_piece_and_range():
    assert not lantids(built=(0, 8, 0, 0, 0, 0, 0)).can("mine 1,0")
    table = lantids().planet("3,0", "Red").place(1, "3,0").turn(0)
    assert not table.can("mine 3,0") and table.give(0, qic=1).turn(0).can("mine 3,0")


def test_upg_05_a_guest_is_not_upgraded_and_the_host_is():
    table = lantids().play("mine 1,0").give(0, ore=9, credits=9).turn(0)
    assert table.options("upgrade") == {"upgrade 0,0"}
    table = table.give(1, ore=9, credits=9).turn(1)
    assert table.can("upgrade 1,0")  # LAN-03


@pytest.mark.parametrize("structure, knowledge", [("PI", 2), ("MINE", 0)])
def test_lan_02_the_pi_brings_2_knowledge_for_each_guest(structure, knowledge):
    assert lantids(structure).play("mine 1,0").player(0).knowledge == knowledge


def test_lan_02_not_for_an_ordinary_mine_and_not_for_earlier_guests():
    table = lantids("PI", ore=4).planet("0,-1", "Blue").turn(0).play("mine 0,-1")
    assert table.player(0).knowledge == 0
    table = lantids("TS", ore=5, credits=8).play("mine 1,0").turn(0).play("upgrade 0,0", "piece PI")
    assert table.player(0).knowledge == 0


@pytest.mark.parametrize(
    "mission, cell, vp",
    [
        ("RM-MINE-2VP", "1,0", 2),
        ("RM-DIV-3VP", "1,0", 0),
        ("RM-TF-2VP", "1,0", 0),
        ("RM-GAIA-3VP", "0,1", 0),
        ("RM-SECTOR-3VP", "1,0", 0),  # the sector of the own mine
    ],
)
def test_rms_02_to_06_what_a_guest_scores(mission, cell, vp):
    table = lantids(host=(cell, "TS"), mission=mission).play(f"mine {cell}")
    assert table.vp(0, "ROUND_TILE") == vp


def test_rms_06_a_guest_in_a_new_sector_scores_and_occupies_it():
    table = lantids(mission="RM-SECTOR-3VP", qic=2).planet("4,0", "Red").place(1, "4,0").turn(0)
    table = table.play("mine 4,0")
    assert table.vp(0, "ROUND_TILE") == 3
    table = table.planet("4,1", "Blue").give(0, ore=1, credits=2).turn(0).play("mine 4,1")
    assert table.vp(0, "ROUND_TILE") == 3


@pytest.mark.parametrize(
    "tile, cell, vp",
    [("MINE-3VP-BUILD", "1,0", 3), ("BT6_GAIA_3VP", "0,1", 0), ("TF-2VP", "1,0", 0)],
)
def test_a5_the_tiles_that_a_guest_triggers(tile, cell, vp):
    table = lantids("MINE", tile, host=(cell, "TS")).play(f"mine {cell}")
    assert table.vp(0, "ADVANCED_TILE") + table.vp(0, "BASIC_TILE") == vp


@pytest.mark.parametrize(
    "tile, cell, vp", [("AST-2VP-PASS", "-1,0", 2), ("TYPE-1VP-PASS", "-1,0", 1)]
)
def test_lan_01_pass_tiles_count_guests_on_asteroids_but_not_as_types(tile, cell, vp):
    table = lantids("MINE", tile, host=(cell, "TS")).play(f"mine {cell}").turn(0)
    assert last_to_pass(table).play("booster RB7").vp(0, "ADVANCED_TILE") == vp


@pytest.mark.parametrize(
    "action, items", [("power PA_TF2", ()), ("ship TFM_C", ("TF_MARS",)), ("special RB13", ())]
)
def test_a5_free_steps_take_no_occupied_planet(action, items):
    rich = {"ore": 9, "credits": 20, "power": (0, 0, 9), "booster": 12}
    table = lantids("MINE", *items, **rich).planet("0,-1", "White").turn(0).play(action)
    assert not table.can("pick 1,0") and table.can("pick 0,-1")


@pytest.mark.parametrize("action, items", [("ship TWI_K", ("TWILIGHT",)), ("special RB11", ())])
def test_a5_range_actions_take_an_occupied_planet(action, items):
    table = lantids("MINE", *items, knowledge=1, booster=10).planet("4,0", "Red").place(1, "4,0")
    table = table.turn(0).play(action, "pick 4,0")
    assert table.player(0).guests == 1


def test_a5_ecl_c_and_free_mines_take_no_occupied_planet():
    table = lantids("MINE", "ECLIPSE", host=("-1,0", "TS"), credits=6)
    assert not table.can("ship ECL_C")
    table = lantids("TS", "ECLIPSE", ore=3, credits=5).play("upgrade 0,0", "tile LF-TF2-FREE-MINE")
    assert not table.can("pick 1,0")


def test_a16_a_guest_stays_when_the_ambas_swap():
    table = lantids(host=("1,0", "PI")).play("mine 1,0").planet("5,0", "Brown").place(1, "5,0")
    table = table.turn(1).play("special FACTION", "pick 5,0")
    assert piece(table, "1,0") == "MINE" and bool(table.game.board.has_guest[table.cell("1,0")])
    assert not bool(table.game.board.has_guest[table.cell("5,0")])


@pytest.mark.parametrize(
    "mission, host, vp",
    [
        ("BUILDINGS", "1,0", 15),  # two each: a tie for the first place
        ("PLANET_TYPES", "1,0", 15),  # one each; the guest's would be a second
        ("ASTEROID_PROTO_BUILDINGS", "-1,0", 15),
        ("ASTEROID_PROTO_BUILDINGS", "-1,1", 15),
        ("MAIN_SECTORS", "3,0", 15),
        ("GAIA_BUILDINGS", "0,1", 6),  # none, like two others
    ],
)
def test_fin_04_to_10_final_missions_count_guests_but_not_as_types_or_gaia(mission, host, vp):
    missions = [mission, "DEEP_SECTORS"]
    table = scene("LANTIDS", "AMBAS", planets=NEAR, round=6, final_missions=missions)
    for cell in ("2,0", "3,0"):
        table = table.planet(cell, "Red")
    table = table.place(0, "0,0").place(0, host, "GUEST").place(1, host).place(1, "2,0")
    assert last_to_pass(table.turn(0)).play("pass").vp(0, "FINAL_1") == vp


@pytest.mark.parametrize("slot, vp", [("gaia", 4), ("science", 0)])
def test_adv_02_mine_2vp_counts_a_guest_and_the_asteroid_tile_waits_for_the_pass(slot, vp):
    table = lantids("TS", "BT9_7VP", "FT_6VP_2K", ore=3, credits=5, tracks=(0, 0, 0, 4, 0, 4))
    table = table.place(0, "-1,-1").place(0, "1,0", "GUEST").turn(0)
    table = upgraded(table, "RL").play(f"advanced {slot}", "tile BT9_7VP")
    assert table.vp(0, "ADVANCED_TILE") == vp  # MINE-2VP: a mine and a guest
