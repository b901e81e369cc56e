"""How long compiling took before: the longest is kept and told."""

from pathlib import Path

import pytest

from training.system import compile_times


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, in a folder of this test's own."""
    monkeypatch.setattr(compile_times, "_path", lambda: tmp_path / compile_times.FILE)
    return tmp_path / compile_times.FILE


def test_the_longest_time_is_kept_and_told(kept: Path) -> None:
    assert compile_times.longest_note("a program") == ""
    compile_times.note("a program", 41.4)
    compile_times.note("a program", 3.0)  # read from the cache
    compile_times.note("another", 1.0)
    assert compile_times.longest_note("a program") == " (took up to 41 s before)"
    assert compile_times.longest_note("another") == "", "no wait"
    compile_times.note("a program", 60.0)
    assert compile_times.longest_note("a program") == " (took up to 60 s before)"


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a program": "long"}'])
def test_a_file_that_is_none_is_nothing_known(kept: Path, text: str) -> None:
    kept.write_text(text)
    assert compile_times.longest_note("a program") == ""
    compile_times.note("a program", 5.0)
    assert compile_times.longest_note("a program") == " (took up to 5 s before)"


def test_without_a_cache_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_times, "_path", lambda: None)
    compile_times.note("a program", 50.0)
    assert compile_times.longest_note("a program") == ""
