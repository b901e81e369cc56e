"""Games in slots that refill are those of a match."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests import stub_env
from training.agents import base
from training.games.engine import Match
from training.games.table import rotated


class Uneven(stub_env.StubEnv):
    """Games of 5 to 40 decisions, by the rotation of the first sector."""

    def _play(self, game, action, active):
        after = super()._play(game, action, active)
        turn = after.turn
        end = turn.setup_done >= 5 + 7 * game.setup.sector_rotation[0]
        node = jnp.where(active & end, stub_env.Node.ENDED, turn.node)
        return after.replace(turn=turn.replace(node=node))


@pytest.mark.slow
def test_slots_play_the_games_of_a_match():
    """32 uneven games in 5 slots, where one ends the next begins. About 12 s."""
    env = Uneven(length=99)
    illegal = base.Agent("illegal", lambda params, state, mask, key: jnp.zeros(len(mask), int))
    random = base.random_agent(env)
    agents = [random, random, illegal, random]
    match = Match(env, agents, rotated(4), range(8, 16), moves=True).play_batch(7, 8)
    slots = Match(env, agents, rotated(4), 8, slots=5, moves=True).play_batch(7, 8)
    assert len(set(match.decisions.flat)) > 2 and match.illegal.sum() > 0
    for name, expected in match.rows().items():
        if name != "seconds":
            np.testing.assert_array_equal(slots.rows()[name], expected, err_msg=name)
    for game, count in np.ndenumerate(match.decisions):
        assert slots.actions[game][:count].tolist() == match.actions[game][:count].tolist()
    jax.tree.map(np.testing.assert_array_equal, slots.setups, match.setups)
