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
from . import appendix, decided, factions, figures, sentences
from .effects import Effect
from .figures import Known
from .page import Page, interval, mean, percent
from .sentences import Finding, People
from .table import Table, load

PEOPLE = Path(__file__).with_name("people.json")
LIMITS = Path(__file__).with_name("limits.md")
TOP = f"# Findings\n\n{atomic_files.COMMENT}"
NEXT = f"# Findings, appendix\n\n{atomic_files.COMMENT}"
# Questions that are asked of two agents, and what their answers are about.
COMPARED = {
    "factions": "factions", "seats": "places in the turn order", "opponents": "pairs at a table",
    "sources": "what winners have more of", "in_play_boosters": "boosters in the game",
    "round_tiles": "round tiles", "in_play_advanced_tiles": "advanced tiles in the game",
    "in_play_artifacts": "artifacts in the game", "in_play_final_missions": "final missions",
}  # fmt: skip


def check(out: Path, name: str) -> None:
    """Refuse, before any work, pages that this did not write, or a folder of such pictures.

    Args:
        out: the folder of the page; name: of the page.
    Raises:
        UserError: it is no plain name; a file is there that a person wrote.
    """
    atomic_files.plain_name("--page", name)
    atomic_files.check_inside("--out", out)
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
    page = Page(out, name, ruleset, own, beside)
    people: People = json.loads(PEOPLE.read_text(encoding="utf-8"))
    told = sentences.all_of(page, people)
    _head(page, about, table)
    page.text(*(f"{n}. {finding.sentence}" for n, finding in enumerate(told, 1)))
    for finding in told:
        _chapter(page, finding)
    _agents(page, told)
    _people(page, people, table)
    page.text(*LIMITS.read_text(encoding="utf-8").strip().splitlines())
    page.text(
        "## The rest",
        "",
        f"All tables and pictures: [the appendix]({name}_appendix.md). "
        f"All numbers: `{appendix.TABLE}` in the folder of the pictures, a row an estimate.",
    )
    page.write(f"{name}.md")  # fmt: skip
    page.lines = [
        NEXT,
        "",
        f"Every question behind [the findings]({name}.md). Bold numbers, red "
        "in the pictures, stand out among all that were asked together (Holm, 5 %).",
        "",
    ]
    appendix.write(page, table.names["source"], None if every is None else len(few.vp))
    page.write(f"{name}_appendix.md")
    found = factions.of_table(table, few, done)
    factions.write(page, name, found, people)
    appendix.write_table(page, found)


def _head(page: Page, about: About, table: Table) -> None:
    """What the page is made from."""
    deals = len(np.unique(table.deal))
    parts = {(part["env"], part["version"]) for part in about["parts"]}
    rules = ", ".join(f"`{env}` {version}" for env, version in sorted(parts))
    told = " and ".join(f"`{e.name}`, {mean(e)} VP a seat" for e in page.own["agents"])
    made = "; ".join(about.get("made_with", ["a version that did not note itself"]))
    made = re.sub(r"\b([0-9a-f]{7})[0-9a-f]{33}\b", r"\1", made)
    lines = [
        TOP + f"\nWhat {len(table.vp):,} games of {rules} on {deals:,} set-ups say. They were "
        f"played by {told}, with {made}. Each number has its 95 % interval, over set-ups."
    ]
    if page.known:
        before = page.known.figures["agents"][0]
        lines += [
            "", f"*The agent before* is another one that plays the same game: {mean(before)} VP a "
            f"seat, {page.known.games:,} games. What both say alike may hold for the game; what "
            "they do not depends on who plays.",
        ]  # fmt: skip
    page.text(
        *lines, "",
        "**These agents are weaker than people**: what needs good play to pay may look worthless "
        "here. Set-ups, seats and tiles are drawn, so what they are worth to this play is cause. "
        "What a player takes it chose, which is no cause.",
    )  # fmt: skip


def _chapter(page: Page, finding: Finding) -> None:
    """One finding, with its picture."""
    plain = page.words.all(finding.question, finding.shown)
    name = f"finding_{finding.question}"
    lines = [f"## {finding.title}", "", finding.sentence, ""]
    lines += [page.picture(name, finding.title, plain, finding.unit), ""]
    lines += [f"- At the table: {finding.table}", f"- People: {finding.people}"]
    if finding.lead is not None:
        other = page.other(finding.question, finding.lead.name)
        if other:
            text = interval(other) if finding.unit == "VP" else mean(other)
            lines.append(f"- The agent before: {text} {finding.unit}; {verdict(finding, other)}.")
        elif page.known:
            lines.append("- The agent before: not known.")
    page.text(*lines)


def verdict(finding: Finding, other: Effect) -> str:
    """How two agents' answers go together."""
    assert finding.lead is not None
    one = finding.lead
    clear = all(e.low > 0 or e.high < 0 for e in (one, other))
    if not clear:
        return "too unsure to say"
    same = (one.estimate > 0) == (other.estimate > 0)
    return "the same direction" if same else "the other direction: it depends on who plays"


def _agents(page: Page, told: list[Finding]) -> None:
    """What depends on the agent, and what does not."""
    if not page.known:
        return
    rows = []
    for question, subject in COMPARED.items():
        if question not in page.beside or not page.found(question):
            continue
        alike = figures.agreement(subject, page.found(question), page.beside[question])
        both = [(e, page.other(question, e.name)) for e in page.found(question)]
        clear = [(a, b) for a, b in both if b and (a.low > 0 or a.high < 0) and
                 (b.low > 0 or b.high < 0)]  # fmt: skip
        same = sum((a.estimate > 0) == (b.estimate > 0) for a, b in clear)
        rows.append(f"| {subject} | {_rank(alike)} | {same} of {len(clear)} |")
    page.text(
        "## What depends on the agent, and what holds for the game", "",
        "Two agents, asked the same. The rank correlation is 1 where they put all things in one "
        "order and 0 where their orders have nothing in common. The last column has the things "
        "for which both intervals leave out 0: how many have the same sign. Chance in few games "
        "lowers a correlation.", "",
        "| question | rank correlation (95 %) | same direction |", "| --- | --- | --- |", *rows,
        "", "Two agents are two, and relatives are no independent witnesses: what differs depends "
        "on who plays, what agrees may still.",
    )  # fmt: skip


def _rank(effect: Effect) -> str:
    if not np.isfinite(effect.low):
        return f"too few things ({effect.size})"
    return f"{effect.estimate:+.2f} ({effect.low:+.2f} to {effect.high:+.2f}), {effect.size} things"


def _people(page: Page, people: People, table: Table) -> None:
    """VP by place at the table; the factions in people's statistics."""
    places = [f"{e.estimate:.1f}" for e in page.found("places")]
    rows = [("here", f"{len(table.vp):,} games", f"{table.vp.mean():.1f}", places)]
    if page.known:
        known = page.known
        before = [f"{e.estimate:.1f}" for e in known.figures.get("places", [])]
        vp = f"{known.figures['agents'][0].estimate:.1f}"
        rows.append(("the agent before", f"{known.games:,} games", vp, before))
    if table.players == 4:
        rows += [
            (f"people: {who}", n, f"{vp}", [str(x) for x in by] if by else ["not known"] * 4)
            for who, n, vp, by in people["tables"]
        ]
    names = [e.name for e in page.found("places")]
    page.text(
        "## Beside people's statistics", "",
        f"| who | from | VP of a seat | {' | '.join(names)} |",
        "| --- | --- | --- |" + " --- |" * len(names),
        *(f"| {who} | {n} | {vp} | {' | '.join(by)} |" for who, n, vp, by in rows),
    )  # fmt: skip
    ranks = sentences.ranks_of_factions(page, people)
    if ranks:
        page.text(
            "Rank correlation of the factions with people's means, base game, popular openings: "
            + "; ".join(f"{rank.name} {_rank(rank)}" for rank in ranks)
            + ". No public figures are known of the four factions of The Lost Fleet.",
        )
    found = {e.name: e for e in page.found("factions")}
    order = sorted(found, key=lambda name: -found[name].estimate)
    won = {e.name: e for e in page.found("won")}
    said = [
        f"| {text} | place {order.index(name) + 1} of {len(order)}, "
        f"{interval(found[name], ' VP')}, won {mean(percent(won[name]), ' %', 0)} |"
        for text, name in people["beliefs"]
        if name in found
    ]
    if said:
        page.text("| what people say | here |", "| --- | --- |", *said)
