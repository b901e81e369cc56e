"""Two moves in any order are no puzzle; candidates are of each kind first; which puzzles hold."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.actions import from_text
from gaia_jax.state import Node
from tests.training import toy_env
from training import puzzles as command
from training.agents import Agent
from training.analysis import actions, puzzle_held, puzzle_maker, puzzle_tried, puzzles
from training.analysis.judge import Question
from training.analysis.playouts import Playouts
from training.analysis.puzzle_held import Holder
from training.analysis.puzzle_maker import Maker
from training.analysis.puzzle_tried import Stage
from training.system.cli import UserError

ENV = toy_env.make("toy", reward="vp")
MINE, PROJECT, PICK = 0, toy_env.C + 1, 3 * toy_env.C  # 9 VP, 4 VP, none
RICH = 1  # another mine, 8 VP
BESIDE, ALONE = [0, 1, 0], [0, 0]  # who decides, the others passed in the second; then it is over


def act(params, states, mask, key):
    """Behind a mine the project, else nothing: it finds the plan in one order alone."""
    mined = states.game.players.vp_source[jnp.arange(len(mask)), states.current_player, 0] > 0
    return jnp.where(mined, PROJECT, PICK)


def every(states):
    """Each decision is a turn."""
    return jnp.ones(len(states.current_player), bool)


def position(later, order):
    """Seat 0 is to move twice; its mine has 9 VP now, and `later` at its second move."""
    state = jax.device_get(ENV.init(jax.random.key(0)))
    game, worth = state.game, np.zeros_like(state.game.worth)
    worth[:, 0], worth[len(order) - 1, 0], worth[:, 1] = 9, later, 8
    decider = np.zeros_like(game.decider)
    decider[: len(order)] = order
    legal = np.ones_like(game.legal)
    game = game.replace(
        worth=worth, decider=decider, legal=legal, length=np.full_like(game.length, len(order))
    )
    return state.replace(game=game, current_player=np.int32(0), legal_action_mask=legal[0])


@pytest.mark.parametrize("order", [BESIDE, ALONE])
@pytest.mark.parametrize(("later", "kept"), [(9, False), (2, True)])
def test_the_order_of_two_moves_is_a_puzzle_only_where_it_matters(later, kept, order, monkeypatch):
    """The mine leads by 9 VP as the agent goes on; the project before it comes to the same."""
    monkeypatch.setattr(puzzle_maker, "JOBS", 64)
    made = object.__new__(Maker)
    made.playouts, made._ended, made._progress = 4, 0, lambda ended: None
    made._players = Playouts(ENV, Agent("one", act), moves=20, slots=8, turn=every)
    pool = jax.tree.map(lambda x: np.asarray(x)[None], position(later, order))
    tried = np.array([PICK, PROJECT, MINE])
    open_ = [puzzle_tried.untried(0, Question(1, 0, tried, np.array([0.8, 0.1, 0.1])))]
    (plain,) = made._more(pool, open_, 4, puzzle_maker.FRESH, 0)
    assert plain.own.mean(1).tolist() == [10, 14, 23]
    assert puzzle_tried.is_answered(plain.own) and plain.best == MINE
    found = made._both_ways(pool, [plain], 4, 0)
    assert puzzle_tried.is_answered(found[0].own) is kept
    if kept:
        assert found[0].own.mean(1).tolist() == [12, 16, 23]
        assert found[0].before == {PICK, PROJECT}


def finding(move):
    """One who plays a move behind any but a mine."""

    def better(params, states, mask, key):
        mined = states.game.players.vp_source[jnp.arange(len(mask)), states.current_player, 0] > 0
        return jnp.where(mined, PROJECT, move)

    return better


def asked(seat, *more):
    """A puzzle of a seat, as far as playing it on goes: the mine is right, the project is not."""
    policy, answer = {"action": PROJECT}, {"action": MINE}
    about = {"game": 0, "player": seat, "policy": policy, "answer": answer}
    return about | {"candidates": [answer | {"vp": 20.0}, policy | {"vp": 12.0}, *more]}


@pytest.fixture
def holder(monkeypatch):
    """One whose moves have no texts; `play_on(other)` says who plays on."""
    made = object.__new__(Holder)
    made._env, made._stronger, made._base = ENV, "better", Agent("one", act)
    monkeypatch.setattr(puzzle_held, "texts", lambda env, state, first, moves: [first, *moves])
    monkeypatch.setattr(puzzle_held, "by_source", lambda rules, more: {"all": more.sum()})
    monkeypatch.setattr(puzzle_held, "to_text", lambda rules, action: f"move {action}")
    made._last_pass = lambda: ENV.num_actions
    made._others = lambda one, state: []  # but for one test, only candidates are tried

    def play_on(other):
        made._other = Agent("other", other)
        made._players = puzzle_held.players(ENV, made._base, made._other, every, every)
        made._glances = Playouts(ENV, made._base, turn=every, inside=every)
        return made

    made.play_on = play_on
    return made


def test_an_answer_that_leads_by_bad_play_behind_the_other_move_does_not_hold(holder, monkeypatch):
    """The agent finds the other mine behind no project; who does has nearly as many VP so."""
    one, told = asked(0), []
    monkeypatch.setattr(puzzle_held, "positions", lambda found: [(one, position(2, BESIDE))])
    for other, loss, then in ((act, 7, MINE), (finding(RICH), 1, RICH)):
        (made,) = holder.play_on(other).tried(
            {"puzzles": [one]}, progress=lambda *done: told.append(done)
        )
        answer, other = made["candidates"]
        assert made["held"]["loss"]["mean"] == other["held"]["why"]["all"] == loss
        assert made["held"]["ahead"] == puzzle_held.PLAYOUTS
        assert puzzles.holds(made) is (loss > 1) and answer["held"]["why"]["all"] == 0
        assert [other["line"][n] for n in (0, 2)] == [PROJECT, then], "another seat is between"
        assert [answer["line"][n] for n in (0, 2)] == [MINE, PROJECT]
        assert [c["vp"] for c in made["candidates"]] == [20, 12], "those of the agent are kept"
        first, second = (c["held"]["vp"] for c in made["candidates"])
        assert first - second == loss
    assert told.count((1, 0)) == 2 and (0, 24) in told, "puzzles, and playouts of the next ones"


def test_each_other_move_is_played_in_its_better_way(holder, monkeypatch):
    """Behind the project the answer comes to the same; who plays on finds it there or does not."""
    one = asked(0, {"action": PICK, "vp": 1.0})
    monkeypatch.setattr(puzzle_held, "positions", lambda found: [(one, position(9, BESIDE))])
    (made,) = holder.play_on(act).tried({"puzzles": [one]})
    far = made["candidates"][2]["held"]
    assert (far["vp"], far["answer_next"]) == (10, False), "so far behind it is not tried"
    monkeypatch.setattr(puzzle_held, "NEAR", 13.0)
    (made,) = holder.play_on(act).tried({"puzzles": [one]})
    assert not puzzles.holds(made), "the order of two moves is no puzzle"
    answer, project, pick = (c["held"] | {"line": c["line"]} for c in made["candidates"])
    assert [x["answer_next"] for x in (answer, project, pick)] == [False, True, True]
    assert (answer["vp"], project["vp"], pick["vp"]) == (23, 23, 19)
    assert project["line"][2] == pick["line"][2] == MINE
    (made,) = holder.play_on(finding(MINE)).tried({"puzzles": [one]})
    assert made["candidates"][1]["held"]["answer_next"] is False, "it finds the answer by itself"


def test_a_plan_is_what_the_seat_decides_in_its_own_turns():
    """Of seat 1: not what others do, nor leech between; what the answer asks is of its turn."""
    begins, inside = puzzle_held.BEGINS + 1, puzzle_held.INSIDE + 1
    moves = np.array([20, 31, 40, 50, 51, 60, 52, 70, -1, -1])
    notes = np.array([inside, 2, 1, begins, inside, begins + 1, inside, begins, 0, 0])
    plan = puzzle_held.plan_of(7, moves, notes, 1)
    assert plan == [[7, 20], [50, 51, 52], [70]]
    then = puzzle_held.Way(70, [plan] * 12).then(4)
    assert len(then) == 4 and then[3, :3, :4].tolist() == [
        [7, 20, -1, -1],
        [50, 51, 52, -1],
        [-1] * 4,
    ]
    assert (puzzle_held.Way(70).then(4) == -1).all(), "it plays on by itself"


@pytest.mark.parametrize("legal", [True, False])
def test_other_legal_moves_are_tried_in_both_ways(legal, holder, monkeypatch):
    """Project, then the mine of the plan, come to as much as mine and project; of two other moves
    the agent does better with the project, and that alone is tried where there is one rival."""
    monkeypatch.setattr(puzzle_held, "RIVALS", 1)
    one = asked(0) | {"policy": {"action": PICK}}
    one["candidates"][1]["action"] = PICK
    state = position(9, BESIDE)
    mask = np.zeros_like(state.legal_action_mask)
    mask[[MINE, PICK, PICK + 1, *([PROJECT] if legal else [])]] = True
    state = state.replace(legal_action_mask=mask)
    monkeypatch.setattr(puzzle_held, "positions", lambda found: [(one, state)])
    del holder._others
    (made,) = holder.play_on(finding(PICK)).tried({"puzzles": [one]})
    best, vp = (PROJECT, 23.0) if legal else (PICK + 1, 19.0)
    assert made["held"]["rival"] == {
        "text": f"move {best}", "vp": vp, "less": 23 - vp, "moves": 1 + legal,
    }  # fmt: skip
    assert puzzles.holds(made), "what comes to the same may come first"
    made["held"]["rival"]["less"] = -0.1
    assert not puzzles.holds(made), "another legal move has more"


@pytest.mark.parametrize(("third", "kept"), [(16.5, True), (16.6, False), (21.0, False)])
def test_an_answer_holds_where_no_other_candidate_comes_near(third, kept):
    """The policy's choice has much less."""
    one = asked(0, {"action": PICK})
    for candidate, vp in zip(one["candidates"], (20.0, 12.0, third), strict=True):
        candidate["held"] = {"vp": vp}
    one["held"] = {"loss": {"mean": 8.0, "low": 5.0}, "playouts": 4, "ahead": 1}
    assert not puzzles.holds(one), "in most games it is not ahead of all"
    one["held"]["ahead"] = 2
    assert puzzles.holds(one) is kept
    one["held"]["loss"] = {"mean": 8.0, "low": 0.0}
    assert not puzzles.holds(one), "its interval holds 0"


def test_ctrl_c_keeps_the_puzzles_that_hold(holder, monkeypatch):
    """What was played out counts, whatever an earlier agent made of the others."""
    state, rounds = position(9, BESIDE), iter([True, True, False, True, True, None, None])
    one, other = asked(0), asked(1) | {"held": {"by": "an earlier one"}}
    monkeypatch.setattr(puzzle_held, "positions", lambda found: [(other, state), (one, state)])

    def play(pool, jobs, seed, progress, capacity):
        count, all_ended = len(jobs.action), next(rounds)
        if all_ended is None:
            raise KeyboardInterrupt
        vp = np.where(jobs.action == MINE, 9, 0)[:, None] + np.zeros((1, 4))
        none = np.full((count, 3), -1)
        ended, sources = np.full(count, all_ended), np.zeros((count, 4, 2))
        return SimpleNamespace(ended=ended, vp=vp, sources=sources, moves=none, notes=none)

    holder.play_on(act)._players = SimpleNamespace(agent=holder._base, play=play)
    found = {"agent": "greedy", "sha256": "", "games": [{}], "puzzles": [other, one]}
    for _ in range(2):  # Ctrl-C behind the first playout that ended, and before it
        kept, whole = holder.those_held(found)
        assert [x["player"] for x in kept["puzzles"]] == [0] and not whole
        assert kept["puzzles"][0]["held"]["by"] == "better" == kept["chosen"]["held_by"][0]
    with pytest.raises(KeyboardInterrupt):
        holder.those_held(found)


def test_the_command_writes_what_held_and_says_that_it_is_not_all(monkeypatch, tmp_path):
    """Agents are asked about none of it then: the file is no whole one."""
    held, out = {"held_by": ["greedy"]}, tmp_path / "held.json"
    made = SimpleNamespace(those_held=lambda found: (puzzles.some(found, [0], held), False))
    monkeypatch.setattr(puzzle_held, "Holder", lambda *about: made)
    asked = ["--of", "--held-by", "greedy", "--solve", "greedy", "--out", str(out)]
    assert command.main(asked) == 130
    assert len(puzzles.read(out)["puzzles"]) == 1
    assert puzzles.read(out)["chosen"]["held_by"][-1] == "greedy"


def test_who_chose_twice_is_named_once():
    found = {"games": [{}], "puzzles": [asked(0)]}
    for _ in range(2):
        found = puzzles.some(found, [0], {"held_by": ["greedy"]})
    assert found["chosen"] == {"solved_by": [], "unsolved_by": [], "held_by": ["greedy"]}


def test_what_beats_one_agent_is_not_gone_on_with_for_another(tmp_path):
    """The file says whose choice its puzzles were made to beat."""
    empty = puzzles.empty(gaia_jax.make("lost_fleet"), "me", 2, 0, 0)
    path = tmp_path / "puzzles.json"
    easier = puzzles.beating(empty, "zoo/quick")
    path.write_text(puzzles.to_text(easier))
    assert puzzles.begun(path, easier)["chosen"]["beats"] == ["zoo/quick"]
    for other in (empty, puzzles.beating(empty, "greedy")):
        with pytest.raises(UserError, match="chosen otherwise"):
            puzzles.begun(path, other)


FIRST, SECOND, THIRD = [90, 91, 92, 93], [94, 95, 97, 96], [101, 103, 102, 104]


def test_a_puzzle_has_one_clear_answer():
    for own, right in (
        ([FIRST, SECOND, THIRD], True),
        ([FIRST, [80, 120, 70, 116], THIRD], False),  # another may be as good
        ([THIRD, SECOND, FIRST], False),  # the policy's choice is best
        ([SECOND, FIRST, THIRD], True),
        ([[98, 98, 99, 97], FIRST, THIRD], False),  # the first has not 5 VP less
        ([FIRST, [98, 99, 99, 98], THIRD], True),  # another has 4 VP less
        ([FIRST, [99, 100, 100, 99], THIRD], False),  # it has 3, not 3.5
    ):
        assert puzzle_tried.is_answered(np.array(own)) is right


def test_a_decision_stays_open_where_one_move_may_be_better():
    first, best = np.array([[90, 91, 92, 93], [96, 99, 96, 99]])
    assert puzzle_tried.stays(np.array([first, best]), Stage(4, 4.0, 4.0))
    assert not puzzle_tried.stays(np.array([best, first]), Stage(4, 0.0, 0.0))
    assert not puzzle_tried.stays(np.array([first, best]), Stage(4, 7.0, 7.0))
    near = np.array([first, best, best - 1])
    assert puzzle_tried.stays(near, Stage(4, 0.5, 0.5))
    assert not puzzle_tried.stays(near, Stage(4, 1.5, 1.5))
    assert puzzle_tried.stays(near, Stage(4, 1.5, 0.5))
    assert not puzzle_tried.stays(near, Stage(4, 9.0, 0.5))


def test_a_turn_begins_at_a_main_decision_without_a_conversion_before_it():
    """What it asks is inside it; another's leech, the income and the end of a turn are not."""
    nodes = np.array(
        [Node.TURN, Node.TURN, Node.AFTER, Node.TOKEN, Node.LOST_PLANET, Node.LEECH, Node.INCOME]
    )
    turn = SimpleNamespace(node=nodes, free_actions=np.array([0, 1, 0, 0, 0, 0, 0]))
    states = SimpleNamespace(game=SimpleNamespace(turn=turn))
    assert actions.is_turn(states).tolist() == [True] + [False] * 6
    assert actions.is_inside(states).tolist() == [
        True, True, False, True, True, False, False,
    ]  # fmt: skip


def test_other_moves_are_legal_no_candidates_and_no_conversions():
    made, rules = object.__new__(Holder), gaia_jax.make("lost_fleet", players=4).ruleset
    made._env = SimpleNamespace(ruleset=rules)
    mine, pass_, burn = (from_text(rules, text) for text in ("mine -7,2", "pass", "free burn"))
    mask = np.zeros(rules.actions.num_actions, bool)
    mask[[mine, pass_, burn]] = True
    one = {"candidates": [{"action": mine}, {"action": from_text(rules, "advance ai")}]}
    assert made._others(one, SimpleNamespace(legal_action_mask=mask)) == [pass_]
    assert made._last_pass() == pass_


def test_candidates_are_one_of_each_kind_first():
    rules = gaia_jax.make("lost_fleet", players=4).ruleset
    texts = ["mine -7,2", "advance ai", "mine -7,3", "free burn", "free K_to_C", "special AC_B",
             "special RB6", "upgrade -7,2", "pass"]  # fmt: skip
    likely = [from_text(rules, text) for text in texts]

    def chosen(*known):
        found = puzzle_tried.of_each_kind(rules, [likely[k] for k in known], likely)
        return [texts[likely.index(action)] for action in found]

    kinds = ["advance ai", "upgrade -7,2", "pass"]
    assert chosen(0, 0) == ["mine -7,2", *kinds, "mine -7,3"]
    assert chosen(0, 2) == ["mine -7,2", "mine -7,3", *kinds]
    assert chosen(5, 0, 5) == ["special AC_B", "mine -7,2", *kinds, "mine -7,3"], "it is beaten"
    assert puzzle_tried.of_each_kind(rules, likely[:1], likely[:4]) == likely[:3]


def test_all_lines_are_of_the_luck_that_differs_as_the_means_do():
    """All candidates count alike, however far apart they are."""
    asked = Question(9, 1, np.array([4, 6]), np.array([0.9, 0.1]))
    sources = np.zeros((2, 3, 2), int)
    sources[1] = (12, 0), (6, 2), (0, 4)  # 6 and 2 in the mean: as on the second luck
    vp = np.zeros((2, 3, 4), int) + np.array([0, 8, 0, 0])
    vp[1, :, 1] = 20, 16, 12
    one = puzzle_tried.Tried(0, asked, vp, np.arange(6).reshape(2, 3, 1), sources)
    assert one.more[0].tolist() == sources[1].tolist() and not one.more[1].any()
    lead = puzzle_tried.leads(one.own, 1)
    luck, judged = puzzle_tried.typical(one.more, lead), puzzle_maker._pair(one)
    assert lead.tolist() == [12, 8, 4]
    assert one.moves[:, luck].tolist() == [[1], [4]] and (judged.best, judged.line.size) == (6, 0)
    more = np.array([[[0, 3], [0, 30], [0, 9]]])
    assert puzzle_tried.typical(np.concatenate([one.more, more, more]), lead) == 2


def test_a_line_is_of_a_game_in_which_the_answer_is_ahead():
    """Where there is one."""
    own = np.array([[1, 9, 3], [5, 5, 6], [4, 7, 2]])
    lead = puzzle_tried.leads(own, 1)
    assert lead.tolist() == [1, -4, 3]
    more = np.array([[[9], [5], [1]]])  # as in the mean on the second luck
    assert puzzle_tried.typical(more, lead) == 0 and puzzle_tried.typical(more, -lead) == 1
    assert puzzle_tried.typical(more, 0 * lead) == 1
