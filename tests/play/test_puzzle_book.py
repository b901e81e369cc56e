"""What the page of the puzzles is told: the question without its answer, the lines, the reasons."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from training.analysis import puzzles
from training.play import puzzle_book
from training.play.game import Refused
from training.play.puzzle_book import PuzzleBook

ENDS = """
import time
from training.play.background import Job

def work(job):
    try:
        while True:
            job.report("at work")
            time.sleep(0.01)
    finally:
        print("called off", flush=True)

Job(work, "one")
"""


def other(puzzle: Any, told: Any) -> int:
    """A choice that is not the answer."""
    actions = [choice["action"] for choice in puzzle["choices"]]
    return next(action for action in actions if action != told["answer"]["action"])


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
    assert told["rival"]["words"], "the nearest of the other legal moves is named"
    steps, chosen = [x["text"] for x in told["line"]], puzzles.read(puzzles.SHIPPED)["chosen"]
    assert not {"end_turn", "leech DECLINE"} & set(steps) and told["chosen"] == chosen
    main = [choice for choice in puzzle["choices"] if not choice["text"].startswith("free ")]
    assert puzzle["legal"] >= len(main) and not book.playing
    for wrong in (-1, "pass", None, [right]):
        with pytest.raises(Refused, match="one of the choices is wanted"):
            book.answered(0, {"action": wrong})
    with pytest.raises(Refused, match=f"there is no puzzle {len(book.themes())}"):
        book.asked(len(book.themes()))


@pytest.mark.slow
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
    """An action that asks for its target says which; a move that is whole says nothing more."""
    found, book = puzzles.read(puzzles.SHIPPED)["puzzles"], PuzzleBook()
    answers = [
        next(c["line"] for c in one["candidates"] if c["action"] == one["answer"]["action"])
        for one in found
    ]
    asks = next(n for n, line in enumerate(answers) if line[1].startswith(("piece ", "pick ")))
    mine = next(n for n, line in enumerate(answers) if line[0].startswith("mine "))
    for number, wanted in ((asks, True), (mine, False)):
        told = book.answered(number, {"action": found[number]["answer"]["action"]})
        assert bool(told["then"]) is wanted
        assert ("not paid yet" in told["line"][1]["brings"]) is wanted
        paid = told["line"][2 if wanted else 1]["brings"]
        assert paid if wanted else "ore" in paid and "credits" in paid
        choices = {choice["text"]: choice["brings"] for choice in book.asked(number)["choices"]}
        assert choices[told["answer"]["text"]] == told["line"][1]["brings"]
        for step, words in zip(told["line"][2:], told["then"], strict=False):
            assert step["words"].endswith(words)


def test_who_takes_the_move_that_is_left_is_told() -> None:
    """A planet for good, a ship's action in this round, the last step of a track, not another."""
    seats = [{"name": name} for name in ("Terrans", "Xenos", "Itars")]

    def line(*steps: tuple[str, int, int]) -> Any:
        """`steps`: a text, whose it is, and the round behind it."""
        found: list[Any] = [({}, SimpleNamespace(round=5))]
        for text, seat, behind in steps:
            brings = "+mine, new sector" if text.startswith("pick 1,1") else "+AI 4 to 5, +4 QIC"
            step = {"text": text, "words": text, "player": seat, "own": seat == 0, "brings": brings}
            same = len(found) == 1
            found.append((step | {"same": same}, SimpleNamespace(round=behind)))
        return found

    def taken(answer: str, *others: tuple[str, int, int]) -> list[Any]:
        """Of a first line that begins with `answer` and goes on with two moves more."""
        rest = ("mine 3,3", 0, 5), ("mine 4,4", 2, 5), ("ship ECL_P", 0, 6)
        return puzzle_book._taken(line((answer, 0, 5), *rest), line(*others), seats)

    assert taken("ship TWI_P", ("mine 1,1", 0, 5), ("ship TWI_P", 2, 5)) == [
        {"name": "Itars", "words": "ship TWI_P", "step": 2}
    ]
    (one,) = taken("booster RB3", ("pass", 0, 5), ("booster RB3", 1, 6))
    assert one["name"] == "Xenos"
    for wrong in (
        taken("ship TWI_P", ("ship TWI_P", 0, 5), ("ship TWI_P", 2, 5)),
        taken("ship TWI_P", ("pass", 0, 5), ("pass", 1, 6), ("ship TWI_P", 2, 6)),
        taken("mine 1,1", ("mine 1,2", 2, 5), ("pick 2,2", 2, 5), ("mine 4,4", 2, 5)),
        taken("tile T1", ("tile T1", 2, 5)),
    ):
        assert wrong == []
    assert taken("mine 1,1", ("pass", 0, 6), ("mine 1,1", 1, 6))[0]["step"] == 2
    assert taken("mine 1,1", ("power PA_TF2", 1, 5), ("pick 1,1", 1, 5))[0]["step"] == 2
    assert taken("advance ai", ("advance ai", 2, 5))[0]["words"] == "advance ai"
    steps = ("mine 3,3", 1, 5), ("ship ECL_P", 1, 5), ("mine 1,1", 2, 5)
    assert [one["words"] for one in taken("mine 1,1", *steps)] == ["mine 1,1", "mine 3,3"]


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


def test_the_end_of_the_process_calls_work_off() -> None:
    """Else a thread that computes meanwhile takes it down with it: lines that nobody waits for."""
    run = [sys.executable, "-c", ENDS]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "called off\n", "")
