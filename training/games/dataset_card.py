"""The card of a dataset: `README.md` with the head that Hugging Face reads."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

HERE = Path(__file__).parent
HEAD = """---
license: apache-2.0
pretty_name: {pretty}
task_categories:
- reinforcement-learning
tags:
- board-games
- gaia-project
- jax
size_categories:
- {size}
configs:
{configs}---
"""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def text(about: dict[str, Any]) -> str:
    """The card of a dataset.

    Args:
        about: its `dataset.json`.
    """
    files, parts = about["files"], about["parts"]
    games = files["games.parquet"]["rows"]
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
    more = (HERE / "dataset_card_decisions.md").read_text(encoding="utf-8")
    return (
        HEAD.format(pretty=pretty, size=size, configs=configs)
        + "\n"
        + body.substitute(pretty=pretty, parts="\n".join(rows), files="\n".join(listed))
        + (f"\n{more}" if "decisions.parquet" in files else "")
    )
