"""How MkDocs reads our docstrings: sections may follow each other without a blank line."""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"\n(?=(?:Args|Attributes|Returns|Yields|Raises):\n)")


class Sections(griffe.Extension):
    """A blank line before each section."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every module, class, function and attribute."""
        if obj.docstring:
            obj.docstring.value = _SECTION.sub("\n\n", obj.docstring.value)
