"""Play out the candidate actions of one position; their results at the end of the game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..agents import Agent
from ..system.batched import one_row
from ..types import Environment, EnvState
from .judge import policy_probabilities
from .playouts import Candidates, Playouts


class Outcomes(NamedTuple):
    """Results of K candidates, n playouts each, P players."""

    actions: np.ndarray  # (K,)
    probabilities: np.ndarray  # (K,) by the agent's policy; nan without a policy
    vp: np.ndarray  # (K, n, P) at the end
    seat: int  # whose decision it was
    sources: np.ndarray  # (K, n, P, S) VP by source

    def order_by_vp(self) -> np.ndarray:
        """(K,) the indices of the candidates, the one with the most VP for the decider first."""
        return np.argsort(-self.vp[:, :, self.seat].mean(1), kind="stable")


def choose_candidates(
    agent: Agent, state: EnvState, limit: int, played: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Choose K legal actions, the most likely ones; without a policy the first ones.

    Args:
        limit: K at most. played: an action to include; -1 for none.
    Returns:
        The actions (K,) and their probabilities (K,).
    """
    legal = np.flatnonzero(np.asarray(state.legal_action_mask))
    probabilities = np.full(len(state.legal_action_mask), np.nan)
    likely = legal[:limit]
    if agent.policy is not None:
        probabilities = policy_probabilities(agent, one_row(state))[0]
        likely = legal[np.argsort(-probabilities[legal], kind="stable")][:limit]
    if played >= 0 and played not in likely:
        likely = np.append(likely[: limit - 1], played)
    return likely, probabilities[likely]


def play_out(
    env: Environment,
    agent: Agent,
    state: EnvState,
    limit: int,
    num_playouts: int,
    played: int = -1,
) -> Outcomes:
    """Play out each candidate of a position; one agent plays all seats.

    Args:
        state: one state, before the decision.
        limit: K at most.
        num_playouts: n, of each candidate.
        played: a candidate to include; -1 for none.
    Raises:
        KeyboardInterrupt: Ctrl-C before all playouts ended.
    """
    actions, probabilities = choose_candidates(agent, state, limit, played)
    candidates = [Candidates(0, actions, range(num_playouts))]
    (ends,) = Playouts(env, agent).play_candidates(one_row(state), candidates)
    if not ends.ended.all():  # an unfinished playout has 0 VP
        raise KeyboardInterrupt
    seat = int(np.asarray(state.current_player))
    return Outcomes(actions, probabilities, ends.vp, seat, ends.sources)
