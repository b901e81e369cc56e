"""Derive the choices and the level of a puzzle from the fields of its file."""

from __future__ import annotations

from ..types import JsonObject
from .actions import action_kind
from .puzzles import NON_ANSWERS

MAX_CHOICES = 5  # the answer included
# The least probability of the answer by the policy; the page explains the levels.
LEVELS = {"easy": 1 / 3, "medium": 1 / 10, "hard": 0.0}


def find_level(puzzle: JsonObject) -> str:
    """How hard it is to choose the answer, by its probability."""
    probability = puzzle["answer"].get("policy", 0.0)
    return next(level for level, least in LEVELS.items() if probability >= least)


def choose_candidates(puzzle: JsonObject) -> list[JsonObject]:
    """The candidates that are choices, those with the most VP first.

    The answer and the move that it beats are choices. Of the others, special actions come last,
    because they can wait and so fit any plan; the more probable moves come first, and of equally
    probable ones those with more VP. Moves that differ only in their place count once.
    """
    fixed = (puzzle["answer"]["action"], puzzle["policy"]["action"])

    def rank(candidate: JsonObject) -> tuple[bool, bool, float, float]:
        probability = round(candidate.get("policy", 0.0), 2)
        can_wait = candidate["text"].startswith(NON_ANSWERS)
        return candidate["action"] not in fixed, can_wait, -probability, -candidate["vp"]

    chosen = list[JsonObject]()
    for candidate in sorted(puzzle["candidates"], key=rank):
        is_new = not any(_is_alike(candidate, other) for other in chosen)
        if candidate["action"] in fixed or is_new:
            chosen.append(candidate)
    return sorted(chosen[:MAX_CHOICES], key=lambda candidate: -float(candidate["vp"]))


def _is_alike(candidate: JsonObject, other: JsonObject) -> bool:
    """Whether two moves differ only in their place: the same game follows both."""
    kinds = {action_kind(c["text"]) for c in (candidate, other)}
    return (
        "," in candidate["text"] and len(kinds) == 1 and candidate["line"][1:] == other["line"][1:]
    )
