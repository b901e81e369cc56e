"""Advantages against a plain reference; an update on two devices against one."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from tests.xla_flags import on_devices
from training import config as configs
from training.learn.advantages import advantages
from training.learn.ppo import Learner, minibatch_rows
from training.system.devices import first_devices

HERE = Path(__file__).resolve().parent


def reference(reward, value, last_value, done, player, gae_lambda):
    """One game, one seat after the other, over that seat's own decisions only.

    reward, value (T, 4), last_value (4,), done, player (T,) -> {(t, seat): advantage} of deciders.
    """
    steps, out = len(done), {}
    for seat in range(4):
        own = [t for t in range(steps) if player[t] == seat]
        for start, first in enumerate(own):
            # Residuals from this decision on, each over the stretch to the seat's next decision.
            advantage, weight = 0.0, 1.0
            for current, after in zip(own[start:], [*own[start + 1 :], None], strict=True):
                stretch = range(current, steps if after is None else after)
                ends = [t for t in stretch if done[t]]
                if ends:
                    gained = sum(reward[t][seat] for t in range(current, ends[0] + 1))
                    advantage += weight * (gained - value[current][seat])
                    break
                gained = sum(reward[t][seat] for t in stretch)
                later = last_value[seat] if after is None else value[after][seat]
                advantage += weight * (gained + later - value[current][seat])
                weight *= gae_lambda
            out[first, seat] = advantage
    return out


@pytest.mark.parametrize("gae_lambda", [0.0, 0.8, 1.0])
def test_advantages_are_those_of_each_seat_over_its_own_decisions(gae_lambda):
    rng = np.random.default_rng(0)
    steps, games = 40, 5
    reward = rng.normal(size=(steps, games, 4))
    value = rng.normal(size=(steps, games, 4))
    last = rng.normal(size=(games, 4))
    done = rng.random((steps, games)) < 0.1
    done[-1, 0] = True  # a game that ends with the rollout
    player = rng.integers(0, 4, (steps, games))
    player[:, 1] %= 3  # a seat that never decides
    arrays = [jnp.asarray(x, jnp.float32) for x in (reward, value, last)]
    advantage, target = advantages(*arrays, jnp.asarray(done), jnp.asarray(player), gae_lambda)
    assert np.allclose(target, advantage + arrays[1], atol=1e-6)
    for game in range(games):
        expected = reference(
            reward[:, game], value[:, game], last[game], done[:, game], player[:, game], gae_lambda
        )
        assert len(expected) == steps
        for (t, seat), x in expected.items():
            assert np.isclose(advantage[t, game, seat], x, atol=1e-4), (t, game, seat)


@pytest.mark.parametrize("blocks", [1, 3])
def test_an_epoch_has_each_kept_decision_in_one_minibatch_of_one_block(config, blocks):
    games, minibatches, num_kept = 12, 6, 12
    ppo = dataclasses.replace(
        config.ppo, num_envs=games, minibatches=minibatches, game_blocks=blocks
    )
    learner = Learner(None, ppo, config.recipe, None, None, None, share=games)
    rows = (
        3 * jnp.arange(num_kept)[:, None] + jnp.arange(games) % 3
    )  # every game keeps its own steps

    def of_device(key):
        return minibatch_rows(learner, rows, key)

    mesh = first_devices(1)
    mapped = jax.shard_map(of_device, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
    steps, numbers = jax.device_get(jax.jit(mapped)(jax.random.key(0)))
    assert steps.shape == (minibatches, num_kept * blocks // minibatches, games // blocks)
    numbers = np.broadcast_to(numbers, steps.shape)
    assert all(len(np.unique(x % blocks)) == 1 for x in numbers)
    seen = sorted(zip(steps.ravel(), numbers.ravel(), strict=True))
    assert seen == sorted((rows[i, game], game) for i in range(num_kept) for game in range(games))
    other = jax.device_get(jax.jit(mapped)(jax.random.key(1)))
    assert not np.array_equal(other[0], steps)


@pytest.mark.slow
@pytest.mark.parametrize(("devices", "blocks"), [(2, 1), (8, 1), (2, 2)])
def test_more_devices_make_the_same_update_as_one(config, make_trainer, tmp_path, devices, blocks):
    """Random numbers and blocks belong to a game: only rounding differs."""
    small = ["network.layers=0", "ppo.epochs=1", "run.updates_per_chunk=1"]
    small += [f"ppo.minibatches={2 * blocks}", f"ppo.game_blocks={blocks}"]
    code = f"""
import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parents[1])!r}]
import jax, numpy as np, conftest, toy_env
from pathlib import Path
from training import config as configs
from training.learn.trainer import Inputs, Trainer
assert jax.device_count() == {devices}
config = configs.override(configs.from_dict(conftest.TINY), {small!r})
trainer = Trainer(Inputs.of(config, toy_env), Path({str(tmp_path / "two")!r}))
trainer.advance()
np.savez({str(tmp_path / "two.npz")!r}, *jax.tree.leaves(trainer.runner.params))
"""
    other = subprocess.Popen([sys.executable, "-c", code], env=on_devices(devices))
    one_device = make_trainer("one", config=configs.override(config, small))
    start = jax.device_get(one_device.runner.params)
    one_device.advance()
    assert other.wait() == 0
    two = np.load(tmp_path / "two.npz")
    actual = jax.device_get(one_device.runner.params)
    leaves = zip(jax.tree.leaves(start), jax.tree.leaves(actual), two.values(), strict=True)
    for before, after, expected in leaves:
        assert np.allclose(after, expected, atol=1e-5)
        assert not np.allclose(before, after, atol=1e-4)


@pytest.mark.parametrize(("requested", "games", "devices"), [(0, 63, 1), (3, 256, 3)])
def test_a_cpu_is_split_as_asked_and_only_where_each_share_pays(requested, games, devices):
    code = f"""
from training.system import devices
devices.split_cpu({requested}, {games})
import jax
print(jax.device_count())
"""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(HERE.parents[1])}
    run = [sys.executable, "-c", code]
    out = subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout
    assert int(out) == devices
