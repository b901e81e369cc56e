"""Five levels of play by plain names, each an agent: wherever an agent is named, so is a level."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """A level of play."""

    name: str
    agent: str
    about: str


# From the weakest on. Measured: the order of the first four in the arena of README.md, the gain of
# the search in docs/lab/search.md.
LEVELS = (
    Level("newcomer", "random", "any legal move"),
    Level("beginner", "zoo/quick", "a network that has learnt for minutes"),
    Level("regular", "greedy", "written by hand, looks ahead within its move"),
    Level("expert", "zoo/strong", "the network that has learnt longest"),
    Level("strongest", "zoo/strong+search:64", "the same, and plays each move out before it"),
)
_AGENTS = {level.name: level.agent for level in LEVELS}


def agent_of(name: str) -> str:
    """The agent's name that a level stands for; any other name is its own."""
    return _AGENTS.get(name, name)
