"""Charts as SVG, drawn by matplotlib, which is imported when a chart is drawn."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from gaia_jax.cli.command_line import UserError

from .effects import Effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_EFFECTS = 60  # of a forest plot
SIGNIFICANT, OTHER, GRID = "#b5402a", "#5b6570", "#e3e6e9"
# A page that defines these variables gives a chart the colours of its theme.
_THEME = {"#000000": "ink", "#ffffff": "panel", GRID: "line", OTHER: "quiet", SIGNIFICANT: "bad"}
COLOURS = ("#2a6fb0", "#b5402a", "#3f8f4f", "#8a5fb0", "#c28a1e", "#4aa3a3", "#7a7a7a", "#b04a86")


class Line(NamedTuple):
    """A curve with a band around it; nan where the band is missing."""

    name: str
    x: np.ndarray  # (X,)
    y: np.ndarray  # (X,)
    band: np.ndarray  # (X, 2)
    colour: str = ""  # by default the next of COLOURS


def forest(effects: Sequence[Effect], title: str, unit: str = "VP") -> str:
    """The MAX_EFFECTS largest effects with their intervals; significant ones are red.

    Args:
        unit: of the estimates.
    """
    effects = [e for e in effects if math.isfinite(e.estimate) and math.isfinite(e.low)]
    effects = sorted(effects, key=lambda e: -e.estimate)[:MAX_EFFECTS]
    figure, axes = new_figure(8, 1.1 + 0.22 * len(effects))
    for row, effect in enumerate(effects):
        colour = SIGNIFICANT if effect.significant else OTHER
        axes.plot([effect.low, effect.high], [row, row], color=colour)
        axes.plot([effect.estimate], [row], "o", color=colour, markersize=5)
    axes.axvline(0, color="#8a939c", linewidth=0.8)
    axes.set(title=title, xlabel=unit, yticks=range(len(effects)), ylim=(len(effects) - 0.5, -0.5))
    axes.set_yticklabels([effect.name for effect in effects])
    axes.grid(axis="x", color=GRID)
    return to_svg(figure, title)


def lines(curves: Sequence[Line], title: str, unit: str) -> str:
    """Curves over one axis, with their bands and a legend.

    Args:
        unit: of the horizontal axis.
    """
    figure, axes = new_figure(8, 3.6 + 0.2 * len(curves))
    from matplotlib.patheffects import withStroke

    for number, curve in enumerate(curves):
        colour = curve.colour or COLOURS[number % len(COLOURS)]
        has_band = np.isfinite(curve.band).all(-1)
        if has_band.any():
            low, high = curve.band[has_band].T
            axes.fill_between(curve.x[has_band], low, high, color=colour, alpha=0.18, linewidth=0)
        marker = "o" if len(curve.x) == 1 else ""  # a run after its first update
        (line,) = axes.plot(curve.x, curve.y, marker=marker, color=colour, label=curve.name)
        if curve.colour:  # some of a caller's are as light as the page
            line.set_path_effects([withStroke(linewidth=3, foreground=OTHER)])
    axes.set(title=title, xlabel=unit)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.grid(axis="y", color=GRID)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.16))
    return to_svg(figure, title)


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure with one pair of axes; width and height are inches.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError('charts need matplotlib: pip install "gaia_jax[plots]"') from error
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def to_svg(figure: Figure, label: str) -> str:
    """The SVG of a figure, to be put into HTML; equal data give equal text.

    Args:
        label: for screen readers.
    """
    import matplotlib

    buffer = io.StringIO()
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gaia_jax"}),
        warnings.catch_warnings(),
    ):
        # The browser has a font for each letter.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg ") :]
    # Several charts share a page: a style would apply to the whole page, group ids would repeat.
    text = re.sub(r"<style.*?</style>|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    for colour, variable in _THEME.items():
        text = text.replace(colour, f"var(--{variable}, {colour})")
    head = f'<svg role="img" aria-label={quoteattr(label)} fill="var(--ink, #000000)" '
    return text.replace("<svg ", head, 1)
