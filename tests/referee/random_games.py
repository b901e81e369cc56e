"""Random games of the referee alone, with the checks that every finished game must pass."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.referee.game import Game
from tests.referee.policies import POLICIES, policy_name
from tests.referee.rules import ruleset


def table_of(name: str, *factions: str) -> list[str]:
    """Four factions of different boards, these first."""
    printed, by_board = ruleset(name).factions, dict[Any, str]()
    for faction in (*factions, *printed):
        by_board.setdefault(printed[faction]["board"], faction)
    return [*by_board.values()][:4]


def in_a_turn(game: Game) -> Game:
    """The game, played on to the next turn by the first action in alphabetical order."""
    while game.node != "TURN":
        game.apply(min(game.legal_actions()))
    return game


def play_to_end(game: Game, seed: int, check: Callable[[], None] = lambda: None) -> None:
    """Play at random by the policy that `seed` selects; check VP and turn order at the end.

    Args:
        check: called before each decision.
    """
    rng = random.Random(seed)
    choose = POLICIES[policy_name(seed)]()
    while not game.over:
        check()
        game.apply(choose(rng, sorted(game.legal_actions()), game))
    for player in game.players:
        assert player.vp == sum(player.vp_source.values()) >= 0
    assert sorted(game.turn_order) == list(range(len(game.players)))
