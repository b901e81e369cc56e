"""Check that the answer of a puzzle leads every other legal move, shown or not.

All legal moves race against the answer (`races`), many puzzles in one request. Moves that come near
the answer are then played out with its plan too (`trials`). A puzzle is fair if the answer leads
each move by MIN_LEAD_OVER_RIVALS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State

from ..types import JsonObject
from .judge import Comparison
from .puzzles import CONVERSION, MIN_LEAD, replay_positions
from .races import LADDER, Race, run_races
from .trials import MAX_DISTANCE, CandidatePlayer, PlannedMove, Trial

MIN_LEAD_OVER_RIVALS = 3.0  # VP of the answer above every other legal move
PLAN_STEPS = (16, 48)  # further playouts of the answer, and of each near move with its plan
CLEARLY = 2.5  # standard errors within the limit that end these playouts early
FIRST_SAMPLE = 1 << 18  # of the playouts: their random numbers made and verified no puzzle
FIRST_PLAN_SAMPLE = 1 << 19


class Rival(NamedTuple):
    """The legal move nearest to the answer."""

    action: int
    lead: float  # VP of the answer above it; negative if the move is better
    num_moves: int  # other legal moves that were played out
    num_playouts: int = 0  # of the rival
    error: float = 0.0  # standard error of the lead

    @property
    def is_fair(self) -> bool:
        """Whether the answer leads far enough."""
        return self.lead >= MIN_LEAD_OVER_RIVALS

    def json(self, texts: Sequence[str]) -> JsonObject:
        """The value of "rival" of a puzzle.

        Args:
            texts: of all actions.
        """
        return {
            "text": texts[self.action], "less": round(self.lead, 1), "moves": self.num_moves,
            "playouts": self.num_playouts, "error": round(self.error, 1),
        }  # fmt: skip


def find_rivals(
    env: GaiaEnv, player: CandidatePlayer, collection: JsonObject, seed: int = 0
) -> list[Rival]:
    """The nearest rival of each puzzle of a collection, by number.

    Args:
        player: its agent plays all seats.
        seed: of the playouts; another one than the maker's gives other random numbers.
    Raises:
        KeyboardInterrupt: not all puzzles were checked.
    """
    races = [
        make_race(env, number, state, puzzle["player"], int(puzzle["answer"]["action"]))
        for number, puzzle, state in sorted(replay_positions(collection), key=lambda row: row[0])
    ]
    with status_line(lambda: f"{len(races)} puzzles, {player.num_played} playouts"):
        rivals = nearest_rivals(player, races, seed)
    return [rivals[race.number] for race in races]


def make_race(
    env: GaiaEnv, number: int, state: State, seat: int, answer: int, beaten: int = -1
) -> Race:
    """The race of an answer against all other legal moves, without conversions.

    A conversion only begins a move.

    Args:
        beaten: a move that the answer has to lead by MIN_LEAD; -1: none.
    """
    texts = env.ruleset.actions.texts
    legal = np.flatnonzero(np.asarray(state.legal_action_mask)).tolist()
    others = [a for a in legal if a != answer and not texts[a].startswith(CONVERSION)]
    limits = [MIN_LEAD if a == beaten else MIN_LEAD_OVER_RIVALS for a in others]
    return Race(number, state, seat, np.array([answer, *others], int), np.array(limits))


def nearest_rivals(
    player: CandidatePlayer, races: Sequence[Race], seed: int = 0
) -> dict[int, Rival]:
    """The legal move that comes nearest to the answer of each race, by its number.

    Args:
        races: in the order of their numbers; earlier playouts count.
    """
    won = run_races(player, races, LADDER, FIRST_SAMPLE, seed)
    rivals = {race.number: _nearest(race) for race in races}
    for race, trial, moves in _play_plans(player, [r for r in won if len(r.actions) > 1], seed):
        leads, errors = _planned_leads(trial)
        k = int(np.argmin(leads))
        if leads[k] < rivals[race.number].lead:
            rivals[race.number] = Rival(
                moves[k].action, float(leads[k]), len(race.limits), trial.seat_vp.shape[1],
                float(errors[k]),
            )  # fmt: skip
    return rivals


def _nearest(race: Race) -> Rival:
    if not len(race.limits):
        return Rival(int(race.actions[0]), np.inf, 0)
    k = race.nearest
    return Rival(
        int(race.actions[1 + k]), float(race.leads[k]), len(race.limits), int(race.counts[k]),
        float(race.errors[k]),
    )  # fmt: skip


def _play_plans(
    player: CandidatePlayer, races: Sequence[Race], seed: int
) -> list[tuple[Race, Trial, list[PlannedMove]]]:
    """Play the near moves of races with the plan of the answer, which may make them as good.

    Returns:
        Each race with near moves; a trial of the answer, then of each of these with the plan.
    """
    by_number, first = dict[int, tuple[Race, Trial, list[PlannedMove]]](), FIRST_PLAN_SAMPLE
    near = {race.number: race.actions[1:][race.leads <= MAX_DISTANCE].tolist() for race in races}
    races = [race for race in races if near[race.number]]
    for samples in PLAN_STEPS:
        answers = [
            answer_trial(race.number, race.state, race.seat, int(race.actions[0])) for race in races
        ]
        answers = player.try_candidates(answers, samples, first, lambda _: True, seed)
        moves = []
        for trial in answers:
            plans = trial.plans(player.last_pass)
            moves.append([PlannedMove(action, plans) for action in near[trial.number]])
        ends = player.play(answers, moves, samples, first, seed)
        first += samples
        for race, trial, own, end in zip(races, answers, moves, ends, strict=True):
            both = [np.concatenate(arrays) for arrays in zip(trial.ends, end, strict=True)]
            trial = trial._replace(ends=type(end)(*both))
            by_number[race.number] = race, trial, own
            leads, errors = _planned_leads(trial)
            is_lost = (leads + CLEARLY * errors < MIN_LEAD_OVER_RIVALS).any()
            is_near = (leads - CLEARLY * errors < MIN_LEAD_OVER_RIVALS) & ~is_lost
            near[race.number] = [own[k].action for k in np.flatnonzero(is_near)]
        races = [race for race in races if near[race.number]]
    return list(by_number.values())


def answer_trial(number: int, state: State, seat: int, *actions: int) -> Trial:
    """A trial of an answer, and of other actions after it."""
    return Trial(number, state, Comparison(0, seat, np.array(actions, int), np.empty(0)))


def _planned_leads(trial: Trial) -> tuple[np.ndarray, np.ndarray]:
    """(K - 1,) mean VP of the answer above each other move, and their standard errors."""
    differences = trial.seat_vp[0] - trial.seat_vp[1:]
    errors = differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1])
    return differences.mean(1), errors
