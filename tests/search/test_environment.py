"""The model of an environment: rewards, ends, and decisions that are none."""

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from training.search import environment_model

CHOICE = np.array([True, False, False, True, False, False, False])  # by clock; 7 is the end


@flax.struct.dataclass
class State:
    current_player: jax.Array
    legal_action_mask: jax.Array
    rewards: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    clock: jax.Array


class Clock:
    """Two players; at clock t a decision pays 2^t to the first and 1 to the second, until 7."""

    num_actions = 3

    def at(self, clock):
        over = clock >= len(CHOICE)
        choice = jnp.asarray(CHOICE)[jnp.minimum(clock, len(CHOICE) - 1)] | over
        return State(
            clock % 2, jnp.array([False, True, False]) | choice, jnp.zeros(2), over,
            jnp.bool_(False), clock,
        )  # fmt: skip

    def step(self, state, action):
        legal = state.legal_action_mask[action] & ~state.terminated
        after = self.at(state.clock + legal)
        return after.replace(rewards=jnp.where(legal, jnp.array([2.0**state.clock, 1.0]), 0))


def evaluate(params, state):
    return jnp.zeros(state.legal_action_mask.shape), jnp.full((len(state.clock), 2), 5.0)


@pytest.mark.parametrize(
    ("max_forced", "clocks"), [(0, [1, 2, 4, 6]), (1, [2, 3, 5, 7]), (8, [3, 3, 7, 7])]
)
def test_decisions_with_one_option_are_followed(max_forced, clocks):
    env = Clock()
    model = environment_model(env, evaluate, reward_scale=0.5, max_forced=max_forced)
    before = jnp.array([0, 1, 3, 5])
    root = jax.vmap(env.at)(before)
    embedding = model.root((), root).embedding
    assert embedding.legal_action_mask.size == 0  # no tree has to keep it
    out, after = model.recurrent_fn((), jax.random.key(0), jnp.ones(4, jnp.int32), embedding)
    clocks = np.array(clocks)
    np.testing.assert_array_equal(after.clock, clocks)
    paid = np.stack([2.0**clocks - 2.0**before, clocks - before], -1) / 2
    np.testing.assert_array_equal(out.reward, paid)
    over = clocks == len(CHOICE)
    np.testing.assert_array_equal(out.terminal, over)
    np.testing.assert_array_equal(out.discount, 1.0 - over)
    np.testing.assert_array_equal(out.value, np.where(over, 0, 5)[:, None].repeat(2, 1))
    np.testing.assert_array_equal(out.to_play, clocks % 2)
