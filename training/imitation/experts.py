"""Whose games the labels are: the scripted player, or an agent with a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.cli.command_line import UserError

from ..agents.greedy import GreedySearch, Weights, as_params
from ..agents.registry import make_agent, parse_name
from ..agents.search import make_search
from ..system.environments import is_solo
from ..types import Environment, EnvState, Params

BEST = 8  # candidates kept of each decision
SCRIPTED = "greedy"


class Expert(NamedTuple):
    """Who labels a decision."""

    params: Params
    # (params, states (N, ...), keys (N,)) -> the best candidates (N, BEST) int32, the one to play
    # first, and their logits (N, BEST) float32: softmax(logits / temperature) is the target.
    candidates: Callable[[Params, EnvState, Array], tuple[Array, Array]]


def make_expert(name: str, env: Environment) -> Expert:
    """The expert of this name.

    Args:
        name: "greedy", whose logits are the values of its candidates in VP; or NAME+search:N, whose
            logits are those of the improved policy, so that the temperature 1 fits them; the move
            that the search plays has the highest.
        env: with the turns that the student plays.
    Raises:
        UserError: an agent without a search; `greedy` in the solo game, whose hidden cards it would
            look at; as `make_agent`.
    """
    if name == SCRIPTED:
        if is_solo(env):
            raise UserError(
                "labels of greedy need env.players of at least 2, got 1; for one player name "
                "--expert AGENT+search:N"
            )
        return _scripted(env)
    parts = parse_name(name)
    if parts.search is None:
        raise UserError(f"--expert is {SCRIPTED} or AGENT+search:N, got {name!r}")
    base = make_agent(parts.base, env)
    if base.policy is None:
        raise UserError(f"--expert {name!r}: {parts.base} has no policy to search with")
    search, _ = make_search(env, base.policy, parts.search)

    def candidates(params: Params, state: EnvState, keys: Array) -> tuple[Array, Array]:
        output = search(params, state, keys)
        logits = jnp.log(output.action_weights)
        # The search plays the best of the actions that it tried; no other comes before that one.
        played = jnp.arange(logits.shape[1]) == output.action[:, None]
        highest = jnp.max(logits, axis=1, keepdims=True)
        return _best(jnp.where(played, highest + 1e-3, logits))

    return Expert(base.params, candidates)


def _scripted(env: Environment) -> Expert:
    search = GreedySearch(env, slots=128)

    def candidates(params: Params, state: EnvState, keys: Array) -> tuple[Array, Array]:
        actions, values = search.evaluate(params, state, state.legal_action_mask)
        values, order = jax.lax.top_k(values, BEST)
        return jnp.take_along_axis(actions, order, axis=1), values

    return Expert(as_params(Weights()), candidates)


def _best(logits: Array) -> tuple[Array, Array]:
    """The `BEST` actions with the highest logits, and these."""
    logits, actions = jax.lax.top_k(logits, BEST)
    return actions.astype(jnp.int32), logits
