"""Self-play PPO: the games, the network and its updates in one compiled chunk.

N is the number of games side by side, T the decisions of each between two updates, P the seats.
Everything of `make_chunk` runs once per device on that device's share of the games (`shard_map`);
only gradients and means cross devices. Random numbers belong to a game, not to a device, and each
minibatch holds decisions of every game: the number of devices changes nothing but the rounding.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from training.config import Config, PPOConfig
from training.learn import exploring_starts
from training.learn.advantages import advantages, less_of_others
from training.learn.learner_state import Hyper, Runner, make_optimizer, sharding
from training.learn.metrics import Diagnostics
from training.networks import sampling
from training.networks.layers import Network
from training.system.batched import batched
from training.system.devices import GAMES, mean_in_one


class Transition(NamedTuple):
    """One decision of each game; T comes first once the rollout is done."""

    seen: Any  # what the network reads, `Network.view`
    seats: Array  # (N, P) int8, which player each row of the observation is; column 0 decides
    choice: Array  # (N,) int32, in the network's index of actions
    log_prob: Array  # (N,) float32
    value: Array  # (N, P) float32, by player
    reward: Array  # (N, P) float32, by player
    done: Array  # (N,) bool, the game ended with this decision
    open: Array  # (N,) bool, there was something to choose


def make_chunk(auto: Any, network: Network, config: Config, mesh: Mesh) -> jax.stages.Wrapped:
    """The compiled step of training: U = `updates_per_chunk` updates.

    Returns:
        Runner -> (Runner, metrics by name, each (U,)).
    """
    ppo = config.ppo
    optimizer = make_optimizer()
    diagnostics = Diagnostics(auto)
    local_envs = ppo.num_envs // mesh.size
    mean = partial(jax.lax.pmean, axis_name=GAMES)
    total = partial(jax.lax.psum, axis_name=GAMES)
    games = batched(auto)

    def _game_keys(key: Array) -> Array:
        """One key for each game of this device."""
        first = jax.lax.axis_index(GAMES) * local_envs
        return jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(local_envs))

    def _apply(params: Any, seen: Any) -> tuple[Array, Array]:
        out: Any = network.apply(params, seen, method="judge")
        return out

    def _look(params: Any, state: Any) -> tuple[Any, Array, Array, Array]:
        """What the network reads, seats (N, P), logits (N, W), values by player (N, P)."""
        observation = games.observe(state, state.current_player)
        seats = games.seats(state, state.current_player)
        seen: Any = network.view(observation, state.legal_action_mask)
        logits, values = _apply(params, seen)
        by_player = jnp.take_along_axis(values, jnp.argsort(seats, axis=-1), axis=-1)
        return seen, seats.astype(jnp.int8), logits, by_player

    def _env_step(
        params: Any, state: Any, key: Array
    ) -> tuple[Any, tuple[Transition, Any, dict[str, Array]]]:
        keys = jax.vmap(jax.random.split)(_game_keys(key))
        seen, seats, logits, value = _look(params, state)
        # Counted here: of a whole rollout the masks would be copied as int32.
        open_ = seen.mask.sum(-1) > 1
        choice = sampling.sample(logits, seen.mask, jax.vmap(jax.random.uniform)(keys[:, 0]))
        log_prob, _ = sampling.log_prob_and_entropy(logits, choice)
        action = network.to_action(seen, choice)
        before, state = state, games.step(state, action, keys[:, 1])
        seen_doing = diagnostics.step(before, action, state)
        done = state.terminated | state.truncated
        if ppo.riches:
            seen_doing |= exploring_starts.counts(before, done, state.final_vp, ppo.riches)
        reward = less_of_others(state.rewards, ppo.opponents) * ppo.reward_scale
        transition = Transition(seen, seats, choice, log_prob, value, reward, done, open_)
        return state, (transition, state.final_vp, seen_doing)

    def _loss(
        params: Any, batch: tuple[Transition, Array, Array], runner: Runner
    ) -> tuple[Array, dict[str, Array]]:
        """
        Args:
            batch: decisions, their advantages and value targets.
            runner: of the start of the update.
        """
        hyper: Hyper = runner.hyper
        old, advantage, target = batch
        logits, value = _apply(params, old.seen)
        log_prob, entropy = sampling.log_prob_and_entropy(logits, old.choice)
        log_ratio = log_prob - old.log_prob
        ratio = jnp.exp(log_ratio)
        clipped = jnp.clip(ratio, 1 - hyper.clip, 1 + hyper.clip)
        policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = 0.5 * jnp.square(value - target).mean()
        entropy = entropy.mean()
        bonus = hyper.between("entropy_coef", "entropy_end", runner.update)
        loss = policy_loss + hyper.value_coef * value_loss - bonus * entropy
        return loss, {
            "loss/policy": policy_loss,
            "loss/value": value_loss,
            "policy/entropy": entropy,
            "policy/kl": ((ratio - 1) - log_ratio).mean(),
            "policy/clipped": (1.0 * (jnp.abs(ratio - 1) > hyper.clip)).mean(),
        }

    def _update_minibatch(
        carry: tuple[Any, Any, Any], batch: Any, runner: Runner
    ) -> tuple[tuple[Any, Any, Any], Any]:
        hyper: Hyper = runner.hyper
        params, opt_state, average = carry
        grads, metrics = jax.grad(_loss, has_aux=True)(params, batch, runner)
        grads, metrics = mean_in_one((grads, metrics))
        norm = optax.tree.norm(grads)
        metrics["loss/gradient"] = norm
        shrink = jnp.minimum(1.0, hyper.max_grad_norm / jnp.maximum(norm, 1e-12))
        grads = jax.tree.map(lambda x: x * shrink, grads)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        lr = hyper.between("lr", "lr_end", runner.update)
        params = jax.tree.map(lambda x, u: x - lr * u, params, updates)
        if ppo.average:
            average = optax.incremental_update(params, average, 1 - hyper.average)
        return (params, opt_state, average), metrics

    def _update_epoch(
        carry: tuple[Any, Any, Any],
        key: Array,
        rollout: Any,
        kept: Array,
        runner: Runner,
    ) -> tuple[tuple[Any, Any, Any], Any]:
        """Every kept decision once, in minibatches of as many decisions of every game.

        Args:
            kept: (S, N), the decisions of each game to learn from.
            runner: of the start of the update.
        """
        shuffle = jax.vmap(jax.random.permutation)
        order = shuffle(_game_keys(key), kept.T).T.reshape(ppo.minibatches, -1, local_envs)

        def minibatch(carry: Any, steps: Array) -> Any:
            pick = partial(_pick_steps, steps=steps)
            return _update_minibatch(carry, jax.tree.map(pick, rollout), runner)

        return jax.lax.scan(minibatch, carry, order)

    def _keep(transition: Transition, advantage: Array) -> Array:
        """(S, N), for each game the decisions with the largest advantages either way."""
        size = kept_steps(ppo)
        if size == ppo.num_steps:
            return jnp.broadcast_to(jnp.arange(size)[:, None], (size, local_envs))
        # Nothing is learnt where nothing is chosen.
        size_of = jnp.where(transition.open, jnp.abs(advantage), -1.0)
        return jax.lax.top_k(size_of.T, size)[1].T

    def _normalize(advantage: Array) -> Array:
        """(T, N) with mean 0 and spread 1 over all decisions."""
        if not ppo.normalize_advantage:
            return advantage
        center = mean(advantage.mean())
        spread = jnp.sqrt(mean(jnp.square(advantage - center).mean()))
        return (advantage - center) / (spread + 1e-8)

    def _update_step(runner: Runner, _: None) -> tuple[Runner, dict[str, Array]]:
        key = jax.random.fold_in(jax.random.wrap_key_data(runner.key), runner.update)
        play_key, learn_key = jax.random.split(key)
        env_state, (rollout, final_vp, doing) = jax.lax.scan(
            partial(_env_step, runner.params),
            runner.env_state,
            jax.random.split(play_key, ppo.num_steps),
        )
        last_value = _look(runner.params, env_state)[3]
        advantage, target = advantages(
            rollout.reward, rollout.value, last_value, rollout.done, rollout.seats[..., 0],
            runner.hyper.gae_lambda,
        )  # fmt: skip
        # From here on everything is in the order of the rows that the network saw.
        seats = rollout.seats.astype(jnp.int32)
        own, target, value = (
            jnp.take_along_axis(x, seats, axis=-1) for x in (advantage, target, rollout.value)
        )
        advantage = _normalize(own[..., 0])
        kept = _keep(rollout, advantage)
        batch = (rollout._replace(value=value), advantage, target)
        carry, metrics = jax.lax.scan(
            lambda carry, key: _update_epoch(carry, key, batch, kept, runner),
            (runner.params, runner.opt_state, runner.average),
            jax.random.split(learn_key, ppo.epochs),
        )
        ended = rollout.done[..., None]
        unexplained = mean(jnp.square(target - value)[..., 0].mean())
        center = mean(target[..., 0].mean())
        spread = mean(jnp.square(target[..., 0] - center).mean())
        metrics = jax.tree.map(jnp.mean, metrics) | {
            "value/explained": 1 - unexplained / jnp.maximum(spread, 1e-8),
            "games/ended": total(jnp.sum(rollout.done, dtype=jnp.float32)),
            "games/vp_sum": total(jnp.sum(jnp.where(ended, final_vp, 0), dtype=jnp.float32)),
            "games/reward_sum": total(jnp.sum(rollout.reward)) / ppo.reward_scale,
            "doing": total(jax.tree.map(lambda x: x.sum(0), doing)),
        }
        params, opt_state, average = carry
        following = runner._replace(
            params=params,
            opt_state=opt_state,
            env_state=env_state,
            update=runner.update + 1,
            average=average,
        )
        return following, metrics

    def chunk(runner: Runner) -> tuple[Runner, dict[str, Array]]:
        return jax.lax.scan(_update_step, runner, length=config.train.updates_per_chunk)

    specs = Runner(P(), P(), P(GAMES), P(), P(), P(), P())
    # check_vma: the environment's kernels on demand (custom_vmap) cannot state how they vary.
    mapped = jax.shard_map(
        chunk, mesh=mesh, in_specs=(specs,), out_specs=(specs, P()), check_vma=False
    )
    # Said, because an array without elements would come out on every device.
    return jax.jit(mapped, out_shardings=(sharding(mesh), NamedSharding(mesh, P())))


def kept_steps(ppo: PPOConfig) -> int:
    """How many decisions of each game an update learns from: a multiple of the minibatches."""
    return max(round(ppo.keep * ppo.num_steps / ppo.minibatches), 1) * ppo.minibatches


def _pick_steps(x: Array, steps: Array) -> Array:
    """(T, N, ...) and (S, N) step numbers, for each game its own -> (S * N, ...)."""
    return x[steps, np.arange(x.shape[1])].reshape(-1, *x.shape[2:])
