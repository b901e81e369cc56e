"""`docs/lab/findings.md` is what `python -m training.study` makes of `docs/sample`."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from exported import FACE, pq
from planted import rotated

from gaia_jax import ruleset as rules
from training.games import dataset
from training.stats import effects
from training.study import __main__ as study
from training.study import appendix, figures, findings, sentences, words
from training.study.page import Page
from training.study.table import load
from training.system import cli

DOCS = Path(__file__).resolve().parents[2] / "docs"
LAB = DOCS / "lab"
BEFORE = LAB / "before.json"
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")
LEFT_OUT = "Left out: `--games-only`."
# Ids of pieces and factions, as no reader knows them.
ID = re.compile(r"\b(?:RB\d+|RM-[A-Z0-9-]+|ART-[A-Z0-9-]+|S?FT_\w+|BT\d_\w+|TK-\w+|"
                r"(?:TWI|TFM|ECL|REB)_[A-Z]|PA_\w+|[A-Z]{3,}_[A-Z]+)\b")  # fmt: skip


def close(text, other):
    """The same words, and numbers that differ by their last digit at most."""
    if NUMBER.sub("#", text) != NUMBER.sub("#", other):
        return False
    numbers = [[float(n.replace(",", "")) for n in NUMBER.findall(x)] for x in (text, other)]
    return all(abs(a - b) < 0.11 for a, b in zip(*numbers, strict=True))


def missing(made, held):
    """The lines of `made` that `held` has not, in order; it may have more between them."""
    at, out = 0, []
    for line in made:
        found = next((k for k in range(at, len(held)) if close(line, held[k])), None)
        if found is None:
            out.append(line)
        else:
            at = found + 1
    return out


def test_the_pages_are_those_of_the_sample(tmp_path):
    """What needs no decision, and its pictures. About 10 s."""
    about = json.loads((DOCS / "sample" / dataset.ABOUT).read_text("utf-8"))
    assert about["files"][dataset.GAMES]["bytes"] <= 10_000_000
    ruleset = rules.RULESETS["lost_fleet"]
    findings.write(DOCS / "sample", tmp_path, ruleset, beside=figures.load(BEFORE))
    for name in ("findings.md", "findings_appendix.md", "findings_factions.md"):
        made = (tmp_path / name).read_text("utf-8").splitlines()
        made = [line for line in made if line and line != LEFT_OUT]
        made = [
            re.sub(r"^\d+\. ", "", line) for line in made
        ]  # findings of decisions have a number
        made = [line for line in made if line != "## Openings, choices, passing, leech"]
        held = (LAB / name).read_text("utf-8").splitlines()
        held = [re.sub(r"^\d+\. ", "", line) for line in held]
        # `docs/reference/datasets.md` says how they are made anew.
        assert not missing(made, held), name
    for picture in sorted((tmp_path / "findings").glob("*.svg")):
        there = (LAB / "findings" / picture.name).read_text("utf-8")
        assert close(picture.read_text("utf-8"), there), f"{picture.name} is another now"


def test_every_picture_of_the_pages_is_there_and_no_other():
    named = set()
    for page in LAB.glob("findings*.md"):
        named |= set(re.findall(r"\]\((findings/[A-Za-z_0-9]+\.svg)\)", page.read_text("utf-8")))
    there = {f"findings/{path.name}" for path in (LAB / "findings").glob("*.svg")}
    assert named == there


def test_ten_sentences_stand_first_each_with_its_picture_and_what_it_means():
    text = (LAB / "findings.md").read_text("utf-8")
    told = re.findall(r"^\d+\. \[(.+)\]\(#(.+)\): (.+)$", text, re.M)
    assert len(told) == 10
    assert text.index("## Beside people's statistics") < text.index("1. [")
    for title, anchor, sentence in told:
        plain = re.sub(r"\([^)]* to [^)]*\)", "", sentence)
        assert len(plain.split()) <= 34 and re.search(r"\(\S+ to \S+\)", sentence), sentence
        assert title.lower().replace(" ", "-") == anchor
        chapter = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
        assert all(x in chapter for x in ("](findings/", "- For play like this: ", "- People: "))
        assert text.count(sentence) == 1  # the list alone has it; it leads to the chapter


def test_no_id_stands_in_a_sentence_a_table_or_a_picture():
    for path in [*LAB.glob("findings*.md"), *(LAB / "findings").glob("*.svg")]:
        text = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", path.read_text("utf-8"))
        assert not ID.findall(text), path.name
    assert ID.findall("RB12, RM-TS-4VP, BT4_INC_C4, SPACE_GIANTS, TWI_P, FT_12VP") == [
        "RB12", "RM-TS-4VP", "BT4_INC_C4", "SPACE_GIANTS", "TWI_P", "FT_12VP",
    ]  # fmt: skip


def test_all_numbers_are_rows_of_a_table():
    table = pq.read_table(LAB / "findings" / appendix.TABLE).to_pandas()
    assert set(table.agents) == {"here", "before"}
    assert (table.low <= table.estimate).all() and (table.estimate <= table.high).all()
    before = figures.load(BEFORE)
    for e in before.figures["factions"]:
        (row,) = table[(table.agents == "before") & (table.id == e.name)
                       & (table.question == "factions")].itertuples()  # fmt: skip
        assert (row.estimate, row.low, row.high) == e[1:4] and row.name != row.id


def test_people_stand_beside_it():
    text = (LAB / "findings.md").read_text("utf-8")
    people = json.loads(findings.PEOPLE.read_text("utf-8"))
    for who, n, vp, _ in people["tables"]:
        assert f"| people: {who} | {n} | {vp} |" in text
    for said, _ in people["beliefs"]:
        assert f"| {said} | place " in text
    assert re.search(r"Rank correlation of the factions .* here \S+ \(\S+ to \S+\), 14 ", text)


def effect(name, estimate, half=1.0):
    return effects.Effect(name, estimate, estimate - half, estimate + half, 9, half < abs(estimate))


def test_a_sentence_says_what_its_numbers_say(tmp_path):
    """More and fewer, the best and the worst, alike or not with the agent before."""
    ruleset, people = rules.RULESETS["lost_fleet"], json.loads(findings.PEOPLE.read_text("utf-8"))
    own = {
        "factions": [effect("XENOS", 3), effect("TERRANS", -2), effect("ITARS", -1)],
        "seats": [effect("1 to move", 1.5), effect("4 to move", -1.5)],
        "offers": [effect("1 VP", 60), effect("2 VP", 20)],
    }
    before = {"factions": [effect("XENOS", -4)], "seats": [effect("4 to move", -1, 2)]}
    known = figures.Known(9, 9, {}, before | {"agents": [effect("a", 100)]})
    page = Page(tmp_path, "own", ruleset, own, known)
    first, seats, leech = sentences.all_of(page, people)
    assert "Xenos have 3.0 VP more (2.0 to 4.0)" in first.sentence
    assert "Terrans 2.0 VP fewer (1.0 to 3.0)" in first.sentence and first.play.startswith("5 VP")
    assert "moves first in round 1 has 1.5 VP more" in seats.sentence
    assert "60 % (59 to 61) for 1 VP, 20 % (19 to 21) for 2 VP" in leech.sentence
    assert "85 % for 1 VP, 73 % for 2 VP" in leech.people and "3 VP" not in leech.sentence
    assert "; the other direction" in findings.verdict(first)
    assert findings.verdict(seats).endswith("too unsure to say.")
    assert [e.name for e in leech.shown] == ["1 VP (9 offers)", "2 VP (9 offers)"]
    assert findings.verdict(leech) == "not known."


def test_the_finding_of_tracks_counts_factions(tmp_path):
    """Two of three factions have the same three tracks on top."""
    ruleset, people = rules.RULESETS["lost_fleet"], json.loads(findings.PEOPLE.read_text("utf-8"))
    tracks = list(ruleset.ids["track"])

    def levels(*at):
        return [effect(name, at[k], 0.1) for k, name in enumerate(tracks)]

    own = {
        "levels": levels(1, 2, 5, 4, 3, 0.5), "XENOS: research": levels(1, 2, 5, 4, 3, 0),
        "ITARS: research": levels(1, 2, 3, 4, 5, 0),
        "TERRANS: research": levels(4, 2, 5, 4.5, 3, 0),
    }  # fmt: skip
    (found,) = sentences.all_of(Page(tmp_path, "own", ruleset, own, None), people)
    assert found.sentence.startswith("2 of 3 factions climb Artificial Intelligence, Gaia project")
    assert "level 3.0 (2.9 to 3.1)" in found.sentence and "passes 2.0 (1.9" in found.sentence
    assert found.play.startswith("the highest that a faction has on another track is 4.0 on Terra")


def test_what_else_is_drawn_is_judged_together():
    """What stands out in its own family does not among all that are asked with it."""
    told = [f"in_play_{key}" for key in figures.LITTLE]
    before = figures.load(BEFORE).figures
    table, ruleset = load(DOCS / "sample"), rules.RULESETS["lost_fleet"]
    own = figures.of_games(table, ruleset)
    every = [e for key in told for e in own[key]]
    assert every == effects.together(every) and len(every) == 57
    alone = [e for key in told for e in effects.together(own[key])]
    assert sum(e.found for e in alone) > sum(e.found for e in every)
    assert {e.name for e in before["sources"]} == {e.name for e in own["sources"]}
    # Final missions are one source, and what is asked near home leaves out who has no colour.
    final = next(e for e in own["sources"] if e.name == "FINAL")
    assert final.estimate > next(e for e in own["sources"] if e.name == "FEDERATION").estimate
    few, many = (e.estimate for e in own["board_counts"])
    assert 5 < few < many and 0 < own["board"][0].size < 8192


def test_names_are_plain_and_apart():
    plain = words.Words(rules.RULESETS["lost_fleet"])
    told = {
        ("factions", "BAL_TAKS"): "Bal T'aks",
        ("opponents", "XENOS with ITARS"): "Xenos with Itars",
        ("seats", "1 to move"): "first to move",
        ("openings_XENOS", "upgrade / piece RL / mine"):
            "an upgrade, then build a research lab, then a mine",
        ("taken_ships", "explore TWILIGHT"): "shuttle to the Twilight",
        ("passing", "round 1"): "round 1",
    }  # fmt: skip
    for (question, id), name in told.items():
        assert plain.of(question, id) == name
    two = [effect("RM-PI-ACAD-1-5VP", 1), effect("RM-PI-ACAD-2-5VP", 2), effect("RM-TF-2VP", 3)]
    names = [e.name for e in plain.all("round_tiles", two)]
    assert len(set(names)) == 3 and names[0].endswith("(no. 1)") and names[1].endswith("(no. 2)")


def test_a_rank_correlation_has_an_interval_that_holds_the_true_one():
    """Of 300 draws of 14 normal pairs with a known correlation it holds in about 95 of 100."""
    rng, rho, held = np.random.default_rng(0), 0.6, 0
    true = 6 / np.pi * np.arcsin(rho / 2)  # Spearman's, of a normal pair
    for _ in range(300):
        one, two = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 14).T
        found = figures.rank_correlation("x", one, two)
        held += found.low <= true <= found.high
    assert held >= 275
    assert np.isnan(figures.rank_correlation("x", [1, 2, 3], [1, 2, 3]).low)
    assert figures.rank_correlation("x", range(9), range(9)).estimate == pytest.approx(1)


def test_offers_are_shares_by_what_they_cost():
    """Planted: of six offers for 1 VP four are taken, of two for 3 VP none."""
    from training.study import decided, play

    table = rotated(np.random.default_rng(0), 2, 1)
    told = np.zeros((2, 4, decided.COSTS, 2), np.int16)
    told[0, 0, 1], told[1, 2, 1], told[1, 3, 3] = (1, 2), (1, 2), (2, 0)
    none = np.zeros((2, 4, 6), np.int16)
    done = decided.Decided(none, [], none, none, none, told, none, none)
    found = {e.name: (e.estimate, e.size) for e in play.offers(table, done)}
    assert found == {"1 VP": (pytest.approx(400 / 6), 6), "3 VP": (0, 2)}
    none = next(e for e in play.offers(table, done) if e.name == "3 VP")
    assert none.low == 0 and none.high == pytest.approx(65.8, abs=0.1)  # Wilson's, of 0 of 2


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
    assert "played 48 games of " in text and "What cannot be concluded" in text
    text = (out / "findings_appendix.md").read_text()
    pictures = re.findall(r"\]\((findings/[a-z_0-9]+\.svg)\)", text)
    assert {"findings/factions.svg", "findings/sources.svg"} <= set(pictures)
    # 12 deals cannot tell 14 boosters apart.
    assert "Boosters in play: too few games." in text
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
    assert "of the first 48 games: it needs" in (again / "findings_appendix.md").read_text()
    assert "played 48 games" in (again / "findings_few.md").read_text()
    text = (again / "findings_few_appendix.md").read_text()
    assert "of the first 20 games: it needs" in text
    assert "](findings_few/factions.svg)" in text
    (copy,) = (tmp_path / "runs" / "study").glob("*_20")
    assert json.loads((copy / dataset.ABOUT).read_text())["parts"][0]["games"] == 20


def study_of(*args):
    return cli.run(lambda: study.main([str(x) for x in args], FACE))


@pytest.mark.usefixtures("small_datasets")
def test_another_agents_figures_stand_beside(whole, tmp_path, capsys):
    """`--figures`, then `--beside`. About 2 s."""
    out = tmp_path / "docs"
    out.mkdir()
    kept = out / "before.json"
    assert study_of(whole, "--figures", kept) == 0
    args = ["--out", out, "--games-only"]
    assert study_of(whole, *args, "--beside", kept) == 0, capsys.readouterr().err
    front = (out / "findings.md").read_text()
    text = (out / "findings_appendix.md").read_text()
    assert "*The agent before* is an older, " in front and "48 games" in front
    assert "| | VP (95 %) | n | the agent before |" in text
    # Each number stands where it belongs, and one agent agrees with itself.
    shown = text[text.index("## Seats") : text.index("## Opponents")]
    for name, *numbers, _size, _found in json.loads(kept.read_text())["figures"]["seats"]:
        plain = words.SEATS[name]
        (line,) = [line for line in shown.splitlines() if line.startswith(f"| {plain} |")]
        number = f"{numbers[0]:+.1f} ({numbers[1]:+.1f} to {numbers[2]:+.1f})"
        assert number in line.split("|")[2] and number in line.split("|")[4]
    kept.write_text(kept.read_text().replace(figures.FORMAT, "x"))
    assert study_of(whole, *args, "--beside", kept) == 2
    assert "has no format" in capsys.readouterr().err
