"""mctx searches the own turn: which decisions gain the most VP before another player decides?

    python examples/mctx_turn.py

mctx backs up one number, so it cannot weigh four players against each other. Within one's own turn
only one player counts: the tree ends where another player decides. Requires `pip install mctx`;
`docs/reference/search.md` describes a search for four players.
"""

import jax
import jax.numpy as jnp
import mctx

import gaia_jax


def priors(mask):
    """Every legal action alike; the others never."""
    return jnp.where(mask, 0.0, -1e9)


def make_search(env, simulations):
    """`search(states, key) -> (B,) int32`, an action for each of B games."""

    def recurrent_fn(params, key, action, embedding):
        state, player = embedding
        after = jax.vmap(env.step)(state, action)
        own = after.current_player == player
        continues = own & ~after.terminated & ~after.truncated & ~state.terminated
        gained = jnp.take_along_axis(after.rewards, player[:, None], axis=-1)[:, 0]
        output = mctx.RecurrentFnOutput(
            reward=jnp.where(state.terminated, 0.0, gained),
            discount=continues.astype(jnp.float32),
            prior_logits=priors(after.legal_action_mask),
            value=jnp.zeros_like(gained),
        )
        return output, (after, player)

    def search(state, key):
        root = mctx.RootFnOutput(
            prior_logits=priors(state.legal_action_mask),
            value=jnp.zeros(state.current_player.shape),
            embedding=(state, state.current_player),
        )
        output = mctx.gumbel_muzero_policy(
            params=(),
            rng_key=key,
            root=root,
            recurrent_fn=recurrent_fn,
            num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
        )
        return output.action

    return search


def main(env=None, games=8, simulations=32, decisions=4):
    gaia_jax.enable_compilation_cache()  # the next start does not compile
    env = env or gaia_jax.make("lost_fleet", reward="vp")
    step, search = jax.jit(jax.vmap(env.step)), jax.jit(make_search(env, simulations))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), games))
    for i in range(decisions):
        action = search(state, jax.random.key(i))
        print(gaia_jax.actions.to_text(env.ruleset, int(action[0])), "in the first game")
        state = step(state, action)
    return state


if __name__ == "__main__":
    main()
