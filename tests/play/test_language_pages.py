"""The table in other languages, in a browser: no text is left out, longer ones fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import measures
from tests.browser import Watched
from tests.languages import left_out
from tests.play.server import Server
from tests.render.records import RECORDS
from training.analysis import puzzles

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pseudo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the pseudo-languages."""
    folder = tmp_path_factory.mktemp("pseudo")
    record = ("--record", str(RECORDS["lost_fleet"]))
    running = Server(folder, *record, module="tests.play.pseudo_server")
    yield running
    running.end()


def enter(page: Any, server: Server, code: str) -> None:
    """A recorded game in a language, at its end."""
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    page.goto(f"{server.home}?lang={code}#{game}")
    page.wait_for_selector("#asks:not(:empty)")


def unmarked(page: Any) -> set[str]:
    """The texts that are in no catalogue."""
    names = "offers.rulesets.flatMap(({ factions }) => factions.map(({ name }) => name))"
    return left_out(page, page.evaluate(names))


def test_every_text_of_the_form_is_in_a_catalogue(pseudo: Server, browser: Any) -> None:
    tab = Watched(browser, 1280)
    tab.page.goto(f"{pseudo.home}?lang=marked#seed=5&ruleset=lost_fleet")
    tab.page.wait_for_selector("#preview svg")
    assert not unmarked(tab.page)
    tab.check(pseudo.home)


def test_every_text_of_the_table_is_in_a_catalogue(pseudo: Server, browser: Any) -> None:
    tab = Watched(browser, 1280)
    enter(tab.page, pseudo, "marked")
    for place in ("-1e6", "60", "1e6"):
        tab.page.evaluate(f"along({place})")
        tab.until("!busy")
        for name in measures.tabs(tab.page):
            measures.press_tab(tab.page, name)
        assert not unmarked(tab.page), place
    tab.check(pseudo.home)


@pytest.mark.parametrize("size", measures.SIZES)
def test_texts_that_are_longer_by_two_fifths_fit(pseudo: Server, browser: Any, size: Any) -> None:
    with measures.page_of(browser, size) as (tab, touched):
        page = tab.page
        page.goto(f"{pseudo.home}?lang=longer#seed=5&ruleset=lost_fleet")
        page.wait_for_selector("#preview svg")
        problems = measures.looked_at(page, touched)
        assert not problems["over"] and not problems["out"], ("form", problems)
        enter(page, pseudo, "longer")
        for name in measures.tabs(page):
            measures.press_tab(page, name)
            problems = measures.looked_at(page, touched)
            assert not problems["over"] and not problems["out"], (name, problems)


@pytest.mark.parametrize(("code", "mine"), [("ko", "광산"), ("de", "Mine")])
def test_two_browsers_at_one_table_in_two_languages(pseudo, browser, code, mine):
    other, english = Watched(browser, 1280), Watched(browser, 1280)
    enter(other.page, pseudo, code)
    address = other.page.evaluate("location.hash")
    english.page.goto(f"{pseudo.home}{address}")
    english.page.wait_for_selector("#asks:not(:empty)")
    assert mine in other.page.inner_text("#moves")
    assert "mine on" in english.page.inner_text("#moves")
    other.page.reload()  # the cookie keeps the language
    other.page.wait_for_selector("#asks:not(:empty)")
    assert other.page.evaluate("document.documentElement.lang") == code


def solve(page: Any, server: Server, code: str, number: int = 1) -> None:
    """A puzzle in a language, and its explanation."""
    page.set_default_timeout(120_000)
    page.goto("about:blank")
    page.goto(f"{server.home}puzzles?lang={code}#{number}")
    page.wait_for_selector("body[data-ready]")
    page.locator("#choices button").first.click()
    page.wait_for_selector("#reveal:visible, #explanation:visible")
    if page.is_visible("#reveal"):
        page.click("#reveal")
    page.wait_for_selector("#explanation:visible")


def test_every_text_of_the_puzzles_is_in_a_catalogue(pseudo: Server, browser: Any) -> None:
    """Of the first one of each goal."""
    tab = Watched(browser, 1280)
    goals = [puzzle["goal"] for puzzle in puzzles.read(puzzles.SHIPPED)["puzzles"]]
    for goal in set(goals):
        solve(tab.page, pseudo, "marked", 1 + goals.index(goal))
        names = tab.page.evaluate("puzzle.seats.map((seat) => seat.name)")
        assert not left_out(tab.page, names), goal
    tab.check(pseudo.home)


@pytest.mark.parametrize("size", measures.SIZES)
def test_puzzles_whose_texts_are_longer_fit(pseudo: Server, browser: Any, size: Any) -> None:
    with measures.page_of(browser, size) as (tab, touched):
        solve(tab.page, pseudo, "longer")
        problems = measures.looked_at(tab.page, touched)
        assert not problems["over"] and not problems["out"], problems


def test_the_puzzles_follow_the_switch_of_the_language(server: Server, browser: Any) -> None:
    tab = Watched(browser, 1280)
    for code, words in (
        ("en", "Best (theme: "),
        ("ko", "최선 (주제: "),
        ("de", "Am besten (Thema: "),
    ):
        solve(tab.page, server, code)
        assert words in tab.page.inner_text("#verdict")
        assert measures.serious(tab.page) == [], code
    tab.page.goto(f"{server.home}puzzles?lang=de#1")
    tab.page.select_option("select.language", "ko")
    tab.page.wait_for_selector("html[lang='ko'] body[data-ready]")
    assert "lang=" not in tab.page.url and tab.page.url.endswith("#1")
    tab.check(server.home)
