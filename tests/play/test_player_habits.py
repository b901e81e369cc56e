"""Habits of a player over the ended tables of a server, without playouts."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.language import LANGUAGES, in_language, language
from tests.browser import Watched
from tests.play.network import Network
from tests.play.server import Server
from training.analysis import habits, review
from training.play import player_habits
from training.play.all_rules import AllRules
from training.play.background import Job
from training.play.game import Refused
from training.play.player_habits import MAX_GAMES, TOO_FEW, PlayerHabits

LINES = {"a": [0, 1, 5, 6], "b": [0, 1, 2, 3], "open": [0, 1]}


def kept(id: str) -> Any:
    """An ended table with Anna at two seats, or an unfinished one."""
    game = SimpleNamespace(rules=None, line=LINES[id], over=lambda at: id != "open")
    return SimpleNamespace(game=game, members=SimpleNamespace(names=["Anna", "Ben", "Anna"]))


@pytest.fixture
def reviewed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stands for reviews, which take minutes: the games that are compared."""
    games: list[Any] = []

    def build_report(name: str, compared: list[Any]) -> dict[str, Any]:
        if language() == "en":
            games.extend(compared)
        return {
            "player": name,
            "language": language(),
            "habits": [{"example": {"record": compared[0].record, "decision": 3}}],
        }

    monkeypatch.setattr(player_habits, "recorded_game", lambda game: game)
    monkeypatch.setattr(review, "review_game", lambda *_: None)
    monkeypatch.setattr(habits, "build_report", build_report)
    return games


def player_habits_without_playouts() -> PlayerHabits:
    adviser = SimpleNamespace(name="zoo/strong", runner=None, in_use=lambda report: nullcontext())
    advisers: Any = SimpleNamespace(get=lambda rules: adviser)
    return PlayerHabits(advisers)


def compared(ids: list[str], open_kept: Any = kept) -> Job:
    player = player_habits_without_playouts()
    player.start("host", "Anna", ids, open_kept)
    job = player.get("host", "Anna")
    assert job
    job.wait()
    return job


def test_an_example_has_its_position_at_the_table(reviewed: list[Any]) -> None:
    reports = compared(["a", "open", "b"]).result
    assert {code: report["language"] for code, report in reports.items()} == {
        code: code for code in LANGUAGES
    }
    for report in reports.values():
        assert report["habits"][0]["example"]["node"] == LINES["a"][2]
    assert [(game.record, game.seats) for game in reviewed] == [("a", [0, 2]), ("b", [0, 2])]


def test_one_game_is_no_habit(reviewed: list[Any]) -> None:
    job = compared(["a", "open"])
    assert (job.now, job.message, job.result) == ("failed", TOO_FEW, None) and not reviewed
    for code in ("ko", "de"):
        with in_language(code):
            assert job.json()["message"] != TOO_FEW


def test_a_comparison_is_lost_only_to_a_later_game(reviewed: list[Any]) -> None:
    player = player_habits_without_playouts()
    player.start("host", "Anna", ["a", "b"], kept)
    job = player.get("host", "Anna")
    player.start("guest", "Anna", ["b", "a"], kept)
    other = player.get("guest", "Anna")
    assert job and other and other is not job, "each browser sees its own tables"
    job.wait()
    other.wait()
    assert (job.now, other.now) == ("ready", "ready"), "a start cancels no other one"
    player.start("host", "Anna", ["b", "a"], kept)
    assert player.get("host", "Anna") is job, "a table that is written again is the latest one"
    player.start("host", "Anna", ["c", "b", "a"], lambda id: kept("a"))
    later = player.get("host", "Anna")
    assert later and later is not job
    later.wait()


def test_a_table_that_has_been_removed_is_left_out(reviewed: list[Any]) -> None:
    def open_kept(id: str) -> Any:
        if id == "gone":
            raise Refused("there is no such game")
        return kept(id)

    job = compared(["gone", "a", "b"], open_kept)
    assert job.now == "ready" and [game.record for game in reviewed] == ["a", "b"]
    assert compared(["gone", "a"], open_kept).message == TOO_FEW


def test_only_the_latest_comparisons_are_kept(
    monkeypatch: pytest.MonkeyPatch, reviewed: list[Any]
) -> None:
    """One more cancels and forgets the comparison whose start is the earliest."""
    monkeypatch.setattr(player_habits, "MAX_KEPT", 2)
    player, hold = player_habits_without_playouts(), threading.Event()

    def open_kept(id: str) -> Any:
        hold.wait(10)
        return kept(id)

    jobs = {}
    for name in ("Anna", "Ben", "Anna"):  # the third start finds Anna's under way
        player.start("host", name, ["a", "b"], open_kept)
        jobs[name] = player.get("host", name)
    player.start("host", "Cem", ["a", "b"], open_kept)
    assert jobs["Anna"] and jobs["Anna"].now == "called off"
    assert player.get("host", "Anna") is None
    assert player.get("host", "Ben") is jobs["Ben"] and jobs["Ben"].now == "running"
    hold.set()
    for job in (*jobs.values(), player.get("host", "Cem")):
        assert job
        job.wait()


def test_only_the_latest_games_are_reviewed(reviewed: list[Any]) -> None:
    opened: list[str] = []

    def open_kept(id: str) -> Any:
        opened.append(id)
        return kept("a")

    ids = [str(number) for number in range(MAX_GAMES + 3)]
    compared(ids, open_kept)
    assert opened == ids[:MAX_GAMES]


def test_names_of_ended_tables_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reviewed: list[Any]
) -> None:
    monkeypatch.setattr(AllRules, "compile", lambda self, rules: None)
    network = Network(tmp_path)
    host, other = (network.browser(network.access.key) for _ in range(2))
    form = {"ruleset": "base", "seats": ["you"] * 2, "name": "Anna"}
    ids = [host.post("/api/games", **form, seed=seed)["id"] for seed in (1, 2, 3)]
    for id in ids[:2]:
        network.server.kept._data[id]["about"]["over"] = True
    of_three = {**form, "ruleset": "lost_fleet_published", "seats": ["you"] * 3, "name": "Cem"}
    for seed in (1, 2):  # no adviser plays them
        id = host.post("/api/games", **of_three, seed=seed)["id"]
        network.server.kept._data[id]["about"]["over"] = True
    offered = [browser.get("/api/offers?brief=1")["players"] for browser in (host, other)]
    assert offered == [["Anna"], []], "strangers see no names of a table that is not theirs"
    assert host.post("/api/habits", name="Anna") == {"status": "none", "report": None}
    for browser, name in ((host, "Ben"), (host, "Cem"), (other, "Anna"), (host, None)):
        status, data = browser.request("POST", "/api/habits", {"name": name})
        assert status == 400 and "at least two ended games" in data["error"]
    hold = threading.Event()
    monkeypatch.setattr(network.server, "_read_kept", lambda id: hold.wait(10) and kept("open"))
    assert host.post("/api/habits", name="Anna", change="start")["status"] == "running"
    assert host.post("/api/habits", name="Anna", change="off")["status"] == "called off"
    hold.set()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_each_habit_leads_to_its_example(tab: Watched, server: Server, width: int) -> None:
    id = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, record="lost_fleet")
    node = server.look(id, 0)["line"][12]
    page = tab.page
    page.set_viewport_size({"width": width, "height": 844})
    loss = {"mean": 9.0, "low": 4.0, "high": 14.0}
    example = {"record": id, "node": node, "decision": 13, "round": 1, "faction": "Terrans",
               "played": "pass", "better": "research: AI", "loss": loss,
               "by_source": {"round tiles": 6.5, "boosters": -2.0}}  # fmt: skip
    habits = [{"kind": "form_federation", "vp_a_game": loss, "mistakes": 1, "moves": 3,
               "example": example}]  # fmt: skip
    asked: list[Any] = []

    def answer(route: Any) -> None:
        asked.append(route.request.post_data_json)
        is_started = {"name": "Anna", "change": "start"} in asked
        is_ready = is_started and asked[-1]["change"] != "start"
        report = {"habits": habits, "records": [id, id]} if is_ready else None
        status = "ready" if is_ready else "running" if is_started else "none"
        route.fulfill(json={"status": status, "message": "played out", "done": 1, "total": 2,
                            "seconds": 1, "report": report})  # fmt: skip

    def offers(route: Any) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "players": ["Anna"]})

    page.route("**/api/habits", answer)
    page.route("**/api/offers*", offers)
    page.goto(server.home)
    page.wait_for_selector("#habits-ask")
    page.click("#habits-ask")
    tab.until("document.querySelectorAll('#habit-list li').length === 2")
    text = page.inner_text("#habit-list")
    assert "Federation: 9.0 VP a game (4.0 to 14.0), 1 mistake in 3 moves." in text
    assert "pass loses 9.0 VP (4.0 to 14.0) compared with research: AI." in text
    assert "ahead in round tiles (6.5 VP)" in text and "boosters" not in text
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#habit-list a")
    tab.until(f"game && game.node === {node} && game.explained")
