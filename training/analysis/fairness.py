"""Check that the answer of a puzzle leads every other legal move, shown or not.

All legal moves are played out. Those within MAX_DISTANCE of the answer are played out again, also
with the plan of the answer (`trials`). A puzzle is fair if the answer leads each of them by
MIN_LEAD_OVER_RIVALS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State

from ..agents import make_agent
from ..types import JsonObject
from .judge import Comparison
from .puzzles import CONVERSION, replay_positions
from .trials import MAX_DISTANCE, CandidatePlayer, Trial

MIN_LEAD_OVER_RIVALS = 3.0  # VP of the answer above every other legal move
NUM_SCREENING, NUM_NEAR = 12, 48  # playouts of each legal move, and of those near the answer
FIRST_SAMPLE = 1 << 18  # of the playouts: their random numbers made and verified no puzzle


class Rival(NamedTuple):
    """The legal move nearest to the answer."""

    action: int
    lead: float  # VP of the answer above it; negative if the move is better

    @property
    def is_fair(self) -> bool:
        """Whether the answer leads far enough."""
        return self.lead >= MIN_LEAD_OVER_RIVALS


class FairnessChecker:
    """Plays out all legal moves of puzzles with one agent; compiled once."""

    def __init__(self, env: GaiaEnv, agent: str):
        """
        Args:
            agent: plays all seats.
        """
        self._env, self._player = env, CandidatePlayer(env, make_agent(agent, env))

    def rivals(self, collection: JsonObject) -> list[Rival]:
        """The nearest rival of each puzzle of a collection, by number.

        Raises:
            KeyboardInterrupt: not all puzzles were checked.
        """
        count, rivals = len(collection["puzzles"]), dict[int, Rival]()

        def status() -> str:
            return f"checked {len(rivals)} of {count} puzzles, {self._player.num_played} playouts"

        with status_line(status):
            for number, puzzle, state in replay_positions(collection):
                rivals[number] = self.nearest_rival(number, puzzle, state)
        return [rivals[number] for number in range(count)]

    def nearest_rival(self, number: int, puzzle: JsonObject, state: State) -> Rival:
        """The legal move that comes nearest to the answer of a puzzle."""
        texts, answer = self._env.ruleset.actions.texts, int(puzzle["answer"]["action"])
        legal = np.flatnonzero(np.asarray(state.legal_action_mask)).tolist()
        others = [a for a in legal if a != answer and not texts[a].startswith(CONVERSION)]
        screened = self._play(number, puzzle, state, [answer, *others], NUM_SCREENING)
        leads = leads_of_first(screened)
        near = [a for a, lead in zip(others, leads, strict=True) if lead <= MAX_DISTANCE]
        if not near:
            return Rival(others[int(np.argmin(leads))], float(min(leads)))
        trial = self._play(number, puzzle, state, [answer, *near], NUM_NEAR)
        leads = leads_of_first(trial)
        if trial.best_row == 0:  # the plan of the answer may improve the others
            moves = trial.near_moves_with_plans(self._player.last_pass)
            ends = self._player.play([trial], [moves], NUM_NEAR, FIRST_SAMPLE)[0]
            leads = leads_of_first(trial.with_better_ends(moves, ends))
        return Rival(near[int(np.argmin(leads))], float(min(leads)))

    def _play(
        self, number: int, puzzle: JsonObject, state: State, actions: Sequence[int], samples: int
    ) -> Trial:
        comparison = Comparison(0, puzzle["player"], np.array(actions, int), np.empty(0))
        trial = Trial(number, state, comparison)
        (tried,) = self._player.try_candidates([trial], samples, FIRST_SAMPLE, lambda _: True)
        return tried


def leads_of_first(trial: Trial) -> list[float]:
    """Mean VP of the first candidate above each other one."""
    means = trial.seat_vp.mean(1)
    return [float(means[0] - mean) for mean in means[1:]]
