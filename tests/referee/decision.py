"""A decision: who decides, at which node, and what each option leads to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, NamedTuple

NODES = (
    "START",
    "BOOSTER",
    "TINKERING",
    "INCOME",
    "TERRANS",
    "ITARS",
    "TURN",
    "TARGET",
    "PIECE",
    "FEDERATION",
    "TOKEN",
    "RETRIGGER",
    "TILE",
    "COVER",
    "FREE_MINE",
    "STEP",
    "LOST_PLANET",
    "LEECH",
    "AFTER",
    "ENDED",
)

# A part of the game that asks for decisions: it yields each, and is sent the chosen text.
Script = Generator["Decision", str, Any]
# What an option leads to: a function and its arguments; it returns a script if it asks something.
Effect = tuple[Callable[..., Any], Any]
Options = Iterable[tuple[str, Any]]


class Decision(NamedTuple):
    """One decision; the texts of `menu` are exactly the legal actions."""

    player: int
    node: str
    menu: dict[str, Any]


def ask(player: int, node: str, menu: dict[str, Any]) -> Generator[Decision, str, Any]:
    """Ask a player, and return the value of the chosen option."""
    if not menu:
        raise ValueError(f"{node} has no options")
    chosen = yield Decision(player, node, menu)
    return menu[chosen]


def do(effect: tuple[Any, ...], *who: Any) -> Script:
    """Carry out an option: call its function, and play through the decisions that it asks for."""
    function, *arguments = effect
    script = function(*who, *arguments)
    if script is not None:
        yield from script
