"""Hints: candidates on the same luck, intervals, being called off; reviews as jobs."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from tests.play.server import Server
from training.play import hints
from training.play.background import Job
from training.play.hints import LINE, ROUND, ROUNDS, Advice, Adviser


class FakePlayouts:
    """Ends that are known: candidate k has 100 - 10 k VP and the luck of its sample."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self.hold = threading.Event()
        self.hold.set()

    def play(self, states: Any, jobs: Any, seed: int, progress: Any, room: int) -> Any:
        progress(0)
        self.hold.wait(10)
        progress(len(jobs.action))
        self.samples += jobs.sample.tolist()
        vp = np.repeat((100 - 10 * jobs.action + jobs.sample % 7)[:, None], 4, 1)
        return SimpleNamespace(vp=vp, moves=np.full((len(vp), LINE), -1))


def adviser(playouts: FakePlayouts, actions: list[int]) -> Adviser:
    """One whose playouts are known, for a ruleset of few actions."""
    found: Any = Adviser.__new__(Adviser)
    texts = tuple(f"action {n}" for n in range(9))
    ruleset = SimpleNamespace(actions=SimpleNamespace(texts=texts), name="toy")
    found.rules = SimpleNamespace(
        env=SimpleNamespace(ruleset=ruleset, num_players=4), after=lambda state, action: state,
        say=lambda text, table: text.upper(), table=lambda state: None,
    )  # fmt: skip
    found.name, found._playouts, found._busy = "toy", playouts, threading.Lock()
    found.candidates = lambda state: np.array(actions)
    return found  # type: ignore[no-any-return]


def position() -> Any:
    return SimpleNamespace(current_player=np.int32(2))


@pytest.fixture(autouse=True)
def _states_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints.jax.tree, "map", lambda f, x: x)


def test_candidates_are_compared_on_the_same_luck() -> None:
    playouts = FakePlayouts()
    judge = adviser(playouts, [3, 1, 2])
    job = Job(lambda job: judge.judge(position(), job), "hint")
    job.wait()
    assert job.status == "ready" and job.total == 3 * ROUND * ROUNDS
    assert [one["words"] for one in job.result] == ["ACTION 1", "ACTION 2", "ACTION 3"]
    assert [one["lost"] for one in job.result] == [[0, 0, 0], [10, 10, 10], [20, 20, 20]]
    assert [one["grade"] for one in job.result] == [None, "blunder", "blunder"]
    low, mean, high = (job.result[0]["vp"][i] for i in (1, 0, 2))
    assert low < mean < high and abs(mean - 93) < 1
    assert sorted(set(playouts.samples)) == list(range(ROUND * ROUNDS))


def test_a_hint_ends_when_the_position_is_another_one() -> None:
    playouts, advice = FakePlayouts(), Advice()
    judge = adviser(playouts, [1, 2])
    advice._advisers["toy"] = judge
    game: Any = SimpleNamespace(
        id="a", now=0, rules=judge.rules, nodes=[SimpleNamespace(state=position())] * 2
    )
    playouts.hold.clear()
    advice.ask(game)
    first = advice._hints["a"].job
    advice.ask(game)
    assert advice._hints["a"].job is first, "asked twice, looked for once"
    assert advice.hint(game)["status"] == "running"
    game.now = 1
    assert advice.hint(game) == {"status": "none", "node": 1, "candidates": []}
    playouts.hold.set()
    first.wait()
    assert first.status == "called off" and not playouts.samples
    advice.ask(game)
    advice._hints["a"].job.wait()
    assert len(advice.hint(game)["candidates"]) == 2
    advice.forget("a")
    assert advice.hint(game)["status"] == "none"


def test_a_hint_is_called_off_by_a_wish() -> None:
    playouts, advice = FakePlayouts(), Advice()
    judge = adviser(playouts, [1, 2])
    advice._advisers["toy"] = judge
    game: Any = SimpleNamespace(
        id="a", now=0, rules=judge.rules, nodes=[SimpleNamespace(state=position())]
    )
    playouts.hold.clear()
    advice.ask(game)
    first = advice._hints["a"].job
    advice.call_off(game, "review")
    assert advice.hint(game)["status"] == "running", "there is no review"
    advice.call_off(game, "hint")
    assert advice.hint(game)["status"] == "called off"
    advice.ask(game)
    second = advice._hints["a"].job
    assert second is not first
    playouts.hold.set()
    second.wait()
    assert first.status == "called off" and advice.hint(game)["status"] == "ready"


def test_what_fails_is_said_in_a_line() -> None:
    def fail(job: Job) -> None:
        raise RuntimeError("no luck\nat all")

    job = Job(fail, "hint")
    job.wait()
    assert job.json()["status"] == "failed" and job.said == "RuntimeError: no luck"


@pytest.mark.slow  # compiles playouts: minutes on two cores
def test_a_hint_at_the_table(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    game = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, record="lost_fleet")
    line = server.ask("GET", f"/api/games/{game}")[1]["line"]
    legal = server.change(game, "go", node=line[-30])["legal"]
    found = server.ask("POST", f"/api/games/{game}/ask/hint", {})[1]
    while found["status"] == "running":
        threading.Event().wait(0.5)
        found = server.ask("GET", f"/api/games/{game}/ask/hint")[1]
    assert found["status"] == "ready" and found["done"] <= found["total"]
    texts = [one["text"] for one in found["candidates"]]
    assert texts and set(texts) <= {one["text"] for one in legal}
    assert all(one["vp"][1] <= one["vp"][0] <= one["vp"][2] for one in found["candidates"])
    server.change(game, "go", node=line[-29])
    assert server.ask("GET", f"/api/games/{game}/ask/hint")[1]["status"] == "none"
