"""`docs/findings.md` is what `python -m training.study` makes of `docs/sample`."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
from gaia_jax import ruleset as rules
from training.data import folder
from training.study import findings

DOCS = Path(__file__).resolve().parents[2] / "docs"
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")
# From here on a page needs every decision, or says that it has none.
END = re.compile("## What a seat does|## Openings, choices, passing, leech")


def close(text, other):
    """The same words, and numbers that differ by their last digit at most."""
    if NUMBER.sub("#", text) != NUMBER.sub("#", other):
        return False
    numbers = [[float(n.replace(",", "")) for n in NUMBER.findall(x)] for x in (text, other)]
    return all(abs(a - b) < 0.11 for a, b in zip(*numbers, strict=True))


def test_the_page_is_that_of_the_sample(tmp_path):
    """What needs no decision, and its pictures. About 8 s."""
    about = json.loads((DOCS / "sample" / folder.ABOUT).read_text("utf-8"))
    assert about["files"][folder.GAMES]["bytes"] <= 10_000_000
    findings.write(DOCS / "sample", tmp_path, rules.RULESETS["lost_fleet"])
    made = (tmp_path / "findings.md").read_text("utf-8")
    held = (DOCS / "findings.md").read_text("utf-8")
    made, held = END.split(made)[0], END.split(held)[0]
    for line, other in zip(made.splitlines(), held.splitlines(), strict=True):
        assert close(line, other), f"{other!r} is {line!r} now: docs/study.md says how"
    for picture in sorted((tmp_path / "findings").iterdir()):
        there = (DOCS / "findings" / picture.name).read_text("utf-8")
        assert close(picture.read_text("utf-8"), there), f"{picture.name} is another now"


def test_every_picture_of_the_pages_is_there_and_no_other():
    for page in DOCS.glob("findings*.md"):
        named = set(
            re.findall(r"\]\((findings[a-z_]*/[A-Za-z_0-9]+\.svg)\)", page.read_text("utf-8"))
        )
        there = {f"{page.stem}/{path.name}" for path in (DOCS / page.stem).iterdir()}
        assert named == there


def test_people_stand_beside_it():
    text = (DOCS / "findings.md").read_text("utf-8")
    people = json.loads(findings.PEOPLE.read_text("utf-8"))
    for who, n, vp, _ in people["tables"]:
        assert f"| people: {who} | {vp} | {n} |" in text
    for said, _ in people["beliefs"]:
        assert f"| {said} | rank " in text
    for name, vp in people["factions"].items():
        mean = sum(people["factions"].values()) / len(people["factions"])
        assert re.search(rf"\| {name} \| \S+ \| {re.escape(f'{vp - mean:+.1f}')} \|", text)
