"""What changes on the map and among a player's pieces when something is placed (GEN-15, step 2)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.rules.mine import new_sector
from gaia_jax.rules.player import ASTEROID, GAIA, LOST, PROTO
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import (
    FRESH,
    GAIAFORMER,
    GUEST,
    MINE,
    PI,
    RING,
    STATION,
    Board,
    Players,
)
from gaia_jax.xla.struct import pytree


@pytree
class Placement:
    """What a decision places: at most one piece.

    Flags are () bool. `guest` and `lost` qualify `is_new`, `instant` qualifies `gaiaformer`.
    """

    cell: Array  # () int32
    structure: Array  # () int32, the piece on the cell afterwards, 0 for none
    is_new: Array  # the structure did not replace an own one: mine, starting piece, Lost Planet
    guest: Array  # with `is_new`: it is a guest mine
    lost: Array  # with `is_new`: it is the Lost Planet
    gaiaformer: Array
    instant: Array  # with `gaiaformer`: the planet is Gaia at once (GPJ-04)
    station: Array
    ring: Array
    swap: Array  # the planetary institute and the mine on the cell change places (AMB-01)

    @property
    def replaces(self) -> Array:
        """() bool, the structure, if one is placed, replaces an own one (UPG-01, FIR-01)."""
        return ~self.is_new & ~self.swap


def on_board(ruleset: Ruleset, board: Board, player: Array, placement: Placement) -> Board:
    """The map with the piece on its cell, and the ranges that it opens."""
    at_cell = jnp.arange(ruleset.geometry.num_cells) == placement.cell
    distance = jnp.asarray(ruleset.geometry.distance)[placement.cell]
    has_structure = (placement.structure > 0) & ~placement.guest
    old_pi = (board.piece == PI) & (board.piece_owner == player) & placement.swap
    piece = jnp.where(at_cell & has_structure, placement.structure, board.piece)
    piece = jnp.where(at_cell & placement.gaiaformer, GAIAFORMER, piece)
    piece = jnp.where(old_pi, MINE, piece)
    piece_owner = jnp.where(
        at_cell & (has_structure | placement.gaiaformer), player, board.piece_owner
    )
    planet = jnp.where(at_cell & placement.lost, LOST, board.planet)
    planet = jnp.where(at_cell & placement.instant, GAIA, planet)
    marks = (
        jnp.where(placement.station, STATION, 0)
        | jnp.where(placement.ring, RING, 0)
        | jnp.where(placement.guest, GUEST, 0)
        | jnp.where(placement.instant & ruleset.gaiaformed_planet_waits, FRESH, 0)
    )
    is_neighbour = placement.is_new & (distance <= costs.NEIGHBOUR_DISTANCE)
    flags = board.flags | jnp.where(at_cell, marks, 0) | jnp.where(is_neighbour, 1 << player, 0)
    source = placement.is_new | placement.station
    row = jnp.arange(board.distance_to_own.shape[0])[:, None] == player
    distance_to_own = jnp.where(
        row & source, jnp.minimum(board.distance_to_own, distance), board.distance_to_own
    )
    return board.replace(
        planet=planet.astype(board.planet.dtype),
        piece=piece.astype(board.piece.dtype),
        piece_owner=piece_owner.astype(board.piece_owner.dtype),
        flags=flags.astype(board.flags.dtype),
        distance_to_own=distance_to_own,
    )


def of_player(seat: Seat, placement: Placement) -> Players:
    """The player's row with their pieces after the placement.

    Args:
        seat: the position before it, with the row that has paid.
    """
    me, board = seat.me, seat.game.board
    planet = jnp.where(placement.lost, LOST, board.planet[placement.cell].astype(jnp.int32))
    old = board.piece[placement.cell].astype(jnp.int32)
    own_gaiaformer = (old == GAIAFORMER) & placement.is_new
    replaced = (placement.structure > 0) & placement.replaces
    kind = jnp.arange(me.built.shape[-1])
    built = me.built + (
        (kind == placement.structure)
        & ~placement.lost
        & ~placement.swap
        & (placement.structure > 0)
    )
    built = built - ((kind == old) & replaced)
    types = jnp.arange(me.colonized.shape[-1])
    colonized = me.colonized + ((types == planet) & placement.is_new & ~placement.guest)
    _, _, bit = new_sector(seat.ruleset, me, placement.cell)
    # A mine brings the gaiaformer home (GAI-01); on an asteroid it spends one for good (MIN-12),
    # which `pay.pay` takes as a price.
    return me.replace(
        built=built,
        colonized=colonized,
        guests=me.guests + placement.guest,
        guest_protos=me.guest_protos + (placement.guest & (planet == PROTO)),
        guest_asteroids=me.guest_asteroids + (placement.guest & (planet == ASTEROID)),
        sectors=me.sectors | jnp.where(placement.is_new, bit, 0),
        stations=me.stations + placement.station,
        rings=me.rings + placement.ring,
        gaiaformers=me.gaiaformers + own_gaiaformer - placement.gaiaformer,
        gaiaformers_out=me.gaiaformers_out - own_gaiaformer + placement.gaiaformer,
    )
