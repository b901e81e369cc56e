"""Effects of faction pairs, split into the opponent's effect on all factions and the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..stats.effects import (
    RANK_TOLERANCE,
    Effect,
    adjust_jointly,
    estimable,
    intervals,
    inverse_gram,
    standard_errors,
)


def split(effects: Sequence[Effect]) -> dict[str, list[Effect]]:
    """`against`: effect of opponent B on all factions; `pairs`: rest of the effect of B on A.

    Least squares with a coefficient for each faction A and each opponent B. Pairs are weighted by
    the inverse variance of their estimates and treated as independent.

    Args:
        effects: those of `strength.opponents` for every faction, each named `A with B`.
    Returns:
        Empty if there are too few pairs.
    """
    effects = estimable(effects)
    pairs = [e.name.split(" with ") for e in effects]
    own_index, other_index = (
        {x: k for k, x in enumerate(sorted({p[i] for p in pairs}))} for i in (0, 1)
    )
    if len(effects) <= len(own_index) + len(other_index):
        return {}
    columns = np.array([(own_index[a], len(own_index) + other_index[b]) for a, b in pairs], int)
    x = np.zeros((len(effects), len(own_index) + len(other_index)))
    x[np.arange(len(effects))[:, None], columns] = 1
    y, variance = np.array([e.estimate for e in effects]), standard_errors(effects) ** 2
    inverse, _ = inverse_gram(x / np.sqrt(variance)[:, None])
    beta = inverse @ (x.T @ (y / variance))
    contrasts = np.zeros((len(other_index), x.shape[1]))
    contrasts[:, len(own_index) :] = np.eye(len(other_index)) - 1 / len(other_index)
    contrast_errors = np.sqrt(np.einsum("ik,kl,il->i", contrasts, inverse, contrasts))
    pair_sizes = np.array([e.size for e in effects])
    opponent = columns[:, 1] - len(own_index)
    opponent_sizes = np.bincount(opponent, pair_sizes).astype(int).tolist()
    # 0 for a pair that its own coefficients fit exactly: its residual is always 0.
    residual_share = 1 - np.einsum("ik,kl,il->i", x, inverse, x) / variance
    residual_variance = np.where(residual_share > RANK_TOLERANCE, residual_share * variance, np.nan)
    names = [e.name for e in effects]
    residuals = intervals(
        names, y - x @ beta, np.sqrt(residual_variance), pair_sizes.tolist(), pair_sizes
    )
    against = intervals(
        list(other_index), contrasts @ beta, contrast_errors, opponent_sizes, opponent_sizes
    )
    return {"against": against, "pairs": adjust_jointly(residuals)}
