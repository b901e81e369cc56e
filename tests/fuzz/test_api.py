"""Wrong calls of the Python API end in a ValueError or TypeError that names value and choices."""

import pytest

from tests.fuzz.runner import Runner


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with Runner(["tests.fuzz.api_cases"]) as runner:
        folder = tmp_path_factory.mktemp("api")
        yield lambda case: runner.run("tests.fuzz.api_cases:run", list(case), folder)


def test_a_call_that_goes_well_or_says_too_little_is_noticed(run):
    assert run(("env.ruleset", "")).code == 4
    assert run(("gaia_jax.make('chess')", "no such words")).code == 3
    assert run(("1 / 0", "")).code == 1


@pytest.mark.slow
def test_wrong_calls_are_refused(run):
    from tests.fuzz import api_cases  # traces functions, which would slow down every collection

    faults = []
    for case in api_cases.cases():
        result = run(case)
        if result.code != 2 or len(result.err.splitlines()) != 1 or result.changes:
            faults.append(f"{case.call}: exit {result.code}: {result.err[-300:]} {result.changes}")
    assert faults == []
