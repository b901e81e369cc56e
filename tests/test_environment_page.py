"""The code of docs/guide/environment.md runs as it stands, on a stand-in for the game."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from tests.stub_env import StubEnv

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "guide" / "environment.md").read_text("utf-8")


@pytest.mark.slow
def test_its_blocks_run_one_after_another(monkeypatch, capsys):
    """About 6 s."""
    made = []

    def make(id, reward="margin"):
        made.append((id, reward))
        return StubEnv(reward=reward)

    monkeypatch.setattr(gaia_jax, "make", make)
    monkeypatch.setattr(gaia_jax, "GaiaEnv", StubEnv)
    scope: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 6
    for block in blocks:
        exec(compile(block, "environment.md", "exec"), scope)
    assert made == [("lost_fleet", "margin")] * 2
    assert scope["state"].step_count == 1
    assert bool(scope["state"].legal_action_mask[scope["action"]])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("mine ") and said[1] == "(224, 59) (4, 216) (525,)"
    assert scope["flat"].shape == (224 * 59 + 4 * 216 + 525,)
    assert scope["ended"].shape == (20, 8) and scope["ended"].sum() == 16
    assert (scope["vp"][~scope["ended"]] == 0).all()
    _plays_with_the_reward_of_its_own(scope["shaped"])


def _plays_with_the_reward_of_its_own(env):
    """A game of it pays a win in all, and 0.001 for each VP that was gained."""
    auto = gaia_jax.auto_reset(env)
    state, key = auto.init(jax.random.key(0)), jax.random.key(1)
    begun, paid = state.game.players.vp, jnp.zeros(env.num_players)
    step = jax.jit(auto.step)
    for _ in range(env.length):
        state = step(state, jnp.argmax(state.legal_action_mask), key)
        paid = paid + state.rewards
    assert state.terminated
    gained = state.final_vp - begun
    won = (state.final_vp == state.final_vp.max()).astype(jnp.float32)
    np.testing.assert_allclose(paid, won / won.sum() + 0.001 * gained, atol=1e-6)
    assert gained.max() > 0


def test_what_it_says_of_rewards_is_what_there_is():
    told = re.findall(r'^\| `"(\w+)"`', PAGE, re.M)
    assert tuple(told) == gaia_jax.REWARDS
    assert gaia_jax.make().reward == "margin" and '`"margin"` (default)' in PAGE
    assert gaia_jax.make().max_steps == 8192 and "max_steps=8192" in PAGE
