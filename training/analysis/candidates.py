"""Play out the candidate moves of decisions, each in its better order.

A candidate may look worse only because the agent misses the best plan after it. So a candidate that
comes near the answer is played a second time: the seat repeats what it did after the answer, as far
as that is legal. The better of the two ways counts. Two good moves in any order then end alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv, State

from ..agents import Agent
from ..types import EnvState
from .accuracy import Loss, paired
from .actions import is_inside, is_turn
from .attribution import by_source
from .judge import Question
from .playouts import SLOTS, Jobs, Playouts, Turn
from .puzzles import line_texts
from .review import Plain

POSITIONS, JOBS = 2048, 8192  # of each request, padded to these sizes: one compiled program
MAX_MOVES = 768  # actions that are kept of a playout
MAX_TURNS, MAX_ACTIONS = 16, 12  # of a plan
NEAR = 10.0  # VP: a candidate further from the answer is not played a second time
BEGINS, INSIDE = 16, 8  # added to the player in the notes of a playout

Plan = list[list[int]]  # the actions of each of a seat's turns


class Line(NamedTuple):
    """A first move, optionally followed by a fixed plan for the seat's next turns."""

    action: int
    plans: Sequence[Plan] = ()  # one per game; empty: the agent chooses every later move

    def planned_actions(self, num_games: int) -> np.ndarray:
        """(num_games, MAX_TURNS, MAX_ACTIONS) int; -1 where nothing is planned."""
        planned = np.full((num_games, MAX_TURNS, MAX_ACTIONS), -1)
        for game, plan in enumerate(self.plans[:num_games]):
            remaining = [turn[:MAX_ACTIONS] for turn in plan if self.action not in turn]
            for number, turn in enumerate(remaining[:MAX_TURNS]):
                planned[game, number, : len(turn)] = turn
        return planned


class Results(NamedTuple):
    """How K lines of a decision ended, n games each; game j of every line has the same luck."""

    vp: np.ndarray  # (K, n, P) at the end
    sources: np.ndarray  # (K, n, P, S) VP by source
    moves: np.ndarray  # (K, n, MAX_MOVES) actions after the first one, then -1
    notes: np.ndarray  # (K, n, MAX_MOVES) whose turn each belongs to


NO_RESULTS = Results(*(np.empty((0, 0, 0), int) for _ in Results._fields))


class Trial(NamedTuple):
    """A decision, and how its K candidates ended."""

    number: int  # of the decision; its luck depends on it
    state: State
    question: Question  # its first candidate is the choice to beat
    policy: np.ndarray = np.empty(0)  # (A,) probability of each action
    allowed: np.ndarray = np.empty(0, bool)  # (A,) whether an action may be the answer
    results: Results = NO_RESULTS
    planned: frozenset[int] = frozenset()  # candidates that end better with the answer's plan

    @property
    def own(self) -> np.ndarray:
        """(K, n) VP of the deciding seat."""
        return self.results.vp[:, :, self.question.seat]

    @property
    def best(self) -> int:
        """Which candidate has the most VP."""
        return int(np.argmax(self.own.mean(1)))

    @property
    def answer(self) -> int:
        """The action with the most VP."""
        return int(self.question.candidates[self.best])

    @property
    def losses(self) -> list[Loss]:
        """VP that the answer has more than each other candidate."""
        own, best = self.own, self.best
        return [paired(own[best], own[k]) for k in range(len(own)) if k != best]

    @property
    def leads(self) -> np.ndarray:
        """(n,) VP that the answer has more than all other candidates in each game."""
        return np.asarray(self.own[self.best] - np.delete(self.own, self.best, 0).max(0))

    def candidates_json(self, env: GaiaEnv) -> dict[int, Plain]:
        """The results of each candidate by its action; lines are of the game with median lead."""
        means, sources = self.own.mean(1), self.results.sources[:, :, self.question.seat].mean(1)
        median = np.argsort(self.leads, kind="stable")[len(self.leads) // 2]
        return {
            action: {
                "vp": round(float(means[k]), 1),
                "answer_next": action in self.planned,
                "why": by_source(env.ruleset, sources[self.best] - sources[k]),
                "line": line_texts(env, self.state, action, self.results.moves[k, median]),
            }
            for k, action in enumerate(self.question.candidates.tolist())
        }

    def plans(self, last_pass: int) -> list[Plan]:
        """What the seat does from the answer on, in each game.

        Args:
            last_pass: the pass of the last round is left out: the agent plays it when it has to.
        """
        games = zip(self.results.moves[self.best], self.results.notes[self.best], strict=True)
        plans = [plan_of(self.answer, *game, self.question.seat) for game in games]
        return [[turn for turn in plan if turn[0] != last_pass] for plan in plans]

    def with_better(self, lines: Sequence[Line], results: Results) -> Trial:
        """The trial with the results of the lines that end better than without a plan."""
        rows = [self.question.candidates.tolist().index(line.action) for line in lines]
        means = results.vp[:, :, self.question.seat].mean(1) if lines else []
        better = [j for j, vp in enumerate(means) if vp > self.own[rows[j]].mean()]
        merged = [array.copy() for array in self.results]
        for j in better:
            for array, new in zip(merged, results, strict=True):
                array[rows[j]] = new[j]
        planned = frozenset(lines[j].action for j in better)
        return self._replace(results=Results(*merged), planned=planned)


def plan_of(first: int, moves: np.ndarray, notes: np.ndarray, seat: int) -> Plan:
    """The turns of a seat in one game, from its first action on."""
    plan = [[first]]
    for action, note in zip(moves.tolist(), notes.tolist(), strict=True):
        if action >= 0 and note == BEGINS + seat:
            plan.append([action])
        elif action >= 0 and note == INSIDE + seat:
            plan[-1].append(action)
    return plan


class CandidatePlayer:
    """Plays candidates out with one agent; compiled once. Ctrl-C raises KeyboardInterrupt."""

    def __init__(
        self,
        env: GaiaEnv,
        agent: Agent,
        slots: int = SLOTS,
        begins: Turn = is_turn,
        inside: Turn = is_inside,
    ):
        """
        Args:
            slots: playouts that run at the same time on each device.
            begins, inside: whether a turn begins at a state, and whether a state is part of one.
        """

        def note(states: EnvState) -> Array:
            part = jnp.where(begins(states), BEGINS, jnp.where(inside(states), INSIDE, 0))
            return states.current_player + part

        self.playouts = Playouts(env, agent, MAX_MOVES, slots, note, begins, inside)
        self.num_played = 0  # playouts so far
        self.last_pass = int(env.ruleset.actions.first["pass"])

    def try_candidates(
        self,
        trials: Sequence[Trial],
        samples: int,
        first: int,
        accepts: Callable[[Trial], bool],
        seed: int = 0,
    ) -> list[Trial]:
        """Play every candidate out, n = `samples` games from number `first` on; keep some trials.

        Args:
            trials: in the order of their numbers.
        """
        lines = [[Line(int(a)) for a in trial.question.candidates] for trial in trials]
        results = self.play(trials, lines, samples, first, seed)
        played = (t._replace(results=r) for t, r in zip(trials, results, strict=True))
        return [trial for trial in played if accepts(trial)]

    def try_both_ways(
        self,
        trials: Sequence[Trial],
        samples: int,
        first: int,
        accepts: Callable[[Trial], bool],
        seed: int = 0,
    ) -> list[Trial]:
        """`try_candidates`, then near candidates with the answer's plan; keep some trials."""
        trials = self.try_candidates(trials, samples, first, accepts, seed)
        lines = []
        for trial in trials:
            vp, plans = trial.own.mean(1), trial.plans(self.last_pass)
            near = np.flatnonzero(vp >= vp.max() - NEAR)
            actions = trial.question.candidates[near[near != trial.best]]
            lines.append([Line(int(action), plans) for action in actions])
        results = self.play(trials, lines, samples, first, seed)
        rows = zip(trials, lines, results, strict=True)
        better = (trial.with_better(near, result) for trial, near, result in rows)
        return [trial for trial in better if accepts(trial)]

    def play(
        self,
        trials: Sequence[Trial],
        lines: Sequence[Sequence[Line]],
        samples: int,
        first: int,
        seed: int = 0,
    ) -> list[Results]:
        """Play the lines of each trial out; arguments as of `try_candidates`."""
        results = [NO_RESULTS] * len(trials)
        size = max(JOBS // (samples * max([1, *map(len, lines)])), 1)  # trials of a request
        used = [index for index, own in enumerate(lines) if own]
        for _, block in groupby(used, lambda index: trials[index].number // POSITIONS):
            indices = list(block)
            for part in (indices[n : n + size] for n in range(0, len(indices), size)):
                rows = [trials[index].number % POSITIONS for index in part]
                pairs = [(n, line) for n, i in zip(rows, part, strict=True) for line in lines[i]]
                jobs = Jobs(
                    np.repeat([row for row, _ in pairs], samples),
                    np.repeat([line.action for _, line in pairs], samples),
                    np.tile(np.arange(first, first + samples), len(pairs)),
                    np.concatenate([line.planned_actions(samples) for _, line in pairs]),
                )
                ends = self.run_jobs(stacked([trials[i].state for i in part], rows), jobs, seed)
                by_line = [x.reshape(-1, samples, *x.shape[1:]) for x in ends]
                cuts = np.cumsum([len(lines[i]) for i in part])[:-1]
                for i, *arrays in zip(part, *(np.split(x, cuts) for x in by_line), strict=True):
                    results[i] = Results(*arrays)
        return results

    def run_jobs(self, pool: State, jobs: Jobs, seed: int) -> Results:
        """The results (J, ...) of J jobs from the states of a pool, in one request."""
        before = self.num_played

        def progress(ended: int) -> None:
            self.num_played = before + ended

        ends = self.playouts.play(pool, jobs, seed, progress, capacity=JOBS)
        if not ends.ended.all():
            raise KeyboardInterrupt
        return Results(ends.vp.astype(int), ends.sources, ends.moves, ends.notes)


def stacked(states: Sequence[State], rows: Sequence[int] | None = None) -> State:
    """A pool of (POSITIONS, ...) states.

    Args:
        rows: of each state, by default 0, 1, ...; other rows repeat the first state.
    """
    places = np.zeros(POSITIONS, int)
    places[np.arange(len(states)) if rows is None else np.asarray(rows)] = np.arange(len(states))
    pool: State = jax.tree.map(lambda *x: np.stack(x)[places], *states)
    return pool
