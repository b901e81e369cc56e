"""Score features: what the network reads of a player's worth is what the rules count."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.rules import income, scoring
from gaia_jax.rules.player import counts
from gaia_jax.ruleset import FactionRow
from tests.trees import take_row
from training.config import NetworkConfig
from training.networks.make import make_network
from training.networks.score_features import ScoreFeatures


def by_the_rules(env, game):
    """(P, F), the same columns from the state by the functions of the rules."""
    rules, players = env.ruleset, game.players.edit()
    values = scoring.final_values(rules, game)
    out = []
    for mission in np.sort(np.asarray(game.setup.final_missions)):
        value = np.asarray(values[mission])
        lead = [value[p] - np.delete(value, p).max() for p in range(len(value))]
        out += [value, np.asarray(scoring.prizes(rules, values[mission], mission)), lead]
    ended = scoring.final_score(rules, game)
    source, kinds = ended.vp_source - game.players.vp_source, list(rules.ids["vp_source"])
    for name in ("FINAL_1", "FINAL_2"):  # a second derivation of the prizes above
        assert source[:, kinds.index(name)].tolist() in [out[1].tolist(), out[4].tolist()]
    out += [source[:, kinds.index("RESEARCH_END")], source[:, kinds.index("RESOURCES")]]
    passing, incomes = [], []
    for p in range(env.num_players):
        me = take_row(players, p)
        pays = scoring.pass_vp(rules, me, counts(rules, me))
        stored = int(game.players.booster[p]) >= 0  # else the rules' index of none, -1, is the last
        vp = int(pays["BOOSTER"]) * stored + int(pays["ADVANCED_TILE"])
        passing.append(0 if int(game.turn.passed[p]) else vp)
        row = FactionRow.of(rules, game.setup.faction[p].astype(jnp.int32))
        parts = income.parts(rules, row, me, game.setup.economy_side)
        parts["booster"] = parts["booster"] * stored
        incomes.append(np.asarray(sum(parts.values())))
    return np.concatenate([np.stack([*out, passing], -1), incomes], axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["new_games", "games_under_way", "ended_games"])
def test_they_are_what_the_rules_count(env, stage, request):
    """All 16 games of a fixture, seen by every seat in turn."""
    states = request.getfixturevalue(stage)
    score_features = ScoreFeatures.of(env)
    viewer = jnp.arange(16, dtype=jnp.int32) % 4
    seen = jax.jit(jax.vmap(env.observe))(states, viewer)
    seats = np.asarray(jax.vmap(env.seats)(states, viewer))
    worth = np.asarray(jax.jit(score_features.features)(seen.cells, seen.players, seen.globals))
    assert worth.shape == (16, 4, len(score_features.names()))
    for number in range(16):
        game = take_row(states.game, number)
        expected = by_the_rules(env, game)[seats[number]]
        np.testing.assert_array_equal(worth[number], expected, str(score_features.names()))


def test_other_rulesets_have_them_too():
    """Traced, not run: columns that a ruleset lacks are not asked for."""
    for id, players in (("base", 4), ("lost_fleet_published", 4)):
        env = gaia_jax.make(id, players=players)
        state = jax.eval_shape(env.init, jax.random.key(0))
        seen = jax.eval_shape(lambda s, e=env: e.observe(s, 0), state)
        batch = jax.tree.map(lambda x: jax.ShapeDtypeStruct((3, *x.shape), x.dtype), seen)
        score_features = ScoreFeatures.of(env)
        worth = jax.eval_shape(score_features.features, batch.cells, batch.players, batch.globals)
        assert worth.shape == (3, players, len(score_features.names()))


def test_the_neutral_player_of_two_may_lead():
    """It takes a rank in every mission (PLA-06), so a lead is one over it too."""
    env = gaia_jax.make("base", players=2)
    score_features = ScoreFeatures.of(env)
    state = replay.compiled(env)[0](gaia_jax.first_game(2))
    seen = jax.jit(lambda s: jax.tree.map(lambda x: x[None], env.observe(s, 0)))(state)
    worth = np.asarray(jax.jit(score_features.features)(seen.cells, seen.players, seen.globals))[0]
    assert worth.shape == (2, len(score_features.names()))
    at = score_features.names().index
    neutral = [env.ruleset.neutral_player[name] for name in env.ruleset.final_missions]
    missions = np.sort(np.asarray(state.game.setup.final_missions))
    for number, mission in enumerate(missions, 1):
        count = worth[:, at(f"mission.{number}.count")]
        lead = worth[:, at(f"mission.{number}.lead")]
        best = np.maximum(count[::-1], neutral[mission])
        np.testing.assert_array_equal(lead, count - best)
        assert neutral[mission] > count.max() and (lead < 0).all()  # at the start it leads


def test_a_network_reads_them_and_only_one_of_planets_can(env, new_games):
    config = NetworkConfig(
        layers=1, cell_width=8, width=8, latents=2, planets=88, neighbors=False, score_features=True
    )
    network, extra = make_network(env, config), len(ScoreFeatures.of(env).names())
    seen = jax.eval_shape(
        lambda s: network.encode(jax.vmap(env.observe)(s, s.current_player), s.legal_action_mask),
        new_games,
    )
    assert seen.players.shape[-1] == len(env.observation_spec.players) + extra
    with pytest.raises(UserError, match=r"network\.score_features needs network\.planets"):
        from training import config as configs

        configs.from_dict({"network": dataclasses.asdict(config) | {"planets": 0}})
