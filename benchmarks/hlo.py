"""The text of an optimized HLO module: computations, instructions, bytes.

One reader for CPU, GPU and TPU.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

_BYTES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2}
_BYTES |= {"s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8}
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) (?:\(.*\) -> .* )?\{$")
_LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (.+?) ([a-z][\w\-]*)\((.*)$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = ", re.MULTILINE)
_ARRAY = re.compile(r"\b(pred|bf16|[suf]\d+|c64)\[([\d,]*)\]")
# Kinds that are no work of their own: they name, pass on, or hold what is counted by itself.
FREE = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "iota")
FREE += ("while", "conditional", "call", "async-update", "async-done", "copy-done", "partition-id")


@dataclass(frozen=True)
class Instruction:
    """One line of a computation."""

    name: str
    shape: str  # of the result, as XLA writes it
    kind: str
    rest: str  # operands and attributes
    moved: int  # bytes of operands and results

    @cached_property
    def scope(self) -> str:
        """Its source in the program, `jit(step)/gain/...`; "" if unknown."""
        match = re.search(r'op_name="([^"]*)"', self.rest)
        return match[1] if match else ""

    def calls(self, *attributes: str) -> list[str]:
        """The computations that the attributes name: body, calls, to_apply, ..."""
        names = re.findall(rf"(?:{'|'.join(attributes)})=%?([\w.\-]+)", self.rest)
        return names

    @property
    def branches(self) -> list[str]:
        """The computations of a `conditional`."""
        group = re.search(r"branch_computations=\{([^}]*)\}", self.rest)
        if group:
            return [part.strip().lstrip("%") for part in group[1].split(",")]
        return self.calls("true_computation", "false_computation")


@dataclass(frozen=True)
class Module:
    """A module: its computations by name, the entry among them."""

    computations: dict[str, list[Instruction]]
    entry: str

    @property
    def instructions(self) -> list[Instruction]:
        """All of them, those inside fusions too."""
        return [x for lines in self.computations.values() for x in lines]

    @property
    def made_loops(self) -> list[str]:
        """The scopes of loops that the program does not have: XLA made them of one operation.

        Of a gather or a scatter it makes a trip for each row, where the device has nothing better.
        """
        scopes = [line.scope for line in self.instructions if line.kind == "while"]
        return [x for x in scopes if x.rsplit("/", 1)[-1] not in ("while", "")]


def read(text: str) -> Module:
    """The module of a text, as `compiled.as_text()` gives it."""
    computations: dict[str, list[Instruction]] = {}
    sizes: dict[str, int] = {}
    name, entry = "", ""
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            name = head[2]
            computations[name] = []
            entry = name if head[1] else entry
            continue
        match = _LINE.match(line) if name else None
        if not match:
            continue
        own, shape, kind, rest = match.groups()
        sizes[own] = size(shape)
        operands = re.findall(r"%([\w.\-]+)", rest.split(")", 1)[0])
        moved = sizes[own] + sum(sizes.get(operand, 0) for operand in operands)
        computations[name].append(Instruction(own, shape, kind, rest, moved))
    return Module(computations, entry)


def count_instructions(text: str) -> int:
    """Instructions of a module's text, those inside fusions and loop bodies included."""
    return len(_INSTRUCTION.findall(text))


def size(shape: str) -> int:
    """Bytes of a shape or of a tuple of shapes, as XLA writes it; layouts are left out."""
    return sum(
        _BYTES.get(kind, 4) * math.prod(int(d) for d in dims.split(",") if d)
        for kind, dims in _ARRAY.findall(shape)
    )
