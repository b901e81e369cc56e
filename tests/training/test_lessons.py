"""What a search says of the learner's states: right rows, right index, drawn to what pays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from training import config as configs
from training.config import UserError
from training.lessons import Lesson, lesson_loss, make_teacher, split
from training.network import make_network

GAMES, EVERY = 8, 4


@pytest.fixture(scope="module")
def lesson(config):
    """Step 1 of the toy game with the network as it begins: games 1 and 5 are looked into."""
    config = configs.override(
        config, ["ppo.search=33", f"ppo.search_every={EVERY}", "ppo.search_scale=2"]
    )
    auto = toy_env.auto_reset(toy_env.make("toy"))
    network = make_network(auto, config.network)
    states = jax.vmap(auto.init)(jax.random.split(jax.random.key(0), GAMES))
    seen = jax.vmap(auto.observe)(states, states.current_player)
    params = network.init(jax.random.key(1), seen, states.legal_action_mask)
    teach = make_teacher(auto, network, config.ppo, GAMES)
    seen = network.view(seen, states.legal_action_mask)
    keys = jax.random.split(jax.random.key(2), GAMES)
    return states, jax.jit(teach)(params, states, seen, keys, jnp.int32(1))


def test_every_kth_game_is_looked_into_and_the_target_is_a_policy(lesson):
    states, found = lesson
    mask = np.asarray(states.legal_action_mask)[1::EVERY]
    assert (np.asarray(found.seen.mask) == mask).all()
    assert np.allclose(found.target.sum(-1), 1, atol=1e-5)
    assert (np.asarray(found.target)[~mask] == 0).all()


def test_what_pays_more_at_once_is_wanted_more(lesson):
    """The values of a new network are next to nothing: the reward decides, 2 logits a VP."""
    states, found = lesson
    worth = np.asarray(states.game.worth[:, 0])[1::EVERY]
    for row, target in enumerate(np.asarray(found.target)):
        mines = np.flatnonzero(np.asarray(found.seen.mask)[row, : toy_env.C])
        best = mines[np.argmax(worth[row, mines])]
        assert np.argmax(target) == best
        for mine in mines:
            ratio = np.log(target[best] / target[mine])
            assert np.isclose(ratio, 2 * (worth[row, best] - worth[row, mine]), atol=1.0)


def test_a_number_of_games_that_does_not_fit_is_refused(config):
    config = configs.override(config, ["ppo.search=2", "ppo.search_every=3"])
    auto = toy_env.auto_reset(toy_env.make("toy"))
    with pytest.raises(UserError, match="search_every"):
        make_teacher(auto, make_network(auto, config.network), config.ppo, GAMES)


def test_minibatches_share_the_lessons_and_the_loss_is_zero_at_the_target():
    steps, rows, width = 4, 3, 5
    aim = jax.nn.softmax(jax.random.normal(jax.random.key(0), (steps, rows, width)))
    open_ = jnp.arange(steps * rows).reshape(steps, rows) % 2 * 1.0
    number = jnp.arange(steps * rows).reshape(steps, rows)
    parts = split(Lesson(number, aim, open_, jnp.zeros_like(open_)), 2)
    assert parts.target.shape == (2, 6, width)
    assert sorted(parts.seen.ravel().tolist()) == list(range(steps * rows))
    one = jax.tree.map(lambda x: x[0], parts)
    assert abs(lesson_loss(jnp.log(one.target), one)[0]) < 1e-6
    wrong = jnp.where(one.open[:, None] > 0, jnp.log(one.target), 0)
    assert abs(lesson_loss(wrong, one)[0]) < 1e-6  # forced decisions do not count
    wrong = jnp.where(one.open[:, None] > 0, 0, jnp.log(one.target))
    assert lesson_loss(wrong, one)[0] > 0.01
