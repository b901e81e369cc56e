"""What holds of every search: rows, seats, bounds, memory, devices, and trees written down."""

import json
import subprocess
import sys
from pathlib import Path

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.search import golden, random_game
from tests.trees import take_row
from tests.xla_flags import on_devices
from tools import search_picture
from training.search import (
    UTILITIES,
    SearchOptions,
    gumbel_search,
    max_n,
    memory,
    paranoid,
)

B = 24
OPTIONS = SearchOptions(candidates=3, considered=3, value_scale=0.05)


@pytest.fixture(scope="module")
def games():
    """Games for four players."""
    return random_game.draw(7, B, players=4, actions=4, depth=4)


def searcher(options=OPTIONS, simulations=20):
    """`search(games, keys, root)`, compiled; traced at most once."""
    chex.clear_trace_counter()  # it counts by the hash of a function, which another may have had

    @jax.jit
    @chex.assert_max_traces(n=1)
    def search(games, keys, root):
        return gumbel_search(games, keys, root, random_game.recurrent, simulations, options)

    return search


@pytest.fixture(scope="module")
def search():
    return searcher()


@pytest.fixture(scope="module")
def keys():
    return jax.random.split(jax.random.key(4), B)


@pytest.fixture(scope="module")
def search_output(games, search, keys):
    return search(games, keys, random_game.root(games))


def test_a_row_depends_on_no_other(games, search, keys, search_output):
    """The same rows next to others, and one by itself."""
    order = np.random.default_rng(0).permutation(B)
    mixed = search(games, keys[order], take_row(random_game.root(games), order))
    for single, other in zip(jax.tree.leaves(search_output), jax.tree.leaves(mixed), strict=True):
        np.testing.assert_array_equal(single[order], other)
    alone = searcher()(games, keys[5:6], take_row(random_game.root(games), slice(5, 6)))
    for single, other in zip(jax.tree.leaves(search_output), jax.tree.leaves(alone), strict=True):
        np.testing.assert_allclose(single[5:6], other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("utility", [max_n, paranoid])
def test_it_does_not_matter_which_seat_is_which(games, keys, utility):
    seats = np.array([2, 0, 3, 1])  # player p sits where seats[p] was
    place = np.argsort(seats)
    moved = games._replace(
        mover=place[games.mover].astype(np.int32),
        reward=games.reward[..., seats],
        value=games.value[..., seats],
    )
    search = searcher(options=SearchOptions(3, 3, utility, value_scale=0.05))
    single = search(games, keys, random_game.root(games))
    other = search(moved, keys, random_game.root(moved))
    np.testing.assert_array_equal(single.action, other.action)
    np.testing.assert_array_equal(single.candidates.visits, other.candidates.visits)
    np.testing.assert_array_equal(single.value[..., seats], other.value)


def test_visits_and_weights_add_up(search_output):
    np.testing.assert_array_equal(search_output.candidates.visits.sum(-1), 20)
    np.testing.assert_allclose(search_output.action_weights.sum(-1), 1, atol=1e-5)
    tree = search_output.tree
    used = tree.node_visits > 0
    inner = used & (tree.visits.sum(-1) > 0)
    np.testing.assert_array_equal(tree.node_visits[inner], (1 + tree.visits.sum(-1))[inner])
    rows, nodes = np.nonzero(used[:, 1:])
    nodes = nodes + 1
    parent, slot = tree.parent[rows, nodes], tree.slot[rows, nodes]
    np.testing.assert_array_equal(tree.child[rows, parent, slot], nodes)


def test_no_illegal_action_is_ever_looked_at(games, search_output):
    tree = search_output.tree
    rows, nodes = np.nonzero(tree.node_visits[:, 1:])
    nodes = nodes + 1
    parent = tree.parent[rows, nodes]
    action = tree.action[rows, parent, tree.slot[rows, nodes]]
    before = np.asarray(tree.embedding["node"])[rows, parent]
    assert games.legal[rows, before, action].all()
    assert not games.over[rows, before].any()  # and nothing follows an end


def test_own_turn_ends_where_another_decides(games, keys):
    search = searcher(options=SearchOptions(4, 4, value_scale=0.05, own_turn=True), simulations=120)
    result = search(games, keys, random_game.root(games))
    tree = result.tree
    rows, nodes = np.nonzero(tree.node_visits[:, 1:])
    parent = tree.parent[rows, nodes + 1]
    np.testing.assert_array_equal(tree.to_play[rows, parent], tree.to_play[rows, 0])
    assert (tree.parent[rows, nodes + 1] > 0).any()  # some players decide twice in a row
    assert tree.solved[:, 0].all()  # and turns are short enough to be seen whole

    def best(game, node, player):
        """What `player` can make of the own turn, by the network's values where it ends."""
        if games.over[game, node]:
            return 0.0
        if games.mover[game, node] != player:
            return games.value[game, node, player]
        after = node * 4 + 1 + np.flatnonzero(games.legal[game, node])
        return max(games.reward[game, i, player] + best(game, int(i), player) for i in after)

    for game in range(B):
        player = games.mover[game, 0]
        assert result.value[game, player] == pytest.approx(best(game, 0, player), abs=1e-5)


def test_max_depth_bounds_the_tree(games, keys):
    search = searcher(options=SearchOptions(3, 3, value_scale=0.05, max_depth=2))
    tree = search(games, keys, random_game.root(games)).tree
    rows, nodes = np.nonzero(tree.node_visits[:, 1:])
    parent = np.asarray(tree.parent)[rows, nodes + 1]
    grand = np.asarray(tree.parent)[rows, np.maximum(parent, 0)]
    assert (parent > 0).any() and (np.where(parent > 0, grand, 0) == 0).all()


def test_one_layer_tries_every_action_and_takes_the_best(games, keys):
    options = SearchOptions(candidates=4, gumbel_scale=0.0, value_scale=0.05, max_depth=1)
    search = searcher(options, simulations=4)
    root = random_game.root(games)
    result = search(games, keys, root)
    for game in range(B):
        legal = np.flatnonzero(games.legal[game, 0])
        player = games.mover[game, 0]
        values = games.reward[game, legal + 1] + games.value[game, legal + 1]
        score = games.logits[game, 0, legal] + 51 * 0.05 * values[:, player]
        assert result.action[game] == legal[score.argmax()]
        np.testing.assert_allclose(result.value[game], values[score.argmax()], rtol=1e-6)
        np.testing.assert_allclose(
            result.action_weights[game, legal], np.exp(score) / np.exp(score).sum(), rtol=1e-4
        )


@pytest.mark.parametrize("simulations", [4, 40])
def test_rollouts_follow_the_policy_and_take_the_best(games, keys, simulations):
    options = SearchOptions(
        considered=4, gumbel_scale=0.0, value_scale=0.05, rollouts=True, least_prior=0.3
    )
    root = random_game.root(games)
    result = searcher(options, simulations)(games, keys, root)
    asleep = 0
    for game in range(B):
        player, logits = games.mover[game, 0], games.logits[game, 0]
        legal = np.flatnonzero(games.legal[game, 0])
        likely = legal[logits[legal] >= logits[legal].max() + np.log(0.3)]
        if len(likely) == 1:
            asleep += 1
            assert result.action[game] == likely[0] and not result.candidates.visits[game].any()
            np.testing.assert_array_equal(result.value[game], root.value[game])
            continue
        length = simulations // len(likely)
        values = np.array([_line(games, game, action, length) for action in likely])
        score = logits[likely] + (50 + length) * 0.05 * values[:, player]
        assert result.action[game] == likely[score.argmax()]
        np.testing.assert_allclose(result.value[game], values[score.argmax()], atol=1e-6)
        assert result.candidates.visits[game].sum() == length * len(likely)
    assert 0 < asleep < B
    np.testing.assert_allclose(result.action_weights.sum(-1), 1, atol=1e-5)
    order = np.arange(B)[::-1]
    other = searcher(options, simulations)(games, keys[order[:5]], take_row(root, order[:5]))
    np.testing.assert_array_equal(other.action, result.action[order[:5]])


def _line(games, game, action, length):
    """What the players get of an action and the most probable moves after it, (P,)."""
    node, paid, values = 1 + action, 0.0, []
    for _ in range(length):
        paid = paid + games.reward[game, node]
        if games.over[game, node]:
            return paid
        values.append(paid + games.value[game, node])
        logits = np.where(games.legal[game, node], games.logits[game, node], -np.inf)
        node = 4 * node + 1 + int(logits.argmax())
    return np.mean(values[length // 2 :], axis=0)


@pytest.mark.parametrize("utility", UTILITIES)
def test_golden_trees(utility):
    tree = golden.search(utility)
    written = json.loads((golden.FOLDER / f"{utility}.json").read_text())
    for row in range(golden.GAMES):
        now = golden.plain(tree, row)
        assert len(now) == len(written[row])
        for node, old in zip(now, written[row], strict=True):
            for name in ("values", "utility"):
                assert node.pop(name) == pytest.approx(old.pop(name), abs=2e-4)
            assert node == old


def test_the_picture_shows_every_node_of_a_golden_tree():
    nodes = json.loads(search_picture.SOURCE.read_text())[search_picture.GAME]
    svg = search_picture.draw(nodes)
    for node in nodes:
        assert ", ".join(f"{value:.2f}" for value in node["values"]) in svg


def test_the_memory_is_what_was_said(games, keys):
    """Of a search whose states are large, compared with XLA's account of the compiled program."""
    options, simulations = SearchOptions(candidates=3, considered=3), 32
    root = random_game.root(games)
    root = root._replace(embedding=root.embedding | {"board": jnp.zeros((B, 4096), jnp.int8)})

    def recurrent(games, key, action, embedding):
        step, after = random_game.recurrent(games, key, action, embedding)
        board = embedding["board"] + 1
        return step._replace(value=step.value + board[:, :1] / 2**20), after | {"board": board}

    @jax.jit
    def run(games, keys, root):
        return gumbel_search(games, keys, root, recurrent, simulations, options).action

    output = memory(jax.eval_shape(lambda: root), simulations, options)
    used = run.lower(games, keys, root).compile().memory_analysis().temp_size_in_bytes
    assert abs(used - output) <= 0.1 * output, (used, output)


DEVICES = """
import jax, numpy as np
from jax.sharding import PartitionSpec as P
from tests.search import random_game
from tests.search.test_search import OPTIONS
from training.search import gumbel_search

assert jax.device_count() == 8
games = random_game.draw(7, 24, players=4, actions=4, depth=4)
root, keys = random_game.root(games), jax.random.split(jax.random.key(4), 24)

def search(keys, root):
    return gumbel_search(games, keys, root, random_game.recurrent, 20, OPTIONS)

mesh = jax.make_mesh((8,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
split = jax.shard_map(search, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"), check_vma=False)
eight, one = jax.jit(split)(keys, root), jax.jit(search)(keys, root)
for a, b in zip(jax.tree.leaves(eight), jax.tree.leaves(one), strict=True):
    if np.issubdtype(a.dtype, np.floating):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(a, b)
"""


@pytest.mark.slow
def test_eight_devices_find_what_one_finds():
    done = subprocess.run(
        [sys.executable, "-c", DEVICES], cwd=Path(__file__).parents[2], check=False,
        env=on_devices(8), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("simulations", "options", "message"),
    [
        (0, {}, "num_simulations must be at least 1, got 0"),
        (40_000, {}, "a tree counts to"),
        (1, {"candidates": 0}, "candidates must be at least 1, got 0"),
        (1, {"considered": 0}, "considered must be at least 1, got 0"),
        (1, {"max_depth": -1}, "max_depth must be at least 0, got -1"),
        (1, {"least_prior": 0}, "least_prior must be above 0 and at most 1, got 0"),
    ],
)
def test_wrong_numbers_are_refused(games, simulations, options, message):
    with pytest.raises(ValueError, match=message):
        searcher(SearchOptions(**options), simulations).eval_shape(
            games, jax.random.key(0), random_game.root(games)
        )
