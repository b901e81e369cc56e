"""What a compiled program costs on a device that is not there: counts by part, and a time.

Nothing here is measured. A TPU's time is XLA's own estimate of cycles; a GPU's is the start of its
kernels, their bytes, and its host's part in loops and branches.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from benchmarks import hlo, trips
from benchmarks.hlo import Instruction, Module
from benchmarks.profile import OTHER, part_of
from benchmarks.targets import Target


@dataclass(frozen=True)
class Assumed:
    """What one of the three estimates takes for granted."""

    name: str
    trips: str  # which of the counted trips: "mean" or "most" of a decision
    cycles: float  # a TPU takes so many times the cycles that XLA says
    start: float  # seconds from a GPU's kernel to the next
    host: float  # seconds that a GPU waits where its host decides a loop or a branch
    graph: float  # `start` inside a command buffer
    node: float  # `host` there, where the GPU decides by itself
    bandwidth: float  # the share of the data sheet's that a kernel gets


ASSUMED = (
    Assumed("low", "mean", 1.0, 2e-6, 10e-6, 1.5e-6, 3e-6, 0.9),
    Assumed("middle", "mean", 1.5, 3e-6, 15e-6, 2e-6, 6e-6, 0.6),
    Assumed("high", "most", 2.0, 5e-6, 20e-6, 3e-6, 12e-6, 0.3),
)
COUNTS = ("kernels", "runs", "cycles", "bytes", "loops", "conditionals", "copies", "host")
COUNTS += ("reduces", "reduced_bytes", "buffered", "nodes")
REDUCES = ("all-reduce", "all-reduce-start")


class Book:
    """The costs of a module by part, one estimate's trips taken."""

    def __init__(
        self,
        module: Module,
        assumed: Assumed,
        target: Target,
        counted: dict[str, Any],
        buffered: Collection[str] = (),
    ):
        """Args: buffered: the instructions that a GPU starts without its host."""
        self.module, self.assumed, self.target = module, assumed, target
        self.buffered = buffered
        self.counted, self.unknown = counted, set[str]()
        self.parts: dict[str, dict[str, float]] = collections.defaultdict(
            lambda: collections.defaultdict(float)
        )
        self.loops: list[dict[str, Any]] = []
        self._weights: dict[str, float] = {}
        self._walk(module.entry, 1.0, 1.0, OTHER)

    def _walk(self, name: str, times: float, base: float, part: str) -> None:
        """Book a computation that runs `times`; `base` is that without the counted loops."""
        for line in self.module.computations.get(name, []):
            here = part_of(line.scope) if line.scope else part
            row = self.parts[here]
            if line.kind == "while":
                self._loop(line, times, base, here)
            elif line.kind == "conditional":
                row["conditionals"] += 1
                self._host(row, times, line)
                branch = max(line.branches, key=self._weight)
                self._walk(branch, times, base, here)
            elif line.kind == "call":
                for called in line.calls("to_apply"):
                    self._walk(called, times, base, here)
            elif line.kind not in hlo.FREE:
                moved = self.module.traffic(line)
                row["kernels"] += 1
                row["runs"] += times
                row["buffered"] += times if line.name in self.buffered else 0
                row["cycles"] += times * line.cycles
                row["bytes"] += times * moved
                row["copies"] += line.kind in hlo.COPIES
                if line.kind in REDUCES:
                    row["reduces"] += times
                    row["reduced_bytes"] += times * hlo.size(line.shape)
                row["seconds"] += times * self._seconds(line, moved)

    def _loop(self, line: Instruction, times: float, base: float, part: str) -> None:
        key = trips.key_of(line.scope)
        known = line.known_trips or (None if key in self.counted else self._limit(line))
        if known is not None:
            inside, beyond = times * known, base * known
        elif key in self.counted:
            inside, beyond = base * self.counted[key][self.assumed.trips], base
        else:
            self.unknown.add(key or line.scope)
            inside, beyond = times, base
        row = self.parts[part]
        row["loops"] += 1
        # Where XLA knows the trips nobody is asked.
        self._host(row, 0 if line.known_trips is not None else inside + times, line)
        for body in line.calls("body"):
            cycles = sum(x.cycles for x in self.module.computations.get(body, []))
            self.loops.append({"loop": key or line.scope[-60:], "runs": inside, "cycles": cycles})
            self._walk(body, inside, beyond, part)

    def _host(self, row: dict[str, float], times: float, line: Instruction) -> None:
        """So many times a predicate travels to the host of a GPU; a TPU decides by itself."""
        if self.target.platform == "gpu":
            alone = line.name in self.buffered
            row["nodes" if alone else "host"] += times
            row["seconds"] += times * (self.assumed.node if alone else self.assumed.host)

    def _seconds(self, line: Instruction, moved: int) -> float:
        target, assumed = self.target, self.assumed
        if target.platform == "tpu":
            return line.cycles * assumed.cycles / target.clock
        start = assumed.graph if line.name in self.buffered else assumed.start
        return max(start, moved / (target.bandwidth * assumed.bandwidth))

    def _limit(self, line: Instruction) -> int | None:
        """The only number that the condition of a loop compares with."""
        found = set()
        for condition in line.calls("condition"):
            for inside in self.module.computations.get(condition, []):
                if inside.kind == "constant" and inside.shape.startswith("s32[]"):
                    found |= set(re.findall(r"^(\d+)\)", inside.rest))
        return int(found.pop()) if len(found) == 1 else None

    def _weight(self, name: str) -> float:
        """How dear a computation is: of a branch the dearer side is booked."""
        if name not in self._weights:
            lines = self.module.computations.get(name, [])
            inner = sum(
                self._weight(x)
                for line in lines
                for x in (*line.branches, *line.calls("body", "to_apply"))
            )
            own = sum(line.cycles + 1 for line in lines if line.kind not in hlo.FREE)
            self._weights[name] = own + inner
        return self._weights[name]

    @property
    def seconds(self) -> float:
        """Of the whole program."""
        return sum(row["seconds"] for row in self.parts.values())


def estimate(
    text: str, target: Target, batch: int, decisions: int, buffered: Collection[str] = ()
) -> dict[str, Any]:
    """Counts by part and three times.

    Args:
        text: of the optimized module, of one device.
        batch: games of that device; decisions: of each game in one run of the program.
        buffered: names of instructions in command buffers.
    """
    module, counted = hlo.read(text), trips.recorded(target.platform)
    books = {x.name: Book(module, x, target, counted, buffered) for x in ASSUMED}
    middle = books["middle"]
    return {
        "seconds": {name: book.seconds for name, book in books.items()},
        "decisions_per_second": {
            name: batch * decisions / book.seconds if book.seconds else 0.0
            for name, book in books.items()
        },
        "totals": {
            name: sum(row[name] for row in middle.parts.values()) for name in (*COUNTS, "seconds")
        },
        "parts": {part: dict(row) for part, row in middle.parts.items() if row},
        "loops": middle.loops,
        "unknown_trips": sorted(middle.unknown),
        "made_loops": module.made_loops,
        "host_callbacks": sum(
            x.kind == "custom-call" and "callback" in x.rest for x in module.instructions
        ),
        "wide": sorted({x.scope for x in module.instructions if is_wide(x)}),
    }


def efficiency(report: dict[str, Any], target: Target, devices: int) -> float:
    """The share of an update that is no waiting for other devices, each with as many games.

    A ring of `devices` sends the gradients twice, at the speed of the slowest link between them;
    every all-reduce takes the time of its messages beside that.

    Args:
        report: of an update, with its all-reduces.
    """
    totals, one = report["totals"], report["seconds"]["middle"]
    sent = 2 * (devices - 1) / devices * totals["reduced_bytes"]
    waiting = sent / target.link(devices) + totals["reduces"] * target.message * devices**0.5
    return float(one / (one + waiting))


def is_wide(line: Instruction) -> bool:
    """Whether the result holds 64-bit numbers that are not a constant of the compiler's own."""
    return bool(re.search(r"\b[suf]64\[", line.shape)) and bool(line.scope)
