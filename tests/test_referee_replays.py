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
from tests.replays import brainstone, layouts, mutants, play
from tests.replays.notation import setup_of
from tests.replays.player import is_leech
from tests.replays.record import record
from tests.replays.table import Differs, Seat, Table

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
    three = copy.deepcopy(games[0])
    three["id"], three["vp"] = "three", three["vp"][:3]
    play.play(table, [broken, three, *games], report)
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


def test_a_leech_line_is_known() -> None:
    answers = [["charge", "2pw"], ["decline", "2pw"], ["decline"]]
    assert all(is_leech([command]) for command in answers)
    others = [["decline", "up"], ["up", "eco"], ["charge"], ["pass", "booster1"]]
    assert not any(is_leech([command]) for command in others) and not is_leech([])


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
    wrong = [what for game, what in report.differences if game not in ("broken", "three")]
    assert not wrong
    assert report.games == len(games) + 2 and report.ended == len(games)
    assert report.lines == sum(step["s"] is not None for game in games for step in game["steps"])
    assert report.asked > 100
    # What a player may choose beyond our rules happens in these games, and is written.
    assert report.written["the brainstone and a token change places"] >= 2


def test_an_unreadable_set_up_is_reported(report: play.Report) -> None:
    told = dict(report.differences)
    assert told["broken"].startswith("set-up: unreadable: '?'")
    assert "3 players, at a table of 4" in told["three"]


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


def at_the_start(table: Table, game: dict[str, Any], what: Any) -> None:
    """Call `what(seat)` before the first decision; player 0 has the brainstone."""

    def script(lane: int) -> Any:
        what(Seat(table, lane))
        yield from ()

    table.play([table.read(setup_of(game, table.env.ruleset))], script)


def test_a_wasted_payment_takes_the_brainstone(table: Table, games: list[dict[str, Any]]) -> None:
    cases = [
        ("1pw", [0, 0, 2, 0], (2, [1, 0, 1, 0])),
        ("3pw", [0, 0, 2, 0], (0, [0, 0, 2, 0])),
        ("4pw", [0, 0, 2, 0], (0, [1, 0, 1, 0])),
        ("1pw", [0, 0, 0, 0], (0, [0, 0, 0, 0])),
    ]

    def look(seat: Seat) -> None:
        for price, tokens, after in cases:
            brainstone.write(seat, 0, 2, tokens)
            layouts.pay(seat, price, 1, 0)
            assert brainstone.lies(seat.state.game, 0) == after

    at_the_start(table, games[0], look)


def test_the_brainstone_and_a_token_change_places(
    table: Table, games: list[dict[str, Any]]
) -> None:
    """Where it lay before and lies now, where it was put, and what that makes of the tokens."""
    cases = [
        ((0, [3, 0, 0, 0]), (1, [3, 0, 0, 0]), 0, (0, [2, 1, 0, 0])),  # charged
        ((0, [1, 3, 1, 0]), (0, [0, 0, 0, 0]), -1, (-1, [0, 0, 1, 0])),  # discarded
        ((1, [4, 6, 0, 0]), (1, [0, 4, 0, 6]), 3, (3, [0, 5, 0, 5])),  # a project
        ((0, [3, 0, 0, 0]), (1, [3, 0, 0, 0]), 1, (1, [3, 0, 0, 0])),  # it lies there
    ]

    def look(seat: Seat) -> None:
        for was, now, place, after in cases:
            brainstone.write(seat, 0, *was)
            before = seat.state.game
            brainstone.write(seat, 0, *now)
            assert brainstone.put(seat, before, 0, place) == (now != after)
            assert brainstone.lies(seat.state.game, 0) == after
        with pytest.raises(Differs):  # no token in III to change places with
            brainstone.put(seat, before, 0, 2)

    at_the_start(table, games[0], look)
