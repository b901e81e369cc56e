"""The arithmetic of a review: what a move lost, how sure that is, grades, a seat's accuracy.

The numbers below are chosen, not fitted to games: `docs/lab/review.md` says from what.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .effects import CONFIDENCE

SPREAD = 8.0  # VP, how far apart two good moves are taken to be: a standard deviation
SCALE = 6.0  # VP of loss at which `accuracy` of a move is 37
GRADES = {"blunder": 10.0, "mistake": 5.0, "inaccuracy": 2.5}  # VP that are lost at least


class Loss(NamedTuple):
    """How much more the other move has, with its 95 % interval; below 0 the played one has more."""

    mean: float
    low: float
    high: float
    error: float  # standard error of the mean

    @property
    def shrunk(self) -> float:
        """What is left of the mean when its noise is taken into account; 0 at least."""
        return max(0.0, self.mean * SPREAD**2 / (SPREAD**2 + self.error**2))

    @property
    def grade(self) -> str | None:
        """The gravest grade that it reaches; none while the interval holds 0."""
        if self.low <= 0:
            return None
        return next((name for name, least in GRADES.items() if self.shrunk >= least), None)


NONE = Loss(0.0, 0.0, 0.0, 0.0)  # of a move that had no alternative


def paired(better: np.ndarray, played: np.ndarray) -> Loss:
    """The loss from playouts (n,) of two moves on the same luck; n at least 2."""
    from scipy import stats  # a second of imports, which the table does not wait for

    apart = np.asarray(better, float) - np.asarray(played, float)
    mean, error = float(apart.mean()), float(apart.std(ddof=1)) / math.sqrt(len(apart))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(apart) - 1)) * error
    return Loss(mean, mean - half, mean + half, error)


def accuracy(losses: Sequence[Loss]) -> float:
    """0 to 100 from all losses of a seat; nan where there are none."""
    if not losses:
        return math.nan
    return 100 * float(np.mean([math.exp(-x.shrunk / SCALE) for x in losses]))
