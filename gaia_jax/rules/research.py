"""Research: which tracks can advance, and what a level gives (RES-01 to RES-10)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.research import MAX_LEVEL
from gaia_jax.rules.player import Columns
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import PI, GameState, Players


def advance_options(
    rules: Ruleset, game: GameState, faction: Columns, me: Players
) -> tuple[Array, Array]:
    """Tracks on which the player can go one level up, from any cause (RES-02, BAL-01).

    Returns:
        (6,) bool steps below level 5, and (6,) bool steps that enter level 5: a green token is
        there to flip and nobody stands on level 5 of the track.
    """
    navigation = jnp.arange(6) == rules.ids["track"].index("navigation")
    locked = (faction.navigation_needs_pi > 0) & (me.built[PI] == 0) & navigation
    below = (me.tracks < MAX_LEVEL - 1) & ~locked
    free = (game.players.tracks < MAX_LEVEL).all(0)
    enter = (me.tracks == MAX_LEVEL - 1) & free & (me.green > 0) & ~locked
    return below, enter


def lowest(me: Players) -> Array:
    """(6,) bool, the tracks at the player's lowest level (ACT-15)."""
    return me.tracks == me.tracks.min()
