"""Rank correlations of two lists of values or effects."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..games.stats import CONFIDENCE
from .effects import Effect, estimable, reliability

MIN_PAIRS = 8
MIN_RELIABILITY = 0.2  # below it, the correction for noise is not applied


def rank_correlation(name: str, first: Sequence[float], second: Sequence[float]) -> Effect:
    """Spearman's rank correlation of N pairs with its 95 % interval (Bonett and Wright 2000).

    The N pairs are the sample. There is no interval below MIN_PAIRS or where all values are equal.
    """
    from scipy import stats

    count = len(first)
    if count < MIN_PAIRS or len(set(first)) < 2 or len(set(second)) < 2:
        return Effect(name, math.nan, math.nan, math.nan, count, False)
    correlation = float(stats.spearmanr(first, second).statistic)
    half_width = stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt(
        (1 + correlation**2 / 2) / (count - 3)
    )
    transformed = math.atanh(min(max(correlation, -0.9999), 0.9999))
    low, high = math.tanh(transformed - half_width), math.tanh(transformed + half_width)
    return Effect(name, correlation, low, high, count, low > 0 or high < 0)


def compare_rankings(
    name: str, first: Sequence[Effect], second: Sequence[Effect]
) -> tuple[Effect, float]:
    """Compare the order of effects in two lists, matched by name.

    Returns:
        The rank correlation, and its value corrected for the sampling errors of both lists
        (Spearman 1904), from -1 to 1; nan if a list is mostly noise.
    """
    by_name = {e.name: e for e in estimable(second)}
    pairs = [(e, by_name[e.name]) for e in estimable(first) if e.name in by_name]
    columns = [a for a, _ in pairs], [b for _, b in pairs]
    correlation = rank_correlation(name, *([e.estimate for e in column] for column in columns))
    reliabilities = [reliability(column) for column in columns]
    if len(pairs) < MIN_PAIRS or min(reliabilities) < MIN_RELIABILITY:
        return correlation, math.nan
    return correlation, min(
        max(correlation.estimate / math.sqrt(reliabilities[0] * reliabilities[1]), -1), 1
    )
