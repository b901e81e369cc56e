"""Classify actions: main actions, their kinds, the beginning and the inside of a turn."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.state import Node

from ..types import EnvState


def is_main(node: int, text: str) -> bool:
    """Whether an action is a main action (ROU-03)."""
    return node == Node.TURN and not text.startswith("free ")


def kind_of(text: str) -> str:
    """An action without its cell: "mine 3,2" -> "mine"."""
    verb, _, argument = text.partition(" ")
    return verb if "," in argument else text


def is_turn(states: EnvState) -> Array:
    """(B,) whether a turn begins: at a main decision, with no conversion before it."""
    turn = states.game.turn
    return jnp.asarray((turn.node == Node.TURN) & (turn.free_actions == 0))


def is_inside(states: EnvState) -> Array:
    """(B,) whether the decision belongs to a turn: conversions, the main action, its parts."""
    node = states.game.turn.node
    return jnp.asarray((node >= Node.TURN) & (node <= Node.LOST_PLANET))
