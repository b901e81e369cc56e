"""The pages of reviews and advice in other languages: no text left out, longer ones fit, axe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gaia_jax.language import LANGUAGES, in_language
from gaia_jax.render.names import names
from gaia_jax.replay import page as replay_page
from gaia_jax.ruleset import RULESETS
from tests import measures
from tests.browser import Watched
from tests.languages import left_out, longer, marked, use_pseudo
from tests.render.reports import advice_page, review_of_beginning
from training.analysis import report_texts, review_report
from training.analysis.review import Review

pytestmark = pytest.mark.slow
LINKS = review_report.PageLinks("https://table.test/#g", {}, seat=2)
PAGES = ("review", "advice")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Review:
    return review_of_beginning(tmp_path_factory.mktemp("game"))


@pytest.fixture
def write(reviewed: Review, tmp_path: Path) -> Callable[[str, str], str]:
    """Write a page in a language as a server makes it; its address."""

    def write(name: str, code: str) -> str:
        path = tmp_path / f"{name}.{code}.html"
        with in_language(code):
            if name == "review":
                report = review_report.build_report(reviewed)
                text = review_report.report_page(reviewed.game, report, LINKS)
            else:
                text = advice_page(is_served=True)
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    return write


def opened(page: Any, name: str, address: str) -> None:
    """A page with all of its parts in view."""
    page.goto(address)
    if name == "review":
        page.wait_for_selector("body[data-ready]")
        page.click("#reveal")
    page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")


@pytest.mark.parametrize("name", PAGES)
def test_every_text_is_in_a_catalogue(name, write, browser, monkeypatch):
    tab = Watched(browser, 1280)
    opened(tab.page, name, write(name, use_pseudo(monkeypatch, marked, replay_page, report_texts)))
    rules = RULESETS["lost_fleet"]
    assert not left_out(tab.page, [*names(rules)["faction"].values(), *rules.ids["booster"]])
    tab.check("file://")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("size", measures.SIZES)
def test_texts_that_are_longer_by_two_fifths_fit(name, size, write, browser, monkeypatch):
    address = write(name, use_pseudo(monkeypatch, longer, replay_page, report_texts))
    with measures.page_of(browser, size) as (tab, touched):
        opened(tab.page, name, address)
        problems = measures.looked_at(tab.page, touched)
        # The strip of the costliest moves scrolls sideways; its buttons have no id.
        out = [text for text in problems["out"] if not text.startswith("BUTTON  ")]
        assert not problems["over"] and not out, problems


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("code", LANGUAGES)
def test_axe_finds_nothing_serious(name, code, write, browser):
    tab = Watched(browser, 1280)
    opened(tab.page, name, write(name, code))
    assert tab.page.evaluate("document.documentElement.lang") == code
    others = tab.page.locator("nav a")
    assert others.count() == 2 and others.first.get_attribute("href").startswith("?lang=")
    assert measures.serious(tab.page) == []
    tab.check("file://")
