"""The Taklons: the brainstone in every bowl and payment. The Ambas: the swap."""

import pytest

from gaia_jax.state import GAIA_AREA, NO_BRAINSTONE, Node
from tests.scenarios.scene import at, form, last_to_pass, own, piece, scene

NEAR = {"0,0": "Brown", "1,0": "Brown", "0,1": "Brown", "-1,0": "Transdim", "3,0": "Brown"}
POOR = {"credits": 0, "ore": 0, "knowledge": 0, "qic": 0}


def taklons(power, stone, structure="MINE", *items, **fields):
    """Taklons with ordinary tokens in the bowls and the brainstone in bowl 0, 1, 2 or elsewhere."""
    table = scene("TAKLONS", "FIRAKS", planets=NEAR).place(0, "0,0", structure)
    given = POOR | {"power": power, "brainstone": stone} | fields
    return own(table, 0, *items, **given).turn(0)


def bowls(table):
    """Ordinary tokens by bowl, and where the brainstone is."""
    return table.player(0).power, table.player(0).brainstone


@pytest.mark.parametrize(
    "action, power, after",
    [
        ("PA_2PT", (0, 0, 3), ((2, 0, 3), 0)),  # 3: the brainstone alone
        ("PA_2PT", (0, 0, 0), ((2, 0, 0), 0)),
        ("PA_2O", (0, 0, 4), ((1, 0, 3), 0)),
        ("PA_7C", (0, 0, 3), ((1, 0, 2), 0)),  # 4: the brainstone and one
        ("PA_7C", (0, 0, 1), ((1, 0, 0), 0)),
        ("PA_3K", (0, 0, 4), ((4, 0, 0), 0)),  # 7: the brainstone and four
    ],
)
def test_act_06_the_brainstone_pays_3_of_a_cost_of_3_or_more(action, power, after):
    assert bowls(taklons(power, 2).play(f"power {action}")) == after


def test_act_06_what_the_brainstone_does_not_cover_must_be_there():
    assert taklons((0, 0, 4), 2).can("power PA_3K")
    assert not taklons((0, 0, 3), 2).can("power PA_3K")
    assert not taklons((0, 9, 3), 1).can("power PA_7C")  # it is in bowl II


@pytest.mark.parametrize("ordinary, after", [(2, ((2, 0, 0), 2)), (1, ((0, 0, 1), 0))])
def test_act_06_a_cost_of_2_takes_ordinary_tokens_if_they_do(ordinary, after):
    table = taklons((0, 0, ordinary), 2, "MINE", "TF_MARS", gaiaformers=1)
    assert bowls(table.play("ship TFM_P", "pick -1,0")) == after


def test_fre_10_the_brainstone_alone_is_3_credits():
    table = taklons((0, 0, 0), 2).play("free P1_to_C")
    assert table.player(0).credits == 3 and bowls(table) == ((0, 0, 0), 0)
    table = taklons((0, 0, 1), 2).play("free P1_to_C")
    assert table.player(0).credits == 1 and bowls(table) == ((1, 0, 0), 2)


def test_fre_04_burning_moves_the_brainstone_and_removes_an_ordinary_token():
    assert bowls(taklons((0, 1, 0), 1).play("free burn")) == ((0, 0, 0), 2)
    assert bowls(taklons((0, 2, 0), 0).play("free burn")) == ((0, 0, 1), 0)
    assert not taklons((0, 0, 5), 1).can("free burn")


@pytest.mark.parametrize(
    "power, stone, after",
    [
        ((5, 0, 0), 0, ((2, 3, 0), 1)),
        ((2, 0, 0), 0, ((0, 2, 0), 2)),
        ((2, 0, 0), 1, ((0, 1, 1), 2)),
        ((0, 2, 3), 2, ((0, 0, 5), 2)),
        ((2, 0, 0), GAIA_AREA, ((0, 0, 2), GAIA_AREA)),
    ],
)
def test_inc_03_the_brainstone_is_charged_before_the_tokens_of_its_bowl(power, stone, after):
    table = taklons(power, stone, "MINE", "BT1_ACT_CHARGE4")
    assert bowls(table.play("special BT1_ACT_CHARGE4")) == after


def leech(power, stone, *items, structure="PI", **fields):
    """The Firaks upgrade next to the Taklons, who decide next."""
    table = taklons(power, stone, structure, *items, **({"vp": 10} | fields))
    table = table.place(1, "1,0").give(1, ore=2, credits=6, knowledge=0, qic=0)
    return table.turn(1).play("upgrade 1,0")


def test_lee_07_the_brainstone_in_the_gaia_area_is_no_capacity():
    assert bowls(leech((0, 0, 0), GAIA_AREA).play("leech TOKEN_FIRST")) == ((0, 0, 1), GAIA_AREA)
    table = leech((0, 0, 0), 0)  # in bowl I: capacity 2
    assert table.can("leech CHARGE")
    assert bowls(table.play("leech CHARGE")) == ((1, 0, 0), 2)
    assert bowls(table.play("leech TOKEN_FIRST")) == ((0, 1, 0), 2)


def test_lee_07_vp_bound_the_charge():
    table = leech((4, 0, 0), GAIA_AREA, vp=1)  # worth 3, VP + 1 = 2
    assert bowls(table.play("leech CHARGE"))[0] == (3, 2, 0) and table.player(0).vp == 1
    assert bowls(leech((4, 0, 0), GAIA_AREA, vp=0).play("leech CHARGE"))[0] == (4, 1, 0)


def test_lee_03_without_the_pi_a_free_charge_comes_by_itself():
    table = leech((2, 0, 0), GAIA_AREA, structure="MINE")
    assert table.node != Node.LEECH and bowls(table)[0] == (1, 1, 0)


def test_gpj_02_a_project_takes_ordinary_tokens_of_a_bowl_before_the_brainstone():
    table = at(taklons((5, 2, 0), 0, gaiaformers=1), 0, gaia=1).turn(0)
    table = table.play("project -1,0")  # 6: all of bowl I, the brainstone too
    assert bowls(table) == ((0, 2, 0), GAIA_AREA) and table.player(0).gaia_power == 5
    table = at(taklons((6, 2, 0), 0, gaiaformers=1), 0, gaia=1).turn(0).play("project -1,0")
    assert bowls(table) == ((0, 2, 0), 0)


@pytest.mark.parametrize("stone", [0, 1, 2])
def test_gpj_01_the_brainstone_counts_among_the_tokens_of_a_project(stone):
    enough = at(taklons((5, 0, 0), stone, gaiaformers=1), 0, gaia=1).turn(0)
    assert enough.can("project -1,0")  # 6
    too_few = at(taklons((4, 0, 0), stone, gaiaformers=1), 0, gaia=1).turn(0)
    assert not too_few.can("project -1,0")


@pytest.mark.parametrize(
    "action, power, after",
    [
        ("free P1_to_C", (0, 0, 2), ((0, 0, 2), 0)),  # the brainstone for a cost below 3
        ("power PA_2PT", (0, 0, 3), ((5, 0, 0), 2)),  # ordinary tokens for 3 and more
        ("power PA_7C", (0, 0, 4), ((4, 0, 0), 2)),
        ("power PA_7C", (0, 0, 3), ((1, 0, 2), 0)),  # they do not suffice
        ("free P3_to_O", (0, 0, 4), ((3, 0, 1), 2)),
    ],
)
def test_a21_the_brainstone_takes_the_other_place_in_payments(action, power, after):
    table = taklons(power, 2).play("free brainstone")
    assert bowls(table) == (power, 2)
    assert bowls(table.play(action)) == after


def test_a21_the_brainstone_for_one_power_is_3_credits_though_a_token_would_do():
    table = taklons((0, 0, 1), 2).play("free brainstone", "free P1_to_C")
    assert table.player(0).credits == 3 and bowls(table) == ((0, 0, 1), 0)
    after = table.play("free P1_to_C")  # there is no brainstone in bowl III any more
    assert after.player(0).credits == 4 and bowls(after) == ((1, 0, 0), 0)


def test_a21_a_project_takes_the_ordinary_tokens_of_all_bowls_first():
    table = at(taklons((5, 2, 0), 0, gaiaformers=1), 0, gaia=1).turn(0)
    table = table.play("free brainstone", "project -1,0")
    assert bowls(table) == ((0, 1, 0), 0) and table.player(0).gaia_power == 6
    table = at(taklons((2, 2, 1), 0, gaiaformers=1), 0, gaia=1).turn(0)
    table = table.play("free brainstone", "project -1,0")
    assert bowls(table) == ((0, 0, 0), GAIA_AREA) and table.player(0).gaia_power == 5


@pytest.mark.parametrize("ordinary, after", [(2, ((0, 0, 1), 1)), (1, ((0, 0, 0), 2))])
def test_a21_a_burn_takes_two_ordinary_tokens_where_there_are_two(ordinary, after):
    table = taklons((0, ordinary, 0), 1).play("free brainstone", "free burn")
    assert bowls(table) == after


def test_a21_removals_keep_the_brainstone_last():
    table = taklons((3, 0, 3), 0, "MINE", "TWILIGHT").play("free brainstone", "artifact 1")
    assert bowls(table) == ((0, 0, 0), 0)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a21_once_a_turn_where_the_brainstone_lies_in_a_bowl(place):
    table = taklons((0, 0, 1), place)
    assert table.can("free brainstone")
    assert not table.play("free brainstone").can("free brainstone")


def test_a21_nobody_else_and_not_without_it():
    assert not taklons((0, 0, 1), GAIA_AREA).can("free brainstone")
    assert not taklons((0, 0, 1), NO_BRAINSTONE).can("free brainstone")
    assert not scene("AMBAS", planets=NEAR).place(0, "0,0").turn(0).can("free brainstone")


def test_a21_it_keeps_no_turn_open():
    table = taklons((0, 0, 0), 0, ore=1, credits=2)  # a mine takes all, the tokens stay in bowl I
    assert table.play("mine 1,0").decider == 1
    open_turn = taklons((0, 0, 0), 0, ore=2, credits=2).play("mine 1,0")
    assert open_turn.options("free") == {"free O_to_C", "free O_to_token", "free brainstone"}
    assert open_turn.play("free brainstone").can("end_turn")
    assert open_turn.play("free O_to_C").decider == 1


def test_a21_the_mark_ends_with_the_turn():
    table = taklons((0, 0, 1), 2, ore=1, credits=2).play("free brainstone", "mine 1,0")
    assert table.game.turn.brainstone_reversed and table.node == Node.AFTER
    table = table.play("end_turn")
    assert not table.game.turn.brainstone_reversed
    assert bowls(table.turn(0).play("free P1_to_C")) == ((1, 0, 0), 2)


def test_gai_05_the_brainstone_returns_to_bowl_i():
    table = last_to_pass(taklons((0, 2, 0), GAIA_AREA)).play("booster RB5")
    assert bowls(table) == ((0, 2, 0), 0)


def test_tak_01_satellites_take_the_brainstone_last_and_it_is_gone():
    # Two stations that touch, one cell away from the PI: one satellite, one token.
    table = taklons((0, 0, 0), 1, "PI").planet("1,0", "Empty")
    for cell in ("2,-1", "2,0"):
        table = table.planet(cell, "Brown").place(0, cell, "TS")
    table = form(table.turn(0))
    assert table.player(0).brainstone == NO_BRAINSTONE and table.player(0).satellites == 1


def ambas(*places, **fields):
    """Ambas with the PI at 0,0 and (cell, structure) besides, without resources."""
    table = scene("AMBAS", "FIRAKS", planets=NEAR, mission="RM-PI-ACAD-1-5VP")
    table = table.place(0, {"0,0": "PI"} | dict(places))
    return table.give(0, **(POOR | {"power": (0, 0, 0)} | fields)).turn(0)


def test_amb_01_the_pi_and_a_mine_change_places():
    table = ambas(("3,0", "MINE"), ("1,0", "TS")).play("special FACTION")
    assert table.options() == {"pick 3,0"}
    table = table.play("pick 3,0")
    assert (piece(table, "0,0"), piece(table, "3,0")) == ("MINE", "PI")
    assert not table.turn(0).can("special FACTION")


def test_amb_01_wants_the_pi_and_a_mine():
    assert not ambas(("1,0", "TS")).can("special FACTION")
    table = scene("AMBAS", planets=NEAR).place(0, "0,0", "AC_A").place(0, "3,0")
    assert not table.turn(0).can("special FACTION")


def test_a16_not_the_lost_planet_and_not_an_artifact_mine():
    table = own(ambas().planet("3,0", "Lost").place(0, "3,0"), 0, "ART-AS-MINE")
    assert not table.turn(0).can("special FACTION")


def test_amb_01_types_pieces_and_sectors_stay():
    table = ambas().planet("3,0", "Red").place(0, "3,0").turn(0)
    before = table.player(0)
    after = table.play("special FACTION", "pick 3,0").player(0)
    assert (before.built, before.sectors) == (after.built, after.sectors)
    assert before.colonized == after.colonized


def test_fed_13_the_swapped_pi_may_be_in_a_new_federation():
    table = ambas(("1,0", "TS"), ("0,1", "TS"), ("3,0", "MINE"))
    table = table.place(0, ["0,0", "1,0", "0,1"], "FEDERATED")
    for cell in ("4,0", "3,1"):
        table = table.planet(cell, "Brown").place(0, cell, "TS")
    table = table.turn(0)
    assert not table.can("form_federation")  # mine 1 and stations 4
    table = table.play("special FACTION", "pick 3,0").turn(0)
    assert table.can("form_federation")
