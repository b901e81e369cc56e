"""The Automa in The Lost Fleet: map, mines, ships, upgrades, numbers (AUT-40 to AUT-45)."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax.render import automa_turns, automa_words
from gaia_jax.rules.scoring import final_score
from gaia_jax.setup.setup_json import setup_from_json, setup_to_dict, setup_to_json
from gaia_jax.state import AUTOMA, HUMAN
from tests.scenarios.automa.fleet import RULES, SETUP, fleet, new_fleet
from tests.scenarios.automa.solo import decks

SETUPS = 200
POWER = ("PA_3K", "PA_TF2", "PA_2O", "PA_7C", "PA_2K", "PA_TF1", "PA_2PT")


@pytest.fixture(scope="module")
def drawn():
    env = gaia_jax.make("lost_fleet_published", players=1)
    keys = jax.random.split(jax.random.key(3), SETUPS)
    return jax.device_get(jax.jit(jax.vmap(env.draw_setup))(keys))


# AUT-40.


def test_aut_40_without_twilight_and_artifacts_on_the_map_of_two():
    assert RULES.geometry.num_cells == 157
    assert {*RULES.ships} == {"REBELLION", "ECLIPSE", "TF_MARS"}
    texts = RULES.actions.texts
    assert not [x for x in texts if x.startswith("artifact") or "TWI" in x]
    assert {x for x in texts if x.startswith("ship ")} >= {"ship REB_Q", "ship TFM_C", "ship ECL_P"}
    # Five spaces in a line on top.
    r = RULES.geometry.cells[:, 1]
    assert (r == r.max()).sum() == 5


def test_aut_40_each_ship_has_another_tile_and_a_token(drawn):
    assert {tuple(sorted(tiles)) for tiles in drawn.ship_tile.tolist()} == {(0, 1, 2)}
    assert drawn.ship_token.shape == (SETUPS, 3) and RULES.extra_conditions == ("A",)


def test_aut_40_the_human_plays_any_faction_and_the_automa_one_of_seven(drawn):
    names, boards = RULES.ids["faction"], RULES.faction_boards
    pairs = [(names[human], names[other]) for human, other in drawn.faction]
    assert {other for _, other in pairs} == {faction.id for faction in RULES.automa.factions}
    assert len({human for human, _ in pairs}) == len(names) == 18
    assert not any({*pair} <= {*board} for pair in pairs for board in boards)


def test_aut_40_new_factions_of_the_human_start_after_the_mines_of_the_automa():
    for human in ("TINKEROIDS", "DARKANIANS"):
        table = new_fleet(human, "XENOS")
        assert len(table.structures(AUTOMA)) == 3 and not table.structures(HUMAN)
        assert (int(table.field("player")), int(table.field("setup_done"))) == (HUMAN, 3)


def test_aut_40_two_federation_tokens_of_a_kind_and_two_shuttles_of_the_human():
    assert new_fleet().field("token_supply").tolist() == [1, 2, 2, 2, 2, 2]
    shuttles = {faction.id: faction.shuttles for faction in RULES.factions}
    assert shuttles.pop("MOWEYDS") == 1 and set(shuttles.values()) == {2}


# AUT-41.


def mined(planets, mission="BUILDINGS", **kwargs):
    """A mine of the Automa at 0,0, a mine of the human far away; the upper mission is shown."""
    table = fleet("ITARS", "GEODENS", final_missions=[mission, "SATELLITES"], **kwargs)
    table = table.bare({(0, 0): "Orange", (4, 3): "White"} | planets)
    return table.mines(AUTOMA, (0, 0)).mines(HUMAN, (4, 3))


def placed(table):
    """The cell of the mine that the next turn places: card 8, range 2, first in reading order."""
    before, after = table.structures(AUTOMA), table.cards(6, 8).turn().structures(AUTOMA)
    (cell,) = after.keys() - before.keys()
    return cell


def test_aut_41_asteroids_take_two_steps_and_protoplanets_three():
    far, near = (-2, 0), (2, 0)  # the human is closer to the second
    assert placed(mined({far: "Asteroid", near: "Proto"})) == far
    # Brown is two steps from Orange, too: the closest to the human.
    assert placed(mined({far: "Asteroid", near: "Brown"})) == near
    # White is three steps from Orange.
    assert placed(mined({far: "Proto", near: "White"})) == near


def test_aut_41_an_asteroid_needs_no_gaiaformer_and_a_protoplanet_brings_no_vp():
    for planet in ("Asteroid", "Proto"):
        after = mined({(1, 0): planet}).cards(1, 4).turn()
        row = after.player(AUTOMA)
        assert after.structures(AUTOMA)[1, 0] == "MINE"
        assert row.colonized[RULES.ids["planet"].index(planet)] == 1
        # Card 4 brings 1, the Geodens 2 for a new type.
        assert (row.gaiaformers, after.vp(AUTOMA, "FACTION")) == (0, 3)


def test_aut_41_asteroids_are_wanted_by_their_mission_or_the_closest_to_one():
    mission = {"mission": "ASTEROID_BUILDINGS"}
    planets = {(2, 0): "Red", (-2, 0): "Asteroid"}
    assert placed(mined(planets)) == (2, 0)
    assert placed(mined(planets, **mission)) == (-2, 0)
    # Out of reach: (1, -1) is the closest to it, although its steps are 3.
    planets = {(2, 0): "Red", (1, -1): "White", (1, -3): "Asteroid"}
    assert placed(mined(planets, **mission)) == (1, -1)
    assert placed(mined(planets, **mission).mines(HUMAN, (1, -3))) == (2, 0)


def test_aut_41_deep_sectors_without_the_automa_are_wanted():
    mission = {"mission": "DEEP_SECTORS"}
    # -4,-1 is the centre of a sector, -3,-4 to -2,-5 are a deep sector.
    planets = {(-4, -1): "Orange", (-3, -2): "Red", (-3, -3): "White", (-2, -4): "Proto"}
    table = mined(planets, **mission).mines(AUTOMA, (-4, -1))
    assert placed(table) == (-3, -3)
    # A planet that the human has colonized is no aim, nor is one of a sector with the Automa.
    assert placed(table.mines(HUMAN, (-2, -4))) == (-3, -2)
    own = table.bare(planets | {(0, 0): "Orange", (4, 3): "White", (-2, -5): "Orange"})
    far = own.mines(AUTOMA, (-2, -5))
    assert placed(far) == (-3, -2)


def test_aut_41_a_deep_sector_is_none_for_the_mission_of_main_sectors():
    planets = {(-3, -3): "Orange", (-2, -4): "Red", (-3, -2): "White"}
    table = mined(planets, mission="MAIN_SECTORS").give(AUTOMA, sectors=0)
    assert placed(table.mines(AUTOMA, (-3, -3)).give(AUTOMA, sectors=0)) == (-3, -2)


# AUT-42.


def covering(explored, *closed, automa="GEODENS", **kwargs):
    """The Automa's next action is power or QIC, with these spaces covered."""
    table = fleet("BESCODS", automa, **kwargs).bare({(0, 0): "Orange", (4, 3): "Black"})
    return table.mines(AUTOMA, (0, 0)).mines(HUMAN, (4, 3)).ships(*explored).covered(*closed)


def test_aut_42_the_first_ship_is_explored_from_the_start(drawn):
    assert {*drawn.automa.explored_ship[:, 0].tolist()} == {0, 1, 2}
    assert new_fleet(explored_ship="REBELLION").explored() == {"REBELLION"}


def test_aut_42_x18_a_tile_on_its_ship_side_is_one_option():
    """Arrow left, 4: three spaces of TF Mars, then the tile of the Eclipse."""
    after = covering(["TF_MARS"], "ECL_P").cards(4, 12).turn()
    assert after.explored() == {"TF_MARS", "ECLIPSE"}
    # The human's use stays covered, nothing else is; exploring brings no VP.
    assert after.spaces() == {"ECL_P"} and after.vp(AUTOMA, "FACTION") == 3


X19 = ("ECL_P", "ECL_C", "TFM_Q")


def test_aut_42_x19_the_qic_space_has_no_neighbour_on_its_left():
    after = covering(["TF_MARS", "ECLIPSE"], *X19).cards(14, 12).turn()
    assert after.spaces() == {*X19, "ECL_Q"} and after.explored() == {"TF_MARS", "ECLIPSE"}


def test_aut_42_x20_the_space_on_the_left_is_covered_too():
    after = covering(["TF_MARS", "ECLIPSE"], *X19).cards(12, 16).turn()
    assert after.spaces() == {*X19, "TFM_C", "TFM_P"}


def test_aut_42_power_spaces_come_first_and_cover_one_space():
    assert covering(["TF_MARS"]).cards(2, 5).turn().spaces() == {"PA_TF2"}
    # One power space is left: the second option is the tile of the Rebellion.
    table = covering(["TF_MARS"], "PA_3K", "PA_TF2", "PA_2O", "PA_7C", "PA_2K", "PA_TF1")
    after = table.cards(2, 5).turn()
    assert after.explored() == {"TF_MARS", "REBELLION"}


def test_aut_42_xenos_choose_among_the_spaces_of_a_ship_explored_with_the_same_card():
    """Arrow left, 1: the space of the Eclipse that is free, then the tile of the Rebellion."""
    closed = (*POWER, "TFM_Q", "TFM_P", "TFM_C", "REB_Q", "ECL_P", "ECL_Q")
    table = covering(["TF_MARS"], *closed, automa="XENOS")
    after = table.cards(12, 5).turn()
    # First the Eclipse, then its one free space, with the covered one on its left.
    assert after.explored() == {"TF_MARS", "ECLIPSE"}
    assert after.spaces() == {*closed, "ECL_C"}


def describe_turn(table):
    """The parts of the Automa's next turn, and its first line."""
    states = (SimpleNamespace(game=x.game) for x in (table, table.turn()))
    (turn,) = automa_turns.automa_turns(*states, RULES)
    return turn.steps, next(automa_words.turn_lines(turn, RULES))


def test_aut_42_x18_and_x20_are_described():
    (explored,), words = describe_turn(covering(["TF_MARS"], "ECL_P").cards(4, 12))
    assert (explored.verb, explored.place, len(explored.options)) == ("explore", "ECLIPSE", 12)
    assert "explore: Eclipse" in words
    (covered,), words = describe_turn(covering(["TF_MARS", "ECLIPSE"], *X19).cards(12, 16))
    assert (covered.verb, covered.place, covered.after) == ("cover", "TFM_C", "TFM_P")
    assert "and on its left" in words


# AUT-43.

FAR, NEAR = (-4, 4), (0, 2)


def upgrading(structure, mission="PI_AC_DISTANCE", **pieces):
    """Two structures of the Automa, one next to its PI and to the human, one far away."""
    table = fleet("ITARS", "GEODENS", final_missions=["BUILDINGS", mission])
    cells = {(0, 0): "Orange", FAR: "Red", NEAR: "Red", (1, 2): "White"}
    table = table.bare(cells).place(AUTOMA, (0, 0), "PI").mines(HUMAN, (1, 2))
    for cell in (FAR, NEAR):
        table = table.place(AUTOMA, cell, structure)
    return table.give(AUTOMA, **pieces) if pieces else table


def test_aut_43_is_described():
    (step,), words = describe_turn(upgrading("MINE").cards(1, 10))
    assert step.decided_by == "institute" and "farthest from its planetary institute" in words


def upgraded(table, structure):
    after = table.cards(1, 10).turn()
    (cell,) = {cell for cell, x in after.structures(AUTOMA).items() if x == structure}
    return cell


def test_aut_43_a_mine_far_from_the_pi_is_upgraded_while_there_is_no_academy():
    assert upgraded(upgrading("MINE"), "TS") == FAR
    assert upgraded(upgrading("MINE", mission="SATELLITES"), "TS") == NEAR
    assert upgraded(upgrading("MINE", built=(0, 2, 0, 0, 1, 1, 0)), "TS") == NEAR


def test_aut_43_a_trading_station_far_from_the_pi_becomes_a_lab():
    assert upgraded(upgrading("TS"), "RL") == FAR
    assert upgraded(upgrading("TS", built=(0, 0, 2, 0, 1, 1, 0)), "RL") == FAR
    assert upgraded(upgrading("TS", mission="SATELLITES"), "RL") == NEAR


def test_aut_43_without_a_pi_the_human_decides():
    table = upgrading("TS").place(AUTOMA, (0, 0), "MINE").give(AUTOMA, built=(0, 0, 2, 0, 0, 0, 0))
    assert upgraded(table, "PI") == NEAR


# AUT-44 and AUT-45.


@pytest.mark.parametrize(
    ("tile", "vp"), [("RM-DIV-3VP", (4, 6)), ("RM-SECTOR-3VP", (3, 6)), ("RM-LAB-4VP", (4, 8))]
)
def test_aut_44_round_tiles_of_the_expansion_pay_at_the_pass(tile, vp):
    row = RULES.automa_table.round_tile_vp[RULES.ids["round_tile"].index(tile)]
    assert tuple(row) == vp


def test_aut_44_asteroids_deep_sectors_and_distance_against_the_neutral_player():
    table = fleet("ITARS", "GEODENS", final_missions=["PI_AC_DISTANCE", "DEEP_SECTORS"])
    table = table.bare({(0, 0): "Orange", (-4, 7): "Asteroid", (-2, -4): "Proto"})
    table = table.place(AUTOMA, (0, 0), "PI").place(AUTOMA, (-4, 7), "AC_A")
    table = table.place(AUTOMA, (-2, -4), "AC_B")
    after = table._arranged(players=jax.jit(lambda game: final_score(RULES, game))(table.game))
    # The academies are 7 and 6 away, the neutral player has 8; it has 3 deep sectors, the Automa 2.
    assert (after.vp(AUTOMA, "FINAL_1"), after.vp(AUTOMA, "FINAL_2")) == (12, 12)
    neutral = RULES.neutral_player
    kinds = ("ASTEROID_BUILDINGS", "DEEP_SECTORS", "PI_AC_DISTANCE", "PLANET_TYPES")
    assert [neutral[x] for x in kinds] == [3, 3, 8, 6]


@pytest.mark.parametrize(
    ("level", "vp"),
    [("automalein", 0), ("automa", 15), ("automachtig", 20), ("ultoma", 25), ("alptrauma", 10)],
)
def test_aut_45_levels_start_with_more_vp(level, vp):
    assert new_fleet(level=level).player(AUTOMA).vp == vp


def test_a_set_up_file_names_the_explored_ship(drawn):
    for place in range(20):
        setup = jax.tree.map(lambda x, place=place: x[place], drawn)
        part = setup_to_dict(setup, RULES)
        assert part["automa"]["explored_ship"] in RULES.ships and "turn_order" not in part
        read_back = setup_from_json(setup_to_json(setup, RULES), RULES)
        for written, read in zip(jax.tree.leaves(setup), jax.tree.leaves(read_back), strict=True):
            np.testing.assert_array_equal(written, read)


def test_a_set_up_file_with_an_unknown_ship_is_refused():
    cards = {"decks": decks("automa"), "start_mine_cards": [1, 2, 3], "booster_card": 4}
    part = {"level": "automa", "faction": "GEODENS", "explored_ship": "TWILIGHT"} | cards
    with pytest.raises(ValueError, match=r"automa\['explored_ship'\]: unknown value 'TWILIGHT'"):
        setup_from_json(SETUP | {"factions": ["ITARS"], "automa": part}, RULES)
