"""Weighted policies, coverage counts and invariants of whole games."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.play_statistics import (
    POLICIES,
    Coverage,
    Policy,
    broken_invariants,
    coverage_report,
    main,
    report,
)
from gaia_jax.state import NODES
from gaia_jax.testing import sample_legal
from tests.conftest import GAMES


def test_an_action_is_drawn_in_proportion_to_its_weight() -> None:
    weights = jnp.zeros(40, jnp.int32).at[jnp.array([3, 17, 39])].set(jnp.array([1, 6, 3]))
    actions = jax.vmap(lambda u: sample_legal(weights, u))(jnp.arange(1000) / 1000)
    drawn, counts = np.unique(actions, return_counts=True)
    assert drawn.tolist() == [3, 17, 39] and counts.tolist() == [100, 600, 300]


def test_the_most_specific_key_of_a_policy_applies(env: Any) -> None:
    rules = env.ruleset
    weights = {"free": 2, "free burn": 3, "AFTER: free": 4, "AFTER: free burn": 5}
    table = np.asarray(Policy("x", weights, other=7).tables(rules).weights)
    burn, pay = (rules.actions.index("free", x) for x in ("burn", "P1_to_C"))
    turn, after = NODES.index("TURN"), NODES.index("AFTER")
    assert table[turn, [pay, burn]].tolist() == [2, 3]
    assert table[after, [pay, burn]].tolist() == [4, 5]
    assert table[turn, 0] == 7
    with pytest.raises(ValueError, match="'sail' is not a node with an action"):
        Policy("x", {"sail": 1}).tables(rules)


def test_every_policy_fits_the_action_index(env: Any) -> None:
    for policy in POLICIES.values():
        weights = policy.tables(env.ruleset).weights
        assert weights.shape == (len(NODES), env.num_actions) and (weights > 0).all()


@pytest.mark.slow
def test_coverage_counts_the_games_that_have_not_ended(env: Any, games_under_way: Any) -> None:
    state = jax.device_get(games_under_way)
    zeros = jnp.zeros((len(NODES), env.num_actions), jnp.int32)
    action = jnp.asarray(state.legal_action_mask.argmax(-1), jnp.int32)
    live = jnp.arange(GAMES) > 0
    coverage = Coverage(zeros, zeros).add(games_under_way, action, live)
    assert int(coverage.chosen.sum()) == GAMES - 1
    assert int(coverage.legal.sum()) == int(state.legal_action_mask[1:].sum())
    node = int(state.game.turn.node[1])
    assert coverage.chosen[node, action[1]] >= 1
    never = Coverage(coverage.legal, zeros)
    text = coverage_report(env.ruleset, never)
    assert " 0 chosen." in text and f"never chosen: {NODES[node]}: " in text


@pytest.mark.slow
def test_a_broken_invariant_is_counted(games_under_way: Any) -> None:
    state = jax.device_get(games_under_way)
    broken = broken_invariants(state)
    assert broken["ended in round 6"] == GAMES and "VP >= 0" not in broken
    vp = np.array(state.game.players.vp)
    vp[0, 0] -= 1
    players = state.game.players.replace(vp=vp)
    state = state.replace(game=state.game.replace(players=players))
    assert broken_invariants(state)["VP are the sum of their sources"] == 1


def test_the_report_counts_seats(env: Any) -> None:
    sources = env.ruleset.ids["vp_source"]
    columns = {
        "formed": np.array([[0, 1, 2, 1]]),
        "satellites": np.array([[0, 3, 7, 2]]),
        "vp": np.full((1, 4), 50),
        "faction": np.array([[0, 1, 0, 2]]),
        "decisions": np.array([300]),
        "vp_source": np.tile(np.arange(len(sources)), (1, 4, 1)),
    }
    text = report(env.ruleset, columns)
    assert "| 1 | 2 | 0.5000 |" in text
    assert "| HIVES | 2 | 50.00 | 1.000 |" in text
    assert f"| {sources[3]} | 3.00 |" in text


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_whole_games_break_no_invariant(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--games", "16", "--batch", str(GAMES), "--policy", policy]) == 0
    assert "Broken invariants: none" in capsys.readouterr().out
