"""Experts whose choices `training.labels` writes down."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from gaia_jax.cli.command_line import UserError
from training.agents.base import policy_agent, random_agent
from training.agents.search import SearchSpec, search_agent
from training.imitation import experts


@pytest.fixture
def env(monkeypatch):
    """The test game; every name is that of an agent whose logits and values are 0."""

    def apply(params, observation, mask):
        return jnp.where(mask, 0.0, -1e9), jnp.zeros((len(mask), 4))

    def make_agent(name, env):
        if name == "random":
            return random_agent(env)
        return policy_agent(env, SimpleNamespace(apply=apply), (), name)

    monkeypatch.setattr(experts, "make_agent", make_agent)
    return toy_env.make("toy")


def test_the_labels_of_a_search_begin_with_its_move(env):
    name = "toy+search:32:form=one_layer"
    expert = experts.make_expert(name, env)
    base = experts.make_agent("toy", env)
    agent = search_agent(env, base, SearchSpec(32, form="one_layer"), name)
    keys = jax.random.split(jax.random.key(1), 32)
    states = jax.jit(jax.vmap(env.init))(keys)
    actions, logits = jax.jit(expert.candidates)(expert.params, states, keys)
    played = jax.jit(agent.act)(agent.params, states, states.legal_action_mask, keys)
    assert np.array_equal(actions[:, 0], played)
    assert (np.diff(logits) <= 0).all()
    legal = np.take_along_axis(np.asarray(states.legal_action_mask), np.asarray(actions), 1)
    assert (legal | (np.asarray(logits) < -50)).all()
    # An action that pays more has the higher logit.
    worth = np.pad(states.game.worth[:, 0], ((0, 0), (0, env.num_actions - toy_env.C)))
    paid = np.take_along_axis(worth, np.asarray(actions[:, :2]), 1)
    assert (paid[:, 0] >= paid[:, 1]).mean() > 0.9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("toy", "--expert is greedy or AGENT+search:N, got 'toy'"),
        ("random+search:4", "random has no policy to search with"),
    ],
)
def test_an_expert_has_a_search(env, name, message):
    with pytest.raises(UserError, match=message.replace("+", r"\+")):
        experts.make_expert(name, env)
