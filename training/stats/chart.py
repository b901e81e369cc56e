"""Pictures as SVG, text and lines alone: effects below one another, curves with bands.

By hand: with matplotlib these commands would want one more package and start a second later, the
picture of 40 effects would have 38 kB instead of 12, and no effect its numbers under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from .effects import Effect

WIDTH, LINE, TOP, PLOT = 760, 18, 46, 420
LONGEST, LETTER = 84, 5.9  # letters of a name, and pixels of a letter
FOUND, PLAIN = "#b5402a", "#5b6570"


def forest(
    effects: Sequence[Effect], title: str, unit: str = "VP", limit: int = 60, ordered: bool = False
) -> str:
    """Effects below one another, largest first; those that stand out are red.

    Args:
        unit: of the estimates. limit: how many are drawn. ordered: they keep their order.
    """
    drawn = [e for e in effects if math.isfinite(e.estimate) and math.isfinite(e.low)]
    drawn = (drawn if ordered else sorted(drawn, key=lambda e: -e.estimate))[:limit]
    low = min([0.0, *(e.low for e in drawn)])
    high = max([0.0, *(e.high for e in drawn)])
    room = 0.03 * ((high - low) or 1.0)
    low, high = low - room, high + room
    span = high - low
    names = [e.name if len(e.name) <= LONGEST else e.name[: LONGEST - 1] + "…" for e in drawn]
    left = max(WIDTH - PLOT - 20, int(LETTER * max(map(len, names), default=0)) + 18)
    width = left + PLOT + 20

    def x(value: float) -> float:
        return left + PLOT * (value - low) / span

    height = TOP + LINE * len(drawn) + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="22" font-size="15" fill="#1c2126">{escape(title)}</text>',
    ]
    bottom, sign = TOP + LINE * len(drawn) + 4, "+" if unit == "VP" else ""
    for tick in ticks(low, high):
        colour = "#8a939c" if tick == 0 else "#e3e6e9"
        out.append(
            f'<line x1="{x(tick):.1f}" y1="{TOP - 12}" x2="{x(tick):.1f}" y2="{bottom}" '
            f'stroke="{colour}"/>'
            f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle" '
            f'fill="#5b6570">{f"{tick:{sign}g}" if tick else "0"}</text>'
        )
    out.append(f'<text x="{left - 8}" y="{bottom + 14}" text-anchor="end">{escape(unit)}</text>')
    for row, (effect, name) in enumerate(zip(drawn, names, strict=True)):
        y = TOP + LINE * row
        colour = FOUND if effect.found else PLAIN
        out.append(
            f'<text x="{left - 8}" y="{y + 4}" text-anchor="end" fill="#1c2126">{escape(name)}'
            f'</text><line x1="{x(effect.low):.1f}" y1="{y}" x2="{x(effect.high):.1f}" y2="{y}" '
            f'stroke="{colour}" stroke-width="2"/>'
            f'<circle cx="{x(effect.estimate):.1f}" cy="{y}" r="3.5" fill="{colour}">'
            f"<title>{escape(str(effect))}</title></circle>"
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def ticks(low: float, high: float, limit: int = 8) -> list[float]:
    """Round numbers from `low` to `high`, 0 among them where it lies there."""
    span = (high - low) or 1.0
    step = 10 ** math.floor(math.log10(span / limit))
    step *= next(f for f in (1, 2, 5, 10) if span / (step * f) <= limit)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(n * step, 10) for n in range(first, last + 1)]


class Line(NamedTuple):
    """A curve with a band; nan where there is none."""

    name: str
    x: np.ndarray  # (X,)
    y: np.ndarray  # (X,)
    band: np.ndarray  # (X, 2)


COLOURS = ("#2a6fb0", "#b5402a", "#3f8f4f", "#8a5fb0", "#c28a1e", "#4aa3a3", "#7a7a7a", "#b04a86")
HEIGHT = 320


def lines(curves: Sequence[Line], title: str, unit: str) -> str:
    """Curves over one axis, with their bands and a legend.

    Args:
        unit: of the horizontal axis.
    """
    values = [v[np.isfinite(v)] for c in curves for v in (c.y, c.band.ravel())]
    all_values = np.concatenate(values)
    low, high = float(all_values.min()), float(all_values.max())
    first = min(float(c.x[0]) for c in curves)
    last = max(float(c.x[-1]) for c in curves)
    left, right, top, bottom = 64, WIDTH - 20, 16, HEIGHT - 40
    span, wide = (high - low) or 1.0, (last - first) or 1.0

    def at(x: float, y: float) -> str:
        return (
            f"{left + (right - left) * (x - first) / wide:.1f},"
            f"{bottom - (bottom - top) * (y - low) / span:.1f}"
        )

    total = HEIGHT + LINE * len(curves)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" width="{WIDTH}" '
        f'height="{total}" font-family="sans-serif" font-size="12" role="img">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{WIDTH}" height="{total}" fill="#ffffff"/>'
    ]
    for tick in ticks(low, high, 6):
        x, y = at(first, tick).split(",")
        out.append(
            f'<line x1="{x}" y1="{y}" x2="{right}" y2="{y}" stroke="#e3e6e9"/>'
            f'<text x="{left - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    for tick in ticks(first, last, 6):
        x, _ = at(tick, low).split(",")
        out.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{tick:,.10g}</text>')
    out.append(f'<text x="{right}" y="{bottom + 32}" text-anchor="end">{escape(unit)}</text>')
    for number, line in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        has_band = np.isfinite(line.band).all(-1)
        if has_band.any():
            xs, band = line.x[has_band], line.band[has_band]
            upper = [at(*point) for point in zip(xs, band[:, 1], strict=True)]
            lower = [at(*point) for point in zip(xs, band[:, 0], strict=True)]
            edge = " ".join(upper + lower[::-1])
            out.append(f'<polygon points="{edge}" fill="{colour}" fill-opacity="0.18"/>')
        path = " ".join(at(x, y) for x, y in zip(line.x, line.y, strict=True))
        if len(line.x) == 1:  # a run after its first update: a line would have no length
            x, y = path.split(",")
            out.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>')
        row = HEIGHT + LINE * number
        out.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<line x1="{left}" y1="{row}" x2="{left + 24}" y2="{row}" stroke="{colour}" '
            f'stroke-width="3"/><text x="{left + 32}" y="{row + 4}">{escape(line.name)}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"
