"""The tables that `gaia study` writes: `NAME.md`, and all effects in `NAME/effects.parquet`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gaia_jax.cli import outputs
from gaia_jax.ruleset import Ruleset

from ..stats.agreement import compare_rankings
from ..stats.effects import Effect
from .questions import DESCRIPTIVE, MEAN_QUESTIONS, TITLES, Answers
from .results_file import Results
from .vocabulary import Vocabulary

HEADER = f"# Study of a dataset\n\n{outputs.COMMENT}"
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

    results: Results
    by_faction: Mapping[str, Answers]  # question -> faction -> effects
    vocabulary: Vocabulary
    other_results: Results | None  # of another agent's games
    num_decision_games: int | None  # for the questions about decisions; None: skipped


def check_outputs(out: Path, name: str) -> None:
    """Reject an output that this command did not write, before any work.

    Args:
        out: the folder of the report; name: of the report.
    Raises:
        UserError: the name is not a plain file name, or another program wrote the file.
    """
    outputs.plain_name("--page", name)
    outputs.check_inside("--out", out)
    is_own_report = outputs.begins(HEADER)
    outputs.check_file(
        "--page", out / f"{name}.md", is_own_report, "choose another name", parents=True
    )
    outputs.check_inside("--page", out / name, PARQUET, _is_own_parquet)


def _is_own_parquet(path: Path) -> bool:
    try:
        return bool(pq.read_schema(path).names == [name for name, _ in FIELDS])
    except pa.ArrowException:
        return False


def build(
    results: Results,
    by_faction: Mapping[str, Answers],
    ruleset: Ruleset,
    other_results: Results | None,
    num_decision_games: int | None,
) -> Report:
    """Collect the answers, without the effects that have no interval but should have one."""
    answers = {key: _select_reported(key, effects) for key, effects in results.answers.items()}
    vocabulary = Vocabulary(ruleset)
    return Report(
        results._replace(answers=answers), by_faction, vocabulary, other_results, num_decision_games
    )


def _select_reported(question: str, effects: Iterable[Effect]) -> list[Effect]:
    """The effects with an interval; all of a question whose effects have none."""
    return list(effects) if question in DESCRIPTIVE else _select_with_interval(effects)


def _select_with_interval(effects: Iterable[Effect]) -> list[Effect]:
    return [e for e in effects if math.isfinite(e.low)]


def write(report: Report, out: Path, name: str) -> None:
    """Write the tables and the Parquet file."""
    (out / name).mkdir(parents=True, exist_ok=True)
    answers, vocabulary = report.results.answers, report.vocabulary
    sections = [HEADER, _format_games(report), _format_summary(report)]
    if report.other_results:
        sections.append(_format_agreement(answers, report.other_results.answers))
    for key, effects in answers.items():
        if not key.startswith("by "):  # the loop below puts these into one table
            sections.append(_format_section(report, key, effects))
    for group in ("place", "agent"):
        prefix = f"by {group} "
        rows = {
            vocabulary.name("sources", key.removeprefix(prefix)): effects
            for key, effects in answers.items() if key.startswith(prefix)
        }  # fmt: skip
        if rows:
            sections.append(
                f"## Mean VP by source and {group}\n\n{_format_matrix(rows, 'source_means')}"
            )
    for question, by_faction in report.by_faction.items():
        rows = {
            vocabulary.faction(faction): vocabulary.rename(question, effects)
            for faction, effects in by_faction.items()
        }
        if rows:
            # Two questions report means: format them as `levels`, without a sign.
            key = "levels" if question in ("research", "VP by round") else question
            sections.append(f"## By faction: {question}\n\n{_format_matrix(rows, key)}")
    outputs.write_text(out / f"{name}.md", "\n\n".join(s.strip() for s in sections) + "\n")
    _write_parquet(report, out / name / PARQUET)


def find_title(key: str, vocabulary: Vocabulary) -> str:
    """The heading of a question."""
    if key.startswith("openings_"):
        return f"Openings: {vocabulary.faction(key.removeprefix('openings_'))}"
    return TITLES[key]


def _format_games(report: Report) -> str:
    """The games of each dataset, and who played them."""
    rows = []
    for label, results in (("this dataset", report.results), ("other agent", report.other_results)):
        if results:
            rules = {f"`{part['env']}` {part['version']}" for part in results.about["parts"]}
            agents = ", ".join(
                f"`{e.name}` {format_effect(e, 'agents')}" for e in results.answers["agents"]
            )
            rows.append(
                [
                    label,
                    f"{results.games:,}",
                    f"{results.deals:,}",
                    ", ".join(sorted(rules)),
                    agents,
                ]
            )
    num_games = report.num_decision_games
    decisions = "were skipped (`--games-only`)"
    if num_games is not None:
        decisions = f"use the first {num_games:,} games"
    return (
        markdown_table(["", "games", "set-ups", "rules", "VP of a seat (95 %)"], rows)
        + "\n\nEstimates are VP unless the title has a unit, with 95 % intervals over set-ups; n is"
        " the number of\nobservations. Bold effects are significant in their family (Holm, 5 %). "
        f"A long table has its\n{ROWS_AT_EITHER_END} largest and {ROWS_AT_EITHER_END} smallest "
        f"effects; `{PARQUET}` has all. Questions about decisions {decisions}."
    )


def _format_summary(report: Report) -> str:
    """A row for each question: its largest and smallest effect."""
    rows = []
    for key, effects in report.results.answers.items():
        if len(effects) > 1 and not key.startswith("by "):
            ordered = sorted(report.vocabulary.rename(key, effects), key=lambda e: -e.estimate)
            significant = f"{sum(e.significant for e in effects)} of {len(effects)}"
            ends = (f"{e.name}: {format_effect(e, key)}" for e in (ordered[0], ordered[-1]))
            heading = find_title(key, report.vocabulary)
            rows.append([heading, "mean" if key in MEAN_QUESTIONS else significant, *ends])
    return "## Summary\n\n" + markdown_table(
        ["question", "significant", "largest", "smallest"], rows
    )


def _format_agreement(answers: Answers, other_answers: Answers) -> str:
    """Compare the answers with those of the other agent's games, question by question."""
    rows = []
    for key in answers.keys() & other_answers.keys() & TITLES.keys():
        correlation, without_noise = compare_rankings(TITLES[key], answers[key], other_answers[key])
        if not math.isfinite(correlation.low):
            continue
        by_name = {
            e.name: e for e in _select_with_interval(other_answers[key]) if e.low > 0 or e.high < 0
        }
        both_clear = [e for e in answers[key] if (e.low > 0 or e.high < 0) and e.name in by_name]
        num_same_sign = sum((e.estimate > 0) == (by_name[e.name].estimate > 0) for e in both_clear)
        rows.append([
            correlation.name, format_effect(correlation), str(correlation.size),
            f"{without_noise:+.2f}" if math.isfinite(without_noise) else "mostly noise",
            f"{num_same_sign} of {len(both_clear)}" if len(both_clear) >= MIN_SIGNS else "too few",
        ])  # fmt: skip
    header = ["question", "rank correlation (95 %)", "n", "without noise", "same sign"]
    return (
        "## Agreement with the other agent\n\nThe last column counts effects whose intervals "
        f"exclude 0 for both agents.\n\n{markdown_table(header, sorted(rows))}"
    )


def _format_section(report: Report, key: str, effects: list[Effect]) -> str:
    """The effects of a question."""
    heading = f"## {find_title(key, report.vocabulary)}\n\n"
    if not effects:
        return heading + "No effect has an interval: too few games."
    others = (
        {e.name: e for e in _select_with_interval(report.other_results.answers.get(key, []))}
        if report.other_results
        else {}
    )
    renamed = list(zip(report.vocabulary.rename(key, effects), effects, strict=True))
    renamed.sort(key=lambda pair: -pair[1].estimate)
    if len(renamed) > 2 * ROWS_AT_EITHER_END:
        renamed = renamed[:ROWS_AT_EITHER_END] + renamed[-ROWS_AT_EITHER_END:]
    rows = []
    for renamed_effect, effect in renamed:
        rows.append([renamed_effect.name, format_effect(effect, key), f"{effect.size:,}"])
        if others:
            rows[-1].append(
                format_effect(others[effect.name], key) if effect.name in others else "-"
            )
    header = ["", "estimate (95 %)", "n", *(["other agent (95 %)"] if others else [])]
    return heading + markdown_table(header, rows)


def _format_matrix(rows: Mapping[str, Sequence[Effect]], key: str = "") -> str:
    """A table with a column for each name of an effect.

    With more than MAX_COLUMNS names, each row shows its largest and its smallest effect instead.
    """
    columns = list(dict.fromkeys(e.name for effects in rows.values() for e in effects))
    if len(columns) > MAX_COLUMNS:
        ends = [(row, sorted(effects, key=lambda e: -e.estimate)) for row, effects in rows.items()]
        cells = [
            [row, *(f"{e.name}: {format_effect(e, key)}" for e in (ordered[0], ordered[-1]))]
            for row, ordered in ends
        ]
        return markdown_table(["", "largest", "smallest"], cells)
    cells = []
    for row, effects in rows.items():
        by_name = {e.name: format_effect(e, key) for e in effects}
        cells.append([row, *(by_name.get(name, "-") for name in columns)])
    return markdown_table(["", *columns], cells)


def format_effect(effect: Effect, key: str = "") -> str:
    """An estimate with its interval: bold if significant, without a sign if it is a mean."""
    is_mean = key in MEAN_QUESTIONS
    if key in DESCRIPTIVE:
        return f"{effect.estimate:.2f}"
    numbers = (f"{x:.2f}" if is_mean else f"{x:+.2f}" for x in effect[1:4])
    text = "{} ({} to {})".format(*numbers)
    return f"**{text}**" if effect.significant and not is_mean else text


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _write_parquet(report: Report, path: Path) -> None:
    """Every effect as a row."""
    answers = [("here", key, key, effects) for key, effects in report.results.answers.items()]
    for question, by_faction in report.by_faction.items():
        answers += [("here", f"{f}: {question}", question, e) for f, e in by_faction.items()]
    if report.other_results:
        answers += [("before", key, key, e) for key, e in report.other_results.answers.items()]
    rows = []
    for agents, label, question, effects in answers:
        effects = _select_reported(question, effects)
        names = [e.name for e in report.vocabulary.rename(question, effects)]
        rows += [(agents, label, e.name, n, *e[1:]) for e, n in zip(effects, names, strict=True)]
    fields = [pa.field(name, kind) for name, kind in FIELDS]
    arrays = [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(fields)]
    pq.write_table(pa.table(arrays, schema=pa.schema(fields)), path)
