"""Where a mine can be built and what it costs: range, terraforming, Gaia planets (MIN).

Prices work on one cell or on all cells at once: `Site` holds what matters of a cell, scalars or
(C,) arrays alike.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.components import costs
from gaia_jax.components.planets import PLANETS
from gaia_jax.rules import power
from gaia_jax.rules.player import ASTEROID, GAIA, LOST, has, uncovered
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import ASTEROIDS_ONLY, NO_ASTEROIDS, PROJECT, OperationRow
from gaia_jax.state import FRESH, GAIAFORMER, GUEST, MINE, NONE, GameState, Players
from gaia_jax.xla.packed import pick
from gaia_jax.xla.struct import pytree

TRANSDIM, SHIP, EMPTY = (PLANETS.index(x) for x in ("Transdim", "Ship", "Empty"))
# A distance that no range reaches.
UNREACHABLE = 127
# The greatest int8.
INT8_MAX = np.int8(127)


@pytree
class Site:
    """A cell as a player's mine sees it. Arrays of one shape: () for a cell, (C,) for all.

    All of them, and the prices made of them, are narrow: a CPU does 32 int8 at a time.
    """

    planet: Array  # int8, Board.planet
    distance: Array  # int8, to the nearest own structure or station
    steps: Array  # int8, terraforming steps that the faction needs, 0 where none make it a home
    open: Array  # bool, a planet without structure that the player may build on
    own_gaia: Array  # bool, Gaia planet under an own gaiaformer (GAI-03, GAI-04)
    guest: Array  # bool, a planet of one other player, for the Lantids (LAN-01)


@pytree
class Price:
    """What a target costs besides the price of the action: a mine, or the range in QIC alone.

    All int8, but for `qic` where it may be that of the range to a ship: int32.
    """

    ore: Array
    credits: Array
    qic: Array
    gaiaformer: Array  # 1 where an available gaiaformer is spent for good (MIN-12)


def site(
    ruleset: Ruleset, game: GameState, player: Array, cell: Array | slice = slice(None)
) -> Site:
    """What `player` needs to know of one cell, or of all cells (the default)."""
    board, me = game.board, player.astype(jnp.int8)
    planet = board.planet[cell]
    piece, piece_owner, flags = board.piece[cell], board.piece_owner[cell], board.flags[cell]
    colonizable = (planet != EMPTY) & (planet != SHIP) & (planet != TRANSDIM) & (planet != LOST)
    own_gaia = (piece == GAIAFORMER) & (piece_owner == me) & (planet == GAIA) & (flags & FRESH == 0)
    has_structure = (piece != NONE) & (piece != GAIAFORMER)
    guest_mines = (
        jnp.asarray(ruleset.tables.faction.guest_mines)[pick(game.setup.faction, player)] > 0
    )
    return Site(
        planet=planet,
        distance=pick(game.board.distance_to_own, player)[cell],
        steps=steps_to(pick(game.steps, player), planet),
        open=colonizable & (piece == NONE) | own_gaia,
        own_gaia=own_gaia,
        guest=guest_mines & has_structure & (piece_owner != me) & (flags & GUEST == 0),
    )


def steps_to(steps: Array, planet: Array) -> Array:
    """int8, terraforming steps to each planet, 0 where steps do not help (INI-09).

    Args:
        steps: (14,) int8 by planet, 0 to 3; planet: int8. Two bits a planet make one number of
            the row, so that a cell is a shift and not a look-up.
    """
    places = 2 * jnp.arange(steps.shape[-1])
    row = (steps.astype(jnp.int32) << places).sum()
    return (row >> 2 * planet.astype(jnp.int32) & 3).astype(jnp.int8)


def basic_range(ruleset: Ruleset, me: Players) -> Array:
    """() int32, the basic range of the player (MIN-04)."""
    t = ruleset.tables
    level = me.tracks[..., ruleset.ids["track"].index("navigation")]
    tile = (uncovered(ruleset, me) * t.range_bonus).sum(-1)
    return jnp.asarray(t.navigation_range).astype(jnp.int32)[level] + tile


def range_qic(distance: Array, reach: Array) -> Array:
    """QIC that stretch `reach` to `distance`, two cells each (MIN-05); int8 for int8 distances."""
    missing = jnp.maximum(distance - reach.astype(distance.dtype), 0)
    step = jnp.asarray(costs.RANGE_PER_QIC, distance.dtype)
    quotient = lax.div(missing, jnp.full_like(missing, step))
    return quotient + (missing > quotient * step)


def price(seat: Seat, at: Site, op: OperationRow) -> Price:
    """What a mine by the operation `op` costs at a site (MIN-02, MIN-09 to MIN-14, LAN-01)."""
    ruleset, faction, me = seat.ruleset, seat.faction, seat.me
    t, none = ruleset.tables, jnp.int8(0)
    level = me.tracks[ruleset.ids["track"].index("terraforming")]
    ore_per_step = jnp.asarray(t.ore_per_step)[level].astype(jnp.int8)
    is_asteroid = (at.planet == ASTEROID) & ~at.guest
    steps = jnp.where(at.guest, none, jnp.maximum(at.steps - as_int8(op.free_steps), 0))
    base = 1 - jnp.where(is_asteroid, jnp.int8(1), as_int8(op.mine_is_free))
    ore = base * costs.MINE_COST.ore + steps * ore_per_step
    gaia = (at.planet == GAIA) & ~at.own_gaia & ~at.guest
    # The Gleens pay ore for a Gaia planet if enough is left after the mine, else QIC (MIN-10).
    in_ore = (faction.gaia_ore > 0) & (as_int8(me.ore - faction.gaia_ore) >= ore)
    range_is_free = at.own_gaia | (op.unlimited_range > 0)
    reach = basic_range(ruleset, me) + op.extra_range
    # A Gaia planet that only ore pays for costs all the QIC that int8 holds: no sum goes beyond it.
    gaia_qic = jnp.where(gaia & ~in_ore, as_int8(faction.gaia_qic), none)
    stretch = jnp.where(range_is_free, none, range_qic(at.distance, reach))
    return Price(
        ore=ore + jnp.where(gaia & in_ore, as_int8(faction.gaia_ore), none),
        credits=base * costs.MINE_COST.credits,
        qic=jnp.minimum(stretch, INT8_MAX - gaia_qic) + gaia_qic,
        gaiaformer=(is_asteroid & (op.asteroid_rule != ASTEROIDS_ONLY)).astype(jnp.int8),
    )


def affordable(seat: Seat, at: Site, op: OperationRow) -> Array:
    """bool, the cell is a legal and payable target of a mine by `op`, its own price included (A26).

    The price of `op` in power, and whether it is still there this round, are not asked here.
    """
    me, cost = seat.me, price(seat, at, op)
    is_asteroid = (at.planet == ASTEROID) & ~at.guest
    allowed = jnp.where(
        is_asteroid, op.asteroid_rule != NO_ASTEROIDS, op.asteroid_rule != ASTEROIDS_ONLY
    )
    possible = (op.mine > 0) & (me.built[MINE] < costs.PIECES["MINE"])
    if not seat.ruleset.free_steps_without_need:
        allowed &= (op.needs_step == 0) | (at.steps > 0)
    return (
        possible
        & (at.open | at.guest & (op.guests > 0))
        & allowed
        & (cost.ore <= as_int8(me.ore - op.cost.ore))
        & (cost.credits <= as_int8(me.credits - op.cost.credits))
        & (cost.qic <= as_int8(me.qic - op.cost.qic))
        & (cost.gaiaformer <= as_int8(me.gaiaformers))
    )


def as_int8(number: Array) -> Array:
    """A number of a player's or an operation's in int8, to meet the cells; all of them fit."""
    return number.astype(jnp.int8)


def project_site(game: GameState) -> Array:
    """(C,) bool, a transdim planet without a gaiaformer (GPJ-03)."""
    return (game.board.planet == TRANSDIM) & (game.board.piece == NONE)


def project_tokens(ruleset: Ruleset, me: Players, op: OperationRow) -> Array:
    """() int32, power tokens of a Gaia project; none for an instant one (GPJ-01, GPJ-04)."""
    level = me.tracks[..., ruleset.ids["track"].index("gaia")]
    cost = jnp.asarray(ruleset.tables.project_cost).astype(jnp.int32)[level]
    return jnp.where(op.project == PROJECT, cost, 0)


def project_affordable(ruleset: Ruleset, me: Players, distance: Array, op: OperationRow) -> Array:
    """bool, a Gaia project by `op` at that distance can be paid (GPJ-01, MIN-06)."""
    qic = range_qic(distance, basic_range(ruleset, me) + op.extra_range)
    possible = (op.project > 0) & (me.gaiaformers > 0)
    possible &= power.total_tokens(me) >= project_tokens(ruleset, me, op)
    return possible & (qic <= as_int8(me.qic - op.cost.qic))


def lost_planet_cells(seat: Seat) -> Array:
    """(C,) bool, empty space without satellite or station, in range, QIC included (RES-07)."""
    board = seat.game.board
    free = (board.planet == EMPTY) & (board.federation_bits & 15 == 0) & ~board.station
    return free & _in_range(seat)


def station_cells(seat: Seat) -> Array:
    """(C,) bool, where the Hive may place a station: empty space without one, in range (HIV-01)."""
    board, left = seat.game.board, seat.me.stations < costs.HIVE_STATIONS
    return (board.planet == EMPTY) & ~board.station & _in_range(seat) & left


def _in_range(seat: Seat) -> Array:
    """(C,) bool, the cells that the basic range and the player's QIC reach (MIN-04, MIN-05)."""
    me, distance = seat.me, pick(seat.game.board.distance_to_own, seat.player)
    return range_qic(distance, basic_range(seat.ruleset, me)) <= as_int8(me.qic)


def new_sector(ruleset: Ruleset, me: Players, cell: Array) -> tuple[Array, Array, Array]:
    """Whether a mine on `cell` opens a sector for the player (RMS-06).

    Returns:
        () bool for any sector, () bool for a main sector, and the sector's bit as int32.
    """
    sector = jnp.asarray(ruleset.geometry.sector).astype(jnp.int32)[cell]
    new = (sector >= 0) & ~has(me.sectors, jnp.maximum(sector, 0))
    bit = jnp.where(sector >= 0, 1 << jnp.maximum(sector, 0), 0)
    return new, new & (sector < ruleset.geometry.num_main_sectors), bit
