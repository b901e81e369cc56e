"""`make accelerator` at toy size: it runs on a CPU, and says that this is one."""

import json

import pytest

from benchmarks import accelerator, offline_table


@pytest.mark.slow
def test_the_whole_report_on_a_cpu(tmp_path, capsys):
    """Minutes, all of it compiling."""
    out = tmp_path / "report.json"
    small = ["--batches", "8", "--chunks", "4", "--networks", "tpu", "--steps", "2"]
    small += ["--target", "h100"]
    assert accelerator.main([*small, "--seconds", "0.01", "--rounds", "1", "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    assert [row["observation"] for row in report["play"]] == [False, True]
    assert len(report["ppo"]) == len(report["chunks"]) == 1 and not report["left_out"]
    text = capsys.readouterr().out
    assert "no accelerator was measured" in text
    assert "| h100 | measured" in text and "| play, 8 |" in text


def test_what_there_is_no_time_for_is_left_out_and_named(tmp_path, capsys):
    out = tmp_path / "new" / "report.json"
    for _ in range(2):  # its report may be written again
        few = ["--minutes", "-1", "--batches", "8", "--chunks", "4", "--json", str(out)]
        assert accelerator.main(few) == 0
    text = capsys.readouterr().out
    assert "Left out: play, batch 8, mask: no time left" in text


def test_a_measurement_stands_beside_its_estimate():
    estimate = offline_table.recorded()["now"]["h100 play"]["decisions_per_second"]
    measured = {"batch": 4096, "observation": False}
    measured["decisions_per_second"] = {"median": 2 * estimate["middle"]}
    report = {"target": "h100", "machine": {"device": "H100"}, "play": [measured], "ppo": []}
    line = accelerator.compared(report)[-1]
    assert line.startswith("| play, 4,096 | ") and line.endswith("| 2.00 |")
    assert f"{estimate['low']:,.0f}, {estimate['middle']:,.0f}" in line
    assert (
        "No estimate for cpu"
        in accelerator.compared(report | {"target": "", "machine": {"device": "cpu"}})[0]
    )


def test_an_update_stands_beside_the_estimate_of_its_own_network_alone(monkeypatch):
    speeds = {"low": 4.0, "middle": 2.0, "high": 1.0}
    row = {"target": "h100", "batch": 8, "games": 8, "decisions_per_second": speeds}
    monkeypatch.setattr(offline_table, "recorded", lambda: {"now": {"h100 train": row}})
    ppo = [
        {"games": 8, "network": name, "decisions_per_second": 6.0} for name in accelerator.NETWORKS
    ]
    report = {"target": "h100", "machine": {"device": "H100"}, "play": [], "ppo": ppo}
    assert [line for line in accelerator.compared(report) if "PPO" in line] == [
        "| PPO, 8, h100 | 6 | 4, 2, 1 (8 games) | 3.00 |"
    ]


def test_chunks_are_put_back():
    before = accelerator.compact_vmap.chunk_rows
    with accelerator.chunks_of(4):
        assert accelerator.compact_vmap.chunk_rows(4096) == 1024
    assert accelerator.compact_vmap.chunk_rows is before
