"""A damaged file is one clear line that names it and exit code 2, before the game compiles.

A sample of about 60 is part of `make test`; the others are slow.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
from tests.fuzz import damage, data_site
from tests.fuzz.data_cases import CASES, GOOD, Case
from tests.fuzz.runner import Runner, assert_refused

EVERY = 17  # of the cases are in the sample
# Everything that the commands import, also during a run: a case would import it again.
MODULES = [
    "tests.fuzz.data_cases", "training.agents.greedy", "training.games.export",
    "training.games.replay", "training.games.report", "training.games.store",
    "training.learn.checkpoint", "training.stats.chart", "training.study.report",
    "matplotlib.backends.backend_svg", "matplotlib.figure", "openskill.models", "orbax.checkpoint",
    "pandas", "scipy.stats",
]  # fmt: skip


def _table() -> Iterator[Any]:
    for number, case in enumerate(CASES):
        marks = () if number % EVERY == 0 else (pytest.mark.slow,)
        yield pytest.param(case, id=f"{number}-{case.line}: {case.file} {case.fault}", marks=marks)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(MODULES, env={"PYTHONDONTWRITEBYTECODE": "1"}) as runner:
        yield runner


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    data_site.make(folder)
    return folder


@pytest.mark.parametrize(("folder", "line"), GOOD)
def test_the_same_file_whole_is_read(
    folder: str, line: str, runner: Runner, good: Path, tmp_path: Path
) -> None:
    shutil.copytree(good / folder, tmp_path / "here")
    name, *args = line.split()
    result = runner.run("tests.fuzz.data_cases:command", [name, args], tmp_path / "here")
    assert result.code == 0, result.err


@pytest.mark.parametrize("case", list(_table()))
def test_a_damaged_file_is_one_line(case: Case, runner: Runner, good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(good / case.folder, folder)
    damage.do(folder / case.file, case.fault)
    name, *args = case.line.split()
    result = runner.run("tests.fuzz.data_cases:command", [name, args], folder)
    assert_refused(result)
    file = Path(case.file)
    names = [part for part in (file.stem, file.parent.name) if part]
    # A record is the one file of its command line: messages name the line or the key in it.
    assert case.folder == "record" or any(part in result.err for part in names), result.err
