"""The sibling table: which moves are compared, and how exact a correlation is."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from tools.sibling_table import correlation, interval, likely_pairs
from training.agents import Agent
from training.agents.base import Policy


class States(NamedTuple):
    """What is read of three positions."""

    current_player: np.ndarray
    legal_action_mask: np.ndarray


def test_likely_moves_are_compared_with_the_likeliest_one() -> None:
    probabilities = np.array([
        [0.5, 0.3, 0.198, 0.002, 0.0],  # the fourth one is too unlikely
        [0.0, 0.001, 0.999, 0.0, 0.0],  # nothing to compare
        [0.2, 0.25, 0.19, 0.18, 0.18],  # five moves, four are compared
    ])  # fmt: skip
    logits = jnp.log(jnp.asarray(probabilities) + 1e-9)
    states = States(np.array([2, 0, 1]), probabilities > 0)
    policy = Policy(lambda params, states: (logits, logits))
    agent = Agent("a", lambda *_: jnp.zeros(3, int), policy=policy)
    pairs = likely_pairs(agent, states)  # type: ignore[arg-type]
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == [
        (0, 2, 1, 0), (0, 2, 2, 0), (2, 1, 0, 1), (2, 1, 2, 1), (2, 1, 3, 1),
    ]  # fmt: skip


def test_the_interval_has_the_spread_of_independent_positions() -> None:
    """Each position twice: the interval is that of half as many pairs."""
    rng = np.random.default_rng(3)
    ends = rng.normal(size=400)
    estimate = 0.5 * ends + rng.normal(size=400)
    low, high = interval(estimate, ends, np.arange(400))
    assert low < correlation(estimate, ends) < high and 0.12 < high - low < 0.2
    twice = np.repeat(np.arange(400), 2)
    again = interval(np.repeat(estimate, 2), np.repeat(ends, 2), twice)
    assert np.allclose(again, (low, high), atol=1e-6)
    assert correlation(np.zeros(4), np.arange(4.0)) == 0
