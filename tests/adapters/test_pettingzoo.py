"""aec_env passes PettingZoo's own tests, and plays as the environment inside."""

import copy
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.stub_env import StubEnv

pettingzoo = pytest.importorskip("pettingzoo", reason="pettingzoo comes with the extra `adapters`")

from pettingzoo.test import api_test, seed_test  # noqa: E402
from pettingzoo.utils.env_logger import EnvLogger  # noqa: E402
from pettingzoo.utils.wrappers import OrderEnforcingWrapper  # noqa: E402

from gaia_jax.adapters.pettingzoo import aec_env  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
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


def test_the_constructor_uses_no_device():
    """A process that has started JAX hangs when it forks; workers of PettingZoo's users fork."""
    code = """
from jax._src import xla_bridge
from gaia_jax.adapters import spaces
from gaia_jax.adapters.pettingzoo import aec_env
env = aec_env("base")
for kind in ("tree", "vector", "picture"):
    spaces.observation_space(env.env, kind)
    env.observation_space("player_0").sample()
assert not xla_bridge._backends, list(xla_bridge._backends)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_calls_before_reset_raise_what_pettingzoo_raises():
    env = aec_env(STUB, render_mode="ansi")
    wrapped = OrderEnforcingWrapper(aec_env(STUB, render_mode="ansi"))
    for call in (
        lambda env: env.step(0),
        lambda env: env.observe("player_0"),
        lambda env: env.render(),
        lambda env: env.agent_iter(),
        lambda env: env.last(),
        *(lambda env, name=name: getattr(env, name) for name in ("agents", "num_agents", "infos")),
    ):
        with pytest.raises((AssertionError, AttributeError)) as right:
            call(wrapped)
        with pytest.raises(type(right.value), match=re.escape(str(right.value))):
            call(env)
    assert not hasattr(env, "no_such_name")


def test_a_step_after_the_end_warns_as_pettingzoo_does():
    env = aec_env(StubEnv(length=1))
    env.reset(seed=1)
    for _ in env.agent_iter():
        env.step(None if env.last()[2] else int(env.last()[0]["action_mask"].argmax()))
    EnvLogger.suppress_output()
    EnvLogger.flush()
    env.step(0)
    EnvLogger.unsuppress_output()
    assert any("step() called after all agents" in str(warning) for warning in EnvLogger.mqueue)


@pytest.mark.parametrize("action", ["a", 1.5, None, [1], float("nan")])
def test_what_is_no_action_is_refused_and_changes_nothing(action):
    env = aec_env(STUB)
    env.reset(seed=1)
    before = env._state
    with pytest.raises((TypeError, ValueError), match="^action must be "):
        env.step(action)
    assert env._state is before and not any(env.terminations.values())


def test_pickled_and_copied_it_plays_on():
    env = aec_env(STUB)
    assert pickle.loads(pickle.dumps(env)).possible_agents == env.possible_agents
    env.reset(seed=1)
    env.step(0)
    for copied in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert (copied.agent_selection, copied.rewards) == (env.agent_selection, env.rewards)
        observed, copied_observed = env.last()[0], copied.last()[0]
        np.testing.assert_array_equal(observed["observation"], copied_observed["observation"])
        copied.step(int(copied_observed["action_mask"].argmax()))
        assert not any(copied.terminations.values())
        env_draw, copied_draw = copy.deepcopy(env._draws), copied._draws
        assert env_draw.integers(2**31) == copied_draw.integers(2**31)
