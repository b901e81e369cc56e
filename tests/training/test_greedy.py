"""The scripted player: what it counts is what the rules count, and what it plays is legal."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.rules import income, player, scoring
from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.state import Node
from tests import stub_env
from training.agents.greedy import Search, Weights, as_params
from training.agents.greedy import value as values
from training.agents.greedy.tables import make_tables
from training.agents.greedy.weights import EVENTS_A_ROUND, view

ENV = stub_env.StubEnv(length=6)
PARAMS = as_params(Weights())
GAMES = 8


@pytest.fixture(scope="module")
def positions():
    """GAMES made-up positions: every field that is counted is drawn within its range."""
    rng = np.random.default_rng(0)
    game = stub_env.one_game()
    game = jax.tree.map(lambda x: np.broadcast_to(x, (GAMES, *x.shape)).copy(), game)
    tables, cells = LOST_FLEET.tables, LOST_FLEET.geometry.num_cells
    seats = (GAMES, 4)
    piece = rng.integers(0, 8, (GAMES, cells)) * (rng.random((GAMES, cells)) < 0.3)
    players = game.players.replace(
        built=np.concatenate(
            [np.zeros((*seats, 1), int), rng.integers(0, tables.pieces[1:] + 1, (*seats, 6))], -1
        ),
        colonized=rng.integers(0, 2, (*seats, 14)),
        guest_asteroids=rng.integers(0, 3, seats),
        guest_protos=rng.integers(0, 3, seats),
        sectors=rng.integers(0, 2**18, seats),
        tiles=rng.integers(0, 2**12, seats),
        covered=rng.integers(0, 2**12, seats),
        artifacts=rng.integers(0, 2**13, seats),
        tokens=rng.integers(0, 3, (*seats, 15)),
        gaiaformers=rng.integers(0, 4, seats),
        tracks=rng.integers(0, 6, (*seats, 6)),
        satellites=rng.integers(0, 9, seats),
    )
    board = game.board.replace(
        piece=piece.astype(np.int8),
        piece_owner=np.where(piece > 0, rng.integers(0, 4, piece.shape), -1).astype(np.int8),
        flags=rng.integers(0, 128, piece.shape).astype(np.uint8),
        federation_bits=rng.integers(0, 256, piece.shape).astype(np.uint8),
    )
    faction = rng.integers(0, 18, seats).astype(np.int8)
    setup = game.setup.replace(faction=faction)
    return game.replace(players=players, board=board, setup=setup)


def test_counts_missions_and_income_are_those_of_the_rules(positions):
    t, w = make_tables(ENV), view(PARAMS)

    def ours(game):
        at = [values.Position(t, w, game, jnp.int32(p)) for p in range(4)]
        return at[0].counts, values.missions(at[0]), jnp.stack([values.income(x) for x in at])

    def theirs(game):
        def of(p):
            me, faction = player.player_row(game, p), player.faction_row(LOST_FLEET, game, p)
            parts = income.parts(LOST_FLEET, faction, me, game.setup.economy_side)
            return sum(v for name, v in parts.items() if name != "booster")

        counted = player.counts(LOST_FLEET, game.players)
        final = scoring.final_values(LOST_FLEET, game)
        return counted, final, jnp.stack([of(jnp.int32(p)) for p in range(4)])

    ours, theirs = (jax.jit(jax.vmap(f))(positions) for f in (ours, theirs))
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)


@pytest.fixture(scope="module")
def choose():
    return jax.jit(Search(ENV, slots=16).choose)


@pytest.fixture(scope="module")
def states():
    return jax.vmap(ENV.init)(jax.random.split(jax.random.key(0), GAMES))


def test_it_plays_legal_actions_the_same_ones_each_time(choose, states):
    mask = np.zeros((GAMES, ENV.num_actions), bool)
    rng = np.random.default_rng(1)
    for row in range(GAMES):  # from one legal action to all that the stub allows
        some = rng.choice(np.flatnonzero(states.legal_action_mask[row]), row * row + 1)
        mask[row, some] = True
    first = np.asarray(choose(PARAMS, states, mask))
    assert mask[np.arange(GAMES), first].all()
    assert np.array_equal(first, choose(PARAMS, states, mask))


def test_it_takes_points_and_passes_where_nothing_gains(states):
    """Three actions: one pays 2 VP, one nothing, and passing; then the paying one is gone."""

    class Paying(stub_env.StubEnv):
        def step(self, state, action):
            pays = jnp.arange(4) == state.current_player
            gain = jnp.where(action == self.num_actions // 2, 2, 0) * pays
            players = state.game.players
            game = state.game.replace(players=players.replace(vp=players.vp + gain))
            return state.replace(game=game)

    env = Paying()
    space = env.ruleset.actions
    good, idle, out = env.num_actions // 2, 5, space.index("pass")
    turn = states.game.turn.replace(node=jnp.full(GAMES, Node.TURN), round=jnp.full(GAMES, 6))
    states = states.replace(game=states.game.replace(turn=turn))
    mask = np.zeros((GAMES, env.num_actions), bool)
    mask[:, [idle, out]] = True
    mask[::2, good] = True
    chosen = np.asarray(jax.jit(Search(env, slots=16).choose)(PARAMS, states, mask))
    assert (chosen[::2] == good).all() and (chosen[1::2] == out).all()


def test_each_row_may_have_its_own_weights(choose, states):
    odd = dataclasses.replace(Weights(), pass_margin=50.0)
    both = [as_params(odd), PARAMS]
    rows = {k: jnp.stack([both[i % 2][k] for i in range(GAMES)]) for k in PARAMS}
    mask = states.legal_action_mask
    mixed = np.asarray(jax.jit(Search(ENV, slots=16).choose)(rows, states, mask))
    alone = [np.asarray(choose(p, states, mask)) for p in both]
    assert np.array_equal(mixed[::2], alone[0][::2]) and np.array_equal(mixed[1::2], alone[1][1::2])


@pytest.mark.slow
def test_it_beats_random_seats():
    import gaia_jax
    from training.agents import make_agent
    from training.games.engine import Match
    from training.games.seating import one_against_the_rest
    from training.games.stats import wins

    env = gaia_jax.make("lost_fleet", reward="vp")
    agents = [make_agent("greedy", env), make_agent("random", env)]
    results = Match(env, agents, one_against_the_rest(4), setups=8).play(seed=0)
    assert wins(results.vp)[results.entry == 0].mean() > 0.9


def test_there_is_a_weight_for_every_event():
    assert len(Weights().events) == len(ENV.ruleset.ids["event"])
    assert EVENTS_A_ROUND.keys() <= set(ENV.ruleset.ids["event"])
