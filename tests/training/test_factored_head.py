"""Switches of the studies: a flat vector, actions in two steps, VP less the opponents'."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.agents import registry
from training.agents.base import Policy
from training.agents.search import make_search
from training.config import NetworkConfig
from training.learn.advantages import less_of_others
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


def test_a_flat_network_sees_everything_and_has_the_face_of_the_others(batch):
    network = make_network(ENV, dataclasses.replace(SMALL, mixing="flat"))
    observation, mask = batch
    params = jax.jit(network.init)(jax.random.key(0), observation, mask)
    assert "kinds" not in params["params"]
    seen = network.encode(observation, mask)
    answer = jax.jit(lambda seen: network.apply(params, seen, method="logits_and_values"))
    before, values = answer(seen)
    choice = jnp.argmax(before, -1)
    assert (network.to_action(seen, choice) == choice).all()
    assert (network.to_network_action(seen, choice) == choice).all()
    for changed in (
        observation.replace(cells=observation.cells.at[:, 3, 0].add(5)),
        observation.replace(players=observation.players.at[:, 2, 0].add(5)),
        observation.replace(globals=observation.globals.at[:, 1].add(5)),
    ):
        after, others = answer(network.encode(changed, mask))
        assert not jnp.allclose(before, after, atol=1e-7)
        assert not jnp.allclose(values, others, atol=1e-7)


def test_vp_less_the_opponents_is_known_and_adds_up_to_the_margin():
    reward = jnp.array([[3.0, 0.0, 6.0, 0.0]])
    want = [[3 - 0.5 * 2, -0.5 * 3, 6 - 0.5 * 1, -0.5 * 3]]
    assert less_of_others(reward, 0.5).tolist() == want
    assert less_of_others(reward, 0.0).tolist() == reward.tolist()
    assert less_of_others(jnp.array([2.0, 5.0]), 1.0).tolist() == [-3, 3]  # two players


def test_it_goes_with_the_reward_vp_alone_and_no_search_reads_its_values():
    tree = {"env": {"reward": "rank"}, "recipe": {"opponent_weight": 0.5}}
    with pytest.raises(UserError, match="recipe.opponent_weight needs env.reward=vp, got rank"):
        configs.from_dict(tree)
    with pytest.raises(UserError, match="recipe.opponent_weight must be at most 1"):
        configs.from_dict({"recipe": {"opponent_weight": 1.5}})
    config = configs.from_dict({"recipe": {"opponent_weight": 0.5}})
    policy = Policy(lambda *_: None, registry.Trained.of_config(config, None, None, None).reward)
    with pytest.raises(UserError, match="no search reads the values of .* opponent_weight"):
        make_search(ENV, policy, None)
    assert (
        registry.Trained.of_config(
            configs.from_dict(tree | {"recipe": {}}), None, None, None
        ).reward
        == "rank"
    )
