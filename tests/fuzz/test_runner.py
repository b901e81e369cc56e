"""The runner itself: exit codes, what is caught, what is noticed on disk."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz import runner as runner_module
from tests.fuzz.runner import Runner


def says(out, err, code):
    print(out)
    print(err, file=sys.stderr)
    return code


def raises():
    raise ValueError("no such thing")


def exits(code):
    sys.exit(code)


def sleeps():
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted")
        os._exit(130)


def changes():
    Path("old").unlink()
    Path("kept").write_text("other")
    Path("new").mkdir()
    Path("new/file").write_text("")


@pytest.fixture(scope="module")
def run():
    with Runner(["tests.fuzz.test_runner"]) as runner:
        yield lambda name, *args: runner.run(f"{__name__}:{name}", *args)


def test_what_a_case_says_and_its_exit_code(run, tmp_path):
    result = run("says", ["a", "b", 2], tmp_path)
    assert (result.code, result.out, result.err) == (2, "a\n", "b\n")
    assert result.changes == [] and not result.timed_out
    assert run("exits", [3], tmp_path).code == 3
    assert run("exits", ["text"], tmp_path)[:3] == (1, "", "text\n")
    assert run("exits", [None], tmp_path).code == 0
    result = run("raises", [], tmp_path)
    assert result.code == 1 and result.err.splitlines()[-1] == "ValueError: no such thing"


def test_a_case_that_does_not_end_is_killed_and_signals_arrive(run, tmp_path):
    result = run("sleeps", [], tmp_path, None, 0.3)
    assert result.timed_out and result.code == -signal.SIGKILL and result.seconds < 10
    result = run("sleeps", [], tmp_path, None, 30, [(0.2, signal.SIGINT)])
    assert (result.code, result.out, result.timed_out) == (130, "interrupted\n", False)


def test_changes_on_disk_are_named(run, tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "kept").write_text("kept")
    result = run("changes", [], tmp_path)
    assert result.changes == ["changed kept", "lost old", "new new", "new new/file"]


def test_what_another_process_takes_away_while_the_folder_is_read_is_not_there(
    tmp_path, monkeypatch
):
    (tmp_path / "kept").write_text("")
    walk = os.walk

    def and_more(folder):
        return [
            (place, [*folders, "gone"], [*files, "gone.json"])
            for place, folders, files in walk(folder)
        ]

    monkeypatch.setattr(runner_module.os, "walk", and_more)
    assert runner_module.snapshot(tmp_path).keys() == {"kept"}
