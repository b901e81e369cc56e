"""What the page of the puzzles gets: a question without its answer, the lines, the reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax import replay
from gaia_jax.actions import from_text, to_text
from gaia_jax.language import in_language
from gaia_jax.render import Table
from training.analysis import puzzles
from training.analysis.recorded_game import compiled_step
from training.play import puzzle_lines
from training.play.game import Refused
from training.play.languages import translated
from training.play.puzzle_book import PuzzleBook, verified
from training.play.puzzle_explanation import (
    SOURCE_IDS,
    Contrast,
    answer_mentions,
    explain,
    find_event,
    other_mentions,
)
from training.play.puzzle_lines import turns_of

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
    count = len(BOOK.index()["values"]["theme"])
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
    for explanation, compared in (
        explained(others[1]["action"]),
        explained(right, compared=others[1]["action"]),
    ):
        assert compared["action"] == others[1]["action"]
        assert any(compared["words"] in paragraph for paragraph in explanation["why"])
        ends = [step["vp"] for step in explanation["line"] if step.get("over")]
        assert len(ends) == 2, "both lines are whole games"
    assert not explained(others[1]["action"])[0]["right"]
    for wrong in (right, -1, None):
        with pytest.raises(Refused, match="compared must be another choice"):
            BOOK.explanation(0, {"action": right, "compared": wrong})


def contrasts(number: int, book: PuzzleBook = BOOK) -> Iterator[tuple[Contrast, Any]]:
    """The answer of a puzzle and each other choice, and what the page gets about them."""
    puzzle = verified(book._puzzle(number))
    answer = puzzle["answer"]["action"]
    for candidate in puzzle["candidates"]:
        if candidate["action"] != answer:
            lines = [book._line(number, action, "en") for action in (answer, candidate["action"])]
            body = {"action": answer, "compared": candidate["action"]}
            yield (
                book._contrast(number, puzzle, candidate, lines),
                book.explanation(number, body),
            )


def shortest_of_kinds() -> dict[str, int]:
    """The shipped puzzle with the shortest line for each kind of reason."""
    shortest = dict[str, tuple[int, int]]()
    for number, puzzle in enumerate(SHIPPED["puzzles"]):
        for candidate in puzzle["candidates"]:
            kind, length = candidate.get("reason", {}).get("kind", ""), len(candidate["line"])
            shortest[kind] = min(shortest.get(kind, (length, number)), (length, number))
    return {kind: number for kind, (_, number) in shortest.items() if kind}


EVERY = [
    pytest.param(number, marks=[pytest.mark.slow] * (number not in shortest_of_kinds().values()))
    for number in range(len(SHIPPED["puzzles"]))
]


@pytest.mark.parametrize("number", EVERY)
def test_an_explanation_is_true_of_its_lines_and_numbers(number: int) -> None:
    for contrast, explanation in contrasts(number):
        check_event(contrast, explanation)
        check_numbers(SHIPPED["puzzles"][number], contrast, explanation)
        obstacle = re.search(
            r"cannot do this there.*?round (\d+), step (\d+)", explanation["why"][0]
        )
        if obstacle:
            check_impossible(number, contrast, *map(int, obstacle.groups()))


def check_event(contrast: Contrast, explanation: Any) -> None:
    """The step that the explanation names is the event, and a turn with that step is mentioned."""
    cause, line, reason = explanation["why"][0], explanation["line"], contrast.reason
    mentions = answer_mentions(contrast), other_mentions(contrast)
    texts = [p for p in explanation["why"] if re.match("After (the answer|“[^”]*”): ", p)]
    assert len(texts) == sum(map(bool, mentions))
    by_side = iter(texts)
    for side, mentioned in enumerate(mentions):
        text = next(by_side) if mentioned else ""
        numbers = [mention.turn.number for mention in mentioned]
        assert numbers == sorted(set(numbers))
        for mention in mentioned:
            assert f"{mention.turn.words} (round {mention.turn.round}" in text
            for step in mention.turn.steps:
                assert line[step.number + side * len(contrast.lines[0])] == step.json
    event = re.search(r"round (\d+), step (\d+) below", cause)
    if reason["kind"] == "vp":
        assert contrast.compared["why"].keys() >= reason["sources"].keys()
        taken = re.search(r"take what the answer brings|do this all the same|$", cause)
        assert bool(event) is bool(taken and taken[0])
        if not event:
            check_never(cause, line, len(contrast.lines[0]))
            return
    assert event
    side = int(reason["kind"] != "follows")
    step, begin = line[int(event[2])], len(contrast.lines[0])
    assert (int(event[2]) > begin) is bool(side)
    if reason["kind"] == "vp":
        assert piece(step) in {piece(row) for row in line[1:begin] if row["own"]}
        assert step["own"] is not ("take what" in cause)
    else:
        assert step["text"] == reason["text"] and step["own"] is not bool(side)
    shown = [mention.turn for mention in mentions[side] if step["text"] in mention.turn.texts]
    assert shown[0].round == int(event[1])
    assert step["words"].partition(": ")[2] in cause


def piece(step: Any) -> str:
    """The action of a step; a place of the map without what is done there."""
    return re.sub(r"^\w+ (?=-?\d+,)", "", step["text"])


def check_never(cause: str, line: Any, begin: int) -> None:
    """What the player does not get later is not in the other line."""
    never = re.search(r"do not get this later in the game below: (.*)\.$", cause)
    if never:
        (step,) = [
            s for s in line[1:begin] if s["own"] and s["words"].partition(": ")[2] == never[1]
        ][:1]
        assert piece(step) not in {piece(row) for row in line[begin + 1 :] if row["own"]}


def check_numbers(puzzle: Any, contrast: Contrast, explanation: Any) -> None:
    """The lead is the sum of its parts by source; the lead without the event is less."""
    compared, reason = contrast.compared, contrast.reason
    lead = next(c["less"] for c in explanation["candidates"] if c["text"] == compared["text"])
    best = next(c for c in puzzle["candidates"] if c["text"] == puzzle["answer"]["text"])
    assert lead == pytest.approx(best["vp"] - compared["vp"], abs=0.11)
    paragraphs = [text.replace("\N{MINUS SIGN}", "-") for text in explanation["why"]]
    by_source = next(text for text in paragraphs if text.startswith("The lead of "))
    total, *parts = map(float, re.findall(r"[-+]?\d+\.\d", by_source))
    largest = list(compared["why"].values())[:3]
    assert total == pytest.approx(lead, abs=0.06) and parts[: len(largest)] == largest
    assert sum(parts) == pytest.approx(total, abs=0.3)
    if "without" in reason:
        assert reason["without"] < lead
        assert f" {reason['without']} VP" in paragraphs[0].replace("(", " ")
    if reason["kind"] != "vp":
        games, total = reason["games"], puzzle["held"]["playouts"]
        share = f"in all {total} games" if games == total else f"in {games} of {total} games"
        assert share in paragraphs[0]


def check_impossible(number: int, contrast: Contrast, round_: int, step_number: int) -> None:
    """The event is not legal at the first action of the turn, and that action is."""
    env, state, _ = BOOK._position(number)
    step, texts = compiled_step(env), contrast.compared["line"]
    shown = contrast.lines[1][step_number - len(contrast.lines[0])]
    assert shown.round == round_ and shown.player == contrast.seat
    first = shown.json["text"]
    while state.current_player != contrast.seat or texts[0] != first:
        state, texts = step(state, from_text(env.ruleset, texts[0])), texts[1:]
    legal = np.flatnonzero(state.legal_action_mask)
    options = [to_text(env.ruleset, int(action)) for action in legal]
    assert first in options and contrast.reason["text"] not in options


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
def test_an_explanation_names_the_reason_in_the_words_of_its_line(kind: str) -> None:
    """An opponent's action of the other line, or a whole turn of the answer's line."""
    contrast = next(contrasts(0))[0]
    answer, other = (turns_of(line) for line in contrast.lines)
    opponent = next(turn for turn in other if turn.player != contrast.seat)
    own = [turn for turn in answer if turn.player == contrast.seat][2]
    event = {"taken": opponent.texts[0], "follows": own.texts[0]}.get(kind)
    at_once = {"sources": {"round tiles": 7.0}}
    reason = {"kind": kind, "games": 20, "round": 0, "player": 0}
    reason |= {"text": event, "without": -2.0} if event else at_once

    def cause(**changes: object) -> str:
        compared = contrast.compared | {"reason": reason | changes}
        return explain(contrast._replace(compared=compared))[0]

    assert all(contrast.brings)
    words = {"taken": opponent.steps[0].words, "follows": own.words, "vp": contrast.brings[1]}
    assert words[kind] in cause()
    with in_language("de"):
        assert "Lösung" in cause() and "Runde" in cause()
    if kind == "follows":
        assert "is gone (−2.0 VP)" in cause() and "to 2.0 VP" in cause(without=2.0)


def test_an_action_with_an_obstacle_is_illegal() -> None:
    """In all turns of a game; each kind of obstacle occurs."""
    record = replay.read("docs/records/lost_fleet.json")
    rules, obstacles = record.env().ruleset, set[str]()
    texts = [text for text in rules.actions.texts if text.startswith(("power ", "ship "))]
    for state in replay.states(record):
        table = Table(state, rules)
        for text in texts if table.node == "TURN" else ():
            if obstacle := puzzle_lines.find_obstacle(table, text):
                assert not state.legal_action_mask[from_text(rules, text)], (text, obstacle)
                obstacles.add(obstacle)
    assert obstacles == {"it has been used in this round", "they have no shuttle there"}


def test_a_piece_that_the_seat_takes_later_is_named_with_its_vp() -> None:
    contrast = next(contrasts(shortest_of_kinds()["vp"]))[0]
    best, other = contrast.lines
    again = [other[0], other[1], best[1]._replace(part="begins"), *best[2:]]
    late = contrast._replace(lines=[best, again])
    vp = sum(turns_of(best)[0].scored(SOURCE_IDS[name]) for name in contrast.reason["sources"])
    event = find_event(late)
    assert event and event[0].player == contrast.seat and vp >= 3
    assert f" for {vp} VP: {best[1].words} (" in explain(late)[0]


def test_a_line_that_does_not_play_is_refused(tmp_path: Path) -> None:
    """The question is there all the same; a conversion among its choices only begins a move."""
    puzzle = SHIPPED["puzzles"][0]
    *others, last = [c | {"line": ["no such action"]} for c in puzzle["candidates"]]
    conversion = last | {"action": -1, "text": "free burn", "policy": 0.5}
    changed = puzzle | {"candidates": [*others[:3], conversion]}
    path = tmp_path / "puzzles.json"
    puzzles.write(path, SHIPPED | {"puzzles": [changed]})
    book = PuzzleBook(path)
    assert book.mark != BOOK.mark, "a score belongs to a file"
    choices = {choice["text"]: choice["words"] for choice in book.question(0)["choices"]}
    assert choices["free burn"].startswith("first ")
    with pytest.raises(Refused, match="puzzle 1 cannot be explained: .*no such action"):
        book.explanation(0, {"action": puzzle["answer"]["action"]})


def test_a_long_line_leaves_steps_out_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step is the one of the whole line, and the seat's large gains stay."""
    puzzle = SHIPPED["puzzles"][0]
    env, state, _ = BOOK._position(0)
    best = next(c for c in puzzle["candidates"] if c["text"] == puzzle["answer"]["text"])

    def line(max_steps: int, large_gain: int) -> list[Any]:
        monkeypatch.setattr(puzzle_lines, "MAX_STEPS", max_steps)
        monkeypatch.setattr(puzzle_lines, "LARGE_GAIN", large_gain)
        return [s.json for s in puzzle_lines.steps_of(env, state, best["line"], puzzle["player"])]

    whole, short, with_gains = line(1000, 0), line(3, 1000), line(3, 5)
    assert short[:4] == with_gains[:4] == whole[:4] and len(short) == 5
    for steps in (short, with_gains):
        num_skipped = sum(step.get("skipped", 0) for step in steps)
        assert len(steps) + num_skipped == len(whole), "only visible steps count"
        assert steps[-1]["over"] and steps[-1] | {"skipped": 0} == whole[-1]
    gains = [
        step["text"]
        for before, step in zip(whole[3:-2], whole[4:-1], strict=True)
        if step["own"] and step["vp"] - before["vp"] >= 5
    ]
    assert gains and set(gains) <= {step["text"] for step in with_gains[4:-1]}


@pytest.mark.parametrize("kind", ["taken", "follows", "vp"])
def test_a_long_line_keeps_the_event_of_the_reason(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The explanation finds it, and the page shows its step."""
    number = shortest_of_kinds()[kind]
    if kind == "vp":  # one whose piece another player takes
        number = next(
            number
            for number, puzzle in enumerate(SHIPPED["puzzles"])
            for candidate in puzzle["candidates"]
            if puzzle["answer"]["text"] in candidate["line"]
            and candidate.get("reason", {}).get("kind") == kind
        )
    whole = [find_event(contrast) for contrast, _ in contrasts(number)]
    monkeypatch.setattr(puzzle_lines, "MAX_STEPS", 1)
    monkeypatch.setattr(puzzle_lines, "LARGE_GAIN", 1000)
    for (contrast, explanation), expected in zip(
        contrasts(number, PuzzleBook()), whole, strict=True
    ):
        check_event(contrast, explanation)
        event = find_event(contrast)
        assert event and expected and event[1].json["text"] == expected[1].json["text"]
        assert event[1].number > puzzle_lines.MAX_STEPS


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
