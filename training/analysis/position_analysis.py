"""Analyse one position by playouts: candidates for a hint, and the check of a move.

`PositionAnalysis` keeps the playouts of a position, so that a hint and the check of a move share
them. All actions of a position are played out with the same random numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.state import Node

from ..system.batched import one_row
from ..types import EnvState
from .actions import read_notes
from .judge import GRADES, MIN_PROBABILITY, Loss, estimate_loss, policy_probabilities
from .playouts import Candidates, Ends, Playouts, join_ends
from .recorded_game import whole_moves

ROUND = 16  # playouts of an action at a time
NUM_FIRST, NUM_MORE = 4, 2  # candidates that are played out first, and that are added at a time
MAX_TRIED = 10  # candidates that are played out
NUM_SHOWN = 4  # candidates that are played out a second time
NEAR_VP = GRADES["blunder"]  # an alternative that loses more is no alternative
WARNING_VP = GRADES["mistake"]
# Playouts by which a check compares two moves, until the result is clear; before the other
# candidates are tried.
NUM_CHOOSING = ROUND // 2
READINGS = tuple(range(count) for count in range(ROUND, 3 * ROUND + 1, ROUND))
QUICK_READINGS = READINGS[:2]
MIN_LIKELY = 2 * ROUND  # playouts with which a result need not be clear
# Standard errors from a limit at which a result is clear (docs/lab/review.md).
CLEARLY_FINE, CLEARLY_BAD = 1.3, 2.0
SPREAD = 14.0  # VP, standard deviation of a difference of two playouts (docs/lab/review.md)

StepFunction = Callable[[Any, int], Any]
Progress = Callable[[int, int], object]


class Check(NamedTuple):
    """A checked move."""

    best: int  # the best known other action; the move itself without another one
    loss: Loss  # VP of `best` minus VP of the move, for the deciding player
    num_playouts: int  # of each
    is_mistake: bool


class PositionAnalysis:
    """The playouts of one position."""

    def __init__(self, runner: Playouts, state: EnvState, step: StepFunction):
        """
        Args:
            runner: as of `playouts.shared_playouts`, with an agent that has a policy.
            state: one state, before a decision.
            step: one decision, without short turns.
        """
        self.runner, self.state, self._step = runner, state, step
        self.seat = int(state.current_player)
        self._states = one_row(state)
        self._by_action: dict[int, Ends] = {}  # (n, ...) of each action
        self._orders: dict[int, int] = {}  # an action that is no candidate: the one it belongs to
        self._num_choosing: dict[int, int] = {}  # of a candidate: its playouts that choose
        self._likely: list[int] | None = None
        self.is_hurried = False  # `suggest` ends early, because a check waits

    @property
    def likely_actions(self) -> list[int]:
        """The legal actions above MIN_PROBABILITY by the policy, but at least NUM_FIRST.

        The most likely comes first.
        """
        if self._likely is None:
            probabilities = policy_probabilities(self.runner.agent, self._states)[0]
            legal = np.flatnonzero(self.state.legal_action_mask)
            # With short turns the policy gives 0 to the legal conversions after a main action.
            order = legal[np.argsort(-probabilities[legal], kind="stable")].tolist()
            num_likely = int((probabilities >= MIN_PROBABILITY).sum())
            self._likely = order[: max(num_likely, NUM_FIRST)]
        return self._likely

    @property
    def candidates(self) -> list[int]:
        """The actions played out so far, best first; one action for each plan."""
        tried = [action for action in self._by_action if action not in self._orders]
        return sorted(tried, key=lambda action: -self.mean_vp(action))

    def mean_vp(self, action: int) -> float:
        """Mean final VP of the deciding player after an action that was played out."""
        return float(self._by_action[action].vp[:, self.seat].mean())

    def orders_of(self, action: int) -> list[int]:
        """Other actions that belong to the same plan as a candidate."""
        return [other for other, first in self._orders.items() if first == action]

    def plan_of(self, action: int) -> int:
        """The candidate of the plan to which an action belongs; -1 if it was not played out."""
        return self._orders.get(action, action if action in self._by_action else -1)

    def ends(self, actions: Sequence[int]) -> Ends:
        """(K, n, ...) playouts of K actions, as many of each as all of them have."""
        count = min(map(self._num_playouts, actions))
        own = (self._by_action[action] for action in actions)
        return Ends(*(np.stack([x[:count] for x in arrays]) for arrays in zip(*own, strict=True)))

    def losses(self, action: int, best: int) -> Loss:
        """VP that an action loses compared with another one."""
        best_vp, vp = self.ends([best, action]).vp[:, :, self.seat]
        return estimate_loss(best_vp, vp)

    def suggest(self, progress: Progress = lambda ended, total: None, played: int = -1) -> None:
        """Play out candidates until two alternatives to the best are known, if there are any.

        Args:
            progress: called with the number of finished playouts, and how many are planned.
            played: an action to include; -1 for none.
        """
        number = 0
        while number < min(MAX_TRIED, len(self.likely_actions)):
            if number and (self.is_hurried or len(self._near()) > 2):
                break
            more = self.likely_actions[number : number + (NUM_MORE if number else NUM_FIRST)]
            number += len(more)
            more += [played] * (played >= 0 and played not in more)
            self._extend(more, ROUND, progress)
            self._merge_orders()
        shown = self.candidates[:NUM_SHOWN]
        shown += [plan for plan in [self.plan_of(played)] if plan >= 0 and plan not in shown]
        if len(shown) > 1 and not self.is_hurried:
            self._extend(shown, 2 * ROUND, progress)
            self._merge_orders()
        self._num_choosing.clear()  # these playouts choose again

    def _near(self) -> list[int]:
        """The candidates that lose at most NEAR_VP, with the best."""
        candidates = self.candidates
        best = self.mean_vp(candidates[0])
        return [action for action in candidates if self.mean_vp(action) >= best - NEAR_VP]

    def alternatives(self) -> list[int]:
        """The candidates near the best one, without it."""
        return self._near()[1:NUM_SHOWN]

    def check(
        self,
        actions: Sequence[int],
        progress: Progress = lambda ended, total: None,
    ) -> Check:
        """Check a move against the best known candidate.

        Most moves that are mistakes lose to the most likely one. Otherwise the playouts so far
        choose the best other candidate: it looks better in those than it is, so only further ones
        warn.

        Args:
            actions: the decisions of the move; the first one is legal here, each of the others
                after those before it.
            progress: as of `suggest`.
        """
        move = MovePlayouts(self, actions) if len(actions) > 1 else None
        played = actions[0] if move is None else -1
        first = self.likely_actions[:NUM_FIRST]
        num_known = min(map(self._num_playouts, first))
        if num_known < ROUND and played in first:
            self._extend(first, NUM_CHOOSING, progress)
        elif num_known < ROUND:
            check = self._compare(first[0], played, move, QUICK_READINGS, progress)
            if check.is_mistake:
                return check
            self._extend(first[: NUM_FIRST - 1], ROUND, progress)  # they fill the slots
        self._merge_orders()
        others = [action for action in self.candidates if action != played]
        if not others:
            return Check(actions[0], estimate_loss(np.zeros(2), np.zeros(2)), 0, False)
        for action in others:
            self._num_choosing.setdefault(action, self._num_playouts(action))
        best = max(others, key=self._choosing_vp)
        num_choosing = self._num_choosing[best]
        further = [range(num_choosing, num_choosing + len(part)) for part in READINGS]
        readings = [range(num_choosing), *further]
        return self._compare(best, played, move, readings, progress)

    def _choosing_vp(self, action: int) -> float:
        """Mean VP in the playouts that choose; later ones measure in this and further checks."""
        vp = self._by_action[action].vp[: self._num_choosing[action], self.seat]
        return float(vp.mean())

    def _num_playouts(self, action: int) -> int:
        """How often an action was played out."""
        return len(self._by_action[action].vp) if action in self._by_action else 0

    def _compare(
        self,
        best: int,
        played: int,
        move: MovePlayouts | None,
        readings: Sequence[range],
        progress: Progress,
    ) -> Check:
        """Compare a move with another action until the result is clear.

        Args:
            played: the move; ignored if it has several decisions, `move`.
            readings: numbers of the playouts by which the moves are compared, one after the other;
                after MIN_LIKELY a likely mistake is one, before only a clear one, and none with
                fewer than ROUND. Those that start before the last one warn of nothing.
        """
        num_known = min(self._num_playouts(best), 2 * ROUND)
        for reading in [part for part in readings if part.stop >= num_known]:
            if move is None:
                self._extend([best, played], reading.stop, progress)
                vp = self._by_action[played].vp
            else:
                self._extend([best], reading.stop, progress)
                vp = move.play(reading.stop, progress)
            best_vp = self._by_action[best].vp
            part = slice(reading.start, reading.stop)
            loss = estimate_loss(best_vp[part, self.seat], vp[part, self.seat])
            error = loss.standard_error
            if len(reading) < ROUND:  # too few to estimate it
                error = max(error, SPREAD / len(reading) ** 0.5)
            is_fine = loss.mean + CLEARLY_FINE * error < NEAR_VP
            may_warn = len(reading) >= ROUND and reading.start == readings[-1].start
            is_bad = may_warn and loss.mean - CLEARLY_BAD * error > WARNING_VP
            if is_fine or is_bad:
                break
        is_likely = len(reading) >= MIN_LIKELY and loss.low > 0 and loss.shrunk_mean >= WARNING_VP
        return Check(best, loss, len(reading), is_bad or (is_likely and not is_fine))

    def _extend(self, actions: Sequence[int], count: int, progress: Progress) -> None:
        """Play out actions until each of them has at least `count` playouts."""
        for start in sorted({self._num_playouts(action) for action in actions}):
            missing = [a for a in actions if self._num_playouts(a) == start < count]
            if not missing:
                continue
            total = len(missing) * (count - start)
            progress(0, total)
            (played,) = self.runner.play_candidates(
                self._states, [Candidates(0, missing, range(start, count))],
                progress=partial(_report, progress, total),
            )  # fmt: skip
            if not played.ended.all():
                raise KeyboardInterrupt
            for row, action in enumerate(missing):
                new, known = played.at(row), self._by_action.get(action)
                self._by_action[action] = join_ends([known, new]) if known else new

    def _merge_orders(self) -> None:
        """Keep one candidate of each plan: the best of those that lead to the same position.

        Two actions are orders of one plan if they lead to the same position at the end of the
        turn, or if each soon follows the other in most playouts and neither is better.
        """
        candidates = self.candidates
        positions = {action: self._position_after_turn(action) for action in candidates}
        for at, action in enumerate(candidates):
            for better in candidates[:at]:
                if better in self._orders:
                    continue
                is_same = positions[action] == positions[better]
                if is_same or self._are_orders(better, action):
                    self._orders |= dict.fromkeys((action, *self.orders_of(action)), better)
                    break

    def _position_after_turn(self, action: int) -> bytes:
        """The position at the end of the turn, as the most frequent of the playouts ends it."""
        played = self._by_action[action]
        notes = read_notes(played.notes)
        turns = Counter(
            tuple(moves[: _length_of_turn(players, begins, self.seat)].tolist())
            for moves, players, begins in zip(
                played.moves, notes.player, notes.begins_turn, strict=True
            )
        )
        later = turns.most_common(1)[0][0]
        moves = (action, *later)
        *_, (_, state) = whole_moves(self.runner.env, self._step, self.state, moves)
        return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(state.game))

    def _are_orders(self, first: int, second: int) -> bool:
        """Whether two actions follow each other in most playouts, and neither is better."""
        if self.losses(second, first).low > 0:
            return False
        shares = (self._share_followed(first, second), self._share_followed(second, first))
        return min(shares) > 0.5

    def _share_followed(self, action: int, later: int) -> float:
        """Share of an action's playouts with another action in the same or the seat's next turn.

        The same turn counts for conversions: one may precede a main action, or wait a turn.
        """
        played = self._by_action[action]
        notes = read_notes(played.notes)
        own = (notes.player == self.seat) & (notes.node != Node.LEECH)
        turn = np.cumsum(own & (notes.begins_turn | (notes.node == Node.START)), axis=1)
        return float((own & (turn <= 1) & (played.moves == later)).any(1).mean())


class MovePlayouts:
    """The playouts of a move of several decisions, from the position after it."""

    def __init__(self, analysis: PositionAnalysis, actions: Sequence[int]):
        state = analysis.state
        for action in actions:
            state = analysis._step(state, action)
        self._states = one_row(state)
        self._runner, self._is_over = analysis.runner, bool(state.terminated | state.truncated)
        self._vp = np.asarray(state.game.players.vp)[None][:0]

    def play(self, count: int, progress: Progress) -> np.ndarray:
        """(count, P) final VP."""
        if self._is_over:
            return np.repeat(np.asarray(self._states.game.players.vp), count, 0)
        missing = range(len(self._vp), count)
        if missing:
            (ends,) = self._runner.play_candidates(
                self._states, [Candidates(0, [-1], missing)],
                progress=lambda ended: progress(ended, len(missing)),
            )  # fmt: skip
            if not ends.ended.all():  # an unfinished playout has 0 VP
                raise KeyboardInterrupt
            self._vp = np.concatenate([self._vp, ends.vp[0]])
        return self._vp


def _report(progress: Progress, total: int, ended: int) -> None:
    progress(ended, total)


def _length_of_turn(players: np.ndarray, begins: np.ndarray, seat: int) -> int:
    """The number of first decisions that belong to the turn of a deciding seat.

    Args:
        players, begins: (M,) of the decisions, `read_notes`.
    """
    ends = (players != seat) | begins
    return int(ends.argmax()) if ends.any() else len(ends)
