"""The scripted player: what it plays is legal, the same each time, and takes points."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from seatings import ONE_AGAINST_THREE

from gaia_jax.rules import scoring
from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.state import Node
from tests import stub_env
from training.agents.greedy import GreedySearch, Weights, as_params
from training.agents.greedy.tables import make_tables
from training.agents.greedy.value import value
from training.agents.greedy.weights import EVENTS_A_ROUND, view

ENV = stub_env.StubEnv(length=6)
PARAMS = as_params(Weights())
GAMES = 8


@pytest.fixture(scope="module")
def choose():
    return jax.jit(GreedySearch(ENV, slots=16).choose)


@pytest.fixture(scope="module")
def states():
    return jax.vmap(ENV.init)(jax.random.split(jax.random.key(0), GAMES))


@pytest.mark.slow
def test_it_plays_legal_actions_the_same_ones_each_time(choose, states):
    mask = np.zeros((GAMES, ENV.num_actions), bool)
    rng = np.random.default_rng(1)
    for row in range(GAMES):  # from one legal action to all actions of the stub
        subset = rng.choice(np.flatnonzero(states.legal_action_mask[row]), row * row + 1)
        mask[row, subset] = True
    first = np.asarray(choose(PARAMS, states, mask))
    assert mask[np.arange(GAMES), first].all()
    assert np.array_equal(first, choose(PARAMS, states, mask))


@pytest.mark.slow
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
    chosen = np.asarray(jax.jit(GreedySearch(env, slots=16).choose)(PARAMS, states, mask))
    assert (chosen[::2] == good).all() and (chosen[1::2] == out).all()


@pytest.mark.slow
def test_it_beats_random_seats():
    import gaia_jax
    from training.agents import make_agent
    from training.games.engine import Match
    from training.games.stats import wins

    env = gaia_jax.make("lost_fleet", reward="vp")
    agents = [make_agent("greedy", env), make_agent("random", env)]
    results = Match(env, agents, ONE_AGAINST_THREE, setups=8).play(seed=0)
    assert wins(results.vp)[results.entry == 0].mean() > 0.9


@pytest.mark.slow
def test_it_takes_stations_of_the_hives_for_satellites():
    """The rules of `lost_fleet` do not (FIN-07); its older games replay unchanged."""
    rules = LOST_FLEET
    assert not rules.stations_count_as_satellites
    game = stub_env.one_game()
    mission = np.full_like(game.setup.final_missions, rules.final_missions.index("SATELLITES"))
    game = game.replace(setup=game.setup.replace(final_missions=mission))
    tables, weights = make_tables(ENV), view(PARAMS)

    def worth(stations):
        players = game.players.replace(stations=np.int8([stations, 0, 0, 0]))
        return float(value(tables, weights, game.replace(players=players), jnp.int32(0)))

    assert worth(3) > worth(0)
    assert np.array_equal(
        scoring.final_values(rules, game),
        scoring.final_values(
            rules, game.replace(players=game.players.replace(stations=np.int8([3, 0, 0, 0])))
        ),
    )


def test_there_is_a_weight_for_every_event():
    assert len(Weights().events) == len(ENV.ruleset.ids["event"])
    assert EVENTS_A_ROUND.keys() <= set(ENV.ruleset.ids["event"])
