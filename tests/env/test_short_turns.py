"""`short_turns`: the same game without free actions after the main action (ROU-03)."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import actions, replay
from gaia_jax.state import Node
from tests.conftest import ENOUGH, GAMES
from tests.trees import take_row
from training.analysis.recorded_game import whole_moves


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
    def is_after_main(state):
        return (state.game.turn.node == Node.AFTER) & ~state.terminated

    @jax.jit
    def chosen(mask, first, second):
        def pick(x, y):
            return jnp.where(mask.reshape(-1, *[1] * (x.ndim - 1)), x, y)

        return jax.tree.map(pick, first, second)

    full = played = new_games
    left_out, actions_of_one, after = 0, [], {}
    for i in range(ENOUGH):
        action = drawn(played.legal_action_mask, i)
        actions_of_one += [] if played.terminated[0] else [int(action[0])]
        played, full = short_step(played, action), step_games(full, action)
        ends = is_after_main(full)
        assert not is_after_main(played).any()
        assert full.legal_action_mask[ends, end].all()
        if ends[0]:
            after[len(actions_of_one)] = full
        full = chosen(ends, step_games(full, jnp.full(GAMES, end, jnp.int32)), full)
        left_out += int(ends.sum())
        chex.assert_trees_all_equal(
            (played.game, played.legal_action_mask, played.terminated),
            (full.game, full.legal_action_mask, full.terminated),
        )
        if played.terminated.all():
            break
    assert played.terminated.all()
    fewer = np.asarray(full.step_count - played.step_count)
    assert left_out == fewer.sum() and (fewer > 10).all()
    np.testing.assert_array_equal(full.rewards, played.rewards)

    def of_one(states):
        return jax.device_get(take_row(states))

    step, num_actions = replay.compiled(env)[1], max(after)
    last_after = of_one(after[num_actions]), [end, *actions_of_one[num_actions:], -1]
    for state, moves in ((of_one(new_games), [*actions_of_one, -1]), last_after):
        lines = list(whole_moves(env, step, state, moves))
        assert len(lines) == int(full.step_count[0] - state.step_count)
        chex.assert_trees_all_equal(lines[-1][1].game, of_one(full).game)


def test_it_is_another_environment_and_says_so():
    short, full = gaia_jax.make(short_turns=True), gaia_jax.make()
    assert short != full and hash(short) != hash(full)
    assert repr(short) == repr(full)[:-1] + ", short turns>"
    assert (short.id, short.version) == (full.id, full.version)
    with pytest.raises(TypeError, match="short_turns must be True or False, not 1"):
        gaia_jax.make(short_turns=1)
