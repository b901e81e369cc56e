"""A search on an environment: the root and the recurrent function of any that has the face of pgx.

It needs `env.step(state, action)` of one state, and in the state `current_player`,
`legal_action_mask`, `rewards` by player, `terminated` and `truncated`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from training.search.base import RecurrentFn, RecurrentFnOutput, RootFnOutput

# (params, states (B, ...)) -> logits (B, A) and, of every player, what is still to come (B, P)
Evaluate = Callable[[Any, Any], tuple[Array, Array]]

FOLLOWED = 8


class Model(NamedTuple):
    """What a search asks of an environment and a network."""

    root: Callable[[Any, Any], RootFnOutput]  # (params, states)
    recurrent: RecurrentFn


def environment_model(
    env: Any, evaluate: Evaluate, reward_scale: float = 1.0, followed: int = FOLLOWED
) -> Model:
    """The model of a deterministic environment, gamma 1.

    Args:
        evaluate: the network.
        reward_scale: values are in rewards times this.
        followed: a decision with one option is no decision: so many of them in a row are taken
            with the action that leads to them, and cost no simulation.
    """

    def root(params: Any, state: Any) -> RootFnOutput:
        logits, value = evaluate(params, state)
        legal = state.legal_action_mask
        player = state.current_player.astype(jnp.int32)
        return RootFnOutput(logits, value, player, legal, _without_mask(state))

    def recurrent(
        params: Any, key: Array, action: Array, state: Any
    ) -> tuple[RecurrentFnOutput, Any]:
        full = jnp.ones((action.shape[0], _num_actions(env)), bool)
        state = jax.vmap(env.step)(state.replace(legal_action_mask=full), action)
        state, reward = _follow(env, state, followed)
        over = state.terminated | state.truncated
        logits, value = evaluate(params, state)
        out = RecurrentFnOutput(
            reward=reward * reward_scale,
            discount=jnp.where(over, 0.0, 1.0),
            prior_logits=logits,
            value=jnp.where(over[:, None], 0.0, value),
            to_play=state.current_player.astype(jnp.int32),
            legal_actions=state.legal_action_mask,
            terminal=over,
        )
        return out, _without_mask(state)

    return Model(root, recurrent)


def _num_actions(env: Any) -> int:
    return int(env.num_actions)


def _without_mask(state: Any) -> Any:
    """The state as the tree keeps it: the mask is in the edges already."""
    return state.replace(legal_action_mask=jnp.zeros((*state.current_player.shape, 0), bool))


def _follow(env: Any, state: Any, most: int) -> tuple[Any, Array]:
    """The first states with a choice, or the ends, after `state`; and what was paid up to there."""

    def forced(state: Any, count: Array) -> Array:
        over = state.terminated | state.truncated
        return (jnp.sum(state.legal_action_mask, axis=-1) == 1) & ~over & (count < most)

    def on(carry: tuple[Any, Array, Array]) -> tuple[Any, Array, Array]:
        state, reward, count = carry
        goes = forced(state, count)
        after = jax.vmap(env.step)(state, jnp.argmax(state.legal_action_mask, axis=-1))

        def pick(new: Array, old: Array) -> Array:
            return jnp.where(goes.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        reward = reward + jnp.where(goes[:, None], after.rewards, 0)
        return jax.tree.map(pick, after, state), reward, count + 1

    start = state, state.rewards.astype(jnp.float32), jnp.int32(0)
    state, reward, _ = jax.lax.while_loop(lambda c: forced(c[0], c[2]).any(), on, start)
    return state, reward
