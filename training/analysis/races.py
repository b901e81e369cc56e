"""Race the answers of decisions against their rivals; stop each race as soon as it is decided.

Every move of a race is first played out a few times. After that, only the undecided rivals nearest
to the answer are played out more, with the random numbers of the answer's playouts. A race is lost
once a rival is clearly within its limit of the answer, and won once the answer leads every rival by
the limit. Many races share each request, so that the programs of `playouts` stay full.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaia_jax.env import State

from .playouts import Jobs
from .trials import MAX_JOBS, POOL_SIZE, CandidatePlayer, stack_states

MIN_WIDTH = 4  # rivals of a race that are played out together
POOLED_WEIGHT = 15  # degrees of freedom of the race's mean variance in that of one rival


class Step(NamedTuple):
    """A number of playouts of a move, and the standard errors that decide a rival after them."""

    playouts: int  # in total
    clear: float  # beyond the limit: the rival needs no more playouts
    doubt: float  # within the limit: the race is lost


# Weak evidence loses a race late, when more of it is expensive; the last step decides by the mean.
LADDER = (Step(4, 2.5, 2.5), Step(16, 2.5, 2.0), Step(64, 2.0, 1.0), Step(256, 0.0, 0.0))


@dataclasses.dataclass
class Race:
    """The playouts of an answer and of its rivals at one decision; K moves."""

    number: int  # of the decision, unique among the races of a call
    state: State
    seat: int
    actions: np.ndarray  # (K,) the answer first
    limits: np.ndarray  # (K - 1,) VP by which the answer has to lead each rival
    vp: list[np.ndarray] = dataclasses.field(default_factory=list)  # (n_k,) of each move

    def __post_init__(self) -> None:
        self.vp = self.vp or [np.empty(0)] * len(self.actions)

    @property
    def counts(self) -> np.ndarray:
        """(K - 1,) playouts of each rival."""
        return np.array([len(vp) for vp in self.vp[1:]], int)

    @property
    def leads(self) -> np.ndarray:
        """(K - 1,) mean VP of the answer above each rival; -inf without playouts."""
        return np.array([x.mean() if len(x) else -np.inf for x in self._differences()])

    @property
    def errors(self) -> np.ndarray:
        """(K - 1,) standard errors of the leads; inf without playouts."""
        differences = self._differences()
        variances = np.array([x.var(ddof=1) if len(x) > 1 else 0.0 for x in differences])
        freedom = np.maximum(self.counts - 1, 0)
        pooled = (variances * freedom).sum() / max(freedom.sum(), 1)
        own = (POOLED_WEIGHT * pooled + freedom * variances) / (POOLED_WEIGHT + freedom)
        return np.where(freedom > 0, np.sqrt(own / np.maximum(self.counts, 1)), np.inf)

    @property
    def nearest(self) -> int:
        """The index of the rival with the least lead."""
        return int(np.argmin(self.leads))

    def is_lost(self, ladder: Sequence[Step]) -> bool:
        """Whether a rival is clearly within its limit."""
        doubt = np.array([_reached(ladder, count).doubt for count in self.counts])
        played = self.counts > 0
        margins = (self.leads - self.limits)[played] + (doubt * self.errors)[played]
        return bool((margins < 0).any())

    def open_rivals(self, ladder: Sequence[Step]) -> list[int]:
        """The indices of the undecided rivals that may be played out more, nearest first."""
        leads, counts, errors = self.leads, self.counts, self.errors
        clear = np.array([_reached(ladder, count).clear for count in counts])
        with np.errstate(invalid="ignore"):
            is_clear = leads - clear * errors >= self.limits
        is_open = (counts < ladder[-1].playouts) & ~(is_clear & (counts > 0))
        return [int(k) for k in np.argsort(leads, kind="stable") if is_open[k]]

    def _differences(self) -> list[np.ndarray]:
        return [self.vp[0][: len(vp)] - vp for vp in self.vp[1:]]


class _Part(NamedTuple):
    """Playouts of one move of a race: samples `first` to `stop - 1`."""

    race: Race
    row: int  # of the move
    first: int
    stop: int


def run_races(
    player: CandidatePlayer, races: Sequence[Race], ladder: Sequence[Step], first: int, seed: int
) -> list[Race]:
    """Play races out until each is decided or at the end of the ladder; those that are not lost.

    Args:
        races: with the playouts of earlier calls, which used the same `first` and `seed`.
        first: number of the first playout of each move.
    """
    remaining_races = [race for race in races if not race.is_lost(ladder)]
    while parts := _next_parts(remaining_races, ladder):
        _play_parts(player, parts, first, seed)
        remaining_races = [race for race in remaining_races if not race.is_lost(ladder)]
    return remaining_races


def _reached(ladder: Sequence[Step], count: int) -> Step:
    """The step of a rival with `count` playouts."""
    return next((step for step in ladder if count <= step.playouts), ladder[-1])


def _next_parts(races: Sequence[Race], ladder: Sequence[Step]) -> list[_Part]:
    """The next playouts of all races: as few rivals of each as fill a request."""
    open_rivals = [(race, race.open_rivals(ladder)) for race in races]
    open_rivals = [(race, rivals) for race, rivals in open_rivals if rivals]
    width, parts = MIN_WIDTH, list[_Part]()
    while open_rivals:
        parts = [part for race, own in open_rivals for part in _parts_of(race, own, width, ladder)]
        is_full = sum(part.stop - part.first for part in parts) >= MAX_JOBS
        if is_full or width >= max(len(own) for _, own in open_rivals):
            return parts
        width *= 2
    return parts


def _parts_of(race: Race, rivals: Sequence[int], width: int, ladder: Sequence[Step]) -> list[_Part]:
    """The next playouts of a race: all rivals without any, otherwise the `width` nearest ones."""
    new = [k for k in rivals if not len(race.vp[1 + k])]
    parts = list[_Part]()
    for k in new or rivals[:width]:
        count = len(race.vp[1 + k])
        stop = next(step.playouts for step in ladder if step.playouts > count)
        parts.append(_Part(race, 1 + k, count, stop))
    stop, played = max(part.stop for part in parts), len(race.vp[0])
    return ([_Part(race, 0, played, stop)] if stop > played else []) + parts


def _play_parts(player: CandidatePlayer, parts: Sequence[_Part], first: int, seed: int) -> None:
    """Play parts out, in requests of at most MAX_JOBS playouts and POOL_SIZE positions."""
    states = {part.race.number: part.race.state for part in parts}
    blocks = dict[int, list[_Part]]()
    for part in parts:
        blocks.setdefault(part.race.number // POOL_SIZE, []).append(part)
    for block in blocks.values():
        numbers = sorted({part.race.number for part in block})
        pool = stack_states([states[n] for n in numbers], [n % POOL_SIZE for n in numbers])
        lengths = [part.stop - part.first for part in block]
        position = np.repeat([part.race.number % POOL_SIZE for part in block], lengths)
        action = np.repeat([part.race.actions[part.row] for part in block], lengths)
        sample = first + np.concatenate([np.arange(part.first, part.stop) for part in block])
        vp = list[np.ndarray]()
        for start in range(0, len(position), MAX_JOBS):
            rows = slice(start, start + MAX_JOBS)
            vp.append(
                player.run_jobs(pool, Jobs(position[rows], action[rows], sample[rows]), seed).vp
            )
        by_part = np.split(np.concatenate(vp), np.cumsum(lengths)[:-1])
        for part, own in zip(block, by_part, strict=True):
            race = part.race
            race.vp[part.row] = np.append(race.vp[part.row], own[:, race.seat].astype(float))
