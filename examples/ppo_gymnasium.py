"""PPO on `GaiaVectorEnv` in one file, in the manner of CleanRL: five minutes against `random`.

    python examples/ppo_gymnasium.py

The loop is Python; the games of a step are one compiled program with the opponents inside. Needs
gymnasium, flax and optax (the extras `adapters` and `train`). Prints VP, lead and wins of the games
that ended, for each update; the first policy plays as `random` does.
"""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

import gaia_jax
from gaia_jax.adapters.gymnasium import GaiaVectorEnv

CONFIG = {
    "games": 64,
    "steps": 64,  # own decisions of each game in one update
    "epochs": 4,
    "minibatches": 4,
    "learning_rate": 1e-3,
    "gae_lambda": 0.95,  # gamma is 1: a game ends by itself
    "clip": 0.2,
    "entropy": 0.01,
    "value": 0.5,
}


class ActorCritic(nn.Module):
    """Logits (..., A) and values (...) of scaled observations (..., n)."""

    num_actions: int
    width: int = 128

    @nn.compact
    def __call__(self, seen):
        for _ in range(2):
            seen = nn.relu(nn.Dense(self.width)(seen))
        small = nn.initializers.orthogonal(0.01)
        return nn.Dense(self.num_actions, kernel_init=small)(seen), nn.Dense(1)(seen)[..., 0]


def make_functions(network, optimizer, config):
    """`act` and `update`, compiled."""

    def policy(params, seen, mask):
        logits, values = network.apply(params, seen)
        return jax.nn.log_softmax(jnp.where(mask, logits, -1e9)), values

    @jax.jit
    def act(params, seen, mask, key):
        log_probs, values = policy(params, seen, mask)
        actions = jax.random.categorical(key, log_probs)
        return actions, jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0], values

    def loss(params, rows):
        log_probs, values = policy(params, rows["seen"], rows["mask"])
        new = jnp.take_along_axis(log_probs, rows["action"][:, None], 1)[:, 0]
        ratio, advantage, counts = (
            jnp.exp(new - rows["log_prob"]),
            rows["advantage"],
            rows["counts"],
        )
        clipped = jnp.clip(ratio, 1 - config["clip"], 1 + config["clip"])
        entropy = -jnp.where(rows["mask"], jnp.exp(log_probs) * log_probs, 0).sum(-1)
        gain = jnp.minimum(ratio * advantage, clipped * advantage) + config["entropy"] * entropy
        error = jnp.square(values - rows["target"])
        return ((config["value"] * error - gain) * counts).sum() / jnp.maximum(counts.sum(), 1)

    @jax.jit
    def update(params, opt_state, rows, key):
        def _update_minibatch(carry, minibatch):
            params, opt_state = carry
            updates, opt_state = optimizer.update(jax.grad(loss)(params, minibatch), opt_state)
            return (optax.apply_updates(params, updates), opt_state), None

        def _update_epoch(carry, key):
            order = jax.random.permutation(key, len(rows["action"]))
            split = jax.tree.map(
                lambda x: x[order].reshape(config["minibatches"], -1, *x.shape[1:]), rows
            )
            return jax.lax.scan(_update_minibatch, carry, split)

        keys = jax.random.split(key, config["epochs"])
        return jax.lax.scan(_update_epoch, (params, opt_state), keys)[0]

    return act, update


def advantages_of(rows, last, gae_lambda):
    """Generalized advantage estimates (T, N) of rewards, values and ends, gamma 1."""
    advantages, following, advantage = np.zeros_like(rows["reward"]), last, np.zeros_like(last)
    for t in reversed(range(len(advantages))):
        goes_on = 1 - rows["done"][t]
        delta = rows["reward"][t] + goes_on * following - rows["value"][t]
        advantages[t] = advantage = delta + goes_on * gae_lambda * advantage
        following = rows["value"][t]
    return advantages


def main(env=None, minutes=5.0, **changes):
    config = CONFIG | changes
    envs = GaiaVectorEnv(config["games"], env or gaia_jax.make("base", reward="vp", players=2))
    network = ActorCritic(envs.single_action_space.n)
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(config["learning_rate"]))
    act, update = make_functions(network, optimizer, config)
    seen, infos = envs.reset(seed=0)
    key, init = jax.random.split(jax.random.key(0))
    params = network.init(init, seen)
    opt_state, was_done, history = optimizer.init(params), np.zeros(config["games"], bool), []
    decisions, start = 0, time.perf_counter()
    while not history or time.perf_counter() - start < 60 * minutes:
        steps, ended = [], []
        for _ in range(config["steps"]):
            key, draw = jax.random.split(key)
            mask = infos["action_mask"].astype(bool)
            action, log_prob, value = jax.device_get(act(params, seen, mask, draw))
            now = {"seen": seen, "mask": mask, "action": action, "log_prob": log_prob}
            seen, reward, terminated, truncated, infos = envs.step(action)
            done = terminated | truncated
            # The step after the end of a game deals a new one: it is no decision.
            now |= {"value": value, "reward": reward, "done": done, "counts": ~was_done}
            steps.append(now)
            ended += [[infos[n][i] for n in ("vp", "vp_margin", "won")] for i in done.nonzero()[0]]
            was_done = done
        rows = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
        last = jax.device_get(act(params, seen, infos["action_mask"].astype(bool), draw))[2]
        rows["advantage"] = advantages_of(rows, last, config["gae_lambda"])
        rows["target"] = rows["advantage"] + rows["value"]
        rows["advantage"] /= rows["advantage"].std() + 1e-8
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)
        key, shuffle = jax.random.split(key)
        params, opt_state = update(params, opt_state, flat, shuffle)
        decisions += int(rows["counts"].sum())
        vp, lead, won = np.mean(ended, axis=0) if ended else [np.nan] * 3
        history.append((decisions, len(ended), vp, lead, won))
        if len(history) == 1:
            start = time.perf_counter()  # everything is compiled
        bar = "#" * int(np.nan_to_num(vp) / 2)
        print(f"{decisions:9} decisions  {vp:6.1f} VP  {lead:+6.1f} lead  {won:4.0%} won  {bar}")
    return params, history


if __name__ == "__main__":
    main()
