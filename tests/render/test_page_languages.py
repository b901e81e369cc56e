"""The replay page in other languages, in a browser: no text is left out, longer ones fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gaia_jax import replay
from gaia_jax.language import in_language
from gaia_jax.replay import page as replay_page
from gaia_jax.replay.record import Record, states
from tests import measures
from tests.browser import Watched
from tests.languages import left_out, longer, marked, use_pseudo
from tests.render.records import RECORDS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def played() -> tuple[Record, list[Any]]:
    record = replay.read(RECORDS["lost_fleet"])
    return record, list(states(record))


@pytest.fixture
def write(played: tuple[Record, list[Any]], tmp_path: Path) -> Callable[[str], str]:
    """Write the page in a language; its address."""

    def write(code: str) -> str:
        record, all_states = played
        path = tmp_path / f"{code}.html"
        with in_language(code):
            path.write_text(replay_page.page(record, played=all_states), encoding="utf-8")
        return path.as_uri()

    return write


def opened(page: Any, address: str) -> None:
    """The page at the end of the game."""
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("End")


def test_every_text_of_the_page_is_in_a_catalogue(write, browser, monkeypatch):
    tab = Watched(browser, 1280)
    opened(tab.page, write(use_pseudo(monkeypatch, marked, replay_page)))
    assert not left_out(tab.page, tab.page.evaluate("game.seats.map((seat) => seat.name)"))
    tab.check("file://")


@pytest.mark.parametrize("size", measures.SIZES)
def test_texts_that_are_longer_by_two_fifths_fit(write, browser, monkeypatch, size):
    address = write(use_pseudo(monkeypatch, longer, replay_page))
    with measures.page_of(browser, size) as (tab, touched):
        page = tab.page
        opened(page, address)
        for name in measures.tabs(page):
            measures.press_tab(page, name)
            problems = measures.looked_at(page, touched)
            assert not problems["over"] and not problems["out"], (name, problems)


@pytest.mark.parametrize(("code", "words"), [("ko", "광산"), ("de", "Handelszentrum")])
def test_the_page_is_in_its_language(write, browser, code, words):
    tab = Watched(browser, 1280)
    opened(tab.page, write(code))
    assert tab.page.evaluate("document.documentElement.lang") == code
    assert words in tab.page.text_content("#moves")
    tab.check("file://")
