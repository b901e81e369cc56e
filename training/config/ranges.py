"""What the numbers of a configuration may be."""

from __future__ import annotations

from gaia_jax.cli.command_line import LARGEST_SEED

CHOICES = {
    "env.reward": ("vp", "margin", "rank", "win"),
    "network.mixing": ("pool", "attention", "flat"),
    "network.dtype": ("float32", "bfloat16"),
}
MAY_BE_ZERO = {
    "seed",
    "eval.games",
    "eval.chunks",
    "eval.seed",
    "network.layers",
    "network.planets",
    "ppo.lr_end",
    "ppo.gae_lambda",
    "train.cpu_devices",
    "train.processes",
    "train.process_id",
    "ppo.value_coef",
    "ppo.entropy_coef",
    "ppo.entropy_end",
    "ppo.average",
    "ppo.opponents",
    "ppo.spread",
    "ppo.riches",
    "train.max_minutes",
}
# The most that a number may be; what is not named here: a 32-bit whole number, or FAR.
FAR = 1e9
MOST = {
    "seed": LARGEST_SEED,
    "network.layers": 64,
    "network.cell_width": 4096,
    "network.width": 4096,
    "network.latents": 1024,
    "network.heads": 256,
    "ppo.num_envs": 2**20,
    "ppo.num_steps": 2**16,
    "ppo.minibatches": 2**16,
    "ppo.epochs": 1000,
    "ppo.lr": 10,
    "ppo.lr_end": 10,
    "ppo.gae_lambda": 1,
    "ppo.spread": 2**20,
    "ppo.keep": 1,
    "ppo.riches": 1,
    "ppo.average": 1,
    "ppo.opponents": 1,
    "network.planets": 4096,
    "train.updates_per_chunk": 10_000,
    "train.cpu_devices": 1024,
    "eval.games": 10**7,
    "eval.chunk_games": 10**7,
    "eval.seed": LARGEST_SEED,
    "env.players": 4,
}
