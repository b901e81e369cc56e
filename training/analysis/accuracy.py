"""The arithmetic of a review: losses of moves with intervals, grades, the accuracy of a seat.

`docs/lab/review.md` derives the numbers below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..stats.effects import CONFIDENCE

SPREAD = 8.0  # VP, assumed standard deviation between two good moves
AT_PAR = 80.0  # accuracy of a seat that makes its par
HALVED = 48.0  # VP below par that halve the accuracy
# VP above par that halve the distance to 100, so that the curve is smooth at par.
ABOVE_HALVED = HALVED * (100 - AT_PAR) / AT_PAR
OWN_SHARE = 0.5  # share of the agent's expectation in the par; the rest is the mean of the seats
GRADES = {"blunder": 10.0, "mistake": 5.0, "inaccuracy": 2.5}  # least VP lost


class Loss(NamedTuple):
    """VP or win probability of the other move minus the played one, with a 95 % interval."""

    mean: float
    low: float
    high: float
    error: float  # standard error of the mean

    @property
    def shrunk(self) -> float:
        """The mean, shrunk towards 0 by its noise; at least 0."""
        return max(0.0, self.mean * SPREAD**2 / (SPREAD**2 + self.error**2))

    @property
    def grade(self) -> str | None:
        """The worst grade that it reaches; None if the interval contains 0."""
        if self.low <= 0:
            return None
        return next((name for name, least in GRADES.items() if self.shrunk >= least), None)


NONE = Loss(0.0, 0.0, 0.0, 0.0)  # of a move without an alternative


def paired(better: np.ndarray, played: np.ndarray) -> Loss:
    """The loss from playouts (n,) of two moves with the same random numbers; n at least 2."""
    from scipy import stats  # takes a second, for which the table does not wait

    differences = np.asarray(better, float) - np.asarray(played, float)
    mean, error = (
        float(differences.mean()),
        float(differences.std(ddof=1)) / math.sqrt(len(differences)),
    )
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(differences) - 1)) * error
    return Loss(mean, mean - half, mean + half, error)


def par(expected: np.ndarray) -> np.ndarray:
    """(P,) VP that the seats should make: halfway between the agent's expectation and its mean.

    A faction that suits the agent is worth less to other players.

    Args:
        expected: (P,) VP at the end if the agent plays all seats from the beginning.
    """
    mean = np.mean(expected)
    return np.asarray(mean + OWN_SHARE * (expected - mean))


def accuracy(aim: float, actual: float) -> float:
    """The accuracy of a seat, 0 to 100.

    All randomness is in the set-up. So a seat's distance from its par comes from its own moves and
    from those of the other players.

    Args:
        aim: its par.
        actual: VP at the end.
    """
    if actual < aim:
        return float(AT_PAR * 2 ** ((actual - aim) / HALVED))
    return float(100 - (100 - AT_PAR) * 2 ** ((aim - actual) / ABOVE_HALVED))


class SeatReview(NamedTuple):
    """A seat of a reviewed game."""

    num_judged: int  # its judged moves
    expected_vp: float  # at the end if the agent had played all seats from the beginning
    accuracy: float  # 0 to 100
    lost: float  # VP, the sum of its shrunk losses
    grades: dict[str, int]  # number of its moves by grade


def seat_reviews(
    losses: Sequence[Sequence[Loss]], final_vp: np.ndarray, expected: np.ndarray
) -> list[SeatReview]:
    """Review the P seats of a game.

    Args:
        losses: of the judged moves, by seat.
        final_vp: (P,) VP at the end.
        expected: (P,) VP that the agent expects at the beginning.
    """
    pars = par(expected)
    return [
        SeatReview(
            len(own), float(expected[seat]), accuracy(float(pars[seat]), float(final_vp[seat])),
            sum(loss.shrunk for loss in own),
            {name: sum(loss.grade == name for loss in own) for name in GRADES},
        )
        for seat, own in enumerate(losses)
    ]  # fmt: skip
