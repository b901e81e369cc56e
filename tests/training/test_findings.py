"""`docs/lab/findings.md` is what `python -m training.study` makes of `docs/sample`."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from exported import FACE, command

from gaia_jax import ruleset as rules
from training.games import dataset
from training.study import __main__ as study
from training.study import figures, findings
from training.system import cli

DOCS = Path(__file__).resolve().parents[2] / "docs"
LAB = DOCS / "lab"
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
    about = json.loads((DOCS / "sample" / dataset.ABOUT).read_text("utf-8"))
    assert about["files"][dataset.GAMES]["bytes"] <= 10_000_000
    findings.write(DOCS / "sample", tmp_path, rules.RULESETS["lost_fleet"])
    made = (tmp_path / "findings.md").read_text("utf-8")
    held = (LAB / "findings.md").read_text("utf-8")
    made, held = END.split(made)[0], END.split(held)[0]
    for line, other in zip(made.splitlines(), held.splitlines(), strict=True):
        assert close(line, other), f"{other!r} is {line!r} now: docs/reference/datasets.md says how"
    for picture in sorted((tmp_path / "findings").iterdir()):
        there = (LAB / "findings" / picture.name).read_text("utf-8")
        assert close(picture.read_text("utf-8"), there), f"{picture.name} is another now"


def test_every_picture_of_the_pages_is_there_and_no_other():
    for page in LAB.glob("findings*.md"):
        named = set(
            re.findall(r"\]\((findings[a-z_]*/[A-Za-z_0-9]+\.svg)\)", page.read_text("utf-8"))
        )
        there = {f"{page.stem}/{path.name}" for path in (LAB / page.stem).iterdir()}
        assert named == there


def test_people_stand_beside_it():
    text = (LAB / "findings.md").read_text("utf-8")
    people = json.loads(findings.PEOPLE.read_text("utf-8"))
    for who, n, vp, _ in people["tables"]:
        assert f"| people: {who} | {vp} | {n} |" in text
    for said, _ in people["beliefs"]:
        assert f"| {said} | rank " in text
    for name, vp in people["factions"].items():
        mean = sum(people["factions"].values()) / len(people["factions"])
        assert re.search(rf"\| {name} \| \S+ \| {re.escape(f'{vp - mean:+.1f}')} \|", text)


@pytest.mark.usefixtures("small_datasets")
def test_findings_of_a_dataset(whole, tmp_path, capsys, monkeypatch):
    """The page and its pictures; what these rules lack is said to be missing."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "docs"
    out.mkdir()
    before = {path: path.read_bytes() for path in whole.iterdir()}
    code = cli.run(lambda: study.main([str(whole), "--out", str(out)], FACE))
    assert code == 0, capsys.readouterr().err
    text = (out / "findings.md").read_text()
    assert "From 48 games on 12 set-ups" in text and "What cannot be concluded" in text
    pictures = re.findall(r"\]\((findings/[a-z_0-9]+\.svg)\)", text)
    assert {"findings/factions.svg", "findings/in_play_boosters.svg"} <= set(pictures)
    for picture in pictures:
        ElementTree.parse(out / picture)
    assert "Passing one place later: too few games." in text
    # The same data, the same page.
    again = tmp_path / "again"
    again.mkdir()
    assert cli.run(lambda: study.main([str(whole), "--out", str(again)], FACE)) == 0
    assert "is there" in capsys.readouterr().out  # the decisions were derived once
    assert {path: path.read_bytes() for path in whole.iterdir()} == before
    assert (again / "findings.md").read_bytes() == (out / "findings.md").read_bytes()
    # What needs every decision, of some games alone.
    few = ["--decided", "20", "--page", "findings_few"]
    assert cli.run(lambda: study.main([str(whole), "--out", str(again), *few], FACE)) == 0
    assert "of the first 48 games: it needs" in (again / "findings.md").read_text()
    text = (again / "findings_few.md").read_text()
    assert "of the first 20 games: it needs" in text and "From 48 games" in text
    assert "](findings_few/factions.svg)" in text
    (copy,) = (tmp_path / "runs" / "study").glob("*_20")
    assert json.loads((copy / dataset.ABOUT).read_text())["parts"][0]["games"] == 20


def study_of(*args):
    return cli.run(lambda: study.main([str(x) for x in args], FACE))


@pytest.mark.usefixtures("small_datasets")
def test_a_sample_shows_the_figures_of_all_games_beside_its_own(whole, tmp_path, capsys):
    """`--figures` of the whole, `--merge --games` for the sample. About 2 s."""
    sample, out = tmp_path / "sample", tmp_path / "docs"
    out.mkdir()
    assert command(capsys, "--out", sample, "--merge", whole, "--games", "24")[0] == 0
    assert study_of(whole, "--figures", sample / figures.WHOLE) == 0
    assert study_of(sample, "--out", out, "--games-only") == 0, capsys.readouterr().err
    text = (out / "findings.md").read_text()
    assert "From 48 games on 12 set-ups" in text and "the first 24 of these games" in text
    assert "| `random` | " in text and "| `random`, the sample | " in text
    assert "| | VP (95 %) | n | sample |" in text and "| here, the sample | 24 games |" in text
    # Each number stands where it belongs.
    of_all, own = figures.load_whole(sample), tmp_path / "own"
    own.mkdir()
    assert of_all.games == 48 and of_all.deals == 12
    assert study_of(sample, "--figures", own / "own.json") == 0
    told = json.loads((own / "own.json").read_text())["figures"]["seats"]
    shown = text[text.index("### Seats") : text.index("### Opponents")]
    for name, *numbers, _size, _found in told:
        (all_games,) = [e for e in of_all.figures["seats"] if e.name == name]
        (line,) = [line for line in shown.splitlines() if line.startswith(f"| {name} |")]
        both = [f"{e:+.1f} ({low:+.1f} to {high:+.1f})" for e, low, high in
                (all_games[1:4], numbers)]  # fmt: skip
        assert both[0] in line.split("|")[2] and both[1] in line.split("|")[4]
    # Of other games it is refused.
    text = (sample / figures.WHOLE).read_text()
    (sample / figures.WHOLE).write_text(text.replace('"seed": 3', '"seed": 4'))
    assert study_of(sample, "--out", out, "--games-only") == 2
    assert "is of other games than" in capsys.readouterr().err


def test_agreement_counts_the_intervals_that_hold_the_other_number():
    def one(name, estimate):
        return figures.Effect(name, estimate, estimate - 1, estimate + 1, 9, False)

    own = {"a": [one("x", 0), one("y", 5)], "b": [one("z", 1)]}
    known = {"a": [one("y", 5.5), one("x", 1.5)], "c": [one("z", 1)]}
    assert figures.agreement(own, known) == (2, 1)
