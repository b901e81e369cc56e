"""The badges of the README as one SVG, from the project's own files, without any request.

python -m tools.badges > docs/badges.svg
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

import gaia_jax
from gaia_jax.ruleset import LOST_FLEET

ROOT = Path(__file__).resolve().parent.parent
HEIGHT, LETTER, ROOM = 20, 6.6, 7  # pixels
LEFT, RIGHT = "#4a5058", "#2a6fb0"


def facts() -> list[tuple[str, str]]:
    """The left and right texts of the badges."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    classifiers = "\n".join(project["classifiers"])
    pythons = re.findall(r"Python :: (3\.\d+)", classifiers)
    status = re.findall(r"Development Status :: \d - (\w+)", classifiers)[0]
    jax = next(x for x in project["dependencies"] if x.startswith("jax"))
    out = [
        ("version", f"{gaia_jax.__version__} ({status.lower()})"),
        ("rules", LOST_FLEET.version),
        ("python", f"{pythons[0]} to {pythons[-1]}"),
        ("jax", jax.removeprefix("jax>=") + " or newer"),
        ("licence", project["license"]["text"]),
    ]
    if (ROOT / "gaia_jax" / "py.typed").exists():
        out.insert(4, ("typed", "mypy --strict"))
    return out


def draw_svg() -> str:
    """The SVG."""
    parts, x = [], 0.0
    for left, right in facts():
        widths = [LETTER * len(text) + 2 * ROOM for text in (left, right)]
        for text, width, colour in zip((left, right), widths, (LEFT, RIGHT), strict=True):
            parts.append(
                f'<rect x="{x:.1f}" width="{width:.1f}" height="{HEIGHT}" fill="{colour}"/>'
                f'<text x="{x + width / 2:.1f}" y="14" text-anchor="middle" fill="#ffffff">'
                f"{escape(text)}</text>"
            )
            x += width
        x += ROOM
    width = x - ROOM
    title = "; ".join(" ".join(fact) for fact in facts())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{HEIGHT}" '
        f'viewBox="0 0 {width:.0f} {HEIGHT}" font-family="Verdana, sans-serif" font-size="11" '
        f'role="img"><title>{escape(title)}</title>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(draw_svg())
