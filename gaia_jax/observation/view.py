"""A game as one seat sees it, and the blocks of columns that an observation is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax import Array

from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState

# The names of some columns under a ruleset.
Ids = Callable[[Ruleset], tuple[str, ...]]

_SEATS = ("own", "second", "third", "fourth")


@dataclass(frozen=True)
class View:
    """A game as one seat sees it."""

    ruleset: Ruleset
    game: GameState
    seats: Array  # (P,) int32, the players, own seat first, then by turn order

    @property
    def player(self) -> Array:
        """() int32, whose view it is."""
        return self.seats[0]

    def own_row(self, field: Array) -> Array:
        """The own row of a field (P, ...)."""
        return field[self.player]

    def by_seat(self, field: Array) -> Array:
        """(P, C) by player -> (C, P) by seat."""
        return field[self.seats].T


@dataclass(frozen=True)
class Block:
    """Columns that belong together."""

    name: str
    low: int
    high: int
    meaning: str
    ids: Ids | None  # of its columns; None: one column
    read: Callable[[View], Any]  # an array (lead..., columns), or (lead...) for one column

    def columns(self, ruleset: Ruleset) -> tuple[str, ...]:
        """The names of its columns."""
        if self.ids is None:
            return (self.name,)
        return tuple(f"{self.name}.{id}" for id in self.ids(ruleset))


def one_hot(index: Array, size: int) -> Array:
    """(..., size) bool, True at `index`; all False outside 0 .. size-1."""
    return index[..., None] == jnp.arange(size)


def ids(kind: str) -> Ids:
    """The ids of a kind of thing in the ruleset."""
    return lambda ruleset: ruleset.ids[kind]


def seats(ruleset: Ruleset) -> tuple[str, ...]:
    """The names of the seats, own first."""
    return _SEATS[: ruleset.players]


def fixed(*names: str) -> Ids:
    """The same names under every ruleset."""
    return lambda _: names
