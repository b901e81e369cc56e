"""Classify actions and decisions: main actions, kinds of actions, decisions of a turn."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.state import Node

from ..types import EnvState


def is_main_action(node: int, text: str) -> bool:
    """Whether an action is a main action (ROU-03)."""
    return node == Node.TURN and not text.startswith("free ")


def action_kind(text: str) -> str:
    """The text of an action without its cell: "mine 3,2" -> "mine"."""
    verb, _, argument = text.partition(" ")
    return verb if "," in argument else text


def begins_turn(states: EnvState) -> Array:
    """(B,) whether a turn begins: at a main action or conversion, with no conversion before it."""
    turn = states.game.turn
    return jnp.asarray((turn.node == Node.TURN) & (turn.free_actions == 0))


def is_within_turn(states: EnvState) -> Array:
    """(B,) whether a decision is within a turn: a conversion, the main action or a part of it."""
    node = states.game.turn.node
    return jnp.asarray((node >= Node.TURN) & (node <= Node.LOST_PLANET))
