"""Federations: the builder's options, satellites, absorption (FED-01 to FED-24, A9, A10)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules.player import Columns
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState, Players


def can_form(
    rules: Ruleset, game: GameState, player: Array, me: Players, faction: Columns
) -> Array:
    """() bool, a legal federation exists (A10). Not built yet: never."""
    return jnp.zeros((), bool)


def builder_options(
    rules: Ruleset, game: GameState, player: Array, me: Players, faction: Columns
) -> tuple[Array, Array]:
    """(C,) bool, groups that can be added, and () bool, the picks may be committed (A10)."""
    return jnp.zeros(rules.geometry.num_cells, bool), jnp.zeros((), bool)


def absorb(rules: Ruleset, game: GameState, acted) -> GameState:
    """Own structures and stations that touch an own federation join it (FED-07). Not built yet."""
    return game
