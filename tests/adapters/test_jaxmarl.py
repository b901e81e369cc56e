"""GaiaMARL under the rollout of JaxMARL's baselines."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.stub_env import StubEnv
from tests.trees import same

STUB = StubEnv(length=9)
ENVS = 3


@pytest.fixture(scope="module", autouse=True)
def jaxmarl():
    """Import JaxMARL when a test runs, not during collection: it takes ten seconds."""
    return pytest.importorskip("jaxmarl", reason="JaxMARL comes with the extra `adapters`")


def batchify(x, agents):
    """As in baselines/IPPO: (agents * environments, n)."""
    stacked = jnp.stack([x[agent] for agent in agents])
    return stacked.reshape((len(agents) * ENVS, -1))


def unbatchify(x, agents):
    x = x.reshape((len(agents), ENVS, -1))
    return {agent: x[i].squeeze(-1) for i, agent in enumerate(agents)}


@pytest.mark.slow
def test_the_rollout_of_a_baseline():
    """`_env_step` of ippo_ff_hanabi.py, with the first available action for its network."""
    from jaxmarl.wrappers.baselines import LogWrapper

    from gaia_jax.adapters.jaxmarl import GaiaMARL

    env = LogWrapper(GaiaMARL(STUB, observation="scaled", world_state=True))
    obs, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), ENVS))

    def env_step(carry, key):
        state, obs = carry
        avail = jax.vmap(env.get_legal_moves)(state.env_state)
        avail, seen = batchify(avail, env.agents), batchify(obs, env.agents)
        assert seen.shape[1:] == env.observation_space(env.agents[0]).shape
        assert obs["world_state"].shape == (ENVS, 4, env.world_state_size())
        actions = unbatchify(jnp.argmax(avail, axis=-1), env.agents)
        keys = jax.random.split(key, ENVS)
        obs, state, reward, done, info = jax.vmap(env.step)(keys, state, actions)
        return (state, obs), (reward, done["__all__"], avail.sum(-1), info)

    keys = jax.random.split(jax.random.key(1), 20)
    _, (reward, done, avail, info) = jax.jit(lambda c: jax.lax.scan(env_step, c, keys))(
        (state, obs)
    )
    over = np.arange(1, 21) % 9 == 0
    np.testing.assert_array_equal(done, np.broadcast_to(over[:, None], (20, ENVS)))
    np.testing.assert_array_equal(info["returned_episode"].any(-1), done)
    # The result of a game is in `info` where it has ended, and nowhere else.
    np.testing.assert_array_equal(info["vp"].any(-1), done)
    np.testing.assert_array_equal(info["won"].any(-1), done)
    np.testing.assert_allclose(info["vp_margin"].sum(-1), 0, atol=1e-3)
    assert info["vp"].shape == (20, ENVS, 4) and not info["illegal"].any()
    by_agent = np.stack([reward[agent] for agent in env.agents])
    assert (by_agent.any((0, 2)) == over).all()
    # One agent decides, three wait.
    waiting = np.asarray(avail).reshape(20, 4, ENVS) == 1
    assert (waiting.sum(1) == 3).all()


def test_the_face():
    from gaia_jax.adapters.jaxmarl import GaiaMARL

    env = GaiaMARL("base")
    assert env.action_space("agent_0").n == env.env.num_actions + 1 == env.num_actions
    assert env.agent_classes == {"player": env.agents}
    with pytest.raises(ValueError, match="unknown observation 'tree'; known are vector, picture"):
        GaiaMARL(STUB, observation="tree")
    assert GaiaMARL("base", players=2).agents == ["agent_0", "agent_1"]


@pytest.mark.slow
def test_a_step_without_a_new_game_and_one_to_a_given_state():
    from gaia_jax.adapters.jaxmarl import GaiaMARL

    env, key = GaiaMARL(STUB), jax.random.key(0)
    _, state = env.reset(key)
    _, other = env.reset(jax.random.key(1))
    illegal = dict.fromkeys(env.agents, jnp.int32(env.num_actions - 1))
    _, ended, rewards, dones, info = env.step_env(key, state, illegal)
    assert ended.terminated and dones["__all__"] and info["illegal"].all()
    np.testing.assert_array_equal(info["vp"], ended.game.players.vp)
    legal = dict.fromkeys(env.agents, state.legal_action_mask.argmax())
    _, _, _, dones, info = env.step_env(key, state, legal)
    assert not dones["__all__"] and not any(value.any() for value in info.values())
    assert sorted(float(x) for x in rewards.values()) == [-1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="actions must have agent_0, .*; missing: agent_2"):
        env.step_env(key, state, {a: 0 for a in env.agents if a != "agent_2"})
    _, back, _, dones, _ = env.step(key, state, illegal, other)
    assert dones["__all__"]
    assert same(back.game, other.game)


def test_an_action_that_is_no_integer_is_refused():
    from gaia_jax.adapters.jaxmarl import GaiaMARL

    env = GaiaMARL(STUB)
    _, state = jax.eval_shape(env.reset, jax.random.key(0))
    with pytest.raises(TypeError, match="actions must be integers, not float32"):
        jax.eval_shape(env.step_env, jax.random.key(0), state, dict.fromkeys(env.agents, 1.5))
