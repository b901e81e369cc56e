"""Puzzles: how they are made, their file, the command, and the shipped set."""

import dataclasses
import json
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.actions import to_text
from training import puzzles as command
from training import zoo
from training.agents import Agent
from training.analysis import (
    attribution,
    puzzle_blocks,
    puzzle_criteria,
    puzzle_maker,
    puzzles,
    races,
    trials,
    verification,
)
from training.analysis.candidate_outcomes import Outcomes
from training.analysis.judge import Comparison
from training.analysis.playout_journal import PlayoutJournal
from training.analysis.playouts import Ends
from training.analysis.puzzle_criteria import puzzle_decisions
from training.analysis.puzzle_maker import Decision, PuzzleMaker
from training.analysis.puzzles import AnswerCriteria
from training.analysis.recorded_game import read_game
from training.analysis.trials import CandidatePlayer
from training.system import cli, jobs

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
    return [int(action) for action in [game.actions[4], *others[:2]]]


class Player(CandidatePlayer):
    """Playouts with the results of `worth`, or of `planned_worth` for a candidate and its plan."""

    def __init__(self, game, worth):
        self.num_played, self.last_pass, self.requests, self.journal = 0, -1, [], None
        self.worth, self.planned_worth, self.stopped = worth, {}, False
        self.seat = int(game.states[4].current_player)
        self.kinds = len(game.env.ruleset.ids["vp_source"])
        self.runner = SimpleNamespace(env=game.env)

    def run_jobs(self, pool, jobs, seed):
        if self.stopped:
            raise KeyboardInterrupt
        self.requests.append(jobs)
        vp = np.full((len(jobs.action), 4), 80)
        plans = np.broadcast_to(jobs.plan[:, 0, 0], len(vp))
        lines = zip(jobs.action.tolist(), plans.tolist(), strict=True)
        ends = [self.planned_worth.get(line, self.worth.get(line[0], 60)) for line in lines]
        vp[:, self.seat] = ends + jobs.sample % 3
        sources = np.zeros((len(vp), 4, self.kinds), int)
        sources[:, self.seat, 1] = ends
        moves = np.full((len(vp), 5), -1)
        return Ends(vp, moves, np.ones(len(vp), bool), sources, moves)


def agent_of(action):
    """An agent that always chooses one action."""
    return Agent("one", lambda params, state, mask, key: jnp.full(len(mask), int(action)))


def set_policy(monkeypatch, game, chances):
    """Probabilities by action."""
    chance = np.zeros(len(game.states[4].legal_action_mask))
    chance[list(chances)] = list(chances.values())
    monkeypatch.setattr(puzzle_maker, "policy_probabilities", lambda *_: np.stack([chance, chance]))


@pytest.fixture
def maker(game, legal, monkeypatch):
    """A maker whose policy prefers the first action to the third, which is worth most."""
    monkeypatch.setattr(trials, "POOL_SIZE", 2)
    monkeypatch.setattr(puzzle_maker, "POOL_SIZE", 2)
    monkeypatch.setattr(puzzle_maker, "has_reason", lambda env, trial: True)
    set_policy(monkeypatch, game, {legal[0]: 0.7, legal[2]: 0.3})
    maker_without_agent = object.__new__(PuzzleMaker)
    (
        maker_without_agent.env,
        maker_without_agent.name,
        maker_without_agent.num_playouts,
        maker_without_agent.agent,
    ) = game.env, "zoo/quick", 20, None
    maker_without_agent.criteria, maker_without_agent._solvers = puzzles.ANY_ANSWER, {}
    maker_without_agent._verifier = None
    worth = dict(zip(legal, (90, 97, 110), strict=True))
    maker_without_agent.player = Player(game, worth)
    maker_without_agent.line_player = Player(game, worth)
    return maker_without_agent


def made_by(maker, game, *decisions):
    """The puzzles of the fifth decision, or of others."""
    return maker.search_games([game], decisions or [Decision(0, 4)], 0)[0]


def test_an_answer_leads_moves_that_the_screening_did_not_try(maker, game, legal):
    """The policy gives the second action no chance; luck that selects is not luck that checks."""
    (puzzle,) = made_by(maker, game)
    assert puzzle["answer"]["action"] == legal[2] and puzzle["policy"]["action"] == legal[0]
    assert puzzle["loss"]["mean"] == 20 and puzzle["playouts"] == 20 and puzzle["decision"] == 5
    texts = [to_text(game.env.ruleset, action) for action in legal]
    assert [c["text"] for c in puzzle["candidates"][:3]] == [texts[n] for n in (2, 1, 0)]
    assert [c["vp"] for c in puzzle["candidates"][:2]] == [111, 98]
    assert [list(c["why"].values()) for c in puzzle["candidates"][:3]] == [[], [13], [20]]
    assert all(c["line"] == [c["text"]] for c in puzzle["candidates"])
    assert puzzle["theme"] == puzzles.find_theme(texts[2], 0) == "opening" and "beats" not in puzzle
    likely, all_legal = maker.line_player.requests
    assert set(likely.action) == {legal[0], legal[2]} and set(all_legal.action) >= set(legal)
    screening, *checks = maker.player.requests
    assert {*legal} <= set(screening.action) <= set(all_legal.action)
    assert screening.sample.max() < min(jobs.sample.min() for jobs in checks)
    *earlier, final = [set(jobs.sample.tolist()) for jobs in maker.player.requests]
    assert len(final) == maker.num_playouts
    assert all(samples == final or not samples & final for samples in earlier)
    assert len(made_by(maker, game, Decision(0, 4), Decision(0, 4), Decision(0, 4))) == 1


def test_an_unclear_decision_is_dropped_before_it_costs_more(maker, game, legal):
    for vp in (108, 130):
        maker.player.worth[legal[1]] = vp
        assert made_by(maker, game) == [] and not maker.player.requests, "a near rival"
        assert len(maker.line_player.requests) == 2
        maker.line_player.requests.clear()
    maker.player.worth[legal[2]] = 91
    assert made_by(maker, game) == [] and len(maker.line_player.requests) == 1
    maker.line_player.worth = maker.player.worth | {legal[1]: 97, legal[2]: 110}
    assert made_by(maker, game) == [] and len(maker.player.requests) == 1, "only in lines"
    maker.line_player.stopped = True
    with pytest.raises(KeyboardInterrupt):
        made_by(maker, game)


def test_a_lead_without_a_reason_is_dropped_before_the_race(maker, game, monkeypatch):
    assert made_by(maker, game)
    puzzles_cost = len(maker.player.requests)
    maker.player.requests.clear()
    monkeypatch.setattr(puzzle_maker, "has_reason", lambda env, trial: False)
    assert not made_by(maker, game)
    assert len(maker.player.requests) == 1 < puzzles_cost


def test_a_stronger_agent_verifies_before_the_race(maker, game, legal):
    """It sees the moves nearest to the answer; its results are those of the puzzle."""
    tried = []

    def verify_puzzle(puzzle, state):
        tried.append(puzzle)
        assert state is game.states[4] and len(maker.player.requests) == 1
        about = {"held": {"by": "greedy"}, "candidates": puzzle["candidates"][:2]}
        return puzzle | about if len(tried) > 1 else None

    maker._verifier = SimpleNamespace(verify_puzzle=verify_puzzle)
    assert not made_by(maker, game) and len(maker.player.requests) == 1
    maker.player.requests.clear()
    (puzzle,) = made_by(maker, game)
    assert {c["action"] for c in tried[0]["candidates"]} > {*legal}
    assert puzzle["held"] == {"by": "greedy"} and len(puzzle["candidates"]) == 2
    assert puzzle["loss"]["mean"] == 20 and puzzle["playouts"] == 20


def test_a_move_that_the_answer_may_follow_is_no_mistake(maker, game, legal):
    """A candidate counts in its better order; the answer stays the answer."""
    for vp, is_kept in ((104, True), (109, False), (110, False), (130, False)):
        maker.player.planned_worth = {(legal[1], legal[2]): vp}
        maker.player.worth[legal[1]] = 101
        own_puzzles = made_by(maker, game)
        assert bool(own_puzzles) is is_kept, vp
        if own_puzzles:
            by_action = {c["action"]: c for c in own_puzzles[0]["candidates"]}
            assert by_action[legal[1]]["vp"] == 105 and by_action[legal[1]]["answer_next"]
            assert not by_action[legal[2]]["answer_next"]


def test_likely_moves_are_candidates_before_near_ones():
    vp, chances = [np.full(4, 90 - n) for n in range(9)], np.zeros(9)
    race = races.Race(0, None, 0, np.arange(9), np.full(8, 3.0), vp)
    chances[[0, 5, 8]] = 0.5, 0.4, 0.02
    comparison = Comparison(0, 0, np.array([5, 0]), chances[[5, 0]])
    ends = trials.NO_ENDS._replace(vp=np.array([vp[5], vp[0]])[:, :, None])
    trial = trials.Trial(0, None, comparison, chances, np.ones(9, bool), ends)
    candidates = puzzle_maker.with_rivals(trial, race).comparison.candidates
    assert candidates.tolist() == [5, 0, 8, 1, 2, 3]


@pytest.mark.parametrize(
    ("solved_by", "unsolved_by", "is_kept"),
    [([1], [2], True), ([], [0], True), ([0], [], False), ([1, 2], [], False), ([], [1], False)],
)
def test_an_answer_is_the_choice_of_some_agents(
    maker, game, legal, solved_by, unsolved_by, is_kept, monkeypatch
):
    """Known before the lines of all legal moves."""
    set_policy(monkeypatch, game, {legal[0]: 0.7, legal[1]: 0.3})
    maker._solvers = {str(n): agent_of(action) for n, action in enumerate(legal)}
    maker.criteria = AnswerCriteria([str(n) for n in solved_by], [str(n) for n in unsolved_by])
    maker.player.worth[legal[2]] = 80
    own_puzzles = made_by(maker, game)
    assert [puzzle["answer"]["action"] for puzzle in own_puzzles] == [legal[1]] * is_kept
    assert (len(maker.line_player.requests) == 2) is is_kept is bool(maker.player.requests)


def test_the_answer_may_beat_the_choice_of_another_agent(maker, game, legal, monkeypatch):
    """The policy's own choice may be right then; a choice that is a conversion is no mistake."""
    set_policy(monkeypatch, game, {legal[0]: 0.7, legal[1]: 0.3})
    maker._solvers, maker.player.worth[legal[0]] = {"zoo/quick": agent_of(legal[1])}, 130
    (puzzle,) = made_by(maker, game, Decision(0, 4, "zoo/quick"))
    assert (puzzle["answer"]["action"], puzzle["policy"]["action"]) == tuple(legal[:2])
    assert puzzle["beats"] == "zoo/quick" and puzzle["loss"]["mean"] == 33
    for texts in ({legal[1]: "free burn"}, {legal[0]: "special AC_B"}, {legal[0]: "free Q_to_O"}):
        names = tuple(texts.get(a, f"pass {a}") for a in range(game.env.num_actions))
        ruleset = SimpleNamespace(ids=game.env.ruleset.ids, actions=SimpleNamespace(texts=names))
        maker.env = SimpleNamespace(ruleset=ruleset)
        assert made_by(maker, game, Decision(0, 4, "zoo/quick")) == []


def test_main_decisions_and_offers_of_leech_may_become_puzzles(game):
    rounds = [int(state.game.turn.round) for state in game.states[:-1]]
    later = [at for at in puzzle_decisions(game) if rounds[at] >= 1]
    assert puzzle_decisions(game, 1) == later and puzzle_decisions(game, 6) == []


@pytest.fixture
def collection(maker, game):
    """One puzzle of the second of two games."""
    empty = puzzles.new_collection(game.env, "me", 20, 0, 0)
    extended = puzzles.add_games(empty, [game, game], [[], made_by(maker, game)], 2)
    return json.loads(puzzles.to_text(extended))


@pytest.mark.parametrize("name", ["puzzles.json", "puzzles.json.gz"])
def test_a_file_leads_to_the_positions_of_its_puzzles(collection, game, tmp_path, name):
    path = tmp_path / name
    puzzles.write(path, collection)
    assert puzzles.read(path) == collection and puzzles.is_own_file(path)
    ((number, puzzle, state),) = puzzles.replay_positions(puzzles.read(path))
    assert number == 0 and puzzle == collection["puzzles"][0]
    assert len(collection["games"][0]["actions"]) == 4 and collection["following"] == 2
    assert (state.legal_action_mask == game.states[4].legal_action_mask).all()
    path.write_bytes(path.read_bytes()[:100])
    assert not puzzles.is_own_file(path)


def run(*arguments):
    return cli.run(lambda: command.main([str(argument) for argument in arguments]))


def test_puzzles_are_selected_by_the_agents_that_solve_them(
    collection, legal, tmp_path, monkeypatch, capsys
):
    """Of three games with a puzzle each, the one that the first solves and the second does not."""
    positions = list(puzzles.replay_positions(collection))
    assert puzzles.find_solved(agent_of(legal[2]), positions) == [True]
    assert puzzles.find_solved(agent_of(legal[0]), positions) == [False]
    path, out = tmp_path / "three.json", tmp_path / "chosen.json.gz"
    (record,), (puzzle,) = collection["games"], collection["puzzles"]
    three = {
        "games": [record | {"n": n} for n in range(3)],
        "puzzles": [puzzle | {"game": n, "round": n + 1} for n in range(3)],
    }
    puzzles.write(path, collection | three)
    rates = {"one": [True, True, False], "two": [True, False, False], "three": [False, True, True]}
    monkeypatch.setattr(puzzles, "make_solvers", lambda names, env: {name: name for name in names})
    monkeypatch.setattr(puzzles, "find_solved", lambda solver, positions: rates[solver])
    head = ("--of", path, "--solved-by", "one", "--unsolved-by", "two", "--solve", "three")
    assert run(*head, "--out", out) == 0
    printed = capsys.readouterr().out
    assert "1 puzzles of 1 games of me" in printed and "three solves 1 of 1" in printed
    assert "chosen: solved by one, not by two\n" in printed
    selected = puzzles.read(out)
    assert [game["n"] for game in selected["games"]] == [1]
    assert [(puzzle["game"], puzzle["round"]) for puzzle in selected["puzzles"]] == [(0, 2)]
    assert selected["chosen"] == {"solved_by": ["one"], "unsolved_by": ["two"]}
    twice = puzzles.select_puzzles(
        selected, [0], {"solved_by": ["one", "four"], "held_by": ["one"]}
    )["chosen"]
    assert twice == {"solved_by": ["one", "four"], "unsolved_by": ["two"], "held_by": ["one"]}
    resume = ("--out", out, "--resume", "--agent", "zoo/quick")
    for other in ((), ("--solved-by", "two"), ("--beats", "greedy")):
        assert run(*resume, *other) == 2
        assert "holds puzzles chosen otherwise" in capsys.readouterr().err


def test_a_file_is_tried_again_by_another_agent(maker, game, collection, legal, monkeypatch):
    """A puzzle has the numbers of the new playouts, or is dropped; other decisions stay closed."""
    monkeypatch.setattr(
        puzzle_maker, "puzzle_decisions", lambda *_: pytest.fail("all were searched")
    )
    maker.player.worth[legal[2]] = 120
    chosen = collection | {"chosen": {"solved_by": ["one"], "unsolved_by": []}, "from_round": 6}
    rebuilt = maker.retry(chosen)
    (puzzle,) = rebuilt["puzzles"]
    assert puzzle["decision"] == 5 and puzzle["loss"]["mean"] == 30
    assert rebuilt["games"] == collection["games"] and rebuilt["agent"] == "zoo/quick"
    assert "chosen" not in rebuilt and rebuilt["playouts"] == 20 and rebuilt["from_round"] == 6
    monkeypatch.setattr(
        puzzles, "make_solvers", lambda names, env: dict.fromkeys(names, agent_of(legal[1]))
    )
    maker.player.worth[legal[0]] = 130
    (easier,) = maker.retry(chosen | {"puzzles": [puzzle | {"beats": "greedy"}]})["puzzles"]
    assert easier["beats"] == "greedy" and easier["policy"]["action"] == legal[1]
    maker.player.worth = {}
    assert maker.retry(chosen)["puzzles"] == maker.retry(chosen)["games"] == []


def test_the_command_tries_again_and_verifies(collection, tmp_path, monkeypatch, capsys):
    """An incomplete verification is written, exits with 130 and asks no solvers."""
    path, out = tmp_path / "puzzles.json", tmp_path / "again.json"
    puzzles.write(path, collection)
    monkeypatch.setattr(PuzzleMaker, "__init__", lambda self, *_: None)
    monkeypatch.setattr(
        PuzzleMaker, "retry", lambda self, collection: collection | {"agent": "tried"}
    )
    assert run("--of", path, "--again", "--out", out) == 0
    assert "1 puzzles of 1 games of tried" in capsys.readouterr().out
    assert puzzles.read(out) == collection | {"agent": "tried"}
    verifier = SimpleNamespace(
        verify=lambda collection: (collection | {"agent": "verified"}, False)
    )
    monkeypatch.setattr(verification, "PuzzleVerifier", lambda *_: verifier)
    assert run("--of", path, "--held-by", "greedy", "--solve", "greedy", "--out", out) == 130
    assert puzzles.read(out)["agent"] == "verified"
    assert "solves" not in capsys.readouterr().out


def test_a_verification_is_continued(collection, tmp_path, monkeypatch, capsys):
    """With the playouts of the command before."""
    path, out, journals = tmp_path / "puzzles.json", tmp_path / "held.json", []
    puzzles.write(path, collection)

    class Verifier:
        def __init__(self, env, agent, stronger, journal):
            journals.append(journal.folder)

        def verify(self, own):
            journals[-1].mkdir(exist_ok=True)
            return puzzles.select_puzzles(own, [], {"held_by": ["greedy"]}), len(journals) > 1

    monkeypatch.setattr(verification, "PuzzleVerifier", Verifier)
    arguments = ("--of", path, "--held-by", "greedy", "--out", out)
    assert run(*arguments) == 130 and run(*arguments) == 2
    assert "held.json.playouts exists: --resume continues it" in capsys.readouterr().err
    assert run(*arguments, "--resume") == 0 and puzzles.read(out)["puzzles"] == []
    assert journals == [tmp_path / "held.json.playouts"] * 2


@pytest.fixture
def batches(game, monkeypatch):
    """Batches of 4 games, blocks of 8; nothing is played."""
    ended = game._replace(states=[*game.states[:-1], game.states[-1].replace(terminated=True)])
    monkeypatch.setattr(puzzle_maker, "GAMES_PER_BATCH", 4)
    for module in (puzzle_maker, puzzle_blocks):
        monkeypatch.setattr(module, "GAMES_PER_BLOCK", 8)
    monkeypatch.setattr(PuzzleMaker, "play_games", lambda *_: [(None, [])] * 8)
    monkeypatch.setattr(puzzle_maker, "replay_moves", lambda *_: ended)


def test_a_file_is_continued(collection, batches, tmp_path, monkeypatch, capsys):
    """A few games are searched at a time, and written after each time."""
    path, searched, stops = tmp_path / "puzzles.json", [], [8]
    arguments = ("--games", 20, "--agent", "zoo/quick", "--out", path, "--resume")
    (puzzle,) = collection["puzzles"]

    def search(self, games, decisions, first):
        if first in stops:
            stops.remove(first)
            raise KeyboardInterrupt
        searched.append((first, len(games)))
        return [[puzzle], *([] for _ in games[1:])]

    monkeypatch.setattr(PuzzleMaker, "search_games", search)
    assert run(*arguments) == 130
    assert puzzles.read(path)["following"] == 8 and len(puzzles.read(path)["puzzles"]) == 2
    assert run(*arguments) == 0
    assert searched == [(n, 4) for n in range(0, 20, 4)]
    assert len(puzzles.read(path)["puzzles"]) == 5 and puzzles.read(path)["following"] == 20
    for option, message in (("--seed", "has seed 0, not 3"), ("--from-round", "has from_round 1")):
        assert run(*arguments, option, 3) == 2
        assert message in capsys.readouterr().err


def test_a_set_has_a_limited_size_and_share_of_late_puzzles(
    collection, batches, tmp_path, monkeypatch, capsys
):
    """Late decisions are searched until MAX_LATE_SHARE of the set is full, others to its end.

    The last batches have more puzzles than fit; a larger limit would not bring them back.
    """
    path, num_decisions = tmp_path / "puzzles.json", []
    (puzzle,) = collection["puzzles"]

    def search(self, games, decisions, first):
        num_decisions.append(len(decisions))
        own = puzzle | {"round": 0 if decisions else -1}
        return [[own] * 3, [own], *([] for _ in games[2:])]

    monkeypatch.setattr(puzzle_criteria, "LATE_ROUND", 0)  # all are late
    monkeypatch.setattr(PuzzleMaker, "search_games", search)
    arguments = ("--games", 64, "--from-round", 0, "--agent", "zoo/quick", "--at-most", 10)
    assert run(*arguments, "--out", path) == 0
    made = puzzles.read(path)
    assert [puzzle["round"] for puzzle in made["puzzles"]] == [0] * 7 + [-1] * 3
    assert made["following"] == 12 and num_decisions[0] == num_decisions[1] > 0
    assert num_decisions[2:] == [0]
    for limit in (["--at-most", 20], ["--at-most", 5], []):
        assert run(*arguments[:-2], *limit, "--out", path, "--resume") == 2
        assert "may lack puzzles beyond --at-most 10" in capsys.readouterr().err
    assert run(*arguments, "--out", path, "--resume") == 0 and puzzles.read(path) == made
    puzzles.write(path, {key: value for key, value in made.items() if key != "at_most"})
    assert run(*arguments[:-1], 11, "--out", path, "--resume") == 0, "it was made without a limit"
    assert puzzles.read(path)["at_most"] == 11 and len(puzzles.read(path)["puzzles"]) == 11


def test_puzzles_are_verified_while_they_are_made(
    collection, batches, tmp_path, monkeypatch, capsys
):
    """The set has room for verified ones. Ctrl-C keeps the playouts of the last batch."""
    path, tried, stops = tmp_path / "puzzles.json", [], [5]
    journal, about = PlayoutJournal(path), {"by": "greedy", "playouts": 1, "loss": {}, "ahead": 1}
    (puzzle,) = collection["puzzles"]

    class Verifier:
        def __init__(self, env, name, stronger):
            assert stronger == "greedy"
            self.players = [SimpleNamespace(num_played=0, journal=None)]

        def verify_puzzle(self, puzzle, state):
            """Of three puzzles, of rounds 0, 1 and 2, not the first."""
            assert int(state.step_count) == puzzle["decision"] - 1
            tried.append(puzzle["round"])
            if len(tried) in stops:
                raise KeyboardInterrupt
            if own := self.players[0].journal:
                own.write(journal.folder / f"{len(tried)}.npz", trials.NO_ENDS)
            return puzzle | {"held": about} if puzzle["round"] else None

    def search(self, games, decisions, first):
        state = games[0].states[puzzle["decision"] - 1]
        candidates = [puzzle | {"round": round_} for round_ in range(3)]
        verified = [self._verifier.verify_puzzle(own, state) for own in candidates]
        return [[own for own in verified if own], *([] for _ in games[1:])]

    monkeypatch.setattr(puzzle_criteria, "LATE_ROUND", 2)
    monkeypatch.setattr(puzzle_maker, "PuzzleVerifier", Verifier)
    monkeypatch.setattr(PuzzleMaker, "search_games", search)
    arguments = ("--games", 64, "--agent", "zoo/quick", "--at-most", 5, "--out", path, "--resume")
    assert run(*arguments, "--held-by", "greedy") == 130
    stored = puzzles.read(path)
    assert [p["round"] for p in stored["puzzles"]] == [1, 2] and stored["following"] == 4
    assert tried == [0, 1, 2, 0, 1] and [x.name for x in journal.folder.glob("*.npz")] == ["4.npz"]
    assert run(*arguments) == 2, "it holds verified ones"
    assert run(*arguments, "--held-by", "greedy") == 0 and not journal.folder.exists()
    stored = puzzles.read(path)
    assert [p["round"] for p in stored["puzzles"]] == [1, 2, 1, 2, 1] and stored["following"] == 12
    assert all(p["held"] == about for p in stored["puzzles"])
    assert "verified by greedy" in capsys.readouterr().out
    path.unlink()
    args = puzzle_blocks.MakerArgs(
        "lost_fleet", 4, "zoo/quick", 64, AnswerCriteria(held_by="greedy"), 0, 1
    )
    blocks = puzzle_blocks.make_in_blocks(args, 0, 12, None, False, jobs.LOCAL)
    assert blocks["chosen"] == stored["chosen"] and len(blocks["puzzles"]) == 6


def test_blocks_of_games_are_shards(collection, batches, tmp_path, monkeypatch):
    """They give the puzzles of one process, wherever the blocks begin."""
    puzzle = {key: x for key, x in collection["puzzles"][0].items() if key != "game"}
    monkeypatch.setattr(
        PuzzleMaker,
        "search_games",
        lambda self, games, decisions, first: [[puzzle] * (first // 4), *([] for _ in games[1:])],
    )
    path, other = tmp_path / "one.json", tmp_path / "blocks.json"
    assert run("--first", 2, "--games", 20, "--agent", "zoo/quick", "--out", path) == 0
    args = puzzle_blocks.MakerArgs("lost_fleet", 4, "zoo/quick", 64, puzzles.ANY_ANSWER, 0, 1)
    puzzle_blocks.make_in_blocks(args, 2, 20, other, False, jobs.LOCAL)
    assert other.read_text() == path.read_text() and len(puzzles.read(path)["puzzles"]) == 15
    assert sorted(x.name for x in tmp_path.iterdir()) == ["blocks.json", "one.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--of", "a", "--processes", "2"], "--on and --processes make new puzzles"),
        (["--agent", "random"], "--agent requires a policy, random has none"),
        (["--of", "a", "--out", "b"], "--of does not go with"),
        (["--of", "a", "--beats", "greedy"], "--of does not go with"),
        (["--of", "a", "--at-most", "3"], "--at-most makes new puzzles in this process"),
        (["--again"], "--again needs --of"),
        (["--fair", "--out", "b"], "--fair drops puzzles of a file"),
        (["--resume"], "--resume continues the file of --out"),
        (["--of", "docs/records/base.json"], "its format is not 'gaia_jax puzzles 3'"),
        (["--solve", "greedy,nobody"], "unknown agent 'nobody'"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(PuzzleMaker, "__init__", lambda *_: pytest.fail("work began"))
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err


def test_playouts_of_a_killed_command_are_not_deleted(tmp_path, capsys, monkeypatch):
    """A start without --resume is refused, also if it names another agent."""
    monkeypatch.setattr(PuzzleMaker, "__init__", lambda *_: pytest.fail("work began"))
    journal = tmp_path / "puzzles.json.playouts"
    journal.mkdir()
    (journal / "gaia_jax playouts").touch()
    for agent, message in (("random", "requires a policy"), ("zoo/quick", "exists: --resume")):
        assert run("--agent", agent, "--out", tmp_path / "puzzles.json") == 2
        assert message in capsys.readouterr().err and len(list(journal.iterdir())) == 1


def test_an_error_in_a_file_is_one_line(collection, tmp_path, capsys):
    path = tmp_path / "puzzles.json"
    (puzzle,), verification_json = (
        collection["puzzles"],
        {"by": "me", "playouts": 1, "loss": {}, "ahead": 1},
    )
    for change, message in (
        ({"games": None}, "games must be a list, not null"),
        ({"chosen": {"solved_by": []}}, "chosen: key 'unsolved_by' is missing"),
        ({"puzzles": [{"game": 0}]}, "puzzles[0]: key 'decision' is missing"),
        ({"puzzles": [3]}, "puzzles[0] must be an object"),
        ({"puzzles": [puzzle | {"candidates": [{}]}]}, "candidates[0]: key 'action' is missing"),
        ({"puzzles": [puzzle | {"beats": 3}]}, "puzzles[0]: beats must be "),
        ({"puzzles": [puzzle | {"held": verification_json | {"by": 1}}]}, "held: by must be "),
        (
            {"games": [{"setup": {"factions": [1] * 4}, "actions": []}]},
            "game 0 of the puzzles: ",
        ),
    ):
        path.write_text(json.dumps(collection | change))
        assert run("--of", path, "--solve", "random") == 2
        errors = capsys.readouterr().err
        assert message in errors and "Traceback" not in errors
    path = tmp_path / "puzzles.json.gz"
    path.write_bytes(b"no gzip")
    assert run("--of", path) == 2
    assert "cannot read the puzzles" in capsys.readouterr().err


def test_reasons_are_differences_by_source(game, legal):
    seat = int(game.states[4].current_player)
    vp = np.full((2, 3, 4), 80)
    sources = np.zeros((2, 3, 4, len(game.env.ruleset.ids["vp_source"])), int)
    vp[0, :, seat], vp[1, :, seat] = (90, 91, 92), (95, 97, 96)
    sources[0, :, seat, 1], sources[1, :, seat, 1] = 4, 12
    sources[0, :, seat, 2] = 2
    sources[:, :, seat, game.env.ruleset.ids["vp_source"].index("FINAL_1")] = 6
    outcomes = Outcomes(np.array(legal[:2]), np.array([0.7, 0.3]), vp, seat, sources)
    about = attribution.build_report(game, 5, outcomes)
    best, played = about["candidates"]
    assert played["played"] and not best["played"] and best["vp"] == 96
    assert played["loss"][0] == 5 and sorted(played["by_source"].values()) == [-8, 2]
    assert best["by_source"] == {}
    missions = [words for words in about["best_by_source"] if "mission" in words]
    assert missions == ["mission: most structures on asteroids and protoplanets"]
    text = attribution.report_text(about | {"playouts": 3, "agent": "me"})
    assert "(played): 5.0 VP less" in text and "-8.0" in text and "+2.0" in text


def test_the_shipped_puzzles_are_clear_and_fair():
    """Each answer leads the choice to beat by 5 VP, candidates by 3.5, every legal move by 3.

    The policy's most probable move is no answer, and all parts of the game have puzzles.
    """
    shipped = puzzles.read(puzzles.SHIPPED)
    assert shipped["playouts"] == 64 and shipped["agent"] == "zoo/strong"
    assert shipped["sha256"] == zoo.about("zoo/strong")["sha256"], "of the agent that ships"
    for puzzle in shipped["puzzles"]:
        best, second, *_ = puzzle["candidates"]
        assert not puzzle["answer"]["text"].startswith(puzzles.NON_ANSWERS)
        assert best["action"] == puzzle["answer"]["action"] != puzzle["policy"]["action"]
        assert puzzle["loss"]["mean"] >= puzzles.MIN_LEAD and puzzle["loss"]["low"] > 0
        assert best["vp"] - second["vp"] > puzzles.MIN_LEAD_OVER_OTHERS - 0.1  # both are rounded
        assert puzzle["theme"] == puzzles.find_theme(best["text"], puzzle["round"])
        rival = puzzle["rival"]
        assert rival["less"] >= races.MIN_LEAD_OVER_RIVALS and rival["text"] != best["text"]
        assert rival["moves"] >= len(puzzle["candidates"]) - 1 >= 1
        for candidate in puzzle["candidates"]:
            assert candidate["line"][0] == candidate["text"] and candidate["line"][-1] == "pass"
            assert bool(candidate["why"]) or candidate["action"] == best["action"]
            assert ("reason" in candidate) is ("held" in puzzle and candidate != best)
    early = [puzzle for puzzle in shipped["puzzles"] if puzzle["round"] < 5]
    assert len(early) >= 0.3 * len(shipped["puzzles"])
    themes = {puzzle["theme"] for puzzle in shipped["puzzles"]}
    assert {"leech", "federation", "advanced tile"} <= themes
    assert all("held" in puzzle for puzzle in shipped["puzzles"])
