"""The reader of recorded games, over games that the referee plays and tells in the same form.

The public engine's games are not part of the project: `python -m tests.replays.play` and
`python -m tests.replays.mutants` read them from files.
"""

from __future__ import annotations

import copy
import gzip
import json
from typing import Any

import pytest

from tests.conftest import GAMES
from tests.replays import mutants, play
from tests.replays.record import record
from tests.replays.table import Table

TASTE = {
    "piece PI": 100.0,
    "upgrade": 4.0,
    "project": 4.0,
    "mine": 2.0,
    "free": 20.0,
    "free brainstone": 3.0,
    "form_federation": 5.0,
}
TAKLONS = ["TAKLONS", "ITARS", "TERRANS", "HIVES"]
# The seeds are such that the games have what `test_the_games_have_all_kinds_of_lines` asks for.
TABLES = [
    (TAKLONS, 3),
    (TAKLONS, 6),
    (["AMBAS", "NEVLAS", "LANTIDS", "FIRAKS"], 3),
]


@pytest.fixture(scope="module")
def games() -> list[dict[str, Any]]:
    return [record(f"{names[0]} {seed}", names, seed, TASTE) for names, seed in TABLES]


@pytest.fixture(scope="module")
def table() -> Table:
    return Table("base", GAMES)


@pytest.fixture(scope="module")
def report(games: list[dict[str, Any]], table: Table) -> play.Report:
    """What the reader says of the games as they are, and of one that it cannot read."""
    report = play.Report()
    broken = copy.deepcopy(games[0])
    broken["id"] = "broken"
    broken["setup"]["hexes"][0][2] = "?"
    play.play(table, [broken, *games], report)
    return report


def test_the_games_have_all_kinds_of_lines(games: list[dict[str, Any]]) -> None:
    told = [step["l"].split(" ", 1)[1].split(". ") for game in games for step in game["steps"]]
    words = {command.split()[0] for commands in told for command in commands if command}
    assert words >= {
        *("build", "up", "pass", "booster", "charge", "decline", "spend", "burn", "action"),
        *("special", "tech", "cover", "federation", "income", "brainstone", "swap-PI"),
    }
    areas = {c.split()[1] for commands in told for c in commands if c.startswith("brainstone")}
    assert areas >= {"area1", "area2", "area3", "discard"}
    assert any("tg for tech" in c for commands in told for c in commands)
    # Who passed last converted before.
    assert any(
        "spend" in game["steps"][-1]["l"] or "burn" in game["steps"][-1]["l"] for game in games
    )
    # Conversions wait for the others' answers, one of which says where the brainstone goes.
    assert any(waits_for_the_brainstone(game["steps"], i) for game in games
               for i in range(len(game["steps"])))  # fmt: skip


def waits_for_the_brainstone(steps: list[dict[str, Any]], turn: int) -> bool:
    step = steps[turn]
    if not step["s"] or step["s"]["ph"] != "roundLeech" or "charge" in (step["op"] or {}):
        return False
    last = step["l"].split(". ")[-1].split()
    answers = []
    for later in steps[turn + 1 :]:
        if "charge" not in (later["op"] or {}):
            break
        answers.append(later["l"])
    asked = any(line.startswith("taklons") and "brainstone" in line for line in answers)
    return asked and last[0] in ("spend", "burn")


def test_recorded_games_play_as_recorded(report: play.Report, games: list[dict[str, Any]]) -> None:
    """Also after a game whose set-up cannot be read."""
    wrong = [what for game, what in report.differences if game != "broken"]
    assert not wrong
    assert report.games == len(games) + 1 and report.ended == len(games)
    assert report.lines == sum(step["s"] is not None for game in games for step in game["steps"])
    assert report.asked > 100
    # What a player may choose beyond our rules happens in these games, and is written.
    assert report.written["the brainstone and a token change places"] >= 2


def test_an_unreadable_set_up_is_reported(report: play.Report) -> None:
    (told,) = [what for game, what in report.differences if game == "broken"]
    assert told.startswith("set-up: unreadable: '?'")


def test_every_mutant_is_reported(games: list[dict[str, Any]], table: Table) -> None:
    seen, missed = mutants.run(table, games, each=1)
    assert not missed
    assert len(seen) >= 90


def test_the_command_fails_where_something_differs(
    games: list[dict[str, Any]], table: Table, tmp_path: Any, capsys: Any, monkeypatch: Any
) -> None:
    """A recorded offer that we do not have is enough."""
    game = copy.deepcopy(games[0])
    step = next(step for step in game["steps"] if step["op"] and "up" in step["op"])
    step["op"]["up"].remove("eco")
    path = tmp_path / "games.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps(game) + "\n")
    monkeypatch.setattr(play, "Table", lambda *_: table)
    monkeypatch.setattr("sys.argv", ["play", str(path)])
    assert play.main() == 1
    out = capsys.readouterr().out
    assert "offered: not offered, ours advance economy" in out
    assert out.splitlines()[-1].endswith("differences 1")
