"""`make accelerator` at toy size: it runs on a CPU and reports that it is one."""

import copy
import json

import pytest

from benchmarks import accelerator, agreement


@pytest.mark.slow
def test_recorded_games_are_those_of_this_cpu():
    """What is compared with a device; it is recorded again after a change of the rules."""
    assert agreement.difference(agreement.play(), agreement.recorded()) == ""


@pytest.fixture
def planted(monkeypatch):
    """A device that has one VP too much, in the fifth game of the first policy."""
    games = copy.deepcopy(agreement.recorded())
    games["federating"]["vp"][5][3] += 1
    monkeypatch.setattr(agreement, "play", lambda: games)
    monkeypatch.setattr(agreement, "play_on_host", agreement.recorded)
    return games


def test_the_record_has_games_with_and_without_federations():
    """Else a device that finds none would agree."""
    formed = {
        name: sum(map(sum, counts["federations"])) for name, counts in agreement.recorded().items()
    }
    games = agreement.GAMES
    assert formed["federating"] > 3 * games and 0 < formed["uniform"] < games
    assert agreement.num_games(agreement.recorded()) == 2 * games


def test_a_game_that_differs_is_found_and_named(planted):
    right = agreement.recorded()["federating"]["vp"][5]
    report = agreement.check()
    assert not report["agrees"] and report["with"] == "the CPU of this machine"
    assert report["difference"].startswith(
        f"federating game 5: vp {planted['federating']['vp'][5]}"
    )
    assert f"on a CPU {right}; 1 of 256 games differ" in report["difference"]
    planted["federating"]["federations"] = [[0] * 4] * agreement.GAMES
    assert "federations formed" in agreement.check()["difference"]


def test_a_record_of_other_rules_is_no_fault_of_the_device(planted, monkeypatch):
    monkeypatch.setattr(agreement, "play_on_host", lambda: planted)
    assert agreement.check()["agrees"]


def test_a_device_that_plays_another_game_is_told_before_all_else(planted, monkeypatch, capsys):
    monkeypatch.setenv("XLA_FLAGS", "--some_flag=true")
    none = ["--batches", "", "--networks", ""]
    assert accelerator.main(none) == 1
    text = capsys.readouterr().out
    assert text.startswith("**NOTHING BELOW COUNTS") and "--some_flag=true" in text.splitlines()[0]
    assert "- federating game 5: vp" in text.splitlines()[1]
    monkeypatch.setattr(agreement, "play", agreement.recorded)
    assert accelerator.main(none) == 0
    assert capsys.readouterr().out.startswith("256 games end as on a CPU")


def test_an_update_of_another_game_is_told_by_its_final_mission():
    row = {"games": 8192, "network": "h100", "vp": {"FINAL_1": 9.0}}
    report = {"agreement": {"agrees": True, "games": 256, "with": "the record"}, "ppo": [row]}
    assert not accelerator.faults(report)
    assert not accelerator.faults(report | {"ppo": [row | {"vp": {}}]})  # no game ended
    wrong = row | {"vp": {"FINAL_1": 8.994}}
    assert accelerator.faults(report | {"ppo": [row, wrong]}) == [
        "PPO, 8,192 games, h100: FINAL_1 has a mean of 8.994, the rules make 9.0"
    ]


@pytest.mark.slow
def test_the_whole_report_on_a_cpu(tmp_path, capsys, monkeypatch):
    """Minutes, all of it compiling."""
    monkeypatch.setattr(agreement, "play", agreement.recorded)  # a test of its own plays them
    out = tmp_path / "report.json"
    small = ["--batches", "8", "--chunks", "4", "--networks", "tpu", "--steps", "8"]
    assert accelerator.main([*small, "--seconds", "0.01", "--rounds", "1", "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    assert report["agreement"]["agrees"] and report["ppo"][0]["vp"]["FINAL_1"] == 9.0
    assert [row["observation"] for row in report["play"]] == [False, True]
    assert len(report["ppo"]) == len(report["chunks"]) == 1 and not report["left_out"]
    text = capsys.readouterr().out
    assert "no accelerator was measured" in text


def test_what_there_is_no_time_for_is_left_out_and_named(tmp_path, capsys):
    out = tmp_path / "new" / "report.json"
    for _ in range(2):  # its report may be written again
        arguments = ["--minutes", "-1", "--batches", "8", "--chunks", "4", "--json", str(out)]
        assert accelerator.main(arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith("Not compared with a CPU")
    assert "play, batch 8, mask: no time left" in text


def test_chunks_are_put_back():
    before = accelerator.compact_vmap.chunk_rows
    with accelerator.chunks_of(4):
        assert accelerator.compact_vmap.chunk_rows(4096) == 1024
    assert accelerator.compact_vmap.chunk_rows is before
