"""A batch of no games gives no games."""

import jax
import jax.numpy as jnp
import pytest

import gaia_jax


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_a_batch_of_no_games_gives_no_games(shape):
    """All but the rows is as of one game; nothing is compiled."""
    env = gaia_jax.make("base", players=2)
    auto = gaia_jax.auto_reset(env)
    key = jax.eval_shape(lambda: jax.random.key(0))
    state, action = jax.eval_shape(env.init, key), jax.ShapeDtypeStruct((), jnp.int32)
    first = jax.eval_shape(auto.init, key)
    for function, args in (
        (env.init, (key,)),
        (env.step, (state, action)),
        (env.observe, (state, action)),
        (auto.step, (first, action, key)),
    ):
        single_out, batched = jax.eval_shape(function, *args), function
        for _ in shape:
            batched = jax.vmap(batched)
        batched_out = jax.eval_shape(batched, *_with_axes(args, shape))
        assert jax.tree.map(lambda x: (x.shape, x.dtype), batched_out) == jax.tree.map(
            lambda x: (x.shape, x.dtype), _with_axes(single_out, shape)
        )


def _with_axes(tree, shape):
    """The shapes with further axes in front."""
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct((*shape, *x.shape), x.dtype), tree)
