"""Check that the answer of a puzzle leads every other legal move, shown or not.

All legal moves are played out, many puzzles in one request. Moves that are clearly worse than the
answer are dropped after a few playouts. The others are played out again, those within MAX_DISTANCE
of the answer also with its plan (`trials`). A puzzle is fair if the answer leads each of them by
MIN_LEAD_OVER_RIVALS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State

from ..types import JsonObject
from .judge import Comparison
from .puzzles import CONVERSION, replay_positions
from .trials import MAX_DISTANCE, CandidatePlayer, Trial

MIN_LEAD_OVER_RIVALS = 3.0  # VP of the answer above every other legal move
SCREENING = (4, 12)  # playouts of each move that is left, with new random numbers each time
NUM_NEAR = 48  # playouts of each move that no screening dropped
CLEARLY = 2.5  # standard errors beyond the limit that drop a move
FIRST_SAMPLE = 1 << 18  # of the playouts: their random numbers made and verified no puzzle


class Rival(NamedTuple):
    """The legal move nearest to the answer."""

    action: int
    lead: float  # VP of the answer above it; negative if the move is better
    num_moves: int  # other legal moves that were played out

    @property
    def is_fair(self) -> bool:
        """Whether the answer leads far enough."""
        return self.lead >= MIN_LEAD_OVER_RIVALS

    def json(self, texts: Sequence[str]) -> JsonObject:
        """The value of "rival" of a puzzle.

        Args:
            texts: of all actions.
        """
        return {"text": texts[self.action], "less": round(self.lead, 1), "moves": self.num_moves}


def find_rivals(env: GaiaEnv, player: CandidatePlayer, collection: JsonObject) -> list[Rival]:
    """The nearest rival of each puzzle of a collection, by number.

    Args:
        player: its agent plays all seats.
    Raises:
        KeyboardInterrupt: not all puzzles were checked.
    """
    trials = [
        answer_trial(number, state, puzzle["player"], int(puzzle["answer"]["action"]))
        for number, puzzle, state in sorted(replay_positions(collection), key=lambda row: row[0])
    ]
    with status_line(lambda: f"{len(trials)} puzzles, {player.num_played} playouts"):
        rivals = nearest_rivals(env, player, trials)
    return [rivals[trial.number] for trial in trials]


def answer_trial(number: int, state: State, seat: int, *actions: int) -> Trial:
    """A trial of an answer, and of other actions after it."""
    return Trial(number, state, Comparison(0, seat, np.array(actions, int), np.empty(0)))


def nearest_rivals(
    env: GaiaEnv, player: CandidatePlayer, trials: Sequence[Trial]
) -> dict[int, Rival]:
    """The legal move that comes nearest to the answer of each trial, by its number.

    Args:
        trials: in the order of their numbers; the answer is the best or the only candidate.
    """
    trials = [_with_all_moves(env, trial) for trial in trials]
    num_moves = {trial.number: len(trial.comparison.candidates) - 1 for trial in trials}
    rivals, first = dict[int, Rival](), FIRST_SAMPLE
    for samples in SCREENING:
        trials = player.try_candidates(trials, samples, first, lambda _: True)
        first += samples
        rivals |= {trial.number: _nearest(trial, num_moves[trial.number]) for trial in trials}
        trials = [_near_moves(trial) for trial in trials]
        trials = [trial for trial in trials if len(trial.comparison.candidates) > 1]
    trials = player.try_candidates(trials, NUM_NEAR, first, lambda _: True)
    # The plan of the answer may improve the others.
    moves = [trial.near_moves_with_plans(player.last_pass) for trial in trials]
    ends = player.play(trials, moves, NUM_NEAR, first)
    for trial, own, end in zip(trials, moves, ends, strict=True):
        better = trial.with_better_ends(own, end) if trial.best_row == 0 else trial
        rivals[trial.number] = _nearest(better, num_moves[trial.number])
    return rivals


def _with_all_moves(env: GaiaEnv, trial: Trial) -> Trial:
    """The answer and all other legal moves, without conversions, which only begin a move."""
    is_single = len(trial.comparison.candidates) == 1
    answer = int(trial.comparison.candidates[0]) if is_single else trial.answer
    texts = env.ruleset.actions.texts
    legal = np.flatnonzero(np.asarray(trial.state.legal_action_mask)).tolist()
    others = [a for a in legal if a != answer and not texts[a].startswith(CONVERSION)]
    return answer_trial(trial.number, trial.state, trial.comparison.seat, answer, *others)


def _leads(trial: Trial) -> np.ndarray:
    """(K - 1,) mean VP of the answer above each other move."""
    means = trial.seat_vp.mean(1)
    return np.asarray(means[0] - means[1:])


def _nearest(trial: Trial, num_moves: int) -> Rival:
    leads = _leads(trial)
    nearest = int(np.argmin(leads))
    return Rival(int(trial.comparison.candidates[1 + nearest]), float(leads[nearest]), num_moves)


def _near_moves(trial: Trial) -> Trial:
    """The trial with the moves that may be rivals; only the answer if one clearly is."""
    vp, leads = trial.seat_vp, _leads(trial)
    variance = (vp[0] - vp[1:]).var(axis=1, ddof=1).mean()
    margin = CLEARLY * float(np.sqrt(variance / vp.shape[1]))
    is_near = leads <= max(MIN_LEAD_OVER_RIVALS + margin, MAX_DISTANCE)  # its plan may improve it
    is_near &= leads.min() > MIN_LEAD_OVER_RIVALS - margin
    actions = trial.comparison.candidates[np.flatnonzero(np.append(True, is_near))].tolist()
    return answer_trial(trial.number, trial.state, trial.comparison.seat, *actions)
