"""The positions of labels, shapes and pieces in a picture."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from gaia_jax.render.shapes import text_width

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = ("x", "y", "width", "height", "cx", "cy", "r", "font-size", "textLength")
HAIR = 0.2  # less than that counts as nothing


class Box(NamedTuple):
    """A rectangle, its text or kind, and its block."""

    left: float
    top: float
    right: float
    bottom: float
    content: str
    block: str

    def overlaps(self, other: Box) -> bool:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return min(wide, high) > HAIR

    def inside(self, other: Box) -> bool:
        left_top = min(self.left - other.left, self.top - other.top)
        return min(left_top, other.right - self.right, other.bottom - self.bottom) >= -HAIR


class Layout:
    """A parsed picture."""

    def __init__(self, svg: str):
        self.root = ET.fromstring(svg)
        self.ids: Counter[str] = Counter()
        self.labels: list[Box] = []
        self.shapes: list[Box] = []
        for child in self.root:
            if child.tag != f"{SVG}defs":
                self._walk(child, 0.0, 0.0, "")
        _, _, width, height = map(float, self.root.attrib["viewBox"].split())
        self.page = Box(0, 0, width, height, "page", "")

    def _walk(self, node: ET.Element, x: float, y: float, block: str) -> None:
        if "id" in node.attrib:
            self.ids[node.attrib["id"]] += 1
        if node.attrib.get("class") == "block":
            block = node.attrib["id"]
        tag = node.tag.removeprefix(SVG)
        if tag == "g" and "transform" in node.attrib:
            match = re.fullmatch(r"translate\(([-.\d]+),([-.\d]+)\)", node.attrib["transform"])
            assert match, f"groups are only moved, not {node.attrib['transform']}"
            x, y = x + float(match[1]), y + float(match[2])
        at = {k: float(v) for k, v in node.attrib.items() if k in NUMBERS}
        left, top = x + at.get("x", 0), y + at.get("y", 0)
        if tag == "text":
            size, text = at["font-size"], node.text or ""
            top += size * float(node.attrib.get("dy", "0em").removesuffix("em"))
            if node.attrib.get("text-anchor") == "middle":
                left -= text_width(text, size) / 2
            right = left + at.get("textLength", text_width(text, size))
            # Capitals and figures reach 0.72 above the base line; small letters a little below.
            deep = 0.2 * size if re.search("[gjpqy,;()]", text) else 0.0
            self.labels.append(Box(left, top - 0.72 * size, right, top + deep, text, block))
        elif tag == "circle":
            cx, cy, r = x + at["cx"], y + at["cy"], at["r"]
            self.shapes.append(Box(cx - r, cy - r, cx + r, cy + r, tag, block))
        elif tag in ("rect", "use") and "width" in at:
            right, bottom = left + at["width"], top + at["height"]
            self.shapes.append(Box(left, top, right, bottom, tag, block))
        for child in node:
            self._walk(child, x, y, block)

    def overlaps(self) -> Iterator[tuple[Box, Box]]:
        """Pairs of labels that overlap."""
        labels = sorted(self.labels)
        for i, a in enumerate(labels):
            near = itertools.takewhile(lambda b, a=a: b.left < a.right, labels[i + 1 :])
            yield from ((a, b) for b in near if a.overlaps(b))

    def blocks(self) -> dict[str, Box]:
        """The first rectangle of the blocks with a frame: map and players' boards."""
        frames = [box for box in self.shapes if box.content == "rect"]
        framed = ("block-map", "block-seat-")
        return {box.block: box for box in reversed(frames) if box.block.startswith(framed)}
