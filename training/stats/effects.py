"""Estimates with intervals over set-ups: the games of one deal are one sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
# Singular values of a design with columns of length 1, as a part of the largest one: below it a
# direction counts as undetermined. Rounding leaves about 1e-15.
RANK_TOLERANCE = 1e-8
ESTIMABLE_TOLERANCE = 1e-6  # on a combination of columns less its estimable part
DECIMALS = 9  # of estimates and standard errors: what is smaller is rounding, not an effect


class Effect(NamedTuple):
    """An estimate, its 95 % interval, and whether it is significant in its family."""

    name: str
    estimate: float
    low: float
    high: float
    size: int  # number of observations
    significant: bool  # after Holm's correction over its family

    def __str__(self) -> str:
        mark = " *" if self.significant else ""
        interval = f"{self.estimate:+.2f} ({self.low:+.2f} to {self.high:+.2f})"
        return f"{self.name}: {interval}, n {self.size}{mark}"


def demean(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Subtract the mean of the group from values (N, ...).

    Args:
        groups: (N,) ints from 0 on.
    """
    values = np.asarray(values, float)
    counts = np.bincount(groups)
    flat = values.reshape(len(values), -1)
    sums = np.stack([np.bincount(groups, column) for column in flat.T], axis=-1)
    means = sums / np.maximum(counts, 1)[:, None]
    out: np.ndarray = (flat - means[groups]).reshape(values.shape)
    return out


def regression(
    y: np.ndarray,
    x: np.ndarray,
    clusters: np.ndarray,
    names: Sequence[str],
    counts: Sequence[int] | None = None,
    weights: np.ndarray | None = None,
) -> list[Effect]:
    """Least squares of y (N,) on the columns of x (N, K), with errors by cluster (CR1).

    Columns that the others make up get no estimate (nan). No constant is added.

    Args:
        clusters: (N,) ints; the rows of a cluster are one sample.
        names: K' <= K, of the first columns: those that are reported; the rest are controls.
        counts: `Effect.size` of each; None is the number of values that are not 0.
        weights: (K', K) rows that make the reported estimates; None is the columns themselves.
    """
    y, x = np.asarray(y, float), np.asarray(x, float)
    index = np.unique(clusters, return_inverse=True)[1]
    groups = int(index.max()) + 1
    bread, determined = inverse_gram(x)
    beta = bread @ (x.T @ y)
    scores = x * (y - x @ beta)[:, None]
    sums = np.stack([np.bincount(index, column, groups) for column in scores.T], axis=-1)
    count, rank = len(y), round(np.trace(determined))
    # One cluster, or as many columns as observations, leaves no residual to learn an error from.
    scale = np.nan if groups < 2 or count <= rank else groups / (groups - 1)
    scale *= (count - 1) / max(count - rank, 1)
    covariance = scale * bread @ (sums.T @ sums) @ bread
    rows = np.eye(len(names), x.shape[1]) if weights is None else weights
    is_estimable = np.abs(rows @ determined - rows).max(1) < ESTIMABLE_TOLERANCE
    estimates = rows @ beta
    errors = np.sqrt(np.maximum(np.einsum("ik,kl,il->i", rows, covariance, rows), 0))
    seen = (x[:, : len(names)] != 0).sum(0) if counts is None else counts
    return intervals(names, np.where(is_estimable, estimates, np.nan), errors, groups, seen)


def inverse_gram(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pseudo-inverse of x'x (K, K) of a design x (N, K), and its estimable combinations.

    The rank is decided by the singular values of the design itself (RANK_TOLERANCE), so it is the
    same on every processor: those of x'x are their squares, and rounding reaches them.

    Returns:
        The pseudo-inverse, and the projector (K, K) onto the estimable combinations of columns.
    """
    length = np.linalg.norm(x, axis=0)
    length[length == 0] = 1.0
    _, singular, directions = np.linalg.svd(np.linalg.qr(x / length, mode="r"), full_matrices=False)
    in_rank = singular > RANK_TOLERANCE * max(singular.max(initial=0.0), np.finfo(float).tiny)
    span, weighted = directions[in_rank], directions[in_rank] / length
    inverse: np.ndarray = (weighted.T / singular[in_rank] ** 2) @ weighted
    return inverse, (weighted.T @ span) * length


def intervals(
    names: Sequence[str],
    estimates: np.ndarray,
    errors: np.ndarray,
    samples: int | Sequence[int],
    counts: Sequence[int] | np.ndarray,
) -> list[Effect]:
    """Student's intervals of estimates with standard errors, with Holm's correction.

    Args:
        samples: number of independent samples of each.
    """
    from scipy import stats

    freedom = np.maximum(np.broadcast_to(samples, len(names)) - 1, 1)
    estimates, errors = np.round(estimates, DECIMALS), np.round(errors, DECIMALS)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.abs(estimates / errors)  # nan without an estimate, and for 0 without an error
    chance = np.where(np.isnan(score), 1.0, 2 * stats.t.sf(score, freedom))
    half = stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * errors
    is_significant = holm(chance)
    return [
        Effect(name, float(e), float(e - h), float(e + h), int(n), bool(f))
        for name, e, h, n, f in zip(names, estimates, half, counts, is_significant, strict=True)
    ]


def estimable(effects: Sequence[Effect]) -> list[Effect]:
    """Those that have an estimate and an interval."""
    return [e for e in effects if np.isfinite(e.low) and e.high > e.low]


def errors(effects: Sequence[Effect]) -> np.ndarray:
    """(K,) standard errors, read from the intervals as normal: for effects of many deals."""
    from scipy import stats

    half = np.array([(e.high - e.low) / 2 for e in effects])
    out: np.ndarray = half / stats.norm.ppf((1 + CONFIDENCE) / 2)
    return out


def reliability(effects: Sequence[Effect]) -> float:
    """The share of the variance of K estimates that is no noise of theirs, 0 to 1."""
    spread = float(np.var([e.estimate for e in effects])) if len(effects) > 1 else 0.0
    noise = float(np.mean(errors(effects) ** 2)) if len(effects) else 0.0
    return max(1 - noise / spread, 0.0) if spread else 0.0


def wilson(share: Effect, maximum: float = 1.0) -> Effect:
    """A share of `maximum` with Wilson's interval, which 0 of n has too.

    The dependence of games of one deal reduces n, as far as the interval shows it.
    """
    from scipy import stats

    z = stats.norm.ppf((1 + CONFIDENCE) / 2)
    p, n = share.estimate / maximum, float(share.size)
    error = float(errors([share])[0]) / maximum
    if np.isfinite(error) and error > 0:
        n = min(n, p * (1 - p) / error**2)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return share._replace(
        low=max(float(maximum * (middle - half)), 0.0),
        high=min(float(maximum * (middle + half)), maximum),
    )


def adjust_jointly(effects: Sequence[Effect]) -> list[Effect]:
    """Holm's correction over effects of several families; those without an interval are left out.

    The p-values are computed from the intervals as normal, for effects of many deals.
    """
    from scipy import stats

    effects = estimable(effects)
    score = np.abs([e.estimate for e in effects]) / errors(effects)
    is_significant = holm(2 * stats.norm.sf(score))
    return [e._replace(significant=bool(s)) for e, s in zip(effects, is_significant, strict=True)]


def holm(chances: np.ndarray) -> np.ndarray:
    """(K,) bool, which of K p-values are significant as a family at 5 % (Holm 1979)."""
    order = np.argsort(chances)
    rejected = np.zeros(len(chances), bool)
    for place, at in enumerate(order):
        if chances[at] > (1 - CONFIDENCE) / (len(chances) - place):
            break
        rejected[at] = True
    return rejected


def means(
    values: np.ndarray, kinds: np.ndarray, clusters: np.ndarray, names: Sequence[str]
) -> list[Effect]:
    """Means of values (N,) by kind (N,), with intervals over clusters; `significant` is against 0.

    Args:
        kinds: ints; rows below 0 are left out. names: of kind 0, 1, ...
    """
    index = np.unique(clusters, return_inverse=True)[1]
    groups = int(index.max(initial=-1)) + 1
    estimates, errors, samples, counts = [], [], [], []
    for kind in range(len(names)):
        is_kind = kinds == kind
        count = np.bincount(index[is_kind], minlength=groups)
        total = np.bincount(index[is_kind], values[is_kind], groups)
        n, num_groups = count.sum(), int((count > 0).sum())
        mean = total.sum() / n if n else np.nan
        spread = ((total - mean * count) ** 2).sum() if n else np.nan
        scale = num_groups / (num_groups - 1) if num_groups > 1 else np.nan
        estimates.append(mean)
        errors.append(np.sqrt(scale * spread) / max(n, 1))
        samples.append(num_groups)
        counts.append(n)
    return intervals(names, np.array(estimates), np.array(errors), samples, counts)


def dummies(kinds: np.ndarray, count: int) -> np.ndarray:
    """(N,) ints -> (N, count) one-hot; below 0 is all zeros."""
    out: np.ndarray = np.asarray(kinds)[:, None] == np.arange(count)
    return out.astype(float)
