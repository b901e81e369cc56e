"""Puzzles and reasons: they say what the playouts say; a puzzle's position is its own."""

import dataclasses
import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.actions import to_text
from gaia_jax.env import GaiaEnv
from training import puzzles as door
from training.agents import Agent
from training.study import puzzles, why
from training.study.accuracy import Loss
from training.study.explain import read_game
from training.study.judge import Question, measured
from training.study.playouts import Ends
from training.study.position import Outcomes
from training.system import cli

DECISIONS = 9


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    """The first decisions of a sample."""
    record = replay.read("docs/records/lost_fleet.json")
    path = tmp_path_factory.mktemp("record") / "begun.json"
    actions = record.actions[:DECISIONS]
    replay.write(path, dataclasses.replace(record, actions=actions, final_vp=()))
    return read_game(path)


@pytest.fixture(scope="module")
def legal(game):
    """Three legal actions at the fifth decision, the played one first."""
    mask = np.asarray(game.states[4].legal_action_mask)
    return np.array([game.actions[4], *(a for a in np.flatnonzero(mask) if a != game.actions[4])])[
        :3
    ]


@pytest.mark.parametrize(
    ("round_", "text", "wanted"),
    [
        (6, "form_federation", "federation"), (2, "advance economy", "research"),
        (3, "ship TWI_P", "ship"), (1, "explore TWILIGHT", "ship"), (4, "booster RB1", "pass"),
        (6, "pass", "pass"), (2, "leech DECLINE", "leech"), (6, "mine 1,2", "last round"),
        (5, "upgrade 1,2", "building"), (5, "power PA_7C", "action"),
    ],
)  # fmt: skip
def test_a_theme_is_of_the_answer(round_, text, wanted):
    assert puzzles.theme(round_, text) == wanted


def test_the_policys_choice_must_lose_enough_for_sure():
    assert puzzles.is_open(Loss(5.0, 0.1, 9.9, 2.0))
    assert not puzzles.is_open(Loss(4.9, 4.0, 5.8, 0.5))
    assert not puzzles.is_open(Loss(9.0, -0.1, 18.1, 4.5))


@pytest.fixture(scope="module")
def puzzle(game, legal):
    """The third action ends with 10 VP more than the first, for the decider."""
    seat = int(game.states[4].current_player)
    own = np.array([[90, 92], [95, 93], [100, 102]])
    vp = np.full((3, 2, 4), 80)
    vp[:, :, seat] = own
    asked = Question(5, seat, legal, np.array([0.7, 0.2, 0.1]))
    moves = np.full((2, 2, 3), -1)
    return puzzles.puzzle(game, measured(asked, legal[[0, 2]], vp[[0, 2]], moves), own)


def test_a_puzzle_says_what_each_candidate_brings(game, legal, puzzle):
    texts = [to_text(game.env.ruleset, int(a)) for a in legal]
    assert puzzle["answer"]["text"] == texts[2] and puzzle["policy"]["text"] == texts[0]
    assert puzzle["loss"]["mean"] == 10 and puzzle["decision"] == 5
    assert [c["vp"] for c in puzzle["candidates"]] == [101, 94, 91]
    assert [c["text"] for c in puzzle["candidates"]] == [texts[2], texts[1], texts[0]]


@pytest.fixture(scope="module")
def found(game, puzzle):
    env = GaiaEnv(game.env.ruleset)
    return json.loads(json.dumps(puzzles.as_json(env, "me", 2, [(game, []), (game, [puzzle])])))


def test_a_file_of_puzzles_leads_to_their_positions(found, game, puzzle, tmp_path):
    path = tmp_path / "puzzles.json"
    path.write_text(json.dumps(found))
    ((one, state),) = puzzles.positions(puzzles.read(path))
    assert one["answer"] == puzzle["answer"] and len(found["games"][0]["actions"]) == 4
    assert (state.legal_action_mask == game.states[4].legal_action_mask).all()
    assert puzzles.OURS(path)


def test_who_plays_the_answer_solves_it(found, puzzle, legal):
    for action, right in ((puzzle["answer"]["action"], True), (int(legal[0]), False)):
        agent = Agent("one", lambda params, state, mask, key, a=action: jnp.array([a]))
        assert puzzles.solved(found, agent) == [right]
    said = puzzles.text(found, {"one": [True]})
    assert said.startswith("1 puzzles of 1 games of me") and "one solves 1 of 1" in said


def test_reasons_are_differences_by_source(game, legal):
    seat = int(game.states[4].current_player)
    vp = np.full((2, 3, 4), 80)
    sources = np.zeros((2, 3, 4, len(game.env.ruleset.ids["vp_source"])), int)
    vp[0, :, seat], vp[1, :, seat] = (90, 91, 92), (95, 97, 96)
    sources[0, :, seat, 1], sources[1, :, seat, 1] = 4, 12
    sources[0, :, seat, 2] = 2
    told = why.about(game, 5, Outcomes(legal[:2], np.array([0.7, 0.3]), vp, seat, sources))
    best, played = told["candidates"]
    assert played["played"] and not best["played"] and best["vp"] == 96
    assert played["loss"][0] == 5 and played["by_source"]
    assert sorted(played["by_source"].values()) == [-8, 2] and best["by_source"] == {}
    told |= {"playouts": 3, "agent": "me"}
    said = why.text(told)
    assert "(played): 5.0 VP less" in said and "-8.0" in said and "+2.0" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "random"], "--agent wants one with a policy, random has none"),
        (["--of", "a", "--out", "b"], "--of takes those of a file"),
        (["--of", "docs/records/base.json"], "its format is not 'gaia_jax puzzles 1'"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert cli.run(lambda: door.main(arguments)) == 2
    assert message in capsys.readouterr().err


def checked(game, legal, own, ended=True):
    """What `Maker.check` says where candidates end with these VP (K, n) of the decider."""
    own = np.asarray(own)
    seat, (count, n) = int(game.states[4].current_player), own.shape
    vp = np.full((count * n, 4), 80)
    vp[:, seat] = own.ravel()
    done = np.full(count * n, True)
    done[-1] = ended
    ends = Ends(vp, np.full((count * n, 3), -1), done, vp[..., None], vp[:, :0])
    maker = object.__new__(puzzles.Maker)
    maker.playouts = n
    maker._judge = SimpleNamespace(capacity=0, players=SimpleNamespace(play=lambda *_, **__: ends))
    state = game.states[4]
    mask = np.zeros_like(state.legal_action_mask)
    mask[legal] = True
    one = jax.tree.map(lambda x: np.asarray(x)[None], state.replace(legal_action_mask=mask))
    chance = np.zeros(len(mask))
    chance[legal] = 0.7, 0.2, 0.1
    asked = Question(5, seat, legal[:2], chance[legal[:2]])
    return maker.check(game, one, asked, chance, 0)


def test_a_puzzle_has_one_clear_answer(game, legal):
    """The third action was no candidate of the screening, and is the answer."""
    first, second, third = [90, 91, 92, 93], [94, 95, 97, 96], [100, 102, 101, 103]
    found = checked(game, legal, [first, second, third])
    assert found["answer"]["action"] == legal[2] and found["loss"]["mean"] == 10
    unsure = [80, 120, 70, 116]
    assert checked(game, legal, [first, unsure, third]) is None, "another may be as good"
    assert checked(game, legal, [third, second, first]) is None, "the policy's choice is best"
    assert checked(game, legal, [second, first, third]) is not None
    assert checked(game, legal, [[98, 98, 99, 97], second, third]) is None, "not 5 VP"


def test_ctrl_c_while_positions_are_screened_ends_it(game, monkeypatch):
    """It went on, and checked what was open: for minutes."""
    monkeypatch.setattr(puzzles, "probabilities", lambda _, s: np.ones(s.legal_action_mask.shape))
    maker = object.__new__(puzzles.Maker)
    maker.agent, maker._first_round = None, 1
    monkeypatch.setattr(puzzles, "decisions", lambda *_: [4, 5])
    lost = SimpleNamespace(loss=Loss(9.0, 5.0, 13.0, 8.0), question=SimpleNamespace(number=5))
    maker._judge = SimpleNamespace(judge=lambda *_: [lost])
    assert maker.of_game(game) == ([], False)


def test_what_is_wrong_in_a_file_is_one_line(found, tmp_path, capsys):
    path = tmp_path / "puzzles.json"
    games = [{"setup": {"factions": [1, 2, 3, 4]}, "actions": []}]
    for change, message in (
        ({"games": None}, "games must be a list, not null"),
        ({"puzzles": [{"game": 0}]}, "puzzles[0]: key 'decision' is missing"),
        ({"games": [{"setup": [], "actions": []}]}, "games[0]: setup must be an object"),
        ({"games": games}, "game 0 of the puzzles: setup: "),
    ):
        path.write_text(json.dumps(found | change))
        assert cli.run(lambda: door.main(["--of", str(path), "--solve", "random"])) == 2
        err = capsys.readouterr().err
        assert message in err and "Traceback" not in err


def test_who_is_to_solve_is_known_before_games_are_played(monkeypatch, capsys):
    monkeypatch.setattr(door, "_make", lambda *_: pytest.fail("games were played"))
    assert cli.run(lambda: door.main(["--solve", "greedy,nobody"])) == 2
    assert "unknown agent 'nobody'" in capsys.readouterr().err


def test_a_check_that_was_interrupted_is_no_puzzle(game, legal):
    with pytest.raises(KeyboardInterrupt):
        checked(game, legal, [[90, 91], [94, 95], [100, 102]], ended=False)
