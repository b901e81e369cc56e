"""PPO in one file, in the manner of purejaxrl, by self-play on the bare environment.

    python examples/ppo.py

One network decides for all four seats and values all four: what a decision is worth to the seat
that took it shows in later decisions of the others too. Needs flax and optax (the extra `train`).
The result is saved as an agent, runs/ppo.npz, which plays wherever agents do:

    gaia arena --agents random,greedy,zoo/quick,runs/ppo.npz --games 64
    gaia play --agents runs/ppo.npz

The project's own trainer, with checkpoints and evaluation, is `gaia train`.
"""

from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

import gaia_jax
import gaia_training as training

CONFIG = {
    "games": 64,
    "decisions": 128,  # of each game in one update
    "updates": 20,
    "epochs": 2,
    "minibatches": 8,
    "learning_rate": 3e-4,
    "gamma": 1.0,  # a game ends by itself
    "gae_lambda": 0.97,
    "clip": 0.2,
    "entropy": 0.01,
    "value": 0.5,
    "max_grad_norm": 0.5,
}


class ActorCritic(nn.Module):
    """Logits (A,) and the values (P,) of the seats, own first, of one observation."""

    num_actions: int
    width: int = 64

    @nn.compact
    def __call__(self, seen):
        cells = nn.relu(nn.Dense(32)(seen.cells.astype(jnp.float32)))
        players = seen.players.astype(jnp.float32) / 10
        rest = jnp.concatenate([players.ravel(), seen.globals.astype(jnp.float32)])
        trunk = jnp.concatenate([cells.mean(0), cells.max(0), nn.relu(nn.Dense(self.width)(rest))])
        trunk = nn.relu(nn.Dense(self.width)(trunk))
        spread = jnp.broadcast_to(nn.Dense(32)(trunk), cells.shape)
        planes = nn.Dense(4)(nn.relu(cells + spread)).T.ravel()  # four planes of cells come first
        others = nn.Dense(self.num_actions - planes.shape[0])(trunk)
        return jnp.concatenate([planes, others]), nn.Dense(seen.players.shape[0])(trunk)


class Transition(NamedTuple):
    seen: Any
    mask: jax.Array
    action: jax.Array
    log_prob: jax.Array
    player: jax.Array  # the deciding player
    seats: jax.Array  # (P,) the players, in the order of the network's values
    values: jax.Array  # (P,) by player
    rewards: jax.Array  # (P,) by player
    done: jax.Array


def make_train(env, config):
    """`train(key) -> parameters, metrics of each update`, to be jitted."""
    auto, games = gaia_jax.auto_reset(env), config["games"]
    network = ActorCritic(env.num_actions)
    optimizer = optax.chain(
        optax.clip_by_global_norm(config["max_grad_norm"]),
        optax.adam(config["learning_rate"], eps=1e-5),
    )

    def policy(params, seen, mask):
        logits, values = network.apply(params, seen)
        return jax.nn.log_softmax(jnp.where(mask, logits, -1e9)), values

    def look(params, state):
        """Of one game: observation, log-probabilities, values by player, order of the seats."""
        seen = env.observe(state, state.current_player)
        seats = env.seats(state, state.current_player)
        log_probs, values = policy(params, seen, state.legal_action_mask)
        return seen, log_probs, jnp.zeros_like(values).at[seats].set(values), seats

    def advantages_of(batch, last):
        """Generalized advantage estimates of all players, (T, B, P)."""

        def earlier(carry, now):
            advantage, following = carry
            discount = config["gamma"] * (1 - now.done)[:, None]
            delta = now.rewards + discount * following - now.values
            advantage = delta + discount * config["gae_lambda"] * advantage
            return (advantage, now.values), advantage

        start = (jnp.zeros_like(last), last)
        return jax.lax.scan(earlier, start, batch, reverse=True)[1]

    def loss(params, batch, advantages, targets):
        log_probs, values = jax.vmap(policy, (None, 0, 0))(params, batch.seen, batch.mask)
        log_prob = jnp.take_along_axis(log_probs, batch.action[:, None], -1)[:, 0]
        ratio = jnp.exp(log_prob - batch.log_prob)
        own = jnp.take_along_axis(advantages, batch.player[:, None], -1)[:, 0]
        own = (own - own.mean()) / (own.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - config["clip"], 1 + config["clip"])
        actor = -jnp.minimum(ratio * own, clipped * own).mean()
        by_seat = jnp.take_along_axis(targets, batch.seats, -1)
        critic = jnp.square(values - by_seat).mean()
        entropy = -jnp.where(batch.mask, jnp.exp(log_probs) * log_probs, 0).sum(-1).mean()
        total = actor + config["value"] * critic - config["entropy"] * entropy
        return total, {"actor": actor, "critic": critic, "entropy": entropy}

    def _env_step(carry, key):
        params, state = carry
        draw, deal = jax.random.split(key)
        seen, log_probs, values, seats = jax.vmap(look, (None, 0))(params, state)
        action = jax.random.categorical(draw, log_probs)
        after = jax.vmap(auto.step)(state, action, jax.random.split(deal, games))
        transition = Transition(
            seen=seen,
            mask=state.legal_action_mask,
            action=action,
            log_prob=jnp.take_along_axis(log_probs, action[:, None], -1)[:, 0],
            player=state.current_player,
            seats=seats,
            values=values,
            rewards=after.rewards,
            done=after.terminated | after.truncated,
        )
        return (params, after), (transition, after.final_vp)

    def _update_minibatch(carry, minibatch):
        params, opt_state = carry
        (_, metrics), grads = jax.value_and_grad(loss, has_aux=True)(params, *minibatch)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), metrics

    def _update_step(carry, key):
        params, opt_state, state = carry
        play, shuffle = jax.random.split(key)
        keys = jax.random.split(play, config["decisions"])
        (_, state), (batch, final_vp) = jax.lax.scan(_env_step, (params, state), keys)
        last = jax.vmap(look, (None, 0))(params, state)[2]
        advantages = advantages_of(batch, last)
        rows = (batch, advantages, advantages + batch.values)
        rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)

        def _update_epoch(carry, key):
            order = jax.random.permutation(key, games * config["decisions"])
            split = jax.tree.map(
                lambda x: x[order].reshape(config["minibatches"], -1, *x.shape[1:]), rows
            )
            return jax.lax.scan(_update_minibatch, carry, split)

        epochs = jax.random.split(shuffle, config["epochs"])
        (params, opt_state), metrics = jax.lax.scan(_update_epoch, (params, opt_state), epochs)
        ended = batch.done.sum()
        metrics = jax.tree.map(jnp.mean, metrics)
        metrics |= {"ended": ended, "vp": final_vp.sum() / jnp.maximum(4 * ended, 1)}
        return (params, opt_state, state), metrics

    def train(key):
        init, deal, updates = jax.random.split(key, 3)
        state = jax.vmap(auto.init)(jax.random.split(deal, games))
        first = jax.tree.map(lambda x: x[0], state)
        params = network.init(init, env.observe(first, first.current_player))
        start = (params, optimizer.init(params), state)
        keys = jax.random.split(updates, config["updates"])
        (params, _, _), history = jax.lax.scan(_update_step, start, keys)
        return params, history

    return train


def main(env=None, out="runs/ppo.npz", **changes):
    config = CONFIG | changes
    env = env or gaia_jax.make("lost_fleet", reward="vp")
    params, history = jax.jit(make_train(env, config))(jax.random.key(0))
    for i in range(config["updates"]):
        row = {name: float(values[i]) for name, values in history.items()}
        print(f"{i + 1:4}", "  ".join(f"{name} {value:8.3f}" for name, value in row.items()))
    network = ActorCritic(env.num_actions)
    print("wrote", training.save_agent(out, network.apply, params, env))
    return params, history


if __name__ == "__main__":
    main()
