"""Datasets on rules of three lines: what their tests share."""

import functools
import sys

import pytest
from commands import run_command
from short_games import best_paid as best_paid

pq = pytest.importorskip("pyarrow.parquet", reason='needs pyarrow: pip install ".[data]"')

from tests import stub_env  # noqa: E402
from training import export  # noqa: E402
from training.games import dataset, parquet_files, playing  # noqa: E402
from training.system import cli  # noqa: E402

FACE = sys.modules[__name__]  # the module that makes environments, for workers too
AGENTS = "random,random,exported:best_paid,random"
GAMES = ["--agents", AGENTS, "--seed", "3", "--batch", "16"]
REPLAY = ["--replay-batch", "16"]

_source = playing.Source


def make(env_id, reward):
    """The environment of the games."""
    return stub_env.StubEnv(reward=reward, length=9)


def last(params, state, mask, key):
    """The last legal action."""
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(-1)


@functools.cache
def _source_of(names, batch, likeliest):
    return _source(FACE.make("", "vp"), names, batch, likeliest)


def patch(monkeypatch):
    """Row groups of 20 games; the games of all tests come from one compiled table of agents."""
    monkeypatch.setattr(parquet_files.assemble, "__defaults__", (20,))
    monkeypatch.setattr(
        playing, "Source", lambda env, names, *more: _source_of(tuple(names), *more)
    )
    playing.source_of.cache_clear()


def make_whole(out):
    """48 games in a folder: three batches, row groups of 20."""
    with pytest.MonkeyPatch.context() as own:
        patch(own)
        args = [*GAMES, "--games", "48", "--out", str(out)]
        assert cli.run(lambda: export.main(args, FACE)) == 0


def command(capsys, *args):
    return run_command(capsys, export.main, FACE, *args)


def rows_of(path, name=dataset.GAMES):
    return pq.read_table(path / name).to_pylist()


def stopping(write, count, error=KeyboardInterrupt):
    """`outputs.write_bytes` that raises an error after `count` pieces."""
    left = [count]

    def write_pieces(path, data):
        if path.suffix == ".parquet":
            left[0] -= 1
            if left[0] < 0:
                raise error
        write(path, data)

    return write_pieces
