"""Moves of a game judged by playouts: the best alternative first, then both on fresh luck.

Who chooses the best of noisy means, and then reports the same means, reports too much. So the
alternative is chosen on some playouts, and the loss is measured on others.
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

MOST = 4  # candidates, the played one among them
LEAST = 1e-4  # probability by the policy, below which an alternative is not tried
LINE = 12  # moves of a line that are kept
LOOKED_AT_AGAIN = 8  # one in 8 moves, the costliest, is measured again ...
LONGER = 3  # ... with 3 times the playouts
BEGINNINGS = 4  # times the playouts: games played from the first position on


class Question(NamedTuple):
    """A decision that is to be judged."""

    number: int  # from 1
    seat: int
    candidates: np.ndarray  # (K,) actions, the played one first
    policy: np.ndarray  # (K,) probability


class Judged(NamedTuple):
    """What playouts say of a move."""

    question: Question
    best: int  # the best alternative; the played action where there was no other
    vp: np.ndarray  # (P,) mean at the end after the played action
    win: np.ndarray  # (P,) chance to win after it
    loss: Loss  # VP of the decider
    win_loss: Loss  # its chance to win
    playouts: int  # of both, that the losses come from
    line: np.ndarray  # (M,) actions after `best`, of the playout with the median VP; -1 for none


def question(number: int, seat: int, played: int, chance: np.ndarray) -> Question:
    """The played action and the most likely others.

    Args:
        chance: (A,) by the policy.
    """
    order = np.argsort(-chance, kind="stable")
    others = [a for a in order[:MOST] if a != played and chance[a] >= LEAST][: MOST - 1]
    candidates = np.array([played, *others], int)
    return Question(number, seat, candidates, chance[candidates])


class _Stage(NamedTuple):
    """Playouts of some questions: those of a question lie together."""

    asked: list[int]  # which questions
    tried: list[np.ndarray]  # (K,) actions of each
    ends: Ends
    samples: int  # n, of each action

    @property
    def is_complete(self) -> bool:
        """Whether it was not interrupted."""
        return bool(self.ends.ended.all())

    def results(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Each question that was played to the end: its actions, VP (K, n, P), moves (K, n, M)."""
        start = 0
        for at, actions in zip(self.asked, self.tried, strict=True):
            rows = slice(start, start + len(actions) * self.samples)
            start = rows.stop
            if self.ends.ended[rows].all():
                vp, moves = self.ends.vp[rows], self.ends.moves[rows]
                shape = (len(actions), self.samples)
                yield at, actions, vp.reshape(*shape, -1), moves.reshape(*shape, -1)


class Judge:
    """Judges moves by the playouts of one agent."""

    def __init__(
        self, env: Environment, agent: Agent, playouts: int, remeasure_one_in: int = LOOKED_AT_AGAIN
    ):
        """
        Args:
            playouts: n of the played move and of the best alternative, at least 4.
            remeasure_one_in: the costliest 1/n of the moves are measured again.
        """
        self.playouts, self.players = playouts, Playouts(env, agent, moves=LINE)
        self._in_so_many = remeasure_one_in
        self.capacity = 0  # jobs of the largest stage that was asked for
        self._choosing = max(playouts // 2, 4)

    def total(self, questions: Sequence[Question]) -> int:
        """How many playouts `judge` makes."""
        return sum(self._stages(questions))

    def _capacity(self, questions: Sequence[Question]) -> int:
        """Jobs of the largest request: one program for all."""
        return max(*self._stages(questions), BEGINNINGS * self.playouts)

    def expected(
        self,
        states: EnvState,
        questions: Sequence[Question],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> np.ndarray:
        """VP at the end if the agent plays on at all seats from the first position.

        Args:
            states, questions: as of `judge`, whose program this takes.
            progress: called with the number of finished playouts, of BEGINNINGS x `playouts`.
        Returns:
            (P,) float64, means.
        Raises:
            KeyboardInterrupt: before all playouts have ended.
        """
        jobs = jobs_of([np.array([-1])], BEGINNINGS * self.playouts)
        ends = self.players.play(states, jobs, seed, progress, self._capacity(questions))
        if not ends.ended.all():
            raise KeyboardInterrupt
        return np.asarray(ends.vp.mean(0))

    def _stages(self, questions: Sequence[Question]) -> tuple[int, int, int]:
        """How many playouts choose, measure, and measure again."""
        candidate_counts = [len(q.candidates) for q in questions]
        remeasured = self._num_remeasured(sum(k > 1 for k in candidate_counts)) * LONGER
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
        """What the moves lost. Ctrl-C gives those that are known until then.

        Args:
            states: the position of each question.
            progress: called with the number of finished playouts.
        """
        before, capacity = 0, self._capacity(questions)
        self.capacity = capacity

        def play(rows: list[int], tried: list[np.ndarray], samples: int, first: int) -> _Stage:
            nonlocal before
            jobs = jobs_of(tried, samples, first)
            jobs = Jobs(np.array(rows)[jobs.position], jobs.action, jobs.sample)
            ends = self.players.play(states, jobs, seed, lambda n: progress(before + n), capacity)
            before += len(jobs.action)
            return _Stage(rows, tried, ends, samples)

        n, choosing = self.playouts, self._choosing
        both = [q.candidates[:2] for q in questions]
        open_ = [i for i, q in enumerate(questions) if len(q.candidates) > 2]
        if open_:
            stage = play(open_, [questions[i].candidates for i in open_], choosing, 0)
            if not stage.is_complete:
                return [_halves(questions[i], *result) for i, *result in stage.results()]
            for i, actions, vp, _ in stage.results():
                both[i] = actions[[0, _best(questions[i], vp)]]
        stage = play(list(range(len(questions))), both, n, choosing)
        judged = {i: measured(questions[i], *result) for i, *result in stage.results()}
        costly = [i for i in judged if len(both[i]) > 1]
        costly.sort(key=lambda i: -judged[i].loss.shrunk)
        if stage.is_complete and costly:
            costly = sorted(costly[: self._num_remeasured(len(costly))])
            stage = play(costly, [both[i] for i in costly], n * LONGER, choosing + n)
            judged |= {i: measured(questions[i], *result) for i, *result in stage.results()}
        return list(judged.values())

    def _num_remeasured(self, count: int) -> int:
        return min(count, max(count // self._in_so_many, 5))


def _best(question: Question, vp: np.ndarray) -> int:
    """Which alternative has the most VP for the decider, from (K, n, P); 1 to K - 1."""
    return 1 + int(np.argmax(vp[1:, :, question.seat].mean(1)))


def _halves(question: Question, actions: np.ndarray, vp: np.ndarray, moves: np.ndarray) -> Judged:
    """Of an interrupted choice: one half of the playouts chooses, the other one measures."""
    half = vp.shape[1] // 2
    pair = [0, _best(question, vp[:, :half])]
    return measured(question, actions[pair], vp[pair, half:], moves[pair, half:])


def measured(question: Question, actions: np.ndarray, vp: np.ndarray, moves: np.ndarray) -> Judged:
    """From playouts of the played move and, where there is one, of the alternative.

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
