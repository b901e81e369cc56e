"""A sequential test of how many VP an agent is ahead, which ends an arena early.

Wald's sequential probability ratio test (A. Wald, Sequential Tests of Statistical Hypotheses,
Annals of Mathematical Statistics 16, 1945) of a normal mean. A sample is a set-up, played in all
rotations: the agent's mean VP minus that of the others. The unknown variance is the most likely one
of each hypothesis, as in the generalized test of chess engines. Batches of set-ups, which overshoot
the bounds, only lower the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .stats import scores
from .table import Games

LEAST_SETUPS = 16  # before the first decision: fewer do not estimate a variance


class SequentialTest(NamedTuple):
    """Hypotheses about the mean of independent samples, and the rates of wrong decisions."""

    low: float  # H0: the mean, VP
    high: float  # H1, above `low`
    alpha: float = 0.05  # of accepting H1 where H0 holds
    beta: float = 0.05  # of accepting H0 where H1 holds

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, samples: np.ndarray) -> float:
        """The log likelihood ratio of H1 to H0 for samples (n,); 0 for fewer than `LEAST_SETUPS`.

        n / 2 log(mean (x - low)^2 / mean (x - high)^2).
        """
        if len(samples) < LEAST_SETUPS:
            return 0.0
        variances = [float(np.square(samples - mean).mean()) for mean in (self.low, self.high)]
        low, high = (math.log(max(variance, 1e-12)) for variance in variances)
        return len(samples) / 2 * (low - high)

    def accepted(self, samples: np.ndarray) -> str:
        """ "H0", "H1", or "" while neither is accepted."""
        ratio, (low, high) = self.ratio(samples), self.bounds
        return "H1" if ratio >= high else "H0" if ratio <= low else ""

    def report(self, samples: np.ndarray) -> dict[str, Any]:
        """Plain numbers; writes to JSON."""
        return {
            "h0_vp": self.low,
            "h1_vp": self.high,
            "alpha": self.alpha,
            "beta": self.beta,
            "setups": len(samples),
            "log_likelihood_ratio": round(self.ratio(samples), 4),
            "bounds": [round(bound, 4) for bound in self.bounds],
            "accepted": self.accepted(samples),
        }


def leads(games: Games, names: Sequence[str]) -> np.ndarray:
    """(S,) VP, the mean of the first agent's seats minus that of all others, by set-up.

    Args:
        names: of the agents by entry; equal names are one agent.
    """
    first = np.array([name == names[0] for name in names])[games.entry]  # (S, R, P)
    vp = scores(games.vp, games.illegal)
    own, others = (np.where(mine, vp, 0).sum((1, 2)) / mine.sum((1, 2)) for mine in (first, ~first))
    lead: np.ndarray = own - others
    return lead


def format_test(report: dict[str, Any], agent: str) -> str:
    """The result of `SequentialTest.report` in one line."""
    low, high = report["bounds"]
    numbers = (
        f"after {report['setups']} set-ups, log likelihood ratio "
        f"{report['log_likelihood_ratio']:.2f}, bounds {low:.2f} and {high:.2f}"
    )
    texts = {
        name: f"{name}, {agent} {report[f'{name.lower()}_vp']:g} VP ahead of the others"
        for name in ("H0", "H1")
    }
    if accepted := report["accepted"]:
        other = texts["H0" if accepted == "H1" else "H1"]
        return f"sequential test: accepts {texts[accepted]}, against {other}; {numbers}"
    return f"sequential test: undecided between {texts['H0']}, and {texts['H1']}; {numbers}"
