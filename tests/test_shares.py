"""The shares of the slow tests (`tests/shares.py`): together they are all of them, each once."""

import json
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tests import shares


class Item(SimpleNamespace):
    """As much of a test as the hook asks for."""

    def get_closest_marker(self, name):
        return name if self.slow else None


@pytest.fixture(scope="module")
def slow_tests(request):
    """Node ids of all slow tests: of this run where it collected all files, else of one of its own.

    A file is known by the text of its marks, so that a run of a few files is not taken for all.
    """
    files = shares.slow_files()
    assert len(files) > 20
    found = request.config.stash[shares.COLLECTED]
    if {test.split("::")[0] for test in found} != files:
        told = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "slow", "tests"],
            cwd=shares.ROOT, capture_output=True, text=True,
        )  # fmt: skip
        found = [line for line in told.stdout.splitlines() if line.startswith("tests/")]
        assert {test.split("::")[0] for test in found} == files, told.stdout[-2000:]
    return found


def chosen(tests, share, fast=()):
    """The node ids that the hook leaves of slow and fast tests."""
    items = [Item(nodeid=test, slow=True) for test in tests]
    items += [Item(nodeid=test, slow=False) for test in fast]
    gone = []
    config = SimpleNamespace(
        stash={},
        getoption=lambda name: {"slow_share": share}[name],
        hook=SimpleNamespace(pytest_deselected=lambda items: gone.extend(items)),
    )
    every = list(items)
    shares.pytest_collection_modifyitems(config, items)
    assert Counter(id(item) for item in items + gone) == Counter(map(id, every))
    return [item.nodeid for item in items]


@pytest.mark.parametrize(("cpu", "clock", "took"), [(8.0, 10.0, 8.0), (1.0, 10.0, 5.0)])
def test_half_of_the_clock_counts_where_that_is_more(monkeypatch, cpu, clock, took):
    """While a browser works the process waits."""
    monkeypatch.setattr(shares, "_clock", (100.0, 200.0))
    monkeypatch.setattr(shares.os, "times", lambda: (100.0 + cpu, 0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr(shares.time, "monotonic", lambda: 200.0 + clock)
    hook = shares.pytest_runtest_makereport(Item(slow=True))
    next(hook)
    with pytest.raises(StopIteration) as end:
        hook.send(SimpleNamespace())
    assert end.value.value.took == ("slow", took)


def test_the_shares_together_hold_every_slow_test_once(slow_tests):
    n = shares.number()
    parts = [chosen(slow_tests, f"{k}/{n}") for k in range(1, n + 1)]
    assert len(slow_tests) > 1000
    assert Counter(test for part in parts for test in part) == Counter(slow_tests)
    assert all(parts)


def test_the_shares_take_about_the_same_seconds(slow_tests):
    """Of the files that are measured."""
    known, n = shares.seconds("slow"), shares.number()
    each = {
        file: known.get(file, 0.0) / count
        for file, count in Counter(test.split("::")[0] for test in slow_tests).items()
    }
    for part in shares.shares(slow_tests, n, known):
        assert sum(each[test.split("::")[0]] for test in part) < shares.SHARE + shares.PIECE


def test_fast_tests_are_in_every_share_and_no_share_is_all():
    tests = [f"tests/test_{name}.py::test_{i}" for name in "abc" for i in range(3)]
    fast = ["tests/test_a.py::test_fast"]
    assert chosen(tests, None, fast) == tests + fast
    parts = [chosen(tests, f"{k}/3", fast) for k in (1, 2, 3)]
    assert all(part[-1:] == fast and len(part) == 4 for part in parts)


def test_a_file_that_takes_long_is_cut_and_the_longest_piece_goes_first():
    long = [f"tests/test_long.py::test_{i}" for i in range(10)]
    short = ["tests/test_short.py::test_0"]
    known = {"tests/test_long.py": 4 * shares.PIECE, "tests/test_short.py": 1}
    first, second = shares.shares(long + short, 2, known)
    assert sorted((len(first), len(second))) == [5, 6]
    assert shares.shares(long, 1, known) == [long]


def test_the_turn_is_that_of_the_commits_and_without_git_the_first(monkeypatch):
    monkeypatch.setattr(shares, "number", lambda: 7)
    for code, said, due in ((0, "12\n", "6/7"), (0, "14\n", "1/7"), (128, "", "1/7")):
        answer = SimpleNamespace(returncode=code, stdout=said)
        monkeypatch.setattr(shares.subprocess, "run", lambda *_, answer=answer, **__: answer)
        assert shares.due() == due

    def missing(*_, **__):
        raise FileNotFoundError("git")

    monkeypatch.setattr(shares.subprocess, "run", missing)
    assert shares.due() == "1/7"


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "-1/4", "1/4/4", "a/b"])
def test_a_share_that_is_none_is_refused(text):
    with pytest.raises(pytest.UsageError, match=r"is not K/N with K in 1 \.\. N"):
        shares.parse(text)


def test_the_seconds_are_of_files_that_are_there():
    for kind, files in json.loads(shares.SECONDS.read_text(encoding="utf-8")).items():
        assert kind in ("fast", "slow")
        gone = [file for file in files if not (shares.ROOT / file).is_file()]
        assert not gone, f"{shares.SECONDS.name} names {gone}: rename them there, or take them out"
