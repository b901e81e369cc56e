"""Levels of play: names for agents that are there, as the guide lists them."""

import re
from pathlib import Path

import jax
import pytest

from gaia_jax.cli.command_line import UserError
from tests.training import toy_env
from training import zoo
from training.agents import make_agent, split_run
from training.agents.baseline import make_baseline_model
from training.agents.levels import LEVELS, SECONDS, TIMED_ON, agent_of
from training.agents.registry import REGISTRY
from training.agents.search import split_name
from training.play import offers

ROOT = Path(__file__).resolve().parents[2]
PAGE, README = ROOT / "docs" / "guide" / "comparing.md", ROOT / "README.md"


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level_is_an_agent_that_is_there(level):
    base, _ = split_name(level.agent)
    assert base in REGISTRY or base in zoo.names()
    assert agent_of(level.name) == level.agent and agent_of(level.agent) == level.agent
    row = f"| `{level.name}` | `{level.agent}` | {level.about} |\n"
    assert row in PAGE.read_text("utf-8")


def test_the_vp_of_a_level_are_those_of_the_arena_in_the_readme():
    rows = re.findall(r"^\| `([a-z/]+)` \| ([0-9.]+) \(", README.read_text("utf-8"), re.M)
    assert len(rows) == 4
    assert {agent: float(vp) for agent, vp in rows} == {
        level.agent: level.vp for level in LEVELS if level.vp is not None
    }


def test_the_seconds_of_a_level_are_those_of_its_page_and_the_form_has_the_slow_ones():
    page = PAGE.read_text("utf-8")
    for one in LEVELS:
        median, most = SECONDS[one.agent]
        assert f"- `{one.name}` {median} ({most})\n" in page and 0 < median <= most
    assert f"\n{TIMED_ON}, 20" in page
    median, most = SECONDS["zoo/strong+search:64"]
    said = f"{median} s a decision on {TIMED_ON}, nine of ten within {most} s"
    assert said in offers.level("zoo/strong+search:64").about
    assert "slower" in offers.level("zoo/quick+search:32").about, "what was not measured"


def test_an_agent_is_made_by_the_name_of_its_level():
    assert make_agent("newcomer", toy_env.make("toy", reward="vp")).name == "random"
    assert len(LEVELS) == 5


def test_a_level_is_the_name_of_its_agent_wherever_one_is_read():
    assert split_name("expert") == ("zoo/strong", None) and split_run("expert")[0] == "zoo/strong"
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
