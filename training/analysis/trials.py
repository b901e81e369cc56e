"""Trials: play out the candidate moves of decisions, without and with the plan of the answer.

A candidate may look worse than the answer only because the agent misses the best plan after it. So
a candidate that comes near the answer is played out a second time, with a plan: the seat repeats
the turns that followed the answer, as far as they are legal. The better result counts. So two good
moves that can be played in either order get the same VP.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, fingerprint
from ..types import EnvState, JsonObject
from .actions import begins_turn, is_within_turn
from .attribution import by_source
from .judge import Comparison, Loss, estimate_loss
from .playout_journal import PlayoutJournal
from .playouts import Ends, Jobs, Playouts, Turn
from .puzzles import line_texts

POOL_SIZE, MAX_JOBS = 2048, 2048  # a request is padded to these sizes, for one compiled program
PLAYOUT_SLOTS = 128  # playouts that run at the same time on each device; fewer idle at the end
MAX_MOVES = 768  # stored actions of a playout
MAX_TURNS, MAX_ACTIONS = 16, 12  # turns of a plan, actions of such a turn
NO_PLAN = np.full((1, MAX_TURNS, MAX_ACTIONS), -1)
MAX_DISTANCE = (
    10.0  # VP: a candidate with fewer VP than that below the answer is not tried with a plan
)
TURN_BEGINS, WITHIN_TURN = 16, 8  # added to the player's number in the notes of a playout
# Verbs of the actions that may be the cause of a difference, and the least difference in times a
# game.
CAUSES = (
    "mine", "project", "upgrade", "ship", "explore", "artifact", "form_federation", "advanced",
    "tile", "token", "power",
)  # fmt: skip
MIN_CAUSE = 0.4

Plan = list[list[int]]  # the turns of a seat, each as its actions


class PlannedMove(NamedTuple):
    """A first move, optionally followed by a fixed plan for the seat's next turns."""

    action: int
    plans: Sequence[Plan] = ()  # one per game; without plans the agent chooses all later moves

    def planned_actions(self, num_games: int) -> np.ndarray:
        """(num_games, MAX_TURNS, MAX_ACTIONS) int; -1 where nothing is planned."""
        planned = np.full((num_games, MAX_TURNS, MAX_ACTIONS), -1)
        for game, plan in enumerate(self.plans[:num_games]):
            remaining = [turn[:MAX_ACTIONS] for turn in plan if self.action not in turn]
            for number, turn in enumerate(remaining[:MAX_TURNS]):
                planned[game, number, : len(turn)] = turn
        return planned


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
    def lead_by_game(self) -> np.ndarray:
        """(n,) VP of the answer above the best other candidate of each game."""
        return np.asarray(
            self.seat_vp[self.best_row] - np.delete(self.seat_vp, self.best_row, 0).max(0)
        )

    def candidates_json(self, env: GaiaEnv) -> dict[int, JsonObject]:
        """The results by action of the candidate; its line is that of the game of median lead."""
        means, counts = self.seat_vp.mean(1), self._action_counts(env.num_actions)
        sources = self.ends.sources[:, :, self.comparison.seat].mean(1)
        median = np.argsort(self.lead_by_game, kind="stable")[len(self.lead_by_game) // 2]
        return {
            action: {
                "vp": round(float(means[k]), 1),
                "answer_next": action in self.improved_by_plan,
                "why": by_source(env.ruleset, sources[self.best_row] - sources[k]),
                "line": line_texts(env, self.state, action, self.ends.moves[k, median]),
                **self._cause(env.ruleset.actions.texts, counts[:, self.best_row], counts[:, k]),
            }
            for k, action in enumerate(self.comparison.candidates.tolist())
        }

    def _action_counts(self, num_actions: int) -> np.ndarray:
        """(2, K, A) times a game that the others (row 0) and the seat take an action."""
        moves, is_own = self.ends.moves, self.ends.notes % WITHIN_TURN == self.comparison.seat
        counts = np.zeros((2, len(moves), num_actions))
        for own, row in np.ndindex(counts.shape[:2]):
            actions = moves[row][(moves[row] >= 0) & (is_own[row] == bool(own))]
            counts[own, row] = np.bincount(actions, minlength=num_actions) / moves.shape[1]
        rows = np.arange(len(moves))
        counts[1, rows, self.comparison.candidates] += 1
        return counts

    def _cause(self, texts: Sequence[str], answer: np.ndarray, other: np.ndarray) -> JsonObject:
        """What the seat takes more often after the answer, maybe since others take it otherwise.

        Args:
            texts: of all actions. answer, other: (2, A) as of `_action_counts`.
        Returns:
            "cause", or nothing if no difference reaches MIN_CAUSE.
        """
        differences = (answer - other) * np.array([[-1.0], [1.0]])  # of the others, of the seat
        differences[:, [text.split()[0] not in CAUSES for text in texts]] = 0
        differences[0, differences[1] < MIN_CAUSE] = 0  # not contested
        differences[1, self.answer] = 0
        own, action = map(int, np.unravel_index(np.argmax(differences), differences.shape))
        if differences[own, action] < MIN_CAUSE:
            return {}
        times = [round(float(x[own, action]), 1) for x in (answer, other)]
        return {"cause": {"text": texts[action], "own": bool(own), "times": times}}

    def plans(self, last_pass: int) -> list[Plan]:
        """The turns of the seat from the answer on, one plan for each game.

        Args:
            last_pass: the pass of the last round, left out: the agent passes when it must.
        """
        games = zip(self.ends.moves[self.best_row], self.ends.notes[self.best_row], strict=True)
        plans = [extract_plan(self.answer, *game, self.comparison.seat) for game in games]
        return [[turn for turn in plan if turn[0] != last_pass] for plan in plans]

    def near_moves_with_plans(self, last_pass: int) -> list[PlannedMove]:
        """The candidates within MAX_DISTANCE of the answer, each with the plans of the answer."""
        vp, plans = self.seat_vp.mean(1), self.plans(last_pass)
        near = np.flatnonzero(vp >= vp.max() - MAX_DISTANCE)
        actions = self.comparison.candidates[near[near != self.best_row]]
        return [PlannedMove(int(action), plans) for action in actions]

    def with_better_ends(self, moves: Sequence[PlannedMove], ends: Ends) -> Trial:
        """The trial with the ends of the planned moves that end better than without a plan."""
        rows = [self.comparison.candidates.tolist().index(move.action) for move in moves]
        means = ends.vp[:, :, self.comparison.seat].mean(1) if moves else []
        better = [j for j, vp in enumerate(means) if vp > self.seat_vp[rows[j]].mean()]
        merged = [array.copy() for array in self.ends]
        for j in better:
            for array, new in zip(merged, ends, strict=True):
                array[rows[j]] = new[j]
        return self._replace(
            ends=Ends(*merged), improved_by_plan=frozenset(moves[j].action for j in better)
        )


def extract_plan(first: int, moves: np.ndarray, notes: np.ndarray, seat: int) -> Plan:
    """The turns of a seat in one game, from an action on.

    Args:
        first: that action. moves, notes: (M,) of one game.
    """
    plan = [[first]]
    for action, note in zip(moves.tolist(), notes.tolist(), strict=True):
        if action >= 0 and note == TURN_BEGINS + seat:
            plan.append([action])
        elif action >= 0 and note == WITHIN_TURN + seat:
            plan[-1].append(action)
    return plan


class CandidatePlayer:
    """Plays out candidates with one agent; compiled once. Ctrl-C raises KeyboardInterrupt."""

    def __init__(
        self,
        env: GaiaEnv,
        agent: Agent,
        slots: int = PLAYOUT_SLOTS,
        turns: tuple[Turn, Turn] = (begins_turn, is_within_turn),
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

    @cached_property
    def _identity(self) -> str:
        """The agent with its parameters, and the rules."""
        env = self.runner.env
        return f"{fingerprint(self.runner.agent)} {env.id} {env.version} {env.num_players}"

    def try_candidates(
        self,
        trials: Sequence[Trial],
        samples: int,
        first: int,
        accepts: Callable[[Trial], bool],
        seed: int = 0,
        with_plans: bool = False,
    ) -> list[Trial]:
        """Play out every candidate and keep the trials that `accepts` accepts.

        Args:
            trials: in the order of their numbers.
            samples: games of each candidate. first: number of the first one.
            with_plans: then play out the near candidates of these trials with the plan of the
                answer, and keep the trials that `accepts` still accepts.
        """
        moves = [[PlannedMove(int(a)) for a in trial.comparison.candidates] for trial in trials]
        ends = self.play(trials, moves, samples, first, seed)
        trials = [trial._replace(ends=end) for trial, end in zip(trials, ends, strict=True)]
        trials = [trial for trial in trials if accepts(trial)]
        if not with_plans:
            return trials
        moves = [trial.near_moves_with_plans(self.last_pass) for trial in trials]
        ends = self.play(trials, moves, samples, first, seed)
        rows = zip(trials, moves, ends, strict=True)
        improved = (trial.with_better_ends(near, end) for trial, near, end in rows)
        return [trial for trial in improved if accepts(trial)]

    def play(
        self,
        trials: Sequence[Trial],
        planned_moves: Sequence[Sequence[PlannedMove]],
        samples: int,
        first: int,
        seed: int = 0,
    ) -> list[Ends]:
        """Play out the planned moves of each trial; other arguments as of `try_candidates`."""
        ends = [NO_ENDS] * len(trials)
        size = max(MAX_JOBS // (samples * max([1, *map(len, planned_moves)])), 1)  # of a request
        used = [index for index, own in enumerate(planned_moves) if own]
        for _, block in groupby(used, lambda index: trials[index].number // POOL_SIZE):
            indices = list(block)
            for part in (indices[n : n + size] for n in range(0, len(indices), size)):
                rows = [trials[index].number % POOL_SIZE for index in part]
                moves = [move for index in part for move in planned_moves[index]]
                counts = [len(planned_moves[index]) for index in part]
                jobs = Jobs(
                    np.repeat(np.repeat(rows, counts), samples),
                    np.repeat([move.action for move in moves], samples),
                    np.tile(np.arange(first, first + samples), len(moves)),
                    np.concatenate([move.planned_actions(samples) for move in moves]),
                )
                pool = stack_states([trials[index].state for index in part], rows)
                by_move = [
                    x.reshape(-1, samples, *x.shape[1:]) for x in self.run_jobs(pool, jobs, seed)
                ]
                arrays = (np.split(x, np.cumsum(counts)[:-1]) for x in by_move)
                for index, *own in zip(part, *arrays, strict=True):
                    ends[index] = Ends(*own)
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
    pool: State = jax.tree.map(lambda *x: np.stack(x)[indices], *states)
    return pool
