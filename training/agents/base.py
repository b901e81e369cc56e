"""The interface of agents, and the agents that need no file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.rewards import VP_SCALE
from gaia_jax.xla.jax_config import own_jax_config

from ..networks import sampling
from ..search.keys import one_a_row
from ..system.batched import by_player, clear_end_marks, observing
from ..system.environments import has_short_turns, is_solo, level_of, policy_mask
from ..types import Environment, EnvState, Params, PolicyNetwork

HIDDEN_STREAM = 0x41DD  # folded into the keys that draw hidden cards
BLOCK = 64  # rows that a network decides at a time on a CPU


class Act(Protocol):
    """The decision of an agent in B games."""

    def __call__(self, params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        """
        Args:
            params: the agent's parameters, a pytree of arrays.
            state: the environment's states, leading axis B; the current player decides.
            mask: (B, A) bool, the allowed actions: the legal ones, or in games where another agent
                decides any one of them.
            key: one random key; (B,) keys, one for each game, if the agent is `by_game`.
        Returns:
            (B,) int32, actions that are True in `mask`.
        """


# `Policy.reward` of an agent trained with `recipe.opponent_weight`: no game pays it.
LESS_OPPONENTS = "vp less opponents"


class Policy(NamedTuple):
    """The network of an agent, as a search needs it."""

    # (params, states (B, ...)) -> logits (B, A) and, by player, the values (B, P) of what is still
    # to come: rewards of the kind `reward` times `reward_scale`.
    evaluate: Callable[[Any, Any], tuple[Array, Array]]
    reward: str = "vp"
    reward_scale: float = 10.0
    # (params, states) -> the legal action with the highest logit (B,) int32, and the values; None:
    # derive both from `evaluate`.
    best_action: Callable[[Any, Any], tuple[Array, Array]] | None = None
    temperature: float = 1.0  # its logits are divided by this before an action is drawn
    short_turns: bool = False  # it ends its turn after every main action (`env.short_turns`)

    @property
    def vp(self) -> float:
        """The value of one VP for the network; rewards by place count as rewards by margin."""
        return self.reward_scale / VP_SCALE


class Agent(NamedTuple):
    """A player: its name, how it decides, and the arrays it decides with."""

    name: str
    act: Act
    params: Any = ()
    # It asks for no more where only one action is left: then it is called on the whole batch. The
    # others are called on as many rows as they have to decide.
    cheap_when_forced: bool = False
    policy: Policy | None = None
    # It takes a key for each game, so that no game depends on the others in its batch.
    by_game: bool = False
    # Of a batch of B games: how many it plays ahead side by side, in
    # `training.system.batched.stepping`.
    slots: Callable[[int], int] | None = None


def fingerprint(agent: Agent) -> str:
    """SHA-256 of an agent's name and parameters."""
    digest = hashlib.sha256(agent.name.encode())
    leaves, tree = jax.tree.flatten(agent.params)
    digest.update(str(tree).encode())
    for leaf in leaves:
        array = np.asarray(jax.device_get(leaf))
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def uniforms(key: Array, games: int) -> Array:
    """(B,) uniform numbers, from one key or from (B,) keys."""
    return (
        jax.vmap(jax.random.uniform)(key) if one_a_row(key) else jax.random.uniform(key, (games,))
    )


def redraw_hidden(env: Environment, state: EnvState, key: Array) -> Any:
    """The states (B, ...) with the cards that are hidden from the players drawn again.

    Only a solo game hides anything, the cards of the Automa.

    Args:
        key: one key, or (B,) keys.
    """
    if not is_solo(env):
        return state
    keys = key if one_a_row(key) else jax.random.split(key, len(state.current_player))
    keys = jax.vmap(jax.random.fold_in, (0, None))(keys, HIDDEN_STREAM)
    return jax.vmap(env.redraw_hidden)(state, keys)  # type: ignore[attr-defined]


def in_blocks(decide: Callable[..., Any], *rows: Any) -> Any:
    """`decide(*rows)` for B rows; on a CPU for `BLOCK` at a time, which stay in its cache.

    Args:
        rows: trees of arrays, leading axis B. Where B is no multiple of `BLOCK` all go at once.
    """
    batch = len(jax.tree.leaves(rows)[0])
    if jax.default_backend() != "cpu" or batch <= BLOCK or batch % BLOCK:
        return decide(*rows)
    blocks = jax.tree.map(lambda x: x.reshape(batch // BLOCK, BLOCK, *x.shape[1:]), rows)
    decided = jax.lax.map(lambda block: decide(*block), blocks)
    return jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), decided)


def automa_agent(env: Environment) -> Agent:
    """The entry of the Automa in a solo game. It decides nothing: the rules move it."""

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        return jnp.argmax(mask, axis=-1).astype(jnp.int32)

    return Agent(f"Automa {level_of(env)}", act, cheap_when_forced=True, by_game=True)


def random_agent(env: Environment) -> Agent:
    """Plays every legal action with the same probability."""

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        return sampling.sample_uniform(mask, uniforms(key, len(mask)))

    return Agent("random", own_jax_config(act), cheap_when_forced=True, by_game=True)


def greedy_agent(env: Environment) -> Agent:
    """The scripted player of `training.agents.greedy`."""
    from .greedy import GreedySearch, Weights, as_params

    search = GreedySearch(env)

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        return search.choose(params, redraw_hidden(env, clear_end_marks(state), key), mask)

    params = as_params(Weights())
    return Agent(
        "greedy",
        own_jax_config(act),
        params,
        cheap_when_forced=True,
        by_game=True,
        slots=search.width,
    )


def policy_agent(
    env: Environment,
    network: PolicyNetwork,
    params: Params | None,
    name: str,
    likeliest: bool = False,
    reward: str = "vp",
    reward_scale: float = 10.0,
    temperature: float = 1.0,
) -> Agent:
    """Plays a network: samples from its policy, or takes the most probable action.

    Args:
        env: with short turns for an agent that was trained with them; it also plays whole turns,
            and then takes `end_turn` if it is legal.
        reward, reward_scale: the units of its values, `env.reward` and `ppo.reward_scale` of its
            training.
        temperature: logits are divided by it; below 1 the policy becomes sharper.
    """
    choices, observe = partial(policy_mask, env), observing(env)

    @own_jax_config
    def evaluate(params: Params, state: EnvState) -> tuple[Array, Array]:
        def block(state: EnvState) -> tuple[Array, Array]:
            observation = observe(state, state.current_player)
            logits, values = network.apply(params, observation, choices(state.legal_action_mask))
            seats = jax.vmap(env.seats)(state, state.current_player)
            return logits, by_player(values, seats)

        out: tuple[Array, Array] = in_blocks(block, state)
        return out

    @own_jax_config
    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        def block(state: EnvState, mask: Array, uniform: Array) -> Array:
            observation = observe(state, state.current_player)
            mask = choices(mask)
            logits, _ = network.apply(params, observation, mask)
            if likeliest:
                return sampling.most_probable(logits, mask)
            return sampling.sample(logits / temperature, mask, uniform)

        out: Array = in_blocks(block, state, mask, uniforms(key, len(mask)))
        return out

    @own_jax_config
    def best_action(params: Params, state: EnvState) -> tuple[Array, Array]:
        """(B,) int32 and values (B, P). All rows at once: rollouts are few and fit in the cache."""
        observation = observe(state, state.current_player)
        seen = network.encode(observation, choices(state.legal_action_mask))
        logits, values = network.apply(params, seen, method="logits_and_values")
        action = network.to_action(seen, sampling.most_probable(logits, seen.mask))
        seats = jax.vmap(env.seats)(state, state.current_player)
        return action, by_player(values, seats)

    supported = best_action if hasattr(network, "logits_and_values") else None
    policy = Policy(evaluate, reward, reward_scale, supported, temperature, has_short_turns(env))
    return Agent(name, act, params, policy=policy, by_game=True)
