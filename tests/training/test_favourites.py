"""Favourites: what a seat insists on, who draws which by lot, and what the network chooses."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from training.config import Config, NetworkConfig, PPOConfig, UserError
from training.networks import favourites
from training.networks.layers import ILLEGAL_LOGIT
from training.networks.planets import Layout, PlanetNetwork
from training.zoo.carry import grow

CELLS, OTHERS, GAMES, PLANES = 10, 5, 6, ("mine", "project", "upgrade", "pick")
LIKED = tuple(4 * CELLS + i for i in (1, 2, 3))  # three of the actions without a cell


@pytest.fixture(scope="module")
def env():
    return gaia_jax.make("lost_fleet")


def begun(network, seed, observation, mask):
    """The parameters that a network begins with; compiled, because step by step takes longer."""
    return jax.jit(lambda key: network.init(key, observation, mask))(jax.random.key(seed))


def anything(network, observation, mask):
    """Parameters of the shapes of a network, drawn at random: what is new may be whatever it is."""
    form = jax.eval_shape(lambda key: network.init(key, observation, mask), jax.random.key(0))
    rng = np.random.default_rng(6)
    return jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape), x.dtype), form)


@pytest.fixture(scope="module")
def scene():
    """A network that reads favourites, told apart by weights, with positions and actions."""
    rng = np.random.default_rng(0)
    cells = jnp.asarray(rng.integers(0, 2, (GAMES, CELLS, 4)), jnp.int8)
    mask = jnp.asarray(rng.random((GAMES, 4 * CELLS + OTHERS)) < 0.7).at[:, -OTHERS:].set(True)
    observation = SimpleNamespace(
        cells=cells,
        players=jnp.asarray(rng.integers(0, 9, (GAMES, 4, 3)), jnp.int16),
        globals=jnp.asarray(rng.integers(-99, 99, (GAMES, 7)), jnp.int16),
    )
    config = NetworkConfig(layers=1, cell_width=8, width=8, latents=2, planets=5, neighbors=False)
    layout = Layout(4 * CELLS + OTHERS, PLANES, CELLS, planet=(0, 1), space=(2, 3))
    network = PlanetNetwork(config, layout._replace(favourites=LIKED))
    params = begun(network, 0, observation, mask)
    leaves, tree = jax.tree.flatten(params)  # as it begins, all favourites are alike
    keys = jax.random.split(jax.random.key(1), len(leaves))
    moved = [x + jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
    params = jax.tree.unflatten(tree, moved)
    return config, layout, network, params, observation, mask


def test_the_probability_of_a_verb_goes_to_its_favourite():
    logits = jnp.log(jnp.array([[0.4, 0.1, 0.2, 0.25, 0.05]] * 4))
    mask = jnp.ones((4, 5), bool).at[3, 2].set(False)
    insisted = favourites.insist(logits, mask, (1, 2, 3), jnp.array([0, 2, 3, 2]))
    probability = np.asarray(jax.nn.softmax(insisted))
    np.testing.assert_allclose(probability[0], [0.4, 0.1, 0.2, 0.25, 0.05], rtol=1e-5)  # none
    np.testing.assert_allclose(probability[1], [0.4, 0, 0.55, 0, 0.05], rtol=1e-5)
    np.testing.assert_allclose(probability[2], [0.4, 0, 0, 0.55, 0.05], rtol=1e-5)
    np.testing.assert_allclose(insisted[3], logits[3], rtol=1e-5)  # not legal: nothing to insist on


def test_what_is_not_legal_lends_a_favourite_nothing():
    logits = jnp.log(jnp.array([[0.4, 0.1, 0.2, 0.25, 0.05]]))
    mask = jnp.ones((1, 5), bool).at[0, 3].set(False)
    insisted = favourites.insist(logits, mask, (1, 2, 3), jnp.array([1]))
    np.testing.assert_allclose(jnp.exp(insisted[0, 1]), 0.3, rtol=1e-5)


@pytest.fixture(scope="module")
def setups(env):
    return jax.vmap(env.init)(jax.random.split(jax.random.key(3), 256)).game.setup


def test_lots_are_alike_and_stay_for_a_game(setups):
    draw = jax.vmap(lambda x: jax.vmap(lambda p: favourites.by_lot(x, p, 6, 0.7))(jnp.arange(4)))
    number, drawn = map(np.asarray, draw(setups))
    assert abs(drawn.mean() - 0.7) < 0.05
    shares = np.bincount(number[drawn], minlength=7) / drawn.sum()
    assert len(shares) == 7 and np.abs(shares - 1 / 7).max() < 0.05
    assert len({tuple(seat) for seat in number.T}) == 4  # a seat's lot is its own
    again = draw(setups)
    assert np.array_equal(again[0], number) and np.array_equal(again[1], drawn)
    everyone, drawn = jax.vmap(lambda x: favourites.by_lot(x, jnp.int32(0), 6, 1.0))(setups)
    assert drawn.all() and set(np.asarray(everyone).tolist()) == set(range(7))


def test_a_network_told_nothing_takes_the_favourite_of_the_largest_own_value(scene):
    _, _, network, params, observation, mask = scene
    seen = network.view(observation, mask)
    judge = jax.jit(lambda seen: network.apply(params, seen, method="judge"))
    told = [
        judge(seen._replace(favourite=jnp.full(GAMES, k, jnp.int8))) for k in range(len(LIKED) + 1)
    ]
    best = np.argmax([values[:, 0] for _, values in told], axis=0)
    assert len(set(best.tolist())) > 1
    favourite = jax.jit(lambda seen: network.apply(params, seen, method="favourite"))
    assert np.array_equal(favourite(seen), best)
    logits, values = judge(seen)
    for game, k in enumerate(best):
        np.testing.assert_allclose(logits[game], told[k][0][game], rtol=1e-5)
        np.testing.assert_allclose(values[game], told[k][1][game], rtol=1e-5)
        if k:
            others = [action for action in LIKED if action != LIKED[k - 1]]
            shift = logits.shape[-1] - mask.shape[-1]
            assert (np.asarray(logits)[game, np.array(others) + shift] == ILLEGAL_LOGIT).all()


def test_a_network_that_grows_plays_as_before(scene):
    config, layout, _, _, observation, mask = scene
    small = PlanetNetwork(config, layout)
    params = begun(small, 5, observation, mask)
    before = jax.jit(lambda x: small.apply(x, observation, mask))(params)
    for layers, liked, hidden in (
        (1, LIKED, 0),
        (2, (), 0),
        (3, LIKED, 0),
        (1, (), 24),
        (2, LIKED, 12),
    ):
        deep = dataclasses.replace(config, layers=layers, hidden=hidden)
        large = PlanetNetwork(deep, layout._replace(favourites=liked))
        fresh = anything(large, observation, mask)
        after = jax.jit(lambda x, n=large: n.apply(x, observation, mask))(grow(params, fresh))
        for ours, theirs in zip(before, after, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        again = grow(grow(params, fresh), fresh)
        assert jax.tree.map(jnp.shape, again) == jax.tree.map(jnp.shape, fresh)
    for other in ({"width": 16}, {"cell_width": 12}, {"latents": 4}):
        large = PlanetNetwork(dataclasses.replace(config, **other), layout)
        fresh = anything(large, observation, mask)
        assert grow(params, fresh) is params  # not the same with zeros: refused where it begins
    assert grow(params, {"params": {"another": jnp.ones(1)}}) is params


def test_the_log_tells_lots_from_choices(setups):
    """Two games, of which the first ends; seats 1 and 3 decide, with the favourites 2 and 5."""
    draw = jax.vmap(lambda x: jax.vmap(lambda p: favourites.by_lot(x, p, 6, 0.5))(jnp.arange(4)))
    number, drawn = map(np.asarray, draw(setups))
    one = next(i for i in range(256) if drawn[i].sum() == 2 and not drawn[i, 1])
    other = next(i for i in range(256) if drawn[i, 3])  # seat 3 has its favourite by lot
    two = jax.tree.map(lambda x: x[jnp.array([one, other])], setups)
    player = jnp.array([1, 3], jnp.int8)
    before = SimpleNamespace(game=SimpleNamespace(setup=two), current_player=player)
    vp = jnp.array([[100, 90, 80, 70], [1, 2, 3, 4]])
    done = jnp.array([True, False])
    summed = favourites.counts(before, jnp.array([2, 5]), done, vp, 6, 0.5)
    assert summed["favourite_seats"].sum() == 4
    told = favourites.report(dict(jax.device_get(summed)), list("abcdef"))
    names = ["none", *"abcdef"]
    for k in set(number[one][drawn[one]].tolist()):
        mean = np.mean(np.asarray(vp)[0][drawn[one] & (number[one] == k)])
        assert told[f"favourites/{names[k]}, VP"] == pytest.approx(mean)
    chosen = np.asarray(vp)[0][~drawn[one]]
    assert told["favourites/chosen, VP"] == pytest.approx(chosen.mean())
    assert told["favourites/b, taken"] == 1 and told["favourites/e, taken"] == 0


@pytest.mark.parametrize(
    ("network", "ppo", "named"),
    [
        ({}, {"favourites": 0.5}, "ppo.favourites needs network.favourites"),
        ({"favourites": "advance"}, {"pool": 2}, "ppo.pool does not go together"),
        ({"favourites": "advance"}, {"search": 2}, "ppo.search does not go together"),
    ],
)
def test_what_does_not_go_together_is_refused(network, ppo, named):
    config = Config(network=NetworkConfig(**network), ppo=PPOConfig(**ppo))
    with pytest.raises(UserError, match=named):
        favourites.check(config)


@pytest.mark.parametrize("verb", ["fly", "mine"])
def test_a_wrong_verb_is_named(env, verb):
    with pytest.raises(UserError, match="network.favourites") as error:
        favourites.actions_of(env, verb)
    assert verb in str(error.value) and "advance" in str(error.value)
    assert favourites.actions_of(env, "") == ()
