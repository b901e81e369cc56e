"""`gaia_jax.data.transitions` in the loaders of other libraries, as docs/reference/datasets.md has
them, on the stub game.
"""

import jax
import numpy as np
import pytest

from tests.recorded_games import record, write
from tests.stub_env import StubEnv

ENV = StubEnv(reward="vp", length=9)
NAMES = ("observation", "mask", "action", "return_to_go")


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
    """A function that begins the stream of 5 batches of 9 transitions."""
    from gaia_jax.data import transitions

    file = tmp_path_factory.mktemp("data") / "games.parquet"
    write(file, [record(ENV, key)[0] for key in jax.random.split(jax.random.key(5), 5)])
    return lambda: transitions(file, ENV, 9, group=2)


def test_pytorch(batches):
    data = pytest.importorskip("torch.utils.data", reason="PyTorch is not installed")

    class Transitions(data.IterableDataset):
        def __iter__(self):
            for batch in batches():
                yield {name: batch[name] for name in NAMES}

    loaded = list(data.DataLoader(Transitions(), batch_size=None))
    assert len(loaded) == 5
    for tensors, arrays in zip(loaded, batches(), strict=True):
        for name in NAMES:
            np.testing.assert_array_equal(tensors[name].numpy(), arrays[name])


def test_grain(batches):
    grain = pytest.importorskip("grain", reason="grain is not installed")

    class Iterator(grain.DatasetIterator):
        def __init__(self):
            super().__init__()
            self.set_state({"batches": 0})

        def __next__(self):
            batch = next(self.stream)
            self.count += 1
            return batch

        def get_state(self):
            return {"batches": self.count}

        def set_state(self, state):
            self.stream, self.count = batches(), 0
            while self.count < state["batches"]:
                next(self)

    class Transitions(grain.IterDataset):
        def __iter__(self):
            return Iterator()

    iterator = iter(Transitions().map(lambda batch: {name: batch[name] for name in NAMES}))
    first = [next(iterator) for _ in range(2)]
    assert set(first[0]) == set(NAMES)
    state = iterator.get_state()
    third = next(iterator)
    iterator.set_state(state)
    jax.tree.map(np.testing.assert_array_equal, next(iterator), third)
    assert len(list(iterator)) == 2


def test_pandas(batches):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    columns = ("game", "decision", "seat", "action", "reward", "return_to_go", "end")
    frames = [pandas.DataFrame({name: batch[name] for name in columns}) for batch in batches()]
    table = pandas.concat(frames).sort_values(["game", "decision"])
    assert len(table) == 45
    first = table.groupby(["game", "seat"]).first()
    rewards = table.groupby(["game", "seat"])["reward"].sum()
    np.testing.assert_allclose(first["return_to_go"], rewards, atol=1e-6)
