"""Hints and checks of moves, with playouts whose results are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gaia_jax.state import Node
from training.analysis import position_analysis
from training.analysis.actions import read_notes
from training.analysis.playouts import Ends
from training.analysis.position_analysis import ROUND, PositionAnalysis

SEAT = 1
WITHIN = SEAT * 64 + int(Node.TURN)  # a note: the seat is within a turn
TURN = WITHIN + 32  # ... and begins one


class PlannedPlayouts:
    """Playouts after action k: mean VP `vp[k]`, and `later[k]` in the next turn of the seat."""

    conversions: frozenset[int] = frozenset()  # `later` is of the same turn after these

    def __init__(
        self, vp: dict[int, float], later: dict[int, int], spread: float = 4.0, seed: int = 0
    ):
        self.vp, self.later, self.spread, self.seed = vp, later, spread, seed
        self.env = SimpleNamespace(ruleset=SimpleNamespace(actions=SimpleNamespace(first={})))
        self.agent, self.num_played = None, 0

    def play_candidates(
        self, states: Any, candidates: Any, seed: int = 0, progress: Any = None
    ) -> list[Ends]:
        ((_, actions, samples),) = candidates
        shape = len(actions), len(samples)
        self.num_played += shape[0] * shape[1]
        progress(shape[0] * shape[1])
        luck = [
            [np.random.default_rng((a, n, self.seed)).normal(0, self.spread) for n in samples]
            for a in actions
        ]
        mean = np.array([[self.vp[a]] for a in actions])
        vp = np.round(np.stack([0 * mean + np.zeros(shape), mean + np.array(luck)], 2))
        moves = np.array([[[self.later.get(a, 99), -1]] * shape[1] for a in actions])
        first = [WITHIN if a in self.conversions else TURN for a in actions]
        notes = np.array([[[note, -1]] * shape[1] for note in first])
        return [Ends(vp, moves, np.ones(shape, bool), np.zeros((*shape, 2, 1)), notes)]


def analysis_of(
    monkeypatch: pytest.MonkeyPatch, runner: PlannedPlayouts, same: dict[int, int] | None = None
) -> PositionAnalysis:
    """The analysis of a position whose actions lead to different positions, except `same` ones.

    The earlier actions are the more likely ones.
    """
    chances = 0.5 ** np.arange(1, len(runner.vp) + 1)
    monkeypatch.setattr(position_analysis, "policy_probabilities", lambda *_: chances[None])
    state: Any = SimpleNamespace(
        current_player=np.int32(SEAT), legal_action_mask=np.ones(len(chances), bool)
    )
    monkeypatch.setattr(position_analysis.jax.tree, "map", lambda f, x: x)
    monkeypatch.setattr(
        PositionAnalysis, "_position_after_turn", lambda _, action: (same or {}).get(action, action)
    )
    analysis = PositionAnalysis(runner, state, lambda state, action: state)  # type: ignore[arg-type]
    analysis._states = SimpleNamespace(current_player=np.array([SEAT]))  # type: ignore[assignment]
    return analysis


def test_candidates_that_lead_to_the_same_position_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = PlannedPlayouts({0: 100, 1: 100, 2: 97, 3: 96, 4: 95}, {})
    analysis = analysis_of(monkeypatch, runner, {1: 0})
    analysis.suggest()
    merged = {0, 1} - set(analysis.candidates)
    assert len(merged) == 1 and analysis.orders_of(({0, 1} - merged).pop()) == list(merged)
    assert len(analysis.alternatives()) >= 2


def test_an_illegal_action_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a main action the policy ends its turn: legal conversions have probability 0 too."""
    analysis = analysis_of(monkeypatch, PlannedPlayouts(dict.fromkeys(range(5), 100), {}))
    chances = np.array([[0, 0, 0, 0, 1.0]])
    monkeypatch.setattr(position_analysis, "policy_probabilities", lambda *_: chances)
    analysis.state.legal_action_mask = np.array([0, 0, 1, 0, 1], bool)
    assert analysis.likely_actions == [4, 2]


def test_actions_that_follow_each_other_are_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = PlannedPlayouts({0: 100, 1: 99.5, 2: 98, 3: 97}, {0: 1, 1: 0, 2: 0, 3: 0})
    analysis = analysis_of(monkeypatch, runner)
    analysis.suggest()
    assert len({0, 1} & set(analysis.candidates)) == 1, "2 leads to 0, but 0 does not lead to 2"
    assert {2, 3} <= set(analysis.candidates)


def test_a_conversion_before_a_move_or_a_turn_later_is_one_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hint once listed "special AC_B" and "free Q_to_O", which led to each other."""
    runner = PlannedPlayouts({0: 100, 1: 99.5, 2: 98, 3: 97}, {0: 1, 1: 0})
    runner.conversions = frozenset({1})
    analysis = analysis_of(monkeypatch, runner)
    analysis.suggest()
    assert len({0, 1} & set(analysis.candidates)) == 1 and {2, 3} <= set(analysis.candidates)


def test_a_better_order_is_a_candidate_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = PlannedPlayouts({0: 100, 1: 92, 2: 98, 3: 97}, {0: 1, 1: 0})
    analysis = analysis_of(monkeypatch, runner)
    analysis.suggest()
    assert {0, 1} <= set(analysis.candidates) and analysis.candidates[0] == 0


def test_more_actions_are_tried_until_two_alternatives_are_near(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = PlannedPlayouts(dict(enumerate([100, 70, 70, 70, 70, 98, 97, 60, 60, 60, 60, 60])), {})
    analysis = analysis_of(monkeypatch, few)
    analysis.suggest()
    assert analysis.candidates[0] == 0 and set(analysis.alternatives()) == {5, 6}
    none = analysis_of(monkeypatch, PlannedPlayouts({0: 100, 1: 70, 2: 60}, {}))
    none.suggest()
    assert not none.alternatives() and none.candidates[0] == 0


def test_a_played_action_is_played_out_as_often_as_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runner = PlannedPlayouts(dict.fromkeys(range(12), 95.0) | {0: 100, 11: 60}, {})
    analysis = analysis_of(monkeypatch, runner, {10: 0})
    analysis.suggest(played=11)
    assert analysis.plan_of(11) == 11 and analysis.candidates[-1] == 11
    assert 11 not in analysis.alternatives()
    assert analysis.ends([0, 11]).vp.shape[1] == 2 * ROUND
    assert analysis.plan_of(9) == analysis.plan_of(-1) == -1, "not played out"
    analysis.suggest(played=10)
    assert analysis.plan_of(10) == analysis.plan_of(0), "another order of one plan"


@pytest.mark.parametrize(
    ("vp", "is_mistake"), [(70, True), (85, True), (98, False), (100, False), (103, False)]
)
def test_a_check_warns_of_a_move_that_the_policy_never_plays(
    vp: float, is_mistake: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = PlannedPlayouts(dict.fromkeys(range(12), 95.0) | {0: 100, 11: vp}, {})
    analysis = analysis_of(monkeypatch, runner)
    check = analysis.check([11])
    assert check.best == 0 and check.is_mistake == is_mistake
    assert abs(check.loss.mean - (100 - vp)) < 4
    before = runner.num_played
    assert analysis.check([11]) == check and runner.num_played == before, "it keeps the playouts"


@pytest.mark.parametrize("checked", [0, 2, 5])
def test_checks_warn_of_mistakes_and_rarely_of_good_moves(
    checked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four actions are likely; among four that are as good, one looks better by luck."""
    warned, played = dict[int, float](), dict[int, list[int]]()
    for loss in (0, 12, 22):
        checks = []
        for seed in range(100):
            vp = dict.fromkeys(range(8), 100.0) | {checked: 100.0 - loss}
            runner = PlannedPlayouts(vp, {}, 10.0, seed)
            checks.append(analysis_of(monkeypatch, runner).check([checked]).is_mistake)
            played.setdefault(loss, []).append(runner.num_played)
        warned[loss] = float(np.mean(checks))
    assert warned[0] < 0.05 and warned[12] >= 0.9 and warned[22] >= 0.95
    assert all(np.median(played[loss]) <= 4 * ROUND for loss in (0, 22))


class UnluckyStart(PlannedPlayouts):
    """In the playouts that choose the compared action, action 0 has 40 VP less."""

    num_choosing = position_analysis.NUM_CHOOSING

    def play_candidates(self, states: Any, candidates: Any, *args: Any, **kw: Any) -> list[Ends]:
        (ends,) = super().play_candidates(states, candidates, *args, **kw)
        ((_, actions, samples),) = candidates
        is_unlucky = (np.array(actions) == 0)[:, None] & (np.array(samples) < self.num_choosing)
        ends.vp[is_unlucky, SEAT] -= 40
        return [ends]


def test_playouts_that_choose_the_compared_action_warn_of_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A check once reported 43 VP by eight of them; 64 others gave 6.6."""
    check = analysis_of(monkeypatch, UnluckyStart(dict.fromkeys(range(4), 100), {})).check([0])
    assert not check.is_mistake and abs(check.loss.mean) < 8


@pytest.mark.parametrize("hint_first", [False, True])
def test_later_checks_warn_only_by_playouts_that_chose_nothing(
    hint_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hint, or the check of another move, may have chosen the compared action."""
    runner = UnluckyStart(dict.fromkeys(range(4), 100), {})
    runner.num_choosing = 2 * ROUND if hint_first else position_analysis.NUM_CHOOSING
    analysis = analysis_of(monkeypatch, runner)
    if hint_first:
        analysis.suggest()
    else:
        analysis.check([1])
    check = analysis.check([0])
    assert not check.is_mistake and abs(check.loss.mean) < 8


def test_the_playouts_of_an_earlier_check_measure_or_choose_but_not_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Action 0 has 40 VP less by bad luck in the later playouts, in which a check measures."""

    class UnluckyLater(PlannedPlayouts):
        def play_candidates(self, states: Any, candidates: Any, *args: Any, **kw: Any) -> Any:
            (ends,) = super().play_candidates(states, candidates, *args, **kw)
            ((_, actions, samples),) = candidates
            is_later = np.array(samples) >= position_analysis.NUM_CHOOSING
            ends.vp[(np.array(actions) == 0)[:, None] & is_later, SEAT] -= 40
            return [ends]

    runner = UnluckyLater({0: 100, 1: 98, 2: 90, 3: 80}, {}, 0.1)
    analysis = analysis_of(monkeypatch, runner)
    analysis.check([2])
    assert analysis._num_playouts(0) > position_analysis.NUM_CHOOSING, "some measured"
    assert analysis.check([3]).best == 0, "as the playouts say that measured nothing"


def test_a_check_uses_the_playouts_of_the_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = PlannedPlayouts({0: 100, 1: 99, 2: 98, 3: 60}, {})
    analysis = analysis_of(monkeypatch, runner)
    analysis.suggest()
    before = runner.num_played
    assert analysis.check([3]).is_mistake
    assert runner.num_played - before <= 2 * ROUND, "it was played out for the hint"


def test_notes_are_split() -> None:
    notes = read_notes(np.array([TURN, 3 * 64 + int(Node.LEECH), -1]))
    assert notes.player.tolist() == [1, 3, -1]
    assert notes.begins_turn.tolist() == [True, False, False]
    assert notes.node.tolist() == [Node.TURN, Node.LEECH, -1]


def test_a_clear_mistake_needs_no_other_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = PlannedPlayouts(dict.fromkeys(range(12), 95.0) | {0: 100, 11: 60}, {})
    analysis = analysis_of(monkeypatch, runner)
    assert analysis.check([11]).is_mistake and runner.num_played == 2 * ROUND
    assert not analysis.check([1]).is_mistake and {0, 1, 2, 3} <= set(analysis.candidates)
