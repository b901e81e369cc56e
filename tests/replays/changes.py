"""Search and replacement of commands in a recorded game, for mutants."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
# Changes a record in place and returns where; None or an IndexError if nothing can be changed.
Change = Callable[[Record, random.Random], str | None]


def moves(record: Record, word: str, ok: Callable[[list[str]], bool] = bool) -> list[Any]:
    """The commands of this name: step, place in the line, words; without those of the income."""
    matches = []
    before: dict[str, Any] = {}
    for number, step in enumerate(record["steps"]):
        between = before.get("ph") in ("roundIncome", "roundGaia")
        parts = step["l"].rstrip(". ").split(" ", 1)
        before = step["s"] or before
        if len(parts) < 2 or not step["s"] or between:
            continue
        for at, command in enumerate(parts[1].split(". ")):
            words = command.split()
            if words[0] == word and ok(words):
                matches.append((number, at, words))
    return matches


def rewrite(record: Record, number: int, at: int, words: list[str] | None) -> str:
    """Put other words in the place of a command, or take it out."""
    step = record["steps"][number]
    name, text = step["l"].rstrip(". ").split(" ", 1)
    commands = text.split(". ")
    was = commands[at]
    commands[at : at + 1] = [" ".join(words)] if words else []
    step["l"] = f"{name} {'. '.join(commands)}"
    return f"line {number}, {was!r} becomes {' '.join(words or ['nothing'])!r}"
