"""Levels of play: names for agents that are there, as the guide lists them."""

from pathlib import Path

import pytest

from tests.training import toy_env
from training import zoo
from training.agents import make_agent
from training.agents.levels import LEVELS, agent_of
from training.agents.registry import REGISTRY
from training.agents.search import split_name

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "comparing.md"


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level_is_an_agent_that_is_there(level):
    base, _ = split_name(level.agent)
    assert base in REGISTRY or base in zoo.names()
    assert agent_of(level.name) == level.agent and agent_of(level.agent) == level.agent
    row = f"| `{level.name}` | `{level.agent}` | {level.about} |\n"
    assert row in PAGE.read_text("utf-8")


def test_an_agent_is_made_by_the_name_of_its_level():
    assert make_agent("newcomer", toy_env.make("toy", reward="vp")).name == "random"
    assert len(LEVELS) == 5
