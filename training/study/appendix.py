"""The long tables of a page of findings: every question, as pictures, tables and Parquet."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from . import factions, figures, pairs
from .figures import Figures
from .page import Page, interval
from .words import Words

TABLE = "effects.parquet"
PAIRS = 24  # of a faction and an opponent
FIELDS = (
    ("agents", pa.string()), ("question", pa.string()), ("id", pa.string()), ("name", pa.string()),
    ("estimate", pa.float64()), ("low", pa.float64()), ("high", pa.float64()), ("n", pa.int64()),
    ("stands_out", pa.bool_()),
)  # fmt: skip


def write_table(page: Page) -> None:
    """Every effect as a row of a Parquet file next to the pictures."""
    rows = _rows("here", page.own, page.words)
    rows += _rows("before", page.beside, page.words)
    columns = list(zip(*rows, strict=True))
    fields = [pa.field(name, kind) for name, kind in FIELDS]
    arrays = [pa.array(x, f.type) for x, f in zip(columns, fields, strict=True)]
    pq.write_table(pa.table(arrays, schema=pa.schema(fields)), page.out / page.pictures / TABLE)


def _rows(agents: str, figures_by_question: Figures, words: Words) -> list[tuple[object, ...]]:
    out: list[tuple[object, ...]] = []
    for question, effects in figures_by_question.items():
        finite_effects = [e for e in effects if math.isfinite(e.low)]
        row = question.partition(": ")[2]
        plain = words.all(factions.QUESTIONS.get(row, question), finite_effects)
        out += [
            (agents, question, e.name, named.name, *e[1:])
            for e, named in zip(finite_effects, plain, strict=True)
        ]
    return out


def write(page: Page, sources: Sequence[str], decided: int | None) -> None:
    """All chapters.

    Args:
        sources: of VP, by id. decided: games that every decision is known of; None is none.
    """
    _strength(page)
    _sources(page, sources)
    _set_up(page)
    if decided is None:
        page.text("## Openings, choices, passing, leech", "", "Left out: `--games-only`.")
    else:
        _decided(page, decided)


def _strength(page: Page) -> None:
    page.text("## Factions", "", "VP above the mean faction of the same table, at the same deal.")
    page.effects("factions", "Strength of the factions")
    page.text("## Seats", "", "VP by place in the turn order of round 1.")
    page.effects("seats", "VP by place in the turn order")
    _opponents(page)
    page.text("## Board", "", "VP for one planet more near home; for one that is easy, beyond "
              "that.")  # fmt: skip
    page.effects("board", "Planets near home")


def _opponents(page: Page) -> None:
    page.text("## Opponents", "", "VP of the others with this faction at the table, above the mean "
              "opponent. Pairs are taken as independent.")  # fmt: skip
    page.effects("against", "What an opponent does to all at its table")
    measured = page.found("pairs")
    if not measured:
        return
    clear = sorted(measured, key=lambda e: -abs(e.estimate) / max(e.high - e.low, 1e-9))[:PAIRS]
    wide, error = pairs.spread(measured)
    noise = f" (standard error {error:.1f})" if math.isfinite(error) else ""
    lead = pairs.shrunken(clear[0], wide)
    page.text(
        f"The {len(clear)} pairs of {len(measured)} that stand out most: VP of the first with the "
        "second at the table, beyond what the second does to all. All pairs were judged together; "
        f"{sum(e.found for e in measured)} stand out.", "",
        f"Without their noise pairs spread by {wide:.1f} VP{noise}, as a standard deviation. The "
        f"clearest, {page.words.of('pairs', lead.name)}, is {interval(clear[0], ' VP')} as "
        f"measured. It was picked for that: {interval(lead, ' VP')} is to be expected of it.",
    )  # fmt: skip
    page.effects("pairs", "A faction with another one at the table", [e.name for e in clear])


def _sources(page: Page, sources: Sequence[str]) -> None:
    page.text("## Where VP come from", "", "VP of the winners above the mean of the others.")
    page.effects("sources", "Winners above the others, by source")
    for kind in ("place", "agent"):
        by_source = {source: page.own.get(f"by {kind} {source}", []) for source in sources}
        first = by_source[sources[0]]
        if not first:
            continue
        page.text(
            f"Mean VP by source and {kind}:", "",
            f"| | {' | '.join(e.name for e in first)} |", "| --- |" + " --- |" * len(first),
            *(f"| {page.words.source(source)} | "
              f"{' | '.join(f'{e.estimate:.1f}' for e in source_effects)} |"
              for source, source_effects in by_source.items()),
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
    page.text(
        "## What a seat does", "",
        f"From here on of the first {games:,} games: it needs every decision.", "",
        "| a seat and game | here (95 %) |", "| --- | --- |",
        *(f"| {e.name} | {e.estimate:.2f} ({e.low:.2f} to {e.high:.2f}) |"
          for e in page.found("habits")),
    )  # fmt: skip
    page.text("## What players take", "", "VP for one more, beside the games of the same seat of "
              "the same set-up where the agents sat elsewhere, else beside the other seats. Who "
              "takes something chose to: this is no cause by itself.")  # fmt: skip
    questions = [(name, title) for name, title, _ in figures.TAKEN]
    questions += [(f"{key}_by_name", title) for _, title, key in figures.PLACED]
    for name, title in questions:
        if page.found(f"taken_{name}"):
            page.text(f"### {title}")
            page.effects(f"taken_{name}", title)
    page.text("## Openings", "", "The commonest first three main actions of the four factions that "
              "were played most, VP above the mean of the faction.")  # fmt: skip
    for key in page.own:
        if key.startswith("openings_"):
            page.effects(key, f"Openings: {page.words.faction(key.removeprefix('openings_'))}")
    page.text("## When to pass", "", "VP for passing one place later in a round.")
    page.effects("passing", "Passing one place later")
    page.text("VP for one more main action before passing.")
    page.effects("turns", "One more main action")
    page.text("## Leech", "", "VP at the end for one more offer taken or declined.")
    page.effects("leech", "Leech")
