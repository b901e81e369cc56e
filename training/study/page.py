"""A page of findings: its text, its pictures and the numbers it is compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.ruleset import Ruleset

from ..stats import chart
from ..stats.effects import Effect
from ..system import atomic_files
from .figures import Figures, Known
from .words import Words

SHOWN = 6  # rows of a table at either end


class Page:
    """The text and the pictures of a page."""

    def __init__(
        self, out: Path, pictures: str, ruleset: Ruleset, own: Figures, beside: Known | None
    ):
        """
        Args:
            out: the folder of the page; pictures: of its pictures, inside it.
            own: what the dataset answers; beside: what another one does.
        """
        self.out, self.pictures, self.lines = out, pictures, [""]
        self.words, self.own, self.known = Words(ruleset), own, beside
        self.beside = beside.figures if beside else {}
        (out / pictures).mkdir(parents=True, exist_ok=True)

    def text(self, *lines: str) -> None:
        """Lines of the page."""
        self.lines += [*lines, ""]

    def found(self, question: str) -> list[Effect]:
        """The answers to a question that have an interval, with their ids."""
        return [e for e in self.own.get(question, []) if math.isfinite(e.low)]

    def other(self, question: str, id: str) -> Effect | None:
        """What the other dataset answers for the same thing."""
        told = (e for e in self.beside.get(question, []) if e.name == id)
        return next((e for e in told if math.isfinite(e.low)), None)

    def picture(
        self,
        name: str,
        title: str,
        shown: Sequence[Effect],
        unit: str = "VP",
        ordered: bool = False,
    ) -> str:  # fmt: skip
        """Draw effects, the largest first or in their order; the Markdown that shows them."""
        path = f"{self.pictures}/{name}.svg"
        drawn = atomic_files.COMMENT + chart.forest(shown, title, unit, ordered=ordered)
        atomic_files.write_text(self.out / path, drawn)
        return f"![{title}]({path})"

    def effects(self, question: str, title: str, only: Sequence[str] | None = None) -> None:
        """A picture of all effects, and a table of the largest and the smallest.

        Args:
            only: the ids of those that are shown.
        """
        known = [e for e in self.found(question) if only is None or e.name in only]
        if not known:
            self.text(f"{title}: too few games.")
            return
        plain = self.words.all(question, known)
        both = sorted(zip(known, plain, strict=True), key=lambda x: -x[1].estimate)
        few = both if len(both) <= 2 * SHOWN else both[:SHOWN] + both[-SHOWN:]
        compared = any(self.other(question, e.name) for e in known)
        head = ["| | VP (95 %) | n |", "| --- | --- | --- |"]
        if compared:
            head = ["| | VP (95 %) | n | the agent before |", "| --- | --- | --- | --- |"]
        rows = []
        for effect, named in few:
            rows.append(f"| {named.name} | {bold(effect)} | {effect.size:,} |")
            if compared:
                other = self.other(question, effect.name)
                rows[-1] += f" {bold(other) if other else 'not known'} |"
        self.text(
            self.picture(question, title, plain), "",
            f"{sum(e.found for e in known)} of {len(known)} stand out. Largest and smallest:", "",
            *head, *rows,
        )  # fmt: skip

    def write(self, name: str) -> None:
        """Write the page."""
        atomic_files.write_text(self.out / name, "\n".join(self.lines).strip() + "\n")


def interval(effect: Effect, unit: str = "") -> str:
    """An effect above or below something, as text."""
    return f"{effect.estimate:+.1f}{unit} ({effect.low:+.1f} to {effect.high:+.1f})"


def mean(effect: Effect, unit: str = "", digits: int = 1) -> str:
    """A mean, as text."""
    low, high = f"{effect.low:.{digits}f}", f"{effect.high:.{digits}f}"
    return f"{effect.estimate:.{digits}f}{unit} ({low} to {high})"


def bold(effect: Effect) -> str:
    """An interval, bold if it is significant."""
    return f"**{interval(effect)}**" if effect.found else interval(effect)


def percent(share: Effect) -> Effect:
    """A share as a percentage."""
    return share._replace(estimate=100 * share.estimate, low=100 * share.low, high=100 * share.high)
