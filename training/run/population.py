"""Population-based training (Jaderberg et al. 2017): a search whose trials continue each other.

The trials of a proposal are the members of a generation. Each begins with the parameters that its
member of the generation before has learnt. The worst quarter begins with the parameters and the
values of the best quarter instead, and perturbs the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .folder import RUNS
from .sweep_file import Range, Space

FACTORS = (0.8, 1.25)
QUARTER = 4


class Population:
    """Proposes values and parameters to begin with; all draws depend on the seed and the scores."""

    def __init__(self, space: Space, seed: int):
        self._space, self._rng = space, np.random.default_rng(seed)
        self._values: list[dict[str, Any]] = []  # of the members, in the last generation
        self._results: Sequence[dict[str, Any]] = []  # `run` and `vp_difference` of each

    def propose(self, count: int) -> list[dict[str, Any]]:
        """The values by key of each member of the next generation."""
        space = self._space.items()
        if not self._values:
            self._values = [{key: self._draw(x) for key, x in space} for _ in range(count)]
            return self._values
        ranking = sorted(range(count), key=lambda n: -float(self._results[n]["vp_difference"]))
        replaced = max(1, count // QUARTER)
        parents = dict(zip(ranking[::-1][:replaced], ranking[:replaced], strict=True))
        proposed = []
        for member in range(count):
            parent = parents.get(member, member)
            values = {key: self._values[parent][key] for key in self._space}
            if member in parents:
                values = {key: self._perturb(values[key], x) for key, x in space}
            run = RUNS / self._results[parent]["run"]
            start = {"run.warm_start": str(run), "run.warm_start_temperature": 1.0}
            proposed.append(values | start)
        self._values = proposed
        return proposed

    def tell(self, results: Sequence[dict[str, Any]]) -> None:
        """Take the results of the members that were proposed last."""
        self._results = results

    def _draw(self, values: list[Any] | Range) -> Any:
        """A value of a list or a range."""
        if isinstance(values, list):
            return values[self._rng.integers(len(values))]
        if values.log:
            low, high = math.log(values.low), math.log(values.high)
            return _within(math.exp(self._rng.uniform(low, high)), values)
        return _within(self._rng.uniform(values.low, values.high), values)

    def _perturb(self, value: Any, values: list[Any] | Range) -> Any:
        """A value of a range times one of FACTORS, a whole one by at least 1; or another draw."""
        factor = FACTORS[self._rng.integers(len(FACTORS))]
        if isinstance(values, list):
            return self._draw(values)
        change = value * factor - value
        least = math.copysign(1, change) if values.is_whole else 0.0
        return _within(value + max(change, least, key=abs), values)


def _within(value: float, values: Range) -> Any:
    """The nearest value of a range; four digits, which every machine computes alike."""
    inside = min(max(value, values.low), values.high)
    return round(inside) if values.is_whole else float(f"{inside:.4g}")
