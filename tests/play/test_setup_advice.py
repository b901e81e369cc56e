"""Advice on the set-up of the form: begun, kept, called off, refused; its page, by the keyboard."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.language import in_language
from gaia_jax.render import svg
from tests.browser import Watched
from tests.play.server import Server
from tests.training.planted_advice import planted_games
from training.analysis import ADVICE_GAMES, ADVISER, advice, advice_report
from training.play import setup_advice
from training.play.advisers import Advisers
from training.play.compiled_rules import Rules
from training.play.game import Refused
from training.play.setup_advice import SetupAdvice

FORM = {"ruleset": "lost_fleet", "seats": ["you"] * 4}
THREE = {"ruleset": "lost_fleet_published", "seats": ["you"] * 3, "seed": 3}
NO_THREE = f"{ADVISER} plays games of 4, not of 3"


ADVISER_OF_TESTS = SimpleNamespace(
    name=ADVISER, agent=None, runner=None, in_use=lambda report: nullcontext()
)  # fmt: skip


class FakeAdvisor:
    """Games whose ends are known, played when they may be."""

    def __init__(self, env: Any) -> None:
        self.env, self.hold, self.games = env, threading.Event(), list[int]()
        self.hold.set()

    def play(self, setup: Any, factions: Any, progress: Any = lambda ended: None) -> Any:
        progress(0)
        self.hold.wait(20)
        progress(100)
        self.games.append(len(factions))
        return planted_games(0, games_per_faction=ADVICE_GAMES)[0]


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules("lost_fleet")


@pytest.fixture
def advisor(monkeypatch: pytest.MonkeyPatch, rules: Rules) -> FakeAdvisor:
    """Whose `named` every `SetupAdvice` asks."""
    fake_advisor = FakeAdvisor(rules.env)
    monkeypatch.setattr(advice, "Advisor", lambda env, agent, runner: fake_advisor)
    monkeypatch.setattr(Advisers, "get", lambda self, rules: ADVISER_OF_TESTS)
    return fake_advisor


def wait(desk: SetupAdvice, id: str) -> str:
    job = desk.get(id)
    assert job
    job.wait()
    return job.status


def test_it_is_what_the_command_makes_and_is_kept(advisor: FakeAdvisor, rules: Rules) -> None:
    desk, setup, form = SetupAdvice(Advisers()), rules.draw(7), {**FORM, "seed": 7}
    assert desk.of(rules, setup, form)["status"] == "none"
    status = desk.start(rules, setup, form)
    assert status["status"] in ("running", "ready") and status["refusal"] == ""
    assert wait(desk, status["id"]) == "ready"
    boards = advice.boards_of(rules.env, setup)
    assert advisor.games == [boards.num_games(ADVICE_GAMES)]
    factions = advice.design(boards, ADVICE_GAMES)
    about = {"agent": ADVISER, "from": "seed 7", "wanted": len(factions)}
    played = advisor.play(setup, factions)
    report = advice_report.build_report(rules.env, setup, played, boards, about)
    job = desk.get(status["id"])
    address = "/#seed=7&ruleset=lost_fleet&players=4&factions="
    picture = svg(rules.start(setup), rules.env.ruleset)
    assert job
    page = job.result.text()
    assert page == advice_report.report_page(report, picture, address, is_served=True)
    assert f'href="{address.replace("&", "&amp;")}TERRANS"' in page
    assert f"set-up of seed 7; {ADVISER} at all seats" in page
    with in_language("de"):
        assert f"Startzahl 7; {ADVISER} an allen Plätzen" in job.result.text()
    assert job.result.text() is page
    dealt = setup.replace(faction=setup.faction[::-1])
    assert desk.start(rules, dealt, form)["id"] == status["id"], "for any factions"
    assert desk.start(rules, setup, form)["status"] == "ready" and desk.get(status["id"]) is job
    assert len(advisor.games) == 2, "asked for again, nothing is played"
    other = desk.of(rules, rules.draw(8), {**FORM, "seed": 8})
    assert other["id"] != status["id"] and other["status"] == "none"


def test_it_is_called_off_and_one_waits_for_the_other(advisor: FakeAdvisor, rules: Rules) -> None:
    desk, setups = SetupAdvice(Advisers()), [rules.draw(seed) for seed in (1, 2)]
    advisor.hold.clear()
    ids = [
        desk.start(rules, setup, {**FORM, "seed": n})["id"]
        for n, setup in enumerate(setups, start=1)
    ]
    first, second = (desk.get(id) for id in ids)
    assert first and second
    end = time.monotonic() + 20
    while first.total == 0 or "earlier advice" not in second.message:
        assert time.monotonic() < end, (first.message, second.message)
        time.sleep(0.01)
    second.call_off()
    second.wait()
    assert second.status == "called off", "while it waits"
    first.call_off()
    assert desk.of(rules, setups[0], {**FORM, "seed": 1})["status"] == "called off"
    assert desk.start(rules, setups[0], {**FORM, "seed": 1})["status"] == "running"
    restarted = desk.get(ids[0])
    assert restarted is not first
    advisor.hold.set()
    first.wait()
    assert first.status == "called off" and first.result is None
    assert wait(desk, ids[0]) == "ready" and desk.get(ids[1]) is second


def test_pages_are_kept_up_to_a_number(
    advisor: FakeAdvisor, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_advice, "MAX_PAGES", 2)
    desk, setup = SetupAdvice(Advisers()), rules.draw(1)
    ids = []
    origins: list[dict[str, Any]] = [{"seed": 1}, {"setup": {}}, {"seed": 1}, {"seed": 3}]
    for origin in origins:  # the first one again
        ids.append(desk.start(rules, setup, {**FORM, **origin})["id"])
        wait(desk, ids[-1])
    assert [bool(desk.get(id)) for id in ids] == [True, False, True, True] and ids[0] == ids[2]


def test_who_has_no_adviser_is_told_so_in_a_line(server: Server) -> None:
    advice_status = server.request("POST", "/api/preview", THREE)[1]["advice"]
    assert advice_status["refusal"] == NO_THREE and advice_status["status"] == "none"
    german = server.request("POST", "/api/preview", THREE, {"Cookie": "language=de"})[1]["advice"]
    assert german["refusal"] not in ("", NO_THREE)
    status, answer, _ = server.request("POST", "/api/advice", THREE)
    assert status == 400 and answer == {"error": NO_THREE}
    with pytest.raises(Refused, match=NO_THREE):
        SetupAdvice(Advisers()).start(Rules("lost_fleet_published", 3), None, THREE)  # type: ignore[arg-type]
    solo = {"ruleset": "lost_fleet_published", "seats": ["you"], "seed": 3}
    status, answer, _ = server.request("POST", "/api/advice", solo)
    assert status == 400 and answer["error"] == f"{ADVISER} plays games of 4, not of 1"
    id = advice_status["id"]
    assert server.request("GET", f"/api/advice/{id}")[0] == 404
    for path in (f"/api/advice/{id}/page", "/api/advice/..%2fREADME.md/page"):
        assert server.request("GET", path)[0] == 404
    bad: list[dict[str, Any]] = [{"seed": -1}, {"ruleset": "chess"}, {"setup": {}}]
    for wrong in bad:
        assert server.request("POST", "/api/advice", {**FORM, "seed": 1, **wrong})[0] == 400


def test_advice_alone_names_the_automa_and_links_to_its_level(
    advisor: FakeAdvisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(setup: Any, factions: np.ndarray, progress: Any = None) -> advice.PlayedGames:
        none, vp = np.full(factions.shape, advice.NONE), 100 + factions
        sources = np.zeros((*factions.shape, len(solo.env.ruleset.ids["vp_source"])), int)
        return advice.PlayedGames(factions, vp, vp / 200, sources, none, none[..., None], [])

    solo = Rules("base", 1)
    monkeypatch.setattr(advisor, "play", play)
    form = {"seed": 4, "automa": "ultoma", "automa_faction": ""}
    desk, setup = SetupAdvice(Advisers()), solo.draw(4, "ultoma")
    id = desk.start(solo, setup, form)["id"]
    assert wait(desk, id) == "ready"
    job = desk.get(id)
    assert job
    page = job.result.text()
    assert "against the Automa: Ultoma" in page and "Seats: " not in page
    assert "players=1&amp;automa=ultoma&amp;factions=" in page
    assert desk.of(solo, solo.draw(4, "automa"), form)["id"] != id, "another level"


class AdviceAnswers:
    """The answers of the server about advice, as the page receives them; games take long."""

    def __init__(self, tab: Watched):
        self.status, self.far, self.asked = "none", 0, list[Any]()
        tab.page.context.route("**/api/advice**", self.answer)
        tab.page.context.route("**/api/advice/**", self.answer)

    def answer(self, route: Any) -> None:
        if route.request.url.endswith("/page"):
            route.fulfill(content_type="text/html", body="<title>Advice</title>the page")
            return
        if route.request.method == "POST":
            body = route.request.post_data_json
            self.asked.append(body)
            self.status = "called off" if body.get("off") else "running"
        route.fulfill(
            json={"status": self.status, "message": "played out", "done": self.far, "total": 288,
                  "seconds": 9}
        )  # fmt: skip


def start(tab: Watched, server: Server, address: str) -> None:
    tab.page.goto(f"{server.home}#{address}")
    tab.until("offers && offers.records.length > 0", 120)
    tab.page.select_option("#record", "")
    tab.until("!document.getElementById('advice').hidden", 120)


def tab_to(tab: Watched, id: str) -> None:
    for _ in range(60):
        if tab.page.evaluate("document.activeElement.id") == id:
            return
        tab.page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {id}")


def wait_for_focus(tab: Watched, id: str) -> None:
    tab.until(f"document.activeElement.id === {id!r}")


@pytest.mark.parametrize("width", [1280, 390])
def test_advice_by_the_keyboard_alone(tab: Watched, server: Server, width: int) -> None:
    page, answers = tab.page, AdviceAnswers(tab)
    start(tab, server, "seed=7&ruleset=lost_fleet")
    page.focus("#dice")
    tab_to(tab, "advise")
    page.keyboard.press("Enter")
    wait_for_focus(tab, "advise-off")
    form = answers.asked[0]
    assert (form["ruleset"], form["seed"], len(form["seats"])) == ("lost_fleet", 7, 4)
    assert page.is_disabled("#advise")
    answers.far = 58
    far = "58 of 288 games, 9 s"
    tab.until(f"document.getElementById('advice-status').innerText.includes('{far}')")
    assert page.inner_text("#announced") == "The advice is being made:", "announced once"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Enter")
    wait_for_focus(tab, "advise")
    assert answers.asked[-1] == {"off": True} and page.is_hidden("#advise-off")
    assert page.inner_text("#advice-status").startswith("Cancelled.")
    page.keyboard.press("Enter")
    wait_for_focus(tab, "advise-off")
    answers.status = "ready"
    wait_for_focus(tab, "advise")
    assert page.inner_text("#advise") == "Open the advice"
    assert "another tab" in page.inner_text("#advice-status")
    with page.context.expect_page() as opened:
        page.keyboard.press("Enter")
    assert opened.value.url == server.home + page.evaluate("`api/advice/${adviceNow.id}/page`")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(answers.asked) == 3, "a second click opens, and asks for nothing"


def test_another_set_up_has_advice_of_its_own(tab: Watched, server: Server) -> None:
    page, answers = tab.page, AdviceAnswers(tab)
    start(tab, server, "seed=7&ruleset=lost_fleet")
    page.click("#advise")
    tab.until("adviceNow.status === 'running'")
    page.click("#dice")
    tab.until("adviceNow.setup.seed !== 7", 120)
    assert page.is_enabled("#advise") and page.is_hidden("#advise-off")
    page.click("#advise")
    tab.until("adviceNow.status === 'running'")
    seeds = [body.get("seed", "off") for body in answers.asked]
    assert seeds == [7, "off", page.evaluate("adviceNow.setup.seed")], "the first is cancelled"
    page.click("#begin")
    tab.until("game", 120)
    assert answers.asked[-1] == {"off": True}, "nor for the second, once the game is dealt"
    page.evaluate("location.hash = ''")
    start(tab, server, "seed=3&ruleset=lost_fleet_published&players=3")
    before = len(answers.asked)
    page.click("#advise")
    tab.until("document.getElementById('advice-status').innerText.includes('No advice here')")
    assert NO_THREE in page.inner_text("#advice-status") and len(answers.asked) == before
    page.select_option("#record", "Shipped: lost_fleet")
    tab.until("document.getElementById('advice').hidden")


@pytest.mark.slow  # compiles and plays 288 games: minutes on two cores
def test_the_advice_of_a_server(tab: Watched, server: Server) -> None:
    page = tab.page
    start(tab, server, "seed=7&ruleset=lost_fleet")
    page.click("#advise")
    tab.until("document.getElementById('advise').innerText === 'Open the advice'", 900)
    page.click("#dice")
    tab.until(
        "adviceNow.setup.seed !== 7 && !document.getElementById('advise').title.includes('tab')"
    )
    page.fill("#seed", "7")
    page.keyboard.press("Tab")
    tab.until("document.getElementById('advise').innerText === 'Open the advice'", 120)
    with page.context.expect_page() as opened:
        page.click("#advise")
    advice_tab = opened.value
    wrong: list[str] = []
    advice_tab.on("console", lambda message: wrong.append(message.text))
    advice_tab.reload()
    assert advice_tab.title() == "Advice on the set-up of seed 7"
    # Chromium remarks on every page that may run scripts and has the origin of the table.
    assert not [text for text in wrong if "allow-same-origin" not in text]
    assert advice_tab.locator("h2 + .wide tr").count() > 18
    for width in (390, 1280):
        advice_tab.set_viewport_size({"width": width, "height": 900})
        assert advice_tab.evaluate("document.documentElement.scrollWidth") <= width


def test_advice_asked_for_while_a_set_up_is_dealt_is_given_on_it(
    tab: Watched, server: Server
) -> None:
    page, answers = tab.page, AdviceAnswers(tab)
    start(tab, server, "seed=7&ruleset=lost_fleet")
    tab.until("!isDealing")
    tab.hold("/api/preview")
    page.click("#dice")
    page.click("#advise")
    tab.until("heldBack.length > 0")
    assert not answers.asked
    tab.release()
    tab.until("adviceNow.status === 'running'", 60)
    assert [body["seed"] for body in answers.asked] == [page.evaluate("Number(byId('seed').value)")]
