"""Prices of a mine in int8: what must not run over (MIN-09, MIN-10, INI-09)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.rules import mine
from gaia_jax.rules.operation import operation
from gaia_jax.rules.player import GAIA, player_row
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import FactionRow


@pytest.mark.parametrize(
    "ruleset",
    [pytest.param("base", marks=pytest.mark.slow), "lost_fleet_published", "lost_fleet"],
)
def test_min_10_without_ore_the_gleens_cannot_pay_for_a_gaia_planet_however_far(ruleset):
    rules = gaia_jax.RULESETS[ruleset]
    env = gaia_jax.make(ruleset)
    game = env.init(jax.random.PRNGKey(0)).game
    me = player_row(game, jnp.int32(0)).replace(ore=1, qic=100, credits=30)
    number = [x.id for x in rules.factions].index("GLEENS")
    gleens = FactionRow.of(rules, jnp.int32(number))
    seat = Seat(rules, game, jnp.int32(0), gleens, me)
    distance = np.arange(1, mine.UNREACHABLE + 1, dtype=np.int8)
    no = np.zeros(len(distance), bool)
    sites = mine.Site(
        planet=np.full(len(distance), GAIA, np.int8),
        distance=distance,
        steps=np.zeros(len(distance), np.int8),
        open=~no,
        own_gaia=no,
        guest=no,
    )
    op = operation(rules, rules.operation_index["mine"])

    def payable(ore):
        return np.asarray(mine.affordable(seat.with_row(me.replace(ore=ore)), sites, op))

    qic = np.maximum(distance.astype(int) - int(mine.basic_range(rules, me)), 0) + 1 >> 1
    assert (payable(2) == (qic <= 100)).all()  # one ore for the mine, one for the planet
    # One ore is enough for the mine alone: QIC pays for the planet in the house rules only.
    instead = ruleset == "lost_fleet"
    assert (payable(1) == (instead & (qic + 1 <= 100))).all()


@pytest.mark.parametrize("ruleset", ["base", "lost_fleet_published", "lost_fleet"])
def test_ini_09_two_bits_a_planet_hold_the_steps_of_every_faction(ruleset):
    env = gaia_jax.make(ruleset)
    deal = jax.jit(jax.vmap(lambda key: env.deal(env.draw_setup(key)).steps))
    steps = np.asarray(deal(jax.random.split(jax.random.PRNGKey(1), 64))).reshape(-1, 14)
    planet = np.arange(steps.shape[1], dtype=np.int8)
    got = jax.vmap(mine.steps_to, (0, None))(jnp.asarray(steps), planet)
    np.testing.assert_array_equal(got, steps)
    assert steps.min() == 0 and steps.max() == 3
