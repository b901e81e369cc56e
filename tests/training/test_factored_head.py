"""A head that chooses the kind of an action, then the action."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from training.config import NetworkConfig
from training.networks.factored_head import in_two_steps, kind_sizes
from training.networks.layers import ILLEGAL_LOGIT
from training.networks.make import make_network
from training.networks.planets import Layout, choice_kinds

ENV = toy_env.make("toy")
SMALL = NetworkConfig(layers=1, cell_width=8, width=16, latents=2)


def test_the_probability_of_an_action_is_of_its_kind_times_of_it_among_its_kind():
    """By hand: kinds of 2, 3, 1 actions; of the second one action is legal, of the third none."""
    logits = jnp.log(jnp.array([[1.0, 3.0, 5.0, 7.0, 9.0, 2.0]]))
    mask = jnp.array([[True, True, False, True, False, False]])
    kinds = jnp.log(jnp.array([[4.0, 1.0, 100.0]]))
    out = in_two_steps(logits, mask, kinds, (2, 3, 1))
    assert jnp.allclose(jnp.exp(out[0]), jnp.array([0.2, 0.6, 0, 0.2, 0, 0]), atol=1e-6)
    assert (np.asarray(out == ILLEGAL_LOGIT) == ~np.asarray(mask)).all()

    def chosen(kinds, logits):
        return in_two_steps(logits, mask, kinds, (2, 3, 1))[0, 1]

    of_kinds, of_logits = jax.grad(chosen, (0, 1))(kinds, logits)
    # d log p(kind 0) = 1 - p(kind); d log p(action | kind) likewise, and nothing elsewhere.
    assert jnp.allclose(of_kinds[0], jnp.array([0.2, -0.2, 0]), atol=1e-6)
    assert jnp.allclose(of_logits[0], jnp.array([-0.25, 0.25, 0, 0, 0, 0]), atol=1e-6)


def test_kinds_are_the_planes_and_the_verbs():
    assert kind_sizes(ENV) == (7, 7, 7, 7, 5)
    first = {"mine": 0, "pick": 7, "free": 14, "gone": 16, "pass": 16}  # `gone`: of other rules
    rules = SimpleNamespace(geometry=ENV.ruleset.geometry, actions=SimpleNamespace(first=first))
    env = SimpleNamespace(ruleset=rules, action_planes=("mine", "pick"), num_actions=17)
    assert kind_sizes(env) == (7, 7, 2, 1)
    layout = Layout(17, ("mine", "pick"), 7, 2, (0,), (1,))
    assert choice_kinds(layout, (7, 7, 2, 1), 3) == (3, 3 + 7, 2, 1)


@pytest.mark.parametrize("mixing", ["flat", "pool"])
def test_every_network_has_a_head_in_two_steps(mixing, batch):
    config = dataclasses.replace(SMALL, mixing=mixing, factored_head=True)
    network = make_network(ENV, config)
    observation, mask = batch
    params = jax.jit(network.init)(jax.random.key(0), observation, mask)
    logits, values = jax.jit(network.apply)(params, observation, mask)
    assert logits.shape == mask.shape and logits.dtype == jnp.float32
    assert values.shape == (3, 4) and values.dtype == jnp.float32
    assert (np.asarray(logits == ILLEGAL_LOGIT) == ~np.asarray(mask)).all()
    assert jnp.allclose(jnp.exp(logits).sum(-1), 1, atol=1e-5)
    assert params["params"]["kinds"]["dense"]["kernel"].shape == (16, 5)
