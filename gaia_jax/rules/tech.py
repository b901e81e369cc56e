"""Tech tiles: which can be taken, which can be covered (TEC-01 to TEC-15, ADV)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.tech_tiles import ADVANCED_TILE_LEVEL, EXTRA_A_VP, EXTRA_B_SHIPS
from gaia_jax.rules.player import bit_vector, uncovered
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState, Players


def tile_options(rules: Ruleset, game: GameState, me: Players) -> tuple[Array, Array]:
    """The choice set when a tile is gained (TEC-02, TEC-14).

    Returns:
        (basic and ship kinds,) bool, and (slots,) bool by slot of the advanced tiles.
    """
    kinds, basic = len(rules.ids["tile"]), len(rules.basic_tiles)
    there = bit_vector(me.shuttles, len(rules.ships))
    # Which ship kinds lie on a ship that the player has explored.
    ship_kinds = jnp.zeros(kinds - basic, jnp.int32)
    for i, ship in enumerate(rules.ship_tile_ships):
        kind = game.setup.ship_tile[i].astype(jnp.int32)
        hit = jnp.arange(kinds - basic) == kind
        ship_kinds |= jnp.where(hit, there[rules.ships.index(ship)], 0)
    offered = jnp.concatenate([jnp.ones(basic, jnp.int32), ship_kinds])
    tiles = (offered == 1) & (bit_vector(me.tiles, kinds) == 0)
    reached = me.tracks >= ADVANCED_TILE_LEVEL
    if rules.extra_conditions:
        condition = jnp.where(
            game.setup.extra_condition == 0, me.vp >= EXTRA_A_VP, there.sum() >= EXTRA_B_SHIPS
        )
        reached = jnp.concatenate([reached, condition[None]])
    left = bit_vector(game.turn.advanced_left, len(rules.ids["advanced_slot"])) == 1
    able = (me.green > 0) & (uncovered(rules, me).sum() > 0)
    return tiles, reached & left & able


def slot_of(game: GameState, kind: Array) -> Array:
    """() int32, the slot in which a basic kind lies; past the slots for a ship kind (TEC-10)."""
    slots = game.setup.basic_slot
    hit = slots == kind
    return jnp.where(hit.any(), jnp.argmax(hit), slots.shape[0])
