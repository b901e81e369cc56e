"""The printed Lost Fleet for two and three: the referee against the engine (PLA-08 to PLA-14).

`python -m tests.referee.duel --games 200 --ruleset lost_fleet_published --players 2` plays more.
"""

from __future__ import annotations

import pytest

from tests.conftest import GAMES
from tests.referee.duel import Match, play
from tests.referee.engine import Engine
from tests.referee.game import Game
from tests.referee.policies import POLICIES
from tests.referee.setup import draw

NAME = "lost_fleet_published"


def check_agreement(players: int, first: int) -> None:
    """Policies in turn, set-ups of the referee's own drawing."""
    matches = []
    for seed in range(first, first + GAMES):
        policy = list(POLICIES)[seed % len(POLICIES)]
        setup = draw(seed, NAME, players=players)
        matches.append(Match(NAME, seed, policy, setup, POLICIES[policy]()))
    play(Engine(NAME, GAMES, players), matches)
    for match in matches:
        assert not match.differences, (match.seed, match.policy, match.differences[:20])
        assert match.game.over


@pytest.mark.slow
def test_both_engines_agree_with_two() -> None:
    check_agreement(players=2, first=0)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("first", range(GAMES, 4 * GAMES, GAMES))
def test_both_engines_agree_on_more_games(players: int, first: int) -> None:
    check_agreement(players, first)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3])
def test_the_engine_draws_set_ups_that_the_referee_accepts(players: int) -> None:
    """The referee refuses tiles, ships and contents of holes that the rules do not have."""
    engine = Engine(NAME, GAMES, players)
    for seed in range(60):
        Game(engine.draw_setup(seed), NAME)
