"""The page of advice: in a real browser from a file, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import gaia_jax
from tests.browser import Watched
from training.analysis import advice, advice_report

LEAST = 24  # pixels of what is pressed


def _page() -> str:
    """The page of invented games, with all of its parts and its longest names."""
    env, rng = gaia_jax.make("lost_fleet"), np.random.default_rng(0)
    setup = env.draw_setup(jax.random.key(0))
    boards = advice.boards_of(env, setup)
    faction = advice.design(boards, 8)
    vp = rng.integers(60, 180, faction.shape)
    sources = rng.integers(0, 20, (*faction.shape, len(env.ruleset.ids["vp_source"])))
    kinds = ["mine", "project", "piece TS", "advance terraforming", "power PA_7C", "pass"]
    played = advice.PlayedGames(
        faction, vp, sources, rng.integers(0, 7, faction.shape),
        rng.integers(0, len(kinds), (*faction.shape, advice.OPENING_LENGTH)), kinds,
    )  # fmt: skip
    about = {"agent": "zoo/strong", "from": "seed 0", "wanted": len(faction)}
    return advice_report.report_page(advice_report.build_report(env, setup, played, boards, about))


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_read_by_the_keyboard(width: int, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "advice.html"
    path.write_text(_page(), encoding="utf-8")
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
