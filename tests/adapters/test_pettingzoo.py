"""aec_env passes PettingZoo's own tests, and plays as the environment inside."""

import numpy as np
import pytest

from tests.stub_env import StubEnv

pettingzoo = pytest.importorskip("pettingzoo", reason="pettingzoo comes with the extra `adapters`")

from pettingzoo.test import api_test, seed_test  # noqa: E402

from gaia_jax.adapters.pettingzoo import aec_env  # noqa: E402

STUB = StubEnv(length=11)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_s_api_test_passes():
    api_test(aec_env(STUB), num_cycles=30)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_s_seed_test_passes():
    seed_test(lambda: aec_env(STUB), num_cycles=10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_s_own_tests_pass_on_the_game():
    api_test(aec_env("lost_fleet"), num_cycles=300)
    seed_test(lambda: aec_env("base"), num_cycles=100)


def test_a_game_to_its_end():
    env = aec_env(STUB)
    env.reset(seed=5)
    total = dict.fromkeys(env.possible_agents, 0.0)
    decisions = 0
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        assert env.observation_space(agent).contains(seen)
        decisions += 1
        env.step(int(np.flatnonzero(seen["action_mask"])[-1]))
    assert decisions == 11 and not env.agents
    right = np.asarray(env._state.rewards)
    np.testing.assert_allclose([total[a] for a in env.possible_agents], right, atol=1e-6)
    assert right.any()


def test_an_illegal_action_ends_the_game_and_costs_its_player():
    env = aec_env(STUB)
    env.reset(seed=1)
    agent = env.agent_selection
    env.step(int(np.argmin(env.observe(agent)["action_mask"])))
    assert all(env.terminations.values())
    assert env.rewards == {a: -1.0 if a == agent else 0.0 for a in env.possible_agents}


def test_unknown_options_are_named():
    with pytest.raises(ValueError, match="unknown observation 'flat'; known are tree, vector"):
        aec_env(STUB, observation="flat")
    with pytest.raises(ValueError, match="unknown render_mode 'human'; known are ansi, svg"):
        aec_env(STUB, render_mode="human")
    env = aec_env("base", players=3)
    assert len(env.possible_agents) == 3
    with pytest.raises(ValueError, match="unknown agent 'player_3'; known are player_0, player_1"):
        env.observe("player_3")
