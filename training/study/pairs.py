"""What an opponent does to all who sit with it, and what is left to single pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from ..stats.effects import (
    CONFIDENCE,
    RANK_TOLERANCE,
    Effect,
    errors,
    estimable,
    intervals,
    inverse_gram,
    together,
)


def split(found: Sequence[Effect]) -> dict[str, list[Effect]]:
    """Pairs `A with B` as `against`, what B does to all, and `pairs`, what A has beyond that.

    Least squares with one value an own faction and one an opponent, weighted by the intervals, as
    if pairs were independent.

    Args:
        found: of `strength.opponents`, of all factions.
    Returns:
        Nothing where pairs are too few for this.
    """
    sure = estimable(found)
    names = [e.name.split(" with ") for e in sure]
    own, other = ({x: k for k, x in enumerate(sorted({n[i] for n in names}))} for i in (0, 1))
    at = np.array([(own[a], len(own) + other[b]) for a, b in names], int)
    if len(sure) <= len(own) + len(other):
        return {}
    x = np.zeros((len(sure), len(own) + len(other)))
    x[np.arange(len(sure))[:, None], at] = 1
    y, noise = np.array([e.estimate for e in sure]), errors(sure) ** 2
    inverse, _ = inverse_gram(x / np.sqrt(noise)[:, None])
    told = inverse @ (x.T @ (y / noise))
    mean = np.zeros((len(other), x.shape[1]))
    mean[:, len(own) :] = np.eye(len(other)) - 1 / len(other)
    spread = np.sqrt(np.einsum("ik,kl,il->i", mean, inverse, mean))
    deals = [sum(e.size for e, k in zip(sure, at[:, 1], strict=True) if k == len(own) + j)
             for j in range(len(other))]  # fmt: skip
    left = y - x @ told
    free = 1 - np.einsum("ik,kl,il->i", x, inverse, x) / noise  # 0: the fit determines the pair
    rest = np.sqrt(np.where(free > RANK_TOLERANCE, free * noise, np.nan))
    sizes = [e.size for e in sure]
    return {
        "against": intervals(list(other), mean @ told, spread, deals, deals),
        "pairs": together(intervals([e.name for e in sure], left, rest, sizes, sizes)),
    }


def spread(found: Sequence[Effect]) -> tuple[float, float]:
    """The standard deviation of effects without their noise, and its standard error.

    The error is nan where nothing but noise is there.
    """
    noise = errors(found) ** 2
    variance = float(np.mean([e.estimate**2 for e in found]) - np.mean(noise))
    if variance <= 0:
        return 0.0, math.nan
    error = math.sqrt(2 * float(np.mean((noise + variance) ** 2)) / len(found))
    return math.sqrt(variance), error / (2 * math.sqrt(variance))


def shrunken(effect: Effect, spread: float) -> Effect:
    """What is to be expected of one of many effects that spread so, about 0 (empirical Bayes)."""
    noise = float(errors([effect])[0]) ** 2
    keeps = spread**2 / (spread**2 + noise)
    half = float(stats.norm.ppf((1 + CONFIDENCE) / 2)) * math.sqrt(keeps * noise)
    middle = keeps * effect.estimate
    return effect._replace(estimate=middle, low=middle - half, high=middle + half)
