"""How alike two sources rank the same things."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .effects import CONFIDENCE, Effect, estimable, reliability

MIN_PAIRS = 8
MIN_RELIABILITY = 0.2  # below it, too little is left to correct for noise


def rank_correlation(name: str, first: Sequence[float], second: Sequence[float]) -> Effect:
    """Spearman's rank correlation of N pairs with its 95 % interval (Bonett and Wright 2000).

    The N pairs are the sample. There is no interval below MIN_PAIRS or where all values are equal.
    """
    from scipy import stats

    count = len(first)
    if count < MIN_PAIRS or len(set(first)) < 2 or len(set(second)) < 2:
        return Effect(name, math.nan, math.nan, math.nan, count, False)
    rank = float(stats.spearmanr(first, second).statistic)
    half = stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt((1 + rank**2 / 2) / (count - 3))
    middle = math.atanh(min(max(rank, -0.9999), 0.9999))
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return Effect(name, rank, low, high, count, low > 0 or high < 0)


def agreement(name: str, first: Sequence[Effect], second: Sequence[Effect]) -> tuple[Effect, float]:
    """How alike two lists of effects rank, by the names of the effects.

    Returns:
        The rank correlation, and its value without the noise of both lists (Spearman 1904), at
        most 1; nan where either is mostly noise.
    """
    by_name = {e.name: e for e in estimable(second)}
    pairs = [(e, by_name[e.name]) for e in estimable(first) if e.name in by_name]
    columns = [a for a, _ in pairs], [b for _, b in pairs]
    rank = rank_correlation(name, *([e.estimate for e in column] for column in columns))
    parts = [reliability(column) for column in columns]
    if len(pairs) < MIN_PAIRS or min(parts) < MIN_RELIABILITY:
        return rank, math.nan
    return rank, min(max(rank.estimate / math.sqrt(parts[0] * parts[1]), -1), 1)
