"""The page of the puzzles: it asks without giving the answer away, explains it, keeps the score."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from tests.browser import Watched
from tests.play.server import Server
from training.play import puzzle_book
from training.play.game import Refused
from training.play.puzzle_book import PuzzleBook
from training.study import puzzles

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


def other(puzzle: Any, told: Any) -> int:
    """A choice that is not the answer."""
    actions = [choice["action"] for choice in puzzle["choices"]]
    return next(action for action in actions if action != told["answer"]["action"])


def answer_of(number: int, right: bool) -> int:
    """The key, from 1, of the answer of a shipped puzzle, or of a wrong choice."""
    book = PuzzleBook()
    puzzle = book.asked(number)
    choices = [choice["action"] for choice in puzzle["choices"]]
    told = book.answered(number, {"action": choices[0]})
    return 1 + choices.index(told["answer"]["action"] if right else other(puzzle, told))


def names_cell(action: Any) -> bool:
    """Whether a move is at a cell."""
    return "," in action["text"]


def test_a_puzzle_is_asked_without_its_answer() -> None:
    book = PuzzleBook()
    puzzle = book.asked(0)
    assert all(set(choice) == {"action", "text", "words", "brings"} for choice in puzzle["choices"])
    assert not {"answer", "candidates", "line", "parts", "why"} & set(puzzle)
    actions = [choice["action"] for choice in puzzle["choices"]]
    assert actions == sorted(actions) and "theme" not in puzzle
    told = book.answered(0, {"action": actions[0]})
    assert told["theme"] == book.themes()[0]
    right = told["answer"]["action"]
    assert told["right"] is (actions[0] == right) and book.answered(0, {"action": right})["right"]
    assert not book.answered(0, {"action": other(puzzle, told)})["right"]
    best = told["candidates"][0]
    assert best["action"] == right and len(told["line"]) > 3
    steps, chosen = [x["text"] for x in told["line"]], puzzles.read(puzzles.SHIPPED)["chosen"]
    assert not {"end_turn", "leech DECLINE"} & set(steps) and told["chosen"] == chosen
    main = [choice for choice in puzzle["choices"] if not choice["text"].startswith("free ")]
    assert puzzle["legal"] >= len(main) and not book.playing
    for wrong in (-1, "pass", None, [right]):
        with pytest.raises(Refused, match="one of the choices is wanted"):
            book.answered(0, {"action": wrong})
    with pytest.raises(Refused, match=f"there is no puzzle {len(book.themes())}"):
        book.asked(len(book.themes()))


def test_the_line_beside_the_answer_is_of_who_was_chosen() -> None:
    """Of a wrong choice; of the second best beside a right one; of any other that is asked for."""
    book = PuzzleBook()
    puzzle, about = book.asked(0), puzzles.read(puzzles.SHIPPED)["puzzles"][0]["candidates"]
    right, *others = book.answered(0, puzzle["choices"][0])["candidates"]
    why = {one["action"]: list(one["held"]["why"].values()) for one in about}

    def told(action: int, **more: object) -> Any:
        found = book.answered(0, {"action": action} | more)
        steps = [step["text"] for step in found["line"]]
        heads = [at for at, text in enumerate(steps) if not text]
        assert heads[0] == 0 and steps[1] == right["text"] and len(heads) == 2
        assert found["right"] is (action == right["action"])
        shown = next(c for c in others if c["text"] == steps[heads[1] + 1])
        assert found["beside"] == {key: shown[key] for key in ("action", "words")}
        assert list(found["why"].values()) == why[shown["action"]]
        return shown

    assert told(right["action"]) == others[0]
    for one in others:
        assert told(one["action"]) == told(right["action"], beside=one["action"]) == one
    assert told(others[0]["action"], beside=others[-1]["action"]) == others[-1]
    for wrong in (right["action"], -1, None):
        with pytest.raises(Refused, match="one of the other choices is wanted"):
            book.answered(0, {"action": right["action"], "beside": wrong})


def test_the_lines_are_not_waited_for_before_the_question(tmp_path: Path) -> None:
    """A line that cannot be played hinders the answer alone, and says so."""
    found = puzzles.read(puzzles.SHIPPED)
    first, *others = found["puzzles"][0]["candidates"]
    wrong = first | {"line": ["no such action"]}
    one = found["puzzles"][0] | {"candidates": [wrong, *others]}
    path = tmp_path / "puzzles.json"
    path.write_text(puzzles.to_text(found | {"puzzles": [one]}), encoding="utf-8")
    book = PuzzleBook(path)
    action = book.asked(0)["choices"][0]["action"]
    with pytest.raises(Refused, match="puzzle 1 cannot be told: .*no such action"):
        book.answered(0, {"action": action})


def test_a_choice_names_what_lies_at_its_place() -> None:
    """`take the artifact in place 3` says nothing of what is to be weighed."""
    answers = [one["answer"]["text"] for one in puzzles.read(puzzles.SHIPPED)["puzzles"]]
    number = next(n for n, text in enumerate(answers) if text.startswith("artifact "))
    book = PuzzleBook()
    choices = book.asked(number)["choices"]
    told = book.answered(number, {"action": choices[0]["action"]})
    answer = told["answer"]["words"]
    assert answer.startswith("take the artifact: ")
    assert answer in [choice["words"] for choice in choices]
    assert answer == told["candidates"][0]["words"]
    assert told["line"][1]["words"].endswith(f": {answer}")


def test_an_answer_says_what_it_goes_on_with() -> None:
    """An upgrade says into what; a move that is whole says nothing more."""
    found, book = puzzles.read(puzzles.SHIPPED)["puzzles"], PuzzleBook()
    answers = [
        next(c["line"] for c in one["candidates"] if c["action"] == one["answer"]["action"])
        for one in found
    ]
    upgrade = next(n for n, line in enumerate(answers) if line[1].startswith("piece "))
    mine = next(n for n, line in enumerate(answers) if line[0].startswith("mine "))
    for number, wanted in ((upgrade, True), (mine, False)):
        told = book.answered(number, {"action": found[number]["answer"]["action"]})
        assert bool(told["then"]) is wanted
        assert ("not paid yet" in told["line"][1]["brings"]) is wanted
        paid = told["line"][2 if wanted else 1]["brings"]
        assert "ore" in paid and "credits" in paid
        choices = {choice["text"]: choice["brings"] for choice in book.asked(number)["choices"]}
        assert choices[told["answer"]["text"]] == told["line"][1]["brings"]
        for step, words in zip(told["line"][2:], told["then"], strict=False):
            assert step["words"].endswith(words)


def test_who_takes_the_move_that_is_left_is_told() -> None:
    """A planet for good, a ship's action in this round; a step on a track is not looked at."""
    seats = [{"name": name} for name in ("Terrans", "Xenos", "Itars")]

    def taken(answer: str, *others: tuple[str, int, int]) -> Any:
        """`others`: the steps of the second line, each with its seat and the round behind it."""
        line: list[Any] = [({}, SimpleNamespace(round=5))]
        for text, seat, behind in others:
            brings = "+mine, new sector" if text.startswith("pick") else ""
            step = {"text": text, "words": text, "player": seat, "own": seat == 0, "brings": brings}
            line.append((step, SimpleNamespace(round=behind)))
        move = [{"text": answer, "brings": ""}, {"text": "pick 2,2", "brings": "satellites"}]
        return puzzle_book._taken(move, line, seats)

    assert taken("ship TWI_P", ("mine 1,1", 0, 5), ("ship TWI_P", 2, 5)) == {
        "name": "Itars", "words": "ship TWI_P", "step": 2,
    }  # fmt: skip
    assert taken("booster RB3", ("pass", 0, 5), ("booster RB3", 1, 6))["name"] == "Xenos"
    for wrong in (
        taken("ship TWI_P", ("ship TWI_P", 0, 5), ("ship TWI_P", 2, 5)),
        taken("ship TWI_P", ("pass", 0, 5), ("pass", 1, 6), ("ship TWI_P", 2, 6)),
        taken("advance ai", ("advance ai", 2, 5)),
        taken("mine 1,1", ("mine 1,2", 2, 5), ("pick 2,2", 2, 5)),
    ):
        assert wrong is None
    assert taken("mine 1,1", ("pass", 0, 6), ("mine 1,1", 1, 6))["step"] == 2
    assert taken("mine 1,1", ("power PA_TF2", 1, 5), ("pick 1,1", 1, 5))["step"] == 2


def test_numbers_are_of_the_agent_that_played_on() -> None:
    """The best one first, whatever it is by the agent that made the puzzle."""
    tried = [{"vp": 7.0, "answer_next": False}, {"vp": 9.0, "answer_next": True}]
    candidates = [{"vp": vp, "held": held} for vp, held in zip((5.0, 4.0), tried, strict=True)]
    one = {"loss": 2.0, "playouts": 64, "candidates": candidates}
    assert puzzle_book._as_held(one) is one
    held = {"by": "other", "loss": 4.0, "playouts": 12}
    told = puzzle_book._as_held(one | {"held": held})
    assert (told["by"], told["loss"], told["playouts"]) == ("other", 4.0, 12)
    assert [(c["vp"], c["answer_next"]) for c in told["candidates"]] == [(9, True), (7, False)]


def test_what_is_done_in_one_line_alone_is_told() -> None:
    """Moves, whole and in words, each as often as the other line lacks it."""

    def line(*steps: tuple[str, int, int]) -> Any:
        """`steps`: a text, whose it is, and the VP that it brings; a pick goes on with a move."""
        found: list[Any] = [({}, None)]
        for text, seat, vp in steps:
            within = text.startswith("pick")
            step = {"text": text, "words": text, "own": seat == 0, "within": within, "gained": vp}
            found.append((step, None))
        return found

    one = line(("ship TWI_P", 0, 0), ("pick 1,1", 0, 6), ("mine 2,2", 1, 0), ("advance ai", 0, 0),
               ("free burn", 0, 0), ("advance ai", 0, 4), ("pass", 0, 9))  # fmt: skip
    other = line(("advance ai", 0, 0), ("ship TWI_P", 0, 0), ("pick 1,2", 0, -5), ("pass", 0, 3))
    assert puzzle_book._only(one, other) == ["ship TWI_P, pick 1,1 (+6 VP)", "advance ai (+4 VP)"]
    assert puzzle_book._only(other, one) == ["ship TWI_P, pick 1,2 (-5 VP)"]
    assert puzzle_book._only(one, one) == []


def test_a_free_action_among_the_choices_is_said_to_begin_a_move(tmp_path: Path) -> None:
    """Of a shipped puzzle, with a conversion as its last candidate."""
    found = puzzles.read(puzzles.SHIPPED)
    *others, last = found["puzzles"][0]["candidates"]
    free = last | {"action": -1, "text": "free burn", "words": "burn 1 power"}
    one = found["puzzles"][0] | {"candidates": [*others, free]}
    path = tmp_path / "puzzles.json"
    path.write_text(puzzles.to_text(found | {"puzzles": [one]}), encoding="utf-8")
    assert PuzzleBook(path).mark != PuzzleBook().mark, "a score is of a file"
    choices = PuzzleBook(path).asked(0)["choices"]
    assert "free burn" in [choice["text"] for choice in choices]
    for choice in choices:
        assert choice["words"].startswith("first ") == choice["text"].startswith("free ")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_puzzle_is_answered_by_the_keyboard(tab: Watched, server: Server, width: int) -> None:
    page = tab.page
    page.goto(f"{server.home}puzzles#2")
    tab.until(READY.format(2), 120)
    assert page.locator("#choices button").count() > 1
    theme = PuzzleBook().themes()[1]
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
    ends = page.locator("#line li", has_text="the end: ").count()
    assert ends == 2, "both lines are whole games"
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
    assert (
        page.locator("#line .head")
        .nth(1)
        .inner_text()
        .startswith(f"The position, and then {wanted}")
    )
    assert page.locator("#verdict").inner_text() == verdict, "the answer is as it was"
    assert page.locator("#why").inner_text().startswith(f"Where the difference from {wanted} ")
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
    page.keyboard.press(str(answer_of(0, right=False)))
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


def test_a_number_that_no_puzzle_has_is_said(tab: Watched, server: Server) -> None:
    page = tab.page
    count = len(PuzzleBook().themes())
    for wrong in ("0", str(count + 1), "abc"):
        page.goto("about:blank")
        page.goto(f"{server.home}puzzles#{wrong}")
        tab.until("document.getElementById('asks').textContent.startsWith('There is')")
        said = page.locator("#asks").inner_text()
        assert said == f"There is no puzzle {wrong}: they are 1 to {count}."
    assert page.get_attribute("#game", "href") is None
    assert page.locator("#theme option").first.inner_text() == f"any ({count})"


def test_a_choice_rings_its_cell(tab: Watched, server: Server) -> None:
    found = puzzles.read(puzzles.SHIPPED)["puzzles"]
    number = next(n for n, one in enumerate(found) if any(map(names_cell, one["candidates"])))
    page, choices = tab.page, PuzzleBook().asked(number)["choices"]
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
    page.goto(f"{server.home}puzzles#12")
    tab.until(READY.format(12), 120)
    boards = page.locator(".deck.play .seat-board.open")
    assert boards.count() == 3, "what the others have lies open beside the research board"
    assert boards.first.is_visible() and page.locator("#block-research").is_visible()
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
