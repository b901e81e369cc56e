"""What changes on the map and among a player's pieces when something is placed (GEN-15, step 2)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.rules.mine import TRANSDIM, new_sector
from gaia_jax.rules.player import ASTEROID, GAIA, LOST, PROTO
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
    GameState,
    Players,
)
from gaia_jax.struct import pytree


@pytree
class Placement:
    """At most one thing placed by a decision; flags are bool scalars, at most one of them set."""

    cell: Array  # () int32
    structure: Array  # () int32, the piece that stands there afterwards, 0 for none
    is_new: Array  # the structure did not replace an own one: mine, starting piece, Lost Planet
    guest: Array  # ... it is a parasitic mine
    lost: Array  # ... it is the Lost Planet
    gaiaformer: Array
    instant: Array  # with `gaiaformer`: the planet is Gaia at once (GPJ-04)
    station: Array
    ring: Array
    swap: Array  # the planetary institute and the mine on the cell change places (AMB-01)


def on_board(rules: Ruleset, board: Board, player: Array, what: Placement) -> Board:
    """The map with the piece on its cell, and the ranges that it opens."""
    here = jnp.arange(rules.geometry.num_cells) == what.cell
    distance = jnp.asarray(rules.geometry.distance)[what.cell]
    stands = (what.structure > 0) & ~what.guest
    old_pi = (board.piece == PI) & (board.holder == player) & what.swap
    piece = jnp.where(here & stands, what.structure, board.piece)
    piece = jnp.where(here & what.gaiaformer, GAIAFORMER, piece)
    piece = jnp.where(old_pi, MINE, piece)
    holder = jnp.where(here & (stands | what.gaiaformer), player, board.holder)
    planet = jnp.where(here & what.lost, LOST, board.planet)
    planet = jnp.where(here & what.instant, GAIA, planet)
    marks = (
        jnp.where(what.station, STATION, 0)
        | jnp.where(what.ring, RING, 0)
        | jnp.where(what.guest, GUEST, 0)
        | jnp.where(what.instant & rules.gaiaformed_planet_waits, FRESH, 0)
    )
    near = what.is_new & (distance <= costs.NEIGHBOUR_DISTANCE)
    flags = board.flags | jnp.where(here, marks, 0) | jnp.where(near, 1 << player, 0)
    source = what.is_new | what.station
    row = jnp.arange(board.reach.shape[0])[:, None] == player
    reach = jnp.where(row & source, jnp.minimum(board.reach, distance), board.reach)
    return board.replace(
        planet=planet.astype(board.planet.dtype),
        piece=piece.astype(board.piece.dtype),
        holder=holder.astype(board.holder.dtype),
        flags=flags.astype(board.flags.dtype),
        reach=reach,
    )


def of_player(
    rules: Ruleset, game: GameState, me: Players, player: Array, what: Placement
) -> Players:
    """The player's pieces after the placement; `game` is the position before it."""
    board = game.board
    planet = jnp.where(what.lost, LOST, board.planet[what.cell].astype(jnp.int32))
    old = board.piece[what.cell].astype(jnp.int32)
    own_gaiaformer = (old == GAIAFORMER) & what.is_new
    replaced = (what.structure > 0) & ~what.is_new & ~what.swap
    kind = jnp.arange(me.built.shape[-1])
    built = me.built + ((kind == what.structure) & ~what.lost & ~what.swap & (what.structure > 0))
    built = built - ((kind == old) & replaced)
    types = jnp.arange(me.colonized.shape[-1])
    colonized = me.colonized + ((types == planet) & what.is_new & ~what.guest)
    _, _, bit = new_sector(rules, me, what.cell)
    # A mine brings the gaiaformer home (GAI-01); on an asteroid it spends one for good (MIN-12),
    # which `step` books as a price.
    return me.replace(
        built=built,
        colonized=colonized,
        guests=me.guests + what.guest,
        guest_protos=me.guest_protos + (what.guest & (planet == PROTO)),
        guest_asteroids=me.guest_asteroids + (what.guest & (planet == ASTEROID)),
        sectors=me.sectors | jnp.where(what.is_new, bit, 0),
        stations=me.stations + what.station,
        rings=me.rings + what.ring,
        gaiaformers=me.gaiaformers + own_gaiaformer - what.gaiaformer,
        gaiaformers_out=me.gaiaformers_out - own_gaiaformer + what.gaiaformer,
    )


def is_transdim(game: GameState, cell: Array) -> Array:
    """() bool, the cell is a transdim planet: a Gaia project's target, never a mine's (MIN-19)."""
    return game.board.planet[cell] == TRANSDIM
