"""`make accelerator` at toy size: it runs on a CPU, and says that this is one."""

import json

import pytest

from benchmarks import accelerator


@pytest.mark.slow
def test_the_whole_report_on_a_cpu(tmp_path, capsys):
    """Minutes, all of it compiling."""
    out = tmp_path / "report.json"
    small = ["--batches", "8", "--chunks", "4", "--networks", "planets 64", "--steps", "2"]
    assert accelerator.main([*small, "--seconds", "0.01", "--rounds", "1", "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    assert [row["observation"] for row in report["play"]] == [False, True]
    assert len(report["ppo"]) == len(report["chunks"]) == 1 and not report["left_out"]
    assert "no accelerator was measured" in capsys.readouterr().out


def test_what_there_is_no_time_for_is_left_out_and_named(tmp_path, capsys):
    out = tmp_path / "new" / "report.json"
    for _ in range(2):  # its report may be written again
        few = ["--minutes", "-1", "--batches", "8", "--chunks", "4", "--json", str(out)]
        assert accelerator.main(few) == 0
    text = capsys.readouterr().out
    assert "Left out: play, batch 8, mask: no time left" in text


def test_chunks_are_put_back():
    before = accelerator.compact_vmap.chunk_rows
    with accelerator.chunks_of(4):
        assert accelerator.compact_vmap.chunk_rows(4096) == 1024
    assert accelerator.compact_vmap.chunk_rows is before
