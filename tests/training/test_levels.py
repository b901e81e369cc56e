"""Levels of play: names for agents that exist."""

from pathlib import Path

import jax
import pytest

from gaia_jax.cli.command_line import UserError
from tests.training import toy_env
from training import zoo
from training.agents import make_agent, parse_name
from training.agents.baseline import make_baseline_model
from training.agents.levels import LEVELS, agent_of
from training.agents.registry import REGISTRY
from training.agents.search import split_name

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level_is_an_agent_that_is_there(level):
    base, _ = split_name(level.agent)
    assert base in REGISTRY or base in zoo.names()
    assert agent_of(level.name) == level.agent and agent_of(level.agent) == level.agent


def test_a_level_is_the_name_of_its_agent_wherever_one_is_read():
    assert split_name("expert") == ("zoo/strong", None) and parse_name("expert").run == "zoo/strong"
    base, search = split_name("strongest")
    assert base == "zoo/strong" and search.simulations == 64
    assert split_name("expert+search:8") == split_name("zoo/strong+search:8")
    env = toy_env.make("toy", reward="vp")
    model = make_baseline_model("newcomer", env)
    logits, _ = model(jax.jit(env.init)(jax.random.key(0)))
    assert logits.max() == 0
    with pytest.raises(UserError, match="'strongest' has no logits"):
        make_baseline_model("strongest", env)
    with pytest.raises(UserError, match="regular, expert, .*; did you mean 'expert'"):
        make_agent("expret", env)
