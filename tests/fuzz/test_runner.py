"""The runner of the fuzz tests reports exit codes, output, timeouts and changes on disk."""

import signal
import sys
import time
from pathlib import Path

from tests.fuzz.runner import Runner


def change_files(code):
    print("out")
    print("err", file=sys.stderr)
    Path("old").unlink()
    Path("kept").write_text("other")
    Path("new").mkdir()
    sys.exit(code)


def fail():
    raise ValueError("no such thing")


def sleep():
    time.sleep(60)


def test_a_case_is_reported_as_it_ended(tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "kept").write_text("kept")
    with Runner(["tests.fuzz.test_runner"]) as runner:
        result = runner.run(f"{__name__}:change_files", [3], tmp_path)
        assert result[:3] == (3, "out\n", "err\n")
        assert result.changes == ["changed kept", "lost old", "new new"]
        result = runner.run(f"{__name__}:fail", [], tmp_path)
        assert result.code == 1 and result.err.endswith("ValueError: no such thing\n")
        assert result.changes == []
        result = runner.run(f"{__name__}:sleep", [], tmp_path, timeout=0.3)
        assert result.timed_out and result.code == -signal.SIGKILL and result.seconds < 10
