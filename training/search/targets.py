"""Targets from a search for a trainer: expert iteration on a part of the states."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from training.search.base import SearchOptions
from training.search.environment import Evaluate, environment_model
from training.search.gumbel import gumbel_search


class SearchTargets(NamedTuple):
    """What a search says of n states."""

    policy: Array  # (n, A) float32, sums to 1 over the legal actions; 0 elsewhere
    value: Array  # (n, P) float32, by player, in the units of the network
    action: Array  # (n,) int32, what the search would play
    changed: Array  # (n,) bool, where that is not the policy's likeliest action
    looked: Array  # (n,) bool, where more than the network was asked


def search_targets(
    env: Any,
    evaluate: Evaluate,
    params: Any,
    state: Any,
    key: Array,
    num_simulations: int = 8,
    reward_scale: float = 1.0,
    options: SearchOptions | None = None,
) -> SearchTargets:
    """A better policy at n states, by search. Pure; for use under `jit`, `scan` and `shard_map`.

    Cost with the default, the one-layer search: `num_simulations` steps and evaluations a state,
    in one batched call. The policy target is softmax(logits + completed Q): also what was not tried
    keeps its place, with the value that it is taken to have. No gradient passes.

    Args:
        env: without auto-reset; its rewards are those that the values stand for.
        evaluate: `evaluate(params, states)` -> logits (n, A) and the values by player (n, P) of
            what is still to come, in rewards times `reward_scale`.
        params: handed to `evaluate`.
        state: n states, leading axis n, of `env` or of its auto-reset: ended games are taken for
            what they are there, the first of a new game.
        key: (n,) keys, one a state: then the result of a state depends on nothing else. Or one.
        num_simulations: how many actions are tried; grow it over the training from 4 to 16 (each
            number is a program of its own).
        options: with `max_depth` other than 1 a tree search of so many simulations instead, with
            `lines` lines of so many moves together; None: one layer, with Gumbel noise.
    Returns:
        The targets; where only one action is legal, `policy` is that action.
    """
    options = options or SearchOptions(max_depth=1)
    never = jnp.zeros(state.current_player.shape, bool)
    state = state.replace(terminated=never, truncated=never)
    model = environment_model(env, evaluate, reward_scale, followed=0)
    root = model.root(params, state)
    out = gumbel_search(params, key, root, model.recurrent, num_simulations, options)
    legal = root.legal_actions
    likeliest = jnp.argmax(jnp.where(legal, root.prior_logits, -jnp.inf), axis=-1)
    found = SearchTargets(
        policy=jnp.where(legal, out.action_weights, 0),
        value=out.value,
        action=out.action,
        changed=out.action != likeliest,
        looked=(out.candidates.visits > 0).any(-1),
    )
    return jax.lax.stop_gradient(found)
