"""The lines of a recorded game: players, commands, and the phases between two turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from gaia_jax.importers.notation import FACTIONS, Log, MismatchError

# The first words of a leech line, except `decline up`. Some records have only `decline`, both for
# leech and for a research step.
LEECH = ("charge", "decline")
STEP_DECLINED = (["decline", "up"], ["decline"])
BETWEEN = ("roundIncome", "roundGaia")  # phases in which some players are ahead of the others


class Line:
    """One line of a record; `between`: whether it belongs to a phase between two turns."""

    between = False

    def __init__(self, number: int, step: Log, names: dict[str, int]) -> None:
        self.number, self.text, self.who = number, step["l"], step.get("p", -1)
        self.options: dict[str, Any] | None = step.get("op")
        self.outcome: dict[str, Any] = step.get("s") or {}  # the state after it, if recorded
        words = self.text.rstrip(". ").split(" ", 1)
        if names.get(words[0]) != self.who:
            raise MismatchError(
                f"move {number + 1} {self.text!r}", f"of player {self.who}", "not theirs"
            )
        rest = words[1] if len(words) > 1 else ""
        self.commands = [cmd.strip().split() for cmd in rest.split(". ") if cmd.strip()]
        self.commands = [cmd for cmd in self.commands if cmd[0] != "endturn"]
        self.next: int | None = None  # the player of the next line

    @property
    def is_leech(self) -> bool:
        """Whether it answers an offer of leech."""
        return is_leech(self.commands)

    @property
    def is_between(self) -> bool:
        """Whether its words are those of income or the Gaia phase."""
        if not self.commands:
            return False
        first = self.commands[0]
        sold = first[0] == "spend" and len(first) > 1 and first[1].endswith("tg")
        return first[0] in ("income", "brainstone") or sold or first == ["decline", "tech"]


def is_leech(commands: list[list[str]]) -> bool:
    """Whether the next command answers an offer of leech."""
    return (
        bool(commands)
        and commands[0][0] in LEECH
        and (len(commands[0]) > 1 or commands[0] == ["decline"])
        and commands[0] != ["decline", "up"]
    )


def lines_of(log: Log) -> list[Line]:
    """The lines of the players, in order.

    Raises:
        MismatchError: one is not of the player that it names.
    """
    names: dict[str, int] = {}
    for step in log["steps"]:
        words = step["l"].split()
        if len(words) == 3 and words[1] == "faction" and words[2] in FACTIONS:
            names[words[2]] = step["p"]
    steps = enumerate(log["steps"])
    lines = [Line(i, step, names) for i, step in steps if step["l"].split()[0] in names]
    if any(line.outcome for line in lines):  # then those without a state cannot be compared
        lines = [line for line in lines if line.outcome]
    for line, following in pairwise(lines):
        line.next = following.who
    return lines


def groups(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines in order, those of the phases between two turns together."""

    def is_between(at: int) -> bool:  # by the recorded state, else by the words
        outcome = lines[at - 1].outcome if at else {}
        return outcome["ph"] in BETWEEN if outcome else at > 0 and lines[at].is_between

    at = 0
    while at < len(lines):
        together = [lines[at]]
        together[0].between = is_between(at)
        at += 1
        while together[0].between and at < len(lines) and is_between(at):
            together.append(lines[at])
            at += 1
        yield together
