"""Rewards less a share of the opponents': `recipe.opponent_weight`."""

import jax.numpy as jnp
import pytest
import toy_env

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.agents import registry
from training.agents.base import Policy
from training.agents.search import make_search
from training.learn.advantages import opponent_adjusted_reward

ENV = toy_env.make("toy")


def test_vp_less_the_opponents_is_known_and_adds_up_to_the_margin():
    reward = jnp.array([[3.0, 0.0, 6.0, 0.0]])
    want = [[3 - 0.5 * 2, -0.5 * 3, 6 - 0.5 * 1, -0.5 * 3]]
    assert opponent_adjusted_reward(reward, 0.5).tolist() == want
    assert opponent_adjusted_reward(reward, 0.0).tolist() == reward.tolist()
    assert opponent_adjusted_reward(jnp.array([2.0, 5.0]), 1.0).tolist() == [-3, 3]  # two players


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
    by_rank = configs.from_dict(tree | {"recipe": {}})
    assert registry.Trained.of_config(by_rank, None, None, None).reward == "rank"
