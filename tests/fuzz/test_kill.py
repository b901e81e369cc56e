"""kill -9 at many moments: no finished game, no record and no checkpoint is lost."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.fuzz import kill_cases
from tests.fuzz.runner import Result, Runner
from tests.fuzz.site import TINY
from training.learn.checkpoint import Checkpoints

KILLS = 20
MODULES = ["tests.fuzz.kill_cases", "training.learn.checkpoint", "openskill.models"]
HERE = "tests.fuzz.kill_cases"

GAMES = 30_000  # a batch of each shard, more than can be played


@pytest.fixture(scope="module")
def runners() -> Iterator[list[Runner]]:
    with Runner(MODULES) as first, Runner(MODULES) as second:
        yield [first, second]


@pytest.mark.slow
def test_an_arena_that_is_killed_and_goes_on_loses_no_game(
    runners: list[Runner], tmp_path: Path
) -> None:
    rng, killed, grown, games = np.random.default_rng(0), 0, 0, 0
    for kill in range(KILLS):
        name = f"games-{kill // 5}.csv"
        before = kill_cases.shards(tmp_path / name)
        moment = float(rng.uniform(0.0, 1.5))
        result = runners[0].run(f"{HERE}:play", [name, GAMES, moment], tmp_path, None, 200)
        killed += result.code == -signal.SIGKILL
        after = kill_cases.shards(tmp_path / name)
        assert before.items() <= after.items(), f"kill {kill} after {moment:.2f} s"
        assert list(after) == [f"{kill_cases.SETUPS * n:09}.npz" for n in range(len(after))]
        grown += len(after) > len(before)
        games += (len(after) - len(before)) * 4 * kill_cases.SETUPS
    print(f"{killed} kills, {grown} of them after new games: {games} games, none lost")
    assert killed == KILLS and grown >= KILLS // 2


@pytest.mark.slow
def test_two_trainings_of_one_name_that_are_killed_lose_nothing(
    runners: list[Runner], tmp_path: Path
) -> None:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    rng = np.random.default_rng(1)

    def both(args: list[str]) -> list[Result]:
        """Two at once, each killed at a moment of its own."""

        def train_one(runner: Runner, moment: float) -> Result:
            return runner.run(f"{HERE}:run", [args, moment], tmp_path, None, 200)

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(train_one, runners, rng.uniform(0.0, 3.0, 2).tolist()))

    longer, num_refused = "run.updates=1000000", 0
    for _ in range(KILLS // 4):
        both(["--config", "tiny.yaml", longer, "run.checkpoint_chunks=3"])
    runs = sorted((tmp_path / "runs").iterdir())
    updates = {run: _check(run) for run in runs}
    for kill in range(KILLS // 4):
        # Both resume one run: one may, the other is refused.
        run = runs[kill % len(runs)]
        for result in both(["--resume", f"runs/{run.name}", longer]) if updates[run] else []:
            refused = result.code == 2 and "in use by another process" in result.err
            assert refused or result.code == -signal.SIGKILL, result.err
            num_refused += refused
        latest = _check(run)
        assert latest >= updates[run]
        updates[run] = latest
    print(f"{KILLS} kills of trainings, {num_refused} refused; updates kept: {[*updates.values()]}")
    assert len(runs) > 1 and max(updates.values()) > 0 and num_refused > 0


def _check(run: Path) -> int:
    """The latest update that is kept; all before it is there, each once."""
    if not (run / "checkpoints").exists():
        return 0
    checkpoints = Checkpoints(run)
    if not checkpoints.steps():
        return 0
    latest = checkpoints.latest_undamaged()
    assert latest == checkpoints.latest()
    lines = (run / "metrics.jsonl").read_bytes().split(b"\n")[:-1]
    updates = [json.loads(line)["update"] for line in lines]
    assert updates[:latest] == list(range(1, latest + 1))
    assert updates == sorted(set(updates))
    return latest
