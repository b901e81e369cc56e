"""The base game of two and three players: the referee against the engine, and recorded games."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import GAMES
from tests.referee.duel import Match, play
from tests.referee.engine import Engine
from tests.referee.policies import POLICIES
from tests.referee.setup import draw
from tests.replays import play as replays
from tests.replays.record import record
from tests.replays.table import Table

pytestmark = pytest.mark.slow  # each compiles a game of its own, half a minute


def matches(players: int, sectors: int | None = None) -> list[Match]:
    """Policies in turn, set-ups of the referee's own drawing."""
    out = []
    for seed in range(GAMES):
        policy = list(POLICIES)[seed % len(POLICIES)]
        setup = draw(seed, "base", players=players, sectors=sectors)
        out.append(Match("base", seed, policy, setup, POLICIES[policy]()))
    return out


@pytest.mark.parametrize(("players", "sectors"), [(2, None), (3, None), (3, 8)])
def test_both_engines_agree(players: int, sectors: int | None) -> None:
    engine, games = Engine("base", GAMES, players), matches(players, sectors)
    play(engine, games)
    for match in games:
        assert not match.differences, (match.seed, match.policy, match.differences[:20])
        assert match.game.over


def test_recorded_games_of_two_play_as_recorded() -> None:
    """The reader replays the games that the referee plays and records."""
    records: list[dict[str, Any]] = [
        record(f"two {seed}", names, seed, {"upgrade": 4.0, "mine": 2.0})
        for seed, names in enumerate((["TAKLONS", "TERRANS"], ["XENOS", "HADSCH_HALLAS"]))
    ]
    three = records[0] | {"id": "three", "vp": [*records[0]["vp"], records[0]["vp"][0]]}
    report = replays.Report()
    replays.play(Table("base", GAMES, 2), [*records, three], report)
    assert [game for game, _ in report.differences] == ["three"]
    assert report.ended == len(records) and report.asked > 50
