"""Players that can sit at a table, by name.

An agent decides for a batch of games at once; whose decision it is stands in each state. Everything
is jittable, so that whole matches compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
from jax import Array

from training import sampling
from training.config import UserError


class Act(Protocol):
    """The decision of an agent in B games."""

    def __call__(self, params: Any, state: Any, key: Array) -> Array:
        """
        Args:
            params: the agent's parameters, a pytree of arrays.
            state: the environment's states, leading axis B; `legal_action_mask` (B, A).
            key: one random key.
        Returns:
            (B,) int32, legal actions.
        """


class Agent(NamedTuple):
    """A player: its name, how it decides, and the arrays it decides with."""

    name: str
    act: Act
    params: Any = ()


def random_agent(env: Any) -> Agent:
    """Plays every legal action with the same probability."""

    def act(params: Any, state: Any, key: Array) -> Array:
        uniform = jax.random.uniform(key, state.current_player.shape)
        return sampling.sample_uniform(state.legal_action_mask, uniform)

    return Agent("random", act)


def policy_agent(env: Any, network: Any, params: Any, name: str, greedy: bool = False) -> Agent:
    """Plays a network: samples from its policy, or takes the likeliest action."""

    def act(params: Any, state: Any, key: Array) -> Array:
        observation = jax.vmap(env.observe)(state, state.current_player)
        mask = state.legal_action_mask
        logits, _ = network.apply(params, observation, mask)
        if greedy:
            return sampling.greedy(logits, mask)
        return sampling.sample(logits, mask, jax.random.uniform(key, mask.shape[:1]))

    return Agent(name, act, params)


REGISTRY: dict[str, Callable[[Any], Agent]] = {"random": random_agent}


def make_agent(name: str, env: Any) -> Agent:
    """The agent of this name for an environment; a UserError names the known ones."""
    if name not in REGISTRY:
        raise UserError(f"unknown agent {name!r}; the choices are: {', '.join(sorted(REGISTRY))}")
    return REGISTRY[name](env)
