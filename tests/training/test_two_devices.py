"""Games side by side on two devices: the same games as on one."""

import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
import toy_env
from seatings import ONE_AGAINST_THREE

from tests.xla_flags import on_devices
from training.agents import Agent, policy_agent, random_agent
from training.config import NetworkConfig
from training.games.engine import Match, batch_sizes, mesh_of
from training.networks.make import make_network
from training.system.devices import LEAST_GAMES, split_cpu

HERE = Path(__file__).parent
SETUPS = 65  # two batches of 33, on two devices of 34: each is played whole, and 65 are kept


def play(devices, folder):
    """Write what two agents that draw by game get, arrays by name."""
    env = toy_env.make("toy")
    network = make_network(env, NetworkConfig(layers=0, cell_width=8, width=8, mixing="flat"))
    state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 2))
    observation = jax.vmap(env.observe)(state, state.current_player)
    params = jax.jit(network.init)(jax.random.key(1), observation, state.legal_action_mask)
    agents = [policy_agent(env, network, params, "policy"), random_agent(env)]
    match = Match(
        env,
        agents,
        ONE_AGAINST_THREE,
        range(3, 3 + SETUPS),
        games_at_once=4 * 34,
    )
    assert jax.device_count() == devices
    mesh = mesh_of(agents, match.at_once, 4)
    assert (1 if mesh is None else mesh.size) == devices
    match.compile(placed := jax.device_put([params, ()], jax.devices()[0]))
    rows = match.play(7, placed).rows()
    np.savez(
        folder / f"{devices}.npz", **{name: x for name, x in rows.items() if name != "seconds"}
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The same match on one device and on two."""
    folder = tmp_path_factory.mktemp("lockstep")
    running = []
    for devices in (1, 2):
        code = f"""
import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1])!r}]
from pathlib import Path
import test_two_devices
test_two_devices.play({devices}, Path({str(folder)!r}))
"""
        running.append(subprocess.Popen([sys.executable, "-c", code], env=on_devices(devices)))
    assert [process.wait() for process in running] == [0, 0]
    return [np.load(folder / f"{devices}.npz") for devices in (1, 2)]


@pytest.mark.slow
def test_two_devices_play_the_games_that_one_plays(played):
    single, two = played
    assert set(single) == set(two)
    for name in single:
        np.testing.assert_array_equal(single[name], two[name], err_msg=name)
    assert len(single["vp"]) == SETUPS and len(np.unique(single["vp"])) > 10


class Several:
    """Replaces `jax` where the number of devices is read."""

    def __init__(self, devices, processes=1):
        self.device_count, self.process_count = lambda: devices, lambda: processes


def test_devices_share_what_can_be_shared(monkeypatch):
    def shared(devices, setups, agents=(), processes=1):
        monkeypatch.setattr("training.games.engine.jax", Several(devices, processes))
        monkeypatch.setattr("training.games.engine.first_devices", lambda count: count)
        return mesh_of(list(agents), setups, 4)

    least = LEAST_GAMES // 4  # set-ups of a device
    assert shared(2, 2 * least) == 2
    assert shared(1, 2 * least) is None
    assert shared(2, 2 * least - 2) is None  # too few
    assert shared(2, 2 * least + 1) is None  # not in equal shares
    assert shared(8, 6 * least) == 6  # not of eight, but of six
    assert shared(2, 2 * least, processes=2) is None  # each process plays its own
    env = toy_env.make("toy")
    assert shared(2, 2 * least, [random_agent(env)]) == 2
    own = Agent("draws for the whole batch", lambda params, state, mask, key: mask.argmax(-1))
    assert shared(2, 2 * least, [random_agent(env), own]) is None


@pytest.mark.parametrize(
    ("setups", "games_at_once", "devices", "sizes"),
    [
        (101, 1024, 2, (101, 102)),  # a prime number, and both devices play
        (275, 1024, 1, (138, 138)),  # two equal batches, not 256 and 19
        (1024, 1024, 3, (256, 258)),
        (101, 128, 2, (32, 32)),  # smaller batches would leave a device without games
        (5, 1024, 8, (5, 5)),
        (275, 1024, None, (256, 256)),  # an agent draws for the whole batch
    ],
)
def test_batches_are_equal_and_have_equal_shares(setups, games_at_once, devices, sizes):
    assert batch_sizes(setups, 4, games_at_once, devices) == sizes


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("setups", [1, 16, 32, 42, 64, 75, 256, 341])
def test_a_cpu_is_split_into_as_many_devices_as_share_the_set_ups(players, setups, monkeypatch):
    expected = {}
    monkeypatch.setattr("training.system.devices.jax.config.update", expected.__setitem__)
    monkeypatch.setattr("training.system.devices.os.sched_getaffinity", lambda process: range(8))
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    split_cpu(0, players * setups, players)
    count = expected.get("jax_num_cpu_devices", 1)
    monkeypatch.setattr("training.games.engine.jax", Several(count))
    monkeypatch.setattr("training.games.engine.first_devices", lambda count: count)
    assert (mesh_of([], setups, players) or 1) == count
