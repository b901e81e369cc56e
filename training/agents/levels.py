"""Five levels of play by plain names, each an agent: wherever an agent is named, so is a level."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """A level of play."""

    name: str
    agent: str
    about: str
    vp: float | None = None  # in the arena of README.md, a game of the first four


# From the weakest on. The gain of the search was measured in docs/lab/search.md.
LEVELS = (
    Level("newcomer", "random", "any legal move", 24.9),
    Level("beginner", "zoo/quick", "a network that has learnt for minutes", 93.9),
    Level("regular", "greedy", "written by hand, looks ahead within its move", 101.7),
    Level("expert", "zoo/strong", "the strongest network of The Lost Fleet", 175.2),
    Level("strongest", "zoo/strong+search:64", "the same, and plays each move out before it"),
)
# Seconds per decision at a table of four: median and 90th percentile, measured on this machine as
# described in docs/lab/performance.md.
TIMED_ON = "2 cores (AMD EPYC)"
SECONDS = {
    "random": (0.0011, 0.0013),
    "zoo/quick": (0.0026, 0.0029),
    "greedy": (0.0031, 0.0065),
    "zoo/strong": (0.0031, 0.0037),
    "zoo/strong+search:64": (0.0041, 0.09),
}
# The experts of the base game at the table, for four, two and three players. For four, zoo/base
# leads zoo/strong by 30 VP (docs/lab/learning.md); for two and three no other trained agent plays.
BASE_EXPERTS = ("zoo/base", "zoo/duel", "zoo/trio")
_AGENTS = {level.name: level.agent for level in LEVELS}


def level_in(agent: str, ruleset: str) -> str:
    """The name of the level that an agent has in games of a ruleset; "" if it has none there."""
    if ruleset == "base" and agent in BASE_EXPERTS:
        return "expert"
    level = next((level.name for level in LEVELS if level.agent == agent), "")
    return "" if ruleset == "base" and level in ("expert", "strongest") else level


def agent_of(name: str) -> str:
    """The agent of a level; any other name is returned unchanged."""
    return _AGENTS.get(name, name)
