"""What the server keeps of games: records, replay pages, what was under way when it ended."""

from __future__ import annotations

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from tests.play.server import FINE, Server
from tests.render.records import RECORDS
from training.play import __main__ as command
from training.play import saves
from training.play.compiled_rules import Rules


def test_a_game_can_be_kept_and_played_again(server: Server) -> None:
    """As a record and as a page that asks nothing of the server; with the same set-up and seats."""
    game = server.new_game(**FINE, seed=21, settings={"take_power": 2})
    legal = server.request("GET", f"/api/games/{game}")[1]["legal"]
    server.change(game, "act", actions=[legal[0]["text"]])
    status, record, _ = server.request("GET", f"/api/games/{game}/file/record.json")
    assert status == 200 and record["actions"] == [legal[0]["text"]]
    assert replay.parse(record).players == ("a person",) * 4
    status, _, page = server.request("GET", f"/api/games/{game}/file/replay.html")
    assert status == 200 and page.startswith("<!doctype html>")
    rematch = server.new_game(again=game)
    first, two = (server.request("GET", f"/api/games/{id}")[1] for id in (game, rematch))
    assert [seat["name"] for seat in first["seats"]] == [seat["name"] for seat in two["seats"]]
    assert len(two["line"]) == 1 and two["settings"]["take_power"] == -1
    assert first["settings"]["take_power"] == 2
    assert (
        server.request("GET", f"/api/games/{game}/file/record.json")[1]["setup"] == record["setup"]
    )


def test_records_that_are_refused_are_not_offered(server: Server) -> None:
    """An illegal action is found by opening the record; the rest is known before."""
    fine = json.loads(RECORDS["lost_fleet"].read_text())
    actions = fine["actions"]
    bad = {
        "other version": fine | {"version": "0.0"},
        "other ruleset": fine | {"ruleset": "chess"},
        "no format": {"actions": []},
        "unknown action": fine | {"actions": [*actions[:5], "dance"]},
        "broken set-up": fine | {"setup": {}},
        "too many": fine | {"actions": ["end_turn"] * 6000},
        "illegal action": fine | {"actions": [*actions[:5], actions[0]]},
        "_odd name": fine,
    }
    for name, data in bad.items():
        (server.saves / f"{name}.json").write_text(json.dumps(data))
    (server.saves / "no json.json").write_text("{")
    (server.saves / "a folder.json").mkdir()
    (server.saves / "the same.json").write_text(json.dumps(fine))
    refused = {*bad, "no json", "a folder"}

    def offered() -> dict[str, dict[str, Any]]:
        records = server.request("GET", "/api/offers")[1]["records"]
        return {record["name"]: record for record in records}

    before = offered()
    assert not before.keys() & (refused - {"illegal action"})
    assert before["the same"] == {"name": "the same", "ruleset": "lost_fleet", "players": 4}
    for name in refused:
        status, data, text = server.request("POST", "/api/games", {**FINE, "record": name})
        assert status == 400 and "Traceback" not in text, (name, data)
    assert not offered().keys() & refused
    assert server.new_game(**FINE, record="the same")
    # A file that has been put right is offered again.
    (server.saves / "illegal action.json").write_text(json.dumps(fine))
    assert "illegal action" in offered()
    for path in server.saves.glob("*.json"):
        if path.stem in refused and path.is_file():
            path.unlink()
    (server.saves / "a folder.json").rmdir()


def test_what_is_to_be_opened_first_is_one_that_opens(server: Server, tmp_path: Path) -> None:
    record = tmp_path / "old.json"
    record.write_text(json.dumps(json.loads(RECORDS["base"].read_text()) | {"version": "0.0"}))
    saves = tmp_path / "saves"
    done = subprocess.run(
        [*server.process.args[:5], "--saves", str(saves), "--record", str(record)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: {record}: the record is of version 0.0, not ")
    assert not saves.exists()


def test_two_pages_at_once_are_offered_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = saves.Saves(tmp_path)
    monkeypatch.setattr(saves, "check", lambda *_: time.sleep(0.05))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(kept.offers, [Rules] * 2)
    assert first == second and len(first) >= 3


def test_a_record_opens_before_one_of_its_decisions(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--at requires --record"):
        command._parse(["--at", "1"])
    options = command._parse(["--record", str(RECORDS["base"]), "--at", "251"])
    options.saves = tmp_path / "saves"
    compiled: list[Rules] = []
    games: Any = SimpleNamespace(rules=SimpleNamespace(get=Rules, compile=compiled.append))
    with pytest.raises(UserError, match="--at must be 1 to 250, got 251"):
        command._import_record(options, games)
    assert not options.saves.exists() and not compiled
    options.at = 250
    assert command._import_record(options, games) == RECORDS["base"].stem
    assert [rules.env.id for rules in compiled] == ["base"], "before the default game"


def test_a_save_replaces_only_an_earlier_part_of_the_same_game(server: Server) -> None:
    first, second = (server.new_game(**FINE, seed=seed) for seed in (11, 12))

    def save(game: str) -> str:
        return str(server.change(game, "save", name="kept")["name"])

    assert save(first) == "kept"
    state = server.request("GET", f"/api/games/{first}")[1]
    server.change(first, "act", action=state["legal"][0]["text"])
    assert save(first) == "kept", "further on in the same game"
    assert save(second) == "kept 2"
    assert len(replay.read(server.saves / "kept.json").actions) == 1
    assert not replay.read(server.saves / "kept 2.json").actions


@pytest.mark.slow
def test_a_killed_server_loses_no_saved_record(tmp_path: Path) -> None:
    server = Server(tmp_path)
    game = server.new_game(**FINE, seed=4)
    for _ in range(5):
        state = server.request("GET", f"/api/games/{game}")[1]
        server.change(game, "act", action=state["legal"][0]["text"])
        status, saved, text = server.request("POST", f"/api/games/{game}/save", {"name": "a game"})
        assert status == 200, text
    server.process.kill()
    server.process.wait(10)
    assert saved == {"name": "a game", "moves": 5}
    record = replay.read(server.saves / "a game.json")
    assert len(record.actions) == 5 and record.final_vp == ()
    replay.play(record)
    assert [path.name for path in server.saves.glob("*.json")] == ["a game.json"]
