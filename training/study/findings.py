"""`docs/lab/findings.md` and its pictures, made from one dataset."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.ruleset import Ruleset

from ..games import dataset
from ..system import atomic_files
from . import chart, decided, figures
from .effects import Effect
from .figures import Figures, Whole
from .table import Table, load

PEOPLE = Path(__file__).with_name("people.json")
LIMITS = Path(__file__).with_name("limits.md")
SHOWN = 6  # rows of a table at either end
PAIRS = 24  # of a faction and an opponent
TOP = f"# Findings\n\n{atomic_files.COMMENT}"
OURS = atomic_files.begins(TOP)


def check(out: Path, name: str) -> None:
    """Refuse, before any work, a page that this did not write, or a folder of such pictures.

    Args:
        out: the folder of the page; name: of the page.
    Raises:
        UserError: it is no plain name; a file is there that a person wrote.
    """
    atomic_files.plain_name("--page", name)
    atomic_files.check_inside("--out", out)
    atomic_files.check_file("--page", out / f"{name}.md", OURS, "choose another name", parents=True)
    atomic_files.check_inside("--page", out / name, "*.svg", atomic_files.PICTURE, parents=True)


class Page:
    """The text of the page and the pictures beside it."""

    def __init__(self, out: Path, pictures: str, games: int, own: Figures, whole: Whole | None):
        """
        Args:
            out: the folder of the page; pictures: of its pictures, inside it.
            games: of the dataset.
            own: its figures; whole: those of all games that it is a sample of.
        """
        self.out, self.pictures, self.lines = out, pictures, [""]
        self.own, self.whole = own, whole.figures if whole else {}
        self.games, self.whole_games = games, whole.games if whole else games
        (out / pictures).mkdir(parents=True, exist_ok=True)

    def text(self, *lines: str) -> None:
        """Lines of the page."""
        self.lines += [*lines, ""]

    def found(self, name: str) -> list[Effect]:
        """The answers to a question, of all games where they are known."""
        return self.whole.get(name) or self.own.get(name, [])

    def effects(self, name: str, title: str, only: Sequence[str] | None = None) -> None:
        """A picture of all effects, and a table of the largest and the smallest.

        Args:
            only: the names of those that are shown.
        """
        known = [e for e in self.found(name) if math.isfinite(e.low)]
        known = [e for e in known if only is None or e.name in only]
        if not known:
            self.text(f"{title}: too few games.")
            return
        path = f"{self.pictures}/{name}.svg"
        drawn = atomic_files.COMMENT + chart.forest(known, title, "VP")
        atomic_files.write_text(self.out / path, drawn)
        ordered = sorted(known, key=lambda e: -e.estimate)
        few = ordered if len(ordered) <= 2 * SHOWN else ordered[:SHOWN] + ordered[-SHOWN:]
        stand_out = sum(e.found for e in known)
        head = ["| | VP (95 %) | n |", "| --- | --- | --- |"]
        rows = [f"| {e.name} | {_bold(e)} | {e.size:,} |" for e in few]
        if name in self.whole:
            own = {e.name: _interval(e) for e in self.own.get(name, [])}
            head = ["| | VP (95 %) | n | sample |", "| --- | --- | --- | --- |"]
            rows = [
                f"{row} {own.get(e.name, 'not there')} |" for row, e in zip(rows, few, strict=True)
            ]
        self.text(
            f"![{title}]({path})", "",
            f"{stand_out} of {len(known)} stand out. Largest and smallest:", "", *head, *rows,
        )  # fmt: skip

    def write(self, name: str) -> None:
        """Write the page."""
        atomic_files.write_text(self.out / name, "\n".join(self.lines).strip() + "\n")


def _interval(effect: Effect) -> str:
    return f"{effect.estimate:+.1f} ({effect.low:+.1f} to {effect.high:+.1f})"


def _bold(effect: Effect) -> str:
    return f"**{_interval(effect)}**" if effect.found else _interval(effect)


def write(
    data: Path,
    out: Path,
    ruleset: Ruleset,
    name: str = "findings",
    every: Path | None = None,
    games: int | None = None,
) -> None:
    """Write a page of findings and its pictures.

    Args:
        data: a dataset; `whole.json` in it has the figures of all games that it is a sample of.
        out: where the page goes.
        ruleset: of the games.
        name: of the page, and of the folder of its pictures beside it.
        every: the dataset that has `decisions.parquet` of its games, or of the first of them;
            without one what needs every decision is left out.
        games: that is asked of so many of the first games; None is all.
    """
    about, table = dataset.read_about(data), load(data)
    own, whole, few = figures.of_games(table, ruleset), figures.load_whole(data), table
    if every is not None:
        few = load(data, games)
        done = decided.load(every, len(few.vp), few.players)
        own |= figures.of_decisions(few, done, about.get("slots", {}))
    page = Page(out, name, len(table.vp), own, whole)
    head(page, about, whole, table)
    _people(page, table.players)
    _strength(page)
    _sources(page, table.names["source"])
    _set_up(page)
    if every is not None:
        _decided(page, len(few.vp))
    else:
        page.text("## Openings, choices, passing, leech", "", "Left out: `--games-only`.")
    page.text(*LIMITS.read_text(encoding="utf-8").strip().splitlines())
    page.write(f"{name}.md")


def head(page: Page, about: dict[str, Any], whole: Whole | None, table: Table) -> None:
    """What the page is made from, and the mean of each agent."""
    agents = page.found("agents")
    deals = whole.deals if whole else len(np.unique(table.deal))
    kinds = ", ".join(f"`{e.name}`" for e in agents)
    parts = {(part["env"], part["version"]) for part in about["parts"]}
    rules = ", ".join(f"`{env}` {version}" for env, version in sorted(parts))
    page.text(
        TOP + f"\nFrom {page.whole_games:,} games on {deals:,} set-ups of {rules}, "
        f"played by {kinds}. This page and its pictures are made by `python -m training.study`; "
        "`docs/reference/datasets.md` says how, and what each number is. Intervals are of 95 % "
        "over set-ups. Bold numbers, red in the pictures, stand out among all that were asked "
        "together (Holm, 5 %). `docs/reference/names.md` says what ids such as RB12 stand for.", "",
        "**It tells how these agents play, not how the game should be played**: their mean is far "
        "below that of people, so what needs good play to pay may look worthless here.",
    )  # fmt: skip
    if whole:
        _sample(page, whole)
    rows = [
        f"| `{e.name}` | {e.estimate:.1f} ({e.low:.1f} to {e.high:.1f}) | {e.size:,} seats |"
        for e in agents
    ]
    if whole:
        rows += [
            f"| `{e.name}`, the sample | {e.estimate:.1f} ({e.low:.1f} to {e.high:.1f}) "
            f"| {e.size:,} seats |"
            for e in page.own["agents"]
        ]
    rows += [f"| people: {who} | {vp} | {n} |" for who, n, vp, _ in _known()["tables"]]
    page.text("| who | mean VP of a seat | from |", "| --- | --- | --- |", *rows)


def _sample(page: Page, whole: Whole) -> None:
    """Which numbers are of all games, and which of the sample."""
    from scipy import stats

    asked, held = figures.agreement(page.own, whole.figures)
    share = min(page.games / whole.games, 0.999)
    due = 100 * (1 - 2 * stats.norm.sf(stats.norm.isf(0.025) / math.sqrt(1 - share)))
    page.text(
        f"The dataset of this page is a sample, the first {page.games:,} of these games. Numbers "
        f"of all {whole.games:,} were computed where all of them lay and are read from "
        f"`{figures.WHOLE}` beside the sample; the column *sample* is computed anew from the "
        "sample, and so is what has no such column: the chapters from *What a seat does* on. "
        f"Of {asked:,} numbers that both have, the interval of the sample holds that of all games "
        f"{held:,} times, {100 * held / max(asked, 1):.0f} % ({due:.0f} % are due: "
        f"{100 * share:.0f} % of the games are the sample itself).",
    )  # fmt: skip


def _known() -> dict[str, Any]:
    """What is known of people's games."""
    known: dict[str, Any] = json.loads(PEOPLE.read_text(encoding="utf-8"))
    return known


def _people(page: Page, seats: int) -> None:
    """VP by place at the table; what people believe of factions."""
    people, ours = _known(), page.found("places")
    rows = [("here", f"{page.whole_games:,} games", [f"{e.estimate:.1f}" for e in ours])]
    if page.whole:
        means = [f"{e.estimate:.1f}" for e in page.own["places"]]
        rows.append(("here, the sample", f"{page.games:,} games", means))
    if seats == 4:
        rows += [(f"people: {who}", n, vp) for who, n, _, vp in people["tables"] if vp]
    page.text(
        "## Beside people", "",
        "| VP by place | from | " + " | ".join(e.name for e in ours) + " |",
        "| --- | --- |" + " --- |" * len(ours),
        *(f"| {who} | {n} | {' | '.join(map(str, vp))} |" for who, n, vp in rows),
    )  # fmt: skip
    found = {e.name: e for e in page.found("factions")}
    order = sorted(found, key=lambda name: -found[name].estimate)
    won = {e.name: e for e in page.found("won")}
    told = [
        f"| {said} | rank {order.index(name) + 1} of {len(order)}, {_interval(found[name])} VP, "
        f"{100 * won[name].estimate:.0f} % won ({100 * won[name].low:.0f} to "
        f"{100 * won[name].high:.0f}) |"
        for said, name in people["beliefs"] if name in found
    ]  # fmt: skip
    if told:
        page.text("| what people say | here |", "| --- | --- |", *told)


def _strength(page: Page) -> None:
    found = page.found("factions")
    page.text("## Factions", "", "VP above the mean faction of the same table, at the same deal.")
    page.effects("factions", "Strength of the factions")
    people = _known()["factions"]
    mean = np.mean(list(people.values()))
    both = [(e, people[e.name] - mean) for e in found if e.name in people]
    if len(both) > 2:
        from scipy import stats

        rank = stats.spearmanr([e.estimate for e, _ in both], [p for _, p in both])
        page.text(
            f"People's means by faction (base game, over popular openings) and these: rank "
            f"correlation {rank.statistic:+.2f} (p {rank.pvalue:.2f}, {len(both)} factions).",
            "", "| | here | people |", "| --- | --- | --- |",
            *(f"| {e.name} | {e.estimate:+.1f} | {p:+.1f} |"
              for e, p in sorted(both, key=lambda x: -x[1])),
        )  # fmt: skip
    page.text("### Seats", "", "VP by place in the turn order of round 1.")
    page.effects("seats", "VP by place in the turn order")
    pairs = page.found("opponents")
    clear = sorted(pairs, key=lambda e: -abs(e.estimate) / max(e.high - e.low, 1e-9))[:PAIRS]
    page.text("### Opponents", "", f"The {len(clear)} pairs of {len(pairs)} that stand out most: "
              "VP of the first with the second at the table, above its mean over all opponents. "
              "All pairs were judged together.")  # fmt: skip
    title = "A faction with another one at the table"
    page.effects("opponents", title, [e.name for e in clear])
    page.text("### Board", "", "VP for one standard deviation more of what lies near home.")
    page.effects("board", "Planets near home")


def _sources(page: Page, sources: Sequence[str]) -> None:
    page.text("## Where VP come from", "", "VP of the winners above the mean of the others.")
    page.effects("sources", "Winners above the others, by source")
    for kind in ("place", "agent"):
        told = {source: page.found(f"by {kind} {source}") for source in sources}
        first = told[sources[0]]
        if not first:
            continue
        page.text(
            f"Mean VP by source and {kind}:", "",
            f"| | {' | '.join(e.name for e in first)} |", "| --- |" + " --- |" * len(first),
            *(f"| {source} | {' | '.join(f'{e.estimate:.1f}' for e in found)} |"
              for source, found in told.items()),
        )  # fmt: skip


def _set_up(page: Page) -> None:
    """What the things in the game are worth to the table."""
    page.text("## What is in the game", "", "Mean VP of all seats with it in the game, above the "
              "mean thing of its kind. What is in a game is drawn, so this is cause.")  # fmt: skip
    for key, title in figures.IN_PLAY:
        if f"in_play_{key}" in page.own:
            page.text(f"### {title}")
            page.effects(f"in_play_{key}", title)
    page.text("### Round tiles", "", "Anywhere, then in rounds 1 and 6.")
    page.effects("round_tiles", "Round tiles")
    for number in (1, 6):
        page.effects(f"round_tiles_{number}", f"Round tiles in round {number}")


def _decided(page: Page, games: int) -> None:
    """What needs every decision."""
    people = _known()
    known = {
        "federations formed": people["federations"],
        "steps of research chosen": people["research_steps"],
    }
    rows = [
        f"| {e.name} | {e.estimate:.2f} ({e.low:.2f} to {e.high:.2f}) "
        f"| {known.get(e.name, 'not known')} |"
        for e in page.found("habits")
    ]
    page.text(
        "## What a seat does", "",
        f"From here on of the first {games:,} games: it needs every decision.", "",
        "| a seat and game | here | people |", "| --- | --- | --- |", *rows,
    )  # fmt: skip
    page.text("## What players take", "", "VP for one more, beside the games of the same seat of "
              "the same set-up where the agents sat elsewhere, else beside the other seats. Who "
              "takes something chose to: this is no cause by itself.")  # fmt: skip
    asked = [(name, title) for name, title, _ in figures.TAKEN]
    asked += [(f"{key}_by_name", title) for _, title, key in figures.PLACED]
    for name, title in asked:
        if page.found(f"taken_{name}"):
            page.text(f"### {title}")
            page.effects(f"taken_{name}", title)
    page.text("## Openings", "", "The commonest first three main actions of the four factions that "
              "were played most, VP above the mean of the faction.")  # fmt: skip
    for key in page.own:
        if key.startswith("openings_"):
            page.effects(key, f"Openings of {key.removeprefix('openings_')}")
    page.text("## When to pass", "", "VP for passing one place later in a round.")
    page.effects("passing", "Passing one place later")
    page.text("VP for one more main action before passing.")
    page.effects("turns", "One more main action")
    page.text("## Leech", "", "VP at the end for one more offer taken or declined.")
    page.effects("leech", "Leech")
