"""The referee's solo game of The Lost Fleet: its set-up, AUT-40 and AUT-45.

What it has in common with the base game is in `test_automa_setup.py`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.referee import automa_actions, solo
from tests.referee.automa_cards import facts
from tests.referee.game import Game
from tests.referee.rules import ruleset
from tests.referee.setup import SetupError, touching
from tests.referee.solo_positions import a_fleet_game

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
