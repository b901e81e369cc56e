"""The arithmetic of a review: what a move lost, how sure that is, grades, a seat's accuracy.

`docs/lab/review.md` says where the numbers below come from.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..stats.effects import CONFIDENCE

SPREAD = 8.0  # VP, assumed standard deviation between two good moves
AT_PAR = 80.0  # accuracy of a seat that makes its par
HALVED = 48.0  # VP less that halve it
LEFT = HALVED * (100 - AT_PAR) / AT_PAR  # VP more that halve what is missing to 100; no kink at par
OWN = 0.5  # how much of what the agent expects of a seat beyond the others counts in its par
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

    differences = np.asarray(better, float) - np.asarray(played, float)
    mean, error = (
        float(differences.mean()),
        float(differences.std(ddof=1)) / math.sqrt(len(differences)),
    )
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(differences) - 1)) * error
    return Loss(mean, mean - half, mean + half, error)


def par(expected: np.ndarray) -> np.ndarray:
    """VP (P,) that seats should make.

    A good faction of the agent's is worth less to who plays otherwise: half way to the mean.

    Args:
        expected: (P,) VP at the end if the agent plays all seats from the beginning on.
    """
    mean = np.mean(expected)
    return np.asarray(mean + OWN * (expected - mean))


def accuracy(aim: float, actual: float) -> float:
    """0 to 100, of a seat.

    Nothing is random after the set-up. So a seat's distance from its par is what its moves lost,
    together with what the other players did to it.

    Args:
        aim: its par.
        actual: VP at the end.
    """
    if actual < aim:
        return float(AT_PAR * 2 ** ((actual - aim) / HALVED))
    return float(100 - (100 - AT_PAR) * 2 ** ((aim - actual) / LEFT))
