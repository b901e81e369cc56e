"""Work in the background: what fails is reported, and the end of the process calls work off."""

from __future__ import annotations

import subprocess
import sys

import pytest

from training.play.background import Job

pytestmark = pytest.mark.no_compile

ENDS = """
import time
from training.play.background import Job

def work(job):
    try:
        while True:
            job.report("at work")
            time.sleep(0.01)
    finally:
        print("called off", flush=True)

Job(work, "one")
"""


def test_what_fails_is_said_in_a_line() -> None:
    def fail(job: Job) -> None:
        raise RuntimeError("no luck\nat all")

    job = Job(fail, "hint")
    job.wait()
    assert job.json()["status"] == "failed" and job.message == "RuntimeError: no luck"


def test_the_end_of_the_process_calls_work_off() -> None:
    """Otherwise a thread that still computes crashes the process at its end."""
    command = [sys.executable, "-c", ENDS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "called off\n", "")
