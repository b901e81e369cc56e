"""Rows in blocks of one size: the same as all at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from training.agents import base
from training.system.batched import concatenated, in_batches, take_rows


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


@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_batches_on_the_host_have_one_size_and_all_rows_in_order(count):
    """The last row fills up the last batch."""
    rows = {"x": np.arange(count), "y": np.arange(2 * count).reshape(count, 2)}
    batches = list(in_batches(rows, 4))
    assert [len(batch["x"]) for batch in batches] == [4] * -(-count // 4)
    if batches:
        whole = concatenated(batches)
        jax.tree.map(np.testing.assert_array_equal, take_rows(whole, slice(count)), rows)
        assert (whole["x"][count:] == count - 1).all()
