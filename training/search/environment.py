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

from ..types import Environment, EnvState, Params
from .base import RecurrentFn, RecurrentFnOutput, RootFnOutput

# (params, states (B, ...)) -> logits (B, A) and remaining rewards by player (B, P)
Evaluate = Callable[[Any, Any], tuple[Array, Array]]
# The same, but the legal action with the highest logit (B,) int32 instead of the logits
BestAction = Callable[[Any, Any], tuple[Array, Array]]

MAX_FORCED = 8


class Model(NamedTuple):
    """The functions of an environment and a network that a search calls."""

    root: Callable[[Any, Any], RootFnOutput]  # (params, states)
    recurrent_fn: RecurrentFn
    rollout_fn: RecurrentFn  # the same for rollouts: the best action instead of logits


def environment_model(
    env: Environment,
    evaluate: Evaluate,
    reward_scale: float = 1.0,
    max_forced: int = MAX_FORCED,
    best_action: BestAction | None = None,
) -> Model:
    """The model of a deterministic environment, gamma 1.

    Args:
        evaluate: the network.
        best_action: the same network, without its logits.
        reward_scale: values are in rewards times this.
        max_forced: up to this many decisions in a row with a single option are played together with
            the action that leads to them, and cost no simulation.
    """

    def root(params: Params, state: EnvState) -> RootFnOutput:
        logits, value = evaluate(params, state)
        legal = state.legal_action_mask
        player = state.current_player.astype(jnp.int32)
        return RootFnOutput(logits, value, player, legal, _without_mask(state))

    def advance(action: Array, state: EnvState) -> tuple[Any, Array]:
        full = jnp.ones((action.shape[0], env.num_actions), bool)
        return _advance(env, state.replace(legal_action_mask=full), action, max_forced)

    def output(state: EnvState, reward: Array, logits: Array, value: Array) -> RecurrentFnOutput:
        over = state.terminated | state.truncated
        return RecurrentFnOutput(
            reward=reward * reward_scale,
            discount=jnp.where(over, 0.0, 1.0),
            prior_logits=logits,
            value=jnp.where(over[:, None], 0.0, value),
            to_play=state.current_player.astype(jnp.int32),
            legal_actions=state.legal_action_mask,
            terminal=over,
        )

    def recurrent_fn(
        params: Params, key: Array, action: Array, state: EnvState
    ) -> tuple[RecurrentFnOutput, Any]:
        state, reward = advance(action, state)
        return output(state, reward, *evaluate(params, state)), _without_mask(state)

    def rollout_fn(
        params: Params, key: Array, action: Array, state: EnvState
    ) -> tuple[RecurrentFnOutput, Any]:
        assert best_action is not None
        state, reward = advance(action, state)
        best, value = best_action(params, state)
        out = output(state, reward, jnp.zeros((len(best), 0)), value)._replace(best_action=best)
        return out, _without_mask(state)

    return Model(root, recurrent_fn, recurrent_fn if best_action is None else rollout_fn)


def _without_mask(state: EnvState) -> Any:
    """The state as the tree keeps it: the mask is in the edges already."""
    return state.replace(legal_action_mask=jnp.zeros((*state.current_player.shape, 0), bool))


def _advance(
    env: Environment, state: EnvState, action: Array, max_forced: int
) -> tuple[Any, Array]:
    """The states after `action` (B,) and the forced ones that follow; what was paid (B, P)."""
    step = jax.vmap(env.step)
    if not max_forced:
        state = step(state, action)
        return state, state.rewards.astype(jnp.float32)

    # The loop contains the first step too: the environment is compiled once.
    def on(carry: tuple[Any, Array, Array, Array]) -> tuple[Any, Array, Array, Array]:
        state, action, reward, live = carry
        after = step(state, action)

        def pick(new: Array, old: Array) -> Array:
            return jnp.where(live.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        reward = reward + jnp.where(live[:, None], after.rewards, 0)
        state = jax.tree.map(pick, after, state)
        options = jnp.sum(state.legal_action_mask, axis=-1)
        live = live & (options == 1) & ~(state.terminated | state.truncated)
        return state, jnp.argmax(state.legal_action_mask, axis=-1), reward, live

    def continues(carry: tuple[Any, tuple[Any, Array, Array, Array]]) -> Array:
        count, (_, _, _, live) = carry
        is_live: Array = (count <= max_forced) & live.any()
        return is_live

    def counted(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        return carry[0] + 1, on(carry[1])

    action = action.astype(jnp.int32)
    nothing = jnp.zeros(state.rewards.shape, jnp.float32)
    start = state, action, nothing, jnp.ones(action.shape, bool)
    _, (state, _, reward, _) = jax.lax.while_loop(continues, counted, (jnp.int32(0), start))
    return state, reward
