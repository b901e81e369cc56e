"""`docs/reference/recipes.md`: its programs are run, what they print and draw is put beneath them.

python -m tools.recipes            # writes the page and its pictures anew
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
# A program, and what it printed, as a quotation.
RECIPE = re.compile(r"```python\n(.*?)```\n(?:\n> [^\n]*\n)?", re.DOTALL)


def made(text: str, pictures: Path) -> str:
    """The page with what its programs print; they draw into `pictures`.

    The programs run one after the other, each with the names of those before it.
    """
    scope: dict[str, object] = {}

    def run(match: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match[1], str(PAGE), "exec"), scope)
        told = " ".join(printed.getvalue().split())
        return f"```python\n{match[1]}```\n" + (f"\n> {told}\n" if told else "")

    before = Path.cwd()
    pictures.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(ROOT):
        scope["PICTURES"] = Path(os.path.relpath(pictures))
        out = RECIPE.sub(run, text)
    assert Path.cwd() == before
    return out


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), PICTURES), encoding="utf-8")
