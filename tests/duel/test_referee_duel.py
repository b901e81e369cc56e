"""A short duel: all factions and policies, the referee against the engine."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.conftest import GAMES
from tests.referee.duel import agree
from tests.referee.engine import Engine
from tests.referee.rules import ruleset
from tests.referee.setup import draw

DUELS = 40


def tables(games: int) -> list[list[str]]:
    """The factions of each game: always those who have played least, of four boards."""
    board = {name: printed["board"] for name, printed in ruleset("lost_fleet").factions.items()}
    rng, seen = random.Random(0), Counter(dict.fromkeys(board, 0))
    out = []
    for _ in range(games):
        chosen: list[str] = []
        for faction in sorted(seen, key=lambda name: (seen[name], rng.random())):
            if len(chosen) < 4 and board[faction] not in {board[other] for other in chosen}:
                chosen.append(faction)
        seen.update(chosen)
        out.append(chosen)
    return out


@pytest.mark.parametrize(("games", "least"), [(GAMES, 3), (DUELS, 8)])
def test_the_games_are_balanced(games: int, least: int) -> None:
    seen = Counter(faction for table in tables(games) for faction in table)
    assert len(seen) == 18 and min(seen.values()) >= least
    assert all(len(set(table)) == 4 for table in tables(games))


@pytest.fixture(scope="module")
def engine(step_games: Any) -> Engine:
    """The engine, with the compiled step of all tests."""
    engine = Engine("lost_fleet", GAMES)
    engine._step = step_games
    return engine


@pytest.mark.parametrize("games", [GAMES, pytest.param(DUELS, marks=pytest.mark.slow)])
def test_both_engines_agree(engine: Engine, games: int) -> None:
    setups = [draw(seed, "lost_fleet", factions) for seed, factions in enumerate(tables(games))]
    for first in range(0, games, GAMES):
        agree(engine, dict(enumerate(setups[first : first + GAMES], first)))
