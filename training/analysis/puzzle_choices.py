"""Derive the choices and the level of a puzzle from the fields of its file."""

from __future__ import annotations

from ..types import JsonObject
from .actions import action_kind
from .puzzles import NON_ANSWERS

MIN_CHOICES, MAX_CHOICES = 3, 5  # the answer included; a file may have fewer
TEMPTING = 0.01  # the least probability by the policy of a tempting move
NEAR = 1.25  # a tempting move has at most this many times the least deficit of all other moves
LEVELS = "easy", "medium", "hard"  # by the turns of the seat until the reason shows: 0, 1, more


def find_level(puzzle: JsonObject) -> str:
    """How far ahead one has to look to see why the answer is better than the choice to beat."""
    beaten = puzzle["policy"]["action"]
    reason = next(c.get("reason", {}) for c in puzzle["candidates"] if c["action"] == beaten)
    turns = 0 if reason.get("kind") == "vp" else reason.get("turns", 1 + reason.get("round", 0))
    return LEVELS[min(turns, 2)]


def choose_candidates(puzzle: JsonObject) -> list[JsonObject]:
    """The candidates that are choices, those with the most VP first.

    The answer, the move that it beats and the most tempting others are choices: the probable ones
    and those with the most VP. Special actions come last, because they can wait and so fit any
    plan. Moves that differ only in their place count once.
    """
    fixed = (puzzle["answer"]["action"], puzzle["policy"]["action"])
    best, *others = sorted((c["vp"] for c in puzzle["candidates"]), reverse=True)
    least = best - NEAR * (best - others[0]) if others else best

    def rank(candidate: JsonObject) -> tuple[bool, bool, float, float]:
        probability = round(candidate.get("policy", 0.0), 2)
        can_wait = candidate["text"].startswith(NON_ANSWERS)
        return candidate["action"] not in fixed, can_wait, -probability, -candidate["vp"]

    chosen = list[JsonObject]()
    for candidate in sorted(puzzle["candidates"], key=rank):
        is_new = not any(_is_alike(candidate, other) for other in chosen)
        is_tempting = candidate.get("policy", 0.0) >= TEMPTING or candidate["vp"] >= least
        is_open = is_new and (is_tempting or len(chosen) < MIN_CHOICES)
        if candidate["action"] in fixed or (is_open and len(chosen) < MAX_CHOICES):
            chosen.append(candidate)
    return sorted(chosen, key=lambda candidate: -float(candidate["vp"]))


def _is_alike(candidate: JsonObject, other: JsonObject) -> bool:
    """Whether two moves differ only in their place: the same game follows both."""
    kinds = {action_kind(c["text"]) for c in (candidate, other)}
    return (
        "," in candidate["text"] and len(kinds) == 1 and candidate["line"][1:] == other["line"][1:]
    )
