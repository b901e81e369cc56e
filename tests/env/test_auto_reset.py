"""New games where one ended: the environment with auto-reset (A15)."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from tests.stub_env import StubEnv
from tests.trees import same, take_row


@pytest.fixture(scope="module")
def auto():
    return gaia_jax.auto_reset(StubEnv(many_setups=True, length=9))


@pytest.fixture(scope="module")
def auto_step(auto):
    return jax.jit(jax.vmap(auto.step))


@pytest.fixture(scope="module")
def auto_start(auto):
    return jax.jit(jax.vmap(auto.init))(jax.random.split(jax.random.key(0), 8))


def keys(i):
    return jax.random.split(jax.random.fold_in(jax.random.key(9), i), 8)


def legal(state):
    return np.argmax(np.asarray(state.legal_action_mask), axis=-1).astype(np.int32)


def test_auto_reset_has_the_face_of_its_environment(auto):
    assert (auto.id, auto.num_actions, auto.reward) == ("lost_fleet", 1024, "margin")
    assert hash(auto) == hash(gaia_jax.auto_reset(auto.env))
    assert pickle.loads(pickle.dumps(auto)) == auto
    with pytest.raises(AttributeError, match="no_such_name"):
        auto.no_such_name  # noqa: B018


def test_auto_reset_starts_a_new_game_and_tells_of_the_ended_one(auto, auto_step, auto_start):
    state = auto_start
    for i in range(8):
        state = auto_step(state, legal(state), keys(i))
        assert not state.terminated.any() and not state.final_vp.any()
    plain = jax.jit(jax.vmap(auto.env.step))(state, legal(state))
    state = auto_step(state, legal(state), keys(8))
    assert state.terminated.all() and not state.truncated.any()
    np.testing.assert_array_equal(state.final_vp, plain.game.players.vp)
    np.testing.assert_array_equal(state.rewards, plain.rewards)
    assert state.final_vp.dtype == jnp.int16

    fresh = jax.jit(jax.vmap(auto.env.init))(keys(8))
    assert same(state.game, fresh.game)
    np.testing.assert_array_equal(state.legal_action_mask, fresh.legal_action_mask)
    np.testing.assert_array_equal(state.current_player, fresh.current_player)
    assert not state.step_count.any()

    # The new game continues, and no field describes the old one any more.
    state = auto_step(state, legal(state), keys(9))
    assert (state.step_count == 1).all() and (state.game.turn.setup_done == 1).all()
    assert not state.terminated.any() and not state.rewards.any() and not state.final_vp.any()


@pytest.mark.slow
def test_auto_reset_leaves_the_rows_alone_that_go_on(auto, auto_step, auto_start):
    action = legal(auto_start)
    action[[2, 5]] = -1  # illegal: these two end
    state = auto_step(auto_start, action, keys(0))
    plain = jax.jit(jax.vmap(auto.env.step))(auto_start, action)
    ended = np.isin(np.arange(8), [2, 5])
    np.testing.assert_array_equal(state.terminated, ended)
    np.testing.assert_array_equal(state.rewards, plain.rewards)
    # A15: the VP at that moment.
    np.testing.assert_array_equal(state.final_vp[ended], auto_start.game.players.vp[ended])
    unaffected = np.flatnonzero(~ended)
    assert same(take_row(state.game, unaffected), take_row(plain.game, unaffected))
    fresh = jax.jit(jax.vmap(auto.env.init))(keys(0))
    assert same(take_row(state.game, ended), take_row(fresh.game, ended))


@pytest.mark.slow
def test_auto_reset_works_alone_in_a_scan_and_in_vmap_of_vmap(auto, auto_step, auto_start):
    def advance(state, key):
        action = jnp.argmax(state.legal_action_mask, axis=-1)
        return jax.vmap(auto.step)(state, action, jax.random.split(key, 8)), state.terminated

    def play(state, keys):
        return jax.lax.scan(advance, state, keys)[0]

    sequence = jnp.stack([jax.random.fold_in(jax.random.key(9), i) for i in range(12)])
    by_scan = jax.jit(play)(auto_start, sequence)
    state = auto_start
    for i in range(12):
        state = auto_step(state, legal(state), keys(i))
    assert same(state, by_scan)

    def split(tree):
        return jax.tree.map(lambda x: x.reshape(2, 4, *x.shape[1:]), tree)

    nested = jax.jit(jax.vmap(jax.vmap(auto.step)))
    action = legal(auto_start)
    action[1] = -1
    together = auto_step(auto_start, action, keys(0))
    assert same(nested(split(auto_start), split(action), split(keys(0))), split(together))
    alone = jax.jit(auto.step)(take_row(auto_start, 1), action[1], keys(0)[1])
    assert same(alone, take_row(together, 1))


def test_an_illegal_end_is_told_from_an_end_by_the_rules(auto, auto_step, auto_start):
    """`final_vp` of a game that an illegal action ended must be left out of every mean."""
    action = legal(auto_start)
    action[[2, 5]] = -1, np.argmin(auto_start.legal_action_mask[5])
    state = auto_step(auto_start, action, keys(0))
    assert np.flatnonzero(state.illegal).tolist() == [2, 5] and state.illegal.dtype == bool
    np.testing.assert_array_equal(state.terminated, state.illegal)
    state = auto_step(state, legal(state), keys(1))
    assert not state.illegal.any()
    for i in range(2, 10):
        state = auto_step(state, legal(state), keys(i))
        assert not state.illegal.any()
    assert not auto_start.illegal.any()
