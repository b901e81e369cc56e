"""Experts whose choices `training.labels` writes down."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from gaia_jax.cli.command_line import UserError
from tests.stub_env import blank_agent
from training import clone
from training.agents.base import random_agent
from training.agents.search import SearchSpec, search_agent
from training.config import NetworkConfig
from training.imitation import behaviour_cloning, expert_data, experts
from training.networks.make import make_network
from training.system.devices import first_devices


@pytest.fixture
def env(monkeypatch):
    """The test game; every name is that of an agent whose logits and values are 0."""

    def make_agent(name, env):
        return random_agent(env) if name == "random" else blank_agent(env, name)

    monkeypatch.setattr(experts, "make_agent", make_agent)
    return toy_env.make("toy")


def test_the_labels_of_a_search_begin_with_its_move(env):
    name = "toy+search:32:form=one_layer"
    expert = experts.make_expert(name, env)
    base = experts.make_agent("toy", env)
    agent = search_agent(env, base, SearchSpec(32, form="one_layer"), name)
    keys = jax.random.split(jax.random.key(1), 32)
    states = jax.jit(jax.vmap(toy_env.auto_reset(env).init))(keys)
    states = states.replace(terminated=jnp.ones(32, bool))  # of the games that ended before these
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


def test_the_first_decision_of_a_new_game_is_labelled_as_any_other(env):
    def candidates(params, states, keys):
        _, actions = jax.lax.top_k(1.0 * states.legal_action_mask, 2)
        return actions, jnp.where(states.terminated[:, None], 0.0, jnp.array([1.0, 0.0]))

    auto, expert = toy_env.auto_reset(env), experts.Expert((), candidates)
    run = expert_data.make_generator(auto, env, None, expert, first_devices(1), games=2)
    states = jax.jit(lambda: expert_data.start(auto, seed=0, games=2))()
    mix, zero = jnp.zeros(2, jnp.int8), jnp.int32(0)
    labels = run((None, ()), mix, zero, zero, states)[1]
    assert labels["done"][:-1].any() and (labels["values"] == np.array([0, -1])).all()


@pytest.mark.slow  # it compiles the games
def test_a_stream_of_a_search_continues(env, monkeypatch, tmp_path):
    network = make_network(env, NetworkConfig(mixing="flat", width=8, layers=1))
    game = env, toy_env.auto_reset(env), network
    monkeypatch.setattr(expert_data, "game_and_network", lambda config: game)
    about = {"seed": 1, "games": 4, "first": 0, "student": ""}
    about["expert"] = "toy+search:4:form=one_layer"
    for folder, counts in (("cut", (1, 2)), ("whole", (2,))):
        for count in counts:
            expert_data.generate(tmp_path / folder, count, about, "configs/quick.yaml")
    for name in ("0000.npz", "0001.npz"):
        cut, whole = (expert_data.read_chunk(tmp_path / x / name, 4) for x in ("cut", "whole"))
        assert all(np.array_equal(cut[key], whole[key]) for key in cut)
        assert np.isfinite(whole["values"]).all() and whole["values"].max() < 0.1
    with pytest.raises(UserError, match="has expert 'toy"):
        expert_data.generate(
            tmp_path / "cut", 3, about | {"expert": "greedy"}, "configs/quick.yaml"
        )


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


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--minibatches", "3"), "choose from"),
        (("--temperature", "0"), "wants a number 0.001 to 1e+06, got '0'"),
        (("--lr", "-0.1"), "wants a number 0 to 1, got '-0.1'"),
        (("--value-coef", "nan"), "wants a number 0 to 1e+06, got 'nan'"),
    ],
)
def test_hyperparameters_of_cloning_are_checked_before_the_labels(args, message):
    with pytest.raises(UserError) as error:
        clone.main(["--labels", "none", "--out", "none.npz", *args])
    assert message in str(error.value)


def test_minibatches_divide_a_chunk():
    steps = expert_data.STEPS
    assert clone.MINIBATCHES == tuple(n for n in range(1, steps + 1) if steps % n == 0)


def test_chunks_are_read_in_the_order_of_their_numbers(tmp_path, monkeypatch):
    def read_chunk(path, games):
        value = np.full((1, games), int(path.stem))
        return {"done": value > 0, "reward": value[..., None], "chunk": value}

    for number in (9999, 10000, 3):
        (tmp_path / f"{number:04d}.npz").touch()
    monkeypatch.setattr(expert_data, "read_about", lambda folder: {"games": 1})
    monkeypatch.setattr(expert_data, "read_chunk", read_chunk)
    stream = behaviour_cloning.read_stream(tmp_path)[1]
    assert stream["chunk"].ravel().tolist() == [3, 9999, 10000]
