"""The network: shapes, masks, and that the board's neighbours reach each cell."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

import gaia_jax
from gaia_jax.cli.command_line import UserError
from training import config as configs
from training import zoo
from training.config import NetworkConfig
from training.networks.layers import ILLEGAL_LOGIT, neighbor_sum
from training.networks.make import make_network
from training.networks.planets import max_tokens

ENV = toy_env.make("toy")
CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.mark.parametrize(("mixing", "dtype"), [("pool", "float32"), ("attention", "bfloat16")])
def test_logits_of_every_action_and_a_value_of_every_seat(mixing, dtype, batch):
    config = NetworkConfig(
        mixing=mixing, layers=1, cell_width=8, width=8, heads=2, latents=2, dtype=dtype
    )
    network = make_network(ENV, config)
    observation, mask = batch
    params = jax.jit(network.init)(jax.random.key(0), observation, mask)
    logits, values = jax.jit(network.apply)(params, observation, mask)
    assert logits.shape == mask.shape and logits.dtype == jnp.float32
    assert values.shape == (3, 4) and values.dtype == jnp.float32
    assert (np.asarray(logits == ILLEGAL_LOGIT) == ~np.asarray(mask)).all()
    assert all(x.dtype == jnp.float32 for x in jax.tree.leaves(params))


def test_the_pointer_of_a_cell_reads_that_cell(batch):
    """With no layer, an action on a cell depends on that cell and the global token alone."""
    network = make_network(ENV, NetworkConfig(layers=0, cell_width=8, width=8))
    observation, mask = jax.tree.map(lambda x: x[:1], batch)
    mask = jnp.ones_like(mask)
    params = jax.jit(network.init)(jax.random.key(1), observation, mask)
    apply = jax.jit(network.apply)
    before, _ = apply(params, observation, mask)
    cells = observation.cells.at[0, 2, 0].add(5)
    after, _ = apply(params, observation.replace(cells=cells), mask)
    changed = np.flatnonzero(np.asarray(before != after)[0])
    assert set(changed) <= {plane * toy_env.C + 2 for plane in range(4)}
    assert len(changed)


def test_neighbor_sum_and_its_gradient_are_what_the_table_says():
    table = toy_env.NEIGHBORS
    x = jax.random.normal(jax.random.key(0), (2, toy_env.C, 3))
    weight = jax.random.normal(jax.random.key(1), x.shape)

    def plain(x):
        rows = [sum(x[:, n] for n in row if n >= 0) for row in table]
        return jnp.stack(rows, axis=1)

    assert jnp.allclose(neighbor_sum(x, table), plain(x), atol=1e-6)
    actual = jax.grad(lambda x: (neighbor_sum(x, table) * weight).sum())(x)
    expected = jax.grad(lambda x: (plain(x) * weight).sum())(x)
    assert jnp.allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("ruleset", "players", "tokens"),
    [("lost_fleet", 4, 85), ("base", 4, 62), ("base", 3, 62), ("base", 2, 41), ("base", 1, 41)],
)
def test_a_network_has_a_token_for_every_planet(ruleset, players, tokens):
    """Counted on the printed tiles: planets, ships and the Lost Planet. MAP-01, PLA-03."""
    env = gaia_jax.make(ruleset, players=players)
    assert max_tokens(env) == tokens
    make_network(env, NetworkConfig(planets=tokens))
    with pytest.raises(UserError, match=f"has up to {tokens} planets and ships, got {tokens - 1}"):
        make_network(env, NetworkConfig(planets=tokens - 1))


def test_drawn_maps_have_no_more_planets_than_the_largest(env, new_games):
    planets = np.asarray(new_games.game.board.planet != 0).sum(1) + 1  # the Lost Planet comes later
    assert (planets <= max_tokens(env)).all() and planets.max() >= max_tokens(env) - 2


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_configurations_have_a_token_for_every_planet(file):
    config = configs.load(file)
    make_network(gaia_jax.make(config.env.id, players=config.env.players), config.network)


@pytest.mark.parametrize("name", zoo.names())
def test_shipped_agents_have_a_token_for_every_planet(name):
    about = zoo.about(name)
    make_network(zoo.environment(name, about), zoo.network_config(about))
