"""Agents and networks in a program that has set JAX's promotion switches."""

import jax
import pytest

import gaia_jax
import training


@pytest.fixture
def strict():
    """The switches with which libraries find their own slips; only tracing depends on them."""
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        yield


@pytest.fixture(scope="module")
def env():
    return gaia_jax.make("lost_fleet", reward="vp")


@pytest.fixture(scope="module")
def states(env):
    """The shapes of four states."""
    return jax.eval_shape(jax.vmap(env.init), jax.random.split(jax.random.key(0), 4))


SLOW = pytest.param("greedy", marks=pytest.mark.slow)  # compiles for a quarter of a minute


@pytest.mark.parametrize("name", ["random", SLOW, "zoo/quick", "zoo/strong"])
def test_agents_decide_under_strict_promotion(strict, env, states, name):
    agent = training.make_agent(name, env)
    key = jax.eval_shape(lambda: jax.random.key(0))
    action = jax.eval_shape(agent.act, agent.params, states, states.legal_action_mask, key)
    assert action.shape == (4,)
    model = training.make_baseline_model(name, env)
    logits, values = jax.eval_shape(model.apply, model.params, states)
    assert (logits.shape, values.shape) == ((4, env.num_actions), (4, env.num_players))


@pytest.mark.slow
def test_a_search_decides_under_strict_promotion(strict, env, states):
    agent = training.make_agent("zoo/quick+search:4", env)
    key = jax.eval_shape(lambda: jax.random.key(0))
    action = jax.eval_shape(agent.act, agent.params, states, states.legal_action_mask, key)
    assert action.shape == (4,)
