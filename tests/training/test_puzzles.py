"""Puzzles: how they are made, their file, the command, and the shipped set."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.actions import from_text
from gaia_jax.replay import compiled
from training import puzzles as command
from training import zoo
from training.agents import Agent
from training.agents.base import Policy
from training.analysis import puzzle_maker, puzzles, round_solver
from training.analysis.actions import is_conversion
from training.analysis.puzzle_maker import MIN_LEAD, PASS, PuzzleMaker
from training.analysis.puzzles import ANY_ANSWER, AnswerCriteria
from training.analysis.recorded_game import Game
from training.analysis.round_solver import Goal, Line, RoundSolver, is_alone
from training.system import cli

ENV = gaia_jax.make("base", players=2)
NAME = "zoo/duel"  # an agent of such games; a random one plays in its place
ARGUMENTS = ("--env", "base", "--players", "2", "--agent", NAME)
GAMES = 3, 12, 30, 1, 2, 4, 5, 6  # of a block; the first three have puzzles
NUM_GAMES, MAX_STEPS = len(GAMES), 1000
MIN_FIRST_ACTIONS = 3  # of the puzzles here
PAIR = "pass", "advance"  # begin the agent's move and the answer
VALUE_OF_PASS = PuzzleMaker._value_of_pass


def random_agent(name=NAME):
    """Random moves, the same in each run, and a policy that knows nothing."""

    def act(params, states, mask, key):
        noise = jax.random.uniform(jax.random.fold_in(key, states.step_count[0]), mask.shape)
        return jnp.argmax(jnp.where(mask, noise, -1.0), axis=-1)

    def evaluate(params, states):
        return jnp.zeros(states.legal_action_mask.shape), jnp.zeros((len(states.rewards), 2))

    return Agent(name, act, policy=Policy(evaluate))


def agent_of(action):
    """An agent that always chooses one action."""
    return Agent("one", lambda params, state, mask, key: jnp.full(len(mask), int(action)))


@pytest.fixture(scope="module", autouse=True)
def easy_puzzles():
    """Let lines of one main action, three first actions and weak rivals be puzzles.

    Few games are enough then.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(puzzle_maker, "MIN_MAIN_ACTIONS", 1)
        patch.setattr(puzzle_maker, "MIN_FIRST_ACTIONS", MIN_FIRST_ACTIONS)
        patch.setattr(PuzzleMaker, "_value_of_pass", lambda *_: -1)
        yield


@pytest.fixture(scope="module")
def maker():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(puzzle_maker, "make_agent", lambda *_, **__: random_agent())
        patch.setattr(round_solver, "WIDTHS", (64,))
        yield PuzzleMaker(ENV, NAME, MAX_STEPS, ANY_ANSWER)


@pytest.fixture(scope="module")
def played(maker):
    games = maker.play_games(seed=0, block=0)
    return [games[number] for number in GAMES]


@pytest.fixture(scope="module")
def by_game(maker, played):
    """The puzzles of each game."""
    return maker.find_puzzles(played)


@pytest.fixture(scope="module")
def collection(played, by_game):
    empty = puzzles.new_collection(ENV, NAME, MAX_STEPS, 0, 0)
    games = [Game(ENV, [game.start], game.actions) for game in played]
    extended = puzzles.add_games(empty, games, by_game, NUM_GAMES)
    return json.loads(puzzles.to_text(extended))


def value_of_line(env, state, goal, texts):
    """Play a line of action texts, each legal and in the round of the puzzle; its value."""
    seat, start, step = int(state.current_player), state.game, compiled(env)[1]
    for text in texts:
        action = from_text(env.ruleset, text)
        assert state.legal_action_mask[action] and not state.terminated
        assert state.game.turn.round == start.turn.round
        state = jax.device_get(step(state, np.int32(action)))
    players = state.game.players
    if goal is Goal.VP:
        assert state.terminated
        return players.vp[seat]
    reached = {
        Goal.FEDERATION: players.formed[seat] > start.players.formed[seat],
        Goal.ADVANCED_TILE: players.advanced[seat] != start.players.advanced[seat],
    }
    return int(reached[goal])


def check_puzzle(env, puzzle, state):
    """A player is alone, the answer leads, and lines lead to the values that the puzzle states."""
    goal, candidates = Goal(puzzle["goal"]), puzzle["candidates"]
    assert is_alone(state) and int(state.current_player) == puzzle["player"]
    assert int(state.game.turn.round) == puzzle["round"]
    best, second, *_ = values = [candidate["value"] for candidate in candidates]
    assert values == sorted(values, reverse=True)
    assert best - second >= (MIN_LEAD if goal is Goal.VP else 1)
    actions = [candidate["action"] for candidate in candidates]
    assert actions[0] == puzzle["answer"] != puzzle["agent"] and puzzle["agent"] in actions
    assert 2 <= len(actions) <= min(puzzle["moves"], puzzle_maker.MAX_CHOICES)
    assert len({*actions}) == len(actions)
    for candidate in candidates:
        assert from_text(env.ruleset, candidate["text"]) == candidate["action"]
        mains = [text for text in candidate["line"] if not text.startswith("free ")]
        assert mains[0] == candidate["text"]
        assert value_of_line(env, state, goal, candidate["line"]) == candidate["value"]


def test_weak_rivals_make_no_puzzle(maker, played, monkeypatch):
    """A rival must beat passing in the last round; two rivals of a kind are enough."""
    texts = ENV.ruleset.actions.texts
    mines = [action for action, text in enumerate(texts) if text.startswith("mine ")][:5]
    agent, answer = (next(a for a, t in enumerate(texts) if t.startswith(v)) for v in PAIR)
    position = played[0].positions[0]._replace(move=agent)
    values = dict(zip([answer, *mines, agent], (50, 45, 44, 43, 42, 41, 40), strict=True))
    lines = {action: Line(value, ()) for action, value in values.items()}
    monkeypatch.setattr(maker, "_solver", SimpleNamespace(solve=lambda *_, **__: lines))
    monkeypatch.setattr(PuzzleMaker, "_num_turns", lambda *_: 3)
    monkeypatch.setattr(PuzzleMaker, "_value_of_pass", VALUE_OF_PASS)
    puzzle = maker.find_puzzle(position, Goal.VP)
    assert [candidate["value"] for candidate in puzzle["candidates"]] == [50, 45, 44, 40]
    monkeypatch.setattr(puzzle_maker, "MIN_FIRST_ACTIONS", len(lines) + 1)
    assert not maker.find_puzzle(position, Goal.VP)
    monkeypatch.setattr(puzzle_maker, "MIN_FIRST_ACTIONS", len(lines))
    lines[agent] = Line(45, ())
    assert not maker.find_puzzle(position, Goal.VP)


def test_puzzles_have_a_single_best_first_move(collection):
    positions = list(puzzles.replay_positions(collection))
    assert len(positions) == len(collection["puzzles"]) >= 3
    for _, puzzle, state in positions:
        check_puzzle(ENV, puzzle, state)


def test_the_move_of_a_position_is_the_first_main_action(maker, played):
    """After conversions; of a round only the first position counts."""
    texts, state = ENV.ruleset.actions.texts, played[0].start
    conversions = [action for action, text in enumerate(texts) if is_conversion(text)][:2]
    mains = [action for action, text in enumerate(texts) if not is_conversion(text)]
    earlier, move, later = mains[:3]
    actions = [earlier, *conversions, move, later]
    game = maker._played(state, np.array([*actions, -1, -1]), {1: state, 4: state})
    assert game.actions == actions
    assert [(position.decision, position.move) for position in game.positions] == [(2, move)]


def test_a_game_has_at_most_one_puzzle_of_a_round(by_game):
    rounds = [[puzzle["round"] for puzzle in own] for own in by_game]
    assert any(rounds) and all(len({*own}) == len(own) for own in rounds)


def test_positions_without_a_puzzle(maker, played, by_game, monkeypatch):
    """The agent finds the answer, or there are too many lines."""
    number, puzzle = next((n, own[0]) for n, own in enumerate(by_game) if own)
    goal = Goal(puzzle["goal"])
    (position,) = [p for p in played[number].positions if p.decision == puzzle["decision"]]
    assert maker.find_puzzle(position, goal)["answer"] == puzzle["answer"]
    assert maker.find_puzzle(position._replace(move=puzzle["answer"]), goal) is None
    monkeypatch.setattr(maker, "max_steps", 1)
    assert maker.find_puzzle(position, goal) is None


@pytest.mark.parametrize(
    ("solved_by", "unsolved_by", "is_kept"),
    [
        (["right"], ["wrong"], True),
        ([], ["wrong"], True),
        (["wrong"], [], False),
        (["right"], ["right, too"], False),
    ],
)
def test_agents_select_answers(
    maker, played, by_game, monkeypatch, solved_by, unsolved_by, is_kept
):
    number, puzzle = next((n, own[0]) for n, own in enumerate(by_game) if own)
    right, wrong = agent_of(puzzle["answer"]), agent_of(puzzle["agent"])
    agents = {"right": right, "right, too": right, "wrong": wrong}
    criteria = AnswerCriteria(solved_by, unsolved_by)
    monkeypatch.setattr(maker, "criteria", criteria)
    monkeypatch.setattr(maker, "_others", {name: agents[name] for name in criteria.agents})
    (own,) = maker.find_puzzles([played[number]])
    assert (puzzle in own) is is_kept


def test_a_set_of_limited_size_has_room_for_few_late_puzzles():
    late, early = {"round": puzzle_maker.LATE_ROUND}, {"round": 1}
    assert puzzle_maker.has_room([late] * 6, 10, 6) and not puzzle_maker.has_room([late] * 7, 10, 5)
    assert puzzle_maker.has_room([late] * 7, 10, 4)
    assert not puzzle_maker.has_room([late] * 7 + [early] * 3, 10, 1)
    first = puzzle_maker.first_puzzles([[late] * 5, [late, early], [early] * 9], [late] * 3, 10)
    assert first == [[late] * 4, [early], [early] * 2]


# The command.


def run(*arguments):
    return cli.run(lambda: command.main([str(argument) for argument in arguments]))


@pytest.fixture
def searched(maker, played, by_game, monkeypatch):
    """The games and puzzles of the fixtures, without work; the numbers of the searched games."""
    numbers = {id(game): n for n, game in enumerate(played)}
    searched = list[int]()

    def find_puzzles(self, games):
        searched.extend(numbers[id(game)] for game in games)
        return [by_game[numbers[id(game)]] for game in games]

    monkeypatch.setattr(puzzle_maker, "GAMES_PER_BATCH", 2)
    monkeypatch.setattr(puzzle_maker, "make_agent", lambda *_, **__: random_agent())
    monkeypatch.setattr(PuzzleMaker, "play_games", lambda *_: played)
    monkeypatch.setattr(PuzzleMaker, "find_puzzles", find_puzzles)
    return searched


def test_an_interrupted_command_is_continued(searched, tmp_path, monkeypatch, capsys):
    """The file is the same as that of a command without an interruption."""
    whole, path = tmp_path / "whole.json", tmp_path / "puzzles.json"
    assert run(*ARGUMENTS, "--games", NUM_GAMES, "--out", whole) == 0
    find_puzzles = PuzzleMaker.find_puzzles

    def interrupted(self, games):
        if len(searched) >= NUM_GAMES + 4:
            raise KeyboardInterrupt
        return find_puzzles(self, games)

    arguments = (*ARGUMENTS, "--games", NUM_GAMES, "--out", path, "--resume")
    with monkeypatch.context() as patch:
        patch.setattr(PuzzleMaker, "find_puzzles", interrupted)
        assert run(*arguments) == 130
    assert puzzles.read(path)["following"] == 4
    assert run(*arguments) == 0 and path.read_bytes() == whole.read_bytes()
    assert searched == [*range(NUM_GAMES)] * 2 and puzzles.read(path)["puzzles"]
    for option in ("--seed", "--max-steps"):
        assert run(*arguments, option, 3) == 2
        assert "not 3" in capsys.readouterr().err
    for option, value, message in (
        ("--players", 3, "has games of 2 players, not 3"),
        ("--first", 99, "ends before --first 99"),
    ):
        assert run(*arguments, option, value) == 2
        assert message in capsys.readouterr().err
    assert run(*ARGUMENTS, "--first", 1, "--games", 4, "--out", tmp_path / "part.json") == 0
    assert searched[2 * NUM_GAMES :] == [*range(1, 5)]


def test_a_set_ends_at_its_limit(searched, collection, tmp_path, capsys):
    """A larger limit would not bring back what an earlier one has left out."""
    path, limit = tmp_path / "puzzles.json", 2
    arguments = (*ARGUMENTS, "--games", NUM_GAMES, "--out", path)
    assert run(*arguments, "--at-most", limit) == 0
    made = puzzles.read(path)
    assert len(made["puzzles"]) == made["at_most"] == limit < len(collection["puzzles"])
    num_late = sum(puzzle["round"] >= puzzle_maker.LATE_ROUND for puzzle in made["puzzles"])
    assert num_late <= 1 and len(searched) < NUM_GAMES
    for other in (["--at-most", 20], []):
        assert run(*arguments, *other, "--resume") == 2
        assert f"may lack puzzles beyond --at-most {limit}" in capsys.readouterr().err
    assert run(*arguments, "--at-most", limit, "--resume") == 0 and puzzles.read(path) == made


@pytest.mark.parametrize("name", ["puzzles.json", "puzzles.json.gz"])
def test_a_file_leads_to_the_positions_of_its_puzzles(collection, played, tmp_path, name):
    path = tmp_path / name
    puzzles.write(path, collection)
    assert puzzles.read(path) == collection and puzzles.is_own_file(path)
    positions = [position for game in played for position in game.positions]
    for number, puzzle, state in puzzles.replay_positions(puzzles.read(path)):
        assert puzzle == collection["puzzles"][number]
        assert any(
            position.decision == puzzle["decision"]
            and np.array_equal(position.state.legal_action_mask, state.legal_action_mask)
            and np.array_equal(position.state.game.players.vp, state.game.players.vp)
            for position in positions
        )
    path.write_bytes(path.read_bytes()[:100])
    assert not puzzles.is_own_file(path)


def test_levels_are_by_main_actions_before_a_pass():
    levels = ["easy", "medium", "hard", "hard"]
    puzzle = {"goal": "federation"}
    assert [puzzles.find_level(puzzle | {"turns": n}) for n in (2, 3, 4, 9)] == levels
    puzzle = {"goal": "vp"}  # its line ends with the pass
    assert [puzzles.find_level(puzzle | {"turns": n}) for n in (3, 4, 5, 9)] == levels


def test_agents_solve_puzzles(collection):
    positions = list(puzzles.replay_positions(collection))
    answers = [puzzle["answer"] for puzzle in collection["puzzles"]]
    assert len({*answers}) > 1
    solved = puzzles.find_solved(agent_of(answers[0]), ENV, positions)
    assert solved == [answer == answers[0] for answer in answers]


def test_puzzles_are_selected_by_the_agents_that_solve_them(
    collection, tmp_path, monkeypatch, capsys
):
    """Of three games with a puzzle each, the one that the first solves and the second does not."""
    path, out = tmp_path / "three.json", tmp_path / "chosen.json.gz"
    record, puzzle = collection["games"][0], collection["puzzles"][0]
    three = {
        "games": [record | {"n": n} for n in range(3)],
        "puzzles": [puzzle | {"game": n, "round": n + 1} for n in range(3)],
    }
    puzzles.write(path, collection | three)
    rates = {"one": [True, True, False], "two": [True, False, False], "three": [False, True, True]}
    monkeypatch.setattr(puzzles, "make_solvers", lambda names, env: {name: name for name in names})
    monkeypatch.setattr(puzzles, "find_solved", lambda solver, env, positions: rates[solver])
    head = ("--of", path, "--solved-by", "one", "--unsolved-by", "two", "--solve", "three")
    assert run(*head, "--out", out) == 0
    printed = capsys.readouterr().out
    assert f"1 puzzles of 1 games of {NAME}" in printed and "three solves 1 of 1" in printed
    assert "chosen: solved by one, not by two\n" in printed
    selected = puzzles.read(out)
    assert [game["n"] for game in selected["games"]] == [1]
    assert [(puzzle["game"], puzzle["round"]) for puzzle in selected["puzzles"]] == [(0, 2)]
    assert selected["chosen"] == {"solved_by": ["one"], "unsolved_by": ["two"]}
    twice = puzzles.select_puzzles(selected, [0], {"solved_by": ["one", "four"]})["chosen"]
    assert twice == {"solved_by": ["one", "four"], "unsolved_by": ["two"]}
    for other in ((), ("--solved-by", "two")):
        assert run(*ARGUMENTS, "--out", out, "--resume", *other) == 2
        assert "was made with other --solved-by" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "random"], "--agent requires a policy, random has none"),
        (["--of", "a", "--out", "b"], "--of goes with --out only for a selection"),
        (["--of", "a", "--out", "a", "--solved-by", "greedy"], "--of and --out"),
        (["--of", "a", "--at-most", "3"], "--resume and --at-most make new puzzles"),
        (["--of", "a", "--resume"], "--resume and --at-most make new puzzles"),
        (["--resume"], "--resume continues the file of --out"),
        (["--of", "docs/records/base.json"], "its format must be 'gaia_jax puzzles 4'"),
        (["--solve", "greedy,nobody"], "unknown agent 'nobody'"),
        (["--max-steps", "0"], "--max-steps"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(PuzzleMaker, "__init__", lambda *_: pytest.fail("work began"))
    assert run(*arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors and "Traceback" not in errors


def test_an_error_in_a_file_is_one_line(collection, tmp_path, capsys):
    path, puzzle = tmp_path / "puzzles.json", collection["puzzles"][0]
    for change, message in (
        ({"format": "gaia_jax puzzles 3"}, "its format must be"),
        ({"games": None}, "games must be a list, not null"),
        ({"chosen": {"solved_by": []}}, "chosen: key 'unsolved_by' is missing"),
        ({"puzzles": [{"game": 0}]}, "puzzles[0]: key 'decision' is missing"),
        ({"puzzles": [3]}, "puzzles[0] must be an object"),
        ({"puzzles": [puzzle | {"candidates": [{}]}]}, "candidates[0]: key 'action' is missing"),
        ({"puzzles": [puzzle | {"goal": 3}]}, "puzzles[0]: goal must be "),
        ({"puzzles": [puzzle | {"goal": "power"}]}, "puzzle 1 has an unknown goal 'power'"),
        ({"puzzles": [puzzle | {"game": 99}]}, "puzzle 1 is of no position of its games"),
        ({"puzzles": [puzzle | {"decision": 0}]}, "puzzle 1 is of no position of its games"),
        ({"puzzles": [puzzle | {"decision": 10**6}]}, "puzzle 1 is of no position of its games"),
        (
            {
                "games": [{"setup": {"factions": [1] * 4}, "actions": []}],
                "puzzles": [puzzle | {"game": 0, "decision": 1}],
            },
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


# The shipped set.


def check_answer(env, solver, puzzle, state, max_steps):
    """The answer is better than all other first main actions; all passes count as one."""
    lines = solver.solve(state, Goal(puzzle["goal"]), max_steps)
    texts, best = env.ruleset.actions.texts, lines.pop(puzzle["answer"]).value
    is_pass = texts[puzzle["answer"]].startswith(PASS)
    others = [
        line.value
        for action, line in lines.items()
        if not (is_pass and texts[action].startswith(PASS))
    ]
    assert best == puzzle["candidates"][0]["value"]
    if puzzle["goal"] == Goal.VP.value:
        assert best - max(others) >= MIN_LEAD
    else:
        assert best == 1 and not any(others)


@pytest.mark.parametrize("share", [0.05, pytest.param(1, marks=pytest.mark.slow)])
def test_the_shipped_puzzles_are_right(env, share, monkeypatch):
    """A few of them, or all: positions, answers, and lines with their values."""
    monkeypatch.setattr(round_solver, "WIDTHS", (256,))
    shipped, solver = puzzles.read(puzzles.SHIPPED), RoundSolver(env)
    count = len(shipped["puzzles"])
    numbers = range(0, count, max(int(1 / share), 1))
    some = puzzles.select_puzzles(shipped, numbers, {})
    positions = list(puzzles.replay_positions(some))
    assert len(positions) == len(numbers) > 0
    for _, puzzle, state in positions:
        check_puzzle(env, puzzle, state)
        if share == 1:  # compiles the solver
            check_answer(env, solver, puzzle, state, shipped["max_steps"])


def test_the_shipped_set_has_puzzles_of_all_kinds():
    shipped = puzzles.read(puzzles.SHIPPED)
    assert shipped["agent"] == "zoo/strong"
    assert shipped["sha256"] == zoo.about("zoo/strong")["sha256"], "of the agent that ships"
    rounds = [puzzle["round"] for puzzle in shipped["puzzles"]]
    early = [round for round in rounds if round < puzzle_maker.LATE_ROUND]
    assert len(early) >= (1 - puzzle_maker.MAX_LATE_SHARE) * len(rounds)
    assert {puzzle["goal"] for puzzle in shipped["puzzles"]} == {goal.value for goal in Goal}
    assert {puzzles.find_level(puzzle) for puzzle in shipped["puzzles"]} == {*puzzles.LEVELS}
