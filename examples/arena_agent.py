"""An agent of your own in the arena, against the random one:

    PYTHONPATH=examples gaia arena --games 64 \\
        --agents arena_agent:builder,random,random,random

`builder` takes a mine wherever one is to be had, else the first upgrade, else something random.
"""

import jax
import jax.numpy as jnp

import gaia_jax

_RULESET = gaia_jax.make("lost_fleet").ruleset
_CELLS = _RULESET.geometry.num_cells


def builder(params, state, mask, key):
    """Decide for a batch of games.

    Args:
        params: `builder.params`: how much each plane of the index is worth.
        state: states, leading axis B; the current player decides.
        mask: (B, A) bool, what may be chosen.
        key: one random key.
    Returns:
        (B,) int32.
    """
    score = jnp.zeros(mask.shape[-1]).at[:_CELLS].set(params["mine"])
    score = score.at[2 * _CELLS : 3 * _CELLS].set(params["upgrade"])
    noise = jax.random.uniform(key, mask.shape)
    return jnp.argmax(jnp.where(mask, score + noise, -jnp.inf), axis=-1)


builder.params = {"mine": 2.0, "upgrade": 1.0}
