"""The network on planets alone: its own index of actions is the environment's, seen otherwise."""

import dataclasses
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from training.agents.base import policy_agent
from training.config import NetworkConfig
from training.learn.warm_start import widen
from training.networks import sampling
from training.networks.layers import ILLEGAL_LOGIT, at_temperature
from training.networks.planets import Layout, PlanetNetwork

CELLS, OTHERS, GAMES = 10, 5, 6
PLANES = ("mine", "project", "upgrade", "pick")
LAYOUT = Layout(4 * CELLS + OTHERS, PLANES, CELLS, seats=4, planet=(0, 1), space=(2, 3))


@partial(jax.jit, static_argnums=0)
def apply(network, params, tables, mask):
    """Logits and values: one program for all boards."""
    return network.apply(params, SimpleNamespace(**tables), mask)


def answer(network, params, observation, mask):
    return apply(network, params, vars(observation), mask)


@pytest.fixture(scope="module")
def scene():
    """Random boards with 3 to 6 planets, five tokens, and legal actions on planets and space."""
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 5, (GAMES, CELLS, 4)).astype(np.int8)
    cells[..., :2] = 0
    mask = np.zeros((GAMES, 4, CELLS), bool)
    for game in range(GAMES):
        present = rng.permutation(CELLS)[: 3 + game % 3]
        cells[game, present, rng.integers(0, 2, len(present))] = 1
        mask[game, :, present] = rng.random((len(present), 4)) < 0.6
    mask[:, 3] |= rng.random((GAMES, CELLS)) < 0.5  # `pick` may be anywhere
    others = rng.random((GAMES, OTHERS)) < 0.5
    others[:, 0] = True
    mask = jnp.asarray(np.concatenate([mask.reshape(GAMES, -1), others], axis=1))
    observation = SimpleNamespace(
        cells=jnp.asarray(cells),
        players=jnp.asarray(rng.integers(0, 9, (GAMES, 4, 3)), jnp.int16),
        globals=jnp.asarray(rng.integers(0, 2, (GAMES, 7)), jnp.int16),
    )
    config = NetworkConfig(layers=1, cell_width=8, width=8, latents=2, planets=5, neighbors=False)
    network = PlanetNetwork(config, LAYOUT)
    params = jax.jit(lambda key: network.init(key, observation, mask))(jax.random.key(0))
    return network, params, observation, mask


def test_choices_and_actions_are_each_other_and_all_legal_ones_are_there(scene):
    network, _, observation, mask = scene
    seen = network.encode(observation, mask)
    for game in range(GAMES):
        legal = np.flatnonzero(np.asarray(mask[game]))
        single = jax.tree.map(lambda x, game=game: x[game : game + 1], seen)
        choices = network.to_network_action(single, jnp.asarray(legal)[None])[0]
        back = [int(network.to_action(single, c[None])[0]) for c in choices]
        assert back == legal.tolist()
        assert sorted(choices.tolist()) == np.flatnonzero(np.asarray(single.mask[0])).tolist()


def test_logits_in_the_environments_index_are_those_of_the_choices(scene):
    network, params, observation, mask = scene
    logits, values = answer(network, params, observation, mask)
    seen = network.encode(observation, mask)
    method = jax.jit(lambda x: network.apply(x, seen, method="logits_and_values"))
    chosen, same_values = method(params)
    assert logits.shape == mask.shape and values.shape == (GAMES, 4)
    assert np.array_equal(np.asarray(logits <= ILLEGAL_LOGIT), ~np.asarray(mask))
    choices = network.to_network_action(
        seen, jnp.broadcast_to(jnp.arange(mask.shape[1]), mask.shape)
    )
    expected = jnp.take_along_axis(chosen, choices, axis=1)
    assert jnp.allclose(jnp.where(mask, logits, 0), jnp.where(mask, expected, 0), atol=1e-6)
    assert jnp.allclose(values, same_values)


def anything(network, observation, mask):
    """Parameters of the shapes of a network, drawn at random: what is new may be whatever it is."""
    form = jax.eval_shape(lambda key: network.init(key, observation, mask), jax.random.key(0))
    rng = np.random.default_rng(6)
    return jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape), x.dtype), form)


@pytest.mark.slow
def test_a_network_that_grows_plays_as_before(scene):
    small, params, observation, mask = scene
    drawn = anything(small, observation, mask)  # no bias is 0, no scale 1
    params = jax.tree.map(lambda x, y: x + 0.1 * y, params, drawn)
    before = jax.jit(lambda x: small.apply(x, observation, mask))(params)
    for layers, columns, times in (
        (1, 0, 1),
        (2, 0, 1),
        (3, 2, 1),
        (1, 2, 1),
        (1, 0, 3),
        (2, 1, 2),
    ):
        larger = {"layers": layers, "width": 8 * times, "latents": 2 * times}
        deep = dataclasses.replace(small.config, **larger)
        large, wider = PlanetNetwork(deep, LAYOUT), SimpleNamespace(**vars(observation))
        present = jnp.pad(observation.players, [(0, 0)] * 2 + [(0, columns)], constant_values=5)
        wider.players = present
        fresh = anything(large, wider, mask)
        grown = widen(params, fresh)
        after = jax.jit(lambda x, n=large, o=wider: n.apply(x, o, mask))(grown)
        for actual, expected in zip(before, after, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
        assert jax.tree.map(jnp.shape, widen(grown, fresh)) == jax.tree.map(jnp.shape, fresh)
    for other in ({"width": 16}, {"cell_width": 12}, {"latents": 4}):
        large = PlanetNetwork(dataclasses.replace(small.config, **other), LAYOUT)
        fresh = anything(large, observation, mask)
        assert widen(params, fresh) is params  # not the same with zeros: refused where it begins
    units = PlanetNetwork(dataclasses.replace(small.config, width=16, latents=4), LAYOUT)
    grown = widen(params, anything(units, observation, mask))["params"]
    rows = np.asarray(grown["value"]["kernel"])[:, 0]  # copies that are alike would stay alike
    assert (np.abs(rows[::2] - rows[1::2]) > 0.01 * np.abs(rows[::2] + rows[1::2])).all()
    assert widen(params, {"params": {"another": jnp.ones(1)}}) is params


class Position(NamedTuple):
    """A state that is its own observation."""

    cells: jax.Array
    players: jax.Array
    globals: jax.Array
    current_player: jax.Array
    legal_action_mask: jax.Array


@pytest.mark.slow
def test_the_likeliest_action_alone_is_that_of_all_logits(scene):
    """An agent that is asked for no more looks at choices, not at actions."""
    network, params, observation, mask = scene
    state = Position(
        **vars(observation), current_player=jnp.arange(GAMES) % 4, legal_action_mask=mask
    )

    class Env(NamedTuple):
        """A state is its own observation."""

        observe: Callable[..., Any] = lambda state, player: state
        seats: Callable[..., Any] = lambda state, player: (player + jnp.arange(4)) % 4

    policy = policy_agent(Env(), network, params, "planets").policy
    logits, values = policy.evaluate(params, state)
    action, same = policy.best_action(params, state)
    assert (action == sampling.most_probable(logits, mask)).all() and (np.diff(action) != 0).any()
    assert jnp.allclose(values, same, rtol=1e-5)


def test_a_planet_that_moves_takes_its_logit_along(scene):
    """Tokens know what is on their cell and not its position."""
    network, params, observation, _ = scene
    mask = jnp.ones((GAMES, LAYOUT.num_actions), bool)
    before, values = answer(network, params, observation, mask)
    turned = SimpleNamespace(**vars(observation) | {"cells": observation.cells[:, ::-1]})
    after, same = answer(network, params, turned, mask)
    planes = before[:, : 4 * CELLS].reshape(GAMES, 4, CELLS)
    moved = after[:, : 4 * CELLS].reshape(GAMES, 4, CELLS)[..., ::-1]
    assert jnp.allclose(planes, moved, atol=1e-5) and jnp.allclose(values, same, atol=1e-5)


def test_a_temperature_divides_the_logits_and_nothing_else(scene):
    network, params, observation, mask = scene
    logits, values = answer(network, params, observation, mask)
    surer, same = answer(network, at_temperature(params, 0.25), observation, mask)
    legal = np.asarray(mask)
    assert np.allclose(np.asarray(surer)[legal], 4 * np.asarray(logits)[legal], atol=1e-5)
    assert (np.asarray(same) == np.asarray(values)).all()
