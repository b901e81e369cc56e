"""The Automa's set-up: board, starting mines, booster, decks (AUT-01 to AUT-10)."""

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax.components import automa
from gaia_jax.ruleset.automa_table import reading_ranks
from gaia_jax.setup.setup_json import setup_from_json, setup_to_json
from gaia_jax.state import AUTOMA, HUMAN
from tests.scenarios.automa.solo import LEVELS, RULES, SETUP, decks, start

SETUPS = 200


@pytest.fixture(scope="module")
def drawn():
    env = gaia_jax.make("base", players=1, automa="ultoma")
    return jax.device_get(
        jax.jit(jax.vmap(env.draw_setup))(jax.random.split(jax.random.key(3), SETUPS))
    )


def test_aut_01_the_human_is_the_first_player(drawn):
    assert (drawn.turn_order == [HUMAN, AUTOMA]).all()
    table = start()
    assert (int(table.field("player")), list(table.field("sequence")[:6])) == (
        HUMAN,
        [0, 1, 1, 0, 1, 0],
    )


def test_aut_02_rows_are_read_from_the_top_left_and_the_middle_is_the_centre():
    cells = RULES.geometry.cells[np.argsort(reading_ranks(RULES.geometry))].tolist()
    assert cells[:4] == [[-4, 7], [-3, 7], [-2, 7], [-4, 6]]
    assert RULES.geometry.cells[RULES.automa_table.center].tolist() == [0, 0]


def test_aut_03_five_boosters_and_eleven_federation_tokens(drawn):
    assert drawn.boosters.shape == (SETUPS, 5)
    assert start().field("token_supply").tolist() == [1, 2, 2, 2, 2, 2]


def test_aut_04_the_automa_has_another_board_than_the_human(drawn):
    names, boards = RULES.ids["faction"], RULES.faction_boards
    allowed = {faction.id for faction in RULES.automa.factions}
    pairs = {(names[human], names[other]) for human, other in drawn.faction}
    assert {other for _, other in pairs} == allowed
    assert {human for human, _ in pairs} == set(names)
    assert not any({*pair} <= {*board} for pair in pairs for board in boards)


def test_aut_04_a_given_faction_is_not_drawn():
    env = gaia_jax.make("base", players=1, automa_faction="TAKLONS")
    keys = jax.random.split(jax.random.key(0), SETUPS)
    factions = np.asarray(jax.jit(jax.vmap(env.draw_setup))(keys).faction)
    names = RULES.ids["faction"]
    assert {names[x] for x in factions[:, AUTOMA]} == {"TAKLONS"}
    assert {names[x] for x in factions[:, HUMAN]} == set(names) - {"TAKLONS", "AMBAS"}


@pytest.mark.parametrize(
    ("faction", "track"),
    [
        ("TERRANS", "gaia"),
        ("XENOS", "ai"),
        ("HADSCH_HALLAS", "economy"),
        ("GEODENS", "terraforming"),
        ("TAKLONS", None),
        ("FIRAKS", None),
        ("ITARS", None),
    ],
)
def test_aut_05_only_the_track_of_the_faction_card_is_at_1(faction, track):
    human = "BESCODS" if faction == "ITARS" else "ITARS"
    row = start(human, faction).player(AUTOMA)
    assert row.tracks == tuple(int(x == track) for x in RULES.ids["track"])
    assert row.resources == (0, 0, 0, 0) and row.power == (0, 0, 0) and row.gaiaformers == 0


@pytest.mark.parametrize(
    ("faction", "card", "cells"),
    [
        ("TERRANS", 1, {(0, 1), (1, 2)}),
        ("XENOS", 1, {(1, -2), (0, 3), (4, 0)}),
        ("TAKLONS", 4, {(1, -1), (2, -4)}),
        ("HADSCH_HALLAS", 1, {(-2, 0), (4, -3)}),
        ("GEODENS", 1, {(-2, 1), (-3, 4)}),
        ("FIRAKS", 1, {(1, -5), (-1, 5)}),
        ("ITARS", 4, {(-3, 2), (-2, 3)}),
    ],
)
def test_aut_06_x01_starting_mines_are_closest_to_the_centre(faction, card, cells):
    human = "BESCODS" if faction == "ITARS" else "ITARS"
    table = start(human, faction, start_mine_cards=[card] * 3).set_up_steps()
    if faction == "XENOS":  # the third follows the human's second mine
        table = table.set_up_steps(4)
    assert set(table.structures(AUTOMA)) == cells


@pytest.mark.parametrize(("card", "first"), [(1, (-3, 2)), (4, (-2, 3))])
def test_aut_06_a_card_decides_between_equal_planets(card, first):
    table = start("BESCODS", "ITARS", start_mine_cards=[card, 1, 1]).set_up_steps(2)
    assert set(table.structures(AUTOMA)) == {first}


@pytest.mark.parametrize(("card", "place"), [(1, 1), (2, 2), (8, 3), (14, 4), (10, 5)])
def test_aut_07_a_card_shows_the_place_of_the_first_booster(card, place):
    table = start(booster_card=card).set_up_steps(4)
    row = [*SETUP["boosters"]]
    first = row.pop(place - 1)
    assert RULES.ids["booster"][table.player(AUTOMA).booster] == first
    assert table.row() == row


def test_aut_08_and_09_each_deck_has_the_one_before_and_one_more_card(drawn):
    fixed = set(LEVELS["ultoma"].fixed_cards)
    for game in drawn.automa.deck:
        before = fixed
        for number, deck in enumerate(game):
            cards = [int(card) for card in deck if card]
            assert len(cards) == len(set(cards)) == len(fixed) + 1 + number
            assert before < set(cards) and (deck[len(cards) :] == 0).all()
            before = set(cards)
    added = drawn.automa.deck[:, 0]
    first = [next(c for c in deck if c and c not in fixed) for deck in added.tolist()]
    assert set(first) == set(range(1, 18)) - fixed
    assert len({tuple(deck) for deck in added.tolist()}) > SETUPS / 2


@pytest.mark.parametrize(
    ("level", "size", "vp"),
    [
        ("automalein", 6, 0),
        ("automa", 7, 10),
        ("automachtig", 8, 10),
        ("ultoma", 9, 10),
        ("alptrauma", 9, 10),
    ],
)
def test_aut_10_levels_differ_in_cards_and_vp(level, size, vp):
    table = start(level=level)
    assert (np.asarray(table.game.setup.automa.deck) > 0).sum(-1).tolist() == [
        *range(size, size + 6)
    ]
    assert (table.player(AUTOMA).vp, table.vp(AUTOMA, "START")) == (vp, vp)


def test_a_set_up_file_is_read_as_it_was_written():
    setup = start("GLEENS", "FIRAKS", "alptrauma").game.setup
    read_back = setup_from_json(setup_to_json(setup, RULES), RULES)
    for written, read in zip(jax.tree.leaves(setup), jax.tree.leaves(read_back), strict=True):
        np.testing.assert_array_equal(written, read)


@pytest.mark.parametrize(
    ("human", "change", "message"),
    [
        ("ITARS", {"level": "hard"}, r"automa\['level'\]: unknown value 'hard'"),
        ("ITARS", {"faction": "AMBAS"}, r"automa\['faction'\]: unknown value 'AMBAS'"),
        ("ITARS", {"faction": "ITARS"}, "is the human's"),
        ("ITARS", {"decks": decks("automa")}, r"automa\['decks'\]\[0\]: must be a list of 8"),
        ("BESCODS", {"faction": "FIRAKS"}, "two sides of one board"),
        ("ITARS", {"booster_card": 18}, r"automa\['booster_card'\]: unknown value 18"),
        ("ITARS", {"start_mine_cards": [1]}, "must be a list of 3"),
    ],
)
def test_a_broken_part_of_a_set_up_file_is_refused(human, change, message):
    part = {"level": "automachtig", "faction": "GEODENS", "decks": decks("automachtig")}
    part |= {"start_mine_cards": [1, 2, 3], "booster_card": 4} | change
    with pytest.raises(ValueError, match=message):
        setup_from_json(SETUP | {"factions": [human], "automa": part}, RULES)


def test_levels_have_the_cards_of_the_box():
    assert len(automa.CARDS) == 17 and sum(card.red for card in automa.CARDS) == 8
    assert [card.number for card in automa.CARDS] == list(range(1, 18))
