"""Every wrong command line is one clear line and exit code 2, and leaves the disk as it was.

A sample of about 60 is part of `make test`; the others are slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import site
from tests.fuzz.cli_cases import CASES, Case
from tests.fuzz.runner import Runner, assert_refused

EVERY = 9  # of the cases are in the sample, and all on a full disk
# Everything that the commands import, also during a run: a case would import it again.
MODULES = [
    "tests.fuzz.cli_cases", "tests.fuzz.kill_cases", "training.agents.greedy",
    "training.games.report", "training.learn.checkpoint", "training.run.evaluation",
    "openskill.models", "orbax.checkpoint",
]  # fmt: skip


def _table() -> Iterator[Any]:
    for number, case in enumerate(CASES):
        sample = number % EVERY == 0 or case.command.startswith("full")
        text = " ".join((case.command, *case.args))
        short = text if len(text) < 70 else f"{text[:66]}..."
        marks = () if sample else (pytest.mark.slow,)
        yield pytest.param(
            case, id=f"{number}-{short.encode('unicode_escape').decode()}", marks=marks
        )


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    # Modules of agents leave no __pycache__; a wandb that is there is not found.
    with Runner(MODULES, env={"PYTHONDONTWRITEBYTECODE": "1"}) as runner:
        yield runner


@pytest.fixture(scope="module")
def folder(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site.make(folder, runner)
    return folder


@pytest.mark.parametrize("case", list(_table()))
def test_a_wrong_command_line_is_one_line(case: Case, runner: Runner, folder: Path) -> None:
    result = runner.run("tests.fuzz.cli_cases:command", [case.command, case.args], folder)
    assert_refused(result)
    assert case.message in result.err
