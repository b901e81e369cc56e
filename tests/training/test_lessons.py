"""What a search says of the learner's states: right rows, right index, drawn to what pays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from training import config as configs
from training.config import UserError
from training.learn.lessons import Lesson, lesson_loss, make_teacher, split
from training.networks.layers import make_network

GAMES = 8
FORMS = {"one_layer": 33, "lines": 32}  # and positions to look at


@pytest.fixture(scope="module", params=FORMS)
def lesson(config, request):
    """The toy game with the network as it begins: the form, the states, what is taught of them."""
    form = request.param
    config = configs.override(
        config,
        [f"ppo.search={FORMS[form]}", f"ppo.search_form={form}", "ppo.search_every=1"]
        + ["ppo.search_scale=2"],
    )
    auto = toy_env.auto_reset(toy_env.make("toy"))
    network = make_network(auto, config.network)
    states = jax.vmap(auto.init)(jax.random.split(jax.random.key(0), GAMES))
    seen = jax.vmap(auto.observe)(states, states.current_player)
    params = network.init(jax.random.key(1), seen, states.legal_action_mask)
    teach = make_teacher(auto, network, config.ppo)
    seen = network.view(seen, states.legal_action_mask)
    keys = jax.random.split(jax.random.key(2), GAMES)
    return form, states, jax.jit(teach)(params, states, seen, keys)


def test_every_game_is_looked_into_and_the_target_is_a_policy(lesson):
    _, states, found = lesson
    mask = np.asarray(states.legal_action_mask)
    assert (np.asarray(found.seen.mask) == mask).all() and (found.open == 1).all()
    assert np.allclose(found.target.sum(-1), 1, atol=1e-5)
    assert (np.asarray(found.target)[~mask] == 0).all()


def test_what_pays_more_at_once_is_wanted_more(lesson):
    """The values of a new network are next to nothing: the reward decides, 2 logits a VP."""
    form, states, found = lesson
    worth = np.asarray(states.game.worth[:, 0])
    above = []  # what the wanted mine is worth over the mean
    for row, target in enumerate(np.asarray(found.target)):
        mines = np.flatnonzero(np.asarray(found.seen.mask)[row, : toy_env.C])
        wanted = mines[np.argmax(target[mines])]
        above.append(worth[row, wanted] - worth[row, mines].mean())
        if form == "lines":  # a part of the mines is tried, and what is paid later counts too
            continue
        assert worth[row, wanted] == worth[row, mines].max() and np.argmax(target) == wanted
        for mine in mines:
            ratio = np.log(target[wanted] / target[mine])
            assert np.isclose(ratio, 2 * (worth[row, wanted] - worth[row, mine]), atol=1.0)
    assert np.mean(above) > 0.5


def test_a_number_of_steps_that_does_not_fit_is_refused(config):
    with pytest.raises(UserError, match=r"multiple of ppo.search_every times ppo.minibatches, 6,"):
        configs.override(config, ["ppo.search=2", "ppo.search_every=3", "ppo.minibatches=2"])


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


def test_noise_in_the_targets_does_not_flatten_the_policy():
    """Targets above and below the policy by the same worth: their mean teaches nothing."""
    policy = jnp.log(jnp.asarray([[0.7, 0.2, 0.1]] * 2))
    worth = jnp.asarray([[1.5, -0.5, 2.0], [-1.5, 0.5, -2.0]])
    both = Lesson(None, jax.nn.softmax(policy + worth), jnp.ones(2), jnp.zeros(2))
    move = jax.grad(lambda x: lesson_loss(x, both)[0])(policy)
    assert abs(move.sum(0)).max() < 1e-6 and abs(move).max() > 0.05
    one = jax.tree.map(lambda x: x[:1], both)
    move = jax.grad(lambda x: lesson_loss(x, one)[0])(policy[:1])[0]
    assert move[1] > 0 > move[2]  # a step against the gradient: to what is worth more


def test_a_target_of_zero_is_not_wanted():
    """Far below the best the target is 0 in float32: no place to hide for the policy."""
    lesson = Lesson(None, jnp.asarray([[1.0, 0.0]]), jnp.ones(1), jnp.zeros(1))
    loss, move = jax.value_and_grad(lambda x: lesson_loss(x, lesson)[0])(jnp.zeros((1, 2)))
    assert loss > 0 and move[0, 0] < 0 < move[0, 1]
