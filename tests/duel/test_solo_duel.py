"""The games for one against the Automa: the referee against the engine, in one batch each.

`python -m tests.referee.duel --games 500 --ruleset base --players 1` plays more of them, with
`--ruleset lost_fleet_published` those of The Lost Fleet.
"""

from __future__ import annotations

import pytest

from tests.conftest import GAMES
from tests.referee import solo
from tests.referee.automa_cards import facts
from tests.referee.duel import Match, play
from tests.referee.engine import Engine
from tests.referee.game import Game
from tests.referee.policies import POLICIES

BOTH = (solo.RULESET, solo.FLEET)
# The engine of The Lost Fleet for one takes long to compile.
BASE_FIRST = (solo.RULESET, pytest.param(solo.FLEET, marks=pytest.mark.slow))
# In one of these games the Automa reaches terraforming 5, whose token stays there (AUT-15).
FIRST = GAMES


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Engine:
    return Engine(request.param, GAMES, players=1)


def matches(name: str, first: int, games: int) -> list[Match]:
    """Levels, factions and policies in turn."""
    out = []
    for seed in range(first, first + games):
        policy = list(POLICIES)[seed % len(POLICIES)]
        out.append(Match(name, seed, policy, solo.draw_spread(seed, name), POLICIES[policy]()))
    return out


def check_agreement(engine: Engine, games: list[Match]) -> None:
    play(engine, games)
    for match in games:
        assert not match.differences, (match.seed, match.policy, match.differences[:20])
        assert match.game.over


@pytest.mark.parametrize("name", BOTH)
def test_the_games_are_balanced(name: str) -> None:
    setups = [match.setup for match in matches(name, FIRST, GAMES)]
    assert {setup["automa"]["level"] for setup in setups} == set(facts()["levels"])
    assert {setup["automa"]["faction"] for setup in setups} == set(facts()["factions"])
    assert len({setup["factions"][0] for setup in setups}) >= 10


@pytest.mark.parametrize("engine", BASE_FIRST, indirect=True)
def test_both_engines_agree(engine: Engine) -> None:
    check_agreement(engine, matches(engine.ruleset, FIRST, GAMES))


@pytest.mark.slow
@pytest.mark.parametrize("engine", BOTH, indirect=True)
@pytest.mark.parametrize("first", (0, *range(2 * GAMES, 13 * GAMES, GAMES)))
def test_both_engines_agree_on_more_games(engine: Engine, first: int) -> None:
    check_agreement(engine, matches(engine.ruleset, first, GAMES))


@pytest.mark.parametrize("engine", BASE_FIRST, indirect=True)
def test_the_engine_draws_set_ups_of_the_solo_game(engine: Engine) -> None:
    """The referee refuses decks, factions, ships and maps that the rules do not have."""
    for seed in range(20):
        setup = engine.draw_setup(seed)
        Game(setup, engine.ruleset)
        assert setup["automa"]["level"] == "automachtig"
