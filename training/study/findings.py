"""`docs/findings.md` and its pictures, made from one dataset."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training import outputs
from training.data import folder
from training.study import board, chart, decided, pieces, play, strength
from training.study.decided import Decided
from training.study.effects import Effect, means, together
from training.study.table import Table, load

PEOPLE = Path(__file__).with_name("people.json")
LIMITS = Path(__file__).with_name("limits.md")
SHOWN = 6  # rows of a table at either end


class Page:
    """The text of the page and the pictures beside it."""

    def __init__(self, out: Path, pictures: str):
        """
        Args:
            out: the folder of the page; pictures: of its pictures, inside it.
        """
        self.out, self.pictures, self.lines = out, pictures, [""]
        (out / pictures).mkdir(parents=True, exist_ok=True)

    def text(self, *lines: str) -> None:
        """Lines of the page."""
        self.lines += [*lines, ""]

    def effects(self, name: str, title: str, found: Sequence[Effect], unit: str = "VP") -> None:
        """A picture of all effects, and a table of the largest and the smallest."""
        known = [e for e in found if math.isfinite(e.low)]
        if not known:
            self.text(f"{title}: too few games.")
            return
        path = f"{self.pictures}/{name}.svg"
        outputs.write_text(self.out / path, chart.forest(known, title, unit))
        ordered = sorted(known, key=lambda e: -e.estimate)
        few = ordered if len(ordered) <= 2 * SHOWN else ordered[:SHOWN] + ordered[-SHOWN:]
        stand_out = sum(e.found for e in known)
        self.text(
            f"![{title}]({path})", "",
            f"{stand_out} of {len(known)} stand out. Largest and smallest:", "",
            f"| | {unit} (95 %) | n |", "| --- | --- | --- |", *map(_row, few),
        )  # fmt: skip

    def write(self, name: str) -> None:
        """Write the page."""
        outputs.write_text(self.out / name, "\n".join(self.lines).strip() + "\n")


def _row(effect: Effect) -> str:
    interval = f"{effect.estimate:+.1f} ({effect.low:+.1f} to {effect.high:+.1f})"
    interval = f"**{interval}**" if effect.found else interval
    return f"| {effect.name} | {interval} | {effect.size:,} |"


def write(
    data: Path,
    out: Path,
    ruleset: Any,
    name: str = "findings",
    every: Path | None = None,
    games: int | None = None,
) -> None:
    """Write a page of findings and its pictures.

    Args:
        data: a dataset.
        out: where the page goes.
        ruleset: of the games.
        name: of the page, and of the folder of its pictures beside it.
        every: the dataset that has `decisions.parquet` of its games, or of the first of them;
            without one what needs every decision is left out.
        games: that is asked of so many of the first games; None is all.
    """
    about, table = folder.read_about(data), load(data)
    page = Page(out, name)
    head(page, about, table)
    _people(page, table)
    _strength(page, table, ruleset)
    _sources(page, table)
    set_up(page, table)
    if every is not None:
        few = load(data, games)
        done = decided.load(every, len(few.vp), few.players)
        _habits(page, few, done)
        _choices(page, few, done)
        _placed(page, few, done, about.get("slots", {}))
        _play(page, few, done)
    else:
        page.text("## Openings, choices, passing, leech", "", "Left out: `--games-only`.")
    page.text(*LIMITS.read_text(encoding="utf-8").strip().splitlines())
    page.write(f"{name}.md")


def head(page: Page, about: dict[str, Any], table: Table) -> None:
    """What the page is made from, and the mean of each agent."""
    people = _known()
    games, deals = len(table.vp), len(np.unique(table.deal))
    kinds = ", ".join(f"`{name}`" for name in table.names["agent"])
    parts = {(part["env"], part["version"]) for part in about["parts"]}
    rules = ", ".join(f"`{env}` {version}" for env, version in sorted(parts))
    page.text(
        "# Findings", "",
        f"From {games:,} games on {deals:,} set-ups of {rules}, played by {kinds}. This page and "
        "its pictures are made by `python -m training.study`; `docs/study.md` says how, and what "
        "each number is. Intervals are of 95 % over set-ups. Bold numbers, red in the pictures, "
        "stand out among all that were asked together (Holm, 5 %). `docs/names.md` says what ids "
        "such as RB12 stand for.", "",
        "**It tells how these agents play, not how the game should be played**: their mean is far "
        "below that of people, so what needs good play to pay may look worthless here.",
    )  # fmt: skip
    flat = np.repeat(table.deal, table.players)
    agents = means(table.vp.ravel(), table.agent.ravel(), flat, table.names["agent"])
    rows = [
        f"| `{e.name}` | {e.estimate:.1f} ({e.low:.1f} to {e.high:.1f}) | {e.size:,} seats |"
        for e in agents
    ]
    rows += [f"| people: {who} | {vp} | {n} |" for who, n, vp, _ in people["tables"]]
    page.text("| who | mean VP of a seat | from |", "| --- | --- | --- |", *rows)


def _known() -> dict[str, Any]:
    """What is known of people's games."""
    known: dict[str, Any] = json.loads(PEOPLE.read_text(encoding="utf-8"))
    return known


def _people(page: Page, table: Table) -> None:
    """VP by place at the table; what people believe of factions."""
    people, seats = _known(), table.players
    deal = np.repeat(table.deal, seats)
    place = np.floor(table.place).astype(int).ravel() - 1
    ours = means(table.vp.ravel(), place, deal, [f"place {n + 1}" for n in range(seats)])
    page.text("## Beside people", "", "| VP by place | from | " + " | ".join(e.name for e in ours)
              + " |", "| --- | --- |" + " --- |" * seats,
              f"| here | {len(table.vp):,} games | "
              + " | ".join(f"{e.estimate:.1f}" for e in ours) + " |",
              *(f"| people: {who} | {n} | {' | '.join(map(str, vp))} |"
                for who, n, _, vp in people["tables"] if vp and seats == 4))  # fmt: skip
    found = {e.name: e for e in strength.factions(table)}
    order = sorted(found, key=lambda name: -found[name].estimate)
    wins = {n: table.win[table.faction == k].mean() for k, n in enumerate(table.names["faction"])}
    rows = [
        f"| {said} | rank {order.index(name) + 1} of {len(order)}, {found[name].estimate:+.1f} VP "
        f"({found[name].low:+.1f} to {found[name].high:+.1f}), {100 * wins[name]:.0f} % won |"
        for said, name in people["beliefs"] if name in found
    ]  # fmt: skip
    if rows:
        page.text("| what people say | here |", "| --- | --- |", *rows)


def _strength(page: Page, table: Table, ruleset: Any) -> None:
    found = strength.factions(table)
    page.text("## Factions", "", "VP above the mean faction of the same table, at the same deal.")
    page.effects("factions", "Strength of the factions", found)
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
    page.effects("seats", "VP by place in the turn order", strength.seats(table))
    page.text("### Opponents", "", "The pairs that stand out most of all: VP of the first with the "
              "second at the table, above its mean over all opponents.")  # fmt: skip
    page.effects("opponents", "A faction with another one at the table", _pairs(table))
    page.text("### Board", "", "VP for one standard deviation more of what lies near home.")
    page.effects(
        "board", "Planets near home", strength.board(table, board.features(table, ruleset))
    )


def _sources(page: Page, table: Table) -> None:
    page.text("## Where VP come from", "", "VP of the winners above the mean of the others.")
    page.effects("sources", "Winners above the others, by source", strength.sources(table))
    asked = [("place", strength.sources_by_place(table))]
    if len(table.names["agent"]) > 1:
        asked.append(("agent", strength.sources_by_agent(table)))
    for kind, told in asked:
        first = next(iter(told.values()))
        names = " | ".join(e.name for e in first)
        page.text(
            f"Mean VP by source and {kind}:", "",
            f"| | {names} |", "| --- |" + " --- |" * len(first),
            *(f"| {source} | {' | '.join(f'{e.estimate:.1f}' for e in found)} |"
              for source, found in told.items()),
        )  # fmt: skip


def _pairs(table: Table) -> list[Effect]:
    """The pairs of a faction and an opponent that stand out most, judged among all of them."""
    out = []
    for name in table.names["faction"]:
        found = strength.opponents(table, name)
        out += [e._replace(name=f"{name} with {e.name}") for e in found]
    out = together(out)
    return sorted(out, key=lambda e: -abs(e.estimate) / (e.high - e.low))[:24]


def set_up(page: Page, table: Table) -> None:
    """What the things in the game are worth to the table."""
    page.text("## What is in the game", "", "Mean VP of all seats with it in the game, above the "
              "mean thing of its kind. What is in a game is drawn, so this is cause.")  # fmt: skip
    for key, title in (
        ("boosters", "Boosters in play"), ("advanced_tiles", "Advanced tiles in play"),
        ("artifacts", "Artifacts in play"), ("ship_tokens", "Federation tokens on ships"),
        ("final_missions", "Final missions"), ("tf5_token", "Token on terraforming 5"),
    ):  # fmt: skip
        if key in table.setup:
            page.text(f"### {title}")
            page.effects(f"in_play_{key}", title, pieces.in_play(table, key))
    page.text("### Round tiles", "", "Anywhere, then in rounds 1 and 6.")
    page.effects("round_tiles", "Round tiles", pieces.in_play(table, "round_tiles"))
    for place in (0, 5):
        name = f"Round tiles in round {place + 1}"
        found = pieces.in_play(table, "round_tiles", place)
        page.effects(f"round_tiles_{place + 1}", name, found)


def _habits(page: Page, table: Table, done: Decided) -> None:
    """What a seat does in a game, beside people."""
    people, deal = _known(), np.repeat(table.deal, table.players)
    asked: tuple[tuple[str, tuple[str, ...], object], ...] = (
        ("federations formed", ("form_federation",), people["federations"]),
        ("steps of research chosen", ("advance ",), people["research_steps"]),
        ("ships explored", ("explore ",), "not known"),
        ("artifacts taken", ("artifact ",), "not known"),
        ("offers of leech taken", ("leech CHARGE", "leech TOKEN_FIRST"), "not known"),
        ("offers of leech declined", ("leech DECLINE",), "not known"),
    )
    counts = [(name, done.of(*starts)[0].sum(-1), told) for name, starts, told in asked]
    counts.append(("main actions before passing", done.turns.sum(-1), "not known"))
    rows = []
    for name, count, told in counts:
        flat = count.astype(float).ravel()
        (e,) = means(flat, np.zeros(len(flat), int), deal, [name])
        rows.append(f"| {name} | {e.estimate:.2f} ({e.low:.2f} to {e.high:.2f}) | {told} |")
    page.text(
        "## What a seat does", "",
        f"From here on of the first {len(table.vp):,} games: it needs every decision.", "",
        "| a seat and game | here | people |", "| --- | --- | --- |", *rows,
    )  # fmt: skip


def _choices(page: Page, table: Table, done: Decided) -> None:
    page.text("## What players take", "", "VP for one more, beside the games of the same seat of "
              "the same set-up where the agents sat elsewhere, else beside the other seats. Who "
              "takes something chose to: this is no cause by itself.")  # fmt: skip
    kinds: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("tiles", "Tech tiles taken", ("tile ",)),
        ("ships", "Ships explored, and their actions", ("explore", "ship ")),
        ("tokens", "Federation tokens, by ship where they lie on one", ("token ",)),
        ("boosters_taken", "Boosters taken", ("booster ",)),
        ("board_actions", "Power actions", ("power ", "qic ")),
    )
    for name, title, starts in kinds:
        counts, names = done.of(*starts)
        _taken(page, table, name, title, counts, names)


def _placed(page: Page, table: Table, done: Decided, slots: dict[str, list[str]]) -> None:
    """What lies at places that differ from game to game, by what it is."""
    artifacts = [
        str(n + 1) for n in range(np.asarray(table.setup.get("artifacts", [[]])).shape[-1])
    ]
    kinds = (
        ("advanced", "Advanced tiles taken", "advanced_tiles", slots.get("advanced_tiles", [])),
        ("artifact", "Artifacts taken", "artifacts", artifacts),
        ("token", "Federation tokens from ships", "ship_tokens", slots.get("ship_tokens", [])),
    )
    for verb, title, key, places in kinds:
        if places and key in table.setup:
            counts = done.at([f"{verb} {place}" for place in places])
            _taken(page, table, f"{key}_by_name", title, *pieces.by_thing(table, counts, key))


def _taken(
    page: Page, table: Table, name: str, title: str, counts: np.ndarray, names: list[str]
) -> None:
    """What was taken 50 times or more."""
    often = [k for k in range(len(names)) if counts[..., k].sum() >= 50]
    if often:
        found = pieces.taken(table, counts[..., often], [names[k] for k in often])
        page.text(f"### {title}")
        page.effects(f"taken_{name}", title, found)


def _play(page: Page, table: Table, done: Decided) -> None:
    page.text("## Openings", "", "The commonest first three main actions of the four factions that "
              "were played most, VP above the mean of the faction.")  # fmt: skip
    often = np.argsort(-np.bincount(table.faction.ravel(), minlength=1))[:4]
    for k in often:
        name = table.names["faction"][k]
        found = play.openings(table, done, name)
        page.effects(f"openings_{name}", f"Openings of {name}", found)
    page.text("## When to pass", "", "VP for passing one place later in a round.")
    page.effects("passing", "Passing one place later", play.passing(table, done))
    page.text("VP for one more main action before passing.")
    page.effects("turns", "One more main action", play.turns(table, done))
    page.text("## Leech", "", "VP at the end for one more offer taken or declined.")
    page.effects("leech", "Leech", play.leech(table, done))
