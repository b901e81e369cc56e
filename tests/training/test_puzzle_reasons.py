"""Why an answer is better: VP at once, an opponent who is first, a move that it makes possible."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

from training.analysis import attribution, puzzle_reasons, puzzles, trials
from training.analysis.judge import Comparison
from training.analysis.puzzle_reasons import Turns, find_reasons, possible_actions, typical_game
from training.analysis.trials import Trial

TEXTS = [
    "mine 0,0", "mine 1,1", "artifact 1", "power PA_2O", "free burn", "upgrade 2,2", "piece RL",
    "piece AC_A", "booster RB1", "booster RB2", "advanced ai", "upgrade 3,3", "pass", "pick 0,0",
    "piece AC_B",
]  # fmt: skip
MINE, OTHER_MINE, ARTIFACT, POWER, BURN, UPGRADE, LAB, AC_A, RB1, RB2, ADVANCED = range(11)
UPGRADE_2, PASS, PICK, AC_B = 11, 12, 13, 14
ENV = SimpleNamespace(
    ruleset=SimpleNamespace(
        actions=SimpleNamespace(texts=TEXTS),
        ids={"vp_source": ["BOOSTER", "ROUND_TILE"]},
    )
)
GAMES = 4


def opening(column, *possible, round_=0):
    """A turn of the seat that begins, with its possible actions."""
    return column, round_, np.isin(np.arange(len(TEXTS)), possible)


def turns(first, later=(), others=(), openings=(), now=(0, 0)):
    """The same beginning of all games."""
    own = [(0, [first]), *((round_, list(actions)) for round_, *actions in later)]
    games = ([list(part)] * GAMES for part in (own, others, openings))
    return Turns(*games, np.array(now, float))


def reasons_of(monkeypatch, answer, other, final=((0, 0), (0, 0)), vp=(20, 10), possible=()):
    """The reasons of the answer against the other move.

    Args:
        possible: actions at the decision itself.
    """
    at_once = np.isin(np.arange(len(TEXTS)), possible)[None]
    monkeypatch.setattr(puzzle_reasons, "possible_actions", lambda env, states: at_once)
    monkeypatch.setattr(puzzle_reasons, "_replay", lambda env, trial: ([other, answer], []))
    monkeypatch.setattr(
        puzzle_reasons, "by_source", lambda rules, gains: dict(enumerate(gains.tolist()))
    )
    sources = np.array(final[::-1])[:, None, None, :].repeat(GAMES, 1)
    ends = trials.NO_ENDS._replace(
        vp=np.array(vp[::-1])[:, None, None].repeat(GAMES, 1), sources=sources
    )
    candidates = np.array([side.own[0][0][1][0] for side in (other, answer)])
    state = SimpleNamespace(game=SimpleNamespace(turn=SimpleNamespace(round=3)))
    trial = Trial(0, state, Comparison(0, 0, candidates, np.empty(0)), ends=ends)
    return find_reasons(ENV, trial).get(0)


def test_vp_at_once_are_a_reason_if_they_last(monkeypatch):
    answer, other = turns(MINE, now=(0, 7)), turns(ARTIFACT, now=(1, 0))
    (reason,) = reasons_of(monkeypatch, answer, other, ((3, 9), (4, 3)))
    assert reason.kind == "vp" and reason.about == {"sources": {0: 0.0, 1: 7.0}}
    assert reasons_of(monkeypatch, answer, other, ((3, 9), (4, 5))) == [], "made up later"
    assert reasons_of(monkeypatch, answer, other, ((3, 9), (4, 3)), (30, 10)) == [], "too little"
    monkeypatch.setattr(attribution, "MAX_SOURCES", 1)
    assert reasons_of(monkeypatch, answer, other, ((3, 9), (4, 3)))
    late = ((19, 9), (4, 3))
    assert reasons_of(monkeypatch, answer, other, late) == [], "the lead is of another source"


def test_a_move_that_the_answer_follows_is_no_alternative(monkeypatch):
    """Unless it comes too late for a piece of the answer."""
    other = turns(ARTIFACT, [(0, UPGRADE, LAB)])
    assert reasons_of(monkeypatch, turns(UPGRADE, now=(0, 9)), other, ((0, 9), (0, 0))) is None
    answer = turns(UPGRADE)
    answer = answer._replace(own=[[(0, [UPGRADE, ADVANCED])]] * GAMES)
    late = other._replace(others=[[(1, 2, ADVANCED)]] * GAMES)
    (reason,) = reasons_of(monkeypatch, answer, late)
    assert reason.kind == "taken"


@pytest.mark.parametrize(
    ("others", "openings", "is_reason"),
    [
        ([(2, 3, MINE)], [], True),
        ([(2, 3, PICK)], [opening(5, MINE)], True),  # another way to take the place
        ([(2, 3, MINE)], [opening(1, MINE)], False),  # the seat could have been first
        ([(2, 3, OTHER_MINE)], [], False),
        ([], [], False),
    ],
)
def test_an_opponent_may_be_first(monkeypatch, others, openings, is_reason):
    other = turns(ARTIFACT, others=others, openings=openings)
    reasons = reasons_of(monkeypatch, turns(MINE), other)
    assert [(x.kind, x.about) for x in reasons] == [("taken", {"player": 3})] * is_reason
    if reasons:
        assert reasons[0].json(TEXTS, 0)["text"] == TEXTS[others[0][2]]


def test_one_booster_is_not_taken_because_of_another(monkeypatch):
    """No player gets two; an advanced tile may come with another structure."""
    rival = [(2, 1, RB1), (3, 1, ADVANCED)]
    assert reasons_of(monkeypatch, turns(RB1), turns(RB2, others=rival)) == []
    assert reasons_of(monkeypatch, turns(RB1), turns(MINE, others=rival))
    assert reasons_of(monkeypatch, turns(ADVANCED), turns(MINE, others=rival))
    late = turns(MINE, others=rival, openings=[opening(1, LAB)])
    assert reasons_of(monkeypatch, turns(ADVANCED), late) == []


@pytest.mark.parametrize(
    ("later", "other", "expected"),
    [
        ([(0, BURN, POWER)], turns(MINE), (POWER, 0)),
        ([(1, BURN, POWER)], turns(MINE), (POWER, 1)),
        ([(0, POWER)], turns(MINE, openings=[opening(3, POWER)]), None),  # possible as well
        ([(0, POWER)], turns(MINE, openings=[opening(3, POWER, round_=1)]), (POWER, 0)),
        ([(1, POWER)], turns(MINE, openings=[opening(3, POWER, round_=1)]), None),
        ([(0, POWER)], turns(MINE, [(0, POWER)]), None),  # made as well
        ([(0, UPGRADE, LAB)], turns(MINE, openings=[opening(3, UPGRADE)]), (LAB, 0)),
        ([(0, UPGRADE, AC_A)], turns(MINE, openings=[opening(3, AC_B)]), None),
        ([(0, UPGRADE)], turns(MINE, openings=[opening(3, UPGRADE_2)]), None),
        ([(0, PASS)], turns(MINE), None),
    ],
)
def test_a_move_that_only_the_answer_makes_possible(monkeypatch, later, other, expected):
    reasons = reasons_of(monkeypatch, turns(ARTIFACT, later), other)
    assert [(x.needs, x.round - 3) for x in reasons] == [expected] * bool(expected)
    if reasons:
        about = reasons[0].json(TEXTS, 0)
        assert about["kind"] == "follows" and about["games"] == GAMES and about["turns"] == 1
        assert about["text"] == TEXTS[next(a for a in later[0][1:] if a != BURN)]


def test_a_pass_makes_no_move_impossible_that_is_possible_before(monkeypatch):
    """Not even one that the answer does not need."""
    answer = turns(ARTIFACT, [(0, POWER)])
    assert reasons_of(monkeypatch, answer, turns(PASS), possible=[POWER]) == []
    assert reasons_of(monkeypatch, answer, turns(PASS), possible=[MINE])
    assert reasons_of(monkeypatch, answer, turns(MINE), possible=[POWER])


@pytest.mark.parametrize("rows", [[0], [1], [0, 1], []])
def test_a_reason_is_asked_of_the_answer_and_the_choice_to_beat(monkeypatch, rows):
    vp, candidates = np.array([10, 15, 20, 12])[:, None, None].repeat(4, 1), np.arange(4) * 3

    def find(env, trial):
        assert trial.comparison.candidates.tolist() == [0, 6]
        assert trial.seat_vp[:, 0].tolist() == [10, 20]
        return {row: ["reason"] for row in rows}

    monkeypatch.setattr(puzzle_reasons, "find_reasons", find)
    ends = trials.Ends(vp, *[np.zeros((4, 4, 1), int)] * (len(trials.Ends._fields) - 1))
    trial = Trial(0, None, Comparison(0, 0, candidates, np.empty(0)), ends=ends)
    assert puzzle_reasons.has_reason(None, trial) == (0 in rows)


def test_the_lines_show_the_reasons():
    """Of the games with most of them the one of median lead; the main ones come first."""
    vp = np.array([[10, 10, 10, 10], [30, 14, 20, 21]])[:, :, None]
    trial = Trial(0, None, Comparison(0, 0, np.arange(2), np.empty(0)))
    trial = trial._replace(ends=trials.NO_ENDS._replace(vp=vp))
    holds = np.array([True, True, False, False])
    reason = puzzle_reasons.Reason("taken", holds, np.zeros(4, int), {})
    assert typical_game(trial, {0: reason}, ()) == 1 and typical_game(trial, {}, ()) in (2, 3)
    reasons = {0: reason, 1: reason, 2: reason._replace(holds=~holds)}
    assert typical_game(trial, reasons, ()) == 1 and typical_game(trial, reasons, {2}) in (2, 3)


@pytest.mark.slow
def test_a_replay_of_a_shipped_line_finds_the_turns_of_the_seat(monkeypatch):
    """Its own actions, those of others, the possible ones and the VP at once are those played."""
    monkeypatch.setattr(puzzle_reasons, "BATCH", 8)
    collection = puzzles.read(puzzles.SHIPPED)
    number, puzzle, state = next(iter(puzzles.replay_positions(collection)))
    env = trials.Playouts(puzzles_env(collection), None).env
    texts, (best, *_) = env.ruleset.actions.texts, puzzle["candidates"]
    line = [texts.index(text) for text in best["line"] if text != "end_turn"]
    ends = trials.NO_ENDS._replace(vp=np.zeros((1, 2, 4), int), moves=np.array([[line[1:]] * 2]))
    comparison = Comparison(0, puzzle["player"], np.array([best["action"]]), np.empty(0))
    (replayed,), openings = puzzle_reasons._replay(env, Trial(number, state, comparison, ends=ends))
    puzzle_reasons._add_openings(env, [replayed], openings)
    assert replayed.own[0] == replayed.own[1] and replayed.own[0][0][1][0] == best["action"]
    own = [action for _, actions in replayed.own[0] for action in actions]
    assert len(replayed.own[0]) > 1 and set(own) <= set(line)
    assert {round_ for round_, _ in replayed.own[0]} <= {0, 1}
    assert all(player != puzzle["player"] for _, player, _ in replayed.others[0])
    for (_, actions), (_, _, legal) in zip(replayed.own[0][1:], replayed.openings[0], strict=True):
        assert legal[actions[0]], "what the seat did was possible"
        assert legal[puzzle_reasons._main(texts, actions)] or len(actions) > 3
    mask = np.asarray(state.legal_action_mask)
    states = jax.tree.map(lambda x: np.asarray(x)[None], state)
    possible = possible_actions(env, states)[0]
    assert possible[mask].all() and possible.sum() >= mask.sum()


def puzzles_env(collection):
    """The environment of a collection."""
    import gaia_jax

    return gaia_jax.make(collection["ruleset"], players=puzzles.num_players(collection))
