"""`docs/lab/findings.md`, its appendix and pictures, made from one dataset."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from gaia_jax.ruleset import Ruleset

from ..games import dataset
from ..games.schema import About
from ..system import atomic_files
from . import appendix, comparison, decided, factions, figures, sentences
from .figures import Known
from .page import Page, interval, mean
from .sentences import Finding, People
from .table import Table, load

PEOPLE = Path(__file__).with_name("people.json")
NUMBERS = {2: "two", 3: "three", 4: "four"}
LIMITS = Path(__file__).with_name("limits.md")
TOP = f"# Findings\n\n{atomic_files.COMMENT}"
NEXT = f"# Findings, appendix\n\n{atomic_files.COMMENT}"


def check(out: Path, name: str) -> None:
    """Refuse, before any work, pages that this did not write, or a folder of such pictures.

    Args:
        out: the folder of the page; name: of the page.
    Raises:
        UserError: it is no plain name; a file is there that a person wrote.
    """
    atomic_files.plain_name("--page", name)
    atomic_files.check_inside("--out", out, parents=True)
    pages = ((f"{name}.md", TOP), (f"{name}_appendix.md", NEXT))
    for path, top in (*pages, (f"{name}_factions.md", factions.TOP)):
        ours = atomic_files.begins(top)
        atomic_files.check_file("--page", out / path, ours, "choose another name", parents=True)
    atomic_files.check_inside("--page", out / name, "*.svg", atomic_files.PICTURE, parents=True)


def write(
    data: Path,
    out: Path,
    ruleset: Ruleset,
    name: str = "findings",
    beside: Known | None = None,
    every: Path | None = None,
    games: int | None = None,
) -> None:
    """Write a page of findings, its appendix, its pictures and all numbers as Parquet.

    Args:
        data: a dataset.
        out: where the page goes.
        ruleset: of the games.
        name: of the page, and of the folder of its pictures beside it.
        beside: the figures of games of another agent.
        every: the dataset that has `decisions.parquet` of its games, or of the first of them;
            without one what needs every decision is left out.
        games: that is asked of so many of the first games; None is all.
    """
    about, table = dataset.read_about(data), load(data)
    own, few, done = figures.of_games(table, ruleset), table, None
    if every is not None:
        few = load(data, games)
        done = decided.load(every, len(few.vp), few.players)
        own |= figures.of_decisions(few, done, about.get("slots", {}))
    own |= factions.of_table(table, few, done)
    page = Page(out, name, ruleset, own, beside)
    people: People = json.loads(PEOPLE.read_text(encoding="utf-8"))
    told = sentences.all_of(page, people)
    _head(page, people, about, table)
    comparison.people(page, people, table)
    page.text(
        "## The findings", "",
        *(f"{n}. [{x.title}](#{x.anchor}): {x.sentence}" for n, x in enumerate(told, 1)),
    )  # fmt: skip
    for finding in told:
        _chapter(page, finding)
    comparison.gaps(page, people)
    comparison.agents(page)
    page.text(*LIMITS.read_text(encoding="utf-8").strip().splitlines())
    _foot(page, name, about)
    page.write(f"{name}.md")
    page.lines = [
        NEXT, "", f"Every question behind [the findings]({name}.md). Dot: estimate; bar: 95 % "
        "interval. Bold numbers, red in the pictures, stand out among all that were asked together "
        "(Holm, 5 %).", "",
    ]  # fmt: skip
    appendix.write(page, table.names["source"], None if every is None else len(few.vp))
    page.write(f"{name}_appendix.md")
    factions.write(page, name, people)
    appendix.write_table(page)


def _head(page: Page, people: People, about: About, table: Table) -> None:
    """What the game is, who played it, and how well."""
    games, deals = len(table.vp), len(np.unique(table.deal))
    ruleset, players = page.words.ruleset, table.players
    expansion = any(part["env"].startswith("lost_fleet") for part in about["parts"])
    extra = " with the expansion The Lost Fleet" if expansion else ""
    one = len(page.own["agents"]) == 1
    lines = [
        f"Gaia Project is a board game for one to four players with {len(ruleset.ids['faction'])} "
        "factions; the most victory points (VP) win.",
        f"{'A program' if one else 'Programs'} played {games:,} games of "
        f"{NUMBERS.get(players, players)}{extra}, "
        + ("each on another random set-up." if deals == games else f"on {deals:,} set-ups."),
    ]
    means = [e.estimate for e in page.own["agents"]]
    many = [vp for _, _, vp, _ in people["tables"]]
    best = f"; people have about {many[0]:.0f}, the best tables {max(many):.0f}"
    scored = " and ".join(f"{vp:.1f}" for vp in means)
    scores = "It scores" if one else "They score"
    lines.append(f"{scores} {scored} VP on average{best if players == 4 else ''}.")
    page.text(
        f"{TOP}\n{' '.join(lines)}", "",
        "**It is weaker than people**: what needs good play to pay may look worthless here. "
        "Set-ups, seats and tiles are drawn, so what they are worth to this play is cause. What a "
        "player takes it chose, which is no cause. Each number has its 95 % interval, over "
        "set-ups.",
    )  # fmt: skip
    if page.known:
        before = page.known.figures["agents"][0]
        weaker = "weaker" if before.estimate < min(means) else "stronger"
        page.text(
            f"*The agent before* is an older, {weaker} version of the same program: {mean(before)} "
            f"VP a seat, {page.known.games:,} games. What both say alike may hold for the game; "
            "what they do not depends on who plays."
        )


def _foot(page: Page, name: str, about: About) -> None:
    """Where the rest is, and what the page is made from."""
    parts = {(part["env"], part["version"]) for part in about["parts"]}
    rules = ", ".join(f"`{env}` {version}" for env, version in sorted(parts))
    told = " and ".join(f"`{e.name}`, {mean(e)} VP a seat" for e in page.own["agents"])
    made = "; ".join(about.get("made_with", ["a version that did not note itself"]))
    made = re.sub(r"\b([0-9a-f]{7})[0-9a-f]{33}\b", r"\1", made)
    page.text(
        "## The rest", "",
        f"[Each faction by itself]({name}_factions.md). All tables and pictures: "
        f"[the appendix]({name}_appendix.md). All numbers: `{appendix.TABLE}` in the folder of the "
        "pictures, a row an estimate.", "",
        f"The games are of {rules}, played by {told}, with {made}.",
    )  # fmt: skip


def _chapter(page: Page, finding: Finding) -> None:
    """One finding, with its picture."""
    ordered = finding.question == "offers"
    name = f"finding_{finding.question}"
    plain = all(not e.found for e in finding.shown)
    page.text(
        f"## {finding.title}", "",
        page.picture(name, finding.title, finding.shown, finding.unit, ordered), "",
        f"*Dot: estimate. Bar: 95 % interval.{'' if plain else ' Red: clear of chance.'}*", "",
        f"- For play like this: {finding.play}", f"- People: {finding.people}",
        *([f"- The agent before{_which(page, finding)}: {verdict(finding)}"] if page.known else []),
    )  # fmt: skip


def _which(page: Page, finding: Finding) -> str:
    """Whose number is compared, where the sentence has two."""
    if finding.lead is None or finding.question not in ("factions", "seats"):
        return ""
    return f", {page.words.of(finding.question, finding.lead.name)}"


def verdict(finding: Finding) -> str:
    """What the agent before answers, and how the two go together."""
    one, other = finding.lead, finding.other
    if one is None or other is None:
        return "not known."
    text = interval(other) if finding.unit == "VP" else mean(other)
    clear = all(e.low > 0 or e.high < 0 for e in (one, other))
    said = "too unsure to say"
    if clear:
        same = (one.estimate > 0) == (other.estimate > 0)
        said = "the same direction" if same else "the other direction: it depends on who plays"
    return f"{text} {finding.unit}; {said}."
