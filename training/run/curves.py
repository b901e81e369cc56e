"""Compare runs: experiments, curves with bands over seeds, final strength, the HTML page."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..run import logs
from ..stats import aggregate, chart
from ..system.data_files import NUMBER, OBJECT, TEXT, check_keys, check_kind, read_object

SHOWN = ("games/vp", "evaluation/*/vp_difference", "evaluation/*/vp", "evaluation/*/win_share",
         "policy/entropy", "value/explained", "time/decisions_per_second")  # fmt: skip
X = {"decisions": "time/decisions", "updates": "update", "minutes": "time/minutes"}
VARYING_KEYS = ("name", "seed")  # of an experiment; all other keys are equal
STRENGTH = ("vp", "vp_difference", "win_share")
STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1c2126}"
    "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #d5d9dd;padding:.25em .6em;"
    "text-align:left}h1,h2{font-weight:600}svg{max-width:100%;height:auto}"
)
# The first bytes of a page; a file that begins so may be overwritten.
TOP = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Runs compared</title>'
PAGE = outputs.begins(TOP)


class Run(NamedTuple):
    """A run folder."""

    path: Path
    config: dict[str, Any]  # flat, "ppo.lr" -> value
    records: list[dict[str, Any]]
    # By opponent, at the end, and by measure of `STRENGTH`: mean, low and high if they are known.
    evaluations: dict[str, dict[str, Any]]


class Experiment(NamedTuple):
    """Runs that differ in seed and name alone."""

    name: str
    runs: list[Run]


def read(path: Path) -> Run:
    """A run folder.

    Raises:
        UserError: it is none, or its records cannot be read.
    """
    if not (path / configs.OF_A_RUN).is_file():
        raise UserError(f"{path} is no run folder: it has no {configs.OF_A_RUN}")
    # Not validated: runs of other versions have other keys.
    config = configs.flat_tree(configs.read_mapping(path / configs.OF_A_RUN, "the configuration"))
    if not config:
        raise UserError(f"{path / configs.OF_A_RUN} is empty")
    records = read_records(path)
    if not records:
        raise UserError(f"{path} has no records yet")
    evaluations: dict[str, dict[str, Any]] = {}
    for file in sorted(path.glob("evaluation*.json")):
        report = read_object(file, {"opponent": TEXT} | dict.fromkeys(STRENGTH, OBJECT))
        results = evaluations[report["opponent"]] = dict[str, Any]()
        for key in STRENGTH:
            location, policy_report = f"{file}: {key}", report[key].get("policy", report[key])
            check_keys(location, policy_report, {"mean": NUMBER})
            # One set-up has no interval: its bounds are null.
            bounds = {x for x in ("low", "high") if policy_report.get(x) is not None}
            check_keys(location, policy_report, dict.fromkeys(bounds, NUMBER))
            results[key] = {x: policy_report[x] for x in ("mean", *bounds)}
    return Run(path, config, records, evaluations)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a run folder, with `time/minutes` of training alone.

    Compiling, evaluations and breaks do not count.

    Raises:
        UserError: they cannot be read, or a value is no number.
    """
    records = [json.loads(line) for _, line in logs.read_records(path / logs.RECORDS)]
    seconds, before = 0.0, 0.0
    for number, record in enumerate(records, 1):
        for key, value in record.items():
            check_kind(f"{path / logs.RECORDS}: line {number}: {key}", value, NUMBER)
        if record.get("time/decisions_per_second") and "time/decisions" in record:
            seconds += (record["time/decisions"] - before) / record["time/decisions_per_second"]
            before = record["time/decisions"]
            record["time/minutes"] = seconds / 60
    return records


def experiments(runs: Sequence[Run]) -> list[Experiment]:
    """Group runs by configuration, in the order of `runs`."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        rest = {key: value for key, value in run.config.items() if key not in VARYING_KEYS}
        groups.setdefault(json.dumps(rest, sort_keys=True, default=str), []).append(run)
    out: list[Experiment] = []
    for group in groups.values():
        name = _common_name(group)
        names = {experiment.name for experiment in out}
        unique_name = f"{name} ({group[0].path.name})"
        out.append(Experiment(name if name not in names else unique_name, group))
    return out


def _common_name(runs: Sequence[Run]) -> str:
    """The common part of the runs' names, without a seed at the end."""
    names = [run.path.name for run in runs]
    heads = {
        name.removesuffix(f"-{run.config.get('seed')}")
        for name, run in zip(names, runs, strict=True)
    }
    if len(heads) == 1 and heads != set(names):
        return heads.pop()
    if len(names) == 1:
        return names[0]
    return os.path.commonprefix(names).rstrip("-_.@0123456789") or names[0]


def differences(experiments: Sequence[Experiment]) -> dict[str, list[Any]]:
    """The keys of the configurations that differ between experiments, with their values."""
    all_keys = sorted({key for e in experiments for key in e.runs[0].config} - set(VARYING_KEYS))
    values = {key: [e.runs[0].config.get(key) for e in experiments] for key in all_keys}
    return {
        key: settings for key, settings in values.items() if any(v != settings[0] for v in settings)
    }


def curve(experiment: Experiment, metric: str, x: str) -> chart.Line | None:
    """The interquartile mean of a metric over the runs and tasks of an experiment.

    Args:
        metric: a name, or a pattern with `*` for the opponent: each is a task.
        x: the metric of the horizontal axis.
    """
    xs, ys = [], []
    tasks = sorted({name for run in experiment.runs for name in _matching(run, metric)})
    for run in experiment.runs:
        for task in tasks:
            points = [(r[1], r[0]) for r in _points(run, task, x)]
            if points:
                ys.append(np.array([y for y, _ in points]))
                xs.append(np.array([at for _, at in points]))
    complete = len(xs) == len(experiment.runs) * len(tasks)
    if not xs or not complete:
        return None
    grid, values = aggregate.interpolate_on_grid(xs, ys)
    scores = values.reshape(len(experiment.runs), len(tasks), -1)
    middle = aggregate.iqm(np.moveaxis(scores, -1, 0).reshape(len(grid), -1))
    bands = [aggregate.bootstrap(scores[:, :, at]) for at in range(len(grid))]
    return chart.Line(experiment.name, grid, middle, np.array(bands))


def _matching(run: Run, metric: str) -> set[str]:
    head, _, tail = metric.partition("*")
    names = {name for record in run.records for name in record}
    if "*" not in metric:
        return names & {metric}
    return {name for name in names if name.startswith(head) and name.endswith(tail)}


def _points(run: Run, metric: str, x: str) -> Iterator[tuple[float, float]]:
    """(x, value) of the records that have the metric; x is that of the same or the last record."""
    at = None
    for record in run.records:
        at = record.get(x, at)
        if metric in record and at is not None:
            yield float(at), float(record[metric])


def strength(experiments: Sequence[Experiment]) -> list[dict[str, Any]]:
    """Final strength of each experiment: by measure the IQM over runs and opponents."""
    rows = []
    for experiment in experiments:
        opponents = sorted({o for run in experiment.runs for o in run.evaluations})
        row: dict[str, Any] = {
            "experiment": experiment.name,
            "runs": len(experiment.runs),
            "opponents": opponents,
        }
        is_complete = opponents and all(
            set(run.evaluations) == set(opponents) for run in experiment.runs
        )
        for measure in STRENGTH if is_complete else ():
            scores = np.array(
                [
                    [run.evaluations[o][measure]["mean"] for o in opponents]
                    for run in experiment.runs
                ]
            )
            low, high = aggregate.bootstrap(scores)
            row[measure] = {"iqm": float(aggregate.iqm(scores.ravel())), "low": low, "high": high}
            if scores.size == 1:  # one run, one opponent: the interval of its own games
                result = experiment.runs[0].evaluations[opponents[0]][measure]
                row[measure] |= {key: result.get(key, np.nan) for key in ("low", "high")}
        rows.append(row)
    return rows


def picture(experiments: Sequence[Experiment], metric: str, x: str) -> str:
    """The curves of a metric as SVG; "" if no experiment has it."""
    lines = [line for e in experiments if (line := curve(e, metric, X[x])) is not None]
    return chart.lines(lines, metric, x) if lines else ""


def page(experiments: Sequence[Experiment], metrics: Sequence[str], x: str) -> str:
    """The comparison as one self-contained HTML page."""
    parts = ["<h1>Runs compared</h1>", _experiments_table(experiments), _length_table(experiments)]
    if any(run.evaluations for experiment in experiments for run in experiment.runs):
        parts.append(_strength_table(strength(experiments)))
    for metric in metrics:
        if drawn := picture(experiments, metric, x):
            parts.append(f"<h2>{html.escape(metric)}</h2>{drawn}")
    parts.append(
        "<p>Lines are interquartile means over runs and opponents, bands 95 % of a bootstrap "
        "stratified by opponent; an experiment with one run has no band. In the table, "
        "the interval of one run against one opponent is that of its games.</p>"
    )
    head = f"<style>{STYLE}</style>"
    body = "\n".join(parts)
    return f"{TOP}{head}</head><body>{body}</body></html>\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def cells(kind: str, row: Sequence[object]) -> str:
        return "".join(f"<{kind}>{html.escape(str(x))}</{kind}>" for x in row)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', head)}</tr>{body}</table>"


def _experiments_table(experiments: Sequence[Experiment]) -> str:
    differs = differences(experiments)
    rows = [
        ["runs", *(", ".join(run.path.name for run in e.runs) for e in experiments)],
        ["seeds", *(", ".join(str(run.config.get("seed")) for run in e.runs) for e in experiments)],
        *([key, *("-" if x is None else x for x in cells)] for key, cells in differs.items()),
    ]
    return _table(["", *(e.name for e in experiments)], rows)


def self_play(run: Run) -> float:
    """VP of a seat in the games that ended in the last tenth of a run's updates; nan without."""
    updates = [r for r in run.records if "games/vp" in r]
    last = updates[-max(len(updates) // 10, 1) :] if updates else []
    games = [float(r.get("games/ended", 1)) for r in last]
    vp = sum(r["games/vp"] * n for r, n in zip(last, games, strict=True))
    return vp / sum(games) if sum(games) else float("nan")


def lengths(run: Run) -> tuple[float, float, float]:
    """Environment steps, minutes of training, `self_play`."""
    latest: dict[str, Any] = {}
    for record in run.records:
        latest |= record
    decisions, minutes = (latest.get(X[name], float("nan")) for name in ("decisions", "minutes"))
    return decisions, minutes, self_play(run)


def _length_table(experiments: Sequence[Experiment]) -> str:
    """Decisions, minutes and self-play VP of each run."""
    rows = []
    for experiment in experiments:
        run_lengths = [lengths(run) for run in experiment.runs]
        texts = [(f"{d:,.0f}", f"{m:.1f}", f"{vp:.1f}") for d, m, vp in run_lengths]
        rows.append([experiment.name, *(" / ".join(x) for x in zip(*texts, strict=True))])
    head = ["experiment", "decisions", "minutes", "VP of self-play, last tenth"]
    return "<h2>Length</h2>" + _table(head, rows)


def _strength_table(rows: Sequence[dict[str, Any]]) -> str:
    table_rows = []
    for row in rows:
        cells = [row["experiment"], row["runs"], ", ".join(row["opponents"]) or "no evaluation"]
        for measure in STRENGTH:
            value = row.get(measure)
            cells.append(
                "-" if value is None else with_interval(value, 3 if measure == STRENGTH[2] else 1)
            )
        table_rows.append(cells)
    head = ["experiment", "runs", "against", "VP", "VP above the others", "win share"]
    return "<h2>Final strength</h2>" + _table(head, table_rows)


def with_interval(value: dict[str, float], digits: int) -> str:
    """A number with its interval, if it has one."""
    text = f"{value['iqm']:.{digits}f}"
    if np.isfinite(value["low"]):
        text += f" ({value['low']:.{digits}f} to {value['high']:.{digits}f})"
    return text
