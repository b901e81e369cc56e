"""A network of one's own in one file, and agents as pure functions of states."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

import gaia_jax
import training
from gaia_jax.cli.command_line import UserError
from tests.stub_env import StubEnv
from training.agents import make_agent, saved
from training.agents.base import uniforms
from training.agents.registry import trained
from training.agents.search import split_name
from training.networks import sampling
from training.networks.make import observation_shapes

ROOT = Path(__file__).resolve().parents[2]


def apply(params, observation):
    """As short as a network can be: a line through what is there."""
    seen = observation.globals.astype(jnp.float32)
    return params["policy"][0] @ seen, params["values"] @ seen


@pytest.fixture(scope="module")
def env():
    return toy_env.make("toy", reward="vp")


@pytest.fixture(scope="module")
def params(env):
    observation, _ = observation_shapes(env)
    size = observation.globals.shape[0]
    draw = jax.random.normal(jax.random.key(3), (env.num_actions + env.num_players, size))
    return {"policy": [draw[: env.num_actions]], "values": draw[env.num_actions :]}


@pytest.fixture(scope="module")
def file(env, params, tmp_path_factory):
    path = tmp_path_factory.mktemp("agents") / "mine.npz"
    return training.save_agent(path, apply, params, env, reward_scale=2.0, temperature=0.5)


def test_a_file_says_whether_its_turns_are_short(env, params, file, tmp_path, monkeypatch):
    assert not trained(str(file), env).short_turns
    monkeypatch.setattr(saved, "has_short_turns", lambda _: True)
    short = training.save_agent(tmp_path / "short.npz", apply, params, env)
    assert trained(str(short), env).short_turns


def states_of(env, games, decisions=3):
    """States (decisions, games) of random play."""
    step, state = jax.jit(jax.vmap(env.step)), jax.vmap(env.init)(
        jax.random.split(jax.random.key(5), games)
    )  # fmt: skip
    stored = []
    for i in range(decisions):
        stored.append(state)
        drawn = uniforms(jax.random.key(i), games)
        state = step(state, sampling.sample_uniform(state.legal_action_mask, drawn))
    return jax.tree.map(lambda *x: jnp.stack(x), *stored)


def test_a_file_holds_the_network_without_pickle_and_decides_as_its_function_does(
    env, params, file
):
    with np.load(file, allow_pickle=False) as file_arrays:
        assert set(file_arrays.files) == {"about", "program", "params/policy/0", "params/values"}
        metadata = json.loads(str(file_arrays["about"]))
        np.testing.assert_array_equal(file_arrays["params/values"], params["values"])
    assert (metadata["env"], metadata["players"], metadata["temperature"]) == (
        env.id,
        env.num_players,
        0.5,
    )
    network, file_arrays = training.load_agent(str(file), env)
    state = jax.tree.map(lambda x: x[1], states_of(env, 5))
    seen = jax.vmap(env.observe)(state, state.current_player)
    logits, values = network.apply(file_arrays, seen, state.legal_action_mask)
    expected = jax.vmap(apply, (None, 0))(params, seen)
    legal = np.asarray(state.legal_action_mask)
    np.testing.assert_allclose(np.where(legal, logits, 0), np.where(legal, expected[0], 0), 1e-5)
    np.testing.assert_allclose(values, expected[1], 1e-5)


@pytest.mark.slow
def test_it_plays_in_the_arena_in_an_evaluation_and_under_search(env, file, monkeypatch, tmp_path):
    report = training.arena([str(file), "random", "random", "random"], games=8, env=env)
    assert str(file) in report["agents"] and report["games"] == 8
    report = training.evaluate(str(file), games=8, env=env)
    assert report["games"] == 8
    searched = make_agent(f"{file}+search:4", env)
    state = jax.tree.map(lambda x: x[0], states_of(env, 3))
    keys = jax.random.split(jax.random.key(0), 3)
    action = searched.act(searched.params, state, state.legal_action_mask, keys)
    assert np.take_along_axis(np.asarray(state.legal_action_mask), action[:, None], 1).all()
    from training import evaluate as door

    monkeypatch.setattr(toy_env, "auto_reset", gaia_jax.auto_reset, raising=False)
    assert door.main([str(file), "--games", "4", "--json", str(tmp_path / "r.json")], toy_env) == 0
    assert json.loads((tmp_path / "r.json").read_text())["games"] == 4


def test_what_is_wrong_with_a_network_or_a_file_is_one_line(env, params, file, tmp_path):
    with pytest.raises(UserError, match=r"logits \(\d+,\) and values \(4,\).*it gives \(4,\) and"):
        training.save_agent(tmp_path / "x.npz", lambda p, o: apply(p, o)[::-1], params, env)
    with pytest.raises(UserError, match="must end in .npz, got 'x.pkl'"):
        training.save_agent(tmp_path / "x.pkl", apply, params, env)
    np.savez(tmp_path / "other.npz", weights=np.ones(3))
    with pytest.raises(UserError, match="other.npz"):
        training.save_agent(tmp_path / "other.npz", apply, params, env)  # of somebody else
    assert np.load(tmp_path / "other.npz")["weights"].sum() == 3
    with pytest.raises(UserError, match="has no array 'about'"):
        make_agent(str(tmp_path / "other.npz"), env)
    with pytest.raises(UserError, match="No such file"):
        make_agent(str(tmp_path / "none.npz"), env)
    with pytest.raises(UserError, match="was trained on"):
        make_agent(str(file), gaia_jax.make("base"))
    with np.load(file) as file_arrays:
        arrays = dict(file_arrays)
    arrays["program"] = arrays["program"][: len(arrays["program"]) // 2]
    np.savez(tmp_path / "cut.npz", **arrays)
    with pytest.raises(UserError, match="its program cannot be read"):
        make_agent(str(tmp_path / "cut.npz"), env)
    training.save_agent(file, apply, params, env, reward_scale=2.0, temperature=0.5)  # again


def test_a_model_takes_a_state_a_batch_and_vmap_alike(env, params, file):
    model = training.make_baseline_model(str(file), env)
    states = states_of(env, 4, 2)
    logits, values = jax.jit(model)(states)  # (2, 4)
    assert logits.shape == (2, 4, env.num_actions) and values.shape == (2, 4, env.num_players)
    for form in (jax.vmap(model), jax.vmap(jax.vmap(model)), lambda x: jax.lax.map(model, x)):
        repeated = jax.jit(form)(states)
        np.testing.assert_allclose(repeated[0], logits, 1e-5)
        np.testing.assert_allclose(repeated[1], values, 1e-5)
    single = model(jax.tree.map(lambda x: x[1, 2], states))
    np.testing.assert_allclose(single[0], logits[1, 2], 1e-5)
    # Values are VP by player: apply's are rewards (VP / 100) times 2, own seat first.
    state = jax.tree.map(lambda x: x[1, 2], states)
    own = apply(params, env.observe(state, state.current_player))[1]
    seats = env.seats(state, state.current_player)
    np.testing.assert_allclose(values[1, 2][seats], own * 50, 1e-4)


def test_random_is_a_model_and_a_search_is_none(env, file):
    model = training.make_baseline_model("random", env)
    state = jax.tree.map(lambda x: x[0, 0], states_of(env, 1, 1))
    logits, values = model(state)
    assert (np.asarray(logits > -1) == np.asarray(state.legal_action_mask)).all()
    assert not values.any()
    assert split_name(f"{file}+search:4")[1] is not None
    with pytest.raises(UserError, match="has no logits; make_agent gives its moves"):
        training.make_baseline_model(f"{file}+search:4", env)
    with pytest.raises(UserError, match="has no logits"):  # and of no environment of its own
        training.make_baseline_model("zoo/duel+search:4")
    with pytest.raises(UserError, match="unknown agent 'strong'"):
        training.make_baseline_model("strong", env)


def agrees(env, name, games, decisions):
    """The model and the arena's agent, move by move on the same states, under jit(vmap).

    They are two programs, whose probabilities may differ in their last bits.
    """
    agent, model = make_agent(name, env), training.make_baseline_model(name, env)
    decide, step = jax.jit(agent.act), jax.jit(jax.vmap(env.step))

    @jax.jit
    def modelled(state, keys):
        logits, _ = jax.vmap(model)(state)
        return sampling.sample(logits, state.legal_action_mask, uniforms(keys, games))

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(11), games))
    moves = differing = 0
    for i in range(decisions):
        keys = jax.random.split(jax.random.key(i), games)
        action = decide(agent.params, state, state.legal_action_mask, keys)
        over = np.asarray(state.terminated | state.truncated)
        differing += int((np.asarray(action != modelled(state, keys)) & ~over).sum())
        moves += int((~over).sum())
        if over.all():
            break
        state = step(state, action)
    assert differing <= moves / 1000
    return moves, bool(over.all())


def test_models_move_as_the_arenas_agents_do():
    env = StubEnv(reward="vp")
    for name in ("random", "zoo/quick"):
        assert agrees(env, name, 4, 6) == (24, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zoo/strong", "greedy"])
def test_models_move_as_the_arenas_agents_do_over_whole_games(name):
    env = gaia_jax.make("lost_fleet", reward="vp")
    moves, ended = agrees(env, name, 64 if name == "zoo/strong" else 4, 1000)
    print(f"{name}: {moves} moves agree")
    assert ended and moves > 1000
