"""Games side by side on two devices: the same games as on one."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
import toy_env

from training.agents import Agent, policy_agent, random_agent
from training.config import NetworkConfig
from training.devices import LEAST_GAMES
from training.lockstep import mesh_of
from training.match import Match, one_against_three
from training.network import make_network

HERE = Path(__file__).parent
SETUPS = 40  # in batches of 32 and 8: the second is played whole, and half of it is kept


def play():
    """What two agents that draw by game get: arrays by name."""
    env = toy_env.make("toy")
    network = make_network(env, NetworkConfig(layers=0, cell_width=8, width=8, mixing="flat"))
    state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 2))
    observation = jax.vmap(env.observe)(state, state.current_player)
    params = jax.jit(network.init)(jax.random.key(1), observation, state.legal_action_mask)
    agents = [policy_agent(env, network, params, "policy"), random_agent(env)]
    match = Match(env, agents, one_against_three(), SETUPS, games_at_once=4 * 32)
    match.compile()
    return match.play(seed=7).arrays()


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The same on two devices."""
    file = tmp_path_factory.mktemp("lockstep") / "two.npz"
    code = f"""
import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1])!r}]
import jax, numpy as np, test_lockstep
from training.lockstep import mesh_of
assert jax.device_count() == 2
assert mesh_of([], 32, 4).size == 2
np.savez({str(file)!r}, **test_lockstep.play())
"""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run([sys.executable, "-c", code], env=os.environ | flags, check=True)
    return file


def test_two_devices_play_the_games_that_one_plays(elsewhere):
    one, two = play(), np.load(elsewhere)
    assert set(one) == set(two)
    for name, array in one.items():
        np.testing.assert_array_equal(array, two[name], err_msg=name)
    assert len(one["vp"]) == SETUPS and len(np.unique(one["vp"])) > 10


class Several:
    """Stands in for `jax` where it is asked how many devices there are."""

    def __init__(self, devices, processes=1):
        self.device_count, self.process_count = lambda: devices, lambda: processes


def test_devices_share_what_can_be_shared(monkeypatch):
    def shared(devices, setups, agents=(), processes=1):
        monkeypatch.setattr("training.lockstep.jax", Several(devices, processes))
        monkeypatch.setattr("training.lockstep.make_mesh", lambda setups: "all")
        return mesh_of(list(agents), setups, 4) is not None

    least = LEAST_GAMES // 4  # set-ups of a device
    assert shared(2, 2 * least)
    assert not shared(1, 2 * least)
    assert not shared(2, 2 * least - 2)  # too few
    assert not shared(2, 2 * least + 1)  # not in equal shares
    assert not shared(2, 2 * least, processes=2)  # each process plays its own
    env = toy_env.make("toy")
    assert shared(2, 2 * least, [random_agent(env)])
    own = Agent("draws for the whole batch", lambda params, state, mask, key: mask.argmax(-1))
    assert not shared(2, 2 * least, [random_agent(env), own])
