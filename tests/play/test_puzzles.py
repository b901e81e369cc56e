"""The page of the puzzles in a browser: it asks, explains the answer, keeps the score."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from tests.browser import Watched
from tests.play.server import Server
from training.analysis import puzzles
from training.analysis.puzzles import LEVELS, find_level

READY = "document.body.dataset.ready === '{}'"
EXPLAINED = "!document.getElementById('explanation').hidden"
PUZZLES: list[Any] = puzzles.read(puzzles.SHIPPED)["puzzles"]
GOALS = [puzzle["goal"] for puzzle in PUZZLES]
FOR_VP = GOALS.index("vp")
FOR_GOAL = next(number for number, goal in enumerate(GOALS) if goal != "vp")


def answer_of(number: int, right: bool) -> int:
    """The key, from 1, of the answer of a shipped puzzle, or of a wrong choice."""
    puzzle = PUZZLES[number]
    actions = sorted(choice["action"] for choice in puzzle["candidates"])
    return 1 + next(n for n, action in enumerate(actions) if (action == puzzle["answer"]) == right)


def opened(tab: Watched, server: Server, number: int) -> None:
    """Wait for a puzzle of the page, from 1."""
    tab.page.goto(f"{server.home}puzzles#{number}")
    tab.until(READY.format(number), 120)


def picture(page: Any) -> list[str]:
    """The map and the texts of the panels, without the cells that are empty."""
    texts = "all => all.map((part) => part.textContent)"
    cells = page.locator("#table .stage").inner_html()
    panels = page.locator("#table div[id^='part-']").evaluate_all(texts)
    return [re.sub('<g id="part-[^"]*"></g>', "", cells), *panels]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_puzzle_is_answered_by_the_keyboard(tab: Watched, server: Server, width: int) -> None:
    page = tab.page
    puzzle = PUZZLES[FOR_VP]
    opened(tab, server, FOR_VP + 1)
    assert page.locator("#choices button").count() == len(puzzle["candidates"])
    assert f" of {puzzle['moves']} possible first moves" in page.locator("#asks").inner_text()
    page.locator("#choices button").first.focus()
    page.keyboard.press(str(answer_of(FOR_VP, right=True)))
    tab.until(EXPLAINED)
    verdict = page.locator("#verdict").inner_text()
    best, second, *_ = values = [candidate["value"] for candidate in puzzle["candidates"]]
    assert verdict.startswith("Right. ") and f": {best} VP at the end" in verdict
    assert f" at least {best - second} VP less." in page.locator("#why").inner_text()
    assert page.locator("#choices .answer").count() == 1
    cells = page.locator("#candidates td:last-child").all_inner_texts()
    assert cells == [str(value) for value in values]
    assert "solved 1 of 1 tried" in page.locator("#score").inner_text()
    assert page.locator("#number option").nth(FOR_VP + 1).inner_text() == f"{FOR_VP + 1}: right"
    page.keyboard.press("ArrowRight")
    assert page.locator("#place").inner_text().startswith("1 / ")
    is_item = "all => all.every((row) => getComputedStyle(row).display === 'list-item')"
    assert page.locator("#line li").evaluate_all(is_item), "the numbers are those of the steps"
    for _ in range(page.locator("#line li").count()):
        page.keyboard.press("ArrowRight")
    button = page.locator("#candidates button[aria-pressed='false']").first
    words, after = button.inner_text(), picture(page)
    page.locator("#line li").first.click()
    position = picture(page)
    assert position != after, "the last step is another position than the first"
    page.locator("#line li").last.click()
    button.focus()
    page.keyboard.press("Enter")
    tab.until("document.activeElement.ariaPressed === 'true'")
    assert page.locator("#candidates [aria-pressed='true']").inner_text() == words
    assert words in page.locator("#line .start").nth(1).inner_text()
    assert "Difference between the two lines" in page.locator("#why").inner_text()
    assert page.locator("#verdict").inner_text() == verdict
    page.locator("#next").focus()
    assert picture(page) == position, "nothing is left of the other line"
    page.keyboard.press("n")
    tab.until(f"document.body.dataset.ready !== '{FOR_VP + 1}'", 120)
    assert not page.locator("#explanation").is_visible()
    page.reload()
    tab.until("document.body.dataset.ready", 120)
    assert "of 1 tried" in page.locator("#score").inner_text()
    page.locator("#again").click()
    assert "of 0 tried" in page.locator("#score").inner_text()


def test_a_wrong_answer_may_be_followed_by_a_second_one(tab: Watched, server: Server) -> None:
    page = tab.page
    opened(tab, server, FOR_VP + 1)
    wrong = answer_of(FOR_VP, right=False)
    tried = page.locator("#choices button").nth(wrong - 1).get_attribute("data-action")
    page.keyboard.press(str(wrong))
    tab.until("result")
    assert page.locator("#verdict").inner_text().startswith("Not this one: it ends with ")
    assert page.locator("#reveal").is_visible() and not page.locator("#explanation").is_visible()
    assert page.locator("#choices button:disabled").count() == 1
    assert page.locator("#choices .answer").count() == 0, "the answer is not shown yet"
    table = picture(page)
    page.keyboard.press("ArrowRight")
    assert picture(page) == table, "nor a step of it"
    assert page.locator("#number option").nth(FOR_VP + 1).inner_text() == f"{FOR_VP + 1}: wrong"
    page.keyboard.press(str(answer_of(FOR_VP, right=True)))
    tab.until(EXPLAINED)
    assert page.locator("#verdict").inner_text().startswith("Right. ")
    selected = page.locator("#candidates [aria-pressed='true']")
    assert selected.get_attribute("data-action") == tried, "compared with the wrong try"
    assert "solved 0 of 1 tried, 1 more at the second try" in page.locator("#score").inner_text()
    page.reload()
    tab.until(READY.format(FOR_VP + 1), 120)
    assert "right at the second try" in page.locator("#asks").inner_text()


def test_a_puzzle_of_a_goal_shows_which_move_reaches_it(tab: Watched, server: Server) -> None:
    """With the line of the answer only: the others do not matter."""
    page, puzzle = tab.page, PUZZLES[FOR_GOAL]
    opened(tab, server, FOR_GOAL + 1)
    assert "before they pass?" in page.locator("#asks").inner_text()
    page.keyboard.press(str(answer_of(FOR_GOAL, right=False)))
    tab.until("result")
    assert "no line from it leads to a" in page.locator("#verdict").inner_text()
    page.locator("#reveal").click()
    tab.until(EXPLAINED)
    assert "no other first move leads to a" in page.locator("#why").inner_text()
    cells = page.locator("#candidates td:last-child").all_inner_texts()
    assert cells == ["yes", *["no"] * (len(puzzle["candidates"]) - 1)]
    assert page.locator("#candidates button").count() == 0
    assert page.locator("#line .start").count() == 1
    before = picture(page)
    page.locator("#line li").last.click()
    assert picture(page) != before


def test_a_late_response_shows_nothing(tab: Watched, server: Server) -> None:
    """Of an answer: a second key is no second answer. Of a puzzle: the next one follows it."""
    page = tab.page
    opened(tab, server, 1)
    tab.hold("/api/puzzles/0")
    page.keyboard.press("1")
    tab.until("document.getElementById('verdict').textContent.startsWith('Playing the lines')")
    page.keyboard.press("2")
    assert tab.num_waiting() == 1
    page.keyboard.press("n")
    tab.until(READY.format(2), 120)
    page.keyboard.press("1")
    tab.until("result")
    verdict = page.locator("#verdict").inner_text()
    with tab.answered("/api/puzzles/0"):
        tab.release()
    assert page.locator("#verdict").inner_text() == verdict, "it is of puzzle 2"
    tab.hold("/api/puzzles/2")
    page.keyboard.press("n")
    tab.until("document.getElementById('asks').textContent.startsWith('Replaying')")
    page.keyboard.press("n")
    tab.until(READY.format(4), 120)
    question = page.locator("#asks").inner_text()
    with tab.answered("/api/puzzles/2"):
        tab.release()
    assert question.startswith("Puzzle 4, ") and page.locator("#asks").inner_text() == question


def test_an_unknown_number_is_reported(tab: Watched, server: Server) -> None:
    page, count = tab.page, len(PUZZLES)
    for wrong in ("0", str(count + 1), "abc"):
        page.goto("about:blank")
        page.goto(f"{server.home}puzzles#{wrong}")
        tab.until("document.getElementById('asks').textContent.startsWith('There is')")
        text = page.locator("#asks").inner_text()
        assert text == f"There is no puzzle {wrong}: they are 1 to {count}."
    assert page.locator("#theme option").first.inner_text() == f"any ({count})"


def test_theme_and_level_select_puzzles(tab: Watched, server: Server) -> None:
    levels = [find_level(puzzle) for puzzle in PUZZLES]
    themes, page = [puzzle["theme"] for puzzle in PUZZLES], tab.page
    opened(tab, server, 1)
    counts = [f"{level} ({levels.count(level)})" for level in LEVELS if level in levels]
    options = page.locator("#level option").all_inner_texts()
    assert options == [f"any ({len(PUZZLES)})", *counts]
    counts = sorted(f"{theme} ({themes.count(theme)})" for theme in set(themes))
    assert sorted(page.locator("#theme option").all_inner_texts()[1:]) == counts
    other = next(n for n, theme in enumerate(themes) if theme != themes[0])
    names = f"theme: {themes[other]}"
    page.select_option("#theme", themes[other])
    tab.until(READY.format(other + 1), 120)
    page.evaluate("byId('theme').options[1].value = 'without puzzles'")
    page.select_option("#theme", "without puzzles")
    text = "There is no puzzle of this theme and level."
    tab.until(f"document.getElementById('asks').textContent === '{text}'")
    assert page.locator("#choices button").count() == 0
    page.select_option("#number", index=other + 1)  # the first one is empty
    tab.until("document.querySelector('#choices button')", 120)
    page.keyboard.press(str(answer_of(other, right=True)))
    tab.until(EXPLAINED)
    assert names in page.locator("#verdict").inner_text()


def test_a_click_on_the_map_answers(tab: Watched, server: Server) -> None:
    """On a numbered place with one move; any other place is no answer."""
    number, cell, action = next(
        (number, cells[0], action)
        for number, puzzle in enumerate(PUZZLES)
        for action, cells in single_cells(puzzle["candidates"]).items()
    )
    opened(tab, server, number + 1)
    page = tab.page

    def click(at: str) -> None:
        box = page.locator(f".stage [data-cell='{at}']").bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    used = {c["text"].split()[-1] for c in PUZZLES[number]["candidates"]}
    cells = page.locator(".stage [data-cell]").evaluate_all("all => all.map((c) => c.dataset.cell)")
    click(next(other for other in cells if other not in used))
    assert page.evaluate("isOpen && !result && !answering")
    click(cell)
    tab.until("result")
    right = action == PUZZLES[number]["answer"]
    assert page.evaluate("result.right") is right


def test_a_click_on_a_place_with_several_moves_goes_to_an_open_one(
    tab: Watched, server: Server
) -> None:
    """After a wrong first try its button is disabled, and takes no focus."""
    number, cell = next(
        (number, cells[0])
        for number, puzzle in enumerate(PUZZLES)
        for cells in single_cells(puzzle["candidates"]).values()
        if puzzle["answer"] != min(c["action"] for c in puzzle["candidates"])
    )
    opened(tab, server, number + 1)
    page, place = tab.page, f".stage [data-cell='{cell}']"
    page.locator("#choices button").first.click()
    tab.until("result && document.activeElement.id === 'reveal'")
    page.evaluate(f'view.cellAt = () => document.querySelector("{place}")')  # all moves are there
    box = page.locator(place).bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.until("document.activeElement === document.querySelectorAll('#choices button')[1]")


def single_cells(candidates: list[dict[str, Any]]) -> dict[int, list[str]]:
    """The cell of each candidate that has one, and that no other candidate has."""
    cells = {c["action"]: c["text"].split()[-1] for c in candidates if "," in c["text"]}
    return {a: [cell] for a, cell in cells.items() if [*cells.values()].count(cell) == 1}


@pytest.mark.parametrize("keeps", [True, False])
def test_the_puzzles_and_the_games_link_to_each_other(
    tab: Watched, server: Server, keeps: bool
) -> None:
    """From the start form, and back to the last game; a browser without storage has no way back."""
    page = tab.page
    if not keeps:
        blocked = "{ get() { throw new DOMException('blocked', 'SecurityError'); } }"
        for storage in ("sessionStorage", "localStorage"):
            page.add_init_script(f"Object.defineProperty(window, '{storage}', {blocked})")
    page.goto(server.home)
    page.click("a[href='/puzzles']")
    tab.until(READY.format(1), 120)
    assert page.is_hidden("#game"), "no game yet"
    game = server.new_game(ruleset="base", seats=["you"] * 4, seed=3)
    page.goto(f"{server.home}#{game}")
    page.wait_for_selector("#layout", state="visible")
    page.goto(f"{server.home}puzzles")
    tab.until(READY.format(1), 120)
    if not keeps:
        assert page.is_hidden("#game")
        return
    page.click("#game")
    page.wait_for_selector("#layout", state="visible")
    assert page.evaluate("location.hash") == f"#{game}"
