"""Run the programs of `docs/reference/recipes.md` and write what they print and draw into the page.

python -m tools.recipes
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "recipes.md"
PICTURES = PAGE.parent / "recipes"
# A program, and its output as a quotation.
RECIPE = re.compile(r"```python\n(.*?)```\n(?:\n> [^\n]*\n)?", re.DOTALL)


def update(text: str, pictures: Path) -> str:
    """The page with the output of its programs; each program has the names of those before it.

    Args:
        pictures: the folder that they draw into.
    """
    scope: dict[str, object] = {}

    def run(match: re.Match[str]) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(match[1], str(PAGE), "exec"), scope)
        answer = " ".join(output.getvalue().split())
        return f"```python\n{match[1]}```\n" + (f"\n> {answer}\n" if answer else "")

    pictures.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(ROOT):
        scope["PICTURES"] = Path(os.path.relpath(pictures))
        return RECIPE.sub(run, text)


if __name__ == "__main__":
    PAGE.write_text(update(PAGE.read_text(encoding="utf-8"), PICTURES), encoding="utf-8")
