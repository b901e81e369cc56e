"""What a step may weigh: instructions of the compiled program and bytes of a game.

`benchmarks/recorded.json` has the numbers last recorded; `python -m benchmarks.budget` writes them.
"""

import jax
import pytest

from benchmarks import budget

GROWTH = 1.05


@pytest.fixture(scope="module")
def recorded():
    return budget.read()


def test_the_state_stays_under_4_kb_and_does_not_grow(recorded):
    found = budget.state_bytes()
    assert found <= 4096
    assert found <= GROWTH * recorded["state_bytes"]


def test_the_compiled_step_does_not_grow(recorded):
    here = {"jax": jax.__version__, "backend": jax.default_backend()}
    if here != {name: recorded[name] for name in here}:
        pytest.skip(f"recorded with jax {recorded['jax']} on {recorded['backend']}, here {here}")
    assert budget.step_instructions(recorded["batch"]) <= GROWTH * recorded["step_instructions"]
