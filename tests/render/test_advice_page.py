"""The page of advice: in a real browser from a file, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import measures
from tests.browser import Watched
from tests.render.reports import advice_page

LEAST = 24  # pixels of what is pressed


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_read_by_the_keyboard(width: int, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "advice.html"
    path.write_text(advice_page(), encoding="utf-8")
    tab = Watched(browser, width)
    show = tab.page
    show.goto(path.as_uri())
    assert show.evaluate("document.documentElement.scrollWidth") <= width
    assert show.locator("details").count() == 18 + 3  # the factions and what is dealt
    for _ in range(80):
        show.keyboard.press("Tab")
        if show.evaluate("document.activeElement.matches('details:not([open]) summary')"):
            assert show.evaluate("document.activeElement.getBoundingClientRect().height") >= LEAST
            show.keyboard.press("Enter")
    assert show.locator("details[open]").count() == 21
    fits = "[...document.querySelectorAll('.wide')].every(x => x.scrollWidth <= x.clientWidth)"
    assert show.evaluate(fits), "a table is cut"
    rounds = show.locator("details").first.locator("li")
    assert rounds.count() == 6 and "VP per" in rounds.first.inner_text()
    assert show.evaluate("document.documentElement.scrollWidth") <= width
    tab.check("file://")
    assert len(tab.requests) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_theme(scheme: Any, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "advice.html"
    path.write_text(advice_page(), encoding="utf-8")
    tab = Watched(browser, 1280, color_scheme=scheme)
    tab.page.goto(path.as_uri())
    assert measures.serious(tab.page) == []
    assert bool(measures.bright(tab.page)) == (scheme == "light")
    tab.page.close()
    tab.check("file://")
