"""The text of an optimized HLO module: computations, instructions, what each of them costs.

One reader for CPU, GPU and TPU. A TPU's instructions bear XLA's own estimate of their cycles; a
GPU's may stand in command buffers, which start without the host.
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
_ARRAY = re.compile(r"\b(pred|bf16|[suf]\d+|c64)\[([\d,]*)\]")
# Kinds that are no work of their own: they name, pass on, or hold what is counted by itself.
FREE = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "iota")
FREE += ("while", "conditional", "call", "async-update", "async-done", "copy-done", "partition-id")
# Kinds that move numbers without working on them.
COPIES = ("copy", "copy-start", "transpose")
_READ_SLICES = ("gather", "dynamic-slice", "slice")
_WRITE_SLICES = ("dynamic-update-slice", "scatter")


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
        """Where the program says that it comes from, `jit(step)/gain/...`; "" if nowhere."""
        found = re.search(r'op_name="([^"]*)"', self.rest)
        return found[1] if found else ""

    @property
    def cycles(self) -> int:
        """XLA's estimate of a TPU's cycles; 0 where it gives none."""
        found = re.search(r'"estimated_cycles":"(\d+)"', self.rest)
        return int(found[1]) if found else 0

    @property
    def operands(self) -> list[str]:
        """Names of the operands."""
        return re.findall(r"%([\w.\-]+)", self.rest.split(")", 1)[0])

    @property
    def known_trips(self) -> int | None:
        """Of a `while`, where XLA knows it."""
        found = re.search(r'known_trip_count":\{"n":"(\d+)"', self.rest)
        return int(found[1]) if found else None

    def calls(self, *attributes: str) -> list[str]:
        """The computations that the attributes name: body, calls, to_apply, ..."""
        found = re.findall(rf"(?:{'|'.join(attributes)})=%?([\w.\-]+)", self.rest)
        return found

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

    def traffic(self, line: Instruction) -> int:
        """Bytes that an instruction reads and writes: of what it takes slices, the slices alone."""
        called = self.computations.get((line.calls("calls") or [""])[0], [line])
        sizes = {x.name: size(x.shape) for x in called}
        total = 0
        for inside in called:
            operands = inside.operands
            if inside.kind in _READ_SLICES:
                total += sizes[inside.name]
            elif inside.kind in _WRITE_SLICES:
                update = operands[-1 if inside.kind == "scatter" else 1]
                total += 2 * sizes.get(update, 0)
        sliced = {
            x.operands[0] for x in called if x.kind in _READ_SLICES + _WRITE_SLICES and x.operands
        }
        if called[0] is line:
            return total if line.kind in _READ_SLICES + _WRITE_SLICES else line.moved
        whole = [x for x in called if x.kind == "parameter" and x.name not in sliced]
        writes = any(x.kind in _WRITE_SLICES for x in called)
        return total + sum(sizes[x.name] for x in whole) + (0 if writes else size(line.shape))

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
        found = _LINE.match(line) if name else None
        if not found:
            continue
        own, shape, kind, rest = found.groups()
        sizes[own] = size(shape)
        operands = re.findall(r"%([\w.\-]+)", rest.split(")", 1)[0])
        moved = sizes[own] + sum(sizes.get(operand, 0) for operand in operands)
        computations[name].append(Instruction(own, shape, kind, rest, moved))
    return Module(computations, entry)


def size(shape: str) -> int:
    """Bytes of a shape or of a tuple of shapes, as XLA writes it; layouts are left out."""
    return sum(
        _BYTES.get(kind, 4) * math.prod(int(d) for d in dims.split(",") if d)
        for kind, dims in _ARRAY.findall(shape)
    )
