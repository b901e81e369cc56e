"""Self-play PPO: the games, the network and its updates in one compiled chunk.

`make_chunk` scans `_update_step`, an update: a rollout (`_env_step`, T decisions of each game),
then epochs of minibatches (`_update_epoch`, `_update_minibatch`) that step down `_loss`. A
`Learner` holds constants, a `Runner` the arrays that change.

N is the number of games in parallel, T the decisions of each between two updates, P the seats. Each
device runs its share of the games (`shard_map`); only gradients and means cross devices. Random
numbers belong to a game, and each minibatch holds decisions of every game, or of one block of the
games of every device, so the number of devices changes only the rounding.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..config import Config, PPOConfig, RecipeConfig
from ..networks import advantage_head, sampling
from ..system.batched import Batched, batched, by_player
from ..system.devices import GAMES, mean_in_one
from ..types import AutoEnvironment, AutoState, NetworkInput, Params, PolicyNetwork
from . import exploring_starts
from .advantages import (
    advantages,
    head_adjusted_advantages,
    opponent_adjusted_reward,
    squared_advantages,
)
from .learner_state import (
    Hyper,
    Runner,
    Weights,
    apply_gradients,
    make_optimizer,
    sharding,
    with_games,
)
from .metrics import Diagnostics

mean = partial(jax.lax.pmean, axis_name=GAMES)  # over the devices
total = partial(jax.lax.psum, axis_name=GAMES)

Metrics = dict[str, Any]  # arrays by name


@dataclasses.dataclass(frozen=True)
class Learner:
    """The constant parts of an update."""

    network: PolicyNetwork
    ppo: PPOConfig
    recipe: RecipeConfig
    games: Batched  # of the environment with auto-reset
    diagnostics: Diagnostics
    optimizer: optax.GradientTransformation
    share: int  # N of one device
    has_head: bool = False  # an advantage head

    @classmethod
    def of(
        cls, auto: AutoEnvironment, network: PolicyNetwork, config: Config, devices: int
    ) -> Learner:
        """
        Args:
            auto: the environment with auto-reset.
            devices: number of devices that share the games.
        """
        ppo, recipe = config.ppo, config.recipe
        share, diagnostics = ppo.num_envs // devices, Diagnostics(auto)
        return cls(
            network, ppo, recipe, batched(auto), diagnostics, make_optimizer(), share,
            config.network.advantage_head,
        )  # fmt: skip

    def game_keys(self, key: Array) -> Array:
        """(N,) keys, one for each game of this device."""
        game = jax.lax.axis_index(GAMES) * self.share + jnp.arange(self.share)
        return jax.vmap(jax.random.fold_in, (None, 0))(key, game)

    def logits_and_values(self, params: Params, inputs: NetworkInput) -> tuple[Array, Array]:
        """Logits (N, W) and values (N, P), in the order of the rows that the network reads."""
        out: Any = self.network.apply(params, inputs, method="logits_and_values")
        logits, values = out
        return logits, values

    def outputs(self, params: Params, inputs: NetworkInput) -> tuple[Array, Array, Any]:
        """`logits_and_values`, and the output of the advantage head (N, P, W), () without one."""
        if self.has_head:
            return advantage_head.outputs(self.network, params, inputs)
        return *self.logits_and_values(params, inputs), ()


class Transition(NamedTuple):
    """One decision of each game; T comes first once the rollout is done."""

    inputs: NetworkInput  # inputs of the network, `PolicyNetwork.encode`
    seats: Array  # (N, P) int8, which player each row of the observation is; column 0 decides
    action: Array  # (N,) int32, in the network's index of actions
    log_prob: Array  # (N,) float32
    value: Array  # (N, P) float32, by player
    reward: Array  # (N, P) float32, by player
    done: Array  # (N,) bool, the game ended with this decision
    has_choice: Array  # (N,) bool, more than one action was legal
    head: Any = ()  # (N, P) float32, advantages of the head, by player; () without one


class Rollout(NamedTuple):
    """The result of a rollout; leading axis T."""

    decisions: Transition
    final_vp: Array  # (T, N, players), of games that end with the decision
    behaviour: Metrics  # sums over games, `Diagnostics.step` and more


class Batch(NamedTuple):
    """Training data: (T, N) of a rollout, (B,) of a minibatch."""

    decisions: Transition
    advantage: Array  # (T, N) float32, of the seat that decides
    target: Array  # (T, N, P) float32, of the values, in the order of the network's rows
    head_target: Any = ()  # (T, N, P) float32, of the advantage head, in the same order, or ()


def make_chunk(auto: AutoEnvironment, network: PolicyNetwork, config: Config, mesh: Mesh) -> Any:
    """The compiled step of training: U = `updates_per_chunk` updates.

    Args:
        auto: the environment with auto-reset.
    Returns:
        Runner -> (Runner, metrics by name, each (U,)).
    """
    learner, updates = Learner.of(auto, network, config, mesh.size), config.run.updates_per_chunk

    def chunk(runner: Runner) -> tuple[Runner, Metrics]:
        def step(runner: Runner, _: None) -> tuple[Runner, Metrics]:
            return _update_step(learner, runner)

        return jax.lax.scan(step, runner, length=updates)

    specs = with_games(games=P(GAMES), rest=P())
    # check_vma: the environment's kernels on demand (custom_vmap) cannot state how they vary.
    mapped = jax.shard_map(
        chunk, mesh=mesh, in_specs=(specs,), out_specs=(specs, P()), check_vma=False
    )
    # Stated because an array without elements would be replicated.
    return jax.jit(mapped, out_shardings=(sharding(mesh), NamedSharding(mesh, P())))


def kept_steps(ppo: PPOConfig, recipe: RecipeConfig) -> int:
    """The number of decisions of each game that an update learns from; equal in each minibatch."""
    parts = ppo.minibatches // ppo.game_blocks
    return max(round(recipe.keep_fraction * ppo.num_steps / parts), 1) * parts


def _update_step(learner: Learner, runner: Runner) -> tuple[Runner, Metrics]:
    """One update: a rollout, its advantages, and `epochs` passes over the kept decisions."""
    ppo = learner.ppo
    key = jax.random.fold_in(jax.random.wrap_key_data(runner.key), runner.update)
    play_key, learn_key = jax.random.split(key)
    env_state, rollout = _rollout(learner, runner.params, runner.env_state, play_key)
    last_value = _evaluate(learner, runner.params, env_state)[3]
    batch, value = _make_batch(learner, rollout.decisions, last_value, runner.hyper)
    kept_rows = _kept_rows(learner, batch)

    def epoch(weights: Weights, key: Array) -> tuple[Weights, Metrics]:
        return _update_epoch(learner, runner, weights, batch, kept_rows, key)

    before = Weights(runner.params, runner.opt_state, runner.average)
    with jax.named_scope("learning"):  # so profiles tell it from the rollout
        weights, metrics = jax.lax.scan(epoch, before, jax.random.split(learn_key, ppo.epochs))
    metrics = jax.tree.map(jnp.mean, metrics) | _value_metrics(ppo, rollout, batch.target, value)
    after = runner._replace(**weights._asdict(), env_state=env_state, update=runner.update + 1)
    return after, metrics


# The rollout.


def _rollout(
    learner: Learner, params: Params, env_state: AutoState, key: Array
) -> tuple[Any, Rollout]:
    """T decisions of every game."""
    step = partial(_env_step, learner, params)
    return jax.lax.scan(step, env_state, jax.random.split(key, learner.ppo.num_steps))


def _env_step(
    learner: Learner, params: Params, state: AutoState, key: Array
) -> tuple[Any, Rollout]:
    """One decision of every game; the result has no axis T."""
    ppo, recipe, network = learner.ppo, learner.recipe, learner.network
    keys = jax.vmap(jax.random.split)(learner.game_keys(key))
    inputs, seats, logits, value, by_action = _evaluate(learner, params, state)
    # Counted here: of a whole rollout the masks would be copied as int32.
    has_choice = inputs.mask.sum(-1) > 1
    choice = sampling.sample(logits, inputs.mask, jax.vmap(jax.random.uniform)(keys[:, 0]))
    log_prob, _ = sampling.log_prob_and_entropy(logits, choice)
    head: Any = ()
    if learner.has_head:
        head = by_player(advantage_head.of_action(by_action, logits, choice), seats)
    action = network.to_action(inputs, choice)
    before = state
    state = learner.games.step(state, action, keys[:, 1])
    behaviour = learner.diagnostics.step(before, action, state)
    done = state.terminated | state.truncated
    if recipe.exploring_starts:
        final_vp = state.final_vp[:, : seats.shape[-1]]
        behaviour |= exploring_starts.counts(before, done, final_vp, recipe.exploring_starts)
    reward = opponent_adjusted_reward(state.rewards, recipe.opponent_weight) * ppo.reward_scale
    decision = Transition(inputs, seats, choice, log_prob, value, reward, done, has_choice, head)
    return state, Rollout(decision, state.final_vp, behaviour)


def _evaluate(
    learner: Learner, params: Params, state: AutoState
) -> tuple[NetworkInput, Array, Array, Array, Any]:
    """The network's inputs, seats (N, P), logits (N, W), values by player (N, P), the head."""
    observation = learner.games.observe(state, state.current_player)
    seats = learner.games.seats(state, state.current_player)
    inputs: NetworkInput = learner.network.encode(observation, state.legal_action_mask)
    logits, values, by_action = learner.outputs(params, inputs)
    return inputs, seats.astype(jnp.int8), logits, by_player(values, seats), by_action


# What is learnt from.


def _make_batch(
    learner: Learner, decisions: Transition, last_value: Array, hyper: Hyper
) -> tuple[Batch, Array]:
    """The batch, and the values (T, N, P) of the rollout in the order of the network's rows.

    Args:
        last_value: (N, P), by player, of the states after the rollout.
    """
    given = (
        decisions.reward, decisions.value, last_value, decisions.done, decisions.seats[..., 0],
        hyper.gae_lambda,
    )  # fmt: skip
    head: Any = decisions.head
    head_target: Any = ()
    if learner.has_head:
        adjusted, target = head_adjusted_advantages(*given, head)
        share = learner.recipe.advantage_share
        advantage = (1 - share) * adjusted + share * head
        head_target = jnp.take_along_axis(adjusted, decisions.seats.astype(jnp.int32), axis=-1)
    else:
        advantage, target = advantages(*given)
    seats = decisions.seats.astype(jnp.int32)
    advantage, target, value = (
        jnp.take_along_axis(x, seats, axis=-1) for x in (advantage, target, decisions.value)
    )
    own = advantage[..., 0]
    if learner.ppo.normalize_advantage:
        center = mean(own.mean())
        spread = jnp.sqrt(mean(jnp.square(own - center).mean()))
        own = (own - center) / (spread + 1e-8)
    return Batch(decisions, own, target, head_target), value


def _kept_rows(learner: Learner, batch: Batch) -> Array:
    """(S, N), for each game the decisions with the largest advantages either way."""
    size = kept_steps(learner.ppo, learner.recipe)
    if size == learner.ppo.num_steps:
        return jnp.broadcast_to(jnp.arange(size)[:, None], (size, learner.share))
    # Nothing is learnt where nothing is chosen.
    size_of = jnp.where(batch.decisions.has_choice, jnp.abs(batch.advantage), -1.0)
    return jax.lax.top_k(size_of.T, size)[1].T


# The update.


def _update_epoch(
    learner: Learner, runner: Runner, weights: Weights, batch: Batch, kept_rows: Array, key: Array
) -> tuple[Weights, Metrics]:
    """Every kept decision once, in minibatches.

    Args:
        runner: of the start of the update.
        kept_rows: (S, N), the decisions of each game to learn from.
    """
    steps, games = minibatch_rows(learner, kept_rows, key)

    def minibatch(weights: Weights, rows: tuple[Array, Array]) -> tuple[Weights, Metrics]:
        picked = jax.tree.map(partial(_pick, steps=rows[0], games=rows[1]), batch)
        return _update_minibatch(learner, runner, weights, picked)

    return jax.lax.scan(minibatch, weights, (steps, games))


def minibatch_rows(learner: Learner, kept_rows: Array, key: Array) -> tuple[Array, Array]:
    """The decisions of the M minibatches of an epoch, each kept decision in one of them.

    A minibatch holds S * B / M decisions of each of N / B games: of B blocks, block b is the games
    whose number leaves the remainder b, so that it is the same block on any number of devices.

    Returns:
        Step numbers (M, S * B / M, N / B) and the numbers of their games (M, 1, N / B).
    """
    count, blocks = learner.ppo.minibatches, learner.ppo.game_blocks
    order = jax.vmap(jax.random.permutation)(learner.game_keys(key), kept_rows.T).T
    order = order.reshape(count // blocks, -1, learner.share // blocks, blocks)
    steps = jnp.moveaxis(order, -1, 1).reshape(count, *order.shape[1:3])
    games = jnp.arange(learner.share).reshape(-1, blocks).T[:, None]
    games = jnp.tile(games, (count // blocks, 1, 1))
    if blocks == 1:
        return steps, games
    # `game_keys` folds in the numbers below `num_envs`.
    turn = jax.random.permutation(jax.random.fold_in(key, learner.ppo.num_envs), count)
    return steps[turn], games[turn]


def _pick(x: Array, steps: Array, games: Array) -> Array:
    """(T, N, ...), step numbers (S, G) and games (1, G) -> (S * G, ...)."""
    return x[steps, games].reshape(-1, *x.shape[2:])


def _update_minibatch(
    learner: Learner, runner: Runner, weights: Weights, batch: Batch
) -> tuple[Weights, Metrics]:
    """A step down the gradient of B decisions; `runner` is of the start of the update."""
    hyper: Hyper = runner.hyper
    grads, metrics = jax.grad(_loss, has_aux=True)(weights.params, learner, runner, batch)
    grads, metrics = mean_in_one((grads, metrics))
    lr = hyper.between("lr", "lr_end", runner.update)
    weights, metrics["loss/gradient"] = apply_gradients(
        learner.optimizer, weights, grads, hyper.max_grad_norm, lr, hyper.ema_decay
    )
    return weights, metrics


def _loss(params: Params, learner: Learner, runner: Runner, batch: Batch) -> tuple[Array, Metrics]:
    """Clipped surrogate, value error and entropy bonus of B decisions; numbers for the log."""
    hyper: Hyper = runner.hyper
    old, advantage, target, head_target = batch
    logits, value, by_action = learner.outputs(params, old.inputs)
    log_prob, entropy = sampling.log_prob_and_entropy(logits, old.action)
    log_ratio = log_prob - old.log_prob
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - hyper.clip, 1 + hyper.clip)
    policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = 0.5 * jnp.square(value - target).mean()
    entropy = entropy.mean()
    bonus = hyper.between("entropy_coef", "entropy_end", runner.update)
    loss = policy_loss + hyper.value_coef * value_loss - bonus * entropy
    head_metrics: Metrics = {}
    if learner.has_head:
        head = advantage_head.of_action(by_action, logits, old.action)
        error = squared_advantages(head - head_target, old.has_choice)
        loss += learner.recipe.advantage_coef * 0.5 * error
        spread = squared_advantages(head_target, old.has_choice)
        head_metrics = {
            "loss/advantage": 0.5 * error,
            "advantage/explained": 1 - error / jnp.maximum(spread, 1e-12),
        }
    return loss, head_metrics | {
        "loss/policy": policy_loss,
        "loss/value": value_loss,
        "policy/entropy": entropy,
        "policy/kl": ((ratio - 1) - log_ratio).mean(),
        "policy/clipped": (1.0 * (jnp.abs(ratio - 1) > hyper.clip)).mean(),
    }


def _value_metrics(ppo: PPOConfig, rollout: Rollout, target: Array, value: Array) -> Metrics:
    """Of a rollout, for the log.

    Args:
        target, value: (T, N, P), the values that were aimed at and those of the rollout.
    """
    done, target, value = rollout.decisions.done, target[..., 0], value[..., 0]
    unexplained = mean(jnp.square(target - value).mean())
    spread = mean(jnp.square(target - mean(target.mean())).mean())
    seats = rollout.decisions.seats.shape[-1]  # in a solo game the Automa follows
    vp = jnp.where(done[..., None], rollout.final_vp[..., :seats], 0)
    return {
        "value/explained": 1 - unexplained / jnp.maximum(spread, 1e-8),
        "games/ended": total(jnp.sum(done, dtype=jnp.float32)),
        "games/vp_sum": total(jnp.sum(vp, dtype=jnp.float32)),
        "games/reward_sum": total(jnp.sum(rollout.decisions.reward)) / ppo.reward_scale,
        "behaviour": total(jax.tree.map(lambda x: x.sum(0), rollout.behaviour)),
    }
