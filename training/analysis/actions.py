"""Classify actions: main actions and their kind, where a turn begins and continues."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.state import Node

from ..types import EnvState


def is_main(node: int, text: str) -> bool:
    """Whether an action is a main one (ROU-03): of a turn, and no free action."""
    return node == Node.TURN and not text.startswith("free ")


def kind_of(text: str) -> str:
    """An action without its cell: "mine 3,2" -> "mine"."""
    verb, _, argument = text.partition(" ")
    return verb if "," in argument else text


def is_turn(states: EnvState) -> Array:
    """Which of some states begin a turn: at a main decision, with no conversion before it."""
    turn = states.game.turn
    return jnp.asarray((turn.node == Node.TURN) & (turn.free_actions == 0))


def is_inside(states: EnvState) -> Array:
    """Which of some states decide on a turn, its conversions and what its main action asks."""
    node = states.game.turn.node
    return jnp.asarray((node >= Node.TURN) & (node <= Node.LOST_PLANET))
