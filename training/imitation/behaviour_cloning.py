"""Behaviour cloning: teach a network an expert's choices and the values of its games.

Policy: cross entropy to softmax(logits of the candidates / temperature). Values: the remaining
rewards of each seat, without bootstrapping, where the stream contains the game's end. The games are
played again from their keys and actions; a minibatch holds decisions of every game.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..learn.learner_state import Weights, apply_gradients, make_optimizer
from ..networks import sampling
from ..networks.make import init_params
from ..system import data_files, devices
from ..types import AutoEnvironment, Environment, EnvState, Params, PolicyNetwork
from . import expert_data

GAMES = devices.GAMES


def returns_to_go(reward: np.ndarray, done: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Remaining rewards of every seat at each decision, and where the end of the game is known.

    Args:
        reward: (T, N, P). done: (T, N).
    Returns:
        (T, N, P) float32; (T, N) float32, 1 where it is known.
    """
    out = np.zeros(reward.shape, np.float32)
    is_known = np.zeros(done.shape, np.float32)
    later, sure = np.zeros(reward.shape[1:], np.float32), np.zeros(done.shape[1], bool)
    for t in range(len(reward) - 1, -1, -1):
        later = reward[t] + np.where(done[t][:, None], 0, later)
        sure = sure | done[t]
        out[t], is_known[t] = later, sure
    return out, is_known


def read_stream(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The head and the whole stream of a folder, (T, N, ...).

    Raises:
        UserError: it is none, has none yet, or one of its files is damaged.
    """
    about = expert_data.read_about(folder)
    parts: dict[str, list[np.ndarray]] = {}
    for path in sorted(folder.glob("[0-9]*.npz"), key=lambda path: (len(path.stem), path.stem)):
        for name, x in expert_data.read_chunk(path, about["games"]).items():
            parts.setdefault(name, []).append(x)
    if not parts:
        raise UserError(f"{folder} has no labels yet")
    stream = {name: np.concatenate(x) for name, x in parts.items()}
    reward = stream.pop("reward").astype(np.float32)
    stream["target"], stream["known"] = returns_to_go(reward, stream["done"])
    return about, stream


def read_streams(
    folders: Sequence[Path], env: Environment
) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """`read_stream` of each folder.

    Raises:
        UserError: one is of another environment, of another number of games, or a part of another.
    """
    loaded = [read_stream(folder) for folder in folders]
    expected = expert_data.identity_of(env) | {"games": loaded[0][0]["games"], "first": 0}
    for folder, (about, _) in zip(folders, loaded, strict=True):
        data_files.check_same(folder, {key: about.get(key) for key in expected}, expected)
    return loaded


def imitation_loss(
    network: PolicyNetwork, temperature: float, params: Params, batch: Any, value_coef: Array
) -> tuple[Array, dict[str, Array]]:
    """Cross entropy to the labels' choices plus the error of the values, and metrics.

    Args:
        batch: inputs of the network and labels of `replay`, (B, ...).
        value_coef: () float32.
    """
    seen, label = batch
    logits, value = network.apply(params, seen, method="logits_and_values")
    target = jax.nn.softmax(label["values"] / temperature)
    log_probs = jnp.take_along_axis(jax.nn.log_softmax(logits), label["choices"], axis=-1)
    cross = -jnp.sum(target * jnp.where(target > 0, log_probs, 0), axis=-1)
    weight = 1.0 * (seen.mask.sum(-1) > 1)  # a forced decision is no choice
    policy = (cross * weight).sum() / jnp.maximum(weight.sum(), 1.0)
    has_return = label["known"]
    error = 0.5 * jnp.square(value - label["target"]).mean(-1)
    error = (error * has_return).sum() / jnp.maximum(has_return.sum(), 1.0)
    agree = jnp.argmax(logits, -1) == label["choices"][:, 0]
    _, entropy = sampling.log_prob_and_entropy(logits, label["choices"][:, 0])
    return policy + value_coef * error, {
        "loss/policy": policy,
        "loss/value": error,
        "policy/agreement": (agree * weight).sum() / jnp.maximum(weight.sum(), 1.0),
        "policy/entropy": (entropy * weight).sum() / jnp.maximum(weight.sum(), 1.0),
    }


def replay(
    auto: AutoEnvironment,
    network: PolicyNetwork,
    states: EnvState,
    label: Any,
    seed: Array,
    chunk: Array,
) -> tuple[Any, Any, Array]:
    """Play the actions of the labels of this device's games, inside `shard_map`.

    Args:
        states: (N, ...). label: (T, N, ...), T decisions of each. seed, chunk: () int32.
    Returns:
        The states after them; inputs of the network and labels in its index, (T, N, ...);
        () bool, whether the games ended where the labels say.
    """
    local = label["done"].shape[1]
    first = jax.lax.axis_index(GAMES) * local

    def step(state: EnvState, x: tuple[Any, Array]) -> Any:
        row, t = x
        keys = expert_data.step_keys(seed, chunk * expert_data.STEPS + t, first, local)
        keys = jax.vmap(jax.random.split)(keys)
        observation = jax.vmap(auto.observe)(state, state.current_player)
        seats = jax.vmap(auto.seats)(state, state.current_player)
        seen = network.encode(observation, state.legal_action_mask)
        out = {
            "choices": network.to_network_action(seen, row["actions"].astype(jnp.int32)),
            "values": row["values"].astype(jnp.float32),
            "target": jnp.take_along_axis(row["target"], seats, axis=-1),
            "known": row["known"],
        }
        state = jax.vmap(auto.step)(state, row["action"].astype(jnp.int32), keys[:, 1])
        same = (state.terminated == row["done"]).all()
        return state, ((seen, out), same)

    states, (batch, same) = jax.lax.scan(step, states, (label, jnp.arange(expert_data.STEPS)))
    return states, batch, same.all()


def minibatch_steps(chunk: Array, local: int, minibatches: int) -> Array:
    """(minibatches, T / minibatches, N) int32: each game's decisions, in an order of its own."""
    first = jax.lax.axis_index(GAMES) * local
    key = jax.random.fold_in(jax.random.key(1), chunk)
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(local))
    order = jax.vmap(lambda k: jax.random.permutation(k, expert_data.STEPS))(keys)
    return order.T.reshape(minibatches, -1, local)


def make_learner(
    auto: AutoEnvironment,
    network: PolicyNetwork,
    mesh: Mesh,
    games: int,
    minibatches: int,
    temperature: float,
) -> Any:
    """The compiled step: 64 decisions of each game, learnt from once.

    Returns:
        (carry, labels, seed, chunk, rates) -> (carry, metrics); carry is (params, opt_state,
        average, states), rates (learning rate, decay of the average, value coefficient).
    """
    local = games // mesh.size
    optimizer = make_optimizer()
    mean = partial(jax.lax.pmean, axis_name=GAMES)
    loss = partial(imitation_loss, network, temperature)

    def learn(carry: Any, label: Any, seed: Array, chunk: Array, rates: Array) -> Any:
        *fields, states = carry
        states, batch, same = replay(auto, network, states, label, seed, chunk)

        def minibatch(weights: Weights, steps: Array) -> Any:
            steps_batch = jax.tree.map(lambda x: x[steps, np.arange(local)], batch)
            steps_batch = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), steps_batch)
            grads, metrics = jax.grad(loss, has_aux=True)(weights.params, steps_batch, rates[2])
            grads, metrics = devices.mean_in_one((grads, metrics))
            weights, _ = apply_gradients(optimizer, weights, grads, 1.0, rates[0], rates[1])
            return weights, metrics

        weights, metrics = jax.lax.scan(
            minibatch, Weights(*fields), minibatch_steps(chunk, local, minibatches)
        )
        metrics = jax.tree.map(jnp.mean, metrics) | {"same": mean(1.0 * same)}
        return (*weights, states), metrics

    split = P(None, GAMES)
    specs = (P(), P(), P(), P(GAMES))
    mapped = jax.shard_map(
        learn,
        mesh=mesh,
        in_specs=(specs, split, P(), P(), P()),
        out_specs=(specs, P()),
        check_vma=False,
    )
    return jax.jit(mapped, donate_argnums=0)


class CloneConfig(NamedTuple):
    """Hyperparameters of cloning."""

    start: Path | None  # an npz to start from
    passes: int  # over all labels
    minibatches: int  # of a chunk of labels
    temperature: float  # divides the candidates' values
    lr: float  # falls to a tenth at the end
    value_coef: float  # weight of the values in the loss


def clone(
    folders: Sequence[Path],
    config_file: str,
    overrides: Sequence[str],
    hyper: CloneConfig,
    out: Path,
) -> None:
    """Learn from the streams in turn, `hyper.passes` times.

    Args:
        config_file, overrides: the configuration of the network.
        out: an npz; every fourth chunk the averaged parameters so far are written there, and the
            last ones.
    Raises:
        UserError: of `read_streams`; `hyper.start` is of another network.
    """
    config = configs.load(config_file, overrides)
    devices.split_cpu(config.run.cpu_devices, 256)
    env, auto, network = expert_data.game_and_network(config)
    given = data_files.read_parameters(hyper.start) if hyper.start else None
    loaded = read_streams(folders, env)
    games = loaded[0][0]["games"]
    mesh = devices.make_mesh(games)
    params = init_params(env, network, jax.random.key(config.seed))
    if hyper.start:
        shapes = [jax.tree.map(jnp.shape, x) for x in (params, given)]
        if shapes[0] != shapes[1]:
            raise UserError(f"--start: the parameters of {hyper.start} are of another network")
        params = given
    carry: Any = (params, make_optimizer().init(params), jax.tree.map(jnp.copy, params))
    learner = make_learner(auto, network, mesh, games, hyper.minibatches, hyper.temperature)
    # Placed as the learner leaves them: otherwise it compiles once more for each way they lie.
    on_all, split = NamedSharding(mesh, P()), NamedSharding(mesh, P(GAMES))
    carry = jax.device_put(carry, on_all)
    start = jax.jit(lambda seed: expert_data.start(auto, seed, games), out_shardings=split)
    total = hyper.passes * sum(len(x["done"]) // expert_data.STEPS for _, x in loaded)
    done, start_time = 0, time.time()
    for about, stream in loaded * hyper.passes:
        states = start(about["seed"])
        seed = jnp.int32(about["seed"])
        for chunk, label in enumerate(_chunks(stream, config.ppo.reward_scale)):
            rate = hyper.lr * (1 - 0.9 * done / total)
            rates = jnp.array([rate, min(0.99, done / (done + 1)), hyper.value_coef])
            carry, metrics = learner((*carry, states), label, seed, jnp.int32(chunk), rates)
            *carry, states = carry
            done += 1
            if done % 4 == 1 or done == total:
                rounded = {k: round(float(v), 4) for k, v in metrics.items()}
                print(f"{done}/{total} {time.time() - start_time:.0f} s {rounded}", flush=True)
                if rounded["same"] != 1.0:
                    raise UserError("the games of the labels cannot be played again: other rules")
                write(out, carry[2])


def _chunks(stream: dict[str, np.ndarray], reward_scale: float) -> Iterator[dict[str, np.ndarray]]:
    """The labels of a stream chunk by chunk, (STEPS, N, ...) each."""
    for chunk in range(len(stream["done"]) // expert_data.STEPS):
        rows = slice(chunk * expert_data.STEPS, (chunk + 1) * expert_data.STEPS)
        label = {k: stream[k][rows] for k in ("action", "actions", "values", "done", "known")}
        label["target"] = stream["target"][rows] * reward_scale
        yield label


def write(path: Path, params: Params) -> None:
    """Parameters as an npz under just this name, whole or not at all."""
    data_files.write_arrays(path, data_files.flatten(params))
