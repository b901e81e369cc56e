"""Hints in steps, checks of moves, cancelling them, in a browser; reviews."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import jax
import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.ruleset import VARIANTS
from tests.browser import Watched
from tests.play.page import MINE, begin, go
from tests.play.server import Server
from tools import measure_checks
from training.analysis import ADVISERS
from training.analysis.judge import Loss, policy_probabilities
from training.analysis.position_analysis import Check, PositionAnalysis
from training.play import hints
from training.play.advisers import Adviser, adviser_name, refusal
from training.play.compiled_rules import Rules
from training.play.game import Refused
from training.play.hints import GameAnalyses


class PlannedAnalysis:
    """Stands for `PositionAnalysis`: action 1 is a mistake; waits while `hold` is not set."""

    hold = threading.Event()

    def __init__(self, runner: Any, state: Any, step: Any) -> None:
        self.is_hurried, self.suggested = False, 0

    def suggest(self, progress: Callable[[int, int], object], played: int) -> None:
        progress(0, 64)
        self.hold.wait(10)
        progress(64, 64)
        self.suggested += 1

    def check(self, actions: list[int], progress: Callable[[int, int], object]) -> Check:
        progress(0, 32)
        self.hold.wait(10)
        progress(32, 32)
        lost = 12.0 if actions == [1] else 0.0
        return Check(0, Loss(lost, lost - 3, lost + 3, 1.5), 32, lost > 0)


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch) -> GameAnalyses:
    """With an adviser whose playouts are known."""
    PlannedAnalysis.hold.set()
    monkeypatch.setattr(hints, "PositionAnalysis", PlannedAnalysis)
    monkeypatch.setattr(hints, "suggestions", lambda *_: {"candidates": ["one", "two"]})
    adviser = SimpleNamespace(
        name="one", busy=threading.Lock(), in_use=lambda report: nullcontext(), runner=None
    )
    advisers: Any = SimpleNamespace(get=lambda rules: adviser)
    return GameAnalyses(advisers)


def table(id: str = "a") -> Any:
    """A game of two positions with two legal actions each."""
    rules = SimpleNamespace(
        legal=lambda state: ["good", "bad"], index=["good", "bad"].index,
        after=lambda state, action: state,
    )  # fmt: skip
    nodes = [SimpleNamespace(state=None)] * 2
    return SimpleNamespace(id=id, now=0, rules=rules, nodes=nodes, played_at=lambda at: -1)


def test_a_hint_ends_when_the_position_is_another_one(analyses: GameAnalyses) -> None:
    game = table()
    PlannedAnalysis.hold.clear()
    analyses.start_hint(game, game.now)
    first = analyses._positions["a", game.now].hint
    analyses.start_hint(game, game.now)
    assert first and analyses._positions["a", game.now].hint is first, (
        "asked twice, looked for once"
    )
    assert analyses.hint(game, game.now)["status"] == "running"
    assert analyses.hint(game, 1) == {"status": "none", "node": 1, "candidates": []}
    assert analyses.hint(game, game.now)["status"] == "running", (
        "to look at another position ends nothing"
    )
    other = table("b")
    analyses.start_hint(other, other.now)
    assert analyses.hint(game, game.now)["status"] == "running", "each table has its own"
    analyses.leave(other, 1)
    assert analyses.hint(other, other.now)["status"] == "running", "the game was not there"
    analyses.forget("b")
    game.now = 1
    analyses.leave(game, 0)
    assert analyses.hint(game, game.now) == {"status": "none", "node": 1, "candidates": []}
    PlannedAnalysis.hold.set()
    first.wait()
    assert first.status == "called off"
    analyses.start_hint(game, game.now)
    second = analyses._positions["a", game.now].hint
    assert second
    second.wait()
    assert len(analyses.hint(game, game.now)["candidates"]) == 2
    analyses.forget("a")
    assert analyses.hint(game, game.now)["status"] == "none"


def test_no_hint_of_a_position_that_was_taken_back_meanwhile(analyses: GameAnalyses) -> None:
    game, adviser = table(), analyses._advisers.get(None)  # type: ignore[arg-type]

    def load(rules: Any) -> Any:
        """The agent, while a page takes back the move."""
        game.nodes[0] = SimpleNamespace(state="another")
        return adviser

    analyses._advisers = SimpleNamespace(get=load)  # type: ignore[assignment]
    with pytest.raises(hints.Refused, match="no position 0"):
        analyses.start_hint(game, 0)
    game = table()
    with pytest.raises(hints.Refused, match="no position 0"):
        analyses.start_check(game, ["good"], 0)
    assert not analyses._positions


def test_a_hint_is_called_off_by_a_wish(analyses: GameAnalyses) -> None:
    game = table()
    PlannedAnalysis.hold.clear()
    analyses.start_hint(game, game.now)
    first = analyses._positions["a", game.now].hint
    analyses.call_off(game, "review", game.now)
    assert analyses.hint(game, game.now)["status"] == "running", "there is no review"
    analyses.call_off(game, "hint", game.now)
    assert analyses.hint(game, game.now)["status"] == "called off"
    analyses.start_hint(game, game.now)
    second = analyses._positions["a", game.now].hint
    assert first and second and second is not first
    PlannedAnalysis.hold.set()
    second.wait()
    assert first.status == "called off" and analyses.hint(game, game.now)["status"] == "ready"


def test_the_move_itself_is_checked(analyses: GameAnalyses) -> None:
    game = table()
    for text, warned in (("good", False), ("bad", True)):
        analyses.start_check(game, [text], game.now)
        analyses._positions["a", game.now].checks[text,].wait()
        checked = analyses.check(game, [text], game.now)["checked"]
        assert checked["warned"] is warned and checked["actions"] == [text]
    assert checked["lost"] == [12.0, 9.0, 15.0] and checked["grade"] == "blunder"
    with pytest.raises(Refused, match="'worse' is not legal here"):
        analyses.start_check(game, ["good", "worse"], game.now)
    game.now = 1
    assert analyses.check(game, ["bad"], game.now)["status"] == "none"


def test_two_tabs_check_a_move_each(analyses: GameAnalyses) -> None:
    """At one seat: neither cancels the check of the other, nor receives its result."""
    game = table()
    analyses.start_check(game, ["good"], game.now)
    analyses.start_check(game, ["bad"], game.now)
    good, bad = analyses._positions["a", game.now].checks.values()
    good.wait()
    bad.wait()
    assert analyses.check(game, ["good"], game.now)["checked"]["warned"] is False
    assert analyses.check(game, ["bad"], game.now)["checked"]["warned"] is True
    analyses.start_check(game, ["good"], game.now)
    assert analyses._positions["a", game.now].checks["good",] is good, "asked again"
    analyses.call_off(game, "check", game.now, ["other"])
    assert good.now == bad.now == "ready"


def test_only_the_latest_checks_of_a_position_run(analyses: GameAnalyses) -> None:
    """Cancelled ones end, although another hint has the playouts, and then hurry it no more."""
    game = table()
    busy = analyses._advisers.get(game.rules).busy
    moves = [["good"] * number for number in range(1, hints.MAX_CHECKS + 3)]
    with busy:
        jobs = []
        for move in moves:
            analyses.start_check(game, move, game.now)
            jobs.append(analyses._positions["a", 0].checks[tuple(move)])
        for job in jobs[:2]:
            job.wait()
            assert job.status == "called off"
        assert analyses.check(game, moves[0], game.now)["status"] == "none"
        assert {job.status for job in jobs[2:]} == {"running"}
        analysis: Any = analyses._positions["a", 0].analysis
        assert analysis.is_hurried
        for job in jobs[2:]:
            job.call_off()
            job.wait()
        assert not analysis.is_hurried
    assert not busy.locked()


def test_pages_do_not_wait_for_an_agent(
    analyses: GameAnalyses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first hint loads it, for seconds; every page asks for reviews."""
    is_loading, may_end = threading.Event(), threading.Event()
    adviser = analyses._advisers.get(table().rules)

    def load(rules: Any) -> Any:
        is_loading.set()
        may_end.wait(10)
        return adviser

    monkeypatch.setattr(analyses._advisers, "get", load)
    for start in (analyses.start_hint, partial(analyses.start_check, texts=["good"])):
        is_loading.clear()
        may_end.clear()
        thread = threading.Thread(target=start, args=(table(),), kwargs={"at": 0})
        thread.start()
        assert is_loading.wait(10) and analyses._lock.acquire(timeout=5)
        analyses._lock.release()
        may_end.set()
        thread.join()


def test_a_check_hurries_the_hint_of_its_position(analyses: GameAnalyses) -> None:
    game = table()
    PlannedAnalysis.hold.clear()
    analyses.start_hint(game, game.now)
    analysis: Any = analyses._positions["a", game.now].analysis
    analyses.start_check(game, ["bad"], game.now)
    assert analysis.is_hurried
    PlannedAnalysis.hold.set()
    analyses._positions["a", game.now].checks["bad",].wait()
    assert analyses.check(game, ["bad"], game.now)["checked"]["warned"]
    assert analyses.hint(game, game.now)["status"] == "ready"
    assert analysis.suggested == 1, "the hint keeps what it has"


def test_a_review_is_of_the_line_of_the_game(
    analyses: GameAnalyses, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, is_over = table(), threading.Event()
    game.nodes = [SimpleNamespace(state=None, action=0)] * 3
    game.line, game.rules.env = [0, 1], None
    monkeypatch.setattr(hints, "adviser_name", lambda rules: "one")
    monkeypatch.setattr(hints.review, "review_game", lambda *_: is_over.wait(10))
    analyses.start_review(game)
    first = analyses.review_job(game)
    analyses.start_review(game)
    assert first and analyses.review_job(game) is first
    game.line = [0, 2]
    analyses.start_review(game)
    second = analyses.review_job(game)
    assert second and second is not first and first.now == "called off"
    is_over.set()
    second.wait()
    assert not analyses.has_review(game), "it has failed"
    second.status = "ready"
    assert analyses.has_review(game)
    analyses.forget("a")
    assert analyses.review_job(game) is None


def test_every_adviser_advises_on_some_games() -> None:
    chosen = set[str]()
    for id, players in VARIANTS:
        rules: Any = SimpleNamespace(env=SimpleNamespace(id=id, num_players=players))
        chosen.add(adviser_name(rules))
        assert bool(refusal(rules)) == (not adviser_name(rules))
    assert chosen - {""} == set(ADVISERS)


def test_an_interrupted_measurement_of_checks_repeats_the_game(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outcomes: list[Any] = [{"warned": True}, KeyboardInterrupt]
    outcomes += [{"warned": True}, {"warned": False}]

    def check(analysis: Any, action: int) -> Any:
        outcome = outcomes.pop(0)
        if outcome is KeyboardInterrupt:
            raise KeyboardInterrupt
        return outcome

    turn = SimpleNamespace(turn=SimpleNamespace(round=3))
    bench = SimpleNamespace(
        position=lambda seed: SimpleNamespace(game=turn), plant=lambda states, seed: [1],
        chances=lambda state: np.array([1.0, 0.0]), check=check,
        adviser=SimpleNamespace(runner=None), rules=SimpleNamespace(after=None),
    )  # fmt: skip
    out = tmp_path / "checks.jsonl"
    monkeypatch.setattr(measure_checks, "Bench", lambda: bench)
    monkeypatch.setattr(measure_checks, "PositionAnalysis", lambda *_: None)
    monkeypatch.setattr(measure_checks.cli, "prepare", lambda: None)
    monkeypatch.setattr(measure_checks, "report", lambda rows: "")
    monkeypatch.setattr("sys.argv", ["measure_checks", "--games", "1", "--out", str(out)])
    with pytest.raises(KeyboardInterrupt):
        measure_checks.main()
    assert not out.exists()
    measure_checks.main()
    measure_checks.main()
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["planted", "own"] and not outcomes


@pytest.mark.parametrize("num_near", [0, 1, 2, 3])
@pytest.mark.parametrize("num_others", [0, 3])
def test_a_hint_has_two_alternatives_or_says_that_nothing_comes_near(
    num_near: int, num_others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best is compared with the next, all others with the best; the played one is added."""
    monkeypatch.setattr(hints, "_suggestion", lambda *args: {"pair": args[3:]})
    candidates = list(range(1 + num_near + num_others))
    analysis: Any = SimpleNamespace(
        candidates=candidates, alternatives=lambda: candidates[1 : 1 + num_near],
        losses=lambda action, best: Loss(20.0 + action, 0, 0, 1), plan_of=lambda action: action,
    )  # fmt: skip
    hint = hints.suggestions(SimpleNamespace(), None, analysis, candidates[-1])  # type: ignore[arg-type]
    listed = dict.fromkeys([*candidates[1 : 1 + num_near], *candidates[1:][-1:]])
    second = candidates[1] if len(candidates) > 1 else None
    assert [own["pair"] for own in hint["candidates"]] == [(0, second), *((a, 0) for a in listed)]
    assert sum(own["played"] for own in hint["candidates"]) == 1
    assert bool(hint["nothing_near"]) is (num_near < 2) and hint["tried"] == len(candidates)
    if num_near < 2 and num_others:
        assert f"{21 + num_near} VP" in hint["nothing_near"]


def answer_of(server: Server, path: str, body: Any) -> Any:
    """The answer of a job that a request starts."""
    answer = server.request("POST", path, body)[1]
    while answer["status"] == "running":
        threading.Event().wait(0.5)
        answer = server.request("GET", path)[1]
    return answer


@pytest.mark.slow  # compiles playouts: minutes on two cores
def test_a_hint_at_the_table(server: Server) -> None:
    game = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, record="lost_fleet")
    line = server.request("GET", f"/api/games/{game}")[1]["line"]
    legal = server.look(game, line[-30])["legal"]
    hint = answer_of(server, f"/api/games/{game}/ask/hint?at={line[-30]}", {})
    assert hint["status"] == "ready" and hint["done"] <= hint["total"]
    texts = [candidate["text"] for candidate in hint["candidates"]]
    assert texts and set(texts) <= {candidate["text"] for candidate in legal}
    assert all(
        candidate["vp"][1] <= candidate["vp"][0] <= candidate["vp"][2]
        for candidate in hint["candidates"]
    )
    assert hint["candidates"][0]["place"] and hint["tried"] >= len(texts)
    assert len(texts) > 2 or hint["nothing_near"]
    assert sum(candidate["played"] for candidate in hint["candidates"]) == 1, "as the record has it"
    asked = f"/api/games/{game}/ask/check?at={line[-30]}&action={quote(texts[0])}"
    check = answer_of(server, asked, {})
    assert check["status"] == "ready" and check["checked"]["warned"] is False
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


def test_a_hint_that_the_server_has_dropped_is_no_error(tab: Watched, server: Server) -> None:
    """The page asks once more before it knows the position after a move."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    running = {"status": "running", "message": "played out", "done": 0, "total": 64, "seconds": 1}
    later: dict[str, Any] = {"status": "none"}

    def answer(route: Any) -> None:
        status = running if route.request.method == "POST" else later
        route.fulfill(json={**status, "node": node, "candidates": []})

    page.route("**/ask/hint*", answer)
    go(tab, 12)
    tab.until(MINE)
    node = page.evaluate("game.node")
    page.click("#hint")
    page.wait_for_selector("#hint-off")
    tab.until("!document.getElementById('hint-off')")
    assert page.inner_text("#hints") == ""
    # A hint for the checks, which nobody asked to see, ends without a message.
    go(tab, 13)
    tab.until(MINE)
    node, later = page.evaluate("game.node"), running
    page.evaluate("void askHint()")
    tab.until("hint?.status === 'running'")
    go(tab, 12)
    tab.until(f"{MINE} && hint === null")
    assert page.inner_text("#hints") == ""


def test_a_hint_is_shown_in_steps_and_a_move_is_checked(tab: Watched, server: Server) -> None:
    """What the page makes of it; playouts compile for minutes and are not run here."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    go(tab, 12)
    tab.until(MINE)
    node = page.evaluate("game.node")
    texts = page.evaluate("game.legal.slice(0, 2).map(a => a.text)")
    assert len(texts) == 2
    good = {"text": texts[0], "words": "the good one", "place": "on the map, top left",
            "vp": [120.0, 115.0, 125.0], "lost": [0.0, 0.0, 0.0], "grade": None, "playouts": 32,
            "orders": ["the other order"], "why": {"research": 6.5},
            "line": ["Xenos: pass"]}  # fmt: skip
    bad = good | {"text": texts[1], "words": "the bad one", "lost": [4.0, 1.0, 7.0], "orders": []}

    def answer(route: Any) -> None:
        route.fulfill(
            json={"status": "ready", "message": "", "done": 64, "total": 64, "seconds": 3,
                  "node": node, "candidates": [good, bad], "tried": 5, "nothing_near": ""}
        )  # fmt: skip

    checks: list[Any] = []
    status = ["called off"]

    def check(route: Any) -> None:
        if status[0] == "called off":
            route.fulfill(json={"status": status[0], "node": node, "checked": None})
            return
        checks.append(parse_qs(urlsplit(route.request.url).query)["action"])
        warned = checks[-1] == [texts[1]]
        checked = {"warned": warned, "lost": [12.0, 8.0, 16.0], "grade": "blunder"}
        route.fulfill(
            json={"status": "ready", "message": "", "done": 0, "total": 0, "seconds": 1,
                  "node": node, "checked": checked}
        )  # fmt: skip

    page.route("**/ask/hint*", answer)
    page.route("**/ask/check*", check)
    page.click("#hint")
    page.wait_for_selector("#hint-next")
    assert "Look on the map, top left." in page.inner_text("#hints")
    assert page.locator("#hints .candidate").count() == 0, "first only where"
    page.click("#hint-next")
    tab.until("document.querySelectorAll('#hints .candidate').length === 2")
    text = page.inner_text("#hints")
    assert "120 VP (115 to 125)" in text and "4.0 VP less than the best (1.0 to 7.0)" in text
    assert "in the same plan: the other order" in text and "research" not in text
    page.click("#hint-next")
    text = page.inner_text("#hints")
    assert "next best: ahead in research (6.5 VP)" in text and "then Xenos: pass" in text
    assert "with the same random numbers" in text and page.locator("#hint-next").count() == 0
    page.evaluate("allSettings().warn = true")
    dialogs: list[str] = []

    def dismiss(dialog: Any) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.locator("#hints .candidate").first.click()
    tab.until("checkedMove === ''")
    assert page.evaluate("requests.then(() => game.node)") == node, "without a check, no move"
    status[0] = "ready"
    page.locator("#hints .candidate").nth(1).click()
    tab.until("checkedMove === ''")
    assert page.evaluate("game.node") == node and "a blunder: 12 VP less" in dialogs[0]
    page.locator("#hints .candidate").first.click()
    tab.until(f"game.node !== {node}")
    assert len(dialogs) == 1 and checks == [[texts[1]], [texts[0]]]


class HintAnswers:
    """The answers of the server about a hint, as the page receives them."""

    def __init__(self, tab: Watched):
        self.page, self.status, self.node = tab.page, "running", 0
        tab.page.route("**/ask/hint*", self.answer)

    def answer(self, route: Any) -> None:
        text = "pass"
        candidate: dict[str, Any] = {
                     "text": text, "words": text, "place": "here", "vp": [9.0, 8.0, 10.0],
                     "lost": [0.0, 0.0, 0.0], "grade": None, "playouts": 32, "orders": [],
                     "why": {"research": 6.5}, "line": [], "played": True}  # fmt: skip
        route.fulfill(
            json={"status": self.status, "message": "getting ready", "done": 0, "total": 0,
                  "seconds": 1, "node": self.node, "tried": 1, "nothing_near": "",
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
    page.wait_for_selector("#hint-next")
    page.evaluate(f"location.hash = {games[1]!r}")
    tab.until(f"game && game.id === {games[1]!r}")
    assert page.evaluate("game.node") == answers.node and page.inner_text("#hints") == ""


@pytest.mark.slow  # compiles and plays games out: minutes on two cores
def test_costly_first_moves_are_warned_of() -> None:
    """The Firaks' first mine, second mine and first action; the policy gives all of them 0 %."""
    rules = Rules("lost_fleet")
    adviser = Adviser(rules, "zoo/strong")
    adviser.prepare(print)
    state = rules.start(rules.draw(95191491))
    firaks = [seat.faction.id for seat in rules.table(state).seats].index("FIRAKS")
    wrong_moves = [("pick 7,-3", 0), ("pick 11,-7", 0), ("booster RB4", 1)]  # with their rounds
    while wrong_moves:
        move, number = wrong_moves[0]
        is_legal = rules.table(state).round == number and move in rules.legal(state)
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        likeliest = int(policy_probabilities(adviser.agent, states)[0].argmax())
        if state.current_player == firaks and is_legal:
            wrong_moves.pop(0)
            analysis = PositionAnalysis(adviser.runner, state, rules.after)
            wrong = analysis.check([rules.index(move)])
            assert wrong.is_mistake and wrong.loss.mean > 8
            assert not analysis.check([likeliest]).is_mistake
        state = rules.after(state, likeliest)


def test_what_an_agent_played_is_explained_at_once(tab: Watched, server: Server) -> None:
    """A finished game of agents: nothing to decide, but everything to look at."""
    begin(tab, server.home, ("greedy",) * 4, "lost_fleet")
    page, answers = tab.page, HintAnswers(tab)
    go(tab, 12)
    tab.until("game.explained && !byId('explain').hidden")
    assert page.is_disabled("#hint") and not page.evaluate("game.legal.length")
    answers.status, answers.node = "ready", page.evaluate("game.node")
    page.click("#explain")
    tab.until("document.querySelectorAll('#hints .candidate').length === 1")
    text = page.inner_text("#hints")
    assert "played here" in text and "next best: ahead in research (6.5 VP)" in text
    assert page.locator("#hint-next").count() == 0 and page.is_disabled("#hints .candidate")
    page.click(".tabs button[data-tab='Log']")
    page.click("#last")
    tab.until("game.over && byId('explain').hidden")
