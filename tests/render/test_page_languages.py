"""The replay page in other languages, in a browser: no text is left out, longer ones fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gaia_jax import replay
from gaia_jax.language import in_language
from gaia_jax.replay import page as replay_page
from gaia_jax.replay.record import Record, states
from tests.browser import Watched
from tests.languages import CLIPPED, OVERFLOW, UNMARKED, longer, marked, use_pseudo
from tests.render.records import RECORDS

pytestmark = pytest.mark.slow
SIZES = [(390, 844), (844, 390), (1280, 800), (1920, 1080), (2560, 1440)]


@pytest.fixture(scope="module")
def played() -> tuple[Record, list[Any]]:
    record = replay.read(RECORDS["lost_fleet"])
    return record, list(states(record))


@pytest.fixture
def open_page(
    played: tuple[Record, list[Any]], tmp_path: Path, browser: Any
) -> Iterator[Callable[..., Watched]]:
    record, all_states = played

    def open_page(code: str, width: int = 1280, height: int = 800) -> Watched:
        path = tmp_path / f"{code}.html"
        if not path.exists():
            with in_language(code):
                path.write_text(replay_page.page(record, played=all_states), encoding="utf-8")
        tab = Watched(browser, width, height)
        tab.page.goto(path.as_uri())
        tab.page.wait_for_selector("body[data-ready]")
        return tab

    yield open_page


def test_every_text_of_the_page_is_in_a_catalogue(open_page, monkeypatch):
    tab = open_page(use_pseudo(monkeypatch, marked, replay_page))
    tab.page.keyboard.press("End")
    for name in ("Charts", "Help", "Moves"):
        tab.page.click(f".tabs [data-tab='{name}']")
    factions = {seat["name"] for seat in tab.page.evaluate("game.seats")}
    ships = {"A", "B"}
    rest = [text for text in tab.page.evaluate(UNMARKED) if text not in factions | ships]
    assert not rest
    tab.check("file://")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_texts_that_are_longer_by_two_fifths_fit(open_page, monkeypatch, width, height):
    tab = open_page(use_pseudo(monkeypatch, longer, replay_page), width, height)
    tab.page.keyboard.press("End")
    for name in ("Charts", "Help", "Moves"):
        if tab.page.is_visible(f".tabs [data-tab='{name}']"):
            tab.page.click(f".tabs [data-tab='{name}']")
            assert tab.page.evaluate(OVERFLOW) <= 0
            assert not tab.page.evaluate(CLIPPED)


@pytest.mark.parametrize(("code", "words"), [("ko", "광산"), ("de", "Handelszentrum")])
def test_the_page_is_in_its_language(open_page, code, words):
    tab = open_page(code)
    tab.page.keyboard.press("End")
    assert tab.page.evaluate("document.documentElement.lang") == code
    assert words in tab.page.text_content("#moves")
    tab.check("file://")
