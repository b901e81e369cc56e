"""Scores of several runs as one number: the interquartile mean and its stratified bootstrap.

Agarwal et al. (2021) propose the mean of the middle half of all scores, with intervals from
resampling the runs within each task.
"""

from __future__ import annotations

import numpy as np

NUM_DRAWS = 2000  # resamples of a bootstrap
GRID_POINTS = 80


def iqm(scores: np.ndarray) -> np.ndarray:
    """(..., N) -> (...,) the mean of the middle half: a quarter is cut off at either end.

    If a quarter is not a whole number of scores, the scores at the edges count in part.
    """
    ordered = np.sort(np.asarray(scores, float), axis=-1)
    num_scores = ordered.shape[-1]
    edges = np.arange(num_scores + 1) / num_scores
    weights = np.clip(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0, None)
    interquartile_mean: np.ndarray = (ordered * weights).sum(-1) / weights.sum()
    return interquartile_mean


def bootstrap(scores: np.ndarray, draws: int = NUM_DRAWS, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of the interquartile mean of scores (R, M): R runs of M tasks.

    Runs are resampled for each task independently. A single run gives nan.
    """
    scores = np.asarray(scores, float)
    runs, tasks = scores.shape
    if runs < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    drawn_runs = rng.integers(0, runs, (draws, runs, tasks))
    drawn_scores = np.take_along_axis(scores[None], drawn_runs, axis=1)
    low, high = np.quantile(iqm(drawn_scores.reshape(draws, -1)), (0.025, 0.975))
    return float(low), float(high)


def interpolate_on_grid(x: list[np.ndarray], y: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Interpolate R curves on one grid: its points (X,), and the values (R, X).

    The grid is the range that all curves cover: latest beginning to earliest end.
    """
    first, last = max(a[0] for a in x), min(a[-1] for a in x)
    grid = np.linspace(first, max(first, last), GRID_POINTS if last > first else 1)
    return grid, np.stack([np.interp(grid, a, b) for a, b in zip(x, y, strict=True)])
