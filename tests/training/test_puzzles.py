"""Puzzles and reasons: they say what the playouts say; a puzzle's position is its own."""

import dataclasses
import json
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.actions import to_text
from training import puzzles as door
from training import zoo
from training.agents import Agent
from training.analysis import attribution, puzzle_maker, puzzles
from training.analysis.judge import Question, measured
from training.analysis.playouts import Ends
from training.analysis.position import Outcomes
from training.analysis.puzzle_maker import Maker
from training.analysis.recorded_game import read_game
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
    others = [a for a in np.flatnonzero(mask) if a != game.actions[4]]
    return np.array([game.actions[4], *others[:2]])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("form_federation", "federation"), ("advance economy", "research"), ("ship TWI_P", "ship"),
        ("explore TWILIGHT", "ship"), ("booster RB1", "pass"), ("pass", "pass"),
        ("leech DECLINE", "leech"), ("mine 1,2", "building"), ("upgrade 1,2", "building"),
        ("power PA_7C", "action"),
    ],
)  # fmt: skip
def test_a_theme_is_of_the_answer(text, wanted):
    assert puzzles.theme(text) == wanted


@pytest.fixture(scope="module")
def puzzle(game, legal):
    """The third action ends with 10 VP more than the first, for the decider."""
    seat = int(game.states[4].current_player)
    own = np.array([[90, 92], [95, 93], [100, 102]])
    vp = np.full((3, 2, 4), 80)
    vp[:, :, seat] = own
    asked = Question(5, seat, legal, np.array([0.7, 0.2, 0.1]))
    moves = np.full((3, 2, 3), -1)
    more = np.zeros((3, len(game.env.ruleset.ids["vp_source"])))
    more[:, 1], more[:, 2] = (8, 12, 0), (-0.2, 1.8, 0)
    one = measured(asked, legal[[0, 2]], vp[[0, 2]], moves[:2])
    return puzzles.puzzle(game, one, own, more, moves[:, 0])


def test_a_puzzle_says_what_each_candidate_brings(game, legal, puzzle):
    texts = [to_text(game.env.ruleset, int(a)) for a in legal]
    assert puzzle["answer"]["text"] == texts[2] and puzzle["policy"]["text"] == texts[0]
    assert puzzle["loss"]["mean"] == 10 and puzzle["decision"] == 5
    assert [list(c["why"].values()) for c in puzzle["candidates"]] == [[], [12, 1.8], [8]]
    assert [c["line"] for c in puzzle["candidates"]] == [[texts[n]] for n in (2, 1, 0)]
    assert [c["vp"] for c in puzzle["candidates"]] == [101, 94, 91]
    assert [c["text"] for c in puzzle["candidates"]] == [texts[2], texts[1], texts[0]]


@pytest.fixture(scope="module")
def found(game, puzzle):
    begun = puzzles.empty(game.env, "me", 2, 0, 0)
    return json.loads(puzzles.to_text(puzzles.added(begun, [(game, []), (game, [puzzle])], 2)))


def test_a_file_of_puzzles_leads_to_their_positions(found, game, puzzle, tmp_path):
    path = tmp_path / "puzzles.json"
    path.write_text(json.dumps(found))
    ((one, state),) = puzzles.positions(puzzles.read(path))
    assert one["answer"] == puzzle["answer"] and len(found["games"][0]["actions"]) == 4
    assert (state.legal_action_mask == game.states[4].legal_action_mask).all()
    assert puzzles.OURS(path)
    path.write_text(puzzles.to_text(found))
    assert puzzles.read(path) == found and puzzles.OURS(path)


def test_a_file_names_which_version_of_a_shipped_agent_made_it(found, game):
    says = puzzles.empty(game.env, "zoo/quick", 64, 0, 0)
    assert says["sha256"] == zoo.about("zoo/quick")["sha256"] and found["sha256"] == ""
    assert puzzles.empty(game.env, "beginner", 64, 0, 0)["sha256"] == says["sha256"]


def test_who_plays_the_answer_solves_it(found, puzzle, legal):
    for action, right in ((puzzle["answer"]["action"], True), (int(legal[0]), False)):
        agent = Agent("one", lambda params, state, mask, key, a=action: jnp.full(len(mask), a))
        assert puzzles.solved(found, agent) == [right]
    said = puzzles.text(found, {"one": [True]})
    assert said.startswith("1 puzzles of 1 games of me") and "one solves 1 of 1" in said
    how = {"solved_by": [], "unsolved_by": [], "beats": ["one"]}
    assert "chosen: better than the choice of one" in puzzles.text(found | {"chosen": how}, {})


def test_puzzles_are_chosen_by_who_solves_them(found, game, puzzle, tmp_path, monkeypatch, capsys):
    """Of three games with a puzzle each, the one that the first solves and the second does not."""
    path, out = tmp_path / "three.json", tmp_path / "chosen.json"
    three = found | {
        "games": [game | {"n": n} for n in range(3) for game in found["games"]],
        "puzzles": [puzzle | {"game": n, "round": n + 1} for n in range(3)],
    }
    path.write_text(puzzles.to_text(three))
    rates = {"one": [True, True, False], "two": [True, False, False], "three": [False, True, True]}
    monkeypatch.setattr(puzzles, "solvers", lambda names, env: {name: name for name in names})
    monkeypatch.setattr(puzzles, "solved", lambda _, solver, walked: rates[solver])
    walks = []
    monkeypatch.setattr(puzzles, "positions", lambda file: walks.append(file) or [])
    head = ["--of", str(path), "--solved-by", "one", "--unsolved-by", "two", "--solve", "three"]
    assert cli.run(lambda: door.main([*head, "--out", str(out)])) == 0
    said = capsys.readouterr().out
    assert "1 puzzles of 1 games" in said and "chosen: solved by one, not by two\n" in said
    assert "three solves 1 of 1" in said and len(walks) == 1  # however many are asked
    made = puzzles.read(out)
    assert [one["n"] for one in made["games"]] == [1]
    assert [(one["game"], one["round"]) for one in made["puzzles"]] == [(0, 2)]
    assert made["chosen"] == {"solved_by": ["one"], "unsolved_by": ["two"]}
    again = puzzles.chosen(made, {"two": [True]}, [], ["two"])
    assert again[0]["puzzles"] == again[0]["games"] == [] and again[1] == {"two": []}
    begin = ["--out", str(out), "--resume", "--agent", "zoo/quick"]
    for otherwise in ([], ["--solved-by", "two"], ["--unsolved-by", "two"]):
        assert cli.run(lambda more=otherwise: door.main([*begin, *more])) == 2
        assert "holds puzzles chosen otherwise: it is not gone on with" in capsys.readouterr().err
    wanted = puzzles.empty(game.env, "me", 2, 0, 0, 1, ["one"], ["two"])
    assert puzzles.begun(out, wanted) == made


def test_reasons_are_differences_by_source(game, legal):
    seat = int(game.states[4].current_player)
    vp = np.full((2, 3, 4), 80)
    sources = np.zeros((2, 3, 4, len(game.env.ruleset.ids["vp_source"])), int)
    vp[0, :, seat], vp[1, :, seat] = (90, 91, 92), (95, 97, 96)
    sources[0, :, seat, 1], sources[1, :, seat, 1] = 4, 12
    sources[0, :, seat, 2] = 2
    sources[:, :, seat, game.env.ruleset.ids["vp_source"].index("FINAL_1")] = 6
    told = attribution.report(game, 5, Outcomes(legal[:2], np.array([0.7, 0.3]), vp, seat, sources))
    best, played = told["candidates"]
    assert played["played"] and not best["played"] and best["vp"] == 96
    assert played["loss"][0] == 5 and played["by_source"]
    assert sorted(played["by_source"].values()) == [-8, 2] and best["by_source"] == {}
    missions = [words for words in told["best_by_source"] if "mission" in words]
    assert missions == ["mission: most structures on asteroids and protoplanets"]
    told |= {"playouts": 3, "agent": "me"}
    said = attribution.text(told)
    assert "(played): 5.0 VP less" in said and "-8.0" in said and "+2.0" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "random"], "--agent requires a policy, random has none"),
        (["--agent", "zoo/strong+search:8"], "zoo/strong+search:8 has none"),
        (["--of", "a", "--out", "b"], "--of takes those of a file"),
        (["--of", "a", "--beats", "greedy"], "--beats are of making puzzles"),
        (["--again"], "--again and --held-by are of a file: --of names it"),
        (["--of", "a", "--resume", "--solved-by", "greedy"], "--of takes those of a file"),
        (["--resume"], "--resume continues the file of --out"),
        (["--of", "docs/records/base.json"], "its format is not 'gaia_jax puzzles 3'"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert cli.run(lambda: door.main(arguments)) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def maker(game, legal, monkeypatch):
    """One that finds what `worth` says; `asked` has the jobs of each request."""
    monkeypatch.setattr(puzzle_maker, "POOL", 2)
    chance = np.zeros(len(game.states[4].legal_action_mask))
    chance[legal] = 0.7, 0.3, 0.0
    monkeypatch.setattr(puzzle_maker, "probabilities", lambda *_: np.stack([chance, chance]))
    made = object.__new__(Maker)
    made.playouts, made._first_round, made.agent, made.asked = 20, 1, None, []
    made.worth, made.ended = {int(legal[0]): 90, int(legal[1]): 97, int(legal[2]): 110}, True
    made.both, made.env = {}, game.env
    made._solved_by = made._unsolved_by = ()
    made._beats, made._beaten = "", {}
    monkeypatch.setattr(puzzle_maker, "decisions", lambda *_: [4])
    seat = int(game.states[4].current_player)

    def play(pool, jobs, seed, progress, capacity):
        assert len(pool.current_player) == 2 and len(jobs.action) <= capacity
        made.asked.append(jobs)
        vp = np.full((len(jobs.action), 4), 80)
        luck = jobs.sample % 3
        plain = [made.worth.get(int(a), 60) for a in jobs.action]
        both = zip(jobs.action, jobs.then, plain, strict=True)
        vp[:, seat] = [made.both.get((int(a), int(b)), x) for a, b, x in both] + luck
        progress(len(vp))
        done = np.full(len(vp), made.ended)
        sources = np.zeros((len(vp), 4, len(game.env.ruleset.ids["vp_source"])), int)
        return Ends(vp, np.full((len(vp), 20), -1), done, sources, vp[:, :0])

    made._players = SimpleNamespace(play=play)
    return made


def test_the_answer_may_be_a_move_that_the_first_stages_did_not_try(maker, game, legal):
    """The third one has no chance by the policy; luck that chose is not luck that checks."""
    told = []
    ((one,),) = maker.puzzles([game], 0, told.append)
    assert one["answer"]["action"] == legal[2] and one["policy"]["action"] == legal[0]
    assert one["loss"]["mean"] == 20 and one["playouts"] == 20
    assert len(one["candidates"]) == min(6, int(game.states[4].legal_action_mask.sum()))
    chose, more, glance, longer, soon, check, order = maker.asked
    assert set(chose.action) == set(more.action) == set(legal[:2].tolist())
    assert len(set(chose.sample) | set(more.sample)) == 16
    glances = set(glance.sample) | set(longer.sample)
    fresh = glances | set(check.sample)
    assert len(fresh) == 20 and min(fresh) == puzzle_maker.FRESH and fresh == set(order.sample)
    for behind in (soon, order):
        assert legal[2] not in behind.action and set(behind.then) == {legal[2]}
    assert set(soon.sample) == glances
    assert all((jobs.then == -1).all() for jobs in (chose, more, glance, longer, check))
    assert told == sorted(told) and told[-1] == sum(len(jobs.action) for jobs in maker.asked)


def test_the_answer_may_beat_what_another_agent_chooses(maker, game, legal):
    """The policy's own choice may be right then; a choice that is a conversion is no mistake."""
    better, chosen = map(int, legal[:2])
    maker._beats, maker.worth[better] = "zoo/quick", 120
    other = Agent("one", lambda params, state, mask, key: jnp.full(len(mask), chosen))
    maker._beaten = {"zoo/quick": other}
    ((one,),) = maker.puzzles([game], 0, lambda ended: None)
    assert (one["answer"]["action"], one["policy"]["action"]) == (better, chosen)
    assert one["beats"] == "zoo/quick" and one["loss"]["mean"] == 23
    maker._text = lambda action: "free burn" if action == chosen else "pass"
    assert maker.puzzles([game], 0, lambda ended: None) == [[]]


def test_what_is_not_clear_is_dropped_before_it_costs_more(maker, game, legal):
    maker.worth[int(legal[1])] = 91
    assert maker.puzzles([game], 0, lambda ended: None) == [[]]
    assert len(maker.asked) == 1


def test_who_is_to_solve_it_is_asked_before_anything_is_played_out(maker, game, legal):
    """An answer is what each solver chooses; none is what one chooses that should not solve it."""
    first, second, third = (
        Agent("one", lambda params, state, mask, key, a=int(a): jnp.full(len(mask), a))
        for a in legal
    )
    maker.worth[int(legal[2])] = 80
    cases = (
        ([second], [], True), ([second, second], [third], True), ([], [first], True),
        ([first], [], False), ([third], [], False), ([second, third], [], False),
        ([], [second], False), ([second], [second], False),
    )  # fmt: skip
    for maker._solved_by, maker._unsolved_by, kept in cases:
        maker.asked.clear()
        found = maker.puzzles([game], 0, lambda ended: None)[0]
        assert [one["answer"]["action"] for one in found] == [legal[1]] * kept
        assert bool(maker.asked) is kept, "no playouts without an answer that is wanted"
    maker._solved_by, maker._unsolved_by = [second], []
    maker.worth[int(legal[2])] = 110
    assert maker.puzzles([game], 0, lambda ended: None) == [[]], "another move is best"


def test_a_move_that_the_answer_may_follow_is_no_mistake(maker, game, legal):
    """The worth of a wrong candidate is the better of both ways; the answer stays the answer."""
    first, second, answer = map(int, legal)
    for both, kept in ((100, True), (109, False), (110, False), (130, False)):
        maker.both = {(second, answer): both}
        found = maker.puzzles([game], 0, lambda ended: None)[0]
        assert bool(found) is kept, both
        if kept:
            told = {c["action"]: c for c in found[0]["candidates"]}
            assert told[second]["vp"] == 101 and told[second]["answer_next"]
            assert "answer_next" not in told[first] and "answer_next" not in told[answer]


@pytest.mark.parametrize("text", ["free Q_to_O", "special AC_B"])
def test_what_is_no_answer(text, maker, game, monkeypatch):
    """A conversion alone wins nothing: the move behind it does. An action of one's own can wait."""
    monkeypatch.setattr(puzzle_maker.actions, "to_text", lambda rules, action: text)
    assert maker.puzzles([game], 0, lambda ended: None) == [[]]


def test_ctrl_c_is_no_puzzle(maker, game):
    maker.ended = False
    with pytest.raises(KeyboardInterrupt):
        maker.puzzles([game], 0, lambda ended: None)
    assert len(maker.asked) == 1


def test_of_puzzles_with_one_answer_in_a_game_there_is_one(maker, game, legal, monkeypatch):
    monkeypatch.setattr(puzzle_maker, "decisions", lambda *_: [4, 4])
    assert [len(some) for some in maker.puzzles([game], 0, lambda ended: None)] == [1]


def test_a_file_is_tried_again_by_another_agent(maker, game, found, legal, monkeypatch):
    """A puzzle says what the new playouts say, or is gone; the decisions beside it stay closed."""
    monkeypatch.setattr(puzzle_maker, "decisions", lambda *_: pytest.fail("all were asked for"))
    maker.env, maker.name = game.env, "zoo/quick"
    chosen = found | {"chosen": {"solved_by": ["one"], "unsolved_by": []}, "from_round": 6}
    made = maker.again(chosen)
    (one,) = made["puzzles"]
    assert one["decision"] == 5 and one["loss"]["mean"] == 20 != found["puzzles"][0]["loss"]["mean"]
    assert one["answer"]["action"] == legal[2] and made["games"] == found["games"]
    assert made["agent"] == "zoo/quick" and made["sha256"] == zoo.about("zoo/quick")["sha256"]
    assert "chosen" not in made and made["playouts"] == 20 and made["from_round"] == 6
    beaten = Agent("one", lambda params, state, mask, key: jnp.full(len(mask), int(legal[1])))
    maker._beaten = {"greedy": beaten}
    easier = chosen | {"puzzles": [one | {"beats": "greedy"}]}
    maker.worth[int(legal[0])] = 130
    (one,) = maker.again(easier)["puzzles"]
    assert one["beats"] == "greedy" and one["policy"]["action"] == legal[1]
    assert one["answer"]["action"] == legal[0]
    maker.worth[int(legal[0])] = 90
    maker.worth[int(legal[1])] = 91
    assert maker.again(chosen)["puzzles"] == maker.again(chosen)["games"] == []


def test_the_command_writes_what_was_tried_again(found, tmp_path, monkeypatch, capsys):
    path, out = tmp_path / "puzzles.json", tmp_path / "again.json"
    path.write_text(puzzles.to_text(found))
    monkeypatch.setattr(Maker, "__init__", lambda self, *_: None)
    monkeypatch.setattr(Maker, "again", lambda self, file: file | {"agent": "tried"})
    assert cli.run(lambda: door.main(["--of", str(path), "--again", "--out", str(out)])) == 0
    assert "1 puzzles of 1 games of tried" in capsys.readouterr().out
    assert puzzles.read(out) == found | {"agent": "tried"}


def test_a_file_is_gone_on_with(found, game, puzzle, tmp_path, monkeypatch, capsys):
    """Games are looked through some at a time, and what they gave is there after each."""
    path, looked, stopped = tmp_path / "puzzles.json", [], [True]
    head = ["--games", "20", "--agent", "zoo/quick", "--out", str(path), "--resume"]

    def look(self, games, first, progress):
        if first == 8 and stopped.pop():
            stopped.append(False)
            raise KeyboardInterrupt
        looked.append((first, len(games)))
        return [[puzzle], *([] for _ in games[1:])]

    monkeypatch.setattr(puzzle_maker, "GAMES", 4)
    dealt = [(game.states[0], [])] * puzzle_maker.PLAYED
    monkeypatch.setattr(Maker, "games", lambda *_: dealt)
    ended = game._replace(states=[*game.states[:-1], game.states[-1].replace(terminated=True)])
    monkeypatch.setattr(Maker, "_walked", lambda *_: ended)
    monkeypatch.setattr(Maker, "__init__", lambda self, *_: None)
    monkeypatch.setattr(Maker, "puzzles", look)
    assert cli.run(lambda: door.main(head)) == 130
    assert puzzles.read(path)["following"] == 8 and len(puzzles.read(path)["puzzles"]) == 2
    assert cli.run(lambda: door.main(head)) == 0
    assert looked == [(n, 4) for n in range(0, 20, 4)]
    assert len(puzzles.read(path)["puzzles"]) == 5 and puzzles.read(path)["following"] == 20
    assert cli.run(lambda: door.main([*head, "--seed", "1"])) == 2
    assert f"{path} has seed 0, not 1" in capsys.readouterr().err
    assert cli.run(lambda: door.main([*head, "--from-round", "5"])) == 2
    assert f"{path} has from_round 1, not 5" in capsys.readouterr().err


def test_what_is_wrong_in_a_file_is_one_line(found, tmp_path, capsys):
    path = tmp_path / "puzzles.json"
    games = [{"setup": {"factions": [1, 2, 3, 4]}, "actions": []}]
    (one,), held = found["puzzles"], {"by": "me", "playouts": 1, "loss": {}, "ahead": 1}
    for change, message in (
        ({"games": None}, "games must be a list, not null"),
        ({"chosen": {"solved_by": []}}, "chosen: key 'unsolved_by' is missing"),
        ({"puzzles": [{"game": 0}]}, "puzzles[0]: key 'decision' is missing"),
        ({"games": [{"setup": [], "actions": []}]}, "games[0]: setup must be an object"),
        ({"puzzles": [one | {"candidates": [{}]}]}, "candidates[0]: key 'action' is missing"),
        ({"puzzles": [one | {"beats": 3}]}, "puzzles[0]: beats must be "),
        ({"puzzles": [one | {"held": held}]}, "puzzles[0].candidates[0]: key 'held' is missing"),
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
