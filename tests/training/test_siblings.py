"""The sibling table: which moves are compared, and how exact a correlation is."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.cli.command_line import UserError
from tests.stub_env import StubEnv
from tools import sibling_table
from tools.sibling_table import Siblings, correlation, estimates, interval, likely_pairs
from training.agents import Agent
from training.agents.base import LESS_OPPONENTS, Policy


class States(NamedTuple):
    """What is read of three positions."""

    current_player: np.ndarray
    legal_action_mask: np.ndarray


def test_likely_moves_are_compared_with_the_likeliest_one() -> None:
    probabilities = np.array([
        [0.5, 0.3, 0.198, 0.002, 0.0],  # the fourth one is too unlikely
        [0.0, 0.001, 0.999, 0.0, 0.0],  # nothing to compare
        [0.2, 0.25, 0.19, 0.18, 0.18],  # five moves, four are compared
    ])  # fmt: skip
    logits = jnp.log(jnp.asarray(probabilities) + 1e-9)
    states = States(np.array([2, 0, 1]), probabilities > 0)
    policy = Policy(lambda params, states: (logits, logits))
    agent = Agent("a", lambda *_: jnp.zeros(3, int), policy=policy)
    pairs = likely_pairs(agent, states)  # type: ignore[arg-type]
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == [
        (0, 2, 1, 0), (0, 2, 2, 0), (2, 1, 0, 1), (2, 1, 2, 1), (2, 1, 3, 1),
    ]  # fmt: skip


class AllLegal(StubEnv):
    """Every action is legal; action a pays a % 3 VP."""

    def legal_mask(self, game: Any) -> Any:
        return jnp.ones(self.num_actions, bool)


@pytest.mark.parametrize("reward", ["margin", "vp"])
def test_the_value_after_a_move_has_the_vp_that_the_move_pays(
    reward: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two VP for action 2, one for action 1, and a network that expects nothing more."""
    env = AllLegal(reward=reward)
    states = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 1))
    seat = np.asarray(states.current_player)
    siblings = Siblings(np.zeros(1, int), seat, np.array([2]), np.array([1]))
    policy = Policy(lambda params, states: (jnp.zeros((1, 3)), jnp.zeros((1, 4))))
    network = SimpleNamespace(config=SimpleNamespace(advantage_head=False))
    monkeypatch.setattr(sibling_table, "trained", lambda *_: SimpleNamespace(network=network))

    def use(policy: Policy) -> None:
        agent = Agent("a", lambda *_: jnp.zeros(1, int), policy=policy)
        monkeypatch.setattr(sibling_table, "make_agent", lambda *_: agent)

    use(policy)
    value = estimates("a", env, states, siblings)["value after the move"]
    np.testing.assert_allclose(value, [1], atol=1e-5)
    use(policy._replace(reward=LESS_OPPONENTS))
    with pytest.raises(UserError, match="agent 'a': no game pays the reward of its values"):
        estimates("a", env, states, siblings)


def test_the_interval_has_the_spread_of_independent_positions() -> None:
    """Each position twice: the interval is that of half as many pairs."""
    rng = np.random.default_rng(3)
    ends = rng.normal(size=400)
    estimate = 0.5 * ends + rng.normal(size=400)
    low, high = interval(estimate, ends, np.arange(400))
    assert low < correlation(estimate, ends) < high and 0.12 < high - low < 0.2
    twice = np.repeat(np.arange(400), 2)
    again = interval(np.repeat(estimate, 2), np.repeat(ends, 2), twice)
    assert np.allclose(again, (low, high), atol=1e-6)
    assert correlation(np.zeros(4), np.arange(4.0)) == 0
