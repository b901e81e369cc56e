"""Scores of several runs as one number: the interquartile mean and its stratified bootstrap.

As Agarwal et al. (2021) propose: the mean of the middle half of all scores, with intervals from
runs drawn again within each task.
"""

from __future__ import annotations

import numpy as np

DRAWS = 2000
POINTS = 80  # of a grid


def iqm(scores: np.ndarray) -> np.ndarray:
    """(..., N) -> (...,) the mean of the middle half: a quarter is cut off at either end.

    A quarter need not be a whole number of scores: those at the edges count in part.
    """
    ordered = np.sort(np.asarray(scores, float), axis=-1)
    count = ordered.shape[-1]
    edges = np.arange(count + 1) / count
    weights = np.clip(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0, None)
    out: np.ndarray = (ordered * weights).sum(-1) / weights.sum()
    return out


def bootstrap(scores: np.ndarray, draws: int = DRAWS, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of the interquartile mean of scores (R, M): R runs of M tasks.

    Runs are drawn again for each task by itself. nan with a single run.
    """
    scores = np.asarray(scores, float)
    runs, tasks = scores.shape
    if runs < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, runs, (draws, runs, tasks))
    drawn = np.take_along_axis(scores[None], chosen, axis=1)
    low, high = np.quantile(iqm(drawn.reshape(draws, -1)), (0.025, 0.975))
    return float(low), float(high)


def on_grid(x: list[np.ndarray], y: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Curves on one grid: (X,) from the latest beginning to the earliest end, (R, X) values.

    Values between two points are interpolated; the grid ends where a curve has no points.
    """
    first, last = max(a[0] for a in x), min(a[-1] for a in x)
    grid = np.linspace(first, max(first, last), POINTS if last > first else 1)
    return grid, np.stack([np.interp(grid, a, b) for a, b in zip(x, y, strict=True)])
