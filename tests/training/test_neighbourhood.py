"""What a token sees around its cell, against a count by hand and on positions of a played game."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.cli.command_line import UserError
from training import zoo
from training.config import NetworkConfig
from training.learn.warm_start import widen
from training.networks import planets
from training.networks.make import make_network
from training.networks.neighbourhood import Neighbourhood


@pytest.fixture(scope="module")
def env():
    return gaia_jax.make("lost_fleet")


@pytest.fixture(scope="module")
def scene(env):
    """Six cells in a row from the middle on, (1, C, Fc), their numbers, and the columns by name."""
    at = {feature.name: i for i, feature in enumerate(env.observation_spec.cells)}
    geometry = env.ruleset.geometry
    middle = int(np.argmin(geometry.distance.max(axis=0)))
    row = [middle]
    for _ in range(5):
        row.append(int(geometry.neighbors[row[-1]][0]))
    assert geometry.distance[middle, row].tolist() == [0, 1, 2, 3, 4, 5]
    cells = np.zeros((1, len(geometry.distance), len(at)), np.int8)
    cells[..., at["steps.own"]] = -1
    return cells, row, at


def seen(env, scene, number):
    """The counts at a cell, by name."""
    counted = Neighbourhood.of(env).counts(jnp.asarray(scene[0]))[0, number]
    return dict(zip(Neighbourhood.of(env).names(), counted.tolist(), strict=True))


def test_what_stands_and_what_is_open_is_counted_by_distance(env, scene):
    cells, row, at = scene
    cells = cells.copy()
    for cell, columns in {
        row[1]: ("piece.TS", "owner.own"),
        row[2]: ("piece.PI", "owner.own", "federated.own"),
        row[3]: ("piece.MINE", "owner.third"),
        row[4]: ("piece.RL", "owner.own"),  # too far
    }.items():
        cells[0, cell, [at[name] for name in columns]] = 1
    cells[0, row[2:4], at["steps.own"]] = 2  # taken, so not open
    cells[0, row[0], at["steps.own"]] = 0
    cells[0, row[5], at["satellite.own"]] = 1
    got = seen(env, (cells, row, at), row[0])
    assert got == {
        "neighbourhood.1.free_power": 2, "neighbourhood.1.in_federations": 0,
        "neighbourhood.1.open_planets": 1, "neighbourhood.1.others": 0,
        "neighbourhood.2.free_power": 2, "neighbourhood.2.in_federations": 1,
        "neighbourhood.2.open_planets": 1, "neighbourhood.2.others": 0,
        "neighbourhood.3.free_power": 2, "neighbourhood.3.in_federations": 1,
        "neighbourhood.3.open_planets": 1, "neighbourhood.3.others": 1,
    }  # fmt: skip
    assert seen(env, (cells, row, at), row[5])["neighbourhood.2.free_power"] == 2
    assert seen(env, (cells, row, at), row[5])["neighbourhood.1.in_federations"] == 1


def test_a_network_without_it_plays_the_same_with_rows_of_zeros(env, scene):
    """One forward pass of each, a batch of one."""
    params = zoo.open_agent("zoo/clone", env).params
    config = zoo.network_config(zoo.about("zoo/clone"))
    wide = dataclasses.replace(config, neighbourhood=True)
    cells, row, at = scene
    cells = cells.copy()
    cells[0, row, at["planet.Red"]] = 1
    cells[0, row[:3], at["owner.own"]] = cells[0, row[:3], at["piece.MINE"]] = 1
    spec = env.observation_spec
    observation = dataclasses.make_dataclass("Seen", ["cells", "players", "globals"])(
        jnp.asarray(cells),
        jnp.ones((1, 4, len(spec.players)), jnp.int16),
        jnp.ones((1, len(spec.globals)), jnp.int16),
    )
    mask = jnp.ones((1, env.num_actions), bool)
    narrow, network = make_network(env, config), make_network(env, wide)
    plain = jax.jit(lambda x: narrow.apply(x, observation, mask))(params)
    fresh = jax.jit(lambda key: network.init(key, observation, mask))(jax.random.key(0))
    around = jax.jit(lambda x: network.apply(x, observation, mask))(widen(params, fresh))
    for actual, expected in zip(jax.tree.leaves(plain), jax.tree.leaves(around), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-4)


def test_a_game_without_pieces_is_refused(env, monkeypatch):
    plain = planets.make_layout(env)._replace(neighbourhood=None)
    monkeypatch.setattr(planets, "make_layout", lambda env, *more: plain)
    with pytest.raises(UserError, match="no pieces of the board game"):
        make_network(env, NetworkConfig(planets=4, neighbourhood=True))
