"""16 random games to their ends, in one compiled program: `python examples/random_rollout.py`."""

import jax

import gaia_jax
from gaia_jax.testing import sample_legal

env = gaia_jax.make("lost_fleet", reward="margin")


def decide(state, key):
    """One random legal decision in every game."""
    uniform = jax.random.uniform(key, state.current_player.shape)
    action = jax.vmap(sample_legal)(state.legal_action_mask, uniform)
    return jax.vmap(env.step)(state, action), None


def main(games=16, decisions=600):
    gaia_jax.enable_compilation_cache()  # the next start does not compile
    start, play = jax.random.split(jax.random.key(0))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(start, games))
    keys = jax.random.split(play, decisions)
    state, _ = jax.jit(lambda state: jax.lax.scan(decide, state, keys))(state)
    print(f"{int(state.terminated.sum())} of {games} games ended; VP by player:")
    print(state.game.players.vp)


if __name__ == "__main__":
    main()
