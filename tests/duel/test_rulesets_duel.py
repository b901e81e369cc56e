"""The published and the base game: the referee against the engine, a batch of games each."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conftest import GAMES
from tests.referee.duel import Match, play
from tests.referee.engine import Engine
from tests.referee.policies import POLICIES
from tests.referee.setup import draw


@pytest.mark.slow
@pytest.mark.parametrize("ruleset, factions", [("base", 14), ("lost_fleet_published", 18)])
def test_both_engines_agree(ruleset: str, factions: int) -> None:
    engine = Engine(ruleset, GAMES)
    matches = []
    for seed in range(GAMES):
        policy = list(POLICIES)[seed % len(POLICIES)]
        matches.append(Match(ruleset, seed, policy, draw(seed, ruleset), POLICIES[policy]()))
    assert len(Counter(name for match in matches for name in match.setup["factions"])) == factions
    play(engine, matches)
    for match in matches:
        assert not match.differences, (match.seed, match.policy, match.differences[:20])
        assert match.game.over
