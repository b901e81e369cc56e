"""Self-play PPO: the games, the network and its updates in one compiled chunk.

N is the number of games side by side, T the decisions of each between two updates, P the seats.
Everything of `make_chunk` runs once per device on that device's share of the games (`shard_map`);
only gradients and means cross devices. Random numbers belong to a game, not to a device, and each
minibatch holds decisions of every game: the number of devices changes nothing but the rounding.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from training import sampling
from training.config import Config, PPOConfig, UserError
from training.diagnostics import Diagnostics
from training.network import Network

# Games of a device below which another one does not pay on a CPU.
LEAST_GAMES = 64
GAMES = "games"  # the mesh axis
TRAINING = 0  # folded into the seed: no set-up of training is one of an evaluation


class Runner(NamedTuple):
    """All that the next update depends on."""

    params: Any
    opt_state: Any
    env_state: Any  # leading axis N
    key: Any  # (2,) uint32, the data of a key; constant, folded with `update`
    update: Any  # () int32, updates done
    pool: Any = ()  # parameters of earlier updates, leading axis `ppo.pool`; () without a pool
    hyper: Any = ()  # `Hyper`
    average: Any = ()  # moving average of the parameters; () without `ppo.average`
    anchor: Any = ()  # the parameters that the policy is pulled towards; () without `ppo.anchor`


class Hyper(NamedTuple):
    """Numbers of the configuration that a compiled chunk takes as they come: () float32."""

    lr: Any
    lr_end: Any
    gae_lambda: Any
    clip: Any
    value_coef: Any
    entropy_coef: Any
    entropy_end: Any
    anchor: Any
    average: Any
    max_grad_norm: Any
    updates: Any

    @classmethod
    def of(cls, config: Config) -> Hyper:
        """Those of a configuration."""
        flat = vars(config.ppo) | {"updates": config.train.updates}
        return cls(*(np.float32(flat[name]) for name in cls._fields))

    def between(self, name: str, end: str, update: Any) -> Any:
        """A value that moves in a straight line over the run."""
        first, last = getattr(self, name), getattr(self, end)
        return first + (last - first) * self.progress(update)

    def progress(self, update: Any) -> Any:
        """The part of the run that is done after so many updates, 0 to 1."""
        return jnp.minimum(update / self.updates, 1.0)


class Transition(NamedTuple):
    """One decision of each game; T comes first once the rollout is done."""

    seen: Any  # what the network reads, `Network.view`
    seats: Array  # (N, P) int8, which player each row of the observation is; column 0 decides
    choice: Array  # (N,) int32, in the network's index of actions
    log_prob: Array  # (N,) float32
    value: Array  # (N, P) float32, by player
    reward: Array  # (N, P) float32, by player
    done: Array  # (N,) bool, the game ended with this decision
    own: Array | None  # (N,) float32, 1 where the learner decided; None: it always did


def split_cpu(devices: int, num_envs: int) -> None:
    """Let a CPU be so many devices, each with its share of the games. Call it before any array.

    A decision is a thousand small kernels. Two cores that share each of them spend their time on
    sharing; with a device a core each plays its own games (docs/performance.md).

    Args:
        devices: how many; 0 for one a core while each has at least 64 games.
    """
    if not devices:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        shares = range(1, min(cores or 1, num_envs // LEAST_GAMES) + 1)
        devices = max((n for n in shares if num_envs % n == 0), default=1)
    chosen_by_hand = "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    if devices > 1 and not chosen_by_hand:
        with contextlib.suppress(RuntimeError):  # jax has started; it stays as it is
            jax.config.update("jax_num_cpu_devices", devices)


def make_mesh(num_envs: int) -> Mesh:
    """All devices in one row."""
    count = jax.device_count()
    if num_envs % count:
        raise UserError(f"ppo.num_envs must be a multiple of the {count} devices, got {num_envs}")
    return jax.make_mesh((count,), (GAMES,), axis_types=(jax.sharding.AxisType.Auto,))


def make_optimizer() -> optax.GradientTransformation:
    """Adam for one step of length 1; clipping and the learning rate come from `Hyper`.

    So a compiled chunk does not depend on them, and experiments share it.
    """
    # One vector instead of dozens of small arrays: fewer kernels to compile and to launch.
    return optax.flatten(optax.scale_by_adam(eps=1e-5))


def sharding(mesh: Mesh) -> Runner:
    """Where each part of a Runner lies: the games are split, everything else is on every device."""
    one, split = NamedSharding(mesh, P()), NamedSharding(mesh, P(GAMES))
    return Runner(one, one, split, one, one, one, one, one, one)


def start_keys(config: Config) -> Array:
    """(3,) keys of a new run: of the parameters, of the games, of all that follows."""
    return jax.random.split(jax.random.fold_in(jax.random.key(config.seed), TRAINING), 3)


def make_init(auto: Any, network: Network, config: Config) -> Callable[[], Runner]:
    """A pure function that makes the Runner of a new run."""
    optimizer = make_optimizer()

    def init() -> Runner:
        params_key, games_key, run_key = start_keys(config)
        env_state = jax.vmap(auto.init)(jax.random.split(games_key, config.ppo.num_envs))
        first = jax.tree.map(lambda x: x[:1], env_state)
        observation = jax.vmap(auto.observe)(first, first.current_player)
        params = network.init(params_key, observation, first.legal_action_mask)
        return Runner(
            params=params,
            opt_state=optimizer.init(params),
            env_state=env_state,
            key=jax.random.key_data(run_key),
            update=jnp.int32(0),
            pool=_fill_pool(params, config.ppo.pool),
            hyper=Hyper.of(config),
            average=params if config.ppo.average else (),
            anchor=params if config.ppo.anchor else (),
        )

    return init


def begin_with(runner: Runner, params: Any) -> Runner:
    """A new run that begins with given parameters, which its anchor is too.

    Raises:
        UserError: they are of another network.
    """
    ours, theirs = (jax.tree.map(jnp.shape, x) for x in (runner.params, params))
    if ours != theirs:
        raise UserError("train.start: those parameters are of another network")
    placed = jax.tree.map(lambda x, y: jax.device_put(x, y.sharding), params, runner.params)

    def copy(there: Any) -> Any:
        return placed if there != () else ()

    return runner._replace(
        params=placed,
        average=copy(runner.average),
        anchor=copy(runner.anchor),
        pool=_fill_pool(placed, len(jax.tree.leaves(runner.pool)[0])) if runner.pool != () else (),
    )


def _fill_pool(params: Any, size: int) -> Any:
    """A pool of copies of the parameters; () where it has no place."""
    if not size:
        return ()
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (size, *x.shape)), params)


def learner_seats(first: Any, count: int, players: int = 4) -> Array:
    """The seats that the learner holds where a pool plays: (count,) int32, -1 all of them.

    Every other game is one against the pool, and the learner's seat in it goes round by number.

    Args:
        first: number of the first game.
    """
    game = first + jnp.arange(count)
    return jnp.where(game % 2 == 1, game // 2 % players, -1).astype(jnp.int32)


def advantages(
    reward: Array, value: Array, last_value: Array, done: Array, player: Array, gae_lambda: float
) -> tuple[Array, Array]:
    """Generalized advantages of all seats, each over its own decisions, gamma 1.

    Turns interleave irregularly. Every state has a value for every seat, and a seat's residuals of
    all steps are summed backwards, decayed by lambda only where that seat decides: between two of
    its decisions the values cancel, what is left is the reward of the whole stretch. At the end of
    the rollout every seat goes on with its value of the last state; a game's end cuts all four.

    Args:
        reward, value: (T, N, P). last_value: (N, P), of the state after the rollout.
        done: (T, N) bool. player: (T, N), who decides.
    Returns:
        advantages and value targets, (T, N, P).
    """
    seats = value.shape[-1]
    decides = player[..., None] == jnp.arange(seats)  # (T, N, P)
    next_decides = jnp.concatenate([decides[1:], jnp.ones_like(decides[:1])])
    next_value = jnp.concatenate([value[1:], last_value[None]])
    going = 1.0 - done[..., None].astype(value.dtype)
    residual = reward + going * next_value - value
    decay = going * jnp.where(next_decides, gae_lambda, 1.0)

    def backwards(later: Array, x: tuple[Array, Array]) -> tuple[Array, Array]:
        residual, decay = x
        advantage = residual + decay * later
        return advantage, advantage

    start = jnp.zeros_like(last_value)
    _, advantage = jax.lax.scan(backwards, start, (residual, decay), reverse=True)
    return advantage, advantage + value


def make_chunk(auto: Any, network: Network, config: Config, mesh: Mesh) -> jax.stages.Wrapped:
    """The compiled step of training: U = `updates_per_chunk` updates.

    Returns:
        Runner -> (Runner, metrics by name, each (U,)).
    """
    ppo = config.ppo
    optimizer = make_optimizer()
    diagnostics = Diagnostics(auto)
    local_envs = ppo.num_envs // mesh.size
    if ppo.pool and local_envs % 2:
        raise UserError(
            f"ppo.num_envs must be a multiple of {2 * mesh.size} with ppo.pool, got {ppo.num_envs}"
        )
    mean = partial(jax.lax.pmean, axis_name=GAMES)
    total = partial(jax.lax.psum, axis_name=GAMES)

    def _game_keys(key: Array) -> Array:
        """One key for each game of this device."""
        first = jax.lax.axis_index(GAMES) * local_envs
        return jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(local_envs))

    def _apply(params: Any, seen: Any) -> tuple[Array, Array]:
        out: Any = network.apply(params, seen, method="judge")
        return out

    def _look(params: Any, state: Any) -> tuple[Any, Array, Array, Array]:
        """What the network reads, seats (N, P), logits (N, W), values by player (N, P)."""
        observation = jax.vmap(auto.observe)(state, state.current_player)
        seats = jax.vmap(auto.seats)(state, state.current_player)
        seen = network.view(observation, state.legal_action_mask)
        logits, values = _apply(params, seen)
        by_player = jnp.take_along_axis(values, jnp.argsort(seats, axis=-1), axis=-1)
        return seen, seats.astype(jnp.int8), logits, by_player

    def _opponents(member: Any, state: Any, seen: Any, logits: Array) -> tuple[Array, Array]:
        """The logits with those of the pool's member where it decides, and where it does not."""
        first = jax.lax.axis_index(GAMES) * local_envs
        seat = learner_seats(first, local_envs, auto.num_players)
        own = (seat < 0) | (seat == state.current_player)
        half = jax.tree.map(lambda x: x[1::2], seen)
        theirs = logits.at[1::2].set(_apply(member, half)[0])
        return jnp.where(own[:, None], logits, theirs), own.astype(jnp.float32)

    def _env_step(
        params: Any, member: Any, state: Any, key: Array
    ) -> tuple[Any, tuple[Transition, Any, dict[str, Array]]]:
        keys = jax.vmap(jax.random.split)(_game_keys(key))
        seen, seats, logits, value = _look(params, state)
        own = None
        if ppo.pool:
            logits, own = _opponents(member, state, seen, logits)
        choice = sampling.sample(logits, seen.mask, jax.vmap(jax.random.uniform)(keys[:, 0]))
        log_prob, _ = sampling.log_prob_and_entropy(logits, choice)
        action = network.to_action(seen, choice)
        before, state = state, jax.vmap(auto.step)(state, action, keys[:, 1])
        seen_doing = diagnostics.step(before, action, state)
        done = state.terminated | state.truncated
        reward = state.rewards * ppo.reward_scale
        transition = Transition(seen, seats, choice, log_prob, value, reward, done, own)
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
        share = None if old.own is None else mean(old.own.mean())

        def average(x: Array) -> Array:
            """Over the learner's own decisions; (B,) or (B, P), of this device."""
            if share is None or old.own is None:
                return x.mean()
            weight = old.own.reshape(*old.own.shape, *[1] * (x.ndim - 1))
            return (x * weight).mean() / share

        log_prob, entropy = sampling.log_prob_and_entropy(logits, old.choice)
        log_ratio = log_prob - old.log_prob
        ratio = jnp.exp(log_ratio)
        clipped = jnp.clip(ratio, 1 - hyper.clip, 1 + hyper.clip)
        policy_loss = -average(jnp.minimum(ratio * advantage, clipped * advantage))
        error = jnp.square(value - target)
        if ppo.value_clip:
            near = old.value + jnp.clip(value - old.value, -ppo.value_clip, ppo.value_clip)
            error = jnp.maximum(error, jnp.square(near - target))
        value_loss = 0.5 * average(error)
        entropy = average(entropy)
        bonus = hyper.between("entropy_coef", "entropy_end", runner.update)
        loss = policy_loss + hyper.value_coef * value_loss - bonus * entropy
        more = {}
        if ppo.anchor:
            theirs = jax.lax.stop_gradient(jax.nn.log_softmax(_apply(runner.anchor, old.seen)[0]))
            ours = jax.nn.log_softmax(logits)
            apart = average(jnp.sum(jnp.exp(theirs) * (theirs - ours), axis=-1))
            loss += hyper.anchor * (1 - hyper.progress(runner.update)) * apart
            more["policy/from_anchor"] = apart
        return loss, more | {
            "loss/policy": policy_loss,
            "loss/value": value_loss,
            "policy/entropy": entropy,
            "policy/kl": average((ratio - 1) - log_ratio),
            "policy/clipped": average(1.0 * (jnp.abs(ratio - 1) > hyper.clip)),
        }

    def _update_minibatch(
        carry: tuple[Any, Any, Any], batch: Any, runner: Runner
    ) -> tuple[tuple[Any, Any, Any], Any]:
        hyper: Hyper = runner.hyper
        params, opt_state, average = carry
        grads, metrics = jax.grad(_loss, has_aux=True)(params, batch, runner)
        grads, metrics = mean((grads, metrics))
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
        carry: tuple[Any, Any, Any], key: Array, rollout: Any, kept: Array, runner: Runner
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
        open_ = transition.seen.mask.sum(-1) > 1  # nothing is learnt where nothing is chosen
        if transition.own is not None:
            open_ &= transition.own > 0
        size_of = jnp.where(open_, jnp.abs(advantage), -1.0)
        return jax.lax.top_k(size_of.T, size)[1].T

    def _normalize(advantage: Array, own: Array | None) -> Array:
        """(T, N) with mean 0 and spread 1 over all of the learner's decisions."""
        if not ppo.normalize_advantage:
            return advantage
        weight = jnp.ones_like(advantage) if own is None else own
        share = mean(weight.mean())
        center = mean((weight * advantage).mean()) / share
        spread = jnp.sqrt(mean((weight * jnp.square(advantage - center)).mean()) / share)
        return (advantage - center) / (spread + 1e-8)

    def _update_step(runner: Runner, _: None) -> tuple[Runner, dict[str, Array]]:
        key = jax.random.fold_in(jax.random.wrap_key_data(runner.key), runner.update)
        play_key, learn_key = jax.random.split(key)
        pool, member = _pool(runner, learn_key)
        env_state, (rollout, final_vp, doing) = jax.lax.scan(
            partial(_env_step, runner.params, member),
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
        advantage = _normalize(own[..., 0], rollout.own)
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
            pool=pool,
            average=average,
        )
        return following, metrics

    def _pool(runner: Runner, key: Array) -> tuple[Any, Any]:
        """The pool, with the present parameters in it when it is their turn, and its player."""
        if not ppo.pool:
            return (), ()
        turn = runner.update // ppo.pool_updates
        enters = runner.update % ppo.pool_updates == 0
        here = (jnp.arange(ppo.pool) == turn % ppo.pool) & enters

        def enter(old: Array, new: Array) -> Array:
            return jnp.where(here.reshape(-1, *[1] * new.ndim), new, old)

        pool = jax.tree.map(enter, runner.pool, runner.params)
        filled = jnp.minimum(turn + 1, ppo.pool)
        chosen = jax.random.randint(jax.random.fold_in(key, ppo.epochs), (), 0, filled)
        return pool, jax.tree.map(lambda x: x[chosen], pool)

    def chunk(runner: Runner) -> tuple[Runner, dict[str, Array]]:
        return jax.lax.scan(_update_step, runner, length=config.train.updates_per_chunk)

    specs = Runner(P(), P(), P(GAMES), P(), P(), P(), P(), P(), P())
    # check_vma: the environment's kernels on demand (custom_vmap) cannot state how they vary.
    mapped = jax.shard_map(
        chunk, mesh=mesh, in_specs=(specs,), out_specs=(specs, P()), check_vma=False
    )
    return jax.jit(mapped)


def kept_steps(ppo: PPOConfig) -> int:
    """How many decisions of each game an update learns from: a multiple of the minibatches."""
    return max(round(ppo.keep * ppo.num_steps / ppo.minibatches), 1) * ppo.minibatches


def _pick_steps(x: Array, steps: Array) -> Array:
    """(T, N, ...) and (S, N) step numbers, for each game its own -> (S * N, ...)."""
    return x[steps, np.arange(x.shape[1])].reshape(-1, *x.shape[2:])


def learning_rate(config: Config, update: int) -> float:
    """The learning rate after so many updates, for the log."""
    ppo: PPOConfig = config.ppo
    done = min(update / config.train.updates, 1.0)
    return ppo.lr + (ppo.lr_end - ppo.lr) * done
