"""Batches of `gaia_jax.data.transitions` in PyTorch, grain and pandas (`pip install` each).

    loader = pytorch("docs/sample", env, batch=256)  # batches of tensors
    batches = grain_batches("docs/sample", env, batch=256).map(function)
    table = pandas_table("docs/sample", env, 100, batch=256)  # the columns of 100 batches

A batch is complete, so the loaders neither join nor shuffle again. Use no worker processes: JAX
does not survive a fork, and the replay has a thread of its own. Tested with PyTorch 2.13, grain
0.2.18, pandas 3.1.
"""

import itertools

import gaia_jax.data

NAMES = ("observation", "mask", "action", "return_to_go")
COLUMNS = ("game", "decision", "seat", "action", "reward", "return_to_go", "end")


def pytorch(*args, **options):
    """A `DataLoader` of dictionaries of tensors."""
    import torch.utils.data

    class Transitions(torch.utils.data.IterableDataset):
        def __iter__(self):
            for batch in gaia_jax.data.transitions(*args, **options):
                yield {name: batch[name] for name in NAMES}

    return torch.utils.data.DataLoader(Transitions(), batch_size=None)


def grain_batches(*args, **options):
    """A `grain.IterDataset` of batches.

    The state of its iterator, for checkpoints, is the number of batches, which are made again to
    return to it.
    """
    import grain

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
            self.stream, self.count = gaia_jax.data.transitions(*args, **options), 0
            while self.count < state["batches"]:
                next(self)

    class Batches(grain.IterDataset):
        def __iter__(self):
            return Iterator()

    return Batches()


def pandas_table(path, env, batches=None, **options):
    """The columns of the first batches as a table; None: of all."""
    import pandas

    stream = itertools.islice(gaia_jax.data.transitions(path, env, **options), batches)
    return pandas.concat(
        pandas.DataFrame({name: batch[name] for name in COLUMNS}) for batch in stream
    )
