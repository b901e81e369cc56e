"""One player of one game, and what every rule asks about them: the first argument of the rules."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import reduce

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules.player import faction_row, player_row
from gaia_jax.ruleset import FactionRow, Ruleset
from gaia_jax.state import GameState, Players


@dataclass(frozen=True)
class Seat:
    """A player of a game, with their own row and what their faction board prints."""

    ruleset: Ruleset  # static
    game: GameState
    player: Array  # () int32
    faction: FactionRow
    me: Players  # the player's row in int32

    @classmethod
    def of(cls, ruleset: Ruleset, game: GameState, player: Array) -> Seat:
        """The seat of `player`, () int32."""
        faction = faction_row(ruleset, game, player)
        return cls(ruleset, game, player, faction, player_row(game, player))

    @classmethod
    def of_columns(cls, ruleset: Ruleset, game: GameState, player: Array, columns: Array) -> Seat:
        """The seat of `player`, with its faction row already read: `columns`, (K,) int16."""
        faction = FactionRow(ruleset, columns)
        return cls(ruleset, game, player, faction, player_row(game, player))

    @classmethod
    def of_decider(cls, ruleset: Ruleset, game: GameState) -> Seat:
        """The seat of the player who decides."""
        return cls.of(ruleset, game, game.turn.player.astype(jnp.int32))

    def with_row(self, me: Players) -> Seat:
        """The same seat with another row, in int32: what paying or taking has made of it."""
        return replace(self, me=me)

    def at(self, *nodes: int) -> Array:
        """() bool, one of these nodes is open."""
        return reduce(operator.or_, [self.game.turn.node == node for node in nodes])
