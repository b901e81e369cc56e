"""Tech tiles: which can be taken, which can be covered (TEC-01 to TEC-15, ADV)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.tech_tiles import ADVANCED_TILE_LEVEL, EXTRA_A_VP, EXTRA_B_SHIPS
from gaia_jax.rules.player import bit_vector, stocks_take, uncovered
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset.operations import TOKEN, OperationRow
from gaia_jax.state import GameState, Node


def tile_options(seat: Seat) -> tuple[Array, Array]:
    """The choice set when a tile is gained (TEC-02, TEC-14).

    Returns:
        (basic and ship kinds,) bool, and (slots,) bool by slot of the advanced tiles.
    """
    ruleset, game, me = seat.ruleset, seat.game, seat.me
    kinds, basic = len(ruleset.ids["tile"]), len(ruleset.basic_tiles)
    explored = bit_vector(me.shuttles, len(ruleset.ships))
    # Which ship kinds lie on a ship that the player has explored.
    ship_kinds = jnp.zeros(kinds - basic, jnp.int32)
    for i, ship in enumerate(ruleset.ship_tile_ships):
        kind = game.setup.ship_tile[i].astype(jnp.int32)
        hit = jnp.arange(kinds - basic) == kind
        ship_kinds |= jnp.where(hit, explored[ruleset.ships.index(ship)], 0)
    offered = jnp.concatenate([jnp.ones(basic, jnp.int32), ship_kinds])
    tiles = (offered == 1) & (bit_vector(me.tiles, kinds) == 0)
    reached = me.tracks >= ADVANCED_TILE_LEVEL
    if ruleset.extra_conditions:
        condition = jnp.where(
            game.setup.extra_condition == 0, me.vp >= EXTRA_A_VP, explored.sum() >= EXTRA_B_SHIPS
        )
        reached = jnp.concatenate([reached, condition[None]])
    left = bit_vector(game.turn.advanced_left, len(ruleset.ids["advanced_slot"])) == 1
    able = (me.green > 0) & (uncovered(ruleset, me).sum() > 0)
    return tiles, reached & left & able


def slot_of(game: GameState, kind: Array) -> Array:
    """() int32, the slot of a basic kind; past the slots for a ship kind (TEC-10)."""
    slots = game.setup.basic_slot
    hit = slots == kind
    return jnp.where(hit.any(), jnp.argmax(hit), slots.shape[0])


def options(seat: Seat) -> dict[str, Array]:
    """`tile` and `advanced`: what can be taken, or which tile an advanced one covers (TEC-05)."""
    tiles, slots = tile_options(seat)
    takes_tile = seat.at(Node.TILE, Node.ITARS)
    covers = seat.at(Node.COVER) & (uncovered(seat.ruleset, seat.me) > 0)
    return {"tile": takes_tile & tiles | covers, "advanced": takes_tile & slots}


def owned_tokens(seat: Seat) -> Array:
    """(tokens,) bool by `token` action, kinds that the player owns (FED-21)."""
    base, me = len(seat.ruleset.base_tokens) + 1, seat.me
    ship = me.tokens[base:][seat.game.setup.ship_token.astype(jnp.int32)]
    return jnp.concatenate([me.tokens[:base] > 0, ship[: len(seat.ruleset.ships)] > 0])


def scored_by_action(seat: Seat, owned: Array) -> Array:
    """(tokens,) bool, those of the `owned_tokens` that an action may score again (FED-21, A27)."""
    if seat.ruleset.actions_without_gain:
        return owned
    # The Gleens' token alone gives nothing but resources.
    kind = len(seat.ruleset.base_tokens)
    gain_fits = stocks_take(seat.faction, seat.me, seat.ruleset.gleens_token.gain)
    return owned & ((jnp.arange(len(owned)) != kind) | gain_fits)


def token_options(seat: Seat, mode: OperationRow) -> Array:
    """(tokens,) bool, those to choose after a federation (FED-18), or owned ones to score again."""
    turn, ships, owned = seat.game.turn, len(seat.ruleset.ships), owned_tokens(seat)
    supply = jnp.concatenate(
        [
            turn.token_supply > 0,
            jnp.zeros(1, bool),
            (bit_vector(turn.ship_tokens, ships) == 1) & (bit_vector(seat.me.shuttles, ships) == 1),
        ]
    )
    retriggered = seat.at(Node.RETRIGGER) & owned
    by_mode = seat.at(Node.TARGET) & (scored_by_action(seat, owned) & (mode.target == TOKEN))
    return seat.at(Node.TOKEN) & supply | retriggered | by_mode
