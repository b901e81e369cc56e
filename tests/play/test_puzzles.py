"""The page of the puzzles in a browser: it asks, explains the answer, keeps the score."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from tests.browser import Watched
from tests.play.server import Server
from training.analysis import puzzles
from training.play.puzzle_book import PuzzleBook

READY = "document.body.dataset.ready === '{}'"
INSIDE = """() => {
  const [list, row] = ["#line", "#line .now"].map(
    (where) => document.querySelector(where).getBoundingClientRect());
  return list.height < 400 && row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
}"""
# Levels of the research board whose discs cover their text or stick out.
COVERED = """() => [...document.querySelectorAll("#block-research .level")].filter((level) => {
  const box = level.getBoundingClientRect();
  const text = level.children[1].getBoundingClientRect();
  return [...level.querySelectorAll(".disc")].some((disc) => {
    const { top, bottom } = disc.getBoundingClientRect();
    return top < text.bottom - 1 || bottom > box.bottom + 1;
  });
}).map((level) => level.textContent)"""


BOOK = PuzzleBook()


def answer_of(number: int, right: bool) -> int:
    """The key, from 1, of the answer of a shipped puzzle, or a wrong choice, by the file."""
    one = puzzles.read(puzzles.SHIPPED)["puzzles"][number]
    answer = (one | one.get("held", {}))["answer"]["action"]
    known = sorted(choice["action"] for choice in one["candidates"])
    return 1 + next(n for n, action in enumerate(known) if (action == answer) == right)


def nearest(number: int) -> dict[str, Any]:
    """The nearest legal move beside the choices of a shipped puzzle, as the page has it."""
    return BOOK.answered(number, {"action": BOOK.asked(number)["choices"][0]["action"]})["rival"]


def names_cell(action: Any) -> bool:
    """Whether a move is at a cell."""
    return "," in action["text"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_puzzle_is_answered_by_the_keyboard(tab: Watched, server: Server, width: int) -> None:
    page = tab.page
    page.goto(f"{server.home}puzzles#2")
    tab.until(READY.format(2), 120)
    assert page.locator("#choices button").count() > 1
    theme = BOOK.themes()[1]
    asks = page.locator("#asks").inner_text()
    assert theme not in asks  # it would say what the answer is
    assert asks.startswith("Puzzle 2, round ") and "Below: " in asks and "legal moves" in asks
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#choices button").first.focus()
    page.keyboard.press(str(answer_of(1, right=True)))
    tab.until("!document.getElementById('told').hidden")
    verdict = page.locator("#verdict").inner_text()
    assert verdict.startswith("Right. ") and "VP more" in verdict and "second best" in verdict
    assert f"theme: {theme}" in verdict
    assert page.locator("#choices .answer").count() == 1
    assert "solved 1 of 1 tried" in page.locator("#score").inner_text()
    assert page.locator("#number option").nth(2).inner_text() == "2: right"
    page.keyboard.press("ArrowRight")
    assert page.locator("#place").inner_text().startswith("1 / ")
    scrolled = page.evaluate("scrollY")
    for _ in range(page.locator("#line li").count()):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(INSIDE) and page.evaluate("scrollY") == scrolled
    first = page.locator("#first").inner_text()
    assert first.startswith("Only in the first line: ")
    ends = page.locator("#line li", has_text="the end: ").all_inner_texts()
    heads = page.locator("#line .head").all_inner_texts()
    assert len(ends) == len(heads) == 2, "both lines are whole games"
    for end, head in zip(ends, heads, strict=True):
        assert f"have {head.rsplit(': ')[-1].removesuffix(' at the end')}" in end
    how, rival = page.locator("#how").inner_text(), nearest(1)
    assert "The answer is ahead of all in " in how
    assert f"Of the {rival['moves']} other legal moves the most promising" in how
    assert f"the nearest, {rival['words']}, was {rival['less']:.1f} VP behind." in how
    assert "undefined" not in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    button = page.locator("#candidates button[aria-pressed='false']").first
    wanted, before = button.inner_text(), page.locator("#table").inner_html()
    page.locator("#line li").first.click()
    position = page.locator("#table").inner_html()
    assert position != before, "the last step is another position than the first"
    page.locator("#line li").last.click()
    button.focus()
    page.keyboard.press("Enter")
    tab.until("document.activeElement.ariaPressed === 'true'")
    assert page.locator("#candidates [aria-pressed='true']").inner_text() == wanted
    second = page.locator("#line .head").nth(1).inner_text()
    assert second.startswith(f"The position, and then {wanted}")
    assert page.locator("#verdict").inner_text() == verdict, "the answer is as it was"
    why = page.locator("#why").inner_text()
    assert why.startswith(f"Why: beside {wanted} the answer brings ")
    assert "Behind each near move" in page.locator("#how").inner_text()
    assert page.locator("#place").inner_text().startswith("0 / ")
    page.locator("#next").focus()
    assert page.locator("#table").inner_html() == position, "nothing is left of the other line"
    page.keyboard.press("n")
    tab.until(READY.format(3), 120)
    assert not page.locator("#told").is_visible()
    page.reload()
    tab.until(READY.format(3), 120)
    assert "of 1 tried" in page.locator("#score").inner_text()


def test_a_wrong_answer_may_be_followed_by_a_second_one(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.home}puzzles#1")
    tab.until(READY.format(1), 120)
    wrong = answer_of(0, right=False)
    tried = page.locator("#choices button").nth(wrong - 1).get_attribute("data-action")
    page.keyboard.press(str(wrong))
    tab.until("told")
    verdict = page.locator("#verdict").inner_text()
    assert verdict.startswith("Not this one, it has ") and "Try once more" in verdict
    assert page.locator("#reveal").is_visible() and not page.locator("#told").is_visible()
    assert page.locator("#choices button:disabled").count() == 1
    assert page.locator("#choices .answer").count() == 0, "the answer is not shown yet"
    table = page.locator("#table").inner_html()
    page.keyboard.press("ArrowRight")
    assert page.locator("#table").inner_html() == table, "no step of it either"
    assert page.locator("#number option").nth(1).inner_text() == "1: wrong"
    page.keyboard.press(str(answer_of(0, right=True)))
    tab.until("!document.getElementById('told').hidden")
    assert page.locator("#verdict").inner_text().startswith("Right. ")
    shown = page.locator("#candidates [aria-pressed='true']")
    assert shown.get_attribute("data-action") == tried, "the line of the wrong one stands beside"
    said = page.locator("#score").inner_text()
    assert "solved 0 of 1 tried, 1 more at a second try" in said
    page.reload()
    tab.until(READY.format(1), 120)
    assert "You have tried it: right at a second try." in page.locator("#asks").inner_text()


def test_who_answers_at_once_is_told_what_is_waited_for(tab: Watched, server: Server) -> None:
    """A second key is no second answer, and the next puzzle hears nothing of it."""
    page = tab.page
    page.goto(f"{server.home}puzzles#1")
    tab.until(READY.format(1), 120)
    tab.hold("/api/puzzles/0")
    page.keyboard.press("1")
    tab.until("document.getElementById('verdict').textContent.startsWith('The lines are played')")
    page.keyboard.press("2")
    page.keyboard.press("n")
    tab.until(READY.format(2), 120)
    assert page.locator("#verdict").inner_text() == ""
    page.keyboard.press("1")
    tab.until("told")
    verdict = page.locator("#verdict").inner_text()
    assert tab.held() == 1
    tab.release()
    page.wait_for_timeout(1500)
    assert page.locator("#verdict").inner_text() == verdict, "it is of puzzle 2"


def test_a_puzzle_that_comes_late_shows_nothing(tab: Watched, server: Server) -> None:
    """And the next one is the one after it, though it was never seen."""
    page = tab.page
    page.goto(f"{server.home}puzzles#1")
    tab.until(READY.format(1), 120)
    tab.hold("/api/puzzles/1")
    page.keyboard.press("n")
    tab.until("document.getElementById('asks').textContent.startsWith('The game is played')")
    page.keyboard.press("n")
    tab.until(READY.format(3), 120)
    asks = page.locator("#asks").inner_text()
    page.wait_for_timeout(2500)
    assert asks.startswith("Puzzle 3, ") and page.locator("#asks").inner_text() == asks
    assert tab.held() == 1
    tab.release()
    page.wait_for_timeout(1500)
    assert page.locator("#asks").inner_text() == asks


def test_a_number_that_no_puzzle_has_is_said(tab: Watched, server: Server) -> None:
    page = tab.page
    count = len(BOOK.themes())
    for wrong in ("0", str(count + 1), "abc"):
        page.goto("about:blank")
        page.goto(f"{server.home}puzzles#{wrong}")
        tab.until("document.getElementById('asks').textContent.startsWith('There is')")
        said = page.locator("#asks").inner_text()
        assert said == f"There is no puzzle {wrong}: they are 1 to {count}."
    assert page.get_attribute("#game", "href") is None
    assert page.locator("#theme option").first.inner_text() == f"any ({count})"


def test_a_level_has_its_own_puzzles(tab: Watched, server: Server) -> None:
    """Who misses a puzzle is known of the shipped ones: the network itself, or a weaker agent."""
    found = puzzles.read(puzzles.SHIPPED)["puzzles"]
    easier = [n for n, one in enumerate(found) if "beats" in one]
    page = tab.page
    page.goto(f"{server.home}puzzles#1")
    tab.until(READY.format(1), 120)
    told = page.locator("#level option").all_inner_texts()
    hard = len(found) - len(easier)
    assert told == [f"any ({len(found)})", f"expert ({hard})", f"regular ({len(easier)})"]
    page.select_option("#level", "regular")
    tab.until(READY.format(easier[0] + 1), 120)
    page.keyboard.press(str(answer_of(easier[0], right=False)))
    tab.until("told")
    assert page.locator("#reveal").is_visible()
    pairs = {(one["theme"], "regular" if "beats" in one else "expert") for one in found}
    theme, level = next(
        (one["theme"], level) for level in ("regular", "expert") for one in found
        if (one["theme"], level) not in pairs
    )  # fmt: skip
    page.select_option("#theme", theme)
    page.select_option("#level", level)
    said = "There is no puzzle of this theme and level."
    tab.until(f"document.getElementById('asks').textContent === '{said}'")
    assert page.locator("#choices button").count() == 0, "nothing is left to answer"
    assert not page.locator("#reveal").is_visible()
    page.select_option("#number", index=easier[0] + 1)  # the first one is empty
    tab.until("document.querySelector('#choices button')", 120)
    page.keyboard.press(str(answer_of(easier[0], right=True)))
    tab.until("!document.getElementById('told').hidden")
    verdict = page.locator("#verdict").inner_text()
    assert f", which {found[easier[0]]['beats']} would play" in verdict


def test_a_choice_rings_its_cell(tab: Watched, server: Server) -> None:
    found = puzzles.read(puzzles.SHIPPED)["puzzles"]
    number = next(n for n, one in enumerate(found) if any(map(names_cell, one["candidates"])))
    page, choices = tab.page, BOOK.asked(number)["choices"]
    page.goto(f"{server.home}puzzles#{number + 1}")
    tab.until(READY.format(number + 1), 120)
    assert (
        page.locator("#choices .brings").count() == sum(bool(one["brings"]) for one in choices) > 0
    )
    texts = [one["text"] for one in choices if names_cell(one) or one["text"].startswith("explore")]
    places = {text.split()[1] for text in texts}
    assert page.locator(".mark").count() == len(places), "their numbers stand on the map"
    button = page.locator("#choices button").nth(list(map(names_cell, choices)).index(True))
    button.focus()
    assert page.locator(".over-look.ring").count() == 1
    page.locator("#next").focus()
    assert page.locator(".over-look").count() == 0
    button.hover()
    assert page.locator(".over-look.ring").count() == 1


def test_the_whole_table_is_in_view_with_the_question(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.home}puzzles#8")
    tab.until(READY.format(8), 120)
    boards = page.locator(".deck.play .seat-board.open")
    assert boards.count() == 3, "what the others have lies open beside the research board"
    assert boards.first.is_visible()
    for block in ("research", "actions", "boosters", "tokens"):
        assert page.locator(f"#block-{block}").is_visible(), f"{block}: no tab hides it"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator(".level:has(.disc:nth-last-child(4))").count(), "one level has all four"
    assert page.evaluate(COVERED) == [], "discs lie below the text of their level"
    page.set_viewport_size({"width": 390, "height": 844})
    page.click('.tabs button[data-tab="Players"]')
    tab.until("!document.querySelector('.deck.play .seat-board.open')")
    assert page.locator(".deck.play .seat-board").first.is_visible()
    page.click('.tabs button[data-tab="Research"]')
    assert page.evaluate(COVERED) == []


def test_the_start_form_leads_there(tab: Watched, server: Server) -> None:
    tab.page.goto(server.home)
    tab.page.click("a[href='/puzzles']")
    tab.until(READY.format(1), 120)


def test_the_puzzles_lead_back_to_the_game(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.home}puzzles")
    tab.until(READY.format(1), 120)
    assert page.is_hidden("#game"), "no game was seen yet"
    game = server.new_game(ruleset="base", seats=["you"] * 4, seed=3)
    page.goto(f"{server.home}#{game}")
    page.wait_for_selector("#layout", state="visible")
    page.goto(f"{server.home}puzzles")
    page.click("#game")
    page.wait_for_selector("#layout", state="visible")
    assert page.evaluate("location.hash") == f"#{game}"


def test_a_browser_that_keeps_nothing_plays(tab: Watched, server: Server) -> None:
    page = tab.page
    blocked = "{ get() { throw new DOMException('blocked', 'SecurityError'); } }"
    page.add_init_script(f"Object.defineProperty(window, 'sessionStorage', {blocked})")
    game = server.new_game(ruleset="base", seats=["you"] * 4, seed=3)
    page.goto(f"{server.home}#{game}")
    page.wait_for_selector("#layout", state="visible")
    page.goto(f"{server.home}puzzles")
    tab.until(READY.format(1), 120)
    assert page.is_hidden("#game")
