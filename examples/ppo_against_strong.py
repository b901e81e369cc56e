"""A small PPO against three `zoo/strong`, all four in one compiled program.

    python examples/ppo_against_strong.py

The learner holds seat 0 of every game, the opponents' moves are part of the same scan. It sees each
position from its own seat and learns from its own decisions alone. Prints the curve of its VP.
"""

import jax
import jax.numpy as jnp
import optax
from ppo import ActorCritic

import gaia_jax
import gaia_training as training

SEAT = 0
CONFIG = {"games": 64, "decisions": 128, "updates": 40, "epochs": 2, "minibatches": 4, "lr": 1e-3}


def make_train(env, opponent, games, decisions, updates, epochs, minibatches, lr):
    """`train(key) -> parameters, (ended games, mean VP of the learner) of each update`."""
    auto, network, optimizer = (
        gaia_jax.auto_reset(env),
        ActorCritic(env.num_actions),
        optax.adam(lr),
    )

    def policy(params, seen, mask):
        logits, values = jax.vmap(network.apply, (None, 0))(params, seen)
        return jax.nn.log_softmax(jnp.where(mask, logits, -1e9)), values[:, 0]

    def play(carry, key):
        params, state = carry
        draw, deal = jax.random.split(key)
        seen = jax.vmap(env.observe, (0, None))(state, SEAT)
        log_probs, value = policy(params, seen, state.legal_action_mask)
        own, (opponent_logits, _) = state.current_player == SEAT, opponent(state)
        action = jax.random.categorical(draw, jnp.where(own[:, None], log_probs, opponent_logits))
        after = jax.vmap(auto.step)(state, action, jax.random.split(deal, games))
        log_prob = jnp.take_along_axis(log_probs, action[:, None], -1)[:, 0]
        over = after.terminated | after.truncated
        now = (seen, state.legal_action_mask, own, action, log_prob, value)
        return (params, after), (now, after.rewards[:, SEAT], over, after.final_vp[:, SEAT] * over)

    def earlier(carry, now):  # generalized advantage estimates, gamma 1, lambda 0.97
        (advantage, following), (value, reward, over) = carry, now
        advantage = reward + ~over * following - value + ~over * 0.97 * advantage
        return (advantage, value), advantage

    def loss(params, batch):
        (seen, mask, own, action, old, value), advantage = batch
        log_probs, values = policy(params, seen, mask)
        ratio = jnp.exp(jnp.take_along_axis(log_probs, action[:, None], -1)[:, 0] - old)
        scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        actor = jnp.minimum(ratio * scaled, jnp.clip(ratio, 0.8, 1.2) * scaled)
        entropy = -jnp.where(mask, jnp.exp(log_probs) * log_probs, 0).sum(-1)
        actor = ((actor + 0.01 * entropy) * own).sum() / jnp.maximum(own.sum(), 1)
        return 0.5 * jnp.square(values - value - advantage).mean() - actor

    def learn(carry, batch):
        params, opt_state = carry
        change, opt_state = optimizer.update(jax.grad(loss)(params, batch), opt_state)
        return (optax.apply_updates(params, change), opt_state), None

    def update(carry, key):
        params, opt_state, state = carry
        deal, shuffle = jax.random.split(key)
        (_, state), (now, reward, over, vp) = jax.lax.scan(
            play, (params, state), jax.random.split(deal, decisions)
        )
        seen = jax.vmap(env.observe, (0, None))(state, SEAT)
        last = policy(params, seen, state.legal_action_mask)[1]
        start = (jnp.zeros(games), last)
        advantage = jax.lax.scan(earlier, start, (now[-1], reward, over), reverse=True)[1]

        def epoch(carry, key):
            order = jax.random.permutation(key, games * decisions).reshape(minibatches, -1)
            rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[order], (now, advantage))
            return jax.lax.scan(learn, carry, rows)

        (params, opt_state), _ = jax.lax.scan(
            epoch, (params, opt_state), jax.random.split(shuffle, epochs)
        )
        return (params, opt_state, state), (over.sum(), vp.sum() / jnp.maximum(over.sum(), 1))

    def train(key):
        init, deal, run = jax.random.split(key, 3)
        state = jax.vmap(auto.init)(jax.random.split(deal, games))
        params = network.init(init, env.observe(jax.tree.map(lambda x: x[0], state), SEAT))
        start = (params, optimizer.init(params), state)
        (params, _, _), history = jax.lax.scan(update, start, jax.random.split(run, updates))
        return params, history

    return train


def main(env=None, opponent=None, **changes):
    env = env or gaia_jax.make("lost_fleet", reward="vp")
    opponent = opponent or training.make_baseline_model("zoo/strong", env)
    params, (ended, vp) = jax.jit(make_train(env, opponent, **CONFIG | changes))(jax.random.key(0))
    for i, (games, mean) in enumerate(zip(ended, vp, strict=True), start=1):
        if games:
            print(f"{i:4}  {int(games):4} games  {float(mean):6.1f} VP  {'#' * int(mean / 2)}")
    return params, (ended, vp)


if __name__ == "__main__":
    main()
