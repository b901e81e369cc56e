"""A table of a report, as text and as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from gaia_jax.language import with_minus


class ReportTable(NamedTuple):
    """A table of a report."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    words: Sequence[int] = (0,)  # columns of words: aligned left, and their lines may break

    def text(self) -> list[str]:
        """Aligned lines."""
        lines = [[str(cell) for cell in row] for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return [
            "  ".join(
                cell.ljust(width) if i in self.words else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]

    def html(self) -> str:
        """An HTML table; an interval in a cell stays on one line."""

        def row(tag: str, cells: Sequence[object]) -> str:
            parts = []
            for i, cell in enumerate(cells):
                body = escape(str(cell))
                if i not in self.words:
                    body = re.sub(r"\(.*\)[ %]*", r"<span>\g<0></span>", with_minus(body))
                parts.append(f"<{tag}{' class=words' * (i in self.words)}>{body}</{tag}>")
            return f"<tr>{''.join(parts)}</tr>"

        return f"<table>{row('th', self.head)}{''.join(row('td', x) for x in self.rows)}</table>"
