"""The memory of a server that has played, hinted, reviewed and advised."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_COLD, MOST_WARM = 2500, 1500  # MB, from an empty compilation cache, and with a full one


def peak_of_a_session(folder: Path) -> float:
    """MB."""
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder / "cache")}
    environment.pop("GAIA_JAX_NO_CACHE", None)
    command = [sys.executable, "-m", "tests.play.memory_session", str(folder / "saves")]
    session = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600
    )
    print(session.stdout)
    assert session.returncode == 0, session.stderr
    return max(float(peak) for peak in re.findall(r"peak of (\d+) MB", session.stdout))


@pytest.mark.slow  # compiles and plays everything twice: 20 minutes on two cores
def test_a_server_stays_small(tmp_path: Path) -> None:
    assert peak_of_a_session(tmp_path) < MOST_COLD
    assert peak_of_a_session(tmp_path) < MOST_WARM
