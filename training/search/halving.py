"""Sequential halving: which actions of the root are visited when."""

from __future__ import annotations

import math

import numpy as np


def visit_schedule(considered: int, num_simulations: int) -> np.ndarray:
    """How often an action must have been visited to be considered, by simulation.

    The simulations are split evenly over the rounds; after each the better half of the actions
    stays, and at least two. Karnin and others, "Almost Optimal Exploration in Multi-Armed Bandits".

    Args:
        considered: actions at the beginning.
        num_simulations: S, all simulations.
    Returns:
        (S,) int32.
    """
    if considered <= 1:
        return np.arange(num_simulations, dtype=np.int32)
    rounds, left, done = math.ceil(math.log2(considered)), considered, 0
    schedule: list[int] = []
    while len(schedule) < num_simulations:
        visits_each = max(1, num_simulations // (rounds * left))
        for visits in range(done, done + visits_each):
            schedule += [visits] * left
        done, left = done + visits_each, max(2, left // 2)
    return np.array(schedule[:num_simulations], np.int32)


def visit_table(considered: int, num_simulations: int) -> np.ndarray:
    """`visit_schedule` of 0 to `considered` actions, (considered + 1, S) int32."""
    return np.stack([visit_schedule(m, num_simulations) for m in range(considered + 1)])
