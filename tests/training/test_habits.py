"""Habits over several games: what kinds of moves cost a player, with intervals over games."""

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.language import in_language
from tests.render.records import RECORDS
from training import review as command
from training.analysis import habits
from training.analysis.habits import PlayerGame, find_habits
from training.analysis.judge import NO_LOSS, Comparison, JudgedMove, Loss
from training.analysis.recorded_game import read_game

TEXTS = ["mine 1,1", "mine 2,2", "pass", "advance terra"]


def judged(action: int, lost: float, seat: int = 0, number: int = 1) -> JudgedMove:
    loss = Loss(lost, lost - 1, lost + 1, 0.0)
    comparison = Comparison(number, seat, np.array([action, 3]), np.array([0.5, 0.5]))
    line = np.array([-1])
    return JudgedMove(comparison, 3, np.zeros(2), np.zeros(2), loss, NO_LOSS, 8, line, np.zeros(30))


def game(moves: list[JudgedMove], *seats: int) -> PlayerGame:
    ruleset = SimpleNamespace(actions=SimpleNamespace(texts=TEXTS))
    review: Any = SimpleNamespace(
        game=SimpleNamespace(env=SimpleNamespace(ruleset=ruleset)), moves=moves
    )
    return PlayerGame("game.json", review, seats or (0,))


def test_a_kind_costs_its_mistakes_a_game() -> None:
    """Mines 12, 0 and 9 VP; passing 4, 0 and 0; small losses and others' moves do not count."""
    games = [
        game([judged(0, 5.0), judged(1, 7.0), judged(2, 4.0), judged(3, 1.0)]),
        game([judged(0, 2.0), judged(1, 40.0, seat=1)]),
        game([judged(1, 9.0), judged(2, -30.0)]),
    ]
    mines, passing = find_habits(games)
    assert (mines.cost.name, passing.cost.name) == ("mine", "pass")
    assert mines.cost.estimate == pytest.approx(7.0) and mines.num_moves == 4
    assert [move.loss.mean for _, move in mines.mistakes] == [9.0, 7.0, 5.0]
    low, high = stats.t.interval(0.95, 2, 7.0, np.std([12, 0, 9], ddof=1) / 3**0.5)
    assert mines.cost.high == pytest.approx(high) and low < 0 == mines.cost.low
    assert passing.cost.estimate == pytest.approx(4 / 3)


def test_several_seats_of_a_game_count_as_their_mean() -> None:
    twice = [judged(0, 6.0), judged(0, 8.0, seat=1)]
    (mines,) = find_habits([game(twice, 0, 1), game([judged(0, 7.0)])])
    assert mines.cost.estimate == pytest.approx(7.0) == pytest.approx(mines.cost.high)


def test_a_player_without_mistakes_has_no_habits() -> None:
    assert find_habits([game([judged(0, 1.0)])] * 2) == []


def _record(folder: Path, name: str, players: list[str]) -> Path:
    record = replay.read(RECORDS["lost_fleet"])
    begun = dataclasses.replace(record, actions=record.actions[:4], final_vp=())
    path = folder / f"{name}.json"
    replay.write(path, begun.with_players(players))
    return path


def test_the_report_is_a_sentence_for_each_habit(tmp_path: Path) -> None:
    path = _record(tmp_path, "first", ["Anna", "Ben", "a", "b"])
    played = read_game(path, 1)
    number = played.actions[0]
    other = int(np.flatnonzero(played.states[0].legal_action_mask != 0)[-1])
    assert other != number
    comparison = Comparison(1, 0, np.array([number, other]), np.array([0.5, 0.5]))
    kinds = played.env.ruleset.ids["vp_source"]
    move = judged(number, 6.0)._replace(
        comparison=comparison, best=other, sources=3.0 * (np.arange(len(kinds)) == 0)
    )
    review: Any = SimpleNamespace(
        game=played, moves=[move], agent="zoo/strong", num_playouts=8, seed=0
    )
    report = habits.build_report("Anna", [PlayerGame(str(path), review, (0,))] * 2)
    json.dumps(report)
    with in_language("ko"):
        (habit,) = habits.build_report("Anna", [PlayerGame(str(path), review, (0,))] * 2)["habits"]
    assert re.fullmatch("[\uac00-\ud7a3 ]+", habit["example"]["faction"])
    others: Any = SimpleNamespace(**vars(review) | {"agent": "zoo/duel"})
    mixed = [PlayerGame(str(path), of_agent, (0,)) for of_agent in (review, others, review)]
    assert habits.build_report("Anna", mixed)["agent"] == "zoo/strong, zoo/duel"
    title, sentence, rest = habits.report_text(report).splitlines()
    assert title.startswith("Anna in 2 games, judged by zoo/strong")
    assert sentence.startswith("1. First structures: 6.0 VP a game (6.0 to 6.0), 2 mistakes in 2")
    assert f"{path}, decision 1, set-up" in sentence and "loses 6.0 VP (5.0 to 7.0)" in sentence
    assert f" +3.0. gaia play --record {path} --at 1" in sentence
    assert rest == "No other kind of move had a mistake."


def test_wrong_names_and_numbers_are_refused_before_any_work(tmp_path: Path) -> None:
    first = _record(tmp_path, "first", ["Anna", "Ben", "Anna", "zoo/strong"])
    second = _record(tmp_path, "second", ["zoo/strong", "Anna", "Cem", "Ben"])
    both = [str(first), str(second)]
    page = str(tmp_path / "a.html")
    for arguments, message in (
        (both, r"several records require --player; they name Anna \(2\)"),
        ([*both, "--player", "Cem"], r"--player Cem: at least 2 .*, got 1; they name Anna \(2\)"),
        ([str(first)] * 2 + ["--player", "Anna"], "got 1"),
        ([str(first), "--player", "Anna"], "--player requires several records"),
        ([str(first), "--language", "ko"], "--language ko needs --html"),
        ([*both, "--player", "Anna", "--html", page], "--html requires one record, got 2"),
        ([*both, str(tmp_path / "none.json"), "--player", "Anna"], "none.json"),
    ):
        with pytest.raises(UserError, match=message):
            command.main(arguments)


def test_the_agent_has_to_play_all_games_before_one_is_reviewed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games = {Path("first.json"): "lost_fleet", Path("second.json"): "base"}
    made: list[str] = []

    def played(path: Path) -> Any:
        return SimpleNamespace(
            env=SimpleNamespace(ruleset=SimpleNamespace(name=games[path])), moves=[]
        )

    def make_agent(name: str, env: Any) -> None:
        made.append(env.ruleset.name)
        if env.ruleset.name == "base":
            raise UserError(f"{name} does not play base")

    monkeypatch.setattr("training.analysis.recorded_game.read_game", played)
    monkeypatch.setattr("training.agents.make_agent", make_agent)
    monkeypatch.setattr("training.analysis.playouts.Playouts", lambda *_, moves: None)
    monkeypatch.setattr(command, "_review", lambda *_: pytest.fail("reviewed too early"))
    args: Any = SimpleNamespace(agent="zoo/strong", player="Anna")
    with pytest.raises(UserError, match="does not play base"):
        command._habits(args, dict.fromkeys(games, [0]))
    assert made == ["lost_fleet", "base"]


@pytest.mark.slow  # compiles the playouts
def test_the_command_compares_two_games(tmp_path: Path, capsys: Any) -> None:
    paths = [_record(tmp_path, n, ["Anna", "Ben", "Anna", "Ben"]) for n in ("a", "b", "c")]
    paths[2] = _record(tmp_path, "c", ["Ben", "Cem", "", ""])
    report = tmp_path / "habits.json"
    arguments = ["--player", "Anna", "--agent", "zoo/quick", "--playouts", "4"]
    assert command.main([*map(str, paths), *arguments, "--json", str(report)]) == 0
    written = json.loads(report.read_text())
    assert written["records"] == [str(path) for path in paths[:2]]
    assert written["player"] == "Anna" and len(written["habits"]) <= habits.MAX_HABITS
    assert "Anna in 2 games, judged by zoo/quick" in capsys.readouterr().out
