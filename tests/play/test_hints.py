"""Hints: candidates on the same luck, intervals, being called off, in a browser; reviews."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from tests.browser import Watched
from tests.play.server import Server
from tests.play.test_browser import MINE, begin
from tests.play.test_table import go
from training.play import hints
from training.play.background import Job
from training.play.hints import LINE_LENGTH, ROUND, ROUNDS, Advice, Adviser


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
        return SimpleNamespace(vp=vp, moves=np.full((len(vp), LINE_LENGTH), -1))


def adviser(playouts: FakePlayouts, actions: list[int]) -> Adviser:
    """One whose playouts are known, for a ruleset of few actions."""
    fake: Any = Adviser.__new__(Adviser)
    texts = tuple(f"action {n}" for n in range(9))
    ruleset = SimpleNamespace(actions=SimpleNamespace(texts=texts, first={}), name="toy")
    fake.rules = SimpleNamespace(
        env=SimpleNamespace(ruleset=ruleset, num_players=4), after=lambda state, action: state,
        action_words=lambda text, table: text.upper(), table=lambda state: None,
    )  # fmt: skip
    fake.name, fake._runner, fake._busy = "toy", playouts, threading.Lock()
    fake.candidates = lambda state: np.array(actions)
    return fake  # type: ignore[no-any-return]


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
    words, losses, grades = ([row[key] for row in job.result] for key in ("words", "lost", "grade"))
    assert words == ["ACTION 1", "ACTION 2", "ACTION 3"]
    assert losses == [[0, 0, 0], [10, 10, 10], [20, 20, 20]]
    assert grades == [None, "blunder", "blunder"]
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
    advice.start_hint(game)
    first = advice._hints["a"].job
    advice.start_hint(game)
    assert advice._hints["a"].job is first, "asked twice, looked for once"
    assert advice.hint(game)["status"] == "running"
    game.now = 1
    assert advice.hint(game) == {"status": "none", "node": 1, "candidates": []}
    playouts.hold.set()
    first.wait()
    assert first.status == "called off" and not playouts.samples
    advice.start_hint(game)
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
    advice.start_hint(game)
    first = advice._hints["a"].job
    advice.call_off(game, "review")
    assert advice.hint(game)["status"] == "running", "there is no review"
    advice.call_off(game, "hint")
    assert advice.hint(game)["status"] == "called off"
    advice.start_hint(game)
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
    assert job.json()["status"] == "failed" and job.message == "RuntimeError: no luck"


@pytest.mark.slow  # compiles playouts: minutes on two cores
def test_a_hint_at_the_table(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    game = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, record="lost_fleet")
    line = server.request("GET", f"/api/games/{game}")[1]["line"]
    legal = server.look(game, line[-30])["legal"]
    asked = f"/api/games/{game}/ask/hint?at={line[-30]}"
    hint = server.request("POST", asked, {})[1]
    while hint["status"] == "running":
        threading.Event().wait(0.5)
        hint = server.request("GET", asked)[1]
    assert hint["status"] == "ready" and hint["done"] <= hint["total"]
    texts = [candidate["text"] for candidate in hint["candidates"]]
    assert texts and set(texts) <= {candidate["text"] for candidate in legal}
    assert all(
        candidate["vp"][1] <= candidate["vp"][0] <= candidate["vp"][2]
        for candidate in hint["candidates"]
    )
    later = f"/api/games/{game}/ask/hint?at={line[-29]}"
    assert server.request("GET", later)[1]["status"] == "none"


def test_a_hint_that_takes_long_is_called_off(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    message = "getting ready to play the moves out, once"
    status, node = ["running"], [0]

    def answer(route: Any) -> None:
        if route.request.post_data and '"off":true' in route.request.post_data:
            status[0] = "called off"
        route.fulfill(
            json={"status": status[0], "message": message, "done": 0, "total": 64, "seconds": 7,
                  "node": node[0], "candidates": []}
        )  # fmt: skip

    page.route("**/ask/hint*", answer)
    go(tab, 12)
    tab.until(MINE)
    node[0] = page.evaluate("game.node")
    page.click("#hint")
    page.wait_for_selector("#hint-off")
    assert f"{message}, 7 s" in page.inner_text("#hints")
    page.click("#hint-off")
    tab.until("document.getElementById('hints').innerText.startsWith('Cancelled')")
    assert page.locator("#hint-off").count() == 0 and page.is_enabled("#hint")
    # The page reports a hint that a new position ends.
    status[0] = "running"
    page.click("#hint")
    page.wait_for_selector("#hint-off")
    go(tab, 13)
    tab.until("document.getElementById('hints').innerText.includes('when you left its position')")
    page.evaluate("act(game.legal[0].text)")  # until the next decision
    tab.until("document.getElementById('hints').innerText === ''")


def test_a_hint_is_shown_and_warns(tab: Watched, server: Server) -> None:
    """What the page makes of it; playouts compile for minutes and are not run here."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    go(tab, 12)
    tab.until(MINE)
    node = page.evaluate("game.node")
    texts = page.evaluate("game.legal.slice(0, 2).map(a => a.text)")
    assert len(texts) == 2
    good = {"text": texts[0], "words": "the good one", "vp": [120.0, 115.0, 125.0],
            "lost": [0.0, 0.0, 0.0], "grade": None, "playouts": 32,
            "line": ["Xenos: pass"]}  # fmt: skip
    bad = good | {"text": texts[1], "words": "the bad one", "lost": [12.0, 8.0, 16.0],
                  "grade": "blunder"}  # fmt: skip

    def answer(route: Any) -> None:
        route.fulfill(
            json={"status": "ready", "message": "", "done": 64, "total": 64, "seconds": 3,
                  "node": node, "candidates": [good, bad]}
        )  # fmt: skip

    page.route("**/ask/hint*", answer)
    page.click("#hint")
    tab.until("document.querySelectorAll('#hints .candidate').length === 2")
    text = page.inner_text("#hints")
    assert "120 VP (115 to 125)" in text and "12.0 VP less than the best (8.0 to 16.0)" in text
    assert "then Xenos: pass" in text and "with the same random numbers" in text
    page.evaluate("allSettings().warn = true")
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.locator("#hints .candidate").nth(1).click()
    assert page.evaluate("game.node") == node and "a blunder" in dialogs[0]
    page.locator("#hints .candidate").first.click()
    tab.until(f"game.node !== {node}")
    assert len(dialogs) == 1


class HintAnswers:
    """The answers of the server about a hint, as the page receives them."""

    def __init__(self, tab: Watched):
        self.page, self.status, self.node = tab.page, "running", 0
        tab.page.route("**/ask/hint*", self.answer)

    def answer(self, route: Any) -> None:
        text = "pass"
        candidate = {"text": text, "words": text, "vp": [9.0, 8.0, 10.0], "lost": [0.0, 0.0, 0.0],
               "grade": None, "playouts": 32, "line": []}  # fmt: skip
        route.fulfill(
            json={"status": self.status, "message": "getting ready", "done": 0, "total": 0,
                  "seconds": 1, "node": self.node,
                  "candidates": [candidate] if self.status == "ready" else []}
        )  # fmt: skip


def test_a_hint_of_one_game_is_not_shown_in_another(tab: Watched, server: Server) -> None:
    """Positions are numbered from 0 in each."""
    games = [server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=n) for n in (1, 2)]
    page, answers = tab.page, HintAnswers(tab)
    page.goto(f"{server.home}#{games[0]}")
    tab.until(MINE)
    answers.status, answers.node = "ready", page.evaluate("game.node")
    page.click("#hint")
    page.wait_for_selector("#hints .candidate")
    page.evaluate(f"location.hash = {games[1]!r}")
    tab.until(f"game && game.id === {games[1]!r}")
    assert page.evaluate("game.node") == answers.node and page.inner_text("#hints") == ""
