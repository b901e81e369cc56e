"""The solo game for PettingZoo and JaxMARL: one agent, with the rewards of the human."""

import jax
import numpy as np
import pytest

import gaia_jax


@pytest.mark.slow  # compiles the solo game
def test_pettingzoo_has_one_agent_that_always_decides() -> None:
    pettingzoo = pytest.importorskip("gaia_jax.adapters.pettingzoo")
    env = pettingzoo.aec_env(gaia_jax.make("base", players=1, automa="automalein", reward="vp"))
    env.reset(seed=3)
    assert env.possible_agents == ["player_0"]
    total = 0.0
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        total += reward
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated else int(legal[-1]))
        assert agent == "player_0" and len(legal)
    vp = env._state.game.players.vp
    assert env._state.terminated and total == pytest.approx((int(vp[0]) - 10) / 100)


@pytest.mark.slow  # traces the solo game
def test_jaxmarl_has_one_agent() -> None:
    jaxmarl = pytest.importorskip("gaia_jax.adapters.jaxmarl")
    env = jaxmarl.GaiaMARL("base", players=1)
    key = jax.random.key(0)
    _, state = jax.eval_shape(env.reset, key)
    out = jax.eval_shape(env.step, key, state, {"agent_0": jax.ShapeDtypeStruct((), "int32")})
    seen, _, rewards, dones, info = out
    assert list(seen) == list(rewards) == env.agents == ["agent_0"]
    assert set(dones) == {"agent_0", "__all__"}
    assert all(value.shape == (1,) for value in info.values()) and "vp_margin" in info
