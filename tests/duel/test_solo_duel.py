"""The games for one against the Automa: the referee against the engine, in one batch each.

`python -m tests.referee.duel --games 500 --ruleset base --players 1` plays more of them, with
`--ruleset lost_fleet_published` those of The Lost Fleet.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import GAMES
from tests.referee import solo
from tests.referee.automa_cards import facts
from tests.referee.duel import agree
from tests.referee.engine import Engine
from tests.referee.game import Game

BOTH = (solo.RULESET, solo.FLEET)
# The engine of The Lost Fleet for one takes long to compile.
BASE_FIRST = (solo.RULESET, pytest.param(solo.FLEET, marks=pytest.mark.slow))
# In one of these games the Automa reaches terraforming 5, whose token stays there (AUT-15).
FIRST = GAMES


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Engine:
    return Engine(request.param, GAMES, players=1)


def setups(name: str, first: int) -> dict[int, dict[str, Any]]:
    """A batch with levels and factions in turn."""
    return {seed: solo.draw_spread(seed, name) for seed in range(first, first + GAMES)}


@pytest.mark.parametrize("name", BOTH)
def test_the_games_are_balanced(name: str) -> None:
    drawn = setups(name, FIRST).values()
    assert {setup["automa"]["level"] for setup in drawn} == set(facts()["levels"])
    assert {setup["automa"]["faction"] for setup in drawn} == set(facts()["factions"])
    assert len({setup["factions"][0] for setup in drawn}) >= 10


@pytest.mark.parametrize("engine", BASE_FIRST, indirect=True)
def test_both_engines_agree(engine: Engine) -> None:
    agree(engine, setups(engine.ruleset, FIRST))


@pytest.mark.slow
@pytest.mark.parametrize("engine", BOTH, indirect=True)
@pytest.mark.parametrize("first", (0, *range(2 * GAMES, 13 * GAMES, GAMES)))
def test_both_engines_agree_on_more_games(engine: Engine, first: int) -> None:
    agree(engine, setups(engine.ruleset, first))


@pytest.mark.parametrize("engine", BASE_FIRST, indirect=True)
def test_the_engine_draws_set_ups_of_the_solo_game(engine: Engine) -> None:
    """The referee refuses decks, factions, ships and maps that the rules do not have."""
    for seed in range(20):
        setup = engine.draw_setup(seed)
        Game(setup, engine.ruleset)
        assert setup["automa"]["level"] == "automachtig"
