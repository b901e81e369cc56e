"""docs/reference/zoo.md, the cards of the shipped agents, from their JSONs.

python -m tools.zoo_page > docs/reference/zoo.md
"""

from __future__ import annotations

import sys
from typing import Any

from training import zoo
from training.config.older import renamed

HEAD = """# Shipped agents

Made by `python -m tools.zoo_page > docs/reference/zoo.md` from `training/zoo/*.json`; a test
says whether it is current. They go by name wherever an agent does, for example in
`python -m training.arena`. How each was trained is in its note; its JSON has a configuration,
which the note may change. `docs/lab/learning.md` tells what was tried.

`zoo/duel` plays the base game for two, `zoo/base` for four. The others play the other rulesets for
four too, though none was trained on one: columns and actions of the same name keep their weights
(`training/zoo/transfer.py`), what `lost_fleet` lacks gets 0.

| agent | decisions learnt | self-play, VP | VP ahead of `greedy` in all other seats | bytes |
| --- | --- | --- | --- | --- |
"""


COUNTS = {2: "one", 3: "two", 4: "three"}  # other seats, by players


def interval(value: dict[str, float] | None) -> str:
    """A mean with its 95 % interval."""
    if not value:
        return "not measured"
    return f"{value['mean']:.1f} ({value['low']:.1f} to {value['high']:.1f})"


def row(name: str, says: dict[str, Any]) -> str:
    """One line of the table."""
    results = says.get("results", {})
    size = (zoo.FOLDER / f"{says['name']}.npz").stat().st_size
    decisions = f"{says['decisions']:,}" if "decisions" in says else "not told"
    self_play, versus = results.get("self_play", {}), results.get("greedy", {})
    cells = [
        f"`{name}`",
        decisions,
        interval(self_play.get("vp")),
        interval(versus.get("vp_difference")),
        f"{size:,}",
    ]
    return f"| {' | '.join(cells)} |"


def card(name: str, says: dict[str, Any]) -> list[str]:
    """What else there is to say of an agent."""
    results = says.get("results", {})
    network = renamed({"network": says["network"]})["network"]
    shape = ", ".join(f"{key} {network[key]}" for key in sorted(network))
    lines = [f"## {name}", "", says.get("note", ""), ""] if says.get("note") else [f"## {name}", ""]
    players = says.get("players", 4)
    told = f", {players} players" if players != 4 else ""
    lines += [f"- environment: {says['env']} {says['env_version']}{told}"]
    lines += [f"- network: {shape}"]
    lines += [f"- temperature of its choices: {says.get('temperature', 1.0)}"]
    lines += [f"- sha256: `{says['sha256']}`"]
    for key, title in (("self_play", "self-play"), ("greedy", f"with {COUNTS[players]} `greedy`")):
        part = results.get(key)
        if part:
            seeds = ", ".join(map(str, part["seeds"]))
            games = f"{part['games']:,} games, seeds {seeds}"
            lines += [f"- {title}, {games}: {interval(part['vp'])} VP"]
            ends = part.get("behaviour", {})
            told = ", ".join(f"{k.replace('_', ' ')} {v:.2f}" for k, v in ends.items())
            lines += [f"  - a seat: {told}"] if told else []
            sources = part.get("vp_by_source", {})
            told = ", ".join(f"{k} {v:.2f}" for k, v in sources.items())
            lines += [f"  - VP by source: {told}"] if told else []
    return [*lines, ""]


def page() -> str:
    """The whole page."""
    agents = [(name, zoo.about(name)) for name in zoo.names()]
    text = HEAD + "\n".join(row(name, says) for name, says in agents) + "\n\n"
    return text + "\n".join("\n".join(card(name, says)) for name, says in agents).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
