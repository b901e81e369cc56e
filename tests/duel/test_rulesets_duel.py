"""The base game and the printed Lost Fleet for two to four: the referee against the engine.

The number of players changes PLA-01 to PLA-14.
`python -m tests.referee.duel --games 200 --ruleset lost_fleet_published --players 2` plays more.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import GAMES
from tests.referee.duel import agree
from tests.referee.engine import Engine
from tests.referee.game import Game
from tests.referee.setup import draw
from tests.replays import play as replays
from tests.replays.record import record
from tests.replays.table import Table

pytestmark = pytest.mark.slow  # each game is compiled by itself, half a minute
BASE, FLEET = "base", "lost_fleet_published"
# Game, players, tiles of the map if not the usual number, first seed.
BATCHES = [
    (BASE, 4, None, 0), (FLEET, 4, None, 0), (BASE, 2, None, 0), (BASE, 3, None, 0),
    (BASE, 3, 8, 0), (FLEET, 2, None, 0),
    *((FLEET, players, None, GAMES * n) for players in (2, 3) for n in (1, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("ruleset", "players", "sectors", "first"), BATCHES)
def test_both_engines_agree(ruleset: str, players: int, sectors: int | None, first: int) -> None:
    """On set-ups of the referee's own drawing; those for four have all factions."""
    setups = {
        seed: draw(seed, ruleset, players=players, sectors=sectors)
        for seed in range(first, first + GAMES)
    }
    factions = {name for setup in setups.values() for name in setup["factions"]}
    assert players < 4 or len(factions) == {BASE: 14, FLEET: 18}[ruleset]
    agree(Engine(ruleset, GAMES, players), setups)


@pytest.mark.parametrize("players", [2, 3])
def test_the_engine_draws_set_ups_that_the_referee_accepts(players: int) -> None:
    """The referee refuses tiles, ships and contents of holes that the rules do not have."""
    engine = Engine(FLEET, GAMES, players)
    for seed in range(60):
        Game(engine.draw_setup(seed), FLEET)


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
