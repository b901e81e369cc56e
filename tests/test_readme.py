"""The README's example runs as it stands, and the files that it names exist."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import badges
from tools.game_picture import stepping

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


@pytest.mark.slow
def test_the_example_plays_sixteen_games(capsys):
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    scope: dict = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert capsys.readouterr().out
    assert scope["who"].shape == (400, 16)
    assert scope["state"].terminated.any(), "400 random decisions end a game"


def test_it_has_one_table_and_a_picture_that_steps():
    assert len(re.findall(r"^\| ---", README, re.M)) == 1
    _, picture = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    text = (ROOT / picture).read_text("utf-8")
    ElementTree.fromstring(text)
    assert text.count("<animate ") > 50
    assert len(text) <= 300_000


def test_the_badges_are_what_the_project_says():
    """`python -m tools.badges > docs/badges.svg`."""
    first, _ = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    text = (ROOT / first).read_text("utf-8")
    assert text == badges.drawn()
    told = [node.text for node in ElementTree.fromstring(text).iter() if node.tag.endswith("}text")]
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'"jax>={dict(badges.facts())["jax"].split()[0]}"' in project
    assert told == [word for fact in badges.facts() for word in fact] and len(told) >= 12
    assert "strict = true" in project  # of mypy


def test_a_part_of_the_picture_is_shown_while_it_lasts():
    made = ElementTree.fromstring(f"<g>{stepping([(0, '<a/>'), (2, '<b/>'), (3, '')], 4, 8)}</g>")
    first, second = made
    assert first[0].attrib["dur"] == "8s"
    assert (first[0].attrib["keyTimes"], first[0].attrib["values"]) == ("0;0.5000", "inline;none")
    assert second[0].attrib["keyTimes"] == "0;0.5000;0.7500"
    assert second[0].attrib["values"] == "none;inline;none"
    assert stepping([(0, "<a/>")], 4, 8) == "<a/>"  # what never changes
    last = ElementTree.fromstring(stepping([(0, ""), (3, "<c/>")], 4, 8))
    assert "display" not in last.attrib  # where nothing moves, the end is to be seen
