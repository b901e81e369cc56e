"""Advice on a set-up: a balanced and legal design, estimates that hold, the command."""

import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from commands import run_command
from planted_advice import boards, planted_games

import gaia_jax
from gaia_jax import replay
from gaia_jax.setup.setup_json import setup_to_json
from gaia_jax.state import Node
from tests import stub_env
from training import advise as door
from training.analysis import advice, advice_report
from training.analysis.playouts import Ends

ENV = gaia_jax.make("lost_fleet")
FACE = SimpleNamespace(make=lambda env_id, reward: stub_env.StubEnv(reward=reward, length=9))
SIDES = boards().sides
TEXTS = ENV.ruleset.actions.by_text


@pytest.mark.parametrize(("env_id", "players"), [("lost_fleet", 4), ("base", 4), ("base", 2)])
def test_every_faction_plays_as_often_at_each_seat_and_never_meets_its_other_side(env_id, players):
    all_ = boards((), env_id, players)
    dealt = advice.design(all_, games_per_faction=10, seed=3)
    blocks = -(-10 // players)
    assert dealt.shape == (all_.num_games(10), players) == (blocks * all_.sides.size, players)
    for seat in range(players):
        assert (np.bincount(dealt[:, seat]) == blocks).all()
    board = np.argsort(all_.sides.ravel())[dealt] // 2
    assert all(len(set(row)) == players for row in board.tolist())
    repeated = advice.design(all_, games_per_faction=10, seed=3)
    assert np.array_equal(dealt, repeated)
    assert not np.array_equal(dealt, advice.design(all_, games_per_faction=10, seed=4))


def test_held_seats_keep_their_factions_and_nobody_has_the_other_side():
    with_fixed = boards({1: int(SIDES[2, 1])})
    dealt = advice.design(with_fixed, games_per_faction=9)
    assert (dealt[:, 1] == SIDES[2, 1]).all() and len(dealt) == 3 * 16
    others = np.delete(dealt, 1, axis=1)
    assert not np.isin(others, SIDES[2]).any()
    assert (np.bincount(others.ravel(), minlength=18)[np.delete(SIDES, 2, 0)] == 9).all()


def test_estimates_recover_what_was_planted_and_intervals_hold():
    inside, errors, ranks = [], [], []
    for seed in range(20):
        played, all_, expected = planted_games(seed)
        estimates = advice.advise(played, all_, ENV.ruleset.ids)
        truth = np.array([expected[f] for f in estimates.factions])
        vp = np.array([e[1:4] for e in estimates.vp], float)
        inside.append((vp[:, 1] <= truth) & (truth <= vp[:, 2]))
        errors.append(vp[:, 0] - truth)
        above = np.array([e.estimate for e in estimates.above_mean])
        np.testing.assert_allclose(above, vp[:, 0] - vp[:, 0].mean(), atol=1e-6)
        ranks.append(np.corrcoef(np.argsort(np.argsort(-truth)), np.argsort(np.argsort(-above))))
    assert 0.91 <= np.mean(inside) <= 0.98  # 0.942 over 120 such measurements
    assert abs(np.mean(errors)) < 0.5 and np.std(errors) < 15 * 1.15 / 8 * 1.2
    assert np.mean([r[0, 1] for r in ranks]) > 0.9
    seats = np.array([e.estimate for e in estimates.seats])
    np.testing.assert_allclose(seats, [-4, -1, 1, 4], atol=3)


def test_held_factions_are_told_against_those_that_are_drawn():
    fixed = {0: int(SIDES[0, 0]), 3: int(SIDES[5, 1])}
    played, all_, expected = planted_games(1, games_per_faction=256, noise=3.0, hold=fixed)
    estimates = advice.advise(played, all_, ENV.ruleset.ids)
    assert len(estimates.factions) == 16 and set(fixed.values()) <= set(estimates.factions)
    for faction, effect in zip(estimates.factions, estimates.vp, strict=True):
        assert abs(effect.estimate - expected[faction]) < 1.5


def test_nothing_stands_out_where_nothing_is():
    results = [
        advice.advise(*planted_games(seed, 32, gap=0.0)[:2], ENV.ruleset.ids) for seed in range(3)
    ]
    num_significant = sum(any(e.significant for e in result.seats) for result in results)
    assert num_significant == 3, "seats of 4 VP are found"
    played, all_, _ = planted_games(5, 32)
    same = played._replace(vp=np.random.default_rng(1).integers(100, 140, played.vp.shape))
    estimates = advice.advise(same, all_, ENV.ruleset.ids)
    assert not any(e.significant for e in estimates.above_mean)


def test_boosters_are_compared_at_the_same_faction():
    """The better factions take booster 0; it is worth nothing, booster 1 is worth 6 VP."""
    played, all_, _ = planted_games(2, 128, noise=4.0)
    best = np.isin(played.faction, np.argsort([-np.mean(played.vp[played.faction == f])
                                               for f in range(18)])[:9])  # fmt: skip
    rng = np.random.default_rng(0)
    booster = np.where(rng.random(best.shape) < np.where(best, 0.8, 0.2), 0, 1)
    vp = played.vp + 6 * (booster == 1)
    estimates = advice.advise(
        played._replace(vp=vp, booster=booster), all_, ENV.ruleset.ids
    ).boosters  # fmt: skip
    assert [e.size for e in estimates] == np.bincount(booster.ravel()).tolist()
    np.testing.assert_allclose([e.estimate for e in estimates], [-3, 3], atol=0.8)


def test_openings_and_boosters_are_read_from_the_moves():
    # Seat, node, action: an upgrade has the name of its piece, a free action does not count.
    decisions = [
        (1, Node.START, "mine 0,0"), (2, Node.BOOSTER, "booster RB3"),
        (1, Node.BOOSTER, "booster RB1"), (1, Node.TURN, "free burn"),
        (1, Node.TURN, "upgrade 0,0"), (2, Node.LEECH, "leech CHARGE"),
        (1, Node.TURN, "upgrade 0,0"), (1, Node.PIECE, "piece RL"),
        (1, Node.TURN, "upgrade 0,0"), (1, Node.TURN, "pass"), (1, Node.TURN, "mine 1,0"),
        (2, Node.TURN, "booster RB1"),
    ]  # fmt: skip
    moves, notes = np.full((2, 20), -1), np.full((2, 20), -1)
    moves[0, : len(decisions)] = [TEXTS[text] for _, _, text in decisions]
    notes[0, : len(decisions)] = [64 * seat + node for seat, node, _ in decisions]
    vp = np.array([[10, 40, 40, 20], [0, 0, 0, 0]])
    ends = Ends(vp, moves, np.array([True, False]), vp[..., None], notes)
    faction = np.array([[0, 2, 4, 6], [1, 3, 5, 7]])
    played = advice.read_games(ENV, ends, faction)
    assert played.vp.tolist() == [[10, 40, 40, 20]], "one game has ended"
    assert played.wins.tolist() == [[0, 0.5, 0.5, 0]], "those with the most VP share the win"
    ids = ENV.ruleset.ids["booster"]
    assert advice.first_boosters(played, 2, ids) == [("RB1", 1.0)]
    assert advice.first_boosters(played, 4, ids) == [("RB3", 1.0)] and not advice.first_boosters(
        played, 0, ids
    )
    first = [kind for kind, share in advice.opening(played, 2)]
    assert first == ["piece TS", "piece RL", "upgrade", "pass"]
    assert advice.opening(played, 4) == [("booster RB1", 1.0)]
    assert advice.sources(played, 2, ["all"]) == [("all", 40.0, 12.5)]
    for kind in (*first, "booster RB1", "mine", "project"):
        assert advice_report._words(ENV, kind)


def run(capsys, *args, env_module=FACE):
    return run_command(capsys, door.main, env_module, *args)


STUB = ("--agent", "random", "--games", "2")


@pytest.mark.slow
def test_the_command_prints_and_writes_what_it_found(capsys, tmp_path):
    out = ("--json", tmp_path / "a.json", "--html", tmp_path / "a.html")
    code, text, err = run(capsys, *STUB, "--seed", "3", *out)
    assert code == 0, err
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["games"] == report["wanted"] == 18 and len(report["factions"]) == 18
    vp = [row["vp"][0] for row in report["factions"]]
    assert vp == sorted(vp, reverse=True)
    assert abs(sum(row["win"][0] for row in report["factions"]) / 18 - 0.25) < 0.05
    assert abs(sum(row["bid"][0] for row in report["factions"])) < 1
    assert {row["games"] for row in report["factions"]} == {4}
    assert all(row["name"] in text for row in report["factions"])
    assert "set-up of seed 3; random at all seats, 18 games" in text
    page = (tmp_path / "a.html").read_text()
    assert (
        page.startswith(advice_report.PAGE_HEAD) and "<svg" in page and "width=device-width" in page
    )
    assert "<script" not in page and "src=" not in page
    assert page.count("href=") == page.count('href="#') + page.count('href="data:,"')
    code, second_text, _ = run(capsys, *STUB, "--seed", "3", *out)
    assert code == 0 and second_text == text, "its own files may be written again"
    # The same set-up from a file; two seats keep their factions.
    setup = FACE.make("", "vp").draw_setup(jax.random.key(3))
    (tmp_path / "s.json").write_text(setup_to_json(setup, ENV.ruleset))
    result = run(capsys, *STUB, "--setup", tmp_path / "s.json", "--hold", "0,2", *out)
    assert result[0] == 0, result[2]
    report = json.loads((tmp_path / "a.json").read_text())
    named = {row["seat"]: row["faction"] for row in report["factions"] if row["seat"] is not None}
    factions = report["setup"]["factions"]
    assert named == {0: factions[0], 2: factions[2]} and len(report["factions"]) == 16


def test_the_page_of_advice_is_in_the_chosen_language(capsys, tmp_path):
    """What is printed and the JSON stay English."""
    page, out = tmp_path / "a.html", tmp_path / "a.json"
    files = ("--html", page, "--json", out, "--language", "de")
    code, text, err = run(capsys, *STUB, "--seed", "3", *files)
    assert code == 0, err
    assert "set-up of seed 3" in text and json.loads(out.read_text())["from"] == "seed 3"
    assert '<html lang="de">' in page.read_text() and "Startzahl 3" in page.read_text()
    assert "set-up of" not in page.read_text()


def test_ctrl_c_prints_the_games_that_have_ended(capsys, monkeypatch):
    real = advice.Advisor.play

    def half(self, setup, factions, seed=0, progress=None):
        played = real(self, setup, factions, seed, progress)
        fields = {"faction", "vp", "wins", "sources", "booster", "opening"}
        return played._replace(**{name: getattr(played, name)[:5] for name in fields})

    monkeypatch.setattr(advice.Advisor, "play", half)
    code, text, _ = run(capsys, *STUB)
    assert code == 130 and "5 of 18 games" in text


def test_what_is_wrong_is_one_line(capsys, tmp_path):
    record = tmp_path / "game.json"
    setup = setup_to_json(FACE.make("", "vp").draw_setup(jax.random.key(3)), ENV.ruleset)
    written = json.loads(setup)
    replay.write(record, replay.Record("lost_fleet", ENV.version, written, (), ()))
    for name, data in {
        "no": "{", "key": json.dumps(written | {"more": 1}), "two": json.dumps({"players": 2}),
        "list": "[1]", "faction": setup.replace(written["factions"][0], "NOBODY"),
    }.items():  # fmt: skip
        (tmp_path / f"{name}.json").write_text(data)
    for args, message in (
        (("--seed", 1, "--setup", record), "not allowed with"),
        (("--setup", tmp_path / "none.json"), "cannot read"),
        (("--setup", tmp_path / "no.json"), "not JSON"),
        (("--setup", tmp_path / "key.json"), "unknown key 'more'"),
        (("--setup", tmp_path / "list.json"), "must be an object"),
        (("--setup", tmp_path / "faction.json"), "NOBODY"),
        (("--setup", tmp_path / "two.json"), "players"),
        (("--setup", record), "--record"),
        (("--record", tmp_path / "key.json"), "no game record"),
        (("--env", "none"), "none"),
        (("--language", "ko"), "--language ko needs --html"),
        (("--agent", "nobody"), "nobody"),
        (("--games", "0"), "1 to"),
        (("--hold", "4"), "0 to 3"),
        (("--hold", "0,1,2,3"), "fewer"),
        (("--hold", "x"), "seat numbers"),
        (("--json", tmp_path / "a", "--html", tmp_path / "a"), "want two paths"),
    ):
        code, out, err = run(capsys, *args, env_module=gaia_jax)
        assert code == 2 and not out and err.count("\n") == 1 and message in err, (args, err)


@pytest.mark.slow
def test_real_games_of_random_players(capsys, tmp_path):
    args = ("--agent", "random", "--games", "4", "--json", tmp_path / "a.json")
    code, text, err = run(capsys, "--seed", "5", *args, env_module=gaia_jax)
    assert code == 0, err
    report = json.loads((tmp_path / "a.json").read_text())
    assert len(report["factions"]) == 18 and report["games"] == 18
    for row in report["factions"]:
        assert len(row["opening"]) == 4 and row["boosters"]
        assert abs(sum(s["vp"] for s in row["sources"])) < 200
        assert row["vp"][1] < row["vp"][0] < row["vp"][2]
    assert sum(x["taken"] for x in report["boosters"]) == 18 * 4
