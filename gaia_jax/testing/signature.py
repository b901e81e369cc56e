"""Compare the games of this machine with those of the release: `gaia check`.

256 random games are played and everything that they decide is hashed: set-ups, legal actions, the
actions played, VP by source. All of it is integers, so another processor, driver or version of JAX
that follows the rules has the same signature, whatever its rounding.
"""

from __future__ import annotations

import hashlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv
from gaia_jax.xla.jax_config import own_jax_config
from gaia_jax.xla.stored_programs import env_jit

GAMES = 256
# Of rulesets for four players, as `gaia check --env ID` prints it.
RELEASED = {
    "lost_fleet": "52f64e9a26b5def2c918a69c829fd7ea7df68ea1503ffdad1e14a50e7efe32ed",
    "lost_fleet_published": "8d4433ac11e6922ed5b43912aec11cb2f34584461ef47010c9c0ab3d59fea270",
    "base": "e169662324eea34b38ff47534bf3efe6d41f6bcfdd3f508e1ebccb5c4a46b3f5",
}


@own_jax_config
def signature(env: GaiaEnv, games: int = GAMES) -> tuple[str, int]:
    """SHA-256 of random games, and the number of their decisions.

    Game g has the set-up of `jax.random.key(g)`; `choose` draws its actions.
    """
    keys = jax.vmap(lambda seed: jax.random.key(seed, impl="threefry2x32"))(jnp.arange(games))
    state, step = env_jit(env, "init", batched=True)(keys), env_jit(env, "step", batched=True)
    digest = hashlib.sha256(f"{env.id} {env.version} {env.num_players}".encode())

    def add(x: object) -> None:
        digest.update(np.ascontiguousarray(x, "<i4").tobytes())

    for leaf in jax.tree.leaves(jax.device_get(state.game.setup)):
        add(leaf)
    decisions = 0
    while (live := ~np.asarray(state.terminated | state.truncated)).any():
        action, count = choose(state.legal_action_mask, jnp.uint32(decisions))
        choices = np.stack([np.asarray(x) for x in (state.current_player, count, action)], -1)
        add(np.where(live[:, None], choices, -1))
        state, decisions = step(state, action), decisions + 1
    players = jax.device_get(state.game.players)
    add(players.vp)
    add(players.vp_source)
    return digest.hexdigest(), int(state.step_count.sum())


@jax.jit
def choose(mask: Array, decision: Array) -> tuple[Array, Array]:
    """A random legal action of each game, by integers alone.

    Args:
        mask: (G, A) bool. decision: () uint32, the number of the decision.
    Returns:
        (G,) int32 actions, (G,) uint32 numbers of legal actions.
    """
    game = jnp.arange(len(mask), dtype=jnp.uint32)
    x = game * jnp.uint32(0x9E3779B1) + decision * jnp.uint32(0x85EBCA77)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):  # mixes the bits, by C. Wellons
        x = (x ^ (x >> shift)) * jnp.uint32(factor)
    count = mask.sum(-1, dtype=jnp.uint32)
    place = (x ^ (x >> 16)) % count
    passed = jnp.cumsum(mask, -1, dtype=jnp.uint32) > place[:, None]
    return jnp.argmax(passed, -1).astype(jnp.int32), count
