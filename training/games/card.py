"""`README.md` of a dataset, its card on Hugging Face."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from gaia_jax import __version__

from .. import zoo
from ..system import commit
from ..types import Environment
from . import parquet_files, stats
from .schema import DECISIONS, GAMES, About

HERE = Path(__file__).parent
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
RESULT_KEYS = ("games", "vp", "vp_difference")  # of the results of a zoo agent


def made_with() -> str:
    """The version of this code, and in a clone its commit."""
    commit_info = commit.of_clone()
    changed = ", with changes" if commit_info.get("changed") else ""
    suffix = f" at {commit_info['commit']}{changed}" if commit_info else ""
    return f"gaia_jax {__version__}{suffix}"


def strength(names: Sequence[str], env: Environment) -> dict[str, Any]:
    """The results of the shipped agents among these names, measured when they were shipped."""
    strengths = {}
    for name in sorted(set(names)):
        if name not in zoo.names():
            continue
        about = zoo.about(name)
        if (about["env"], about.get("players", 4)) != (env.id, env.num_players):
            continue
        results = {
            opponent: {key: result[key] for key in RESULT_KEYS if key in result}
            for opponent, result in about.get("results", {}).items()
        }
        strengths[name] = {"npz": about["sha256"], "decisions": about.get("decisions"), **results}
    return strengths


def of(folder: Path, about: About) -> str:
    """The text of the card of a complete dataset."""
    files, parts = about["files"], about["parts"]
    games = files[GAMES]["rows"]
    size = next((name for limit, name in SIZES if games < limit), "1M<n<10M")
    configs = ""
    for name in files:
        kind = name.removesuffix(".parquet")
        default = "  default: true\n" if kind == "games" else ""
        configs += f"- config_name: {kind}\n  data_files: {name}\n{default}"
    rows = ["| games | rules | agents | seed | deals |", "| --- | --- | --- | --- | --- |"]
    for part in parts:
        names = ", ".join(agent["name"] for agent in part["agents"])
        last = part["first"] + part["games"] // part["rotations"] - 1
        rows.append(
            f"| {part['games']:,} | `{part['env']}` {part['version']} | {names} "
            f"| {part['seed']} | {part['first']} to {last} |"
        )
    listed = [
        f"- `{name}`: {x['rows']:,} rows, sha256 `{x['sha256']}`" for name, x in files.items()
    ]
    pretty = f"Gaia Project games ({', '.join(sorted({part['env'] for part in parts}))})"
    body = Template((HERE / "dataset_card.md").read_text(encoding="utf-8"))
    decisions_section = (HERE / "dataset_card_decisions.md").read_text(encoding="utf-8")
    text = body.substitute(
        pretty=pretty, size=size, configs=configs.rstrip(), parts="\n".join(rows),
        agents="\n".join(_agents(folder, about)), files="\n".join(listed),
    )  # fmt: skip
    return text + (f"\n{decisions_section}" if DECISIONS in files else "")


def _agents(folder: Path, about: About) -> list[str]:
    """Lines on the agents, their strength and the version of the code."""
    lines = [
        "| agent | VP of a seat in these games (95 %) | sha256 of its parameters |",
        "| --- | --- | --- |",
    ]
    estimates = _estimates(folder / GAMES, len(about["parts"][0]["agents"]))
    for (name, sha), vp in sorted(estimates.items()):
        lines.append(f"| `{name}` | {vp.mean:.1f} ({vp.low:.1f} to {vp.high:.1f}) | `{sha}` |")
    lines.append("")
    for name, result in about.get("strength", {}).items():
        lines += [f"`{name}`: {'; '.join(_strength_sentences(result))}.", ""]
    versions = about.get("made_with") or ["an unknown version"]
    return [*lines, f"Played with {' and '.join(versions)}."]


def _strength_sentences(about: About) -> list[str]:
    """The results of one agent in `strength`, in sentences."""
    out = [f"{about['decisions']:,} environment steps"] if about.get("decisions") else []
    alone, greedy = about.get("self_play"), about.get("greedy")
    if alone:
        out.append(f"{_interval(alone['vp'])} VP in self-play, {alone['games']:,} games")
    if greedy and "vp_difference" in greedy:
        ahead = _interval(greedy["vp_difference"])
        out.append(f"{ahead} VP ahead of `greedy` in all other seats, {greedy['games']:,} games")
    return [*out, f"shipped as `{about['npz'][:12]}`"]


def _interval(value: dict[str, float]) -> str:
    return f"{value['mean']:.1f} ({value['low']:.1f} to {value['high']:.1f})"


def _estimates(path: Path, seats: int) -> dict[tuple[str, str], stats.Estimate]:
    """Mean VP of the seats of each agent, by name and hash; a deal is one sample."""
    by_agent = defaultdict[tuple[str, str], dict[Any, list[int]]](lambda: defaultdict(list))
    kinds = [f"agent{kind}_{seat}" for seat in range(seats) for kind in ("", "_sha256")]
    for _, table in parquet_files.row_groups(path, ["seed", "deal", "vp", *kinds]):
        for row in table.to_pylist():
            for seat, vp in enumerate(row["vp"]):
                agent = row[f"agent_{seat}"], row[f"agent_sha256_{seat}"]
                by_agent[agent][row["seed"], row["deal"]].append(vp)
    return {
        agent: stats.estimate(np.array([np.mean(values) for values in by_deal.values()]))
        for agent, by_deal in by_agent.items()
    }
