"""What stands where in a picture: its labels with their boxes, its pieces by id."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gaia_jax.render.shapes import text_width

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Box:
    """A rectangle, and what it is of."""

    left: float
    top: float
    right: float
    bottom: float
    what: str
    block: str

    def overlaps(self, other: Box) -> bool:
        """Whether they share more than a hair."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide > 0.2 and high > 0.2

    def inside(self, other: Box) -> bool:
        """Whether it lies within the other, a hair allowed."""
        return (
            self.left >= other.left - 0.2
            and self.top >= other.top - 0.2
            and self.right <= other.right + 0.2
            and self.bottom <= other.bottom + 0.2
        )


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

    def _walk(self, node: ET.Element, x: float, y: float, block: str) -> None:
        if "id" in node.attrib:
            self.ids[node.attrib["id"]] += 1
        if node.attrib.get("class") == "block":
            block = node.attrib["id"]
        if node.tag == f"{SVG}g" and "transform" in node.attrib:
            match = re.fullmatch(r"translate\(([-.\d]+),([-.\d]+)\)", node.attrib["transform"])
            assert match, f"groups are only moved, not {node.attrib['transform']}"
            x, y = x + float(match[1]), y + float(match[2])
        at = {k: float(v) for k, v in node.attrib.items() if k in _NUMBERS}
        if node.tag == f"{SVG}text":
            size, text = at["font-size"], node.text or ""
            width = at.get("textLength", text_width(text, size))
            left, base = x + at["x"], y + at["y"]
            # Capitals and figures reach 0.72 above the base line; small letters a little below.
            deep = 0.2 * size if re.search("[gjpqy,;()]", text) else 0.0
            self.labels.append(
                Box(left, base - 0.72 * size, left + width, base + deep, text, block)
            )
        elif node.tag == f"{SVG}rect":
            left, top = x + at["x"], y + at["y"]
            self.shapes.append(
                Box(left, top, left + at["width"], top + at["height"], "rect", block)
            )
        elif node.tag == f"{SVG}circle":
            cx, cy, r = x + at["cx"], y + at["cy"], at["r"]
            self.shapes.append(Box(cx - r, cy - r, cx + r, cy + r, "circle", block))
        elif node.tag == f"{SVG}use" and "width" in at:
            left, top = x + at["x"], y + at["y"]
            self.shapes.append(
                Box(left, top, left + at["width"], top + at["height"], "icon", block)
            )
        for child in node:
            self._walk(child, x, y, block)

    def overlaps(self) -> Iterator[tuple[Box, Box]]:
        """Pairs of labels that lie over one another."""
        labels = sorted(self.labels, key=lambda b: b.left)
        for i, a in enumerate(labels):
            for b in labels[i + 1 :]:
                if b.left >= a.right:
                    break
                if a.overlaps(b):
                    yield a, b

    def frame(self) -> Box:
        """The page."""
        _, _, width, height = map(float, self.root.attrib["viewBox"].split())
        return Box(0, 0, width, height, "page", "")

    def blocks(self) -> dict[str, Box]:
        """The first rectangle of the blocks that are framed: map and players' boards."""
        out: dict[str, Box] = {}
        for shape in self.shapes:
            framed = shape.block == "block-map" or shape.block.startswith("block-seat-")
            if framed and shape.what == "rect":
                out.setdefault(shape.block, shape)
        return out


_NUMBERS = ("x", "y", "width", "height", "cx", "cy", "r", "font-size", "textLength")
