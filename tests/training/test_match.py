"""Duplicate matches: equal set-ups, rotated seats, intervals."""

import jax
import numpy as np
import pytest
import toy_env
from seatings import ONE_AGAINST_THREE

from training.agents import Agent, random_agent
from training.games.engine import Match
from training.games.report import evaluation_report, format_evaluation
from training.games.stats import estimate, share, wins
from training.games.table import BEHAVIOUR, Games
from training.system.batched import step_among

ENV = toy_env.make("toy")


def first_legal(params, state, mask, key):
    return mask.argmax(-1)


@pytest.fixture(scope="module")
def match():
    agents = [Agent("first", first_legal), random_agent(ENV)]
    return Match(ENV, agents, ONE_AGAINST_THREE, setups=6)


def test_each_set_up_is_played_once_from_every_seat(match):
    results = match.play(seed=0)
    assert results.vp.shape == (6, 4, 4) and results.sources.shape == (6, 4, 4, 3)
    assert (results.entry == 0).sum(axis=1).tolist() == [[1, 1, 1, 1]] * 6
    assert (results.faction == results.faction[:, :1]).all()  # the same deal in all four games
    assert len(np.unique(results.faction[:, 0], axis=0)) > 1
    assert (results.vp == results.sources.sum(-1) + 10).all()
    assert results.federations.shape == (6, 4, 4) and results.federations.any()
    assert (results.decisions >= 8).all()


def test_the_seed_decides_the_set_ups_and_the_games(match):
    repeated, other = match.play(seed=0), match.play(seed=1)
    assert (match.play(seed=0).vp == repeated.vp).all()
    assert (repeated.vp != other.vp).any()


def test_equal_agents_are_equal_up_to_the_interval():
    results = Match(
        ENV, [random_agent(ENV), random_agent(ENV)], ONE_AGAINST_THREE, setups=300
    ).play(seed=0)
    report = evaluation_report(results, ENV.ruleset.ids)
    assert report["vp_difference"]["low"] < 0 < report["vp_difference"]["high"]
    assert abs(report["win_share"]["policy"]["mean"] - 0.25) < 0.05


def test_a_shared_win_is_split():
    vp = np.array([[5, 5, 1, 0], [9, 5, 1, 0], [7, 7, 7, 7]])
    assert wins(vp).tolist() == [[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.25] * 4]


def test_estimate_is_students_interval():
    x = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    half = 3.182446 * np.std([1, 2, 3, 4], ddof=1) / 2
    assert np.allclose(x, (2.5, 2.5 - half, 2.5 + half), atol=1e-5)


def test_summary_by_hand():
    """Two set-ups, four games each; the policy always has 20 VP, the others 10, 11, 12."""
    agent = np.broadcast_to(ONE_AGAINST_THREE, (2, 4, 4))
    vp = np.where(agent == 0, 20, 0)
    for game in range(4):
        vp[:, game, [p for p in range(4) if p != game]] = [10, 11, 12]
    formed = np.where(agent == 0, [[[2]], [[1]]], 0)
    factions, decisions = np.zeros((2, 4, 4), int), np.full((2, 4), 30)
    behaviour = np.stack([formed] * len(BEHAVIOUR), axis=-1)
    results = Games(
        agent, agent, factions, vp, vp[..., None], behaviour, decisions, decisions, agent, agent * 0
    )
    report = evaluation_report(results, {"faction": ("A",), "vp_source": ("all",)}) | {
        "env": "toy", "env_version": "1", "opponent": "random", "likeliest": False,
    }  # fmt: skip
    assert report["vp"]["policy"]["mean"] == 20 and report["vp"]["opponent"]["mean"] == 11
    assert report["vp_difference"] == {"mean": 9.0, "low": 9.0, "high": 9.0}
    assert report["win_share"]["policy"]["mean"] == 1
    assert report["vp_by_faction"] == {"A": {"games": 8, "policy": 20.0, "opponent": 11.0}}
    assert report["federations"]["policy"]["mean"] == 1.5
    assert report["federations"]["opponent"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert "9.00 (9.00 to 9.00)" in format_evaluation(report)
    row = next(
        line
        for line in format_evaluation(report).splitlines()
        if line.startswith("federations formed")
    )
    assert row.split()[2:] == ["1.50", "0.00"]
    for name in ("zoo/strong", "runs/a-name-of-many-characters@120"):
        lines = format_evaluation(report | {"opponent": name}, factions=True).splitlines()
        heads = [line.split() for line in lines if line.startswith(("mean of", "VP by"))]
        assert len(heads) == 3 and all(head[-2:] == ["policy", name] for head in heads)


@pytest.mark.parametrize("wins", [[0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
def test_a_share_and_its_interval_stay_within_0_and_1(wins):
    mean, low, high = share(np.array(wins, float))
    assert 0 <= low <= mean <= high <= 1


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 3, 8])
def test_a_table_steps_alike_in_a_larger_batch(rows):
    """The rows besides change nothing, and what has ended stays."""
    states = jax.vmap(ENV.init)(jax.random.split(jax.random.key(3), 3))
    states = states.replace(terminated=np.array([False, True, False]))
    actions = states.legal_action_mask.argmax(-1)
    expected = jax.vmap(ENV.step)(states, actions)
    results = step_among(ENV, rows, states, actions)
    assert all(jax.tree.leaves(jax.tree.map(lambda a, b: (a == b).all(), results, expected)))
    assert results.game.clock.tolist() == [1, 0, 1]
