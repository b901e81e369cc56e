"""A network decides in blocks of rows: the same as all at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from training.agents import base


@pytest.mark.parametrize("blocks", [1, 3, 2.5])
def test_rows_in_blocks_are_decided_as_all_at_once(blocks):
    batch = int(blocks * base.BLOCK)
    seen = []

    def decide(x, extra):
        seen.append(len(x))
        return {"sum": x + extra["y"].sum(-1), "row": x}

    y = jnp.arange(2 * batch).reshape(batch, 2)
    x, extra = jnp.arange(batch), {"y": y, "none": jnp.zeros((batch, 0))}
    got = jax.jit(lambda x, extra: base.in_blocks(decide, x, extra))(x, extra)
    assert np.array_equal(got["row"], np.arange(batch))
    assert np.array_equal(got["sum"], np.arange(batch) * 5 + 1)
    cpu = jax.default_backend() == "cpu"
    assert set(seen) == {base.BLOCK if cpu and blocks == int(blocks) else batch}
