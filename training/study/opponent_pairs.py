"""Split effects of faction pairs into what an opponent does to everybody and the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..stats.effects import (
    RANK_TOLERANCE,
    Effect,
    adjust_jointly,
    errors,
    estimable,
    intervals,
    inverse_gram,
)


def split(effects: Sequence[Effect]) -> dict[str, list[Effect]]:
    """`against`: what opponent B does to all; `pairs`: what A has with B beyond that.

    Least squares with one value for each own faction and each opponent, weighted by the intervals,
    as if pairs were independent.

    Args:
        effects: of `strength.opponents`, of all factions, named `A with B`.
    Returns:
        Empty if there are too few pairs.
    """
    effects = estimable(effects)
    pairs = [e.name.split(" with ") for e in effects]
    own, other = ({x: k for k, x in enumerate(sorted({p[i] for p in pairs}))} for i in (0, 1))
    if len(effects) <= len(own) + len(other):
        return {}
    columns = np.array([(own[a], len(own) + other[b]) for a, b in pairs], int)
    x = np.zeros((len(effects), len(own) + len(other)))
    x[np.arange(len(effects))[:, None], columns] = 1
    y, noise = np.array([e.estimate for e in effects]), errors(effects) ** 2
    inverse, _ = inverse_gram(x / np.sqrt(noise)[:, None])
    beta = inverse @ (x.T @ (y / noise))
    contrast = np.zeros((len(other), x.shape[1]))
    contrast[:, len(own) :] = np.eye(len(other)) - 1 / len(other)
    error = np.sqrt(np.einsum("ik,kl,il->i", contrast, inverse, contrast))
    sizes = np.array([e.size for e in effects])
    deals = np.bincount(columns[:, 1] - len(own), sizes).astype(int).tolist()
    # 0: the fit determines the pair.
    residual_share = 1 - np.einsum("ik,kl,il->i", x, inverse, x) / noise
    residual_variance = np.where(residual_share > RANK_TOLERANCE, residual_share * noise, np.nan)
    names = [e.name for e in effects]
    residuals = intervals(names, y - x @ beta, np.sqrt(residual_variance), sizes.tolist(), sizes)
    return {
        "against": intervals(list(other), contrast @ beta, error, deals, deals),
        "pairs": adjust_jointly(residuals),
    }
