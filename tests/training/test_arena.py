"""The arena on rules of three lines: duplicates, tables, resuming, mistakes."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import short_games
from commands import run_command

import training.arena as arena
from tests import stub_env
from training.agents import with_updates
from training.games import arena as games_arena
from training.games import engine, report
from training.games.report import arena_report, headline, rated
from training.games.stats import places
from training.games.table import entries, rotated
from training.learn import checkpoint

IDS = stub_env.StubEnv().ruleset.ids


def two_arguments(state, mask):
    return mask.argmax(-1)


def no_integers(params, state, mask, key):
    return mask.sum(-1) * 0.5


def breaks(params, observation, mask, key):
    return observation.cells @ mask


def command(capsys, *args):
    return run_command(capsys, arena.main, short_games, *args)


@pytest.fixture
def at_once(monkeypatch):
    """Batches of two set-ups."""
    monkeypatch.setattr(games_arena, "GAMES_AT_ONCE", 8)


def test_every_entry_sits_in_every_seat_once():
    assert rotated().tolist() == [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]


@pytest.mark.parametrize(
    "low, high, text",
    [
        (2, 10, "a won: 6.0 VP (2.0 to 10.0, 95 %) above b"),
        (-2, 14, "a is ahead, but not significantly: 6.0 VP (-2.0 to 14.0, 95 %) above b"),
        (None, None, "a is ahead by 6.0 VP of b: one set-up gives no interval"),
    ],
)
def test_the_first_line_says_who_won_by_how_much_and_how_sure(low, high, text):
    agents = {n: {"vp": {"mean": vp}, "win_share": {"mean": 0.5}} for n, vp in (("b", 5), ("a", 9))}
    pair = {"of": "a", "to": "b", "mean": 6, "low": low, "high": high}
    swapped = {"of": "b", "to": "a", "mean": -6, "low": low and -high, "high": high and -low}
    for difference in (pair, swapped):
        assert headline({"agents": agents, "differences": [difference]}).startswith(text)


def test_places_of_ties_are_shared():
    assert places(np.array([[9, 5, 5, 1]])).tolist() == [[1, 2.5, 2.5, 4]]


@pytest.mark.slow
def test_an_interrupted_arena_goes_on_to_the_same_table(at_once, capsys, tmp_path, monkeypatch):
    names = "random,random,short_games:best_paid,random"
    complete, cut = tmp_path / "whole.csv", tmp_path / "cut.csv"
    args = ["--agents", names, "--games", "24", "--seed", "3"]
    code, table, err = command(
        capsys, *args, "--csv", str(complete), "--json", str(tmp_path / "w.json")
    )
    assert err.splitlines()[-2:] == [f"wrote {complete}", f"wrote {tmp_path / 'w.json'}"]
    assert code == 0
    assert "24 games on 6 set-ups" in table and "random #2 - random #3" in table
    assert table.startswith("random and random #2 are level: difference 0.0 VP (0.0 to 0.0, 95 %)")
    _, by_faction = table.split("VP by faction (of how many)")
    assert sum(int(n) for n in re.findall(r" \((\d+)\)", by_faction)) == 24 * 4

    played, left = engine.Match.play_batch, [2]

    def stops(self, *args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return played(self, *args, **kwargs)

    monkeypatch.setattr(engine.Match, "play_batch", stops)
    code, table, err = command(capsys, *args, "--csv", str(cut))
    assert code == 130 and "16 games on 4 set-ups" in table and "--resume" in err
    monkeypatch.setattr(engine.Match, "play_batch", played)
    code, _, err = command(capsys, *args, "--csv", str(cut))
    assert code == 2 and "--resume continues it" in err and err.count("\n") == 1
    code, _, err = command(capsys, *args[:-1], "4", "--csv", str(cut), "--resume")
    assert code == 2 and "has seed 3, not 4" in err and err.count("\n") == 1
    resume_args = [*args, "--csv", str(cut), "--resume", "--json", str(tmp_path / "c.json")]
    code, _, err = command(capsys, *resume_args)
    assert code == 0, err
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("w.json", "c.json"))
    assert first | {"seconds": 0} == second | {"seconds": 0}
    # Every entry has the same deals: with one set-up for all games, the same factions.
    counts = [x["games by faction"] for x in first["players"].values()]
    assert all(a * 3 == b for a, b in zip(counts[1].values(), counts[0].values(), strict=True))

    code, _, err = command(capsys, *resume_args)
    assert code == 2 and f"{cut} exists" in err and err.count("\n") == 1


def test_a_run_that_is_still_trained_plays_with_one_checkpoint(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("runs/new").mkdir(parents=True)
    updates = iter((60, 80, 100))
    trained = SimpleNamespace(latest_undamaged=lambda: next(updates))
    monkeypatch.setattr(checkpoint, "Checkpoints", lambda run: trained)
    names = ["runs/new", "runs/new+search:8", "runs/new@start", "random", "runs/no", "zoo/strong"]
    fixed = ["runs/new@60", "runs/new@60+search:8", *names[2:]]
    assert with_updates(names) == fixed
    played = []

    def note(args, arena_args, on):
        played.append((arena_args.names, arena_args.level))
        return {"level": arena_args.level}, True

    monkeypatch.setattr(arena, "_play", note)
    monkeypatch.setattr(report, "format_levels", str)
    line = ["--agents", "runs/new", "--players", "1", "--automa", "automa,ultoma"]
    assert command(capsys, *line)[0] == 0
    assert played == [("runs/new@80", "automa"), ("runs/new@80", "ultoma")]
    evaluation = games_arena.EvaluationArgs("runs/new", "here", 8, "runs/new").fixed()
    assert (evaluation.name, evaluation.opponent) == ("runs/new@100", "runs/new@100")


def test_an_interrupted_level_leaves_the_levels_before(capsys, monkeypatch, tmp_path):
    results = iter([({"vp": 1}, True), (None, False)])
    monkeypatch.setattr(arena, "_play", lambda *_: next(results))
    monkeypatch.setattr(report, "format_levels", lambda levels: f"levels {list(levels)}")
    path = tmp_path / "levels.json"
    line = ["--agents", "random", "--players", "1", "--automa", "automa,ultoma", "--json"]
    code, out, err = command(capsys, *line, str(path))
    assert code == 130 and "levels ['automa']" in out and err.endswith("interrupted\n")
    assert json.loads(path.read_text()) == {"levels": {"automa": {"vp": 1}}}


def test_an_agent_against_itself_is_equal_up_to_the_interval():
    env = stub_env.StubEnv(length=6)
    names = ["random"] * 4
    games = games_arena.Arena(env, games_arena.agents_by_name(names, env), games=512).play(0)
    result = arena_report(games, entries(names), env.ruleset.ids)
    assert result["games"] == 512
    inside = [x["low"] <= 0 <= x["high"] for x in result["differences"]]
    assert sum(inside) >= 5  # six pairs, of which one in twenty may miss
    shares = [x["win_share"]["mean"] for x in result["agents"].values()]
    assert np.isclose(sum(shares), 1) and max(abs(np.array(shares) - 0.25)) < 0.07


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("random,greedy", "--agents needs 4 names, got 2"),
        ("random,random,random,rand", "'rand'; the choices are: greedy, random, newcomer,"),
        (
            "random,random,random,nowhere:act",
            "ModuleNotFoundError: No module named 'nowhere' in the current folder or in PYTHONPATH",
        ),
        ("random,random,random,nowhere.py:act", "the name of a module has no .py: nowhere:act"),
        (f"random,random,random,{__name__}:gone", "has no function 'gone'"),
        (f"random,random,random,{__name__}:IDS", "has no function 'IDS'"),
        (f"random,random,random,{__name__}:two_arguments", "it takes (state, mask)"),
        (f"random,random,random,{__name__}:no_integers", "must give one integer a game, got float"),
        (f"random,random,random,{__name__}:breaks", "fails on 2 games: TypeError"),
    ],
)
def test_a_wrong_agent_is_one_clear_line(names, message, capsys):
    code, out, err = command(capsys, "--agents", names)
    assert (code, out) == (2, "")
    assert message in err and err.startswith("error: ") and err.count("\n") == 1


def test_who_finishes_first_is_rated_highest():
    game = "abcd", [1.0, 2.0, 3.0, 4.0]
    ratings = rated([game, ("dcba", game[1][::-1])] * 3)
    means = [ratings[name][0] for name in "abcd"]
    assert means == sorted(means, reverse=True) and means[0] > 25 > means[3]
    assert all(sigma < 25 / 3 for _, sigma in ratings.values())
    tied = rated([("abcd", [2.5] * 4)])
    assert len({round(mu, 6) for mu, _ in tied.values()}) == 1
