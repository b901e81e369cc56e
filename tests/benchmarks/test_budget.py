"""What a step may weigh: instructions of the compiled program and bytes of a game.

`benchmarks/recorded.json` has the numbers last recorded; `python -m benchmarks.budget` writes them.
"""

import os
import subprocess
import sys

import jax
import pytest

from benchmarks import budget
from tests import xla_flags

GROWTH = 1.05


@pytest.fixture(scope="module")
def recorded():
    return budget.read()


def test_the_state_stays_under_4_kb_and_does_not_grow(recorded):
    num_bytes = budget.state_bytes()
    assert num_bytes <= 4096
    assert num_bytes <= GROWTH * recorded["state_bytes"]


@pytest.mark.slow
def test_the_compiled_step_does_not_grow(recorded):
    versions = {"jax": jax.__version__, "backend": jax.default_backend()}
    if versions != {name: recorded[name] for name in versions}:
        pytest.skip(f"recorded with jax {recorded['jax']} on {recorded['backend']}, not {versions}")
    # In a process with the fusion emitters, without which tests compile: they are fewer with them.
    code = f"from benchmarks import budget; print(budget.step_instructions({recorded['batch']}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=budget.RECORDED.parents[1],
        env=os.environ | {"XLA_FLAGS": xla_flags.SAME_PROGRAM}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= GROWTH * recorded["step_instructions"]
