"""An agent of short turns ends its turn after each main action."""

from dataclasses import asdict
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from training import config as configs
from training import zoo
from training.agents import registry, search
from training.agents.base import policy_agent, random_agent
from training.agents.search import SearchSpec, make_search
from training.games import arena
from training.system import environments
from training.system.environments import make_env

ENV = gaia_jax.make("lost_fleet", reward="vp")
END = ENV.ruleset.actions.first["end_turn"]
OTHER, DEAR = END + 3, END + 5  # what the network likes more, and most


@pytest.fixture(scope="module")
def states():
    """Two positions: a turn may end in the first; only others are legal in the second."""
    state = jax.eval_shape(jax.vmap(ENV.init), jax.eval_shape(jax.random.split, jax.random.key(0)))
    state = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), state)
    mask = np.zeros((2, ENV.num_actions), bool)
    mask[0, [END, OTHER]] = mask[1, [OTHER, DEAR]] = True
    return state.replace(legal_action_mask=jnp.asarray(mask))


def agent(short_turns):
    def apply(params, observation, mask):
        return jnp.where(mask, jnp.arange(mask.shape[1]) * 1.0, -1e9), jnp.zeros((len(mask), 4))

    network = SimpleNamespace(apply=apply)
    env = gaia_jax.make("lost_fleet", "vp", short_turns=short_turns)
    return policy_agent(env, network, (), "one", likeliest=True)


@pytest.mark.parametrize(("short_turns", "first"), [(False, OTHER), (True, END)])
@pytest.mark.slow
def test_it_takes_the_end_of_its_turn_where_it_may(states, short_turns, first):
    single = agent(short_turns)
    mask = states.legal_action_mask
    chosen = single.act((), states, mask, jax.random.split(jax.random.key(1)))
    assert chosen.tolist() == [first, DEAR]
    logits, _ = single.policy.evaluate((), states)
    assert jnp.argmax(logits, axis=1).tolist() == [first, DEAR]
    assert int((logits[0] > -1e9).sum()) == (1 if short_turns else 2)


@pytest.mark.parametrize(
    ("short_turns", "form", "short"),
    [(False, "tree", False), (True, "tree", True), (False, "", True), (True, "rollouts", True)],
)
def test_rollouts_and_searches_of_a_short_policy_end_turns_by_rule(
    short_turns, form, short, monkeypatch
):
    seen = []
    usual = search.environment_model
    monkeypatch.setattr(
        search, "environment_model", lambda env, *rest: seen.append(env) or usual(env, *rest)
    )
    make_search(ENV, agent(short_turns).policy, SearchSpec(8, form=form))
    assert [(env.short_turns, env.reward) for env in seen] == [(short, "vp")]


def test_games_are_of_the_whole_game_and_the_policy_of_its_turns(monkeypatch):
    """What `training.evaluate` and a run's own evaluations play."""
    seen = []
    monkeypatch.setattr(
        arena, "Arena", lambda env, agents, *rest, **more: seen.append((env, agents))
    )
    for short_turns in (False, True):
        env = make_env(gaia_jax, **asdict(configs.EnvConfig(short_turns=short_turns)))
        assert env.short_turns is short_turns
        policy = policy_agent(env, SimpleNamespace(), None, "policy")
        built = arena.Evaluation(env, policy, 4, opponent=random_agent(env))
        (report, (policy, *_)) = seen.pop()
        assert not report.short_turns and not built.env.short_turns
        assert policy.policy.short_turns is short_turns


def test_recorded_games_end_turns_as_the_agent_does(states):
    env = gaia_jax.make("lost_fleet", "vp", short_turns=True)
    for single, count in ((ENV, 2), (env, 1)):
        assert environments.policy_mask(single, states.legal_action_mask).sum(1).tolist() == [
            count,
            2,
        ]
    assert environments.with_short_turns(env, False) == ENV
    assert environments.with_short_turns(ENV, True) == env


def test_a_shipped_agent_says_how_it_was_trained(monkeypatch):
    about = zoo.about("zoo/quick")
    for short in (False, True):
        metadata = about | {"training": about["training"] | {"env": {"short_turns": short}}}
        assert configs.from_dict(metadata["training"]).env.short_turns is short
        monkeypatch.setattr(zoo, "about", lambda name, folder=None, metadata=metadata: metadata)
        result = registry.trained("zoo/quick", ENV)
        assert result.short_turns is short and result.as_trained.short_turns is short
        assert not result.env.short_turns
        assert registry.make_agent("zoo/quick", ENV).policy.short_turns is short
