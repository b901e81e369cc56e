"""`python -m training.explain`: its texts, its errors, and a whole game."""

import json
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from tests import golden
from tests.stub_env import blank_agent
from training import explain as door
from training.analysis import recorded_game, search_report
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
    "final_vp": [100.0, 103.0, 91.0, 88.0],
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
    text = search_report.decision_text(DECISION)
    assert "decision 57 of 290, round 2: XENOS (player 1), 9 options" in text
    assert "then XENOS: end_turn; AMBAS: leech 1" in text
    sure = [row | {"prior": p} for row, p in zip(DECISION["candidates"], (1.0, 0.0), strict=True)]
    sure_text = search_report.decision_text(DECISION | {"candidates": sure})
    assert ">99.9%" in sure_text and "<0.1%" in sure_text and "100.0%" not in sure_text
    best, played = (line for line in text.splitlines() if "%" in line)
    assert best.startswith("* mine 3,-2") and played.startswith(" >pass")
    assert played.split()[-4:] == ["101.0", "99.0", "90.0", "88.0"]


class Counted:
    """An `Explainer` whose search, for SIZE positions at once, is a table that is looked up."""

    SIZE = 4

    def __init__(self):
        self.shapes = []
        self.explainer = search_report.Explainer.__new__(search_report.Explainer)
        self.explainer.policy = SimpleNamespace(reward="vp", reward_scale=10.0)
        self.explainer._params, self.explainer._batch = (), self.SIZE
        self.explainer._searched, self.explainer._run = 0, self.run

    def run(self, params, states):
        """Two candidates, 3 and 5; the search plays 5, and expects 2 VP more for player 1."""
        n = len(states.current_player)
        self.shapes.append(n)
        candidates = Candidates(
            action=np.tile([3, 5], (n, 1)), valid=np.ones((n, 2), bool), prior=np.full((n, 2), 0.5),
            visits=np.tile([3, 1], (n, 1)), utility=np.zeros((n, 2)),
            values=np.tile([[0, 0.1, 0, 0], [0, 0.2, 0, 0]], (n, 1, 1)),
        )  # fmt: skip
        return SearchOutput(np.full(n, 5), np.zeros((n, 9)), np.zeros((n, 4)), candidates)


class Players(NamedTuple):
    vp: Any


class Setup(NamedTuple):
    faction: Any


class Turn(NamedTuple):
    round: Any


class Inner(NamedTuple):
    players: Players
    setup: Setup
    turn: Turn


class Position(NamedTuple):
    """What is read of a state."""

    current_player: Any
    legal_action_mask: Any
    game: Inner


def position(options=2):
    """Player 1 decides, all have 10 VP; actions 3, 5 and so on are legal."""
    mask = np.zeros(9, bool)
    mask[[3, 5, 7][:options]] = True
    inner = Inner(Players(np.full(4, 10)), Setup(np.arange(4)), Turn(np.int32(2)))
    return Position(np.int32(1), mask, inner)


def test_one_decision_and_a_whole_game_are_searched_so_many_at_a_time():
    """`--at` after the whole game compiles nothing: the shape is the same."""
    counted = Counted()
    for count in (1, 9):
        states = jax.tree.map(lambda *x: np.stack(x), *[position()] * count)
        searched = counted.explainer.search(states)
        assert searched.final_vp.tolist() == [[10.0, 12.0, 10.0, 10.0]] * count
        assert len(searched.output.action) == count
    assert set(counted.shapes) == {Counted.SIZE} and len(counted.shapes) == 4


def test_every_decision_with_a_choice_is_told():
    """Of 30 decisions every third has one option: the JSON has the other 20, in order."""
    env, counted = gaia_jax.make("lost_fleet"), Counted()
    counted.explainer.name = "a+search:8"
    states = [position(options=1 if n % 3 == 0 else 2) for n in range(31)]
    game = recorded_game.Game(env, states, [3, 5] * 15)
    about = search_report.explain_game(game, counted.explainer)
    rows = about["choices"]
    assert [row["decision"] for row in rows] == [n + 1 for n in range(30) if n % 3]
    assert about["looked_at"] == 20 and about["decisions"] == 30
    assert about["agreed"] == np.mean([row["decision"] % 2 == 0 for row in rows])
    assert all(row["final_vp"] == [10, 12, 10, 10] for row in rows)
    for row in rows:
        played = [c["action"] for c in row["candidates"] if c["played"]]
        assert played == [row["played"]] and len(row["candidates"]) == 2


def test_a_record_without_a_choice_is_one_line():
    game = recorded_game.Game(None, [position(options=1)], [])
    with pytest.raises(UserError, match="no decision with a choice"):
        search_report.explain_game(game, Counted().explainer)


def test_the_command_compiles_one_size(monkeypatch):
    """Whatever it is asked, the search is made for `BATCH` positions."""
    sizes = []

    class Stop(Exception):
        pass

    def make_explainer(env, name, batch):
        sizes.append(batch)
        raise Stop

    game = recorded_game.Game(None, [None, None], [3])
    monkeypatch.setattr(recorded_game, "read_game", lambda path: game)
    monkeypatch.setattr(search_report, "Explainer", make_explainer)
    for extra in ([], ["--at", "1"]):
        with pytest.raises(Stop):
            door.main(["game.json", "--agent", "a+search:8", *extra])
    assert sizes == [search_report.BATCH] * 2


def test_a_position_is_worth_what_the_move_of_the_search_brings():
    """Not the mean over all tried actions: the second row's move was not visited."""
    candidates = Candidates(
        action=np.array([[7, 3, 9], [7, 3, 9]]), valid=np.ones((2, 3), bool),
        prior=np.zeros((2, 3)), visits=np.array([[4, 9, 1], [4, 0, 1]]),
        values=np.arange(12.0).reshape(2, 3, 2), utility=np.zeros((2, 3)),
    )  # fmt: skip
    root = np.array([[50.0, 51], [60, 61]])
    output = SearchOutput(np.array([3, 3]), np.zeros((2, 10)), root, candidates)
    slot = search_report._chosen_slot(output)
    assert slot.tolist() == [1, 1]
    assert search_report._chosen_values(output, slot).tolist() == [[2, 3], [60, 61]]


def test_a_game_is_a_list_of_its_decisions():
    same = DECISION | {"decision": 58, "played": "mine 3,-2"}
    about = {
        "agent": "zoo/a+search:8", "decisions": 290, "looked_at": 250, "agreed": 0.5,
        "factions": DECISION["factions"], "choices": [DECISION, same],
    }  # fmt: skip
    text = search_report.game_text(about)
    assert "250 of 290 decisions had a choice; 50% were played as zoo/a+search:8 would" in text
    first, second = text.splitlines()[-2:]
    assert " ".join(first.split()) == "57 2 XENOS 100.0 103.0 91.0 88.0 pass; mine 3,-2"
    assert " ".join(second.split()) == "58 2 XENOS 100.0 103.0 91.0 88.0 mine 3,-2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["{record}", "--agent", "random"],
            "--agent requires a search, for example random+search:64",
        ),
        (["{missing}", "--agent", "random+search:8"], "requires a policy, random has none"),
        (["{record}", "--agent", "a+search:x"], "a number above 0, got 'x'"),
        (["{missing}", "--agent", "a+search:8"], "cannot read"),
        (["{record}", "--agent", "a+search:8"], "is no game record"),
    ],
)
def test_mistakes_are_one_line(arguments, message, tmp_path, capsys):
    paths = {"record": tmp_path / "record.json", "missing": tmp_path / "missing.json"}
    paths["record"].write_text("{}")
    arguments = [a.format(**paths) for a in arguments]
    assert cli.run(lambda: door.main(arguments)) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


@pytest.mark.slow  # compiles a search of the whole game: a minute on two quiet cores
def test_every_decision_of_a_whole_game(tmp_path, monkeypatch, capsys):
    env = gaia_jax.make("lost_fleet", reward="vp")
    game = golden.read()[0]
    record = replay.Record(
        env.id, env.version, game["setup"], tuple(game["actions"]), tuple(game["final_vp"])
    )
    path = tmp_path / "game.json"
    replay.write(path, record)
    monkeypatch.setattr(search_report, "make_agent", lambda name, env, **_: blank_agent(env, name))
    out = tmp_path / "out.json"
    agent = "missing+search:8:form=one_layer:scale=5"
    arguments = [str(path), "--agent", agent, "--json", str(out)]
    assert door.main(arguments) == 0
    assert search_report.is_own_report(out)  # it may be written again
    about = json.loads(out.read_text())
    assert about["decisions"] == len(record.actions)
    # Everything that was looked at, in order.
    numbers = [row["decision"] for row in about["choices"]]
    assert len(numbers) == about["looked_at"] > 100 and numbers == sorted(set(numbers))
    for row in about["choices"]:
        assert row["options"] > 1 and row["candidates"]
        # Who knows nothing but the next payment counts the VP of now and what the move brings.
        now = np.array(row["vp"])
        for candidate in row["candidates"]:
            assert (np.array(candidate["final_vp"]) >= now - 12).all()
        assert row["played"] == record.actions[row["decision"] - 1]
    printed = capsys.readouterr().out
    assert f"{len(numbers)} of {len(record.actions)} decisions had a choice" in printed
    assert len(printed.splitlines()) == len(numbers) + 4
