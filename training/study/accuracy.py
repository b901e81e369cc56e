"""The arithmetic of a review: what a move lost, how sure that is, grades, a seat's accuracy.

`docs/lab/review.md` says where the numbers below come from.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .effects import CONFIDENCE

SPREAD = 8.0  # VP, how far apart two good moves are taken to be: a standard deviation
AS_EXPECTED = 80.0  # accuracy of a seat that ends with the VP that the agent expects for it
HALVED = 36.0  # VP less that halve it
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


def accuracy(expected: float, made: float) -> float:
    """0 to 100, of a seat.

    Nothing is random behind the set-up. So what a seat is behind the VP that the agent expects for
    it at the beginning is what its moves lost, together with what the other players did to it.

    Args:
        expected: VP at the end if the agent plays all seats from the beginning on.
        made: VP at the end.
    """
    return float(min(100.0, AS_EXPECTED * 2 ** ((made - expected) / HALVED)))
