"""Games in slots that refill are those of a match; processes share the pieces of an export."""

import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.cli import outputs
from tests import stub_env
from training.agents import base
from training.games.engine import Match
from training.games.table import rotated

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
from training.games import playing, shards


class Uneven(stub_env.StubEnv):
    """Games of 5 to 40 decisions, by the rotation of the first sector."""

    def _play(self, game, action, active):
        after = super()._play(game, action, active)
        turn = after.turn
        end = turn.setup_done >= 5 + 7 * game.setup.sector_rotation[0]
        node = jnp.where(active & end, stub_env.Node.ENDED, turn.node)
        return after.replace(turn=turn.replace(node=node))


@pytest.mark.slow
def test_slots_play_the_games_of_a_match():
    """32 uneven games in 5 slots, where one ends the next begins. About 12 s."""
    env = Uneven(length=99)
    illegal = base.Agent("illegal", lambda params, state, mask, key: jnp.zeros(len(mask), int))
    random = base.random_agent(env)
    agents = [random, random, illegal, random]
    match = Match(env, agents, rotated(4), range(8, 16), moves=True).play_batch(7, 8)
    slots = Match(env, agents, rotated(4), 8, slots=5, moves=True).play_batch(7, 8)
    assert len(set(match.decisions.flat)) > 2 and match.illegal.sum() > 0
    for name, expected in match.rows().items():
        if name != "seconds":
            np.testing.assert_array_equal(slots.rows()[name], expected, err_msg=name)
    for game, count in np.ndenumerate(match.decisions):
        assert slots.actions[game][:count].tolist() == match.actions[game][:count].tolist()
    jax.tree.map(np.testing.assert_array_equal, slots.setups, match.setups)


def work(tmp_path, games=44):
    """Pieces of 8 games; the last one of 4."""
    source = SimpleNamespace(deals=8)
    part = {"games": games, "rotations": 1, "seed": 0, "first": 0}
    return playing.Work(source, part, shards.Shards(tmp_path / "pieces"))


WRITES = """
import shutil, sys, time
at, of = map(int, sys.argv[-1].split("/"))
for n in range(at, 6, of):
    if n == FAILS:
        sys.exit(3)
    shutil.copy(f"made/{n}", f"pieces/{n:08}.parquet")
time.sleep(30 * (FAILS >= 0))
"""


def test_processes_share_the_pieces(tmp_path, monkeypatch):
    """All are there at the end; where one fails, the others are ended. About 2 s."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(playing, "OFTEN", 0.05)
    (tmp_path / "made").mkdir()
    todo, reports = work(tmp_path), []
    for n, rows in enumerate([8, 8, 8, 8, 8, 4]):
        pq.write_table(pa.table({"x": range(rows)}), tmp_path / "made" / str(n))
    assert todo.missing() == [0, 1, 2, 3, 4, 5] and todo.missing((1, 4)) == [1, 5]
    command = [sys.executable, "-c", WRITES.replace("FAILS", "-1")]
    assert playing.together(todo, 2, command, reports.append) == 0
    assert todo.missing() == [] and sum(reports) == 44
    for path in todo.pieces.folder.iterdir():
        path.unlink()
    start_time = time.monotonic()
    assert playing.together(todo, 2, [sys.executable, "-c", WRITES.replace("FAILS", "3")],
                            reports.append) == 3  # fmt: skip
    assert time.monotonic() - start_time < 20
    assert {3, 5} <= set(todo.missing())


def test_processes_compile_one_after_the_other(tmp_path):
    """Two that compile at the same time need twice the memory."""
    inside, counts = [], []

    def compiles():
        with outputs.folder_lock(tmp_path, wait=True):
            inside.append(1)
            time.sleep(0.05)
            counts.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=compiles) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert counts == [1, 1, 1] and not list(tmp_path.iterdir())


def test_what_another_process_writes_is_left_alone(tmp_path):
    half = tmp_path / "00000001.parquet.part"
    half.write_bytes(b"PAR1 half")
    shards.Shards(tmp_path, alone=False)
    assert half.exists()
    shards.Shards(tmp_path)
    assert not half.exists()


def member(then):
    """A worker process that runs `then` after joining."""
    code = (
        "from training.games import playing; import os, time; playing.join_workers(1); "
        "print(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else 1, "
        f"flush=True); {then}"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
    )
    assert process.stdout.readline().strip() == b"1"
    return process


def test_a_process_ends_with_its_parent_or_by_itself():
    """Also if the parent is killed. About 6 s."""
    running, ended = member("time.sleep(60)"), member("")
    assert ended.wait(timeout=20) == 0
    running.stdin.close()
    assert running.wait(timeout=20) == 1
    for process in (running, ended):
        process.stdout.close()
    ended.stdin.close()
