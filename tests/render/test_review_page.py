"""The page of a review: in a real browser from a file, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import measures
from tests.browser import Watched
from tests.render.reports import FIRST, review_of_beginning
from training.analysis import review, review_report
from training.analysis.recorded_game import Game

LARGEST = 2_000_000  # bytes


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Game, dict[str, Any]]:
    """The beginning of a recorded game, and a report of it."""
    folder = tmp_path_factory.mktemp("game")
    game_review = review_of_beginning(folder)
    report = review_report.build_report(game_review)
    return game_review.game, {"record": str(folder)} | report


def test_judged_moves_are_placements_boosters_and_actions(
    reviewed: tuple[Game, dict[str, Any]],
) -> None:
    game, about = reviewed
    verbs = {m["played"]["text"].split()[0] for m in about["moves"]}
    assert {"mine", "booster"} <= verbs and not verbs & {"free", "leech", "end_turn", "income"}
    assert sum(m["round"] == 0 for m in about["moves"]) >= 12
    assert all(m["decision"] <= FIRST for m in about["moves"])
    assert [m["decision"] for m in about["moves"]] == [a + 1 for a in review.judged_positions(game)]


def test_the_text_has_seats_and_costliest_moves(reviewed: tuple[Game, dict[str, Any]]) -> None:
    _, about = reviewed
    text = review_report.report_text(about)
    assert text.startswith(f"{about['judged']} of {about['asked']} main moves of {FIRST}")
    costs = [m["loss"]["shrunk"] for m in about["moves"]]
    assert len(about["costliest"]) == 5 and max(costs) in [
        m["loss"]["shrunk"] for m in about["moves"] if m["decision"] == about["costliest"][0]
    ]
    for seat in about["seats"]:
        assert seat["name"] in text and 0 <= seat["accuracy"] <= 100
    assert text.count("  better: ") == 5 and "%" in text
    assert "choose " not in text, "words name what is on a place"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_better_line_is_clicked_through(
    reviewed: tuple[Game, dict[str, Any]], width: int, browser: Any, tmp_path: Path
) -> None:
    game, about = reviewed
    path = tmp_path / "review.html"
    positions = {m["decision"]: f"https://table.test/#g@{m['decision']}" for m in about["moves"]}
    links = review_report.PageLinks("https://table.test/#g", positions, seat=2)
    path.write_text(review_report.report_page(game, about, links), encoding="utf-8")
    assert path.stat().st_size < LARGEST and review_report.is_own_page(path)
    tab = Watched(browser, width)
    show = tab.page
    show.goto(path.as_uri())
    show.wait_for_selector("body[data-ready]")
    seat = about["seats"][2]
    own = [next(m for m in about["moves"] if m["decision"] == n) for n in seat["costliest"]]
    shown = show.locator("#costly button:visible")
    assert shown.count() == len(own) > 1 and all(m["player"] == 2 for m in own), "mine first"
    assert seat["name"] in show.inner_text("#costly")
    stage, steps = (show.locator(name).bounding_box() for name in (".stage", "#shown"))
    assert stage["y"] < 120 and steps["y"] + steps["height"] < 900, "both on the first screen"
    assert stage["width"] >= 0.55 * width, "as large as at the table"
    assert show.get_attribute("#again", "href") == positions[own[0]["decision"]]
    assert own[0]["better"]["words"] not in show.inner_text("#table"), "one tries again first"
    show.select_option("#filter", label="all players")
    assert shown.count() == 5
    assert show.evaluate("document.documentElement.scrollWidth") <= width
    assert show.text_content("#place") == "0 / 5"
    assert "Which move is better?" in show.inner_text("#step")

    def table() -> list[str]:
        return [show.inner_html(part) for part in (".head", ".stage", ".own")]

    before = table()
    show.keyboard.press("ArrowRight")
    assert show.text_content("#place") == "1 / 5" and table() != before
    show.locator("#line li").nth(4).click()
    assert show.text_content("#place") == "4 / 5"
    show.click("#played")
    words = next(m for m in about["moves"] if m["decision"] == about["costliest"][0])
    assert show.text_content("#step") == f"Played: {words['played']['words']}"
    show.keyboard.press("p")
    assert table() == before
    show.keyboard.press("3")
    assert shown.nth(2).get_attribute("aria-pressed") == "true"
    measures.press_tab(show, "Result")
    assert show.evaluate("(x => x.scrollWidth <= x.clientWidth)(document.querySelector('.seats'))")
    assert show.locator(".graph svg").count() == 2
    show.click("summary")
    assert show.locator("details tr").count() == len(about["moves"]) + 1
    assert show.evaluate("document.documentElement.scrollWidth") <= width
    tab.check("file://")
    assert len(tab.requests) == 1


def test_the_graphs_are_dark_in_the_dark_theme(
    reviewed: tuple[Game, dict[str, Any]], browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "review.html"
    path.write_text(review_report.report_page(*reviewed), encoding="utf-8")
    tab = Watched(browser, 1280, color_scheme="dark")
    tab.page.goto(path.as_uri())
    tab.page.wait_for_selector("body[data-ready]")
    measures.press_tab(tab.page, "Result")
    assert tab.page.locator(".graph svg").first.is_visible()
    assert measures.bright(tab.page) == []
    tab.page.close()
    tab.check("file://")
