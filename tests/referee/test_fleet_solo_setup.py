"""The referee's solo game of The Lost Fleet: its set-up and whole games, AUT-40 and AUT-45."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.referee import automa_actions, solo
from tests.referee.automa_cards import facts
from tests.referee.game import Game
from tests.referee.policies import POLICIES
from tests.referee.rules import ruleset
from tests.referee.setup import SetupError, touching
from tests.referee.solo_positions import FACTIONS, LEVELS, a_fleet_game

pytestmark = pytest.mark.no_compile

SHIPS = list(facts()["ship_tiles"])
RULES = solo.rules_for_both(solo.FLEET)


def test_aut_40_map_and_pieces() -> None:
    tiles, asteroids = set(), Counter[bool]()
    for seed in range(60):
        setup = solo.draw(seed, name=solo.FLEET)
        game = Game(setup, solo.FLEET)
        planet = Counter(game.board.planet)
        assert not touching(game.rules, setup)
        assert len(game.board.planet) == 157 and planet["Ship"] == 3
        assert setup["ships"].keys() == set(SHIPS)
        assert sorted(setup["interface"].values()) == ["Asteroid", "Asteroid", "Proto"]
        assert sorted(int(laid["tile"][2]) for laid in setup["deep"]) == [1, 2, 3, 4, 5, 6]
        assert setup["ship_tokens"].keys() == set(SHIPS) and setup["extra_condition"] == "A"
        tiles.add(tuple(setup["ship_tiles"][ship] for ship in SHIPS))
        assert "artifacts" not in setup and "turn_order" not in setup
        if "ASTEROID_BUILDINGS" in setup["final_missions"]:
            asteroids[planet["Asteroid"] >= 6] += 1
    assert len(tiles) == 6 and all(len(set(three)) == 3 for three in tiles)
    assert set(asteroids) == {True}


def test_aut_40_five_spaces_in_a_line_on_top() -> None:
    game, _ = a_fleet_game("GEODENS")
    cells = game.board.geometry.cells
    top = [cells[cell] for cell in automa_actions.reading_order(game)[:6]]
    assert top[:5] == [(-5, 7), (-4, 7), (-3, 7), (-2, 7), (-1, 7)] and top[5][1] == 6


def test_aut_40_neither_twilight_nor_artifacts() -> None:
    assert RULES.ships == SHIPS and not RULES.artifacts
    assert {printed["ship"] for printed in RULES.ship_actions.values()} == set(SHIPS)
    two = ruleset(solo.FLEET, 2)
    assert "TWILIGHT" in two.ships and two.artifacts  # those of two people stay
    setup = solo.draw(1, name=solo.FLEET)
    with pytest.raises(SetupError, match="artifacts"):
        Game(setup | {"artifacts": two.artifacts[:2]}, solo.FLEET)


def test_aut_40_factions() -> None:
    boards = solo.boards_of(solo.FLEET)
    assert len(boards) == 18
    for human in boards:
        for faction in boards:
            setup = solo.draw(3, name=solo.FLEET) | {"factions": [human]}
            setup["automa"] = setup["automa"] | {"faction": faction}
            if faction in FACTIONS and boards[human] != boards[faction]:
                Game(setup, solo.FLEET)
            else:
                with pytest.raises(SetupError, match="the Automa cannot be"):
                    Game(setup, solo.FLEET)


@pytest.mark.parametrize(("human", "faction", "counts"), [
    ("TERRANS", "GEODENS", [0, 2, 2]),
    ("HIVES", "XENOS", [3, 3]),
    ("DARKANIANS", "GEODENS", [2, 2]),
    ("TINKEROIDS", "XENOS", [3, 3]),
    ("MOWEYDS", "ITARS", [2, 2]),
    ("SPACE_GIANTS", "XENOS", [3, 3]),
])  # fmt: skip
def test_aut_40_new_factions_are_placed_in_their_stages(
    human: str, faction: str, counts: list[int]
) -> None:
    """The Automa's mines when the human places each structure, and at the end."""
    game = Game(solo.draw(1, "automa", faction, human, solo.FLEET), solo.FLEET)
    seen = []
    while game.node == "START":
        seen.append(len(game.automa().structures))
        game.apply(max(game.legal_actions()))
    assert [*seen, len(game.automa().structures)] == counts


@pytest.mark.parametrize(("human", "left", "on_ships"), [
    ("TERRANS", 2, set()), ("DARKANIANS", 2, set()), ("MOWEYDS", 1, {"TF_MARS"}),
])  # fmt: skip
def test_aut_40_the_human_has_two_shuttles(human: str, left: int, on_ships: set[str]) -> None:
    game, _ = a_fleet_game("ITARS", human)
    player = game.players[0]
    assert (player.shuttles_left, player.shuttles) == (left, on_ships)  # OPEN-13


def test_aut_40_colours_of_three_steps() -> None:
    """The Automa's home colour is one of the three (INI-09)."""
    order = ["White", "Red", "Orange", "Yellow", "Brown", "Black", "Blue"]
    game, _ = a_fleet_game("TERRANS", "TINKEROIDS", colour_order=order)
    steps = game.players[0].steps_to
    assert {colour for colour in order if steps[colour] == 3} == {"Blue", "White", "Red"}


# -- AUT-45


@pytest.mark.parametrize(("level", "vp"), [
    ("automalein", 0), ("automa", 15), ("automachtig", 20), ("ultoma", 25), ("alptrauma", 10),
])  # fmt: skip
def test_aut_45_start_vp_and_the_same_cards(level: str, vp: int) -> None:
    setup: dict[str, Any] = solo.draw(5, level, name=solo.FLEET)
    player = Game(setup, solo.FLEET).automa()
    assert player.vp == vp == player.vp_source["START"]
    fixed = set(facts()["levels"][level]["fixed_cards"])
    assert [len(set(deck)) for deck in setup["automa"]["decks"]] == [
        *range(len(fixed) + 1, len(fixed) + 7)
    ]


@pytest.mark.parametrize("faction", FACTIONS)
def test_aut_45_random_games(faction: str) -> None:
    """Its pieces and shuttles add up; it gains VP from cards and tiles alone."""
    sources = {"START", "FACTION", "ROUND_TILE", "FINAL_1", "FINAL_2", "RESEARCH_END"}
    seed = FACTIONS.index(faction)
    level = LEVELS[seed % len(LEVELS)]
    game = Game(solo.draw(seed, level, faction, name=solo.FLEET), solo.FLEET)
    choose, rng = POLICIES[list(POLICIES)[seed % len(POLICIES)]](), random.Random(seed)
    while not game.over:
        assert game.current_player == 0
        before = set(game.automa().shuttles)
        game.apply(choose(rng, sorted(game.legal_actions()), game))
        assert before <= game.automa().shuttles <= set(SHIPS)
    player, human = game.automa(), game.players[0]
    assert player.vp == sum(player.vp_source.values())
    assert {source for source, vp in player.vp_source.items() if vp} <= sources
    assert all(player.supply(piece) >= 0 for piece in ("MINE", "TS", "RL", "AC", "PI"))
    assert len(human.shuttles) <= 2 and not human.artifacts
    row = [*game.open_boosters, player.booster, human.booster]
    assert Counter(row) == Counter(game.setup["boosters"])
