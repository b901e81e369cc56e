"""The network: shapes, masks, and that the board's neighbours reach each cell."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from training.config import NetworkConfig
from training.networks.layers import ILLEGAL_LOGIT, neighbor_sum
from training.networks.make import make_network

ENV = toy_env.make("toy")


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
