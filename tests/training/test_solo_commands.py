"""The commands on games against the Automa: datasets, advice, explanations, default agents."""

import json
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.rewards import VP_SCALE
from training import advise, explain, export
from training.analysis import advice, search_report
from training.analysis.default_agent import agent_or_adviser
from training.analysis.recorded_game import read_game
from training.games.stats import wins
from training.study.__main__ import main as study

pq = pytest.importorskip("pyarrow.parquet", reason="datasets need the extra `data`")

GAMES = 4
ENV = gaia_jax.make("base", reward="margin", players=1)
SETUP = gaia_jax.first_game(1, automa="ultoma")  # the Automa plays the Taklons
SOLO = ("--env=base", "--players=1")
IDS = ENV.ruleset.ids


def test_commands_without_an_agent_take_the_one_that_plays_alone() -> None:
    assert agent_or_adviser(None, ENV) == "zoo/solo"
    assert agent_or_adviser("greedy", ENV) == "greedy"
    published = gaia_jax.make("lost_fleet_published", players=1)
    with pytest.raises(UserError, match="plays games of 4, not of 1: name another --agent"):
        agent_or_adviser(None, published)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([advise, *SOLO, "--automa=hard"], "unknown automa 'hard'"),
        ([advise, "--automa=ultoma"], "plays against one player, not in lost_fleet"),
        ([advise, "--record=game.json", "--automa=ultoma"], "the set-up of game.json has its"),
        ([advise, "--env=lost_fleet_published", "--players=1"], "name another --agent"),
        ([export, *SOLO, "--agents=random", "--out=data", "--automa=automa,ultoma"], "unknown"),
        ([export, *SOLO, "--agents=random,random", "--out=data"], "needs 1 names, got 2"),
    ],
)
def test_what_makes_no_sense_alone_is_refused(
    command: list[Any], message: str, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    module, *options = command
    with pytest.raises(UserError, match=message):
        module.main(options)
    assert not list(tmp_path.iterdir())


def test_advice_compares_the_factions_of_other_boards_than_the_automas() -> None:
    boards = advice.boards_of(ENV, SETUP)
    factions = advice.design(boards, games_per_faction=4)
    own = [i for i, name in enumerate(IDS["faction"]) if name not in ("TAKLONS", "AMBAS")]
    assert factions.shape == (48, 1) and (np.bincount(factions[:, 0])[own] == 4).all()
    automa_vp = 130
    vp = 100 + 5 * factions
    both = np.concatenate([vp, np.full_like(vp, automa_vp)], axis=1)
    none = np.full(factions.shape, advice.NONE)
    played = advice.PlayedGames(
        factions, vp, wins(both)[:, :1], vp[..., None], none, none[..., None], []
    )
    estimates = advice.advise(played, boards, IDS)
    assert estimates.factions == own and estimates.games == [4] * 12 and not estimates.seats
    expected = 100 + 5 * np.array(own)
    np.testing.assert_allclose([e.estimate for e in estimates.vp], expected)
    share = np.where(expected == automa_vp, 0.5, expected > automa_vp)
    np.testing.assert_allclose([e.estimate for e in estimates.wins], share, atol=1e-9)


def test_a_search_expects_no_vp_of_the_automa() -> None:
    policy = SimpleNamespace(reward="vp", reward_scale=1.0)
    explainer: Any = SimpleNamespace(policy=policy)
    vp, value = np.array([[30, 40]]), np.array([[0.5]])
    expected = search_report.Explainer.final_vp(explainer, vp, value)
    assert expected.tolist() == [[30 + 0.5 * VP_SCALE]]
    report = {
        "decision": 3, "of": 90, "round": 1, "player": 0, "factions": ["IVITS", "XENOS"],
        "vp": [30, 40], "options": 2, "played": "pass", "best": "pass",
        "candidates": [{"action": "pass", "prior": 0.5, "visits": 4, "final_vp": expected[0],
                        "line": [], "played": True, "best": True}],
        "final_vp": expected[0].tolist(),
    }  # fmt: skip
    text = search_report.decision_text(report)
    assert "VP now: IVITS 30, XENOS 40" in text and f"{expected[0][0]:.1f}" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Any:
    """A dataset of random games at drawn levels, with its decisions."""
    out = tmp_path_factory.mktemp("solo") / "data"
    played = ["--agents=random", "--automa=any", f"--games={GAMES}", f"--batch={GAMES}"]
    replayed = ["--decisions", f"--verify={GAMES}", f"--replay-batch={GAMES}"]
    assert export.main([*SOLO, *played, *replayed, f"--out={out}"]) == 0, "every row replays"
    return out


@pytest.fixture(scope="module")
def rows(folder: Any) -> list[dict[str, Any]]:
    return list(pq.read_table(folder / "games.parquet").to_pylist())


@pytest.mark.slow
def test_a_dataset_has_the_automa_at_the_last_seat(folder: Any, rows: Any) -> None:
    assert len(rows) == GAMES
    for row in rows:
        automa = json.loads(row["setup"])["automa"]
        assert (row["agent_0"], row["agent_1"]) == ("random", "Automa any")
        assert (row["faction_1"], row["setup_automa_level"]) == (automa["faction"], automa["level"])
        assert row["setup_automa_decks"] == automa["decks"] and len(row["vp"]) == 2
        assert row["win"] == wins(np.array(row["vp"])).tolist()
    decisions = pq.read_table(folder / "decisions.parquet").to_pylist()
    assert {decision["seat"] for decision in decisions} == {0}
    assert all(decision["vp_end"] == rows[decision["game"]]["vp"][0] for decision in decisions)
    with pytest.raises(UserError, match="a study compares the players of a game, .* games of one"):
        study([str(folder)])


@pytest.mark.slow
def test_transitions_are_paid_by_the_margin_over_the_automa(folder: Any, rows: Any) -> None:
    data = pytest.importorskip("gaia_jax.data")
    paid = np.zeros(GAMES)
    for batch in data.transitions(folder, ENV, batch=1, seed=None, group=GAMES):
        paid[batch["game"]] += batch["reward"]
    margins = [(row["vp"][0] - row["vp"][1]) / 100 for row in rows]
    np.testing.assert_allclose(paid, margins, atol=1e-5)
    with pytest.raises(UserError, match="for 1 players, the environment is 'base' .* for 2"):
        next(data.transitions(folder, gaia_jax.make("base", players=2)))


@pytest.mark.slow
def test_a_decision_against_the_automa_is_explained(rows: Any, tmp_path: Any, capsys: Any) -> None:
    row, texts = rows[0], ENV.ruleset.actions.texts
    moves = tuple(texts[action] for action in row["actions"])
    path, out = tmp_path / "game.json", tmp_path / "report.json"
    setup = json.loads(row["setup"])
    replay.write(path, replay.Record("base", row["version"], setup, moves, tuple(row["vp"])))
    game = read_game(path)
    assert game.env.num_players == 1 and len(game.states) == len(moves) + 1
    at = next(i for i, state in enumerate(game.states) if state.legal_action_mask.sum() > 3)
    options = ["--agent=random", f"--at={at + 1}", "--playouts=4", f"--json={out}"]
    assert explain.main([str(path), *options]) == 0
    report = json.loads(out.read_text())
    assert report["player"] == 0 and len(report["candidates"]) > 1
    assert all(0 <= row["win"] <= 1 for row in report["candidates"])


@pytest.mark.slow
def test_advice_on_a_set_up_of_a_level(tmp_path: Any, capsys: Any) -> None:
    out = tmp_path / "advice.json"
    options = ["--agent=random", "--games=2", "--automa=alptrauma", f"--json={out}"]
    assert advise.main([*SOLO, "--seed=5", *options]) == 0
    report = json.loads(out.read_text())
    automa = report["setup"]["automa"]
    boards = jax.tree.map(str, ENV.ruleset.faction_boards)
    taken = next(board for board in boards if automa["faction"] in board)
    names = [row["faction"] for row in report["factions"]]
    assert sorted([*names, *taken]) == sorted(IDS["faction"])
    assert automa["level"] == "alptrauma" and report["games"] == 24 and not report["seats"]
    assert all(row["win"][0] == 0 for row in report["factions"]), "random never wins there"
    text = capsys.readouterr().out
    assert "against the Automa: Alptrauma" in text and "Seats" not in text
    for row in report["factions"]:
        assert abs(sum(source["vp"] for source in row["sources"]) - row["vp"][0]) < 1.5
