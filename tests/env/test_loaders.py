"""`examples/loaders.py`, `gaia_jax.data.transitions` in the loaders of other libraries, on the stub
game.
"""

import jax
import numpy as np
import pytest

from tests.project.test_examples import load
from tests.recorded_games import record, write
from tests.stub_env import StubEnv

ENV = StubEnv(reward="vp", length=9)
OPTIONS = {"batch": 9, "group": 2}
loaders = load("loaders")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A file whose transitions are 5 batches of 9."""
    file = tmp_path_factory.mktemp("data") / "games.parquet"
    write(file, [record(ENV, key)[0] for key in jax.random.split(jax.random.key(5), 5)])
    return file


def test_pytorch(games):
    pytest.importorskip("torch.utils.data", reason="PyTorch is not installed")
    from gaia_jax.data import transitions

    loaded = list(loaders.pytorch(games, ENV, **OPTIONS))
    assert len(loaded) == 5
    for tensors, arrays in zip(loaded, transitions(games, ENV, **OPTIONS), strict=True):
        for name in loaders.NAMES:
            np.testing.assert_array_equal(tensors[name].numpy(), arrays[name])


def test_grain(games):
    pytest.importorskip("grain", reason="grain is not installed")
    batches = loaders.grain_batches(games, ENV, **OPTIONS)
    iterator = iter(batches.map(lambda batch: {name: batch[name] for name in loaders.NAMES}))
    first = [next(iterator) for _ in range(2)]
    assert set(first[0]) == set(loaders.NAMES)
    state = iterator.get_state()
    third = next(iterator)
    iterator.set_state(state)
    jax.tree.map(np.testing.assert_array_equal, next(iterator), third)
    assert len(list(iterator)) == 2


def test_pandas(games):
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert len(loaders.pandas_table(games, ENV, 2, **OPTIONS)) == 18
    table = loaders.pandas_table(games, ENV, **OPTIONS).sort_values(["game", "decision"])
    assert len(table) == 45
    first = table.groupby(["game", "seat"]).first()
    rewards = table.groupby(["game", "seat"])["reward"].sum()
    np.testing.assert_allclose(first["return_to_go"], rewards, atol=1e-6)
