"""The arithmetic of a review: losses of moves with intervals, grades, the accuracy of a seat.

`docs/lab/review.md` derives the numbers below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..stats.effects import CONFIDENCE

MOVE_SPREAD = 8.0  # VP, assumed standard deviation of the difference of two good moves
ACCURACY_AT_PAR = 80.0  # accuracy of a seat that makes its par
HALVING_VP = 48.0  # VP below par that halve the accuracy
# VP above par that halve the distance to 100; with this value the curve is smooth at par.
HALVING_VP_ABOVE = HALVING_VP * (100 - ACCURACY_AT_PAR) / ACCURACY_AT_PAR
# Share of a seat's own expectation in its par; the rest is the mean of all seats.
EXPECTATION_SHARE = 0.5
GRADES = {"blunder": 10.0, "mistake": 5.0, "inaccuracy": 2.5}  # minimum VP lost


class Loss(NamedTuple):
    """VP or win probability of the alternative minus that of the played move; 95 % interval."""

    mean: float
    low: float
    high: float
    standard_error: float  # of the mean

    @property
    def shrunk_mean(self) -> float:
        """The mean, shrunk towards 0 the more, the larger its standard error; at least 0."""
        return max(0.0, self.mean * MOVE_SPREAD**2 / (MOVE_SPREAD**2 + self.standard_error**2))

    @property
    def grade(self) -> str | None:
        """The worst grade whose VP the shrunk mean reaches; None if the interval contains 0."""
        if self.low <= 0:
            return None
        return next((name for name, least in GRADES.items() if self.shrunk_mean >= least), None)


NO_LOSS = Loss(0.0, 0.0, 0.0, 0.0)  # of a move without an alternative


def estimate_loss(alternative: np.ndarray, played: np.ndarray) -> Loss:
    """Estimate a loss from n playouts of each move, paired by random numbers; n is at least 2.

    Args:
        alternative: (n,) results of the alternative. played: (n,) of the played move.
    """
    from scipy import stats  # takes a second; the browser table would start later

    differences = np.asarray(alternative, float) - np.asarray(played, float)
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    half_width = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(differences) - 1)) * error
    return Loss(mean, mean - half_width, mean + half_width, error)


def compute_pars(expected: np.ndarray) -> np.ndarray:
    """(P,) VP that each seat should make: halfway between its expectation and the mean of all.

    The mean takes part because a faction that suits the agent suits other players less.

    Args:
        expected: (P,) VP at the end if the agent plays all seats from the first judged position.
    """
    mean = np.mean(expected)
    return np.asarray(mean + EXPECTATION_SHARE * (expected - mean))


def compute_accuracy(par: float, final_vp: float) -> float:
    """The accuracy of a seat, 0 to 100.

    Only the set-up is random, so the distance from the par comes from the moves of all seats.

    Args:
        par: of the seat.
        final_vp: of the seat.
    """
    if final_vp < par:
        return float(ACCURACY_AT_PAR * 2 ** ((final_vp - par) / HALVING_VP))
    return float(100 - (100 - ACCURACY_AT_PAR) * 2 ** ((par - final_vp) / HALVING_VP_ABOVE))


class SeatReview(NamedTuple):
    """A seat of a reviewed game."""

    num_judged: int  # number of its judged moves
    expected_vp: (
        float  # at the end if the agent had played all seats from the first judged position
    )
    accuracy: float  # 0 to 100
    vp_lost: float  # VP, the sum of its shrunk losses
    grades: dict[str, int]  # number of its moves by grade


def seat_reviews(
    losses: Sequence[Sequence[Loss]], final_vp: np.ndarray, expected: np.ndarray
) -> list[SeatReview]:
    """Review the P seats of a game.

    Args:
        losses: of the judged moves, by seat.
        final_vp: (P,) VP at the end.
        expected: (P,) VP that the agent expects at the first judged position.
    """
    pars = compute_pars(expected)
    return [
        SeatReview(
            len(seat_losses), float(expected[seat]),
            compute_accuracy(float(pars[seat]), float(final_vp[seat])),
            sum(loss.shrunk_mean for loss in seat_losses),
            {name: sum(loss.grade == name for loss in seat_losses) for name in GRADES},
        )
        for seat, seat_losses in enumerate(losses)
    ]  # fmt: skip
