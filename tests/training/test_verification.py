"""Candidates play in their better order; a verified puzzle survives a stronger agent."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.state import Node
from tests.training import toy_env
from training.agents import Agent
from training.analysis import actions, races, trials, verification
from training.analysis.judge import Comparison
from training.analysis.playout_journal import PlayoutJournal
from training.analysis.puzzle_reasons import Reason
from training.analysis.trials import (
    TURN_BEGINS,
    WITHIN_TURN,
    CandidatePlayer,
    Trial,
    extract_plans,
)
from training.analysis.verification import PuzzleVerifier, is_verified, with_stronger_seat

MINE, PROJECT, PICK = 0, toy_env.C + 1, 3 * toy_env.C  # 9 VP, 4 VP, none
RICH = 1  # another mine, 8 VP
WITH_OTHERS, ALONE = [0, 1, 0], [0, 0]  # who decides; the others have passed in the second


class Toy(toy_env.ToyEnv):
    """The toy game with texts of its actions; there is no pass."""

    ruleset = SimpleNamespace(
        **vars(toy_env.ToyEnv.ruleset),
        actions=SimpleNamespace(
            texts=[f"move {action}" for action in range(toy_env.ToyEnv.num_actions)],
            first={"pass": toy_env.ToyEnv.num_actions},
        ),
    )


ENV = Toy("toy", "vp")


def following(move):
    """An agent that plays the project after a mine, otherwise `move`."""

    def act(params, states, mask, key):
        mined = states.game.players.vp_source[jnp.arange(len(mask)), states.current_player, 0] > 0
        return jnp.where(mined, PROJECT, move)

    return Agent("one", act)


def every_decision(states):
    """Each decision is a turn."""
    return jnp.ones(len(states.current_player), bool)


def position(later, order):
    """Seat 0 moves twice; its mine has 9 VP now and `later` at the second move."""
    state = jax.device_get(ENV.init(jax.random.key(0)))
    game, worth = state.game, np.zeros_like(state.game.worth)
    worth[:, 0], worth[len(order) - 1, 0], worth[:, 1] = 9, later, 8
    decider = np.zeros_like(game.decider)
    decider[: len(order)] = order
    legal = np.ones_like(game.legal)
    length = np.full_like(game.length, len(order))
    game = game.replace(worth=worth, decider=decider, legal=legal, length=length)
    return state.replace(game=game, current_player=np.int32(0), legal_action_mask=legal[0])


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(trials, "POOL_SIZE", 4)
    for module in (trials, races):
        monkeypatch.setattr(module, "MAX_JOBS", 128)
    monkeypatch.setattr(trials, "MAX_MOVES", 20)


@pytest.mark.parametrize("order", [WITH_OTHERS, ALONE])
def test_the_better_order_of_two_moves_counts(order):
    """The agent follows a mine alone with the project; the project first may end alike."""
    player = CandidatePlayer(ENV, following(PICK), 8, (every_decision, every_decision))
    comparison = Comparison(1, 0, np.array([PICK, PROJECT, MINE]), np.array([0.8, 0.1, 0.1]))
    trials = [Trial(n, position(later, order), comparison) for n, later in ((1, 9), (6, 2))]
    plain = player.try_candidates(trials, range(4), lambda trial: True)
    assert [trial.seat_vp.mean(1).tolist() for trial in plain] == [[10, 14, 23]] * 2
    assert all(trial.answer == MINE for trial in plain)
    both = player.try_candidates(trials, range(4), lambda trial: True, with_plans=True)
    assert both[0].seat_vp.mean(1).tolist() == [19, 23, 23], "the mine may follow any move"
    assert both[0].improved_by_plan == {PICK, PROJECT}
    assert both[1].seat_vp.mean(1).tolist() == [12, 16, 23]
    assert both[1].losses[1][:3] == (7, 7, 7) and (both[1].lead_by_game == 7).all()
    assert player.num_played == 2 * (2 * 12) + 16, "all moves but the answer, with its plan"
    assert player.try_candidates(trials, range(4), lambda trial: False) == []


def test_a_continued_command_repeats_no_playouts(tmp_path, monkeypatch):
    """A killed one has stored each request; another number, version or agent is played."""
    comparison = Comparison(1, 0, np.array([PICK, MINE]), np.array([0.8, 0.2]))
    contests = [Trial(0, position(9, WITH_OTHERS), comparison)]

    def play(first, env=ENV, params=()):
        agent = following(PICK)._replace(params=params)
        player = CandidatePlayer(env, agent, 8, (every_decision, every_decision))
        player.journal = PlayoutJournal(tmp_path / "puzzles.json")
        return player.try_candidates(
            contests, range(first, first + 4), lambda _: True, with_plans=True
        )

    (before,) = play(0)
    monkeypatch.setattr(trials.Playouts, "play", lambda *_, **__: pytest.fail("played again"))
    (after,) = play(0)
    for array, other in zip(before.ends, after.ends, strict=True):
        assert (array == other).all()
    newer = Toy("toy", "vp", "2.0")
    for other in ((4,), (0, newer), (0, ENV, np.ones(1))):
        with pytest.raises(pytest.fail.Exception, match="played again"):
            play(*other)


def test_a_plan_is_what_the_seat_decides_in_its_own_turns():
    """Not what others do, nor leech between turns; a turn includes what its action asks."""
    begins, inside = TURN_BEGINS + 1, WITHIN_TURN + 1
    moves = np.array([20, 31, 40, 50, 51, 60, 52, 70, -1, -1])
    notes = np.array([inside, 2, 1, begins, inside, begins + 1, inside, begins, 0, 0])
    ends = trials.NO_ENDS._replace(moves=moves[None], notes=notes[None])
    assert extract_plans(7, ends, 1, 70) == [[[7, 20], [50, 51, 52]]], "70 is the last pass"


def test_a_turn_begins_at_a_main_decision_without_a_conversion_before_it():
    nodes = np.array(
        [Node.TURN, Node.TURN, Node.AFTER, Node.TOKEN, Node.LOST_PLANET, Node.LEECH, Node.INCOME]
    )
    turn = SimpleNamespace(node=nodes, free_actions=np.array([0, 1, 0, 0, 0, 0, 0]))
    states = SimpleNamespace(game=SimpleNamespace(turn=turn))
    assert actions.begins_turn(states).tolist() == [True] + [False] * 6
    assert actions.is_within_turn(states).tolist() == [True, True, False, True, True, False, False]


def puzzle_of(seat, *more):
    """A puzzle of a seat: the mine is right, the project is the choice to beat."""
    policy, answer = {"action": PROJECT}, {"action": MINE}
    about = {"game": 0, "player": seat, "policy": policy, "answer": answer}
    candidates = [answer | {"vp": 20.0, "policy": 0.2}, policy | {"vp": 12.0, "policy": 0.7}, *more]
    return about | {"candidates": candidates}


def wrapped(agent):
    """An agent with the parameters of `without_actions`; the toy game has no rounds."""

    def act(params, states, mask, key):
        return agent.act(params["agent"], states, mask, key)

    return agent._replace(act=act, params={"agent": agent.params})


def every_reason(env, trial):
    """A reason for each other move, in all games."""
    holds = np.ones(trial.seat_vp.shape[1], bool)
    reason = Reason("taken", holds, np.full(len(holds), PICK), {"player": 1})
    return {k: [reason] for k in range(len(trial.seat_vp)) if k != trial.best_row}


@pytest.fixture
def verifier(monkeypatch):
    """A verifier of the toy game, by the stronger agent."""
    monkeypatch.setattr(trials, "line_texts", lambda env, state, *line: line)
    monkeypatch.setattr(trials, "by_source", lambda rules, gains: {"all": gains.sum()})
    monkeypatch.setattr(verification, "find_reasons", every_reason)

    def make_verifier(stronger):
        verifier = object.__new__(PuzzleVerifier)
        verifier._env, verifier._stronger, base = ENV, "stronger", following(PICK)
        turns = (every_decision, every_decision)
        agents = base, with_stronger_seat(base, following(stronger))
        verifier.players = [CandidatePlayer(ENV, wrapped(agent), 8, turns) for agent in agents]
        return verifier

    return make_verifier


def only(state, *legal):
    """A position with these legal actions."""
    mask = np.zeros_like(state.legal_action_mask)
    mask[list(legal)] = True
    return state.replace(legal_action_mask=mask)


def test_an_answer_that_leads_by_bad_play_after_the_other_move_is_dropped(verifier):
    """The maker's agent misses the other mine after the project; the stronger agent finds it."""
    state = only(position(2, WITH_OTHERS), MINE, PROJECT)
    verified = verifier(PICK).verify_puzzle(puzzle_of(0), state)
    assert verifier(RICH).verify_puzzle(puzzle_of(0), state) is None
    answer, project = verified["candidates"]
    assert verified["held"] == {
        "by": "stronger", "playouts": 24, "loss": {"mean": 7.0, "low": 7.0, "high": 7.0},
        "ahead": 24,
    }  # fmt: skip
    texts, reason = ENV.ruleset.actions.texts, {"kind": "taken", "games": 24, "player": 1}
    assert answer == {
        "action": MINE, "text": texts[MINE], "vp": 23.0, "answer_next": False,
        "why": {"all": 0}, "line": answer["line"], "policy": 0.2,
    }  # fmt: skip
    assert project["vp"] == 16 and project["answer_next"] and project["why"] == {"all": 7}
    assert project["reason"] == reason | {"text": texts[PICK]}
    assert project["line"][0] == PROJECT and project["line"][1][[1]] == MINE
    assert project["policy"] == 0.7
    assert verifier(PICK).verify_puzzle(puzzle_of(0), position(9, WITH_OTHERS)) is None, "any order"


def test_an_answer_needs_a_reason_and_loses_its_lead_without_it(verifier, monkeypatch):
    """The project that follows the mine has 4 of the 7 VP; a choice without a reason goes."""
    holds, state = np.ones(24, bool), only(position(2, WITH_OTHERS), MINE, PROJECT, PICK)
    needed = Reason("follows", holds, np.full(24, PROJECT), {"round": 0}, 0, PROJECT)
    puzzle, toy_verifier, banned = puzzle_of(0, {"action": PICK}), verifier(PICK), []
    start = verification.start
    monkeypatch.setattr(
        verification, "start", lambda *args: banned.extend(args[3:4]) or start(*args[:3])
    )
    monkeypatch.setattr(verification, "find_reasons", lambda *_: {0: [needed], 2: [needed]})
    assert toy_verifier.verify_puzzle(puzzle, state) is None, "as far ahead as with it"
    assert banned == [[PROJECT]], "once for both moves, and not by the stronger agent"
    for rows in ({0}, {2}, {0, 2}):
        by_row = {k: own for k, own in every_reason(None, three_moves()).items() if k in rows}
        monkeypatch.setattr(verification, "find_reasons", lambda *_, by_row=by_row: by_row)
        monkeypatch.setattr(verification, "MIN_CHOICES", 2)
        verified = toy_verifier.verify_puzzle(puzzle, state)
        assert (verified is None) is (0 not in rows), "the choice to beat is the second best"
        if verified:
            assert len(verified["candidates"]) == 1 + len(rows)


def three_moves():
    """A trial of the choice to beat, the answer and another move."""
    vp = np.array([[16], [23], [10]]).repeat(24, 1)[:, :, None]
    comparison = Comparison(0, 0, np.array([PROJECT, MINE, PICK]), np.empty(0))
    return Trial(0, None, comparison, ends=trials.NO_ENDS._replace(vp=vp))


def test_the_stronger_agent_decides_for_a_while_only(verifier, monkeypatch):
    """Of the seat's decisions those after FOLLOW_UP are the weaker agent's, which misses a mine."""
    state = only(position(2, WITH_OTHERS), MINE, PROJECT)
    monkeypatch.setattr(verification, "FOLLOW_UP", 1)
    verified = verifier(RICH).verify_puzzle(puzzle_of(0), state)
    assert verified["held"]["loss"]["mean"] == 7


def test_no_other_candidate_may_come_near(verifier):
    """Project, then the mine of the plan, ends as mine and project: a rival as good refuses."""
    puzzle = puzzle_of(0) | {"policy": {"action": PICK}}
    state = only(position(9, WITH_OTHERS), MINE, PICK, PROJECT)
    assert verifier(PICK).verify_puzzle(puzzle, state) is None


def test_a_puzzle_is_fair_if_its_answer_leads_every_legal_move():
    """Moves that no candidate shows count, and so do those that only need the answer's plan."""
    turns = (every_decision, every_decision)
    player = CandidatePlayer(ENV, following(PICK), 8, turns)
    state = only(position(9, WITH_OTHERS), MINE, PICK, PICK + 1, PROJECT)
    cases = [
        (state, MINE),
        (only(state, MINE, PICK, PICK + 1), MINE),
        (only(state, MINE, PICK), PICK),
    ]
    contests = [
        races.make_race(ENV, number, state, 0, answer)
        for number, (state, answer) in enumerate(cases)
    ]
    rivals = races.nearest_rivals(player, contests)
    assert rivals[0][:3] == (PROJECT, 0, 3) and not rivals[0].is_fair, "the mine may follow it"
    assert rivals[1].action in (PICK, PICK + 1) and rivals[1].is_fair and rivals[1].num_moves == 2
    assert rivals[2].action == MINE and rivals[2].lead < 0
    names = ENV.ruleset.actions.texts
    about = {"text": names[PROJECT], "less": 0.0, "moves": 3, "playouts": 16, "error": 0.0}
    assert rivals[0].json(names) == about


@pytest.mark.parametrize(
    ("own", "is_kept"),
    [
        ([[12, 12, 12, 12], [20, 20, 20, 20], [16, 16, 16, 17]], True),
        ([[12, 12, 12, 12], [20, 20, 20, 20], [16, 17, 17, 17]], False),  # too near
        ([[12, 12, 12, 12], [30, 15, 15, 14], [2, 16, 16, 16]], False),  # seldom ahead of all
        ([[0, 30, 0, 30], [20, 20, 20, 20], [2, 2, 2, 2]], False),  # the interval holds 0
        ([[12, 12, 12, 12], [2, 2, 2, 2], [20, 20, 20, 20]], False),  # another move is best
    ],
)
def test_a_verified_answer_leads_clearly_and_often(own, is_kept):
    vp = np.array(own)[:, :, None]
    comparison = Comparison(0, 0, np.array([PROJECT, MINE, PICK]), np.empty(0))
    ends = trials.NO_ENDS._replace(vp=vp)
    assert is_verified(Trial(0, position(9, ALONE), comparison, ends=ends), MINE) is is_kept


def test_ctrl_c_keeps_the_verified_puzzles(verifier, monkeypatch):
    first, second = puzzle_of(0), puzzle_of(1)
    puzzle_positions = [(1, first, None), (0, second, None)]
    monkeypatch.setattr(verification, "replay_positions", lambda collection: puzzle_positions)
    toy_verifier = verifier(PICK)

    def verify_puzzle(puzzle, state):
        if puzzle["player"] == stop:
            raise KeyboardInterrupt
        return puzzle | {"held": {}}

    toy_verifier.verify_puzzle = verify_puzzle
    collection = {"agent": "greedy", "sha256": "", "games": [{}], "puzzles": [second, first]}
    for stop, seats, expected_complete in ((1, [0], False), (None, [1, 0], True)):  # noqa: B007  # read above
        verified, is_complete = toy_verifier.verify(collection)
        assert [
            puzzle["player"] for puzzle in verified["puzzles"]
        ] == seats and is_complete is expected_complete
        assert verified["chosen"]["held_by"] == ["stronger"]
        assert all("held" in puzzle for puzzle in verified["puzzles"])
    stop = 0
    with pytest.raises(KeyboardInterrupt):
        toy_verifier.verify(collection)
    with pytest.raises(verification.UserError, match="older version of greedy; rebuild"):
        toy_verifier.verify(collection | {"sha256": "another"})


def test_banned_actions_are_those_of_one_seat_until_a_round_ends():
    """Where nothing else is legal they are taken."""
    turn = SimpleNamespace(round=jnp.array([2, 3, 2, 2]))
    states = SimpleNamespace(
        current_player=jnp.array([1, 1, 0, 1]), game=SimpleNamespace(turn=turn)
    )
    mask = jnp.array([[True, True], [True, True], [True, True], [True, False]])
    agent = verification.without_actions(Agent("one", lambda _, states, mask, key: mask.argmax(1)))
    own = {"seat": jnp.int32(1), "banned": jnp.array([True, False]), "last_round": jnp.int32(2)}
    assert agent.act(agent.params | own, states, mask, None).tolist() == [1, 0, 0, 0]
