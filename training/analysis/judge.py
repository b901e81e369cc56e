"""Judge moves by playouts: choose the best alternative, then measure the loss in other playouts.

The highest of several noisy means is biased upwards, so the playouts that choose the alternative do
not measure the loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..agents import Agent
from ..games.stats import student_quantile, wins
from ..types import Environment, EnvState
from .playouts import Candidates, Ends, Playouts

MAX_CANDIDATES = 4  # including the played action
MIN_PROBABILITY = 1e-4  # of an alternative, by the policy
LINE_LENGTH = 12  # stored actions of a playout
REMEASURE_ONE_IN = 8  # the costliest 1 in 8 moves, but at least 5, are measured again ...
REMEASURE_FACTOR = 3  # ... with 3 times the playouts
FULL_GAMES_FACTOR = 4  # full games from the first position: this many times `num_playouts`

MOVE_SPREAD = 8.0  # VP, assumed standard deviation of the difference of two good moves
GRADES = {"blunder": 10.0, "mistake": 5.0, "inaccuracy": 2.5}  # minimum VP lost


class Loss(NamedTuple):
    """VP or win probability of the alternative minus that of the played move; 95 % interval.

    `shrunk_mean` and `grade` are for losses in VP only.
    """

    mean: float
    low: float
    high: float
    standard_error: float  # of the mean

    @property
    def rounded(self) -> list[float]:
        """Mean, low and high, as reports show them."""
        return [round(x, 1) for x in (self.mean, self.low, self.high)]

    @property
    def shrunk_mean(self) -> float:
        """The mean, shrunk towards 0 the more, the larger its standard error; at least 0."""
        return max(0.0, self.mean * MOVE_SPREAD**2 / (MOVE_SPREAD**2 + self.standard_error**2))

    @property
    def grade(self) -> str | None:
        """The worst grade that the shrunk mean reaches; None if it reaches none or `low` <= 0."""
        if self.low <= 0:
            return None
        return next((name for name, min_vp in GRADES.items() if self.shrunk_mean >= min_vp), None)


NO_LOSS = Loss(0.0, 0.0, 0.0, 0.0)  # of a move without a likely alternative


def estimate_loss(alternative: np.ndarray, played: np.ndarray) -> Loss:
    """Estimate a loss from n playouts of each move, paired by random numbers; n is at least 2.

    Args:
        alternative: (n,) results of the alternative. played: (n,) of the played move.
    """
    differences = np.asarray(alternative, float) - np.asarray(played, float)
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    half_width = float(student_quantile(len(differences) - 1)) * error
    return Loss(mean, mean - half_width, mean + half_width, error)


def estimate_win_loss(alternative: np.ndarray, played: np.ndarray) -> Loss:
    """Estimate a loss in win probability from n playouts of each move, as `estimate_loss` does.

    The interval stays within -1 and 1. Two further differences, 1 and -1, widen it, so that n equal
    results give no interval of width 0.

    Args:
        alternative: (n,) shares of the win, 0 to 1, with the alternative. played: (n,) without.
    """
    loss = estimate_loss(alternative, played)
    wide = estimate_loss(np.append(alternative, [1.0, 0.0]), np.append(played, [0.0, 1.0]))
    half_width = (wide.high - wide.low) / 2
    low, high = max(loss.mean - half_width, -1.0), min(loss.mean + half_width, 1.0)
    return Loss(loss.mean, low, high, wide.standard_error)


class Comparison(NamedTuple):
    """The actions to compare at a decision: the played one and its likely alternatives."""

    number: int  # of the decision; a label for the caller, in a review from 1
    seat: int
    candidates: np.ndarray  # (K,) actions, the played one first
    probabilities: np.ndarray  # (K,) of each, by the agent's policy


class JudgedMove(NamedTuple):
    """A judged move; P players."""

    comparison: Comparison
    best: int  # the best alternative, even if it is worse; without one the played action
    vp: np.ndarray  # (P,) mean final VP after the played action
    win: np.ndarray  # (P,) win probability after the played action
    loss: Loss  # in VP of the deciding player
    win_loss: Loss  # in win probability of the deciding player
    num_playouts: int  # of each of the two actions that the losses compare
    # (M,) actions after `best` in the playout with the deciding player's median VP, padded with -1
    line: np.ndarray
    # (S,) mean VP by source of the deciding player after `best` minus after the played action
    sources: np.ndarray = np.empty(0)


class GameJudgement(NamedTuple):
    """The judged moves of a game; P players."""

    moves: list[JudgedMove]
    expected_vp: np.ndarray  # (P,) at the end, if the agent plays all seats from the first position


def policy_probabilities(agent: Agent, states: EnvState) -> np.ndarray:
    """(N, A) probabilities by an agent's policy in N positions; 0 for illegal actions."""
    assert agent.policy is not None
    logits = jax.jit(agent.policy.evaluate)(agent.params, states)[0]
    return np.asarray(jax.nn.softmax(jnp.where(states.legal_action_mask, logits, -jnp.inf)))


def make_comparison(number: int, seat: int, played: int, probabilities: np.ndarray) -> Comparison:
    """Choose the candidates of a decision: the played action, then the most likely others.

    Without another action of at least `MIN_PROBABILITY` the played one is the only candidate, and
    its loss becomes `NO_LOSS`.

    Args:
        number: of the decision, a label for the caller.
        played: the played action.
        probabilities: (A,) of all actions, by the policy.
    """
    order = np.argsort(-probabilities, kind="stable")
    others = [a for a in order if a != played and probabilities[a] >= MIN_PROBABILITY]
    candidates = np.array([played, *others[: MAX_CANDIDATES - 1]], int)
    return Comparison(number, seat, candidates, probabilities[candidates])


class Judge:
    """Judges moves by the playouts of one agent."""

    def __init__(
        self,
        env: Environment,
        agent: Agent,
        num_playouts: int,
        remeasure_one_in: int = REMEASURE_ONE_IN,
        runner: Playouts | None = None,
    ):
        """
        Args:
            num_playouts: n, of each of the two actions that are measured; must be at least 4.
            remeasure_one_in: of N moves with alternatives, measure the costliest N //
                `remeasure_one_in` again, but at least 5.
            runner: playouts of the agent that store at least LINE_LENGTH actions; by default
                playouts of the judge's own.
        """
        self.num_playouts, self._agent = num_playouts, agent
        self.runner = runner or Playouts(env, agent, moves=LINE_LENGTH)
        self._remeasure_one_in = remeasure_one_in
        self._num_choosing = max(num_playouts // 2, 4)

    def judge_game(
        self,
        states: EnvState,
        numbers: Sequence[int],
        played: Sequence[int],
        seed: int = 0,
        progress: Callable[[int, int], object] = lambda ended, total: None,
    ) -> GameJudgement:
        """Judge moves of one game. After Ctrl-C the result has those that were judged before.

        Args:
            states: N positions, in the order of the game.
            numbers: of the decisions, from 1. played: their actions.
            progress: called with the number of finished playouts and the total.
        Raises:
            KeyboardInterrupt: before any move was judged.
        """
        comparisons = self.compare_with_likely(states, numbers, played)
        num_full_games = FULL_GAMES_FACTOR * self.num_playouts
        total = num_full_games + self.count_playouts(comparisons)
        expected_vp = self.estimate_final_vp(
            states, comparisons, seed, lambda ended: progress(ended, total)
        )
        moves = self.judge(
            states, comparisons, seed, lambda ended: progress(num_full_games + ended, total)
        )
        if not moves:
            raise KeyboardInterrupt
        return GameJudgement(moves, expected_vp)

    def compare_with_likely(
        self, states: EnvState, numbers: Sequence[int], played: Sequence[int]
    ) -> list[Comparison]:
        """Choose the candidates of N decisions, as `make_comparison` does.

        Args:
            states: N positions. numbers: labels of the decisions. played: their actions.
        """
        probabilities = policy_probabilities(self._agent, states)
        seats = np.asarray(states.current_player).tolist()
        rows = zip(numbers, seats, played, probabilities, strict=True)
        return [make_comparison(*row) for row in rows]

    def count_playouts(self, comparisons: Sequence[Comparison]) -> int:
        """Number of playouts of `judge`."""
        return sum(self._stage_sizes(comparisons))

    def _capacity(self, comparisons: Sequence[Comparison]) -> int:
        """Jobs of the largest stage, so that all stages share one program."""
        return max(*self._stage_sizes(comparisons), FULL_GAMES_FACTOR * self.num_playouts)

    def estimate_final_vp(
        self,
        states: EnvState,
        comparisons: Sequence[Comparison],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> np.ndarray:
        """Final VP if the agent plays all seats from the first position.

        Args:
            states: N positions.
            comparisons: those to judge. Their number of playouts is the capacity of the program,
                so that `judge` can use the same one.
            progress: called with the number of finished playouts; FULL_GAMES_FACTOR x
                `num_playouts` is the total.
        Returns:
            (P,) float64, means.
        Raises:
            KeyboardInterrupt: before all playouts have ended.
        """
        samples = range(FULL_GAMES_FACTOR * self.num_playouts)
        (ends,) = self.runner.play_candidates(
            states,
            [Candidates(0, [-1], samples)],  # the agent also chooses the first action
            seed, progress, self._capacity(comparisons),
        )  # fmt: skip
        if not ends.ended.all():
            raise KeyboardInterrupt
        return np.asarray(ends.vp[0].mean(0))

    def _stage_sizes(self, comparisons: Sequence[Comparison]) -> tuple[int, int, int]:
        """Numbers of playouts that choose, that measure, and that measure again."""
        candidate_counts = [len(c.candidates) for c in comparisons]
        remeasured = self._num_remeasured(sum(k > 1 for k in candidate_counts)) * REMEASURE_FACTOR
        return (
            sum(k * self._num_choosing for k in candidate_counts if k > 2),
            sum(min(k, 2) for k in candidate_counts) * self.num_playouts,
            remeasured * 2 * self.num_playouts,
        )

    def judge(
        self,
        states: EnvState,
        comparisons: Sequence[Comparison],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> list[JudgedMove]:
        """Judge the moves; after Ctrl-C those whose playouts are complete.

        Args:
            states: the position of each comparison.
            progress: called with the number of finished playouts.
        """
        num_played, capacity = 0, self._capacity(comparisons)

        def play(indices: list[int], samples: range) -> dict[int, Ends]:
            """The completed comparisons of some `actions`, by index."""
            nonlocal num_played
            candidates = [Candidates(i, actions[i], samples) for i in indices]
            ends = self.runner.play_candidates(
                states, candidates, seed, lambda n: progress(num_played + n), capacity
            )
            num_played += sum(end.ended.size for end in ends)
            by_index = zip(indices, ends, strict=True)
            return {i: end for i, end in by_index if end.ended.all()}

        def measure(indices: list[int], samples: range) -> dict[int, JudgedMove]:
            return {
                i: judge_from_playouts(comparisons[i], actions[i], end)
                for i, end in play(indices, samples).items()
            }

        n, choosing = self.num_playouts, self._num_choosing
        # Choose the best alternative where there is more than one.
        actions = [comparison.candidates for comparison in comparisons]
        undecided = [i for i, own in enumerate(actions) if len(own) > 2]
        if undecided:
            chosen = play(undecided, range(choosing))
            if len(chosen) < len(undecided):
                return [_judge_by_halves(comparisons[i], end) for i, end in chosen.items()]
            for i, end in chosen.items():
                actions[i] = actions[i][[0, _best_alternative(comparisons[i], end.vp)]]
        # Measure the losses, with other samples.
        judged = measure(list(range(len(comparisons))), range(choosing, choosing + n))
        # The largest of these losses are biased upwards: replace them by those of new samples.
        with_alternative = [i for i in judged if len(actions[i]) > 1]
        by_loss = sorted(with_alternative, key=lambda i: -judged[i].loss.shrunk_mean)
        if len(judged) == len(comparisons) and by_loss:
            costliest = sorted(by_loss[: self._num_remeasured(len(by_loss))])
            first = choosing + n
            judged |= measure(costliest, range(first, first + n * REMEASURE_FACTOR))
        return list(judged.values())

    def _num_remeasured(self, count: int) -> int:
        return min(count, max(count // self._remeasure_one_in, 5))


def _best_alternative(comparison: Comparison, vp: np.ndarray) -> int:
    """The row, 1 to K - 1, of the alternative with the most VP for the deciding player.

    Args:
        vp: (K, n, P) of the playouts that choose.
    """
    return 1 + int(np.argmax(vp[1:, :, comparison.seat].mean(1)))


def _judge_by_halves(comparison: Comparison, ends: Ends) -> JudgedMove:
    """Judge a move by the choosing playouts alone: half of them choose, the others measure."""
    half = ends.vp.shape[1] // 2
    pair = [0, _best_alternative(comparison, ends.vp[:, :half])]
    later = ends.at(np.s_[pair, half:])
    return judge_from_playouts(comparison, comparison.candidates[pair], later)


def judge_from_playouts(comparison: Comparison, actions: np.ndarray, ends: Ends) -> JudgedMove:
    """Judge a move by playouts of it and of its alternative, if there is one.

    Args:
        actions: (K,), the played one first; K is 1 or 2.
        ends: (K, n, ...) of their playouts.
    """
    seat, vp, won = comparison.seat, ends.vp, wins(ends.vp)
    means = ends.sources[:, :, seat].mean(1)
    has_alternative = len(actions) > 1
    other = len(actions) - 1  # 0, the played action, without an alternative
    median = int(np.argsort(vp[other, :, seat], kind="stable")[vp.shape[1] // 2])
    return JudgedMove(
        comparison, int(actions[other]), vp[0].mean(0), won[0].mean(0),
        estimate_loss(vp[1, :, seat], vp[0, :, seat]) if has_alternative else NO_LOSS,
        estimate_win_loss(won[1, :, seat], won[0, :, seat]) if has_alternative else NO_LOSS,
        vp.shape[1], ends.moves[other, median, :LINE_LENGTH], means[other] - means[0],
    )  # fmt: skip
