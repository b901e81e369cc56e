"""The memory of a server that has played, hinted, reviewed and advised."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from training.play import background, compile_process

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


def test_one_program_is_compiled_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes up to 1 GB, which goes back to the system before the next one."""
    events: list[str] = []
    monkeypatch.setattr(background, "return_free_memory", lambda: events.append("returned"))

    def compile() -> None:
        events.append("begun")
        time.sleep(0.05)
        events.append("done")

    compilations = [background.Compilation(str(n)) for n in range(3)]
    threads = [threading.Thread(target=x.make, args=(compile,)) for x in compilations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert events == ["begun", "done", "returned"] * 3


def test_a_large_server_compiles_in_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once for each task and version of the sources; a small one compiles itself."""
    commands, size = list[list[str]](), [2000.0]
    monkeypatch.setattr(compile_process, "is_server", True)
    monkeypatch.setattr(compile_process, "enabled_folder", lambda: tmp_path)
    monkeypatch.setattr(compile_process, "resident_mb", lambda: size[0])
    monkeypatch.setattr(
        compile_process.subprocess, "run", lambda command, **_: commands.append(command[3:])
    )
    task = ("base", "2", compile_process.PRICES)
    for _ in range(2):
        background.Compilation("prices", task).make(lambda: None)
    assert commands == [list(task)]
    size[0] = 500.0
    background.Compilation("rules", ("base", "3", compile_process.RULES)).make(lambda: None)
    assert len(commands) == 1
    size[0] = 2000.0
    background.Compilation("a program of no task").make(lambda: None)
    assert len(commands) == 1
