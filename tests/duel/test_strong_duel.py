"""Policy transfer: zoo/strong, trained in the engine alone, plays the referee's games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from tests.conftest import GAMES
from tests.referee.duel import Match, play
from tests.referee.engine import Engine
from training.agents import make_agent

PLAYED = 8


@pytest.mark.slow
def test_strong_plays_the_games_of_the_referee(step_games: Any) -> None:
    """It sees the engine's states; its moves are legal for the referee, and worth the same VP."""
    engine = Engine("lost_fleet", GAMES)
    engine._step = step_games
    agent = make_agent("zoo/strong", engine.env, likeliest=True)
    act, keys = jax.jit(agent.act), jax.random.split(jax.random.key(0), GAMES)
    chosen: dict[int, np.ndarray] = {}  # by the number of decisions

    def of_lane(lane: int) -> Callable[..., str]:
        def choose(rng: Any, legal: list[str], game: Any) -> str:
            state, number = engine.state, len(matches[lane].actions)
            if number not in chosen:
                key = keys if agent.by_game else keys[0]
                mask = state.legal_action_mask
                chosen[number] = np.asarray(act(agent.params, state, mask, key))
            text: str = engine.texts[chosen[number][lane]]
            assert text in legal
            return text

        return choose

    matches = [
        Match("lost_fleet", seed, "zoo/strong", engine.draw_setup(seed), of_lane(seed))
        for seed in range(PLAYED)
    ]
    play(engine, matches)
    vp = np.asarray(engine.state.game.players.vp)
    for lane, match in enumerate(matches):
        assert not match.differences, (match.seed, match.differences[:20])
        assert match.game.over
        assert [player.vp for player in match.game.players] == vp[lane].tolist()
    assert vp[:PLAYED].mean() > 90  # as in an arena, 120; a random player has 32
