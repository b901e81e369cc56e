"""Judge moves by playouts: choose the best alternative, then compare both on other playouts.

The best of several noisy means is biased upwards. So some playouts choose the alternative, and
others measure the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..agents import Agent
from ..games.stats import wins
from ..types import Environment, EnvState
from .accuracy import NONE, Loss, paired
from .playouts import Ends, Jobs, Playouts, jobs_of

MAX_CANDIDATES = 4  # with the played one
MIN_PROBABILITY = 1e-4  # by the policy, of an alternative
LINE = 12  # stored moves of a line
REMEASURE_SHARE = 8  # the costliest 1 in 8 moves are measured again ...
REMEASURE_FACTOR = 3  # ... with 3 times the playouts
BEGINNINGS = 4  # times the playouts: games from the first position


class Question(NamedTuple):
    """A decision to judge."""

    number: int  # from 1
    seat: int
    candidates: np.ndarray  # (K,) actions, the played one first
    policy: np.ndarray  # (K,) probability


class Judged(NamedTuple):
    """A judged move; P players."""

    question: Question
    best: int  # the best alternative; the played action if there was no other
    vp: np.ndarray  # (P,) mean final VP after the played action
    win: np.ndarray  # (P,) win probability after the played action
    loss: Loss  # VP of the decider
    win_loss: Loss  # win probability of the decider
    playouts: int  # of each of the two actions, in the losses
    line: np.ndarray  # (M,) actions after `best` in the playout with the median VP; then -1


def question(number: int, seat: int, played: int, chance: np.ndarray) -> Question:
    """The played action and the most likely others.

    Args:
        chance: (A,) by the policy.
    """
    order = np.argsort(-chance, kind="stable")
    others = [a for a in order[:MAX_CANDIDATES] if a != played and chance[a] >= MIN_PROBABILITY][
        : MAX_CANDIDATES - 1
    ]
    candidates = np.array([played, *others], int)
    return Question(number, seat, candidates, chance[candidates])


class _Stage(NamedTuple):
    """Playouts of some questions; those of a question are consecutive."""

    indices: list[int]  # of the questions
    actions: list[np.ndarray]  # (K,) of each
    ends: Ends
    samples: int  # n, of each action

    @property
    def is_complete(self) -> bool:
        """Whether it was not interrupted."""
        return bool(self.ends.ended.all())

    def results(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Each completed question: its index, actions, VP (K, n, P), moves (K, n, M)."""
        start = 0
        for at, actions in zip(self.indices, self.actions, strict=True):
            rows = slice(start, start + len(actions) * self.samples)
            start = rows.stop
            if self.ends.ended[rows].all():
                vp, moves = self.ends.vp[rows], self.ends.moves[rows]
                shape = (len(actions), self.samples)
                yield at, actions, vp.reshape(*shape, -1), moves.reshape(*shape, -1)


class Judge:
    """Judges moves by the playouts of one agent."""

    def __init__(
        self,
        env: Environment,
        agent: Agent,
        playouts: int,
        remeasure_one_in: int = REMEASURE_SHARE,
    ):
        """
        Args:
            playouts: n of the played move and of the best alternative, at least 4.
            remeasure_one_in: measure the costliest 1/n of the moves again.
        """
        self.playouts, self.players = playouts, Playouts(env, agent, moves=LINE)
        self._remeasure_one_in = remeasure_one_in
        self.capacity = 0  # jobs of the largest stage so far
        self._choosing = max(playouts // 2, 4)

    def total(self, questions: Sequence[Question]) -> int:
        """Number of playouts of `judge`."""
        return sum(self._stages(questions))

    def _capacity(self, questions: Sequence[Question]) -> int:
        """Jobs of the largest stage, so that all stages share one program."""
        return max(*self._stages(questions), BEGINNINGS * self.playouts)

    def expected(
        self,
        states: EnvState,
        questions: Sequence[Question],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> np.ndarray:
        """Final VP if the agent plays all seats from the first position.

        Args:
            states, questions: as of `judge`, for the same program.
            progress: called with the number of finished playouts, of BEGINNINGS x `playouts`.
        Returns:
            (P,) float64, means.
        Raises:
            KeyboardInterrupt: before all playouts have ended.
        """
        capacity = self._capacity(questions)
        jobs = jobs_of([np.array([-1])], BEGINNINGS * self.playouts)
        ends = self.players.play(states, jobs, seed, progress, capacity)
        if not ends.ended.all():
            raise KeyboardInterrupt
        return np.asarray(ends.vp.mean(0))

    def _stages(self, questions: Sequence[Question]) -> tuple[int, int, int]:
        """Numbers of playouts that choose, measure, and measure again."""
        candidate_counts = [len(q.candidates) for q in questions]
        remeasured = self._num_remeasured(sum(k > 1 for k in candidate_counts)) * REMEASURE_FACTOR
        return (
            sum(k * self._choosing for k in candidate_counts if k > 2),
            sum(min(k, 2) for k in candidate_counts) * self.playouts,
            remeasured * 2 * self.playouts,
        )

    def judge(
        self,
        states: EnvState,
        questions: Sequence[Question],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> list[Judged]:
        """Judge the moves; after Ctrl-C those that are complete.

        Args:
            states: the position of each question.
            progress: called with the number of finished playouts.
        """
        before, capacity = 0, self._capacity(questions)
        self.capacity = capacity

        def play(rows: list[int], actions: list[np.ndarray], samples: int, first: int) -> _Stage:
            nonlocal before
            jobs = jobs_of(actions, samples, first)
            jobs = Jobs(np.array(rows)[jobs.position], jobs.action, jobs.sample)
            ends = self.players.play(states, jobs, seed, lambda n: progress(before + n), capacity)
            before += len(jobs.action)
            return _Stage(rows, actions, ends, samples)

        n, choosing = self.playouts, self._choosing
        pairs = [q.candidates[:2] for q in questions]
        with_choice = [i for i, q in enumerate(questions) if len(q.candidates) > 2]
        if with_choice:
            stage = play(with_choice, [questions[i].candidates for i in with_choice], choosing, 0)
            if not stage.is_complete:
                return [_halves(questions[i], *result) for i, *result in stage.results()]
            for i, actions, vp, _ in stage.results():
                pairs[i] = actions[[0, _best(questions[i], vp)]]
        stage = play(list(range(len(questions))), pairs, n, choosing)
        judged = {i: measured(questions[i], *result) for i, *result in stage.results()}
        costly = [i for i in judged if len(pairs[i]) > 1]
        costly.sort(key=lambda i: -judged[i].loss.shrunk)
        if stage.is_complete and costly:
            costly = sorted(costly[: self._num_remeasured(len(costly))])
            stage = play(costly, [pairs[i] for i in costly], n * REMEASURE_FACTOR, choosing + n)
            judged |= {i: measured(questions[i], *result) for i, *result in stage.results()}
        return list(judged.values())

    def _num_remeasured(self, count: int) -> int:
        return min(count, max(count // self._remeasure_one_in, 5))


def _best(question: Question, vp: np.ndarray) -> int:
    """The alternative with the most VP for the decider, from (K, n, P); 1 to K - 1."""
    return 1 + int(np.argmax(vp[1:, :, question.seat].mean(1)))


def _halves(question: Question, actions: np.ndarray, vp: np.ndarray, moves: np.ndarray) -> Judged:
    """After an interrupted choice: half of the playouts choose, the others measure."""
    half = vp.shape[1] // 2
    pair = [0, _best(question, vp[:, :half])]
    return measured(question, actions[pair], vp[pair, half:], moves[pair, half:])


def measured(question: Question, actions: np.ndarray, vp: np.ndarray, moves: np.ndarray) -> Judged:
    """Judge a move from playouts of it and of its alternative, if there is one.

    Args:
        actions: (K,), one or two.
        vp: (K, n, P). moves: (K, n, M).
    """
    seat, won = question.seat, wins(vp)
    median = int(np.argsort(vp[-1, :, seat], kind="stable")[vp.shape[1] // 2])
    two = len(actions) > 1
    return Judged(
        question, int(actions[-1]), vp[0].mean(0), won[0].mean(0),
        paired(vp[1, :, seat], vp[0, :, seat]) if two else NONE,
        paired(won[1, :, seat], won[0, :, seat]) if two else NONE,
        vp.shape[1], moves[-1, median],
    )  # fmt: skip
