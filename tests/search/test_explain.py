"""`python -m training.explain`: its texts, its errors, and a whole game."""

import json
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import replay
from tests import golden
from training import explain
from training.agents.base import policy_agent
from training.search import SearchOutput
from training.search.base import Candidates
from training.system import cli

DECISION = {
    "decision": 57,
    "of": 290,
    "round": 2,
    "player": 1,
    "factions": ["TERRANS", "XENOS", "AMBAS", "IVITS"],
    "vp": [12, 15, 10, 21],
    "options": 9,
    "played": "pass",
    "best": "mine 3,-2",
    "cost": 4.25,
    "unlike": False,
    "after_played": [101.0, 98.5, 90.0, 88.0],
    "after_best": [100.0, 102.75, 91.0, 88.0],
    "candidates": [
        {
            "action": "mine 3,-2", "prior": 0.25, "visits": 20, "played": False, "best": True,
            "final_vp": [100.0, 103.0, 91.0, 88.0], "line": ["XENOS: end_turn", "AMBAS: leech 1"],
        },
        {
            "action": "pass", "prior": 0.5, "visits": 12, "played": True, "best": False,
            "final_vp": [101.0, 99.0, 90.0, 88.0], "line": [],
        },
    ],
}  # fmt: skip


def test_a_decision_is_a_table_of_its_candidates():
    text = explain.decision_text(DECISION)
    assert "decision 57 of 290, round 2: XENOS (player 1), 9 options" in text
    assert "then XENOS: end_turn; AMBAS: leech 1" in text
    assert "the played move cost 4.2 VP" in text
    best, played = (line for line in text.splitlines() if "%" in line)
    assert best.startswith("* mine 3,-2") and played.startswith(" >pass")
    assert played.split()[-4:] == ["101.0", "99.0", "90.0", "88.0"]


def test_an_end_that_is_known_is_not_compared_with_a_guess():
    text = explain.decision_text(DECISION | {"cost": 0.0, "unlike": True})
    assert "not compared" in text and "cost" not in text


def test_costs_are_compared_by_searches_of_the_positions_after_both_moves(monkeypatch):
    """Three decisions: another move was better, the end of one is known, the best was played."""
    explainer = explain.Explainer.__new__(explain.Explainer)
    explainer.spec = SimpleNamespace(utility="max_n")
    found = SimpleNamespace(action=np.array([4, 5, 6]))
    monkeypatch.setattr(explainer, "_search", lambda states, played: (found, "best", "played"))
    final = {
        "best": (np.array([[60.0, 9], [60, 9], [60, 9]]), np.array([False, False, False])),
        "played": (np.array([[57.5, 9], [40, 9], [60, 9]]), np.array([False, True, False])),
    }
    monkeypatch.setattr(explainer, "_final", final.get)
    states = SimpleNamespace(current_player=np.zeros(3, int))
    looked = explainer.look(states, np.array([1, 1, 6]))
    assert looked.cost.tolist() == [2.5, 0, 0]
    assert looked.unlike.tolist() == [False, True, False]


def test_a_position_is_worth_what_the_move_of_the_search_brings():
    """Not the mean over all that was tried: the second row's move was not visited."""
    candidates = Candidates(
        action=np.array([[7, 3, 9], [7, 3, 9]]), valid=np.ones((2, 3), bool),
        prior=np.zeros((2, 3)), visits=np.array([[4, 9, 1], [4, 0, 1]]),
        values=np.arange(12.0).reshape(2, 3, 2), utility=np.zeros((2, 3)),
    )  # fmt: skip
    root = np.array([[50.0, 51], [60, 61]])
    found = SearchOutput(np.array([3, 3]), np.zeros((2, 10)), root, candidates)
    slot = explain._slot(found)
    assert slot.tolist() == [1, 1]
    assert explain._of_the_move(found, slot).tolist() == [[2, 3], [60, 61]]


def test_an_end_below_the_best_edge_is_known():
    """The best edge of node 1 leads to node 2, which is closed in the first row."""
    tree = SimpleNamespace(
        child=np.array([[[1, -1], [-1, 2], [-1, -1]]] * 2),
        visits=np.array([[[3, 0], [0, 2], [0, 0]]] * 2),
        utility=np.array([[[0.5, 9], [9, 0.1], [0, 0]]] * 2),
        closed=np.array([[False, False, True], [False, False, False]]),
    )
    assert explain._known(tree, np.array([0, 0])).tolist() == [True, False]


def test_a_game_is_a_list_of_its_costliest_decisions():
    about = {
        "agent": "zoo/a+search:8", "decisions": 290, "looked_at": 250, "agreed": 0.5,
        "worst": [DECISION], "lost": {"XENOS": 12.5, "AMBAS": 0.0},
    }  # fmt: skip
    text = explain.game_text(about)
    assert "250 of 290 decisions had a choice; 50% were played as zoo/a+search:8 would" in text
    assert "XENOS              4.2  pass; mine 3,-2" in text
    assert "XENOS 12.5, AMBAS 0.0" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{record}", "--agent", "random"], "--agent wants a search: random+search:64"),
        (["{record}", "--agent", "a+search:x"], "a number above 0, got 'x'"),
        (["{record}", "--agent", "a+search:8", "--worst", "0"], "--worst: wants a whole number 1"),
        (["{missing}", "--agent", "a+search:8"], "cannot read"),
        (["{record}", "--agent", "a+search:8"], "is no game record"),
    ],
)
def test_mistakes_are_one_line(arguments, message, tmp_path, capsys):
    paths = {"record": tmp_path / "record.json", "missing": tmp_path / "missing.json"}
    paths["record"].write_text("{}")
    arguments = [a.format(**paths) for a in arguments]
    assert cli.run(lambda: explain.main(arguments)) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


@pytest.mark.slow  # compiles a search of the whole game: a minute on two quiet cores
def test_a_whole_game(tmp_path, monkeypatch, capsys):
    def apply(params, observation, mask):
        return jnp.where(mask, 0.0, -1e9), jnp.zeros((len(mask), 4))

    def make(name, env, likeliest=False):
        return policy_agent(env, SimpleNamespace(apply=apply), (), name)

    env = gaia_jax.make("lost_fleet", reward="vp")
    game = golden.read()[0]
    record = replay.Record(
        env.id, env.version, game["setup"], tuple(game["actions"]), tuple(game["final_vp"])
    )
    path = tmp_path / "game.json"
    replay.write(path, record)
    monkeypatch.setattr(explain, "make_agent", make)
    out = tmp_path / "out.json"
    agent = "nobody+search:8:form=one_layer:scale=5"
    arguments = [str(path), "--agent", agent, "--worst", "3", "--json", str(out)]
    assert explain.main(arguments) == 0
    assert explain.OURS(out)  # it may be written again
    about = json.loads(out.read_text())
    assert about["decisions"] == len(record.actions) and len(about["worst"]) == 3
    costs = [x["cost"] for x in about["worst"]]
    assert costs == sorted(costs, reverse=True) and costs[0] > 0
    for row in about["worst"]:
        # Who knows nothing but the next payment counts the VP of now and what the move brings.
        now = np.array(row["vp"])
        for candidate in row["candidates"]:
            assert (np.array(candidate["final_vp"]) >= now - 12).all()
        assert row["played"] == record.actions[row["decision"] - 1]
    assert "VP lost by player" in capsys.readouterr().out
