"""PgxEnv passes pgx's own test, is the environment inside, and runs where pgx's environments do."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from tests.stub_env import StubEnv

pgx = pytest.importorskip("pgx", reason="pgx comes with the extra `adapters`")

from gaia_jax.adapters.pgx import PgxEnv  # noqa: E402
from gaia_jax.adapters.spaces import observation_space  # noqa: E402

STUB = StubEnv(length=9)


@pytest.fixture(autouse=True)
def sampler(monkeypatch):
    """pgx 2.6's test samples its single games along axis 1, which JAX refuses by now: along -1.

    Without it `pgx.api_test(pgx.make("tic_tac_toe"))` fails as well.
    """
    module = importlib.import_module("pgx._src.api_test")

    def act_randomly(key, mask):
        return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=-1)

    monkeypatch.setattr(module, "act_randomly", jax.jit(act_randomly))


def test_pgx_s_own_test_passes():
    pgx.api_test(PgxEnv(STUB, observation="vector"), num=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "players"), [("lost_fleet", 4), ("base", 4), ("base", 3), ("base", 2)]
)
def test_pgx_s_own_test_passes_on_the_game(id, players):
    pgx.api_test(PgxEnv(gaia_jax.make(id, players=players)), num=2)


def test_the_game_for_two():
    env = PgxEnv("base", observation="vector", players=2)
    assert (env.id, env.num_players) == ("gaia_project-base-2p", 2)
    state = jax.eval_shape(env.init, jax.random.key(0))
    assert state.rewards.shape == (2,)
    assert jax.eval_shape(env.step, state, 0).rewards.shape == (2,)


def test_the_face():
    env = PgxEnv("base")
    assert (env.id, env.num_players) == ("gaia_project-base", 4)
    assert (env.version, env.num_actions) == (env.env.version, env.env.num_actions)
    assert PgxEnv(STUB, solo=True).num_players == 1
    with pytest.raises(ValueError, match="unknown observation 'flat'; known are tree, vector, pic"):
        PgxEnv(observation="flat")
    with pytest.raises(ValueError, match="unknown environment 'chess'"):
        PgxEnv("chess")
    with pytest.raises(ValueError, match="unknown solo 4; known are False, True"):
        PgxEnv(STUB, solo=4)


def test_it_plays_as_the_environment_inside():
    env, key = PgxEnv(STUB), jax.random.key(3)
    state, inside = jax.jit(env.init)(key), jax.jit(STUB.init)(key)
    step, inside_step = jax.jit(env.step), jax.jit(STUB.step)
    for _ in range(9):
        action = jnp.argmax(inside.legal_action_mask).astype(jnp.int32) + 3
        state, inside = step(state, action), inside_step(inside, action)
        for name in ("rewards", "terminated", "truncated", "legal_action_mask", "current_player"):
            np.testing.assert_array_equal(getattr(state, name), getattr(inside, name), name)
        assert state._step_count == inside.step_count
        seen = STUB.observe(inside, inside.current_player)
        flat = np.concatenate([np.ravel(x) for x in (seen.cells, seen.players, seen.globals)])
        assert np.sort(state.observation.ravel())[-50:].tolist() == np.sort(flat)[-50:].tolist()
    assert state.terminated and state.rewards.any()


@pytest.mark.parametrize("kind", ["tree", "vector", "picture", "none"])
def test_observations_are_of_the_shape_that_is_said(kind):
    env = PgxEnv(STUB, observation=kind)
    seen = jax.eval_shape(env.init, jax.random.key(0)).observation
    if kind == "tree":
        assert {name: x.shape for name, x in vars(seen).items()} == env.observation_shape
    else:
        assert seen.shape == env.observation_shape
        assert kind == "none" or observation_space(STUB, kind).dtype == seen.dtype


def test_pgx_s_auto_reset_and_one_agent_for_all_seats():
    env = PgxEnv(StubEnv(length=4, reward="vp"), observation="none", solo=True)
    step = jax.jit(jax.vmap(pgx.experimental.auto_reset(env.step, env.init)))
    own = jax.jit(jax.vmap(env.auto_step))
    keys = jax.random.split(jax.random.key(0), 3)
    state = jax.jit(jax.vmap(env.init))(keys)
    assert state.rewards.shape == (3, 1) and not state.current_player.any()
    ends, paid = [], []
    for i in range(8):
        legal = np.argmax(np.asarray(state.legal_action_mask), axis=-1).astype(np.int32)
        keys = jax.random.split(jax.random.key(i), 3)
        mine, state = own(state, legal, keys), step(state, legal, keys)
        np.testing.assert_array_equal(mine.terminated, state.terminated)
        np.testing.assert_array_equal(mine.rewards, state.rewards)
        np.testing.assert_array_equal(mine.legal_action_mask, state.legal_action_mask)
        ends.append(bool(state.terminated.all()))
        paid.append(float(state.rewards[0, 0]))
    assert ends == [False, False, False, True] * 2
    # The first legal actions are 0, 1, 2, 0, and an action a pays its player a % 3 VP.
    np.testing.assert_allclose(paid, [0, 0.01, 0.02, 0] * 2, atol=1e-6)
