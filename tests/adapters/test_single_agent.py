"""`single_agent`: one seat of a game against opponents in the same program, on the stub game."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.adapters import single_agent as module
from gaia_jax.adapters.layout import as_vector
from gaia_jax.observation import vector_features
from gaia_jax.observation.scaling import scaled_vector
from gaia_jax.testing import sample_legal
from tests.stub_env import StubEnv
from tests.trees import same, take_row


class PaysByAction(StubEnv):
    """Legal actions of one decision pay differently: action a pays (a // 3) % 3 VP."""

    def _play(self, game, action, active):
        return super()._play(game, action // 3, active)


ENV = PaysByAction(reward="vp", length=10)
GAMES, STEPS = 6, 9


class Highest:
    """An opponent that plays the legal action of the highest index plus `params`, modulo A."""

    params = jnp.int32(0)

    @staticmethod
    def apply(params, state):
        number = (jnp.arange(state.legal_action_mask.shape[0]) + params) % ENV.num_actions
        return jnp.where(state.legal_action_mask, 1e4 * number.astype(jnp.float32), -1e9)


def play(view, params=None, steps=STEPS, games=GAMES):
    """The first transition and `steps` random legal ones: states, actions, and what step gave."""

    def step(carry, key):
        state, mask = carry
        draw_key, *keys = jax.random.split(key, games + 1)
        uniforms = jax.random.uniform(draw_key, (games,))
        actions = jax.vmap(sample_legal)(mask, uniforms)
        out = jax.vmap(view.step, (0, 0, 0, None))(jnp.stack(keys), state, actions, params)
        return (out[1], out[4]["action_mask"]), (state, actions, out)

    @jax.jit
    def run(key):
        first, *keys = jax.random.split(key, steps + 1)
        reset_keys = jax.random.split(first, games)
        obs, state = jax.vmap(view.reset, (0, None))(reset_keys, params)
        mask = jax.vmap(view.action_mask)(state)
        return (obs, state), jax.lax.scan(step, (state, mask), jnp.stack(keys))[1]

    return jax.device_get(run(jax.random.key(7)))


OPPONENTS = ["random", Highest(), "random"]


@pytest.fixture(scope="module")
def played():
    """Random games against two kinds of opponents, in blocks of two rows."""
    view = module.single_agent(ENV, OPPONENTS, observation="vector")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CPU_BLOCKS", (2, 2))
        return view, *play(view)


def test_the_learner_decides_in_every_state(played):
    view, (obs, state), (before, actions, out) = played
    for at in (state, before, out[1]):
        assert (at.env_state.current_player == at.seat).all()
        assert not at.env_state.terminated.any() and not at.env_state.truncated.any()
    seen = jax.vmap(jax.vmap(lambda s: view.env.observe(s.env_state, s.seat)))(out[1])
    np.testing.assert_array_equal(out[0][..., -seen.globals.shape[-1] :], seen.globals)
    np.testing.assert_array_equal(out[4]["action_mask"], out[1].env_state.legal_action_mask)


def test_the_games_are_those_of_the_environment(played):
    """A third of all actions is legal; each player gains what its actions pay, in turn."""
    _, _, (before, actions, out) = played
    _, after, reward, done, info = out
    for t in range(STEPS):
        for game in range(GAMES):
            old, new = take_row(before, (t, game)), take_row(after, (t, game))
            assert old.env_state.legal_action_mask[actions[t, game]]
            gained = actions[t, game] // 3 % 3
            assert reward[t, game] == np.float32(gained / 100)
            if done[t, game]:
                assert info["vp"][t, game] == old.env_state.game.players.vp[old.seat] + gained
                continue
            # Three others have decided.
            assert new.env_state.step_count == old.env_state.step_count + 4
            gains = new.env_state.game.players.vp - old.env_state.game.players.vp
            assert gains[old.seat] == gained and (new.seat == old.seat)


def test_rewards_lengths_and_ends(played):
    _, _, (before, actions, out) = played
    _, after, reward, done, info = out
    assert done.any(0).all() and not done.all(0).any()
    assert (info["terminated"] == done).all() and not info["truncated"].any()
    assert not info["illegal"].any()
    for game in range(GAMES):
        total, length = 0.0, 0
        for t in range(STEPS):
            total, length = total + reward[t, game], length + 1
            if done[t, game]:
                np.testing.assert_allclose(info["episode_return"][t, game], total, atol=1e-6)
                assert info["episode_length"][t, game] == length in (2, 3)
                assert info["vp"][t, game] - 10 == round(100 * total)
                total, length = 0.0, 0
            else:
                assert info["episode_return"][t, game] == info["vp"][t, game] == 0
            np.testing.assert_allclose(after.episode_return[t, game], total, atol=1e-6)
            assert after.episode_length[t, game] == length


@pytest.mark.slow  # the games are checked above in blocks
def test_blocks_change_nothing(played):
    in_one_block = play(module.single_agent(ENV, OPPONENTS, observation="vector"))
    assert same(played[1:], in_one_block)


def test_an_opponent_plays_with_the_parameters_given():
    """Seat 0 learns; the others play the highest legal action below the parameter, which wraps."""
    view = module.single_agent(ENV, Highest(), seat=0, illegal="random")
    assert jax.tree.map(int, view.default_params) == module.Params((0,))
    _, state = view.reset(jax.random.key(0))
    played = {}
    for first in (0, 3):
        # No action has this index: a legal one is played instead.
        params = module.Params((jnp.int32(first),))
        _, after, reward, done, info = view.step(jax.random.key(1), state, -1, params)
        assert not done and not info["illegal"] and 0 <= reward <= 0.02
        played[first] = after.env_state.game.players.vp_source
    assert state.seat == after.seat == 0
    assert (played[0] != played[3]).any()


@pytest.mark.slow  # compiles the scripted player
def test_greedy_is_an_opponent():
    training = pytest.importorskip("training", reason="agents come with the extra `train`")
    model = training.make_baseline_model("greedy", ENV)
    view = module.single_agent(ENV, [model, "random", "random"], seat=0)
    _, (before, actions, (_, after, _, done, info)) = play(view)
    assert done.any() and not info["illegal"].any()
    step, choose = jax.jit(ENV.step), jax.jit(lambda state: model(state)[0].argmax())
    compared = 0
    for t, game in zip(*np.nonzero(~done), strict=True):
        old, new = (take_row(state, (t, game)).env_state for state in (before, after))
        state = step(old, actions[t, game])  # the next of the three is to decide
        if int(state.current_player) == 1:
            gained = new.game.players.vp[1] - old.game.players.vp[1]
            assert gained == choose(state) // 3 % 3
            compared += 1
    assert compared > 3


@pytest.mark.slow  # compiles a network
def test_a_shipped_agent_is_an_opponent():
    training = pytest.importorskip("training", reason="agents come with the extra `train`")
    view = module.single_agent(ENV, training.make_baseline_model("zoo/quick", ENV), seat=0)
    vp = []
    for params in (view.default_params, jax.tree.map(jnp.zeros_like, view.default_params)):
        out = play(view, params)[1][2]
        assert out[3].any() and not out[4]["illegal"].any()
        vp.append(out[1].env_state.game.players.vp)
    assert (vp[0][..., 0] == vp[1][..., 0]).all() and (vp[0] != vp[1]).any()


def test_wrong_arguments_are_named():
    for arguments, message in [
        ({"opponents": ["random"]}, "opponents must be one, or 3 for 3 seats, not 1"),
        ({"opponents": 5}, "an opponent must be 'random', a function .*, not 5"),
        ({"seat": 4}, "seat"),
        ({"observation": "flat"}, "unknown observation 'flat'; known are scaled, masked"),
        ({"illegal": "ignore"}, "unknown illegal 'ignore'; known are end, random"),
        ({"env": StubEnv(max_steps=5)}, "max_steps of the environment must be at least 32"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            module.single_agent(**{"env": ENV} | arguments)


def test_the_masked_vector_ends_with_the_mask(played):
    _, (_, state), _ = played
    view, state = module.single_agent(ENV, observation="masked"), take_row(state)
    obs, mask = view.observe(state), view.action_mask(state)
    seen = ENV.observe(state.env_state, state.seat)
    np.testing.assert_array_equal(obs, np.append(scaled_vector(seen), np.asarray(mask, np.float32)))
    space = view.observation_space()
    assert obs.shape == space.shape and ((space.low <= obs) & (obs <= space.high)).all()
    assert set(np.asarray(space.low[-ENV.num_actions :])) == {0}


def test_the_scaled_vector_has_a_name_and_a_range_for_each_entry(played):
    state = take_row(played[1][1])
    seen = ENV.observe(state.env_state, state.seat)
    obs, raw = scaled_vector(seen), as_vector(seen)
    space, columns = module.single_agent(ENV).observation_space(), vector_features(ENV.ruleset)
    assert obs.shape == space.shape == (len(columns),) and obs.dtype == np.float32
    assert ((space.low <= obs) & (obs <= space.high)).all()
    low, high = (np.array([getattr(x, end) for x in columns]) for end in ("low", "high"))
    assert ((low <= raw) & (raw <= high)).all()
    names = [column.name for column in columns]
    assert len(set(names)) == len(names)
    vp = names.index("players.own.vp")
    assert columns[vp].scaling == "symlog" and raw[vp] == 10
    np.testing.assert_allclose(obs[vp], np.log1p(10), rtol=1e-5)
