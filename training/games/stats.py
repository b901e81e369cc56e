"""Places, wins and means with intervals, from the VP of finished games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

CONFIDENCE = 0.95  # of all intervals


def scores(vp: np.ndarray, illegal: np.ndarray | None) -> np.ndarray:
    """(..., P) VP; at most 0 for a seat with `illegal` (..., P) moves."""
    return vp if illegal is None else np.where(illegal > 0, np.minimum(vp, 0), vp)


def _order(vp: np.ndarray, illegal: np.ndarray | None) -> np.ndarray:
    """(..., P) scores for ranking: seats that moved illegally are last."""
    return vp if illegal is None else np.where(illegal > 0, -np.inf, vp)


def wins(vp: np.ndarray, illegal: np.ndarray | None = None) -> np.ndarray:
    """(..., P) VP -> (..., P) the game's one win, shared among those with the most VP.

    Seats with `illegal` (..., P) moves do not win.
    """
    order = _order(vp, illegal)
    best = order == order.max(axis=-1, keepdims=True)
    return np.where(np.isfinite(order), best / best.sum(axis=-1, keepdims=True), 0.0)


class Estimate(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def places(vp: np.ndarray, illegal: np.ndarray | None = None) -> np.ndarray:
    """(..., P) VP -> (..., P) places 1 to P; ties share the mean of their places.

    Seats with `illegal` (..., P) moves are last.
    """
    vp = _order(vp, illegal)
    better = (vp[..., None, :] > vp[..., :, None]).sum(-1)
    equal = (vp[..., None, :] == vp[..., :, None]).sum(-1)
    shared: np.ndarray = better + (equal + 1) / 2
    return shared


def student_quantile(degrees_of_freedom: int | np.ndarray) -> Any:
    """Half the width of Student's 95 % intervals, in standard errors; shaped as the argument."""
    from scipy import stats  # takes a second; the browser table would start later

    return stats.t.ppf((1 + CONFIDENCE) / 2, degrees_of_freedom)


def estimate(values: np.ndarray, low: float = -np.inf, high: float = np.inf) -> Estimate:
    """Mean of independent values (S,) with Student's 95 % interval within [low, high].

    Fewer than two values have nan bounds.
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    half = student_quantile(len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return Estimate(mean, max(float(mean - half), low), min(float(mean + half), high))


def share(values: np.ndarray) -> Estimate:
    """`estimate` of shares, within [0, 1]."""
    return estimate(values, 0.0, 1.0)


def illegal_moves(illegal: np.ndarray, decided: np.ndarray, mine: np.ndarray) -> dict[str, Any]:
    """Illegal moves of the seats in `mine`, all (S, R, P).

    Returns:
        `moves`, `decisions`, `rate`; `forfeits`, the games that were lost by them.
    """
    moves, decisions = int(illegal[mine].sum()), int(decided[mine].sum())
    lost = int(((illegal > 0) & mine).any(-1).sum())
    return {
        "moves": moves, "decisions": decisions, "rate": moves / max(decisions, 1),
        "forfeits": lost,
    }  # fmt: skip


def format_illegal_moves(moves: dict[str, Any]) -> str:
    """`illegal_moves` as text."""
    return (
        f"{moves['moves']} illegal moves in {moves['decisions']} decisions "
        f"({100 * moves['rate']:.2f} %), {moves['forfeits']} games forfeited: last place, no VP"
    )
