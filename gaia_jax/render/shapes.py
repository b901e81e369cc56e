"""Fragments of SVG as text: labels of known width, lines with icons, boxes, groups.

Most of a picture is the same after a decision, so fragments are cached.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from html import escape
from importlib import resources

from gaia_jax.render import colours

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
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
# Next to a text of size 1: an icon, a disc, the gap after both; small text.
ICON, DISC, GAP, SMALL = 1.14, 1.6, 0.10, 0.75
_SHIFT = {"start": 0.0, "middle": 0.5, "end": 1.0}
_PARTS = re.compile(r"\{([A-Za-z0-9]+)\}")


@functools.cache
def symbols() -> str:
    """The icons, planets and structures of `symbols.svg`, as `<defs>`."""
    text = resources.files("gaia_jax.render").joinpath("symbols.svg").read_text("utf-8")
    return text[text.index("<defs>") : text.index("</svg>")].replace("\n", "")


def number(value: float) -> str:
    """A coordinate, as short as it can be written."""
    return f"{value:.1f}".removesuffix(".0")


@functools.lru_cache(8192)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a text."""
    total = sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) <= 126 else 600 for c in text)
    return total * size / 1000 * (_BOLD if bold else 1)


def _kind(name: str) -> str:
    """The kind of a name in braces: "disc", "planet", "icon" or "small" text."""
    if re.fullmatch(r"d\d", name):
        return "disc"
    return "icon" if name.islower() else "planet" if f'"g-{name}"' in symbols() else "small"


def split(line: str) -> list[tuple[str, str]]:
    """The parts of a line, each with its kind: "text", or as of `_kind`."""
    parts = enumerate(_PARTS.split(line))
    return [(_kind(part) if i % 2 else "text", part) for i, part in parts if part]


def _advance(kind: str, part: str, size: float, bold: bool) -> float:
    if kind in ("text", "small"):
        small = kind == "small"
        return text_width(part, size * (SMALL if small else 1), bold) + small * size * 0.25
    return size * (DISC + 2 * GAP if kind == "disc" else ICON + GAP)


def run_width(line: str, size: float, bold: bool = False) -> float:
    """The width of a line with icons."""
    return sum(_advance(kind, part, size, bold) for kind, part in split(line))


def _text(x: float, y: float, text: str, size: float, fill: str, bold: bool = False) -> str:
    """A text that begins at (x, y), on its base line."""
    weight = ' font-weight="bold"' if bold else ""
    width = number(text_width(text, size, bold))
    length = f' textLength="{width}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{fill}"{weight}'
        f"{length}>{escape(text)}</text>"
    )


def icon(name: str, x: float, y: float, size: float) -> str:
    """An icon, its top left corner at (x, y)."""
    s = number(size)
    return f'<use href="#g-{name}" x="{number(x)}" y="{number(y)}" width="{s}" height="{s}"/>'


def use(name: str, x: float, y: float, scale: float, attributes: str = "") -> str:
    """A planet, structure or ship about (x, y)."""
    at = f"translate({number(x)},{number(y)})scale({scale:.2f})"
    return f'<use href="#g-{name}" transform="{at}"{attributes}/>'


@functools.lru_cache(8192)
def run(
    x: float,
    y: float,
    line: str,
    size: float = 10,
    fill: str = colours.INK,
    anchor: str = "start",
    bold: bool = False,
    room: float = 0,
) -> str:
    """A line with icons and discs, see `pieces`; (x, y) is on its base line.

    Args:
        room: above 0, the width that it must fit in.
    """
    width = run_width(line, size, bold)
    if room and width > room:
        size, width = size * room / width, room
    x -= width * _SHIFT[anchor]
    out, middle = [], y - size * 0.36
    for kind, part in split(line):
        advance = _advance(kind, part, size, bold)
        side = size * (DISC if kind == "disc" else ICON)
        if kind == "text" and part.strip():
            lead = text_width(part[: len(part) - len(part.lstrip())], size, bold)
            out.append(_text(x + lead, y, part.strip(), size, fill, bold))
        elif kind == "small":
            out.append(_text(x, y, part, size * SMALL, colours.QUIET))
        elif kind == "planet":
            out.append(use(part, x + advance / 2, middle, side * 0.62))
        elif kind != "text":
            out.append(icon(part, x + size * GAP / 2, middle - side / 2, side))
        x += advance
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
    return (
        f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" rx="{n(radius)}"'
        f' fill="{fill}"{_edge(stroke, line)}/>'
    )


def _edge(stroke: str, line: float) -> str:
    return "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{number(line)}"'


def circle(x: float, y: float, r: float, fill: str, stroke: str = "none", line: float = 1) -> str:
    """A disc."""
    at = f'cx="{number(x)}" cy="{number(y)}" r="{number(r)}"'
    return f'<circle {at} fill="{fill}"{_edge(stroke, line)}/>'


def polygon(
    points: Iterable[tuple[float, float]], fill: str, stroke: str = "none", line: float = 1
) -> str:
    """A closed outline."""
    at = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polygon points="{at}" fill="{fill}"{_edge(stroke, line)}/>'


def group(
    body: str,
    id: str = "",
    title: str = "",
    action: str = "",
    at: tuple[float, float] | None = None,
    kind: str = "",
    of: str = "",
) -> str:
    """Fragments as one element at a position, `kind` its class, `of` the id of its help entry."""
    named = {"id": id, "class": kind, "data-action": escape(action), "data-of": of}
    out = [f' {name}="{value}"' for name, value in named.items() if value]
    out += [f' transform="translate({number(at[0])},{number(at[1])})"'] if at else []
    head = f"<title>{escape(title)}</title>" if title else ""
    return f"<g{''.join(out)}>{head}{body}</g>"


def seat_number(player: int) -> str:
    """The number of a player in a picture: 1 to 4. Records and states count from 0."""
    return str(player + 1)


def numeral(x: float, y: float, player: int, size: float, start_planet: str) -> str:
    """The number of a player on a piece of theirs, its middle at (x, y).

    Its edge has the colour of the piece: where a page draws it larger, it stays legible.
    """
    fill, ink = colours.faction(start_planet)
    at = f'x="{number(x)}" y="{number(y)}" dy=".36em" text-anchor="middle"'
    edge = f'stroke="{fill}" stroke-width="2.4" stroke-linejoin="round" paint-order="stroke"'
    size_of = f'font-size="{number(size)}" style="--size:{number(size)}px"'
    return (
        f'<text {at} {size_of} font-weight="bold" fill="{ink}" {edge}>{seat_number(player)}</text>'
    )


def disc_symbol(player: int, start_planet: str) -> str:
    """The disc of a player, as icon `d0` to `d3`: colour of the faction, number of the seat."""
    fill, ink = colours.faction(start_planet)
    body = circle(5, 5, 4.6, fill, colours.INK, 0.6)
    body += run(5, 7.4, seat_number(player), 6.8, ink, "middle", bold=True)
    return f'<symbol id="g-d{player}" viewBox="0 0 10 10">{body}</symbol>'
