"""`--record DIR`: every game of a match as a record that replays to the same VP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaia_jax import replay
from training.agents import random_agent
from training.games.arena import Arena
from training.games.records import Recorder


@pytest.mark.slow
def test_the_games_of_a_match_replay_to_the_same_vp(env: Any, tmp_path: Path) -> None:
    agents = [random_agent(env), *[random_agent(env)._replace(name="other")] * 3]
    folder = tmp_path / "records"
    recorder = Recorder(folder, env, [agent.name for agent in agents])
    recorder.prefix = "update000003-"
    setups = 3  # in batches of two: the second batch is half a match's
    arena = Arena(env, agents, 4 * setups, at_once=8, recorder=recorder)
    results = arena.play(4)
    written = sorted(folder.iterdir())
    assert len(written) == 12
    for number in (0, 5, 11):
        setup, seats = divmod(number, 4)
        path = folder / f"update000003-seed4-setup{setup:05}-seats{seats}.json"
        record = replay.read(path)
        assert record.final_vp == tuple(np.asarray(results.vp)[setup, seats].tolist())
        assert record.players.count("random") == 1 and record.players[seats] == "random"
        assert len(record.actions) == results.decisions[setup, seats]
        state = replay.play(record)
        assert bool(state.terminated)
    # The same set-up, other hands.
    first, second = replay.read(written[0]), replay.read(written[1])
    assert first.setup == second.setup and first.actions != second.actions
