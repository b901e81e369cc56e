"""docs/guide/: short enough to be read, in short sentences, and nothing in it grows old."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guide"
PAGES = sorted(GUIDE.rglob("*.md"))
BLOCK = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
MOST_PAGES, MOST_WORDS, LONGEST_SENTENCE, WIDEST = 12, 15_000, 30, 100
# Pages to look things up in, written by hand: not those that a program makes (`PAGES` of Makefile).
MADE = ("configuration", "factions", "names", "observation", "rulesets", "rulings_index", "zoo")
LOOKED_UP = [p for p in sorted((GUIDE.parent / "reference").rglob("*.md")) if p.stem not in MADE]
LONGEST_THERE = 35


def _prose(text):
    """`text` without code blocks, tables and headings: the lines that are read as sentences."""
    lines = BLOCK.sub("", text).splitlines()
    return [line for line in lines if not line.lstrip().startswith(("|", "#"))]


def _sentences(text):
    """Sentences of a page; a list's item begins one, an empty line ends one."""
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+", "\n".join(_prose(text)))
    return [s for part in parts for s in re.split(r"(?<=[.!?])[)`*]*\s+", " ".join(part.split()))]


def _faults(text):
    """What a page of the guide may not have."""
    text = re.sub(r"<!--.*?-->\n", "", text)  # nobody reads a comment: agent-pages has hashes there
    found = [f"a commit: {hash_}" for hash_ in HASH.findall(text)]
    found += [f"{len(s.split())} words: {s}" for s in _sentences(text)
              if len(s.split()) > LONGEST_SENTENCE]  # fmt: skip
    return found + [f"wide: {line}" for line in _prose(text) if len(line) > WIDEST]


def test_it_can_be_read_in_an_hour():
    assert 8 <= len(PAGES) <= MOST_PAGES, [page.name for page in PAGES]
    words = {page.name: len(page.read_text("utf-8").split()) for page in PAGES}
    assert sum(words.values()) <= MOST_WORDS, words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_has_short_sentences_and_no_commit(page):
    assert not _faults(page.read_text("utf-8"))


@pytest.mark.parametrize(
    "page", [GUIDE.parent / "architecture.md", *LOOKED_UP], ids=lambda p: p.stem
)
def test_what_is_looked_up_has_no_sentence_that_must_be_read_twice(page):
    found = [s for s in _sentences(page.read_text("utf-8")) if len(s.split()) > LONGEST_THERE]
    assert not found


def test_a_fault_is_found():
    long = " ".join(["word"] * 31) + "."
    text = f"# Title\n\nShort.\n{long}\n\n- at 383ed53\n\n{'x' * 101}\n\n```\n{'y' * 101}\n```\n"
    found = _faults(f"{text}\n| {'z' * 101} |\n")
    assert [fault.split(":")[0] for fault in found] == ["a commit", "31 words", "wide", "wide"]
    assert not _faults("- one two three four five six seven eight\n" * 5)
