"""Race the answers of puzzles against all other legal moves, shown or not, until it is decided.

Every move of a race is first played out a few times. After that, only the undecided rivals nearest
to the answer are played out more, with the random numbers of the answer's playouts. A race is lost
once a rival is clearly within its limit of the answer, and won once the answer leads every rival by
the limit. Many races share each request, so that the programs of `playouts` stay full.

The answer of a puzzle is fair if it leads each other legal move by MIN_LEAD_OVER_RIVALS, also when
the plan of the answer follows that move (`trials`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from gaia_jax.env import GaiaEnv, State

from ..types import JsonObject
from .actions import is_conversion
from .playouts import Candidates
from .puzzles import MIN_LEAD
from .trials import MAX_JOBS, CandidatePlayer, extract_plans

MIN_LEAD_OVER_RIVALS = 3.0  # VP of the answer above every other legal move
FIRST_SAMPLE = 1 << 18  # of the playouts: their random numbers made and verified no puzzle
FIRST_PLAN_SAMPLE = 1 << 19  # ... of those with plans
MIN_WIDTH = 4  # rivals of a race that are played out together
POOLED_WEIGHT = 15  # degrees of freedom of the race's mean variance in that of one rival


class Rung(NamedTuple):
    """A number of playouts of a move, and the standard errors that decide a rival after them."""

    playouts: int  # in total
    clear: float  # beyond the limit: the rival needs no more playouts
    doubt: float  # within the limit: the race is lost


# Weak evidence loses a race late, when more of it is expensive; the last rung decides by the mean.
LADDER = (Rung(4, 2.5, 2.5), Rung(16, 2.5, 2.0), Rung(64, 2.0, 1.0), Rung(256, 0.0, 0.0))
# The playouts with plans; those of the second rung alone decide.
PLAN_LADDER = (Rung(16, 2.5, 2.5), Rung(48, 2.5, 2.5))


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

    def is_lost(self, ladder: Sequence[Rung]) -> bool:
        """Whether a rival is clearly within its limit."""
        doubt = np.array([_reached(ladder, count).doubt for count in self.counts])
        played = self.counts > 0
        margins = (self.leads - self.limits)[played] + (doubt * self.errors)[played]
        return bool((margins < 0).any())

    def open_rivals(self, ladder: Sequence[Rung]) -> list[int]:
        """The indices of the undecided rivals that may be played out more, nearest first."""
        leads, counts, errors = self.leads, self.counts, self.errors
        clear = np.array([_reached(ladder, count).clear for count in counts])
        with np.errstate(invalid="ignore"):
            is_clear = leads - clear * errors >= self.limits
        is_open = (counts < ladder[-1].playouts) & ~(is_clear & (counts > 0))
        return [int(k) for k in np.argsort(leads, kind="stable") if is_open[k]]

    def _differences(self) -> list[np.ndarray]:
        return [self.vp[0][: len(vp)] - vp for vp in self.vp[1:]]


Part = tuple[Race, int, int]  # a race, the row of a move, and how many playouts it is to have


class Rival(NamedTuple):
    """The legal move nearest to the answer."""

    action: int
    lead: float  # VP of the answer above it; negative if the move is better
    num_moves: int  # other legal moves that were played out
    num_playouts: int = 0  # of the rival
    error: float = 0.0  # standard error of the lead

    @classmethod
    def of(cls, race: Race, num_moves: int) -> Self:
        """The rival of a race."""
        if not len(race.limits):
            return cls(int(race.actions[0]), np.inf, num_moves)
        k, leads, errors = race.nearest, race.leads, race.errors
        count = int(race.counts[k])
        return cls(int(race.actions[1 + k]), float(leads[k]), num_moves, count, float(errors[k]))

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


def other_moves(env: GaiaEnv, state: State, excluded: Sequence[int]) -> list[int]:
    """The legal moves of a state without some, and without conversions, which only begin a move."""
    texts, legal = env.ruleset.actions.texts, np.flatnonzero(np.asarray(state.legal_action_mask))
    return [a for a in legal.tolist() if a not in excluded and not is_conversion(texts[a])]


def make_race(
    env: GaiaEnv, number: int, state: State, seat: int, answer: int, beaten: int = -1
) -> Race:
    """The race of an answer against all other legal moves.

    Args:
        beaten: a move that the answer has to lead by MIN_LEAD; -1: none.
    """
    others = other_moves(env, state, [answer])
    limits = [MIN_LEAD if a == beaten else MIN_LEAD_OVER_RIVALS for a in others]
    return Race(number, state, seat, np.array([answer, *others], int), np.array(limits))


def nearest_rivals(
    player: CandidatePlayer, races: Sequence[Race], seed: int = 0
) -> dict[int, Rival]:
    """The legal move that comes nearest to the answer of each race, by its number.

    Args:
        seed: of the playouts; another one than the maker's gives other random numbers.
    """
    won = run_races(player, races, LADDER, FIRST_SAMPLE, seed)
    rivals = {race.number: Rival.of(race, len(race.limits)) for race in races}
    for race in _run_with_plans(player, won, seed):
        rivals[race.number] = min(
            rivals[race.number],
            Rival.of(race, rivals[race.number].num_moves),
            key=lambda rival: rival.lead,
        )
    return rivals


def _run_with_plans(player: CandidatePlayer, races: Sequence[Race], seed: int) -> list[Race]:
    """Races of answers against moves that are followed by the plan of the answer.

    A move that the answer may follow, or that may follow the answer, can be as good with it.
    """
    rivals = {race.number: race.actions[1:] for race in races}
    by_number, first = dict[int, Race](), FIRST_PLAN_SAMPLE
    for rung in PLAN_LADDER:
        races = [race for race in races if len(rivals[race.number])]
        states = {race.number: race.state for race in races}
        samples = range(first, first + rung.playouts)
        first += rung.playouts
        answers = [Candidates(race.number, race.actions[:1], samples) for race in races]
        answer_ends, moves = player.play(states, answers, seed), list[Candidates]()
        for race, end in zip(races, answer_ends, strict=True):
            plans = extract_plans(int(race.actions[0]), end.at(0), race.seat, player.last_pass)
            moves.append(Candidates(race.number, rivals[race.number], samples, plans))
        ends = player.play(states, moves, seed)
        for race, answer, end in zip(races, answer_ends, ends, strict=True):
            actions = np.append(race.actions[0], rivals[race.number])
            limits = np.full(len(actions) - 1, MIN_LEAD_OVER_RIVALS)
            vp = [*answer.vp[:, :, race.seat], *end.vp[:, :, race.seat]]
            planned = Race(race.number, race.state, race.seat, actions, limits, vp)
            by_number[race.number] = planned
            is_lost = planned.is_lost(PLAN_LADDER)
            rivals[race.number] = actions[1:][[] if is_lost else planned.open_rivals(PLAN_LADDER)]
    return list(by_number.values())


def run_races(
    player: CandidatePlayer, races: Sequence[Race], ladder: Sequence[Rung], first: int, seed: int
) -> list[Race]:
    """Play races out until each is decided or at the end of the ladder; those that are not lost.

    Args:
        first: number of the first playout of each move.
    """
    remaining_races = [race for race in races if not race.is_lost(ladder)]
    while parts := _next_parts(remaining_races, ladder):
        _play_parts(player, parts, first, seed)
        remaining_races = [race for race in remaining_races if not race.is_lost(ladder)]
    return remaining_races


def _reached(ladder: Sequence[Rung], count: int) -> Rung:
    """The rung of a rival with `count` playouts."""
    return next((rung for rung in ladder if count <= rung.playouts), ladder[-1])


def _next_parts(races: Sequence[Race], ladder: Sequence[Rung]) -> list[Part]:
    """The next playouts of all races: as few rivals of each as fill a request."""
    open_rivals = [(race, race.open_rivals(ladder)) for race in races]
    open_rivals = [(race, rivals) for race, rivals in open_rivals if rivals]
    width, parts = MIN_WIDTH, list[Part]()
    while open_rivals:
        parts = [part for race, own in open_rivals for part in _parts_of(race, own, width, ladder)]
        is_full = sum(stop - len(race.vp[row]) for race, row, stop in parts) >= MAX_JOBS
        if is_full or width >= max(len(own) for _, own in open_rivals):
            return parts
        width *= 2
    return parts


def _parts_of(race: Race, rivals: Sequence[int], width: int, ladder: Sequence[Rung]) -> list[Part]:
    """The next playouts of a race: all rivals without any, otherwise the `width` nearest ones."""
    counts = race.counts
    stops = {
        1 + k: next(rung.playouts for rung in ladder if rung.playouts > counts[k])
        for k in [k for k in rivals if not counts[k]] or rivals[:width]
    }
    stops = {0: max(len(race.vp[0]), *stops.values())} | stops
    return [(race, row, stop) for row, stop in stops.items() if stop > len(race.vp[row])]


def _play_parts(player: CandidatePlayer, parts: Sequence[Part], first: int, seed: int) -> None:
    """Play parts out and add the results to their races."""
    states = {race.number: race.state for race, *_ in parts}
    candidates = [
        Candidates(race.number, [race.actions[row]], range(first + len(race.vp[row]), first + stop))
        for race, row, stop in parts
    ]
    for (race, row, _), ends in zip(parts, player.play(states, candidates, seed), strict=True):
        race.vp[row] = np.append(race.vp[row], ends.vp[0, :, race.seat])
