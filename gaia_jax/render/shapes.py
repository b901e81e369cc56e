"""Drawing: text of known width, icons, boxes. Everything here gives fragments of SVG as text.

Most of a picture is as it was a decision ago, so what is drawn again and again is remembered.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from html import escape

from gaia_jax.render import colours

# Advance widths of a plain sans-serif, in thousandths of the size, characters 32 to 126. A text
# carries its `textLength`, so it takes the same room in whatever font a viewer has.
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556,) * 10,
    *(278, 278, 584, 584, 584, 556, 1015),
    *(667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833),
    *(722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611),
    *(278, 278, 278, 469, 556, 333),
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833),
    *(556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500),
    *(334, 260, 334, 584),
)
_BOLD = 1.06
# An icon beside a text of size 1, and the gap after it.
ICON, GAP = 1.14, 0.10
_PARTS = re.compile(r"\{([a-z]+)\}")


def number(value: float) -> str:
    """A coordinate, as short as it can be said."""
    return f"{value:.1f}".removesuffix(".0")


@functools.lru_cache(8192)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is drawn."""
    total = sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) <= 126 else 600 for c in text)
    return total * size / 1000 * (_BOLD if bold else 1)


def run_width(run: str, size: float, bold: bool = False) -> float:
    """How wide a text with icons is drawn."""
    out = 0.0
    for i, part in enumerate(_PARTS.split(run)):
        out += size * (ICON + GAP) if i % 2 else text_width(part, size, bold)
    return out


@functools.lru_cache(8192)
def label(
    x: float,
    y: float,
    text: str,
    size: float = 10,
    fill: str = colours.INK,
    anchor: str = "start",
    bold: bool = False,
    room: float = 0,
) -> str:
    """A text; (x, y) is on its base line. `room` above 0 is the width that it must fit in."""
    if not text:
        return ""
    width = text_width(text, size, bold)
    if room and width > room:
        size, width = size * room / width, room
    x -= {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    weight = ' font-weight="bold"' if bold else ""
    length = f' textLength="{number(width)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{fill}"{weight}'
        f"{length if len(text) > 1 else ''}>{escape(text)}</text>"
    )


def icon(name: str, x: float, y: float, size: float) -> str:
    """An icon of `symbols`, its top left corner at (x, y)."""
    s = number(size)
    return f'<use href="#g-{name}" x="{number(x)}" y="{number(y)}" width="{s}" height="{s}"/>'


@functools.lru_cache(8192)
def run(
    x: float,
    y: float,
    text: str,
    size: float = 10,
    fill: str = colours.INK,
    anchor: str = "start",
    bold: bool = False,
    room: float = 0,
) -> str:
    """A text in which `{o}` stands for an icon, else as `label`."""
    width = run_width(text, size, bold)
    if room and width > room:
        size, width = size * room / width, room
    x -= {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    out = []
    for i, part in enumerate(_PARTS.split(text)):
        if i % 2:
            side = size * ICON
            out.append(icon(part, x + size * GAP / 2, y - size * 0.36 - side / 2, side))
            x += side + size * GAP
        elif part:
            if part.strip():
                lead = text_width(part[: len(part) - len(part.lstrip())], size, bold)
                out.append(label(x + lead, y, part.strip(), size, fill, bold=bold))
            x += text_width(part, size, bold)
    return "".join(out)


@functools.lru_cache(8192)
def box(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    stroke: str = "none",
    radius: float = 3,
    line: float = 1,
) -> str:
    """A rectangle with round corners."""
    n = number
    edge = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{n(line)}"'
    return (
        f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" rx="{n(radius)}"'
        f' fill="{fill}"{edge}/>'
    )


def circle(x: float, y: float, r: float, fill: str, stroke: str = "none", line: float = 1) -> str:
    """A disc."""
    edge = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{number(line)}"'
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(r)}" fill="{fill}"{edge}/>'


def polygon(
    points: Iterable[tuple[float, float]], fill: str, stroke: str = "none", line: float = 1
) -> str:
    """A closed outline."""
    at = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    edge = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{number(line)}"'
    return f'<polygon points="{at}" fill="{fill}"{edge}/>'


def group(
    body: str,
    id: str = "",
    title: str = "",
    action: str = "",
    at: tuple[float, float] | None = None,
    kind: str = "",
    of: str = "",
) -> str:
    """Fragments as one thing.

    Args:
        id: of the element; each piece of the state has one.
        title: what a pointer that rests on it is told.
        action: the action text that it stands for; a page lights it where that is legal.
        at: where its own (0, 0) lies.
        kind: its class.
        of: the id of the help that tells of it.
    """
    out = [f' id="{id}"'] if id else []
    out += [f' class="{kind}"'] if kind else []
    out += [f' data-action="{escape(action)}"'] if action else []
    out += [f' data-of="{of}"'] if of else []
    out += [f' transform="translate({number(at[0])},{number(at[1])})"'] if at else []
    head = f"<title>{escape(title)}</title>" if title else ""
    return f"<g{''.join(out)}>{head}{body}</g>"


def seat_number(player: int) -> str:
    """What people call a player in a picture: 1 to 4. Records and states count from 0."""
    return str(player + 1)


def seat_disc(x: float, y: float, r: float, player: int, faction: str) -> str:
    """The disc of a player: colour of the faction, number of the seat."""
    fill, ink = colours.faction(faction)
    out = circle(x, y, r, fill, colours.INK, 1)
    return out + label(x, y + r * 0.5, seat_number(player), r * 1.4, ink, "middle", bold=True)
