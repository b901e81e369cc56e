"""Print the files that implement and test each ruling, as a Markdown table.

    python -m tools.rulings_index

A ruling is cited by its id (FED-03, A10) in a comment, docstring, page or message, or in the name
of a test (`test_fed_03_...`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULINGS = ROOT / "docs" / "reference" / "rulings.md"

DEFINITION = re.compile(r"^- \*\*([A-Z]{2,3}-\d\d|A\d{1,2})\*\*", re.MULTILINE)
CITATION = re.compile(r"\b(?:[A-Z]{2,3}-\d\d|A\d{1,2})\b(?!-)")
# The columns of the index and the folders whose citations fill them.
COLUMNS = {
    "implemented": ("gaia_jax", "training"),
    "referee": ("tests/referee",),
    "tested": ("tests",),
}
PAGES = ("docs", "benchmarks", "tools")


def definitions() -> list[str]:
    """Ids that docs/reference/rulings.md defines, in its order, with repetitions."""
    return DEFINITION.findall(RULINGS.read_text(encoding="utf-8"))


@cache
def chapters() -> set[str]:
    """The chapters of ids such as FED-03."""
    return {id_.partition("-")[0] for id_ in definitions() if "-" in id_}


def citations() -> dict[str, set[Path]]:
    """By id the files that cite it, relative to the root; pages and the README too."""
    cited: dict[str, set[Path]] = defaultdict(set)
    for path in _files():
        for id_ in cited_in(path.read_text(encoding="utf-8"), path.suffix == ".py"):
            cited[id_].add(path.relative_to(ROOT))
    return cited


def cited_in(text: str, code: bool = True) -> set[str]:
    """The ids in a text; those in names of tests only in code."""
    ids = set(CITATION.findall(text))
    if code:
        for name in re.findall(r"def (test_\w+)", text):
            ids |= set(_cited_in_name(name))
    return ids


def _cited_in_name(name: str) -> Iterator[str]:
    """`test_lee_02_and_03_...` cites LEE-02 and LEE-03."""
    chapter = before = ""
    for word in name.upper().split("_"):
        number = re.fullmatch(r"\d\d", word)
        if number and chapter and (before == chapter or before in ("AND", "TO")):
            yield f"{chapter}-{word}"
        elif word in chapters():
            chapter = word
        elif word not in ("AND", "TO"):
            chapter = ""
        before = word


def _files() -> Iterator[Path]:
    folders = {folder for folders in COLUMNS.values() for folder in folders} | set(PAGES)
    files = {ROOT / "README.md"}
    for folder in folders:
        files |= {p for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".md")}
    return iter(sorted(files - {RULINGS}))


def _column(path: Path) -> str | None:
    """The most exact column that a file belongs to."""
    fitting = [
        (len(folder), name)
        for name, folders in COLUMNS.items()
        for folder in folders
        if path.as_posix().startswith(f"{folder}/")
    ]
    return max(fitting)[1] if fitting else None


def _short(path: Path) -> str:
    """A path without the folder that its column implies."""
    parts = path.with_suffix("").parts
    skip = 2 if parts[:2] == ("tests", "referee") else 1
    return "/".join(parts if parts[0] == "training" else parts[skip:])


HEAD = """\
| ruling | implemented in | referee | tested in |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole table: by ruling the files that cite it, which may be none."""
    cited, rows = citations(), []
    for id_ in definitions():
        cells: dict[str, list[str]] = {name: [] for name in COLUMNS}
        for path in sorted(cited.get(id_, ())):
            column = _column(path)
            if column:
                cells[column].append(_short(path))
        rows.append(f"| {id_} | " + " | ".join(", ".join(c) for c in cells.values()) + " |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
