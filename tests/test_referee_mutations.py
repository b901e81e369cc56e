"""Wrong rules planted in the engine are noticed by the duel."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_every_planted_error_is_noticed() -> None:
    # A process of its own: the errors are put into the modules of the engine.
    command = [sys.executable, "-m", "tests.referee.mutations"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
