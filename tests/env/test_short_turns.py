"""`short_turns`: a game without free actions behind the main action, and nothing else (ROU-03)."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import actions, replay
from gaia_jax.state import Node
from tests.conftest import ENOUGH, GAMES
from training.analysis.playouts import whole_moves


@pytest.mark.slow
def test_each_game_is_one_of_the_whole_game_with_the_ends_of_turns_put_in(
    env, new_games, step_games
):
    """State by state, mask by mask; the decisions left out are those that would end a turn."""
    short = gaia_jax.make("lost_fleet", short_turns=True)
    end = actions.from_text(env.ruleset, "end_turn")
    short_step = jax.jit(jax.vmap(chex.assert_max_traces(short.step, n=1)))

    @jax.jit
    def drawn(mask, i):
        keys = jax.random.split(jax.random.fold_in(jax.random.key(18), i), GAMES)
        noise = jax.vmap(lambda key: jax.random.uniform(key, mask.shape[1:]))(keys)
        return jnp.argmax(jnp.where(mask, noise, -1), axis=1).astype(jnp.int32)

    @jax.jit
    def behind(state):
        return (state.game.turn.node == Node.AFTER) & ~state.terminated

    @jax.jit
    def chosen(which, one, other):
        def pick(x, y):
            return jnp.where(which.reshape(-1, *[1] * (x.ndim - 1)), x, y)

        return jax.tree.map(pick, one, other)

    whole = played = new_games
    left_out, actions_of_one, after = 0, [], {}
    for i in range(ENOUGH):
        action = drawn(played.legal_action_mask, i)
        actions_of_one += [] if played.terminated[0] else [int(action[0])]
        played, whole = short_step(played, action), step_games(whole, action)
        ends = behind(whole)
        assert not behind(played).any()
        assert whole.legal_action_mask[ends, end].all()
        if ends[0]:
            after[len(actions_of_one)] = whole
        whole = chosen(ends, step_games(whole, jnp.full(GAMES, end, jnp.int32)), whole)
        left_out += int(ends.sum())
        chex.assert_trees_all_equal(
            (played.game, played.legal_action_mask, played.terminated),
            (whole.game, whole.legal_action_mask, whole.terminated),
        )
        if played.terminated.all():
            break
    assert played.terminated.all()
    fewer = np.asarray(whole.step_count - played.step_count)
    assert left_out == fewer.sum() and (fewer > 10).all()
    np.testing.assert_array_equal(whole.rewards, played.rewards)

    def of_one(states):
        return jax.device_get(jax.tree.map(lambda x: x[0], states))

    step, made = replay.compiled(env)[1], max(after)
    last_after = of_one(after[made]), [end, *actions_of_one[made:], -1]
    for state, moves in ((of_one(new_games), [*actions_of_one, -1]), last_after):
        lines = list(whole_moves(env, step, state, moves))
        assert len(lines) == int(whole.step_count[0] - state.step_count)
        chex.assert_trees_all_equal(lines[-1][1].game, of_one(whole).game)


def test_it_is_another_environment_and_says_so():
    short, whole = gaia_jax.make(short_turns=True), gaia_jax.make()
    assert short != whole and hash(short) != hash(whole)
    assert repr(short) == repr(whole)[:-1] + ", short turns>"
    assert (short.id, short.version) == (whole.id, whole.version)
    with pytest.raises(TypeError, match="short_turns must be True or False, not 1"):
        gaia_jax.make(short_turns=1)
