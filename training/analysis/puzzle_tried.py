"""A decision that may become a puzzle: its candidates, how they ended, what is clear of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaia_jax import actions
from gaia_jax.ruleset import Ruleset

from .accuracy import Loss, paired
from .judge import Question
from .puzzles import CLEAR, LEAST, NO_ANSWERS

TRIED = 6  # candidates of a puzzle, the policy's likeliest
FOLLOWED = 280  # actions behind a candidate that are kept; from round 5 on that is to the end


class Stage(NamedTuple):
    """How a stage tries, and what stays open after it."""

    samples: int  # playouts of each candidate, beside those of the stage before
    lead: float  # VP that the best one has more than the first, shrunk
    clear: float  # VP that it has more than each other


class Tried(NamedTuple):
    """A decision that is open, and how its K candidates ended n times."""

    row: int  # of its position
    asked: Question
    vp: np.ndarray  # (K, n, P)
    moves: np.ndarray  # (K, n, FOLLOWED) actions behind the candidate
    sources: np.ndarray  # (K, n, S) VP of the decider by source
    before: frozenset[int] = frozenset()  # candidates that were better with the answer behind them

    @property
    def own(self) -> np.ndarray:
        """(K, n) VP of the decider."""
        return self.vp[:, :, self.asked.seat]

    @property
    def more(self) -> np.ndarray:
        """(K, n, S) VP that the best candidate has more than each, by source."""
        return np.asarray(self.sources[margins(self.own)[0]] - self.sources)

    @property
    def best(self) -> int:
        """The candidate with the most VP for the decider."""
        return int(self.asked.candidates[margins(self.own)[0]])


def margins(own: np.ndarray) -> tuple[int, list[Loss]]:
    """The best candidate, and what it has more than each other.

    Args:
        own: (K, n) VP of the decider, the policy's first choice first; K at least 2.
    """
    best = int(np.argmax(own.mean(1)))
    return best, [paired(own[best], own[k]) for k in range(len(own)) if k != best]


def leads(own: np.ndarray, best: int) -> np.ndarray:
    """(n,) VP that one candidate has more than every other on each luck.

    Args:
        own: (K, n) VP of the decider.
    """
    return np.asarray(own[best] - np.delete(own, best, 0).max(0))


def typical(more: np.ndarray, lead: np.ndarray) -> int:
    """The luck on which moves differ most as they do in the mean, source by source.

    Of those on which the answer is ahead, if there are any: its game is to show why.

    Args:
        more: (K, n, S) VP that the answer has more than each candidate.
        lead: (n,) of the answer, `leads`.
    """
    apart = np.abs(more - more.mean(1, keepdims=True)).sum(2)
    usual = np.maximum(apart.mean(1, keepdims=True), 1e-9)  # so that all candidates count alike
    apart = (apart / usual).sum(0)
    return int(np.argmin(np.where((lead > 0) | (lead <= 0).all(), apart, np.inf)))


def is_answered(own: np.ndarray) -> bool:
    """Whether one candidate is LEAST VP better than the first, CLEAR than each other, for sure."""
    best, (first, *others) = margins(own)
    clear = all(one.mean >= CLEAR and one.low > 0 for one in others)
    return best > 0 and first.mean >= LEAST and first.low > 0 and clear


def stays(own: np.ndarray, stage: Stage) -> bool:
    """Whether a decision is still open after a stage."""
    best, (first, *others) = margins(own)
    clear = all(one.shrunk >= stage.clear for one in others)
    return best > 0 and first.shrunk >= stage.lead and clear


def better_way(one: Tried, other: Tried) -> Tried:
    """Each candidate as the better of two ways of going on, in the mean.

    Args:
        one: as it was tried.
        other: some of its candidates with the answer behind them, on the same luck.
    """
    known = one.asked.candidates.tolist()
    pairs = [(known.index(action), j) for j, action in enumerate(other.asked.candidates)]
    better = {k: j for k, j in pairs if other.own[j].mean() > one.own[k].mean()}
    vp, moves, sources = one.vp.copy(), one.moves.copy(), one.sources.copy()
    for k, j in better.items():
        vp[k], moves[k], sources[k] = other.vp[j], other.moves[j], other.sources[j]
    before = frozenset(known[k] for k in better)
    return one._replace(vp=vp, moves=moves, sources=sources, before=before)


def untried(row: int, asked: Question) -> Tried:
    """A decision without any playouts."""
    none = np.empty((len(asked.candidates), 0, 0), int)
    return Tried(row, asked, none, none, none)


def with_more(one: Tried, more: Sequence[np.ndarray]) -> Tried:
    """The same with more playouts: VP, moves and sources, each (K, n, ...)."""
    old = (one.vp, one.moves, one.sources)
    both = [np.concatenate([a, b], 1) if a.size else b for a, b in zip(old, more, strict=True)]
    return one._replace(vp=both[0], moves=both[1], sources=both[2])


def of_each_kind(rules: Ruleset, known: Sequence[int], likely: Sequence[int]) -> list[int]:
    """TRIED candidates: the first two known ones, then one of each kind of move, then the rest.

    A kind is a verb. Conversions and special actions there are only where they are known: a
    conversion is no whole move, and a special action before the answer often comes to the same.

    Args:
        known: those that were tried, the policy's favourite and the best one first.
        likely: all legal ones, the likeliest first.
    """
    texts = {action: actions.to_text(rules, action) for action in likely}
    new = [action for action in likely if not texts[action].startswith(NO_ANSWERS)]
    found, seen = list(known[:2]), {texts[action].split()[0] for action in known[:2]}
    for action in (*known, *new):
        kind = texts[action].split()[0]
        if kind not in seen:
            found.append(int(action))
            seen.add(kind)
    return list(dict.fromkeys([*found, *map(int, (*known, *new))]))[:TRIED]
