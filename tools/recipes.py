"""Run the programs of `docs/reference/recipes.md` and write what they print and draw into the page.

python -m tools.recipes                 # without the examples about decisions
python -m tools.recipes data/decided    # all; a dataset with decisions
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "recipes.md"
PICTURES = PAGE.parent / "recipes"
# A program, and its output as a quotation.
RECIPE = re.compile(r"```python\n(.*?)```\n(?:\n> [^\n]*\n)?", re.DOTALL)
DECISIONS = "## Examples about decisions"


def update(text: str, pictures: Path, decided: Path | None = None) -> str:
    """The page with the output of its programs; each program has the names of those before it.

    Args:
        pictures: the folder that they draw into.
        decided: a dataset with decisions; None skips the recipes that need one.
    """
    scope: dict[str, object] = {}

    def run(match: re.Match[str]) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(match[1], str(PAGE), "exec"), scope)
        answer = " ".join(output.getvalue().split())
        return f"```python\n{match[1]}```\n" + (f"\n> {answer}\n" if answer else "")

    pictures.mkdir(parents=True, exist_ok=True)
    scope["DECIDED"] = decided.resolve() if decided else None
    with contextlib.chdir(ROOT):
        scope["PICTURES"] = Path(os.path.relpath(pictures))
        games, heading, decisions = text.partition(DECISIONS)
        return (
            RECIPE.sub(run, games)
            + heading
            + (RECIPE.sub(run, decisions) if decided else decisions)
        )


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(update(page, PICTURES, folder), encoding="utf-8")
