"""Trials: play out the candidate moves of decisions, without and with the plan of the answer.

A candidate may look worse than the answer only because the agent misses the best plan after it. So
each candidate is played out a second time, with a plan: the seat repeats the turns that followed
the answer, as far as they are legal. The better result counts. So two good moves that can be played
in either order get the same VP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, fingerprint
from ..system.batched import stacked, take_rows
from ..types import EnvState, JsonObject
from .actions import begins_turn, is_within_turn
from .attribution import by_source
from .judge import Comparison, Loss, estimate_loss
from .playout_journal import PlayoutJournal
from .playouts import (
    MAX_ACTIONS,
    MAX_TURNS,
    Candidates,
    Ends,
    Jobs,
    Plan,
    Playouts,
    TurnPredicate,
    jobs_of,
    join_ends,
    split_ends,
)
from .puzzles import line_texts

POOL_SIZE, MAX_JOBS = 2048, 2048  # a request is padded to these sizes, for one compiled program
PLAYOUT_SLOTS = 128  # playouts that run at the same time on each device; fewer idle at the end
MAX_MOVES = 768  # stored actions of a playout
NO_PLAN = np.full((1, MAX_TURNS, MAX_ACTIONS), -1)
TURN_BEGINS, WITHIN_TURN = 16, 8  # added to the player's number in the notes of a playout

NO_ENDS = Ends(*(np.empty((0, 0, 0), int) for _ in Ends._fields))


class Trial(NamedTuple):
    """A decision, and how its K candidates ended."""

    number: int  # of the decision; determines its random numbers
    state: State
    comparison: Comparison  # its first action is the choice to beat
    probabilities: np.ndarray = np.empty(0)  # (A,) of each action, by the policy
    allowed: np.ndarray = np.empty(0, bool)  # (A,) whether an action may be the answer
    # (K, n, ...) of n games each; game j has the same random numbers for all candidates. Notes of
    # an action: player + TURN_BEGINS, WITHIN_TURN or 0.
    ends: Ends = NO_ENDS
    improved_by_plan: frozenset[int] = frozenset()  # actions with more VP with a plan

    @property
    def seat_vp(self) -> np.ndarray:
        """(K, n) VP of the deciding seat."""
        return self.ends.vp[:, :, self.comparison.seat]

    @property
    def best_row(self) -> int:
        """The row of the candidate with the most VP."""
        return int(np.argmax(self.seat_vp.mean(1)))

    @property
    def answer(self) -> int:
        """The action with the most VP."""
        return int(self.comparison.candidates[self.best_row])

    @property
    def losses(self) -> list[Loss]:
        """VP of the answer above each other candidate."""
        vp, best = self.seat_vp, self.best_row
        return [estimate_loss(vp[best], vp[k]) for k in range(len(vp)) if k != best]

    @property
    def games_ahead(self) -> np.ndarray:
        """(K - 1,) in how many games the answer leads each other candidate."""
        vp, best = self.seat_vp, self.best_row
        return np.asarray((vp[best] > np.delete(vp, best, 0)).sum(1))

    @property
    def lead_by_game(self) -> np.ndarray:
        """(n,) VP of the answer above the best other candidate of each game."""
        vp, best = self.seat_vp, self.best_row
        return np.asarray(vp[best] - np.delete(vp, best, 0).max(0))

    def candidates_json(self, env: GaiaEnv, game: int | None = None) -> dict[int, JsonObject]:
        """The results by action of the candidate, with the line of one game.

        Args:
            game: by default that of median lead.
        """
        means, lead = self.seat_vp.mean(1), self.lead_by_game
        sources = self.ends.sources[:, :, self.comparison.seat].mean(1)
        if game is None:
            game = int(np.argsort(lead, kind="stable")[len(lead) // 2])
        return {
            action: {
                "vp": round(float(means[k]), 1),
                "answer_next": action in self.improved_by_plan,
                "why": by_source(env.ruleset, sources[self.best_row] - sources[k]),
                "line": line_texts(env, self.state, action, self.ends.moves[k, game]),
            }
            for k, action in enumerate(self.comparison.candidates.tolist())
        }

    def plans(self, last_pass: int) -> list[Plan]:
        """The plan of the answer in each game, as of `extract_plans`."""
        ends = self.ends.at(self.best_row)
        return extract_plans(self.answer, ends, self.comparison.seat, last_pass)

    @property
    def other_actions(self) -> np.ndarray:
        """All candidates but the best one."""
        return np.delete(self.comparison.candidates, self.best_row)

    def with_better_ends(self, actions: np.ndarray, ends: Ends) -> Trial:
        """The trial with the ends (K, n, ...) of planned actions that are better than without."""
        merged, improved = [array.copy() for array in self.ends], set[int]()
        for k, action in enumerate(actions.tolist()):
            row, planned = self.comparison.candidates.tolist().index(action), ends.at(k)
            if planned.vp[:, self.comparison.seat].mean() > self.seat_vp[row].mean():
                improved.add(action)
                for array, new in zip(merged, planned, strict=True):
                    array[row] = new
        return self._replace(ends=Ends(*merged), improved_by_plan=frozenset(improved))


def extract_plans(answer: int, ends: Ends, seat: int, last_pass: int) -> list[Plan]:
    """The turns of a seat from an answer on, one plan for each game.

    Args:
        ends: (n, ...) of the answer.
        last_pass: the pass of the last round, left out: the agent passes when it must.
    """
    plans = list[Plan]()
    for moves, notes in zip(ends.moves.tolist(), ends.notes.tolist(), strict=True):
        plan = [[answer]]
        for action, note in zip(moves, notes, strict=True):
            if action >= 0 and note == TURN_BEGINS + seat:
                plan.append([action])
            elif action >= 0 and note == WITHIN_TURN + seat:
                plan[-1].append(action)
        plans.append([turn for turn in plan if turn[0] != last_pass])
    return plans


class CandidatePlayer:
    """Plays out candidates with one agent; compiled once. Ctrl-C raises KeyboardInterrupt."""

    def __init__(
        self,
        env: GaiaEnv,
        agent: Agent,
        slots: int = PLAYOUT_SLOTS,
        turns: tuple[TurnPredicate, TurnPredicate] = (begins_turn, is_within_turn),
    ):
        """
        Args:
            slots: playouts that run at the same time on each device.
            turns: as of `Playouts`.
        """
        begins, inside = turns

        def note(states: EnvState) -> Array:
            part = jnp.where(begins(states), TURN_BEGINS, jnp.where(inside(states), WITHIN_TURN, 0))
            return states.current_player + part

        self.runner = Playouts(env, agent, MAX_MOVES, slots, note, turns)
        self.num_played = 0  # playouts so far
        self.journal: PlayoutJournal | None = None
        self.last_pass = int(env.ruleset.actions.first["pass"])

    @property
    def _identity(self) -> str:
        """The agent with its parameters, and the rules."""
        env = self.runner.env
        return f"{fingerprint(self.runner.agent)} {env.id} {env.version} {env.num_players}"

    def try_candidates(
        self,
        trials: Sequence[Trial],
        samples: range,
        accepts: Callable[[Trial], bool],
        seed: int = 0,
        with_plans: bool = False,
    ) -> list[Trial]:
        """Play out every candidate and keep the trials that `accepts` accepts.

        Args:
            samples: numbers of the games of each candidate.
            with_plans: then play out the other candidates of these trials with the plan of the
                answer, and keep the trials that `accepts` still accepts.
        """
        states = {trial.number: trial.state for trial in trials}
        candidates = [
            Candidates(trial.number, trial.comparison.candidates, samples) for trial in trials
        ]
        ends = self.play(states, candidates, seed)
        trials = [trial._replace(ends=end) for trial, end in zip(trials, ends, strict=True)]
        trials = [trial for trial in trials if accepts(trial)]
        if not with_plans:
            return trials
        candidates = [
            Candidates(trial.number, trial.other_actions, samples, trial.plans(self.last_pass))
            for trial in trials
        ]
        rows = zip(trials, candidates, self.play(states, candidates, seed), strict=True)
        improved = (trial.with_better_ends(np.array(own.actions), end) for trial, own, end in rows)
        return [trial for trial in improved if accepts(trial)]

    def play(
        self, states: Mapping[int, State], candidates: Sequence[Candidates], seed: int = 0
    ) -> list[Ends]:
        """Play out candidates, in requests of at most MAX_JOBS playouts and POOL_SIZE positions.

        Args:
            states: by number of the decision, which determines its random numbers.
            candidates: `position` is the number of a decision.
        """
        ends = [NO_ENDS] * len(candidates)

        def block_of(index: int) -> int:
            return candidates[index].position // POOL_SIZE

        used = [index for index, own in enumerate(candidates) if len(own.actions)]
        for _, block in groupby(sorted(used, key=block_of), block_of):
            indices = list(block)
            rows = [candidates[index] for index in indices]
            numbers = sorted({own.position for own in rows})
            pool = stack_states([states[n] for n in numbers], [n % POOL_SIZE for n in numbers])
            jobs = jobs_of([own._replace(position=own.position % POOL_SIZE) for own in rows])
            parts = [
                self.run_jobs(pool, Jobs(*(x[first : first + MAX_JOBS] for x in jobs)), seed)
                for first in range(0, len(jobs.action), MAX_JOBS)
            ]
            for index, end in zip(indices, split_ends(join_ends(parts), rows), strict=True):
                ends[index] = end
        return ends

    def run_jobs(self, pool: State, jobs: Jobs, seed: int) -> Ends:
        """Play out jobs from the states of a pool, in one request, unless the journal has it."""
        if jobs.plan.shape[1:] != NO_PLAN.shape[1:]:  # one shape, for one compiled program
            jobs = jobs._replace(plan=NO_PLAN)
        journal, before = self.journal, self.num_played
        path = journal.path(self._identity, pool, jobs, seed) if journal else Path()
        if journal and (stored := journal.read(path)):
            self.num_played += len(jobs.action)
            return stored

        def progress(ended: int) -> None:
            self.num_played = before + ended

        ends = self.runner.play(pool, jobs, seed, progress, capacity=MAX_JOBS)
        if not ends.ended.all():
            raise KeyboardInterrupt
        if journal:
            journal.write(path, ends)
        return ends


def stack_states(states: Sequence[State], rows: Sequence[int] | None = None) -> State:
    """A pool of (POOL_SIZE, ...) states.

    Args:
        rows: of each state in the pool, by default 0, 1, ...; other rows repeat the first state.
    """
    indices = np.zeros(POOL_SIZE, int)
    indices[np.arange(len(states)) if rows is None else np.asarray(rows)] = np.arange(len(states))
    return take_rows(stacked(states), indices)
