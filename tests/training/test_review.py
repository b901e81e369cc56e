"""A review: losses are what moves lose, on fresh luck; what is known at Ctrl-C is reported."""

import dataclasses
import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from tests.render.reports import review_of_beginning
from tests.training import toy_env
from tests.trees import take_row
from tools import calibrate_review
from training import review as command
from training.agents import random_agent
from training.analysis import review, review_report
from training.analysis.judge import (
    FULL_GAMES_FACTOR,
    GRADES,
    NO_LOSS,
    Comparison,
    Judge,
    Loss,
    estimate_loss,
    estimate_win_loss,
    make_comparison,
)
from training.analysis.playouts import Candidates
from training.system import cli

ENV = toy_env.make("toy", reward="vp")
PLAYOUTS = 8


@pytest.fixture(scope="module")
def states():
    return jax.device_get(jax.vmap(ENV.init)(jax.random.split(jax.random.key(5), 6)))


def gain(states, i, action):
    """What an action of the toy game pays who decides."""
    plane, cell = divmod(int(action), toy_env.C)
    worth = int(states.game.worth[i, 0, cell])
    return {0: worth, 1: worth // 2}.get(plane, 0)


@pytest.fixture(scope="module")
def comparisons(states):
    """The played move is the least, the last position has no alternative."""
    decisions = []
    for i, mask in enumerate(states.legal_action_mask):
        legal = sorted(np.flatnonzero(mask), key=lambda a, i=i: gain(states, i, a))
        candidates = np.array([legal[0], legal[len(legal) // 2], legal[-1]][: 1 if i == 5 else 3])
        chance = np.full(len(candidates), 1 / len(candidates))
        decisions.append(Comparison(i + 1, int(states.current_player[i]), candidates, chance))
    return decisions


@pytest.fixture(scope="module")
def judge():
    return Judge(ENV, random_agent(ENV), PLAYOUTS)


@pytest.fixture(scope="module")
def ended_counts():
    """The reported numbers of finished playouts."""
    return []


@pytest.fixture(scope="module")
def all_of_them(judge, states, comparisons, ended_counts):
    """The judged moves without an interruption."""
    return judge.judge(states, comparisons, 0, ended_counts.append)


def test_a_move_loses_what_the_best_other_one_pays(
    all_of_them, judge, states, comparisons, ended_counts
):
    """In the toy game both moves have the same later luck, so the loss is exact."""
    moves = all_of_them
    assert [move.comparison.number for move in moves] == [1, 2, 3, 4, 5, 6]
    for i, move in enumerate(moves[:5]):
        pays = [gain(states, i, a) for a in comparisons[i].candidates]
        assert pays[2] > pays[0] and gain(states, i, move.best) == pays[2]
        assert move.loss == Loss(pays[2] - pays[0], pays[2] - pays[0], pays[2] - pays[0], 0.0)
        assert move.loss.shrunk_mean == pays[2] - pays[0] and move.num_playouts == 3 * PLAYOUTS
        assert move.win.sum() == pytest.approx(1) and move.win_loss.mean >= 0
    assert moves[5].loss == NO_LOSS and moves[5].best == comparisons[5].candidates[0]
    assert ended_counts[-1] == judge.count_playouts(comparisons) and ended_counts == sorted(
        ended_counts
    )


def test_a_game_has_one_progress(judge, states, comparisons, all_of_them, monkeypatch):
    """Of the full games and of the moves; the results are those of both alone."""
    monkeypatch.setattr(judge, "compare_with_likely", lambda *_: comparisons)
    calls = []
    numbers, played = [c.number for c in comparisons], [c.candidates[0] for c in comparisons]
    moves, expected_vp = judge.judge_game(states, numbers, played, 0, lambda *x: calls.append(x))
    total = FULL_GAMES_FACTOR * PLAYOUTS + judge.count_playouts(comparisons)
    assert calls == sorted(calls) and calls[-1] == (total, total)
    assert [move.loss for move in moves] == [move.loss for move in all_of_them]
    assert expected_vp.tolist() == judge.estimate_final_vp(states, comparisons).tolist()


def test_the_line_is_of_the_better_move(all_of_them, states):
    """Its moves are legal one after the other."""
    step = jax.jit(ENV.step)
    for i, move in enumerate(all_of_them[:5]):
        state = take_row(states, i)
        for action in [move.best, *move.line[move.line >= 0]]:
            assert state.legal_action_mask[action]
            state = step(state, np.int32(action))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_what_is_known_at_ctrl_c_is_told(states, comparisons, all_of_them, share):
    """Whichever of the three rounds of playouts it comes in."""
    judge = Judge(ENV, random_agent(ENV), PLAYOUTS)
    judge.runner._max_slots = 4
    total = judge.count_playouts(comparisons)

    def interrupt(ended):
        if ended > share * total:
            raise KeyboardInterrupt

    moves = judge.judge(states, comparisons, 0, interrupt)
    losses = {move.comparison.number: move.loss for move in all_of_them}
    assert moves and all(move.loss == losses[move.comparison.number] for move in moves)
    max_playouts = {0.1: PLAYOUTS // 4, 0.3: PLAYOUTS, 0.7: 3 * PLAYOUTS}[share]
    assert max(move.num_playouts for move in moves) <= max_playouts and (len(moves) == 6) == (
        share == 0.7
    )


def test_the_candidates_are_the_played_move_and_the_likeliest():
    chance = np.array([0.5, 0.0, 0.3, 5e-5, 0.1, 0.06, 0.035])
    decision = make_comparison(9, 2, 6, chance)
    assert decision.candidates.tolist() == [6, 0, 2, 4] and decision.probabilities[0] == 0.035
    assert make_comparison(9, 2, 0, chance).candidates.tolist() == [0, 2, 4, 5]
    assert make_comparison(9, 2, 0, np.array([1 - 5e-5, 5e-5])).candidates.tolist() == [0]
    assert make_comparison(9, 2, 1, np.array([1.0, 0.0])).candidates.tolist() == [1, 0]


def test_losses_have_students_interval():
    loss = estimate_loss(np.array([10, 12, 14, 16]), np.array([8, 8, 8, 8]))
    assert loss.mean == 5 and loss.standard_error == pytest.approx(np.std([2, 4, 6, 8], ddof=1) / 2)
    assert loss.high - 5 == pytest.approx(3.182 * loss.standard_error, rel=1e-3) == 5 - loss.low
    assert 0 < loss.shrunk_mean < 5 and estimate_loss(np.zeros(4), np.arange(4)).shrunk_mean == 0


def test_grades_need_an_interval_above_0():
    worst, least = max(GRADES.values()), min(GRADES.values())
    assert Loss(worst, worst, worst, 0.0).grade == "blunder"
    assert Loss(least, least, least, 0.0).grade == "inaccuracy"
    assert Loss(least - 0.1, 0.1, 9, 0.0).grade is None
    assert Loss(50.0, -0.1, 100.1, 1.0).grade is None


def test_accuracy_falls_with_the_vp_that_were_not_made():
    of = review.compute_accuracy
    assert of(120, 120) == review.ACCURACY_AT_PAR and of(120, 121) > of(120, 120) > of(120, 119)
    assert of(120, 120 - review.HALVING_VP) == review.ACCURACY_AT_PAR / 2 and of(120, 132) == 90
    assert 100 > of(120, 190) > of(120, 180) > 98, "two who made far more are not level"
    assert of(120, 80) == of(100, 60), "the set-up does not count"
    assert review.compute_pars(np.array([140.0, 100, 110, 90])).tolist() == [125, 105, 110, 100]


def test_what_is_expected_is_what_playouts_from_the_first_position_bring(
    judge, states, comparisons
):
    ended_counts = []
    expected = judge.estimate_final_vp(states, comparisons, 3, ended_counts.append)
    assert expected.shape == (4,) and ended_counts[-1] == FULL_GAMES_FACTOR * PLAYOUTS
    candidates = [Candidates(0, [-1], range(FULL_GAMES_FACTOR * PLAYOUTS))]
    capacity = judge._capacity(comparisons)
    (plays,) = judge.runner.play_candidates(states, candidates, 3, capacity=capacity)
    assert expected.tolist() == plays.vp[0].mean(0).tolist() and expected.std() > 0

    def stop(ended):
        raise KeyboardInterrupt

    other = Judge(ENV, random_agent(ENV), PLAYOUTS)
    other.runner._max_slots = 4
    with pytest.raises(KeyboardInterrupt):
        other.estimate_final_vp(states, comparisons, 3, stop)


def test_accuracies_by_kind_are_means_of_games():
    games = [
        {"kinds": ["a", "a", "b", "b"], "expected": [124.0, 100, 112, 88], "vp": [115, 55, 13, 97]},
        {"kinds": ["b"] * 4, "expected": [100.0] * 4, "vp": [52] * 4},
    ]
    first, other = calibrate_review.accuracies(games)
    assert first.startswith("a: 1 games, below par 24.00") and "60 to 60" in first
    assert other.startswith("b: 2 games, below par 48.00")
    assert other.endswith("a game 40 to 50")


def test_judged_moves_of_another_agent_are_not_gone_on_with(tmp_path, monkeypatch):
    path = tmp_path / "judged.json"
    groups = {name: [] for name in calibrate_review.GROUPS}
    path.write_text(json.dumps({"format": calibrate_review.FORMAT, "judge": "0" * 64} | groups))
    monkeypatch.setattr("sys.argv", ["calibrate_review", str(tmp_path), "--out", str(path)])
    with pytest.raises(UserError, match="of another zoo/strong, 000000000000, than"):
        calibrate_review.main()


@pytest.mark.slow  # it compiles playouts of the game
def test_the_command_reviews_the_beginning_of_a_game(tmp_path, capsys):
    record = replay.read("docs/records/lost_fleet.json")
    path, out, page = (tmp_path / name for name in ("begun.json", "out.json", "out.html"))
    replay.write(path, dataclasses.replace(record, actions=record.actions[:4], final_vp=()))
    args = [str(path), "--playouts", "4", "--json", str(out), "--html", str(page)]
    assert command.main(args) == 0
    output, about = capsys.readouterr(), json.loads(out.read_text())
    assert output.err.endswith(f"wrote {out}\nwrote {page}\n")
    assert output.out.startswith("4 of 4 main moves of 4 decisions judged by zoo/strong\n")
    assert about["record"] == str(path) and about["judged"] == 4 and not about["over"]
    for move in about["moves"]:
        assert move["round"] == 0 and sum(move["chance_to_win"]) == pytest.approx(1, abs=0.01)
        assert 60 < np.mean(move["expected_vp"]) < 160
        assert move["loss"]["low"] <= move["loss"]["mean"] <= move["loss"]["high"]
    assert page.read_bytes().startswith(review_report.PAGE_HEAD.encode())


def test_the_page_of_a_review_is_in_the_chosen_language(tmp_path, capsys, monkeypatch):
    """What is printed and the JSON stay English."""
    reviewed = review_of_beginning(tmp_path)
    monkeypatch.setattr(command, "_review", lambda args, game: reviewed)
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    files = ["--json", str(out), "--html", str(page), "--language", "ko"]
    assert command.main([str(tmp_path / "begun.json"), *files]) == 130  # one move is not judged
    words = {m["played"]["words"] for m in json.loads(out.read_text())["moves"]}
    text, written = page.read_text(), capsys.readouterr().out
    assert "main moves of" in written and "choose" not in written
    assert '<html lang="ko">' in text and not any(f">{x}<" in text for x in words)


@pytest.mark.parametrize("agent", ["random", "greedy", "zoo/strong+search:8"])
def test_an_agent_without_a_policy_is_refused_before_any_work(agent, tmp_path, capsys):
    args = ["docs/records/lost_fleet.json", "--agent", agent, "--json", str(tmp_path / "x.json")]
    assert cli.run(lambda: command.main(args)) == 2
    assert f"--agent requires a policy, {agent} has none" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_losses_in_win_probability_stay_in_their_range():
    """For any shares of the win, also where all playouts agree."""
    rng, shares = np.random.default_rng(0), np.array([0, 0.25, 1 / 3, 0.5, 1])
    for number in range(300):
        some = rng.choice(shares, size=rng.integers(1, len(shares) + 1), replace=False)
        won = rng.choice(some, size=(2, rng.integers(2, 40)))
        if number % 3 == 0:
            won[:] = rng.choice(shares, size=(2, 1))
        loss = estimate_win_loss(*won)
        assert -1 <= loss.low <= loss.mean <= loss.high <= 1
        assert loss.low < loss.high, "equal results prove nothing"


def test_the_automa_has_no_accuracy(monkeypatch):
    """It decides nothing, and the par of the person beside it is their own expectation."""
    players = SimpleNamespace(vp=np.array([127, 138]))
    end = SimpleNamespace(terminated=True, game=SimpleNamespace(players=players))
    game = SimpleNamespace(
        env=SimpleNamespace(num_players=1), states=[{"x": np.zeros(1)}, end], actions=[0]
    )
    judge = SimpleNamespace(judge_game=lambda *args: ([], np.array([127.0, 150.0])))
    monkeypatch.setattr(review, "judged_positions", lambda game: [0])
    monkeypatch.setattr(review, "check_policy", lambda *args: None)
    monkeypatch.setattr(review, "Judge", lambda *args, **kwargs: judge)
    (seat,) = review.review_game(game, "zoo/solo", 8, runner=SimpleNamespace(agent=None)).seats
    assert seat.expected_vp == 127 and seat.accuracy == review.ACCURACY_AT_PAR
