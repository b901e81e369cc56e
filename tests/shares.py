"""Slow tests in shares of about the same seconds, of which a run of CI plays one, in turn.

    python -m tests.shares                            the share whose turn it is, for example 3/9
    python -m pytest -m slow --slow-share 3/9         that share alone
    python -m pytest -n 2 --record-seconds            write down what each file took

The turn is the count of commits modulo the number of shares; without git the first share.
`tests/seconds.json` has CPU seconds of the files, fast and slow tests apart: a busy machine changes
them little. What a browser takes is not in them: half the seconds of the clock count, where that is
more. Files go to the workers with the longest first, so that all end together.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SECONDS = Path(__file__).with_name("seconds.json")
# Seconds of a share: a minute or two of two processes that compile anew.
SHARE = 60
# Seconds of a piece: a file that takes longer is cut into pieces of consecutive tests.
PIECE = 90
# Of a slow file that nobody has measured yet.
UNKNOWN = 60
WRITTEN = "mark.slow"  # what a file with slow tests says somewhere

COLLECTED = pytest.StashKey[list[str]]()


def seconds(kind: str) -> dict[str, float]:
    """CPU seconds by file of its "fast" or its "slow" tests."""
    return json.loads(SECONDS.read_text(encoding="utf-8"))[kind]


def slow_files() -> set[str]:
    """The files that have slow tests, by the text of their marks."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if WRITTEN in path.read_text(encoding="utf-8") and path.name != "test_shares.py"
    }


def number() -> int:
    """How many shares there are, each of `SHARE` seconds at most as far as they are known."""
    known = seconds("slow")
    total = sum(known.get(file, UNKNOWN) for file in slow_files())
    return max(1, math.ceil(total / SHARE))


def due() -> str:
    """The share whose turn it is, as `--slow-share` reads it."""
    command = ["git", "rev-list", "--count", "HEAD"]
    try:
        count = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        commits = int(count.stdout) if count.returncode == 0 else 0
    except FileNotFoundError:
        commits = 0
    return f"{commits % number() + 1}/{number()}"


def parse(text: str) -> tuple[int, int]:
    """(share, number of shares) of "K/N".

    Raises:
        pytest.UsageError: it is no such text, or K is not in 1 .. N.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise pytest.UsageError(f"--slow-share {text!r} is not K/N with K in 1 .. N")
    return int(found[1]), int(found[2])


def shares(tests: Iterable[str], into: int, known: dict[str, float]) -> list[list[str]]:
    """Each test in one of `into` shares, the longest piece first to the share with the least.

    Args:
        tests: node ids, each once, those of a file one after another.
        into: at least 1.
        known: seconds by file.
    """
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.split("::")[0], []).append(test)
    pieces = []
    for file, inside in files.items():
        took = known.get(file, UNKNOWN)
        n = min(len(inside), max(1, math.ceil(took / PIECE)))
        cuts = [len(inside) * i // n for i in range(n + 1)]
        pieces += [(took / n, inside[a:b]) for a, b in zip(cuts, cuts[1:], strict=False)]
    out: list[list[str]] = [[] for _ in range(into)]
    sums = [0.0] * into
    for took, inside in sorted(pieces, key=lambda piece: (-piece[0], piece[1])):
        least = sums.index(min(sums))
        sums[least] += took
        out[least] += inside
    return out


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


# Hooks, which `conftest.py` imports.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options of our own."""
    group = parser.getgroup("shares")
    group.addoption("--slow-share", metavar="K/N", help="of the slow tests run the K-th of N parts")
    group.addoption(
        "--record-seconds",
        action="store_true",
        help="write the CPU seconds of the files that were run to tests/seconds.json",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only the share that was asked for; to several workers the longest files first."""
    slow = [item.nodeid for item in items if _is_slow(item)]
    config.stash[COLLECTED] = slow
    if config.getoption("slow_share"):
        share, into = parse(config.getoption("slow_share"))
        others = set(slow) - set(shares(slow, into, seconds("slow"))[share - 1])
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in others])
        items[:] = [item for item in items if item.nodeid not in others]
    if hasattr(config, "workerinput"):
        known = {False: seconds("fast"), True: seconds("slow")}
        took: dict[Path, float] = {}
        for path, is_slow in {(item.path, _is_slow(item)) for item in items}:
            file = path.relative_to(ROOT).as_posix()
            took[path] = took.get(path, 0.0) + known[is_slow].get(file, 0.0)
        items.sort(key=lambda item: -took[item.path])  # stable: a file's tests keep their order


_clock = (0.0, time.monotonic())  # CPU seconds of this process, and the clock
_taken: dict[str, dict[str, float]] = {"fast": {}, "slow": {}}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Each report says its kind, and the seconds since the one before it."""
    global _clock
    report = yield
    before, _clock = _clock, (sum(os.times()[:4]), time.monotonic())
    took = max(_clock[0] - before[0], (_clock[1] - before[1]) / 2)
    report.took = ("slow" if _is_slow(item) else "fast", took)
    return report


def pytest_runtest_logreport(report: Any) -> None:
    """Adds up what the files take; a process that died says nothing."""
    kind, took = getattr(report, "took", ("fast", 0.0))
    file = report.nodeid.split("::")[0]
    _taken[kind][file] = _taken[kind].get(file, 0.0) + took


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes down what was run, beside what is known of the other files that still exist."""
    config = session.config
    if not config.getoption("record_seconds") or hasattr(config, "workerinput"):
        return
    out = {}
    for kind, taken in _taken.items():
        known = seconds(kind) | {file: round(took) for file, took in taken.items()}
        out[kind] = {file: known[file] for file in sorted(known) if (ROOT / file).is_file()}
    SECONDS.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    print(due())
