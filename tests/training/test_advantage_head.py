"""The advantage head: its target on a game with known advantages, and what it learns there."""

import dataclasses
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env
from toy_env import LONGEST, C

from training import config as configs
from training.config import Config, NetworkConfig
from training.learn.advantages import advantages, head_adjusted_advantages, squared_advantages
from training.learn.trainer import Inputs, Trainer
from training.learn.warm_start import fit, widen
from training.networks import advantage_head
from training.networks.planets import Layout, PlanetNetwork
from training.run import plan
from training.system.devices import GAMES

ENV = toy_env.make("toy")
LAYOUT = Layout(ENV.num_actions, ENV.action_planes, C, 4, planet=(0, 1), space=(0,))
NETWORK = NetworkConfig(
    layers=1, cell_width=8, width=16, latents=2, planets=C, neighbors=False, advantage_head=True
)


def rewards_of(game: toy_env.Game) -> np.ndarray:
    """(G, T, A, P), what each action pays at each clock."""
    worth = np.asarray(game.worth, int)[:, :LONGEST]
    decider = np.asarray(game.decider, int)[:, :LONGEST]
    own = np.zeros((*worth.shape[:2], ENV.num_actions))
    own[..., :C], own[..., C : 2 * C] = worth, worth // 2
    out = own[..., None] * (decider[..., None] == np.arange(4))[..., None, :]
    out[..., toy_env.GIVE, :] = (decider[..., None] + 1) % 4 == np.arange(4)
    return out / 100


@pytest.mark.parametrize("gae_lambda", [0.5, 1.0])
def test_the_target_is_the_true_advantage_where_the_head_is_right(gae_lambda: float) -> None:
    """In the toy game no action changes what later ones pay: values and advantages are sums."""
    games, rng = 6, np.random.default_rng(0)
    state = jax.vmap(ENV.init)(jax.random.split(jax.random.key(1), games))
    length = np.asarray(state.game.length, int)
    legal = np.asarray(state.game.legal)[:, :LONGEST]
    pays = rewards_of(state.game)
    runs = (np.arange(LONGEST) < length[:, None])[..., None]  # (G, T, 1)
    expected = (pays * legal[..., None]).sum(2) / legal.sum(-1)[..., None] * runs
    value = np.flip(np.flip(expected, 1).cumsum(1), 1)  # (G, T, P) of a uniform policy
    action = np.array([[rng.choice(np.flatnonzero(row)) for row in rows] for rows in legal])
    step, reward, done = jax.jit(jax.vmap(ENV.step)), [], []
    for t in range(LONGEST):
        state = step(state, jnp.asarray(action[:, t]))
        reward.append(state.rewards * runs[:, t])
        done.append(t >= length - 1)
    true = np.take_along_axis(pays, action[..., None, None], axis=2)[:, :, 0] * runs - expected
    by_step = [np.moveaxis(x, 0, 1).astype(np.float32) for x in (value, true)]
    given = (
        jnp.stack(reward), by_step[0], jnp.zeros((games, 4)), jnp.array(done),
        np.asarray(state.game.decider)[:, :LONGEST].T, gae_lambda,
    )  # fmt: skip
    head_target, target = head_adjusted_advantages(*given, by_step[1])
    assert np.allclose(head_target, by_step[1], atol=1e-6)  # the loss of the head is 0
    assert np.allclose(target, by_step[0], atol=1e-6)  # and so is that of the values
    plain, _ = advantages(*given)
    assert np.abs(plain - by_step[1]).mean() > 0.002  # VP of later decisions, as noise
    none, _ = head_adjusted_advantages(*given, 0 * by_step[1])
    assert np.allclose(none, plain)


def make_network(config: NetworkConfig) -> tuple[PlanetNetwork, dict, SimpleNamespace]:
    """A network, its parameters and what it reads of four toy games."""
    state = jax.vmap(ENV.init)(jax.random.split(jax.random.key(0), 4))
    observation = jax.vmap(ENV.observe)(state, state.current_player)
    network, mask = PlanetNetwork(config, LAYOUT), state.legal_action_mask
    params = jax.jit(network.init)(jax.random.key(0), observation, mask)
    return network, params, network.encode(observation, mask)


def test_a_head_changes_no_logit_and_has_mean_0() -> None:
    network, params, seen = make_network(NETWORK)
    plain = PlanetNetwork(dataclasses.replace(NETWORK, advantage_head=False), LAYOUT)
    assert params.keys() == {"params"}
    logits, values, by_action = jax.jit(partial(advantage_head.outputs, network))(params, seen)
    assert by_action.shape == (4, 4, seen.mask.shape[1])
    config, without = advantage_head.removed(NETWORK, params)
    assert not config.advantage_head and without["params"].keys() < params["params"].keys()
    method = jax.jit(partial(plain.apply, method="logits_and_values"))
    same = method(without, seen)
    assert np.array_equal(logits, same[0]) and np.array_equal(values, same[1])

    actions = jnp.arange(seen.mask.shape[1])
    of_each = jax.vmap(
        lambda action: advantage_head.of_action(by_action, logits, jnp.full(4, action))
    )(actions)
    policy = jax.nn.softmax(logits).T[..., None]
    assert np.allclose((policy * of_each).sum(0), 0, atol=1e-6) and np.abs(of_each).max() > 1e-4

    warm = widen(without, params)  # a warm start from a network without the head
    assert np.array_equal(method({"params": dict(warm["params"], advantage=None)}, seen)[0], logits)
    fitted = fit(params, Config(network=config), without)  # and one into such a network
    jax.tree.map(np.testing.assert_array_equal, fitted, without)


def test_its_error_is_of_decisions_with_a_choice_on_any_number_of_devices() -> None:
    error = np.array([[1.0, 2, 0, -1], [3, 3, 3, 3], [0, 1, 0, 0], [2, 0, 0, 0]], np.float32)
    is_open = np.array([True, False, True, True])
    for devices in (1, 2):
        split = [x.reshape(devices, -1, *x.shape[1:]) for x in (error, is_open)]
        of_devices = jax.vmap(squared_advantages, axis_name=GAMES)(*split)
        assert np.isclose(of_devices.mean(), (6 + 1 + 4) / 3)


@pytest.mark.slow
def test_the_head_learns_what_decisions_pay(config: Config, tmp_path: Path) -> None:
    """After 40 updates it ranks mines and projects by what they pay, on games it has not seen."""
    changes = ["run.updates_per_chunk=20", "ppo.lr=1e-2", "ppo.lr_end=1e-2", "ppo.epochs=2"]
    config = configs.override(config, changes)
    config = dataclasses.replace(config, network=NETWORK)
    env = toy_env.make("toy")
    inputs = Inputs(config, env, toy_env.auto_reset(env), PlanetNetwork(NETWORK, LAYOUT))
    trainer = Trainer(inputs, tmp_path / "run")
    trainer.advance()
    trainer.advance()
    state = jax.vmap(env.init)(jax.random.split(jax.random.key(5), 64))
    observation = jax.vmap(env.observe)(state, state.current_player)
    seen = inputs.network.encode(observation, state.legal_action_mask)
    params = trainer.runner.params
    logits, _, by_action = jax.jit(partial(advantage_head.outputs, inputs.network))(params, seen)
    pays = rewards_of(state.game)[:, 0, : 2 * C].max(-1)  # of mines and projects
    estimated = np.asarray(by_action[:, 0, : 2 * C])
    is_legal = np.asarray(seen.mask)[:, : 2 * C]
    assert np.corrcoef(pays[is_legal], estimated[is_legal])[0, 1] > 0.5  # 0.8 where it was tried


def test_a_plan_counts_the_head(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes, plans = [], []
    for has_head in (False, True):
        network = dataclasses.replace(NETWORK, advantage_head=has_head)
        config = dataclasses.replace(config, network=network)
        inputs = Inputs(config, ENV, toy_env.auto_reset(ENV), PlanetNetwork(network, LAYOUT))
        monkeypatch.setattr(Inputs, "of", lambda *_, inputs=inputs: inputs)
        shapes.append(plan.shapes_of(config, toy_env))
        plans.append(plan.plan_of(config, shapes[-1], 1))
    choices = 4 * C + C + toy_env.OTHERS
    assert [x.head for x in shapes] == [0, 4 * 4 * choices]
    assert shapes[1].residuals > shapes[0].residuals and shapes[1].flops > shapes[0].flops
    decisions = config.ppo.num_envs * config.ppo.num_steps
    assert plans[1].rollout - plans[0].rollout == decisions * 4 * (4 + 4)
    assert plans[1].learning > plans[0].learning and plans[1].playing > plans[0].playing


def test_the_head_needs_tokens_of_planets() -> None:
    with pytest.raises(configs.UserError, match="advantage_head needs network.planets above 0"):
        configs.from_dict({"network": {"advantage_head": True}})
