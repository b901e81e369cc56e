"""Decisions tried off the policy: which they are, and what is drawn there."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from training.config import PPOConfig, UserError
from training.learn import exploration

GAMES = 4000


@pytest.fixture(scope="module")
def env():
    return gaia_jax.make("lost_fleet")


class Plain:
    """A network whose choices are the actions themselves."""

    def to_action(self, seen, choice):
        return choice


def tried(env, logits, mask, fade=1.0, **settings):
    """Logits to draw from and where something is tried, for as many games as the mask has rows."""
    ppo = dataclasses.replace(PPOConfig(), **settings)
    explore = exploration.make_explorer(env, Plain(), ppo)
    keys = jax.random.split(jax.random.key(0), len(mask))
    seen = SimpleNamespace(mask=mask)
    return explore(logits, seen, mask.sum(-1) > 1, keys, jnp.float32(fade))


def test_nothing_is_tried_without_being_asked_for(env):
    assert exploration.make_explorer(env, Plain(), PPOConfig()) is None


def test_a_part_of_the_open_decisions_is_drawn_from_a_flatter_policy(env):
    mask = jnp.zeros((GAMES, env.num_actions), bool).at[:, :3].set(True)
    mask = mask.at[::2, 1:3].set(False)  # every other has one option
    logits = jnp.where(mask, 6.0, exploration.ILLEGAL_LOGIT)
    drawn, chosen = tried(env, logits, mask, explore=0.3, explore_temperature=3.0)
    assert not chosen[::2].any()
    assert abs(chosen[1::2].mean() - 0.3) < 0.04
    assert np.allclose(drawn[:, 0], jnp.where(chosen, 2.0, 6.0))
    assert tried(env, logits, mask, fade=0.0, explore=0.3)[1].sum() == 0


def test_a_verb_is_tried_where_it_is_offered_and_there_alone(env):
    ((charge, part),) = exploration.parts(env, "leech CHARGE=0.5")
    (number,) = np.flatnonzero(charge)
    assert part == 0.5 and env.ruleset.actions.index("leech", "CHARGE") == number
    mask = jnp.zeros((GAMES, env.num_actions), bool).at[:, :2].set(True)
    mask = mask.at[1::2, number].set(True)
    logits = jnp.where(mask, 0.0, exploration.ILLEGAL_LOGIT).at[:, 0].set(9.0)
    drawn, chosen = tried(env, logits, mask, explore_verbs="leech CHARGE=0.5")
    assert not chosen[::2].any()
    assert abs(chosen[1::2].mean() - 0.5) < 0.04
    probability = jax.nn.softmax(drawn)
    assert np.allclose(probability[chosen, number], 1)
    assert np.allclose(drawn[~chosen], logits[~chosen])


@pytest.mark.parametrize("text", ["leach=0.5", "mine", "mine=much", "mine=1.5", "mine=-1"])
def test_a_wrong_verb_or_part_is_named(env, text):
    with pytest.raises(UserError, match="explore_verbs") as error:
        exploration.parts(env, text)
    assert text.split("=")[0] in str(error.value)
