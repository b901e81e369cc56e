"""docs/lab/: entries are dated, and closed by what came of them."""

import re
from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parent.parent / "docs" / "lab"
WRITTEN = ("explain", "greedy", "learning", "performance", "review", "scaling", "search", "studies")
TIMELESS = (
    "Not tried yet",
    "Not measured",
    "How it decides",
    "What it values",
    "How they were made",
)
DATED = re.compile(r"2026-\d\d-\d\d")
CLOSED = re.compile(r"\*\*(?:Kept|Not kept|Noted)\b")


def _faults(text):
    """Entries without a date or without an end; a date in the title holds for all entries."""
    title, *entries = re.split(r"^## ", text, flags=re.M)
    dated = DATED.search(title.splitlines()[0])
    found = []
    for entry in entries:
        head = entry.splitlines()[0]
        if head in TIMELESS:
            continue
        if not (dated or DATED.match(head)):
            found.append(f"no date: {head}")
        if not CLOSED.search(entry):
            found.append(f"no end: {head}")
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_entries_have_a_date_and_an_end(name):
    assert not _faults((LAB / f"{name}.md").read_text("utf-8"))


def test_every_page_of_the_lab_is_in_its_index():
    index = (LAB / "index.md").read_text("utf-8")
    pages = {f"docs/lab/{page.name}" for page in LAB.glob("*.md")} - {"docs/lab/index.md"}
    assert pages == set(re.findall(r"docs/lab/\w+\.md", index))


def test_an_entry_without_a_date_or_an_end_is_found():
    text = "# T\n\n## 2026-11-22: a\n\n**Kept.**\n\n## b\n\n**Noted**: x\n\n"
    text += "## 2026-11-22: c\n\nOpen.\n"
    assert _faults(text) == ["no date: b", "no end: 2026-11-22: c"]
    assert not _faults("# T, 2026-11-22\n\n## a\n\n**Not kept**: y\n")
