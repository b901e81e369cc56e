"""Upgrades: paths, pieces, prices, the neighbour discount (UPG-01 to UPG-08)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.rules.player import LOST
from gaia_jax.rules.seat import Seat
from gaia_jax.state import AC_B, GAIAFORMER, MINE, TS, Node

NUM_STRUCTURES = AC_B + 1


def discounted(seat: Seat, cell: Array | slice = slice(None)) -> Array:
    """bool, a structure of another player is within two cells (UPG-03)."""
    others = (15 & ~(1 << seat.player.astype(jnp.int32))).astype(jnp.uint8)
    return seat.game.board.flags[cell] & others != 0


def payable_pieces(seat: Seat, is_discounted: Array) -> Array:
    """(..., 7) bool by structure: the piece is in supply and can be paid (UPG-01, UPG-02).

    Args:
        is_discounted: (...) bool, the trading station is discounted.
    """
    ruleset, me, cost = seat.ruleset, seat.me, costs.UPGRADE_COST
    left = me.built < jnp.asarray(ruleset.tables.pieces)
    ok = [jnp.zeros_like(is_discounted), jnp.zeros_like(is_discounted)]
    for i, name in enumerate(ruleset.ids["structure"][2:], start=2):
        credits = jnp.asarray(cost[name].credits)
        if i == TS:
            credits = jnp.where(is_discounted, costs.TS_NEIGHBOUR_COST.credits, credits)
        payable = (me.ore >= cost[name].ore) & (me.credits >= credits)
        ok.append(jnp.broadcast_to(left[i] & payable, is_discounted.shape))
    return jnp.stack(ok, axis=-1)


def upgradable(seat: Seat, cell: Array | slice = slice(None)) -> Array:
    """int8, the own structure on the cell that a piece may replace, 0 for none (UPG-05)."""
    board = seat.game.board
    piece = board.piece[cell]
    own = (board.piece_owner[cell] == seat.player.astype(jnp.int8)) & (piece != GAIAFORMER)
    lost = board.planet[cell] == LOST
    return jnp.where(own & ~lost, piece, jnp.int8(0))


def pieces_for(seat: Seat, cell: Array) -> Array:
    """(7,) bool, the pieces that may replace the structure on one cell and can be paid."""
    current = upgradable(seat, cell).astype(jnp.int32)
    payable = payable_pieces(seat, discounted(seat, cell))
    return seat.faction.upgrades[current] & payable


def upgrade_cells(seat: Seat) -> Array:
    """(C,) bool, cells with at least one legal and payable piece."""
    is_discounted, current, faction = discounted(seat), upgradable(seat), seat.faction
    cheap = payable_pieces(seat, jnp.array(True))
    full_price = payable_pieces(seat, jnp.array(False))
    # By structure on the cell: is some piece payable with and without the discount?
    with_discount = (faction.upgrades & cheap).any(-1)
    without = (faction.upgrades & full_price).any(-1)
    out = jnp.zeros(is_discounted.shape, bool)
    for i in range(MINE, NUM_STRUCTURES):
        out |= (current == i) & jnp.where(is_discounted, with_discount[i], without[i])
    return out


def piece_options(seat: Seat) -> Array:
    """(4,) bool, the pieces of the upgrade that waits for its piece."""
    cell = jnp.maximum(seat.game.turn.pending_upgrade_cell, 0).astype(jnp.int32)
    pieces = pieces_for(seat, cell)
    kinds = seat.ruleset.ids["structure"]
    named = [pieces[kinds.index(name)] for name in seat.ruleset.actions.ids["piece"]]
    return seat.at(Node.PIECE) & jnp.stack(named)
