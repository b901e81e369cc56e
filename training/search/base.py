"""Inputs, options and results of a search; the utilities, which model the opponents.

B is the batch, A the number of actions, P the number of players, K the candidates of a node, N the
nodes of a tree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

LOWEST = jnp.finfo(jnp.float32).min  # the logit of an illegal action
# (values (..., P), mover (...) int32, root (...) int32) -> (...)
Utility = Callable[[Array, Array, Array], Array]


def max_n(values: Array, mover: Array, root: Array) -> Array:
    """Everyone wants the most for themselves (max^n).

    Args:
        values: (..., P) float32.
        mover: (...) int32, the deciding player.
        root: (...) int32, the deciding player at the root.
    Returns:
        (...) float32.
    """
    return _of(values, mover)


def margin(values: Array, mover: Array, root: Array) -> Array:
    """Everyone wants to be ahead of the mean of the others; shapes as for `max_n`."""
    own, players = _of(values, mover), values.shape[-1]
    if players == 1:
        return own
    return own - (jnp.sum(values, axis=-1) - own) / (players - 1)


def paranoid(values: Array, mover: Array, root: Array) -> Array:
    """Everyone else wants the least for the player at the root; shapes as for `max_n`."""
    opponents = _of(values, root)
    return jnp.where(mover == root, opponents, -opponents)


def _of(values: Array, player: Array) -> Array:
    chosen = player[..., None].astype(jnp.int32) == jnp.arange(values.shape[-1])
    return jnp.sum(jnp.where(chosen, values, 0), axis=-1)


UTILITIES: dict[str, Utility] = {"max_n": max_n, "margin": margin, "paranoid": paranoid}


class RootFnOutput(NamedTuple):
    """The position to search, as the network evaluates it."""

    prior_logits: Array  # (B, A) float32
    value: Array  # (B, P) float32, the remaining reward of each player, in the search's units
    to_play: Array  # (B,) int32, the deciding player
    legal_actions: Array  # (B, A) bool
    embedding: Any  # pytree of (B, ...), the start of the recurrent function


class RecurrentFnOutput(NamedTuple):
    """The position after an action, as the network evaluates it.

    `to_play`, `prior_logits` and `legal_actions` describe the position after the action.
    """

    reward: Array  # (B, P) float32, the reward of the action for each player
    discount: Array  # (B,) float32, of what follows: 1 in a finite game, 0 after its end
    prior_logits: Array  # (B, A) float32; (B, 0) is enough where `best_action` is given
    value: Array  # (B, P) float32
    to_play: Array  # (B,) int32
    legal_actions: Array  # (B, A) bool
    terminal: Array  # (B,) bool, nothing follows: the node is never expanded
    # (B,) int32, the legal action with the highest logit, the only one that a rollout needs; None:
    # the search derives it from the logits.
    best_action: Array | None = None


# (params, key, action (B,) int32, embedding) -> (RecurrentFnOutput, embedding)
RecurrentFn = Callable[[Any, Array, Array, Any], tuple[RecurrentFnOutput, Any]]
# The same with its parameters bound.
BoundFn = Callable[[Array, Array, Any], tuple[RecurrentFnOutput, Any]]


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """Options of a search. Values stay in the units of the network; nothing is rescaled by node."""

    candidates: int = 32  # K, actions kept at a node: those with the highest logits
    considered: int = 16  # actions that sequential halving begins with at the root
    utility: Utility = max_n  # objective of the deciding player, from the values of all players
    gumbel_scale: float = 1.0  # 0: no noise, the same position gives the same action
    value_scale: float = 1.0  # logits that a value of 1 is worth, times visit_offset + most visits
    visit_offset: float = 50.0
    max_depth: int = 0  # edges from the root to a leaf; 0: no bound; 1: no tree
    own_turn: bool = False  # positions where another player decides are leaves
    # No tree: each of the first `considered` actions is followed along the policy's own moves.
    rollouts: bool = False
    least_prior: float = 0.003  # share of the highest probability that a rollout needs
    # A node whose legal actions all lead to ends of the game or to solved nodes is solved: it is
    # not searched again. A node whose best action so far leads to a solved node or an end has that
    # action's values instead of the mean over its visits.
    solve: bool = True

    def __post_init__(self) -> None:
        for name in ("candidates", "considered"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.least_prior <= 1:
            raise ValueError(f"least_prior must be above 0 and at most 1, got {self.least_prior}")
        if self.max_depth < 0:
            raise ValueError(f"max_depth must be at least 0, got {self.max_depth}")


class Candidates(NamedTuple):
    """The candidate actions of a search, in the order of their logits and noise."""

    action: Array  # (B, K) int32
    valid: Array  # (B, K) bool; the rest of a row is filled up
    prior: Array  # (B, K) float32, the policy's probability, over all legal actions
    visits: Array  # (B, K) int32
    values: Array  # (B, K, P) float32, reward and what follows; 0 where not visited
    utility: Array  # (B, K) float32, the mover's; 0 where not visited


class SearchOutput(NamedTuple):
    """The result of a search."""

    action: Array  # (B,) int32, the action to play
    action_weights: Array  # (B, A) float32, a target for the policy; sums to 1 over legal actions
    value: Array  # (B, P) float32, of the root after the search
    candidates: Candidates
    tree: Any = None  # `Tree`, None for a search without one
