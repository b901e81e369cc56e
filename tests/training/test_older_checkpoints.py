"""Checkpoints that were written before a state had all of today's fields."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from gaia_jax.cli.command_line import UserError
from training.learn.checkpoint import Checkpoints
from training.learn.learner_state import Runner


class Before(NamedTuple):
    """The state of two games, without `illegal`."""

    vp: Any


class Now(NamedTuple):
    """The same with the flag."""

    vp: Any
    illegal: Any


class Other(NamedTuple):
    """A state with a field that no checkpoint may lack."""

    vp: Any
    board: Any


def runner(env_state):
    params = {"w": jnp.ones(3)}
    return Runner(params, (), env_state, jnp.zeros(2, jnp.uint32), jnp.int32(4))


def test_a_run_of_before_the_flag_of_illegal_actions_goes_on(config, tmp_path):
    env, vp = toy_env.make("toy"), jnp.array([3, 4])
    files = Checkpoints(tmp_path, max_to_keep=1, create=True)
    files.save(runner(Before(vp)), env, config)
    form = runner(Now(jnp.zeros_like(vp), jnp.ones(2, bool)))
    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place), form)
    repeated = files.restore(4, shapes._replace(hyper={"later": jnp.float32(7)}))
    assert repeated.hyper == {"later": 7}  # a number that a recipe has added since
    np.testing.assert_array_equal(repeated.env_state.vp, vp)
    assert not repeated.env_state.illegal.any() and repeated.env_state.illegal.shape == (2,)
    with pytest.raises(UserError, match="env_state-board"):
        files.restore(4, runner(Other(vp, vp)))
