"""Estimates with intervals over set-ups: the games of one deal are one sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..games.stats import CONFIDENCE, student_quantile

# The columns of a design are scaled to length 1. A direction whose singular value is below this
# share of the largest one counts as undetermined. Rounding leaves about 1e-15.
RANK_TOLERANCE = 1e-8
# A combination of coefficients is reported if its part that is not estimable is smaller.
ESTIMABLE_TOLERANCE = 1e-6
DECIMALS = 9  # of estimates and standard errors; smaller values are rounding errors


class Effect(NamedTuple):
    """An estimate, its 95 % interval, and whether it is significant within its family.

    A family is the effects that are corrected together, such as those of one question.
    """

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
    """Subtract from each of values (N, ...) the mean of its group.

    Args:
        groups: (N,) ints from 0 on.
    """
    values = np.asarray(values, float)
    counts = np.bincount(groups)
    flat = values.reshape(len(values), -1)
    sums = np.stack([np.bincount(groups, column) for column in flat.T], axis=-1)
    group_means = sums / np.maximum(counts, 1)[:, None]
    deviations: np.ndarray = (flat - group_means[groups]).reshape(values.shape)
    return deviations


def regression(
    y: np.ndarray,
    x: np.ndarray,
    clusters: np.ndarray,
    names: Sequence[str],
    sizes: Sequence[int] | None = None,
    contrasts: np.ndarray | None = None,
) -> list[Effect]:
    """Least squares of y (N,) on the columns of x (N, K), with errors by cluster (CR1).

    A column that is a linear combination of others gets no estimate (nan). No constant is added.

    Args:
        clusters: (N,) ints; the rows of a cluster are one sample.
        names: of the first K' <= K columns, which are reported; the others are controls.
        sizes: `Effect.size` of each; None is the number of values that are not 0.
        contrasts: (K', K), effect i is the sum of the K coefficients, weighted by row i; None
            reports the first K' coefficients.
    """
    y, x = np.asarray(y, float), np.asarray(x, float)
    cluster_index = np.unique(clusters, return_inverse=True)[1]
    num_clusters = int(cluster_index.max()) + 1
    bread, projector = inverse_gram(x)
    beta = bread @ (x.T @ y)
    scores = x * (y - x @ beta)[:, None]
    sums = np.stack(
        [np.bincount(cluster_index, column, num_clusters) for column in scores.T], axis=-1
    )
    count, rank = len(y), round(np.trace(projector))
    # One cluster, or as many columns as observations, leaves no residual to estimate an error.
    scale = np.nan if num_clusters < 2 or count <= rank else num_clusters / (num_clusters - 1)
    scale *= (count - 1) / max(count - rank, 1)
    covariance = scale * bread @ (sums.T @ sums) @ bread
    if contrasts is None:
        contrasts = np.eye(len(names), x.shape[1])
    if sizes is None:
        sizes = (x[:, : len(names)] != 0).sum(0).tolist()
    is_estimable = np.abs(contrasts @ projector - contrasts).max(1) < ESTIMABLE_TOLERANCE
    estimates = np.where(is_estimable, contrasts @ beta, np.nan)
    variances = np.einsum("ik,kl,il->i", contrasts, covariance, contrasts)
    return intervals(names, estimates, np.sqrt(np.maximum(variances, 0)), num_clusters, sizes)


def inverse_gram(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pseudo-inverse of x'x (K, K) of a design x (N, K), and its estimable combinations.

    The rank is determined from the singular values of the design (RANK_TOLERANCE). Those of x'x are
    their squares, so small that rounding would change the rank between processors.

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
    sizes: Sequence[int] | np.ndarray,
) -> list[Effect]:
    """Student's intervals of estimates with standard errors, with Holm's correction.

    Args:
        samples: number of independent samples of each estimate.
        sizes: `Effect.size` of each.
    """
    from scipy import stats

    degrees_of_freedom = np.maximum(np.broadcast_to(samples, len(names)) - 1, 1)
    estimates, errors = np.round(estimates, DECIMALS), np.round(errors, DECIMALS)
    with np.errstate(divide="ignore", invalid="ignore"):
        # nan without an estimate, and for 0 without an error
        t_statistics = np.abs(estimates / errors)
    p_values = np.where(
        np.isnan(t_statistics), 1.0, 2 * stats.t.sf(t_statistics, degrees_of_freedom)
    )
    half_widths = student_quantile(degrees_of_freedom) * errors
    is_significant = holm(p_values)
    return [
        Effect(name, float(e), float(e - h), float(e + h), int(n), bool(f))
        for name, e, h, n, f in zip(
            names, estimates, half_widths, sizes, is_significant, strict=True
        )
    ]


def estimable(effects: Sequence[Effect]) -> list[Effect]:
    """The effects that have an estimate and an interval."""
    return [e for e in effects if np.isfinite(e.low) and e.high > e.low]


def standard_errors(effects: Sequence[Effect]) -> np.ndarray:
    """(K,) standard errors, from the widths of the intervals.

    The intervals are taken as normal, which is accurate for effects of many deals.
    """
    from scipy import stats

    half_widths = np.array([(e.high - e.low) / 2 for e in effects])
    errors: np.ndarray = half_widths / stats.norm.ppf((1 + CONFIDENCE) / 2)
    return errors


def reliability(effects: Sequence[Effect]) -> float:
    """The share of the variance of K estimates that is not sampling error, 0 to 1."""
    spread = float(np.var([e.estimate for e in effects])) if len(effects) > 1 else 0.0
    noise = float(np.mean(standard_errors(effects) ** 2)) if len(effects) else 0.0
    return max(1 - noise / spread, 0.0) if spread else 0.0


def wilson_interval(share: Effect, maximum: float = 1.0) -> Effect:
    """Replace the interval of a share of `maximum` by Wilson's, which is defined for 0 of n too.

    Games of one deal depend on each other. If the given interval is wider than that of n
    independent observations, n is reduced to the number that gives its width.
    """
    from scipy import stats

    z = stats.norm.ppf((1 + CONFIDENCE) / 2)
    p, n = share.estimate / maximum, float(share.size)
    error = float(standard_errors([share])[0]) / maximum
    if np.isfinite(error) and error > 0:
        n = min(n, p * (1 - p) / error**2)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half_width = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return share._replace(
        low=max(float(maximum * (middle - half_width)), 0.0),
        high=min(float(maximum * (middle + half_width)), maximum),
    )


def adjust_jointly(effects: Sequence[Effect]) -> list[Effect]:
    """Holm's correction over effects of several families; those without an interval are left out.

    The p-values are computed from `standard_errors`, so they suit effects of many deals.
    """
    from scipy import stats

    effects = estimable(effects)
    z_scores = np.abs([e.estimate for e in effects]) / standard_errors(effects)
    is_significant = holm(2 * stats.norm.sf(z_scores))
    return [e._replace(significant=bool(s)) for e, s in zip(effects, is_significant, strict=True)]


def holm(p_values: np.ndarray) -> np.ndarray:
    """(K,) bool, which of K p-values are significant as a family at 5 % (Holm 1979)."""
    order = np.argsort(p_values)
    rejected = np.zeros(len(p_values), bool)
    for rank, index in enumerate(order):
        if p_values[index] > (1 - CONFIDENCE) / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected


def means(
    values: np.ndarray, groups: np.ndarray, clusters: np.ndarray, names: Sequence[str]
) -> list[Effect]:
    """Means of values (N,) by group (N,), with intervals over clusters; `significant` is against 0.

    Args:
        groups: (N,) ints; values whose group is below 0 are left out.
        names: of group 0, 1, ...
    """
    cluster_index = np.unique(clusters, return_inverse=True)[1]
    num_clusters = int(cluster_index.max(initial=-1)) + 1
    estimates, errors, samples, sizes = [], [], [], []
    for group in range(len(names)):
        is_member = groups == group
        count = np.bincount(cluster_index[is_member], minlength=num_clusters)
        total = np.bincount(cluster_index[is_member], values[is_member], num_clusters)
        n, num_group_clusters = count.sum(), int((count > 0).sum())
        mean = total.sum() / n if n else np.nan
        spread = ((total - mean * count) ** 2).sum() if n else np.nan
        scale = num_group_clusters / (num_group_clusters - 1) if num_group_clusters > 1 else np.nan
        estimates.append(mean)
        errors.append(np.sqrt(scale * spread) / max(n, 1))
        samples.append(num_group_clusters)
        sizes.append(n)
    return intervals(names, np.array(estimates), np.array(errors), samples, sizes)


def dummies(codes: np.ndarray, count: int) -> np.ndarray:
    """(N,) ints -> (N, count) one-hot rows; an int below 0 gives a row of zeros."""
    indicators: np.ndarray = np.asarray(codes)[:, None] == np.arange(count)
    return indicators.astype(float)
