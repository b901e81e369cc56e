"""The referee's Automa: its set-up, cards and turns, AUT-01 to AUT-15.

Tests of both games name the rulings of The Lost Fleet too, AUT-40 and AUT-45.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.referee import (
    automa,
    scoring,
    solo,
)
from tests.referee.automa_cards import facts
from tests.referee.game import Game
from tests.referee.random_games import play_to_end
from tests.referee.rules import ruleset
from tests.referee.setup import SetupError, touching
from tests.referee.solo_positions import (
    CARDS,
    FACTIONS,
    LEVELS,
    READING,
    SPACES,
    TRACKS,
    a_game,
    act,
)

pytestmark = pytest.mark.no_compile


# -- the set-up


def test_aut_01_the_human_is_first_and_the_automa_moves_in_turn() -> None:
    game, player = a_game("GEODENS", "TERRANS")
    assert game.turn_order == [0, 1] and (game.current_player, player.turns) == (0, 0)
    game.apply("advance economy" if "advance economy" in game.legal_actions() else
               min(t for t in game.legal_actions() if t.startswith("upgrade")))  # fmt: skip
    while game.node != "TURN":
        assert game.current_player == 0
        game.apply("end_turn" if "end_turn" in game.legal_actions() else "leech DECLINE")
    assert player.turns == 1


def test_aut_02_the_map() -> None:
    centres = Counter[str]()
    for seed in range(30):
        setup = solo.draw(seed)
        centres[setup["sectors"][0]["tile"]] += 1
        assert len(setup["sectors"]) == 7
        assert not touching(ruleset("base", 2), setup)
    assert len(centres) == 7
    game, _ = a_game("GEODENS")
    cells = game.board.geometry.cells
    assert automa.centre_hex(game.rules) == (0, 0)
    rows = Counter(r for _, r in cells)
    assert [rows[r] for r in sorted(rows, reverse=True)][0] == 3 and sum(rows.values()) == 133


def test_aut_03_pieces_of_the_set_up() -> None:
    game, _ = a_game("GEODENS")
    setup = game.setup
    assert len(setup["boosters"]) == 5 and len(game.open_boosters) == 3
    assert len(setup["final_missions"]) == 2 and len(setup["round_tiles"]) == 6
    assert len(setup["basic_tiles"]) == 9 and len(setup["advanced_tiles"]) == 6
    expected = dict.fromkeys(game.rules.base_tokens, 2) | {setup["tf5_token"]: 1}  # OPEN-01
    assert game.token_supply == expected


@pytest.mark.parametrize(("name", "count"), [(solo.RULESET, 14), (solo.FLEET, 18)])
def test_aut_04_and_40_factions(name: str, count: int) -> None:
    boards = solo.boards_of(name)
    assert len(boards) == count
    for human in boards:
        for faction in boards:
            setup = solo.draw(3, name=name) | {"factions": [human]}
            setup["automa"] = setup["automa"] | {"faction": faction}
            if faction in FACTIONS and boards[human] != boards[faction]:
                Game(setup, name)
            else:
                with pytest.raises(SetupError, match="the Automa cannot be"):
                    Game(setup, name)


@pytest.mark.parametrize("faction", FACTIONS)
def test_aut_05_pieces_and_levels(faction: str) -> None:
    game, player = a_game(faction)
    start = {
        "TERRANS": "gaia",
        "XENOS": "ai",
        "HADSCH_HALLAS": "economy",
        "GEODENS": "terraforming",
    }
    first = {start[faction]: 1} if faction in start else {}
    assert player.tracks == dict.fromkeys(TRACKS, 0) | first
    player.structures = {}
    supply = [player.supply(piece) for piece in ("MINE", "TS", "RL", "AC", "PI")]
    assert supply == [8, 4, 3, 2, 1]
    player.structures = {0: "AC_A"}
    assert player.supply("AC") == 1


@pytest.mark.parametrize(("name", "human", "faction", "counts"), [
    (solo.RULESET, "TERRANS", "GEODENS", [0, 2, 2]),
    (solo.RULESET, "XENOS", "GEODENS", [0, 2, 2, 2]),
    (solo.RULESET, "TERRANS", "XENOS", [0, 2, 3]),
    (solo.RULESET, "HIVES", "XENOS", [3, 3]),
    (solo.FLEET, "TERRANS", "GEODENS", [0, 2, 2]),
    (solo.FLEET, "HIVES", "XENOS", [3, 3]),
    (solo.FLEET, "DARKANIANS", "GEODENS", [2, 2]),
    (solo.FLEET, "TINKEROIDS", "XENOS", [3, 3]),
    (solo.FLEET, "MOWEYDS", "ITARS", [2, 2]),
    (solo.FLEET, "SPACE_GIANTS", "XENOS", [3, 3]),
])  # fmt: skip
def test_aut_06_and_40_order_of_the_starting_mines(
    name: str, human: str, faction: str, counts: list[int]
) -> None:
    """The Automa's mines when the human places each structure, and at the end."""
    game = Game(solo.draw(1, "automa", faction, human, name), name)
    seen = []
    while game.node == "START":
        seen.append(len(game.automa().structures))
        game.apply(max(game.legal_actions()))
    assert [*seen, len(game.automa().structures)] == counts
    assert not game.events and game.automa().satellites_counted == 0


@pytest.mark.parametrize(("card", "place"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (17, 2)])
def test_aut_07_boosters(card: int, place: int) -> None:
    game, player = a_game("GEODENS", automa={"booster_card": card})
    row = [*game.setup["boosters"]]
    assert player.booster == row.pop(place - 1)
    row.remove(game.players[0].booster)
    assert game.open_boosters == row
    drawn = Counter(CARDS[n]["setup_booster"] for n in CARDS)
    assert [drawn[n] for n in (1, 2, 3, 4, 5)] == [4, 4, 3, 3, 3]


# -- decks and levels


@pytest.mark.parametrize("level", LEVELS)
def test_aut_08_and_09_decks(level: str) -> None:
    fixed = set(facts()["levels"][level]["fixed_cards"])
    added = Counter[int]()
    for seed in range(40):
        before = fixed
        for deck in solo.draw(seed, level)["automa"]["decks"]:
            assert len(deck) == len(set(deck)) == len(before) + 1 and before < set(deck)
            before = set(deck)
        added.update(before - fixed)
    assert set(added) == set(CARDS) - fixed  # at the first level card 2 too (OPEN-02)


def test_aut_09_other_decks_are_refused() -> None:
    setup = solo.draw(1, "automa")
    decks = setup["automa"]["decks"]
    for wrong in (
        decks[:5],
        [decks[1], *decks[1:]],
        [decks[0], decks[0], *decks[2:]],
        [[*decks[0][:-1], decks[0][0]], *decks[1:]],
        [[n for n in decks[0] if n != 13] + [12], *decks[1:]],
    ):
        with pytest.raises(SetupError, match="deck"):
            Game(setup | {"automa": setup["automa"] | {"decks": wrong}}, "base")


@pytest.mark.parametrize(("level", "size", "vp"), [
    ("automalein", 6, 0), ("automa", 7, 10), ("automachtig", 8, 10), ("ultoma", 9, 10),
    ("alptrauma", 9, 10),
])  # fmt: skip
def test_aut_10_levels(level: str, size: int, vp: int) -> None:
    game, player = a_game("GEODENS", level=level)
    assert player.vp == vp == player.vp_source["START"] + player.vp_source["FACTION"]
    assert [len(deck) for deck in player.drawn["decks"]] == [*range(size, size + 6)]
    assert player.deck == player.drawn["decks"][0]


def test_aut_11_each_gain_and_no_gain_of_nothing() -> None:
    missions, tiles = ["BUILDINGS", "SATELLITES"], ["RM-FED-5VP"] * 6
    game, player = a_game(
        "GEODENS", "TERRANS", "alptrauma", round_tiles=tiles, final_missions=missions
    )
    before = player.vp
    act(game, 4, 7)  # the card has 0 VP
    assert player.vp == before
    automa.pass_(game, player, READING)  # the tile has 0 in the first rounds
    assert player.vp == before
    game.round = 4
    automa.pass_(game, player, READING)
    assert player.vp == before + 6
    player.tracks = dict.fromkeys(TRACKS, 4)
    scoring.final_scoring(game)
    assert player.vp_source["RESEARCH_END"] == 6 * 8 + 1  # OPEN-09
    assert player.vp_source["FINAL_1"] == 9 + 1  # as many as the human: 12 and 6 shared
    assert player.vp_source["FINAL_2"] == 0  # nobody has a satellite


# -- turns


def test_aut_12_support_and_action_cards() -> None:
    game, player = a_game("GEODENS")
    player.deck, player.cards_turned = [1, 4, 7, 9, 11, 13, 14], 0
    turned = []
    for _ in range(3):
        support, action = automa.turn_cards(player)
        turned.append((support["id"], action and action["id"]))
    assert turned == [(1, 4), (4, 7), (7, 9)]


def test_aut_13_sure_and_most_actions() -> None:
    rng, counts = random.Random(2), Counter[int]()
    game, player = a_game("GEODENS")
    for _ in range(400):
        player.deck, player.cards_turned = rng.sample(list(CARDS), 9), 0
        acted = 0
        while automa.turn_cards(player)[1] is not None:
            acted += 1
        counts[acted] += 1
    assert set(counts) == {5, 6, 7, 8}


def test_aut_14_vp_come_even_if_nothing_can_be_done() -> None:
    game, player = a_game("ITARS")
    game.used = set(SPACES)
    before = player.vp
    act(game, 4, 14)
    assert player.vp == before + 3
    act(game, 4, 13)
    assert player.vp == before + 3 + 4  # the faction card's


# Of the Automa's VP.
SOURCES = {"START", "FACTION", "ROUND_TILE", "FINAL_1", "FINAL_2", "RESEARCH_END"}


def stocks(player: Any) -> list[Any]:
    return [player.ore, player.knowledge, player.credits, player.qic, *player.bowls,
            player.gaia_tokens, player.gaiaformers, player.green, len(player.tokens),
            len(player.tiles), len(player.advanced)]  # fmt: skip


# All levels with each faction; in The Lost Fleet, whose games take longer, the levels in turn.
RANDOM_GAMES = [
    (solo.RULESET, faction, level, 10 * place + number)
    for place, faction in enumerate(FACTIONS)
    for number, level in enumerate(LEVELS)
] + [
    (solo.FLEET, faction, LEVELS[place % len(LEVELS)], place)
    for place, faction in enumerate(FACTIONS)
]


@pytest.mark.parametrize(("name", "faction", "level", "seed"), RANDOM_GAMES)
def test_aut_15_and_45_random_games(name: str, faction: str, level: str, seed: int) -> None:
    """It has no stocks, the human alone is asked, and its pieces, shuttles and VP add up."""
    game = Game(solo.draw(seed, level, faction, name=name), name)
    player, human, shuttles = game.automa(), game.players[0], set[str]()

    def check() -> None:
        assert game.current_player == 0
        assert shuttles <= player.shuttles <= set(facts()["ship_tiles"])
        shuttles.update(player.shuttles)

    play_to_end(game, seed, check)
    assert shuttles <= player.shuttles
    assert not any(stocks(player)) and player.brainstone == -1
    assert {source for source, vp in player.vp_source.items() if vp} <= SOURCES
    assert all(player.supply(piece) >= 0 for piece in ("MINE", "TS", "RL", "AC", "PI"))
    assert all(game.board.owner[cell] == 1 for cell in player.structures)
    assert "Transdim" not in {game.board.planet[cell] for cell in player.structures}
    assert player.satellites_counted <= len(player.structures)
    assert len(human.shuttles) <= 2 and not human.artifacts
    row = [*game.open_boosters, player.booster, human.booster]
    assert Counter(row) == Counter(game.setup["boosters"])
