"""Learning from recorded games: behaviour cloning and advantage-weighted regression (AWR).

    gaia export --agents zoo/quick,zoo/quick,zoo/quick,zoo/quick --games 2048 --out data/quick
    python examples/offline.py data/quick

Both networks learn from the same batches of `gaia_jax.data.transitions`. The clone imitates every
decision; AWR weighs each by exp(advantage / temperature), the advantage being the return from there
on minus the value that the network expects. Then both play a table with two random players. Needs
pyarrow, flax and optax (the extra `data`). Without an argument it reads docs/sample.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from ppo import ActorCritic

import gaia_jax
import gaia_jax.data
import gaia_training as training

CONFIG = {
    "batches": 600,
    "batch": 256,
    "learning_rate": 1e-3,
    "temperature": 0.1,  # in rewards: 10 VP
    "heaviest": 10.0,  # weight of a decision
    "games": 64,
}
FILES = {"clone": "runs/clone.npz", "awr": "runs/awr.npz"}


def make_update(network, optimizer, config):
    """One step of both networks: (state by name, batch) -> state, log-likelihood by name."""

    def loss(params, batch, is_weighted):
        logits, values = jax.vmap(network.apply, (None, 0))(params, batch["observation"])
        log_probs = jax.nn.log_softmax(jnp.where(batch["mask"], logits, -1e9))
        log_prob = jnp.take_along_axis(log_probs, batch["action"][:, None], 1)[:, 0]
        advantage = batch["return_to_go"] - values[:, 0]  # own seat first
        weight = jnp.exp(jax.lax.stop_gradient(advantage) / config["temperature"])
        weight = jnp.minimum(weight, config["heaviest"]) if is_weighted else 1.0
        return (jnp.square(advantage) - weight * log_prob).mean(), log_prob.mean()

    def learn(state, batch, is_weighted):
        params, opt_state = state
        grads, log_prob = jax.grad(loss, has_aux=True)(params, batch, is_weighted)
        updates, opt_state = optimizer.update(grads, opt_state)
        return (optax.apply_updates(params, updates), opt_state), log_prob

    @jax.jit
    def update(states, batch):
        learned = {name: learn(state, batch, name == "awr") for name, state in states.items()}
        return {n: x[0] for n, x in learned.items()}, {n: x[1] for n, x in learned.items()}

    return update


def batches_of(path, env, config):
    """`config["batches"]` batches, with what the update reads."""
    names = ("observation", "mask", "action", "return_to_go")
    stream = gaia_jax.data.transitions(
        path, env, config["batch"], observation="tree", epochs=None, group=32
    )
    for _, batch in zip(range(config["batches"]), stream, strict=False):
        yield {name: batch[name] for name in names}


def main(path="docs/sample", env=None, files=FILES, **changes):
    config = CONFIG | changes
    env = env or gaia_jax.make("lost_fleet", reward="vp")
    network = ActorCritic(env.num_actions)
    optimizer = optax.adam(config["learning_rate"])
    update, states, recent = make_update(network, optimizer, config), None, []
    for number, batch in enumerate(batches_of(path, env, config), start=1):
        if states is None:
            first = jax.tree.map(lambda x: x[0], batch["observation"])
            params = network.init(jax.random.key(0), first)
            states = {name: (params, optimizer.init(params)) for name in files}
        states, log_probs = update(states, batch)
        recent.append([float(log_probs[name]) for name in files])
        if number % max(config["batches"] // 10, 1) == 0:
            means = np.mean(recent, axis=0)
            means_text = "  ".join(f"{n} {x:6.3f}" for n, x in zip(files, means, strict=True))
            print(
                f"{number:6} batches  log-likelihood of the actions played: {means_text}",
                flush=True,
            )
            recent = []
    for name, file in files.items():
        training.save_agent(file, network.apply, states[name][0], env)
    others = ["random"] * (env.num_players - len(files))
    report = training.arena([*files.values(), *others], games=config["games"], env=env)
    for name, row in report["agents"].items():
        print(f"{name:14} {row['vp']['mean']:6.1f} VP, {row['win_share']['mean']:.2f} of the wins")
    return report


if __name__ == "__main__":
    main(*sys.argv[1:])
