"""What the page of the puzzles gets: a question without its answer, the values, the lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.language import in_language
from gaia_jax.render import say, say_at
from training.analysis import puzzles
from training.analysis.actions import is_conversion
from training.analysis.recorded_game import compiled_step
from training.play.game import Refused
from training.play.languages import translated
from training.play.puzzle_book import PuzzleBook

SHIPPED = puzzles.read(puzzles.SHIPPED)
PUZZLES: list[Any] = SHIPPED["puzzles"]
BOOK = PuzzleBook()
GOALS = [puzzle["goal"] for puzzle in PUZZLES]
FIRST = {goal: GOALS.index(goal) for goal in GOALS}  # puzzle of each goal
EVERY = [
    pytest.param(number, marks=[pytest.mark.slow] * (number not in FIRST.values()))
    for number in range(len(PUZZLES))
]


def explained(number: int, action: int, **more: object) -> Any:
    """The explanation of an answer."""
    return BOOK.explanation(number, {"action": action} | more)


def lines_of(explanation: Any) -> list[list[Any]]:
    """The steps of each line, without the position that it begins with."""
    lines = list[list[Any]]()
    for step in explanation["line"]:
        if step["text"]:
            lines[-1].append(step)
        else:
            lines.append([])
    return lines


@pytest.mark.parametrize("number", FIRST.values(), ids=FIRST)
def test_a_question_does_not_give_the_answer_away(number: int) -> None:
    question, puzzle = BOOK.question(number), PUZZLES[number]
    assert set(question["choices"][0]) == {"action", "text", "words"}
    assert not {"answer", "agent", "candidates", "line", "parts", "theme"} & set(question)
    actions = [choice["action"] for choice in question["choices"]]
    assert actions == sorted(candidate["action"] for candidate in puzzle["candidates"])
    assert question["moves"] >= len(actions) and question["goal"] == puzzle["goal"]
    wrong_actions: tuple[object, ...] = (-1, "pass", None, actions[:1])
    for wrong in wrong_actions:
        with pytest.raises(Refused, match="action must be one of the choices"):
            BOOK.explanation(number, {"action": wrong})


def test_an_unknown_puzzle_is_refused() -> None:
    count = len(BOOK.index()["values"]["theme"])
    assert count == len(PUZZLES)
    for number in (-1, count):
        with pytest.raises(Refused, match=f"no puzzle {number}: they are 0 to {count - 1}"):
            BOOK.question(number)


def test_a_right_answer_is_compared_with_the_choice_of_the_agent_a_wrong_one_with_itself() -> None:
    number = FIRST["vp"]
    puzzle = PUZZLES[number]
    right, agent = puzzle["answer"], puzzle["agent"]
    other = next(c["action"] for c in puzzle["candidates"] if c["action"] not in (right, agent))
    for action, more, compared in (
        (right, {}, agent),
        (other, {}, other),
        (agent, {}, agent),
        (right, {"compared": other}, other),
    ):
        explanation = explained(number, action, **more)
        assert explanation["right"] is (action == right)
        assert (explanation["answer"], explanation["agent"]) == (right, agent)
        assert explanation["compared"] == compared
        texts = {c["action"]: c["text"] for c in explanation["candidates"]}
        mains = [
            next(step["text"] for step in line if not is_conversion(step["text"]))
            for line in lines_of(explanation)
        ]
        assert mains == [texts[right], texts[compared]]
    for wrong in (right, -1, None):
        with pytest.raises(Refused, match="compared must be another choice"):
            explained(number, right, compared=wrong)


@pytest.mark.parametrize("number", EVERY)
def test_an_explanation_is_true_of_its_lines(number: int) -> None:
    """The lines end with the values of the file, and the sources add up to the difference."""
    puzzle = PUZZLES[number]
    right = puzzle["answer"]
    best, *others = puzzle["candidates"]
    assert best["action"] == right
    if puzzle["goal"] != "vp":
        assert best["value"] == 1 and not any(other["value"] for other in others)
        check_goal(number, explained(number, right))
        return
    for other in others:
        explanation = explained(number, right, compared=other["action"])
        line, compared = lines_of(explanation)
        assert not {"end_turn", "leech DECLINE"} & {step["text"] for step in line + compared}
        assert line[-1]["over"] and line[-1]["vp"] == best["value"]
        assert compared[-1]["over"] and compared[-1]["vp"] == other["value"]
        signed = re.findall(r"([+-]\d+) ", explanation["sources"].replace("\N{MINUS SIGN}", "-"))
        assert sum(map(int, signed)) == best["value"] - other["value"]


def check_goal(number: int, explanation: Any) -> None:
    """The only line reaches the goal with its last step, and passes nowhere."""
    env, state, _ = BOOK._position(number)
    puzzle, step = PUZZLES[number], compiled_step(env)
    (line,) = lines_of(explanation)
    field = {"federation": "formed", "advanced tile": "advanced"}[puzzle["goal"]]

    def progress() -> list[Any]:
        return getattr(state.game.players, field)[puzzle["player"]].ravel().tolist()

    before = progress()
    for text in puzzle["candidates"][0]["line"]:
        assert progress() == before and int(state.game.turn.round) == puzzle["round"]
        assert state.legal_action_mask[from_text(env.ruleset, text)]
        state = step(state, from_text(env.ruleset, text))
    assert progress() != before and explanation["sources"] == ""
    assert line[-1]["text"] == puzzle["candidates"][0]["line"][-1]


@pytest.mark.parametrize("number", FIRST.values(), ids=FIRST)
def test_a_choice_is_the_first_move_without_conversions(number: int) -> None:
    """With its target or piece, which the line chooses; the steps show the conversions too."""
    env, start, table = BOOK._position(number)
    puzzle = PUZZLES[number]
    explanation = explained(number, puzzle["answer"])
    for choice in BOOK.question(number)["choices"]:
        named = next(c for c in explanation["candidates"] if c["action"] == choice["action"])
        assert named["words"] == choice["words"]
        line = next(c["line"] for c in puzzle["candidates"] if c["action"] == choice["action"])
        if line[0] == choice["text"]:
            assert choice["words"].startswith(say_at(table, choice["text"]))
    answer, (line, *_) = puzzle["candidates"][0], lines_of(explanation)
    shown = [step["text"] for step in line]
    assert shown == [text for text in answer["line"] if text in shown]
    assert set(answer["line"]) - set(shown) <= {"end_turn", "leech DECLINE"}


def write_changed(path: Path, puzzle: Any) -> PuzzleBook:
    """The puzzles of a file with a single puzzle."""
    puzzles.write(path, SHIPPED | {"puzzles": [puzzle]})
    return PuzzleBook(path)


def test_a_choice_names_the_piece_but_no_conversion_or_tile(tmp_path: Path) -> None:
    """The decisions of the first move until it is paid for."""
    record = replay.read("docs/records/lost_fleet.json")
    texts, ruleset = record.actions, record.env().ruleset
    at = next(
        n for n in range(len(texts)) if texts[n][:5] == "free " and texts[n + 2][:5] == "piece"
    )
    line = conversion, upgrade, piece, tile = texts[at : at + 4]
    action = from_text(ruleset, upgrade)
    candidate = {"action": action, "text": upgrade, "value": 0, "line": line}
    puzzle = PUZZLES[0] | {"game": 0, "decision": at + 1, "candidates": [candidate]}
    game = {"setup": dict(record.setup), "actions": texts[:at]}
    path = tmp_path / "puzzles.json"
    puzzles.write(path, SHIPPED | {"games": [game], "puzzles": [puzzle]})
    (choice,) = PuzzleBook(path).question(0)["choices"]
    words = {text: say(ruleset, text) for text in line}
    assert choice["text"] == upgrade and choice["words"].endswith(f"; {words[piece]}")
    assert not [text for text in (conversion, tile) if words[text] in choice["words"]]


@pytest.mark.parametrize("code", ["ko", "de"])
def test_refusals_are_in_the_language_of_the_page(code: str) -> None:
    right = PUZZLES[0]["answer"]
    bodies: list[dict[str, object]] = [{"action": -1}, {"action": right, "compared": right}]
    for body in bodies:
        with pytest.raises(Refused) as error:
            BOOK.explanation(0, body)
        message = str(error.value)
        with in_language(code):
            assert translated(message) != message
            assert message.rpartition(" ")[2] in translated(message)


def test_a_line_that_does_not_play_is_refused(tmp_path: Path) -> None:
    puzzle = PUZZLES[0]
    best, *others = puzzle["candidates"]
    wrong = best | {"line": ["no such action"]}
    book = write_changed(tmp_path / "puzzles.json", puzzle | {"candidates": [wrong, *others]})
    assert book.mark != BOOK.mark, "a score belongs to a file"
    with pytest.raises(Refused, match="puzzle 1 cannot be explained: .*no such action"):
        book.explanation(0, {"action": puzzle["answer"]})
