"""The choices of a puzzle, and how hard its answer is to find."""

from __future__ import annotations

from typing import Any

import pytest

from training.analysis import puzzles
from training.analysis.puzzle_choices import (
    LEVELS,
    MAX_CHOICES,
    choose_candidates,
    find_level,
)

pytestmark = pytest.mark.no_compile


def candidate(action: int, text: str, vp: float, **more: object) -> dict[str, Any]:
    line = [text, f"then {action}"]
    return {"action": action, "text": text, "vp": vp, "line": line} | more


def chosen(*others: dict[str, Any]) -> list[str]:
    """The texts of the choices; the answer and the move that it beats come first and second."""
    answer, beaten = candidate(0, "mine 0,0", 30.0), candidate(1, "mine 1,1", 1.0)
    puzzle = {"answer": {"action": 0}, "policy": {"action": 1}}
    choices = choose_candidates(puzzle | {"candidates": [answer, beaten, *others]})
    assert choices == sorted(choices, key=lambda choice: -choice["vp"])
    texts = [choice["text"] for choice in choices]
    assert {"mine 0,0", "mine 1,1"} <= set(texts) and len(texts) <= MAX_CHOICES
    return [text for text in texts if text not in ("mine 0,0", "mine 1,1")]


def test_the_likely_moves_are_choices_and_of_others_those_with_most_vp() -> None:
    others = [candidate(n, f"tile {n}", 20.0 - n / 4) for n in range(2, 7)]
    assert chosen(*others) == ["tile 2", "tile 3", "tile 4"]
    likely = candidate(7, "tile 7", 2.0, policy=0.1)
    assert chosen(*others, likely) == ["tile 2", "tile 3", "tile 7"]
    special = candidate(8, "special AC_B", 19.6, policy=0.5)
    assert chosen(*others, special) == ["tile 2", "tile 3", "tile 4"], "it can wait"
    assert chosen(*others[:2], special) == ["special AC_B", "tile 2", "tile 3"]


def test_an_unlikely_move_with_few_vp_is_no_choice() -> None:
    """Except for a third choice and the nearest one."""
    far = [candidate(2, "tile 2", 10.0), candidate(3, "tile 3", 4.0)]
    assert chosen(*far) == ["tile 2"]
    assert chosen(candidate(4, "tile 4", 20.0), *far) == ["tile 4"]
    likely = candidate(5, "tile 5", -9.0, policy=0.01)
    assert chosen(*far, likely) == ["tile 2", "tile 5"]


def test_moves_that_differ_only_in_their_place_count_once() -> None:
    first = candidate(2, "project 2,2", 20.0)
    same_game = {"line": ["project 3,3", *first["line"][1:]]}
    assert chosen(first, candidate(3, "project 3,3", 20.0) | same_game) == ["project 2,2"]
    assert len(chosen(first, candidate(3, "project 3,3", 20.0))) == 2, "another game follows"
    assert len(chosen(first, candidate(3, "upgrade 3,3", 20.0) | same_game)) == 2
    tiles = [candidate(n, f"tile {n}", 20.0) | {"line": ["", "pass"]} for n in (2, 3)]
    assert len(chosen(*tiles)) == 2, "two tiles are two moves"


def test_a_level_depends_on_the_turns_until_the_reason_shows() -> None:
    """Of the choice to beat; older files have the round of the event only."""

    def level(**reason: object) -> str:
        beaten = {"action": 1, "reason": reason}
        return find_level({"policy": {"action": 1}, "candidates": [{"action": 0}, beaten]})

    assert level(kind="vp") == "easy" and level(kind="taken", player=2) == "medium"
    assert [level(kind="follows", round=0, turns=n) for n in (1, 2, 3)] == [
        "medium",
        "hard",
        "hard",
    ]
    assert [level(kind="follows", round=round_) for round_ in (0, 1)] == ["medium", "hard"]
    shipped = puzzles.read(puzzles.SHIPPED)["puzzles"]
    assert {find_level(puzzle) for puzzle in shipped} == set(LEVELS)
