"""What an action is to a player: a main action, and its kind."""

from __future__ import annotations

from gaia_jax.state import Node


def is_main(node: int, text: str) -> bool:
    """Whether an action is a main one (ROU-03): of a turn, and no free action."""
    return node == Node.TURN and not text.startswith("free ")


def kind_of(text: str) -> str:
    """An action without its cell: "mine 3,2" -> "mine"."""
    verb, _, argument = text.partition(" ")
    return verb if "," in argument else text
