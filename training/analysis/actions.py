"""Classify actions and decisions: main actions, kinds of actions, decisions of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.state import Node

from ..types import EnvState

CONVERSION = "free "  # begins the text of a conversion


def is_conversion(text: str) -> bool:
    """Whether an action is a conversion, which the rules call a free action."""
    return text.startswith(CONVERSION)


def conversion_mask(texts: Sequence[str]) -> np.ndarray:
    """(A,) bool, which actions are conversions, from the texts of all actions."""
    return np.array([is_conversion(text) for text in texts])


def is_main_action(node: int, text: str) -> bool:
    """Whether an action is a main action (ROU-03)."""
    return node == Node.TURN and not is_conversion(text)


def action_kind(text: str) -> str:
    """The text of an action without its cell: "mine 3,2" -> "mine"."""
    verb, _, argument = text.partition(" ")
    return verb if "," in argument else text


def begins_turn(states: EnvState) -> Array:
    """(B,) whether a turn begins: at a main action or conversion, with no conversion before it."""
    turn = states.game.turn
    return jnp.asarray((turn.node == Node.TURN) & (turn.free_actions == 0))


_PLAYER, _BEGINS = 64, 32  # parts of a note; below them the node


class Notes(NamedTuple):
    """Notes of decisions, as arrays of the same shape; -1, False and -1 where there is none."""

    player: np.ndarray  # who decides
    begins_turn: np.ndarray
    node: np.ndarray


def decision_note(states: EnvState) -> Array:
    """(B,) the note of a decision that playouts store; `read_notes` splits it."""
    begins = jnp.where(begins_turn(states), _BEGINS, 0)
    return jnp.asarray(states.current_player * _PLAYER + begins + states.game.turn.node)


def read_notes(notes: np.ndarray) -> Notes:
    """Split notes, an array of any shape with -1 where nothing was decided."""
    is_decision = notes >= 0
    return Notes(
        np.where(is_decision, notes // _PLAYER, -1),
        is_decision & (notes % _PLAYER >= _BEGINS),
        np.where(is_decision, notes % _BEGINS, -1),
    )
