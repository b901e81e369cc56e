"""Measure what the docs report about the shipped agents: `make agent-pages`.

    python -m tools.agent_pages             # the parts that other agents were measured for
    python -m tools.agent_pages cards arena # these parts, outdated or not
    python -m tools.agent_pages seconds     # with nothing else on the machine

A part of a page is between two comments. The first names the agents that it was measured with, by
the start of their sha256. The cards in `training/zoo/*.json` have it in `results.sha256`.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaia_jax.components import automa
from tools import zoo_page
from training import zoo
from training.agents.levels import LEVELS
from training.games import stats
from training.games.report import rated
from training.play.agent_pool import AgentPool, AgentProgram
from training.play.compiled_rules import Rules
from training.system import cli

ROOT = Path(__file__).resolve().parent.parent
STRONG = "zoo/strong"
TIMED = 6301  # the set-up of the game in which decisions are timed
SOLO_SEED = 9503  # of the set-ups against the Automa
RATED = 40  # games of each of the five tables of four levels
SEARCHES = (8, 32, 64)  # positions a decision, in the table of docs/guide/agents.md
# The agents whose cards are measured; the others keep the results in their JSON.
MEASURED = (STRONG, "zoo/base", "zoo/duel", "zoo/trio", "zoo/solo")
_PART = r"<!-- agent-pages {name}: ([^>]*) -->\n(.*?)<!-- end of {name} -->\n"

Report = dict[str, Any]


class Part(NamedTuple):
    """A part of a page: its name, the page, the agents in it, the function that makes its text."""

    name: str
    page: str
    agents: tuple[str, ...]
    make: Callable[[], str]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.agent_pages", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = ["cards", *(part.name for part in PARTS)]
    parser.add_argument("part", nargs="*", help=", ".join(names))
    names_to_make = parser.parse_args(argv).part or stale()
    if odd := sorted({*names_to_make} - {*names}):
        parser.error(f"no part {odd[0]!r}: {', '.join(names)}")
    if "cards" in names_to_make:
        for agent in [agent for agent in MEASURED if _old(agent)] or MEASURED:
            _card(agent)
    for part in PARTS:
        if part.name in names_to_make:
            _write(part)
    page = ROOT / "docs/reference/zoo.md"
    page.write_text(zoo_page.page(), encoding="utf-8")
    print(f"made: {', '.join(names_to_make) or 'nothing, all is of the shipped agents'}")
    return 0


def stale() -> list[str]:
    """The parts that were measured with other agents than those that are shipped."""
    cards = any(_old(agent) for agent in MEASURED)
    parts = [part.name for part in PARTS if _named_agents(part) != _agent_list(part.agents)]
    return [*(["cards"] if cards else []), *parts]


def _old(agent: str) -> bool:
    """Whether the card of an agent was measured with another version of it."""
    return bool(_results(agent).get("sha256") != _sha(agent))


def _named_agents(part: Part) -> str:
    """The agents that a part of a page names."""
    text = (ROOT / part.page).read_text(encoding="utf-8")
    match = re.search(_PART.format(name=part.name), text, re.DOTALL)
    if not match:
        raise SystemExit(f"error: {part.page} has no part agent-pages {part.name}")
    return match[1]


def _agent_list(agents: Sequence[str]) -> str:
    """The text of agents in the comment before a part."""
    return ", ".join(f"{agent} {_sha(agent)[:12]}" for agent in agents)


def _sha(agent: str) -> str:
    return str(zoo.about(agent)["sha256"])


def _results(agent: str) -> Report:
    return dict(zoo.about(agent).get("results", {}))


def _write(part: Part) -> None:
    """Measure a part and write it into its page."""
    text = f"<!-- agent-pages {part.name}: {_agent_list(part.agents)} -->\n{part.make()}"
    text += f"<!-- end of {part.name} -->\n"
    path = ROOT / part.page
    old = path.read_text(encoding="utf-8")
    pattern = _PART.format(name=part.name)
    path.write_text(re.sub(pattern, lambda _: text, old, flags=re.DOTALL), encoding="utf-8")


def _run(*arguments: str) -> str:
    """The output of a command of `training`; its progress goes to standard error."""
    print("$ python -m", *arguments, file=sys.stderr)
    completed = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return completed.stdout


def _report(*arguments: str) -> Report:
    """The report of a command that takes `--json`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        _run(*arguments, "--json", str(path))
        return dict(json.loads(path.read_text(encoding="utf-8")))


def _rows(agents: str, games: int, seed: int, *options: str) -> list[dict[str, str]]:
    """A row for each seat of an arena's games."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.csv"
        numbers = ("--games", str(games), "--seed", str(seed), "--csv", str(path))
        _run("training.arena", "--agents", agents, *numbers, *options)
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def _card(agent: str) -> None:
    """Measure an agent into its JSON: self-play and against `greedy`, or against the Automa."""
    about = zoo.about(agent)
    players = int(about["players"])
    game = ("--env", str(about["env"]), "--players", str(players))
    measured = {"automa": _levels_of(agent, game)} if players == 1 else _tables(agent, game)
    path = zoo.FOLDER / f"{agent.removeprefix(zoo.PREFIX)}.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    results = {"sha256": _sha(agent), **measured}
    path.write_text(json.dumps(card | {"results": results}, indent=1) + "\n", encoding="utf-8")


def _levels_of(agent: str, game: tuple[str, ...]) -> Report:
    """VP and wins at each level of the Automa."""
    levels = ",".join(level.id for level in automa.LEVELS)
    numbers = ("--games", "1024", "--seed", str(SOLO_SEED), "--automa", levels)
    report = _report("training.arena", "--agents", agent, *game, *numbers)
    return {
        level: {
            "games": result["games"],
            "seed": SOLO_SEED,
            "vp": _rounded(result["agents"][agent]["vp"]),
            "vp_difference": _rounded(result["differences"][0]),
            "win_share": _rounded(result["agents"][agent]["win_share"], 4),
        }
        for level, result in report["levels"].items()
    }


def _rounded(estimate: Report, digits: int = 2) -> Report:
    return {key: round(estimate[key], digits) for key in ("mean", "low", "high")}


def _tables(agent: str, game: tuple[str, ...]) -> Report:
    """Self-play, and one seat against `greedy` in all others."""
    players = int(game[-1])
    alone = _rows(",".join([agent] * players), 4096, 9501, *game, "--rotations", "1")
    table = _rows(",".join([agent, *["greedy"] * (players - 1)]), 1024, 9502, *game)
    own = [row for row in table if row["agent"] == agent]
    greedy = [row for row in table if row["agent"] != agent]
    versus = _seats(own, 9502) | {
        "greedy_vp": _estimate(list(_by_setup(greedy).values())),
        "vp_difference": _difference(own, greedy),
    }
    return {"self_play": _seats(alone, 9501), "greedy": versus}


def _seats(rows: list[dict[str, str]], seed: int) -> Report:
    """The results of seats for a card: VP, behaviour, VP by source."""
    games = {(row["setup"], row["rotation"]) for row in rows}

    def mean(column: str) -> float:
        return round(float(np.mean([float(row[column]) for row in rows])), 3)

    def share(column: str) -> float:
        return round(float(np.mean([float(row[column]) > 0 for row in rows])), 3)

    return {
        "games": len(games),
        "seeds": [seed],
        "vp": _estimate(list(_by_setup(rows).values())),
        "behaviour": {
            "federations": mean("federations"),
            "advanced_tiles": mean("advanced_tiles"),
            "seats_with_an_advanced_tile": share("advanced_tiles"),
            "ships": mean("ships"),
            "seats_with_a_ship": share("ships"),
            "artifacts": mean("artifacts"),
            "levels_of_research": mean("research_steps"),
        },
        "vp_by_source": {
            column.removeprefix("vp."): round(mean(column), 2)
            for column in rows[0]
            if column.startswith("vp.")
        },
    }


def _by_setup(rows: list[dict[str, str]]) -> dict[str, float]:
    """Mean VP by set-up: the games of one set-up are one sample."""
    of: dict[str, list[float]] = {}
    for row in rows:
        of.setdefault(row["setup"], []).append(float(row["vp"]))
    return {setup: float(np.mean(values)) for setup, values in of.items()}


def _difference(rows: list[dict[str, str]], others: list[dict[str, str]]) -> dict[str, float]:
    """How many VP some seats are ahead of others of the same set-ups."""
    others_by_setup = _by_setup(others)
    return _estimate([vp - others_by_setup[setup] for setup, vp in _by_setup(rows).items()])


def _estimate(values: list[float]) -> dict[str, float]:
    interval = stats.estimate(np.array(values))._asdict()
    return {key: round(value, 2) for key, value in interval.items()}


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _arena() -> str:
    """The table of README.md: the first four levels at one table."""
    agents = [level.agent for level in LEVELS if "+" not in level.agent]
    report = _report(
        "training.arena", "--agents", ",".join(agents), "--games", "512", "--seed", "77001"
    )
    path = ROOT / "training/agents/levels.py"
    path.write_text(_levels(path.read_text(encoding="utf-8"), report), encoding="utf-8")
    path = ROOT / "training/agents/baseline.py"
    path.write_text(_docstring(path.read_text(encoding="utf-8"), report), encoding="utf-8")
    entries = sorted(report["agents"].items(), key=lambda entry: -entry[1]["vp"]["mean"])
    rows = [
        (f"`{name}`", zoo_page.interval(result["vp"]), f"{result['win_share']['mean']:.2f}")
        for name, result in entries
    ]
    return _table(("agent", "VP (95 %)", "win share"), rows)


def _levels(text: str, report: Report) -> str:
    """The VP of the levels in their source, by that table."""
    for agent, entry in report["agents"].items():
        line = rf'(Level\("\w+", "{re.escape(agent)}", "[^"]*", )[0-9.]+\)'
        text = re.sub(line, rf"\g<1>{entry['vp']['mean']:.1f})", text)
    return text


def _docstring(text: str, report: Report) -> str:
    """The VP of the same agents in a docstring."""
    for agent, entry in report["agents"].items():
        line = rf"(\b{re.escape(agent)} )\d+\.\d(?=[,.])"
        text = re.sub(line, rf"\g<1>{entry['vp']['mean']:.1f}", text)
    return text


def _rated() -> str:
    """All five levels: a table of four for each one that is left out, rated over all games."""
    games: dict[tuple[int, str, str], list[dict[str, str]]] = {}
    for number, absent in enumerate(LEVELS):
        agents = ",".join(level.agent for level in LEVELS if level is not absent)
        for row in _rows(agents, RATED, 6301 + number):
            games.setdefault((int(row["setup"]), row["rotation"], absent.name), []).append(row)
    skill = rated(
        ([row["agent"] for row in game], [float(row["place"]) for row in game])
        for _, game in sorted(games.items())
    )
    rows = []
    for level in LEVELS:
        own = [
            float(row["vp"])
            for game in games.values()
            for row in game
            if row["agent"] == level.agent
        ]
        mean, spread = skill[level.agent]
        rows.append((f"`{level.name}`", f"{mean:.1f} ({spread:.1f})", f"{np.mean(own):.1f}"))
    return _table(("level", "rating (its sigma)", "VP, mean of its four tables"), rows)


def _seconds() -> str:
    """The seconds of a decision of each level, as the table in the browser requests them."""
    cli.prepare()  # opens the compilation cache
    pool, rules = AgentPool(), Rules("lost_fleet")
    seconds_by_agent = {
        level.agent: _timed(pool.get(level.agent, rules), rules) for level in LEVELS
    }
    path = ROOT / "training/agents/levels.py"
    text = _slow(path.read_text(encoding="utf-8"), seconds_by_agent, _machine())
    path.write_text(text, encoding="utf-8")
    rows = [
        "- `{}` {} ({})\n".format(level.name, *seconds_by_agent[level.agent]) for level in LEVELS
    ]
    return f"{_machine()}, {datetime.date.today()}:\n\n{''.join(rows)}"


def _timed(agent: AgentProgram, rules: Rules) -> tuple[float, float]:
    """Seconds a decision in a game of four of an agent: the median and the 90th percentile."""
    while agent.under_way:
        time.sleep(1)
    if agent.act is None:
        raise SystemExit(f"error: {agent.status_line()}")
    state, seconds = rules.start(rules.draw(TIMED)), list[float]()
    while rules.legal(state):
        start_time = time.perf_counter()
        action = agent.act(state, len(seconds))
        seconds.append(time.perf_counter() - start_time)
        state = rules.after(state, action)
    return _digits(np.quantile(seconds, 0.5)), _digits(np.quantile(seconds, 0.9))


def _digits(value: float) -> float:
    """The value with two significant digits."""
    return float(f"{value:.2g}")


def _slow(text: str, seconds_by_agent: dict[str, tuple[float, float]], machine: str) -> str:
    """The seconds of the levels in their source."""
    text = re.sub(r"(?m)^(TIMED_ON = ).*$", lambda line: f'{line[1]}"{machine}"', text)
    for agent, seconds in seconds_by_agent.items():
        text = re.sub(rf'("{re.escape(agent)}": )\([^)]*\)', rf"\g<1>{seconds}", text)
    return text


def _machine() -> str:
    """The machine of the measurement: cores and processor."""
    cpu_info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpu_info.read_text() if cpu_info.is_file() else "")
    return f"{os.cpu_count()} cores ({model[1].strip() if model else platform.machine()})"


def _search() -> str:
    """The VP that a search adds to one seat against three seats without it."""
    rows = []
    for count in SEARCHES:
        name = f"{STRONG}+search:{count}"
        games = _rows(f"{name},{STRONG},{STRONG},{STRONG}", 128, 6201)
        own = [row for row in games if row["agent"] == name]
        others = [row for row in games if row["agent"] != name]
        vp = _estimate(list(_by_setup(own).values()))
        ahead = _difference(own, others)
        rows.append((str(count), zoo_page.interval(vp), zoo_page.interval(ahead)))
    return _table(("N", "VP (95 %)", "ahead of the other three (95 %)"), rows)


def _carried() -> str:
    """How the agents for `lost_fleet` play `base`."""
    report = _report(
        "training.arena", "--env", "base", "--agents", f"{STRONG},zoo/quick,random,random",
        "--games", "128", "--seed", "31",
    )  # fmt: skip
    agents = report["agents"]
    rows = [(f"`{name}`", zoo_page.interval(agents[name]["vp"])) for name in (STRONG, "zoo/quick")]
    return _table(("agent", "VP on `base` (95 %)"), rows)


def _explain() -> str:
    """Why the agent moves as it does, at one decision of a shipped record."""
    explanation = _run(
        "training.explain", "docs/records/lost_fleet.json", "--at", "119", "--agent", STRONG
    )
    first_candidates = "\n".join(explanation.strip().splitlines()[:7])
    return f"```text\n{first_candidates}\n...\n```\n"


PARTS = (
    Part("arena", "README.md", (STRONG, "zoo/quick"), _arena),
    Part("levels", "docs/guide/comparing.md", (STRONG, "zoo/quick"), _rated),
    Part("seconds", "docs/lab/performance.md", (STRONG, "zoo/quick"), _seconds),
    Part("search", "docs/guide/agents.md", (STRONG,), _search),
    Part("explain", "docs/guide/play.md", (STRONG,), _explain),
    Part("carried", "docs/guide/agents.md", (STRONG, "zoo/quick"), _carried),
)


if __name__ == "__main__":
    sys.exit(main())
