"""The network that reads an observation as one vector."""

import dataclasses

import jax
import jax.numpy as jnp
import toy_env

from training.config import NetworkConfig
from training.networks.make import make_network

ENV = toy_env.make("toy")
SMALL = NetworkConfig(layers=1, cell_width=8, width=16, latents=2)


def test_a_flat_network_sees_everything_and_has_the_face_of_the_others(batch):
    network = make_network(ENV, dataclasses.replace(SMALL, mixing="flat"))
    observation, mask = batch
    params = jax.jit(network.init)(jax.random.key(0), observation, mask)
    assert "kinds" not in params["params"]
    seen = network.encode(observation, mask)
    answer = jax.jit(lambda seen: network.apply(params, seen, method="logits_and_values"))
    before, values = answer(seen)
    choice = jnp.argmax(before, -1)
    assert (network.to_action(seen, choice) == choice).all()
    assert (network.to_network_action(seen, choice) == choice).all()
    for changed in (
        observation.replace(cells=observation.cells.at[:, 3, 0].add(5)),
        observation.replace(players=observation.players.at[:, 2, 0].add(5)),
        observation.replace(globals=observation.globals.at[:, 1].add(5)),
    ):
        after, others = answer(network.encode(changed, mask))
        assert not jnp.allclose(before, after, atol=1e-7)
        assert not jnp.allclose(values, others, atol=1e-7)
