"""The tables that `gaia study` writes: `NAME.md`, and all effects in `NAME/effects.parquet`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gaia_jax.ruleset import Ruleset

from ..stats.agreement import agreement
from ..stats.effects import Effect
from ..system import atomic_files
from .questions import MEANS, TITLES, Answers
from .results_file import Results
from .vocabulary import Vocabulary

HEAD = f"# Study of a dataset\n\n{atomic_files.COMMENT}"
PARQUET = "effects.parquet"
ROWS_AT_EITHER_END = 6
MAX_COLUMNS = 6
MIN_SIGNS = 5  # effects whose signs are compared
FIELDS = (
    ("agents", pa.string()), ("question", pa.string()), ("id", pa.string()), ("name", pa.string()),
    ("estimate", pa.float64()), ("low", pa.float64()), ("high", pa.float64()), ("n", pa.int64()),
    ("stands_out", pa.bool_()),
)  # fmt: skip


class Report(NamedTuple):
    """The answers that a report shows."""

    own: Results
    by_faction: Mapping[str, Answers]  # question -> faction -> effects
    vocabulary: Vocabulary
    other: Results | None  # of another agent's games
    decided_games: int | None  # games of the questions about decisions; None: these were skipped


def check_outputs(out: Path, name: str) -> None:
    """Reject an output that this command did not write, before any work.

    Args:
        out: the folder of the report; name: of the report.
    Raises:
        UserError: the name is not a plain file name, or a file is not one of ours.
    """
    atomic_files.plain_name("--page", name)
    atomic_files.check_inside("--out", out, parents=True)
    own = atomic_files.begins(HEAD)
    atomic_files.check_file("--page", out / f"{name}.md", own, "choose another name", parents=True)
    atomic_files.check_inside("--page", out / name, PARQUET, _is_own_parquet, parents=True)


def _is_own_parquet(path: Path) -> bool:
    try:
        return bool(pq.read_schema(path).names == [name for name, _ in FIELDS])
    except pa.ArrowException:
        return False


def build(
    own: Results,
    by_faction: Mapping[str, Answers],
    ruleset: Ruleset,
    other: Results | None,
    decided_games: int | None,
) -> Report:
    """Collect the answers; effects without an interval are left out."""
    answers = {key: _finite(effects) for key, effects in own.answers.items()}
    vocabulary = Vocabulary(ruleset)
    return Report(own._replace(answers=answers), by_faction, vocabulary, other, decided_games)


def _finite(effects: Iterable[Effect]) -> list[Effect]:
    return [e for e in effects if math.isfinite(e.low)]


def write(report: Report, out: Path, name: str) -> None:
    """Write the tables and the Parquet file."""
    (out / name).mkdir(parents=True, exist_ok=True)
    answers, words = report.own.answers, report.vocabulary
    sections = [HEAD, _games(report), _summary(report)]
    if report.other:
        sections.append(_agreement(answers, report.other.answers))
    for key, effects in answers.items():
        if not key.startswith("by "):
            sections.append(_section(report, key, effects))
    for group in ("place", "agent"):
        start = f"by {group} "
        rows = {
            words.names["vp_source"].get(key.removeprefix(start), key.removeprefix(start)): effects
            for key, effects in answers.items() if key.startswith(start)
        }  # fmt: skip
        if rows:
            sections.append(f"## Mean VP by source and {group}\n\n{_matrix(rows, 'source_means')}")
    for question, by_faction in report.by_faction.items():
        rows = {
            words.faction(faction): words.rename(question, effects)
            for faction, effects in by_faction.items()
        }
        if rows:
            key = "levels" if question in ("research", "VP by round") else question
            sections.append(f"## By faction: {question}\n\n{_matrix(rows, key)}")
    atomic_files.write_text(out / f"{name}.md", "\n\n".join(s.strip() for s in sections) + "\n")
    _write_parquet(report, out / name / PARQUET)


def title(key: str, words: Vocabulary) -> str:
    """The heading of a question."""
    if key.startswith("openings_"):
        return f"Openings: {words.faction(key.removeprefix('openings_'))}"
    return TITLES[key]


def _games(report: Report) -> str:
    """The games of each dataset, and who played them."""
    rows = []
    for label, results in (("this dataset", report.own), ("other agent", report.other)):
        if results:
            rules = {f"`{part['env']}` {part['version']}" for part in results.about["parts"]}
            agents = ", ".join(f"`{e.name}` {cell(e, 'agents')}" for e in results.answers["agents"])
            rows.append(
                [
                    label,
                    f"{results.games:,}",
                    f"{results.deals:,}",
                    ", ".join(sorted(rules)),
                    agents,
                ]
            )
    decided = report.decided_games
    decisions = "were skipped (`--games-only`)"
    if decided is not None:
        decisions = f"use the first {decided:,} games"
    return (
        markdown_table(["", "games", "set-ups", "rules", "VP of a seat (95 %)"], rows)
        + "\n\nEstimates are VP unless the title has a unit, with 95 % intervals over set-ups; n is"
        " the number of\nobservations. Bold effects are significant in their family (Holm, 5 %). "
        f"A long table has its\n{ROWS_AT_EITHER_END} largest and {ROWS_AT_EITHER_END} smallest "
        f"effects; `{PARQUET}` has all. Questions about decisions {decisions}."
    )


def _summary(report: Report) -> str:
    """A row for each question: its largest and smallest effect."""
    rows = []
    for key, effects in report.own.answers.items():
        if len(effects) > 1 and not key.startswith("by "):
            ordered = sorted(report.vocabulary.rename(key, effects), key=lambda e: -e.estimate)
            significant = f"{sum(e.significant for e in effects)} of {len(effects)}"
            ends = (f"{e.name}: {cell(e, key)}" for e in (ordered[0], ordered[-1]))
            heading = title(key, report.vocabulary)
            rows.append([heading, "mean" if key in MEANS else significant, *ends])
    return "## Summary\n\n" + markdown_table(
        ["question", "significant", "largest", "smallest"], rows
    )


def _agreement(own: Answers, other: Answers) -> str:
    """How alike both agents' games answer each question."""
    rows = []
    for key in own.keys() & other.keys() & TITLES.keys():
        rank, without_noise = agreement(TITLES[key], own[key], other[key])
        if not math.isfinite(rank.low):
            continue
        by_name = {e.name: e for e in _finite(other[key]) if e.low > 0 or e.high < 0}
        clear = [e for e in own[key] if (e.low > 0 or e.high < 0) and e.name in by_name]
        same = sum((e.estimate > 0) == (by_name[e.name].estimate > 0) for e in clear)
        rows.append([
            rank.name, cell(rank), str(rank.size),
            f"{without_noise:+.2f}" if math.isfinite(without_noise) else "mostly noise",
            f"{same} of {len(clear)}" if len(clear) >= MIN_SIGNS else "too few",
        ])  # fmt: skip
    head = ["question", "rank correlation (95 %)", "n", "without noise", "same sign"]
    return (
        "## Agreement with the other agent\n\nThe last column counts effects whose intervals "
        f"exclude 0 for both agents.\n\n{markdown_table(head, sorted(rows))}"
    )


def _section(report: Report, key: str, effects: list[Effect]) -> str:
    """The effects of a question."""
    heading = f"## {title(key, report.vocabulary)}\n\n"
    if not effects:
        return heading + "Too few games."
    others = {e.name: e for e in _finite(report.other.answers.get(key, []))} if report.other else {}
    named = list(zip(report.vocabulary.rename(key, effects), effects, strict=True))
    named.sort(key=lambda pair: -pair[1].estimate)
    if len(named) > 2 * ROWS_AT_EITHER_END:
        named = named[:ROWS_AT_EITHER_END] + named[-ROWS_AT_EITHER_END:]
    rows = []
    for plain, effect in named:
        rows.append([plain.name, cell(effect, key), f"{effect.size:,}"])
        if others:
            rows[-1].append(cell(others[effect.name], key) if effect.name in others else "-")
    head = ["", "estimate (95 %)", "n", *(["other agent (95 %)"] if others else [])]
    return heading + markdown_table(head, rows)


def _matrix(rows: Mapping[str, Sequence[Effect]], key: str = "") -> str:
    """Effects of several rows as columns; of many columns the largest and the smallest."""
    columns = list(dict.fromkeys(e.name for effects in rows.values() for e in effects))
    if len(columns) > MAX_COLUMNS:
        ends = [(row, sorted(effects, key=lambda e: -e.estimate)) for row, effects in rows.items()]
        cells = [
            [row, *(f"{e.name}: {cell(e, key)}" for e in (ordered[0], ordered[-1]))]
            for row, ordered in ends
        ]
        return markdown_table(["", "largest", "smallest"], cells)
    cells = []
    for row, effects in rows.items():
        by_name = {e.name: cell(e, key) for e in effects}
        cells.append([row, *(by_name.get(name, "-") for name in columns)])
    return markdown_table(["", *columns], cells)


def cell(effect: Effect, key: str = "") -> str:
    """An effect of a question with its interval, bold if it is significant; a mean has no sign."""
    is_mean = key in MEANS
    numbers = (f"{x:.2f}" if is_mean else f"{x:+.2f}" for x in effect[1:4])
    text = "{} ({} to {})".format(*numbers)
    return f"**{text}**" if effect.significant and not is_mean else text


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _write_parquet(report: Report, path: Path) -> None:
    """Every effect as a row."""
    answers = [("here", key, key, effects) for key, effects in report.own.answers.items()]
    for question, by_faction in report.by_faction.items():
        answers += [("here", f"{f}: {question}", question, e) for f, e in by_faction.items()]
    if report.other:
        answers += [("before", key, key, e) for key, e in report.other.answers.items()]
    rows = []
    for agents, label, question, effects in answers:
        effects = _finite(effects)
        names = [e.name for e in report.vocabulary.rename(question, effects)]
        rows += [(agents, label, e.name, n, *e[1:]) for e, n in zip(effects, names, strict=True)]
    fields = [pa.field(name, kind) for name, kind in FIELDS]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(x, f.type) for x, f in zip(columns, fields, strict=True)]
    pq.write_table(pa.table(arrays, schema=pa.schema(fields)), path)
