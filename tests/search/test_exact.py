"""Exact on small games: max^n by exhaustion, and mctx where mctx can."""

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest

from tests.search import random_game
from training.search import SearchOptions, gumbel_search, margin, paranoid

INSTANCES = 200


def solve(games, options, simulations):
    run = jax.jit(
        lambda key, root: gumbel_search(
            games, key, root, random_game.recurrent, simulations, options
        )
    )
    return run(jax.random.key(0), random_game.root(games))


@pytest.mark.parametrize("players", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_enough_simulations_find_the_max_n_solution(players):
    games = random_game.draw(players, INSTANCES, players, actions=3, depth=4)
    options = SearchOptions(candidates=3, considered=3, value_scale=0.1)
    output = solve(games, options, 400)
    assert output.tree.solved[:, 0].all()  # every game was searched to its ends
    for game in range(INSTANCES):
        values, action = random_game.solution(games, game)
        np.testing.assert_array_equal(output.value[game], values.astype(np.float32))
        assert output.action[game] == action


@pytest.mark.parametrize("utility", [margin, paranoid])
def test_the_other_utilities_find_their_solution(utility):
    games = random_game.draw(11, 60, 4, actions=3, depth=3)
    options = SearchOptions(candidates=3, considered=3, value_scale=0.1, utility=utility)
    output = solve(games, options, 150)
    assert output.tree.solved[:, 0].all()

    def by_hand(values, mover, root):
        if utility is paranoid:
            return values[root] if mover == root else -values[root]
        return values[mover] - np.delete(values, mover).mean()

    other = 0
    for game in range(60):
        values, action = random_game.solution(games, game, utility=by_hand)
        np.testing.assert_array_equal(output.value[game], values.astype(np.float32))
        assert output.action[game] == action
        other += action != random_game.solution(games, game)[1]
    assert other > 0  # they are not max^n by another name


@pytest.mark.parametrize(
    ("players", "noise"), [pytest.param(1, 0.0, marks=pytest.mark.slow), (1, 1.0), (2, 1.0)]
)
def test_one_player_and_two_with_zero_sum_visit_as_mctx_does(players, noise):
    actions, simulations = 4, 48
    games = random_game.draw(5 + players, INSTANCES, players, actions, depth=5)
    if players == 2:
        games = random_game.zero_sum(games)
    options = SearchOptions(
        candidates=actions, considered=3, gumbel_scale=noise, value_scale=0.1, solve=False
    )
    actual = solve(games, options, simulations)
    expected = mctx_search(games, simulations, noise, considered=3)

    visits = np.zeros((INSTANCES, actions), int)
    rows = np.arange(INSTANCES)[:, None]
    visits[rows, actual.candidates.action] = actual.candidates.visits
    np.testing.assert_array_equal(visits, expected.search_tree.summary().visit_counts)
    np.testing.assert_array_equal(actual.action, expected.action)
    # Two programs: how each rounds depends on how it was compiled (`tests/conftest.py`).
    np.testing.assert_allclose(actual.action_weights, expected.action_weights, atol=1e-5)
    own = np.take_along_axis(actual.value, games.mover[:, :1], axis=1)[:, 0]
    np.testing.assert_allclose(own, expected.search_tree.summary().value, rtol=1e-5, atol=1e-5)
    assert (actual.tree.node_visits > 1).sum() > 5 * INSTANCES  # trees of some depth


def mctx_search(games, simulations, noise, considered):
    """The same search by mctx: values are of the player who decides."""

    def of(values, player):
        return jnp.take_along_axis(values, player[:, None], axis=1)[:, 0]

    def recurrent(params, key, action, embedding):
        game, node = embedding["game"], embedding["node"]
        before = jnp.asarray(games.mover)[game, node]
        step, after = random_game.recurrent(games, key, action, embedding)
        sign = jnp.where(step.to_play == before, 1.0, -1.0)
        lowest = jnp.finfo(jnp.float32).min
        return mctx.RecurrentFnOutput(
            reward=of(step.reward, before),
            discount=step.discount * sign,
            prior_logits=jnp.where(step.legal_actions, step.prior_logits, lowest),
            value=of(step.value, step.to_play),
        ), after

    def run(key):
        root = random_game.root(games)
        return mctx.gumbel_muzero_policy(
            (), key,
            mctx.RootFnOutput(
                prior_logits=root.prior_logits,
                value=of(root.value, root.to_play),
                embedding=root.embedding,
            ),
            recurrent, simulations, ~root.legal_actions,
            qtransform=lambda *args: mctx.qtransform_completed_by_mix_value(
                *args, value_scale=0.1, rescale_values=False
            ),
            max_num_considered_actions=considered, gumbel_scale=noise,
        )  # fmt: skip

    return jax.jit(run)(jax.random.key(0))
