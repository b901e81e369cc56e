"""How long compiling took before: the longest is kept and told."""

from pathlib import Path

import pytest

from training.system import last_times


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, in a folder of this test's own."""
    monkeypatch.setattr(last_times, "_path", lambda: tmp_path / last_times.FILE)
    return tmp_path / last_times.FILE


def test_the_longest_time_is_kept_and_told(kept: Path) -> None:
    assert last_times.said("a program") == ""
    last_times.note("a program", 41.4)
    last_times.note("a program", 3.0)  # read from the cache
    last_times.note("another", 1.0)
    assert last_times.said("a program") == " (took up to 41 s before)"
    assert last_times.said("another") == "", "no wait"
    last_times.note("a program", 60.0)
    assert last_times.said("a program") == " (took up to 60 s before)"


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a program": "long"}'])
def test_a_file_that_is_none_is_nothing_known(kept: Path, text: str) -> None:
    kept.write_text(text)
    assert last_times.said("a program") == ""
    last_times.note("a program", 5.0)
    assert last_times.said("a program") == " (took up to 5 s before)"


def test_without_a_cache_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_times, "_path", lambda: None)
    last_times.note("a program", 50.0)
    assert last_times.said("a program") == ""
