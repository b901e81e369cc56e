"""What the page of the puzzles gets: a question without its answer, the lines, the reasons."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.language import in_language
from training.analysis import puzzles
from training.play import puzzle_book
from training.play.game import Refused
from training.play.languages import translated
from training.play.puzzle_book import PuzzleBook, verified

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
SHIPPED = puzzles.read(puzzles.SHIPPED)
BOOK = PuzzleBook()


def test_a_question_does_not_give_the_answer_away() -> None:
    question = BOOK.question(0)
    assert set(question["choices"][0]) == {"action", "text", "words", "brings"}
    assert not {"answer", "candidates", "line", "parts", "why", "theme"} & set(question)
    actions = [choice["action"] for choice in question["choices"]]
    assert actions == sorted(actions) and question["legal"] >= len(actions)
    wrong_actions: tuple[object, ...] = (-1, "pass", None, actions[:1])
    for wrong in wrong_actions:
        with pytest.raises(Refused, match="action must be one of the choices"):
            BOOK.explanation(0, {"action": wrong})
    count = len(BOOK.index()["themes"])
    with pytest.raises(Refused, match=f"there is no puzzle {count}: they are 0 to {count - 1}"):
        BOOK.question(count)


def explained(action: int, **more: object) -> Any:
    """The explanation of an answer to the first puzzle, and the candidate to compare with."""
    explanation = BOOK.explanation(0, {"action": action} | more)
    steps = [step["text"] for step in explanation["line"]]
    position, second = [at for at, text in enumerate(steps) if not text]
    assert position == 0 and steps[1] == explanation["answer"]["text"]
    assert not {"end_turn", "leech DECLINE"} & set(steps)
    compared = next(c for c in explanation["candidates"] if c["text"] == steps[second + 1])
    assert explanation["compared"] == {key: compared[key] for key in ("action", "words")}
    return explanation, compared


def test_an_explanation_compares_the_answer_with_another_candidate() -> None:
    """With a wrong choice; with the agent's choice for a right one; with any that is asked for."""
    puzzle = SHIPPED["puzzles"][0]
    right = puzzle["answer"]["action"]
    explanation, second = explained(right)
    best, *others = explanation["candidates"]
    assert explanation["right"] and best["action"] == right
    assert second["action"] == puzzle["policy"]["action"]
    assert explanation["theme"] == puzzle["theme"]
    assert explanation["chosen"] == SHIPPED.get("chosen")
    assert explanation["tried"] == puzzle["rival"]["moves"] == BOOK.question(0)["legal"] - 1
    why = {c["action"]: list(c["why"].values()) for c in puzzle["candidates"]}
    for explanation, compared in (
        explained(others[1]["action"]),
        explained(right, compared=others[1]["action"]),
    ):
        assert explanation["right"] is ("compared" not in explanation) or compared == others[1]
        assert list(explanation["why"].values()) == why[compared["action"]]
        ends = [step["vp"] for step in explanation["line"] if step.get("over")]
        assert len(ends) == 2, "both lines are whole games"
    assert not explained(others[1]["action"])[0]["right"]
    for wrong in (right, -1, None):
        with pytest.raises(Refused, match="compared must be another choice"):
            BOOK.explanation(0, {"action": right, "compared": wrong})


def test_an_explanation_names_the_next_moves_of_both_lines() -> None:
    """The seat's own turns, in the order of the lines."""
    right = SHIPPED["puzzles"][0]["answer"]["action"]
    explanation, _ = explained(right)
    steps = explanation["line"]
    second = [n for n, step in enumerate(steps) if not step["text"]][1]
    for line, moves in zip((steps[:second], steps[second:]), explanation["next"], strict=True):
        begins = [step["text"] for step in line[2:] if step["own"] and step["turn"] == "begins"]
        assert [move["texts"][0] for move in moves] == begins[:3]
        assert all(move["words"] for move in moves)


@pytest.mark.parametrize("code", ["ko", "de"])
def test_refusals_are_in_the_language_of_the_page(code: str) -> None:
    right = SHIPPED["puzzles"][0]["answer"]["action"]
    bodies: list[dict[str, object]] = [{"action": -1}, {"action": right, "compared": right}]
    for body in bodies:
        with pytest.raises(Refused) as error:
            BOOK.explanation(0, body)
        message = str(error.value)
        with in_language(code):
            assert translated(message) != message
            assert message.rpartition(" ")[2] in translated(message)


@pytest.mark.parametrize("kind", ["taken", "follows", "vp"])
def test_an_explanation_names_the_reason_in_the_words_of_its_line(
    tmp_path: Path, kind: str
) -> None:
    """An opponent's action of the other line, or a whole move of the answer's line."""
    puzzle = SHIPPED["puzzles"][0]
    right = puzzle["answer"]["action"]
    explanation, _ = explained(right)
    steps = explanation["line"]
    second = [n for n, step in enumerate(steps) if not step["text"]][1]
    opponent = next(step for step in steps[second + 1 :] if not step["own"])
    own = explanation["next"][0][1]
    event = {"taken": opponent["text"], "follows": own["texts"][0]}.get(kind)
    at_once = {"vp": [7.0, 0.0], "sources": {"round tiles": 7.0}}
    reason = {"kind": kind, "games": 20} | ({"text": event} if event else at_once)
    candidates = [candidate | {"reason": reason} for candidate in puzzle["candidates"]]
    path = tmp_path / "puzzles.json"
    puzzles.write(path, SHIPPED | {"puzzles": [puzzle | {"candidates": candidates}]})
    named = PuzzleBook(path).explanation(0, {"action": right})["reason"]
    words = {"taken": opponent["words"], "follows": own["words"]}
    assert named == reason | ({"words": words[kind]} if event else {})
    with in_language("de"):
        german = PuzzleBook(path).explanation(0, {"action": right})["reason"]
    changed = "words" if event else "sources"
    assert german[changed] != named[changed]


def test_a_line_that_does_not_play_is_refused(tmp_path: Path) -> None:
    """The question is there all the same; a conversion among its choices only begins a move."""
    puzzle = SHIPPED["puzzles"][0]
    *others, last = [c | {"line": ["no such action"]} for c in puzzle["candidates"]]
    conversion = last | {"action": -1, "text": "free burn"}
    changed = puzzle | {"candidates": [*others, conversion]}
    path = tmp_path / "puzzles.json"
    puzzles.write(path, SHIPPED | {"puzzles": [changed]})
    book = PuzzleBook(path)
    assert book.mark != BOOK.mark, "a score belongs to a file"
    choices = {choice["text"]: choice["words"] for choice in book.question(0)["choices"]}
    assert choices["free burn"].startswith("first ")
    with pytest.raises(Refused, match="puzzle 1 cannot be explained: .*no such action"):
        book.explanation(0, {"action": puzzle["answer"]["action"]})


def test_a_long_line_leaves_steps_out_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step is the one of the whole line."""
    body = {"action": SHIPPED["puzzles"][0]["answer"]["action"]}
    monkeypatch.setattr(puzzle_book, "MAX_STEPS", 1000)
    whole = PuzzleBook().explanation(0, body)["line"]
    second = next(n for n, step in enumerate(whole) if n and not step["text"])
    monkeypatch.setattr(puzzle_book, "MAX_STEPS", 3)
    line = PuzzleBook().explanation(0, {"action": SHIPPED["puzzles"][0]["answer"]["action"]})[
        "line"
    ]
    assert line[:4] == whole[:4]
    *_, last = line[: next(n for n, step in enumerate(line) if n and not step["text"])]
    assert last["skipped"] == second - 1 - 3 - 1 and last["over"], "only visible steps count"
    assert last | {"skipped": 0} == whole[second - 1] | {"skipped": 0}


def test_a_choice_names_the_piece_at_its_place() -> None:
    """`take the artifact in place 3` does not say which artifact."""
    questions = [BOOK.question(number) for number in range(len(SHIPPED["puzzles"]))]
    number, artifact = next(
        (number, choice)
        for number, question in enumerate(questions)
        for choice in question["choices"]
        if choice["text"].startswith("artifact ")
    )
    assert artifact["words"].startswith("take the artifact: ") and artifact["brings"]
    explanation = BOOK.explanation(number, {"action": artifact["action"]})
    assert explanation["compared"]["words"] == artifact["words"]
    assert any(step["words"].endswith(f": {artifact['words']}") for step in explanation["line"])


def test_the_results_are_those_of_the_verification() -> None:
    """Those of the maker count where there is none."""
    puzzle: dict[str, Any] = {"loss": 2.0, "playouts": 64, "candidates": []}
    verification = {"by": "other", "loss": 4.0, "playouts": 12}
    assert verified(puzzle) == puzzle
    result = verified(puzzle | {"held": verification})
    assert (result["by"], result["loss"], result["playouts"]) == ("other", 4.0, 12)


def test_the_end_of_the_process_calls_work_off() -> None:
    """Otherwise a thread that still computes crashes the process at its end."""
    command = [sys.executable, "-c", ENDS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "called off\n", "")
