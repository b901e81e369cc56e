"""The Automa's actions (AUT-16 to AUT-27, AUT-30, AUT-31)."""

import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.components import automa
from gaia_jax.rules.automa import choice
from gaia_jax.state import AUTOMA, HUMAN
from tests.scenarios.automa.positions import (
    ITARS,
    X07,
    arranged,
    firaks,
    hadsch_hallas,
    taklons,
    terrans,
    xenos,
)
from tests.scenarios.automa.solo import RULES, solo


def new_structures(before, after):
    """What the Automa has after a turn that it had not before."""
    old = before.structures(AUTOMA)
    return {cell: x for cell, x in after.structures(AUTOMA).items() if old.get(cell) != x}


def planet(table, cell):
    return RULES.ids["planet"][int(table.game.board.planet[table.cell(cell)])]


@pytest.mark.parametrize(("card", "cell"), [(4, (-4, 1)), (6, (-2, 0))])
def test_aut_16_and_20_x08_of_equal_planets_the_direction_decides(card, cell):
    table = arranged().cards(card, 8)
    after = table.turn()
    assert new_structures(table, after) == {cell: "MINE"}
    # The planet is of a new type: 2 VP of the Geodens, 3 of card 8.
    assert after.vp(AUTOMA, "FACTION") == 5
    # (-2, 0) is next to the mine on (-2, 1).
    assert after.player(AUTOMA).satellites == (cell == (-4, 1))


def test_aut_30_x08_the_human_may_charge_once_for_the_turn():
    after = arranged().cards(4, 8).turn()
    assert (after.offer(), bool(after.stop.offer_waits)) == (1, True)
    full = arranged().give(HUMAN, power=(0, 0, 4)).cards(4, 8).turn()
    assert (full.offer(), bool(full.stop.human_moves)) == (0, True)


def test_aut_15_the_automa_is_never_offered_power():
    from gaia_jax.rules import leech

    table = arranged()
    offers = leech.offers(RULES, table.game, jnp.int32(table.cell((-2, 0))), jnp.int32(HUMAN))
    assert offers.tolist() == [0, 0]


def test_aut_18_gaiaformers_and_stations_are_no_planets_of_yours():
    table = solo("ITARS", "GEODENS").mines(HUMAN, (5, -1)).place(HUMAN, (-1, -2), "GAIAFORMER")
    table = table.place(HUMAN, (0, 0), "STATION")
    distance = np.asarray(choice.distance_to_human(RULES, table.game.board))
    assert distance[table.cell((-1, -2))] == 7 and distance[table.cell((5, -1))] == 0


def test_aut_19_a_transdim_planet_with_a_gaiaformer_is_not_empty():
    blocked = terrans().place(HUMAN, (-1, -2), "GAIAFORMER").cards(1, 9)
    assert new_structures(blocked, blocked.turn()) == {(-1, 2): "MINE"}


def test_aut_19_the_range_is_that_of_the_support_card():
    """The human has all planets within 2; the only one of its own colour within 4 is at 4."""
    near = ((1, -2), (1, -5), (0, 1), (3, -6), (4, -5), (3, -1))
    table = taklons(final_missions=["BUILDINGS", "SATELLITES"]).mines(HUMAN, *near)
    assert list(new_structures(table, table.cards(6, 8).turn()).values()) == ["TS"]
    assert new_structures(table, table.cards(1, 8).turn()) == {(5, -3): "MINE"}


@pytest.mark.parametrize(("mission", "cell"), [("MAIN_SECTORS", (3, -1)), ("BUILDINGS", (4, -5))])
def test_aut_20_x11_the_shown_mission_comes_before_steps(mission, cell):
    table = taklons(final_missions=[mission, "SATELLITES"]).cards(6, 8)
    assert new_structures(table, table.turn()) == {cell: "MINE"}


def test_aut_20_gaia_planets_are_wanted_by_their_mission():
    table = arranged(final_missions=["GAIA_BUILDINGS", "SATELLITES"]).cards(6, 8)
    assert new_structures(table, table.turn()) == {(-4, 1): "MINE"}


def test_aut_21_a_transdim_planet_becomes_gaia_and_a_neighbour_spares_the_satellite():
    table = taklons(final_missions=["MAIN_SECTORS", "SATELLITES"]).cards(6, 8)
    after = table.turn()
    assert (planet(table, (3, -1)), planet(after, (3, -1))) == ("Transdim", "Gaia")
    assert after.player(AUTOMA).colonized[RULES.ids["planet"].index("Gaia")] == 1
    assert after.player(AUTOMA).satellites == 1
    q, r = next(
        (q, r)
        for q, r in ((2, -1), (4, -2), (4, -1), (3, 0), (2, 0), (3, -2))
        if planet(table, (q, r)) == "Empty"
    )
    adjacent = table.planet((q, r), "Black").mines(AUTOMA, (q, r)).turn()
    assert adjacent.player(AUTOMA).satellites == 0


@pytest.mark.parametrize("action", [8, 9])
def test_aut_22_x14_without_a_mine_it_upgrades(action):
    table = taklons().give(AUTOMA, built=(0, 8, 0, 0, 0, 0, 0)).cards(1, action)
    after = table.turn()
    assert list(new_structures(table, after).values()) == ["TS"]
    assert after.vp(AUTOMA, "FACTION") == (3 if action == 8 else 2)


@pytest.mark.parametrize(("card", "cell"), [(1, (4, -3)), (4, (-2, 0))])
def test_aut_23_x12_the_closest_structure_then_the_direction(card, cell):
    table = hadsch_hallas().cards(card, 10)
    after = table.turn()
    assert new_structures(table, after) == {cell: "TS"}
    assert after.vp(AUTOMA, "FACTION") == 6


@pytest.mark.parametrize(
    ("own", "built", "new"),
    [
        ("TS", (0, 2, 1, 0, 0, 0, 0), "PI"),
        ("TS", (0, 2, 1, 0, 1, 0, 0), "TS"),
        ("RL", (0, 0, 0, 1, 1, 0, 0), "AC_A"),
        ("RL", (0, 0, 0, 1, 1, 1, 0), "AC_B"),
        ("TS", (0, 0, 4, 0, 1, 1, 1), "RL"),
        ("TS", (0, 0, 4, 3, 1, 1, 1), None),
    ],
)
def test_aut_23_the_first_possible_upgrade_of_the_list(own, built, new):
    table = solo("ITARS", "GEODENS").mines(HUMAN, *ITARS).place(AUTOMA, (-2, 1), own)
    table = table.mines(AUTOMA, (-3, 4)).give(AUTOMA, built=built).cards(1, 11)
    assert list(new_structures(table, table.turn()).values()) == ([new] if new else [])


@pytest.mark.parametrize(("card", "track"), [(15, "science"), (16, "gaia"), (9, "gaia")])
def test_aut_24_x07_the_highest_valid_track_or_its_tile(card, track):
    tracks = RULES.ids["track"]
    table = arranged().levels(AUTOMA, **X07).levels(HUMAN, ai=5)
    table = table.set_turn(advanced_left=1 << tracks.index("gaia")).cards(card, 3)
    after = table.turn()
    levels = dict(zip(tracks, after.player(AUTOMA).tracks, strict=True))
    assert levels == X07 | ({"science": 5} if track == "science" else {})
    assert int(after.field("advanced_left")) == (0 if track == "gaia" else 1 << 3)


def test_aut_24_a_taken_level_5_does_not_stop_steps_below():
    table = arranged().levels(AUTOMA, terraforming=3).levels(HUMAN, terraforming=5)
    after = table.set_turn(advanced_left=0).cards(15, 3).turn()
    assert after.player(AUTOMA).tracks[0] == 4


def test_aut_25_a_space_is_covered_by_number_from_left_to_right():
    table = arranged().covered("PA_3K", "PA_7C").cards(2, 5)
    assert table.turn().spaces() == {"PA_3K", "PA_7C", "PA_2O"}
    full = arranged().covered(*automa.ACTION_ROW).cards(2, 5)
    assert full.turn().spaces() == {*automa.ACTION_ROW}


def test_aut_27_x06_xenos_cover_two_spaces_with_one_support_card():
    assert xenos().cards(2, 14).turn().spaces() == {"PA_TF2", "PA_2O"}
    closed = [x for x in automa.ACTION_ROW if x != "QIC_TOKEN"]
    assert xenos().covered(*closed).cards(2, 14).turn().spaces() == {*automa.ACTION_ROW}
    faction_action = xenos().cards(2, 9).turn()
    assert len(faction_action.spaces()) == 1 and faction_action.vp(AUTOMA, "FACTION") == 2


def test_aut_26_x09_taklons_build_close_to_the_human():
    table = taklons().cards(1, 9)
    after = table.turn()
    assert new_structures(table, after) == {(-2, 1): "MINE"}
    assert after.spaces() == {"PA_3K"} and after.vp(AUTOMA, "FACTION") == 2


def test_aut_26_x10_terrans_prefer_transdim_planets():
    table = terrans().levels(AUTOMA, gaia=1).cards(1, 9)
    after = table.turn()
    assert new_structures(table, after) == {(-1, -2): "MINE"}
    assert (planet(after, (-1, -2)), after.player(AUTOMA).tracks[3]) == ("Gaia", 2)
    assert after.vp(AUTOMA, "FACTION") == 2 and not after.spaces()


def test_aut_26_terrans_leave_out_a_blocked_gaia_track():
    table = solo("ITARS", "TERRANS").mines(AUTOMA, (0, 1)).mines(HUMAN, (-2, 0))
    table = table.levels(AUTOMA, gaia=5).cards(1, 9)
    after = table.turn()
    assert sum(after.player(AUTOMA).tracks) == 5 and len(after.structures(AUTOMA)) == 2


def test_aut_26_x13_firaks_downgrade_in_the_faction_action_alone():
    table = firaks("RL").mines(AUTOMA, (0, 0))
    after = table.cards(2, 9).turn()
    assert new_structures(table, after) == {(1, -5): "TS"}
    assert sum(after.player(AUTOMA).tracks) == 0 and after.vp(AUTOMA, "FACTION") == 2
    plain = table.cards(9, 1).turn()
    assert new_structures(table, plain) == {(0, 0): "TS"}


def test_aut_26_firaks_research_after_an_upgrade_to_a_lab():
    table = firaks("TS").cards(2, 11)
    after = table.turn()
    assert new_structures(table, after) == {(1, -5): "RL"}
    assert after.player(AUTOMA).tracks == (0, 1, 0, 0, 0, 0)


def test_aut_26_hadsch_hallas_build_a_mine_if_no_upgrade_is_possible():
    table = solo("ITARS", "HADSCH_HALLAS").mines(HUMAN, *ITARS).mines(AUTOMA, (-2, 0))
    upgraded = table.cards(1, 9).turn()
    assert new_structures(table, upgraded) == {(-2, 0): "TS"}
    assert upgraded.vp(AUTOMA, "FACTION") == 4
    full = table.give(AUTOMA, built=(0, 1, 4, 3, 1, 1, 1)).cards(1, 9)
    assert list(new_structures(full, full.turn()).values()) == ["MINE"]
    assert full.turn().vp(AUTOMA, "FACTION") == 1


def test_aut_26_geodens_research_and_cover_a_space():
    table = arranged().levels(AUTOMA, terraforming=1).cards(2, 9)
    after = table.turn()
    assert after.player(AUTOMA).tracks == (1, 1, 0, 0, 0, 0)
    assert after.spaces() == {"PA_TF2"} and after.vp(AUTOMA, "FACTION") == 1


def test_aut_26_itars_cover_two_spaces():
    table = solo("BESCODS", "ITARS").mines(AUTOMA, (-3, 2)).mines(HUMAN, (1, -5)).cards(5, 9)
    after = table.turn()
    assert len(after.spaces()) == 2 and after.vp(AUTOMA, "FACTION") == 4


def test_aut_31_the_human_has_the_discount_of_a_neighbour():
    table = arranged().cards(4, 8).turn()
    near = np.asarray(table.game.board.flags) & 1 << AUTOMA > 0
    assert near[table.cell((-4, 1))] and near[table.cell((-3, 2))]
