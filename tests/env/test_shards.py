"""Games split over devices: each device plays its own and asks no other."""

import re

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import gaia_jax

GAMES = 4
COLLECTIVE = r"all_reduce|all_gather|all_to_all|collective_permute|collective_broadcast"


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((1,), ("games",), axis_types=(AxisType.Auto,))


def collectives(mesh, function, *args):
    """The collectives in the program that each device runs."""
    shares = jax.shard_map(
        function, mesh=mesh, in_specs=P("games"), out_specs=P("games"), check_vma=False
    )
    return re.findall(COLLECTIVE, jax.jit(shares).lower(*args).as_text())


@pytest.mark.slow
def test_a_step_asks_no_other_device(mesh):
    auto = gaia_jax.auto_reset(gaia_jax.make())
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.PRNGKey(0), GAMES))
    state = jax.eval_shape(jax.vmap(auto.init), keys)
    action = jax.ShapeDtypeStruct((GAMES,), jnp.int32)
    assert collectives(mesh, jax.vmap(auto.step), state, action, keys) == []


def test_a_collective_would_be_seen(mesh):
    x = jax.ShapeDtypeStruct((GAMES,), jnp.float32)
    assert collectives(mesh, lambda x: jax.lax.psum(x, "games"), x) == ["all_reduce"]
