"""Where a mine can be built and what it costs: range, terraforming, Gaia planets (MIN).

Prices work on one cell or on all cells at once: `Site` holds what matters of a cell, scalars or
(C,) arrays alike.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.planets import PLANETS
from gaia_jax.operations import NO_ROCKS, PROJECT, ROCKS_ONLY, OperationRow
from gaia_jax.rules import power
from gaia_jax.rules.player import ASTEROID, GAIA, LOST, Columns, has, uncovered
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import FRESH, GAIAFORMER, GUEST, MINE, NONE, GameState, Players
from gaia_jax.struct import pytree

TRANSDIM, SHIP, EMPTY = (PLANETS.index(x) for x in ("Transdim", "Ship", "Empty"))
# A distance that no range reaches.
FAR = 127


@pytree
class Site:
    """A cell as a player's mine sees it. Arrays of one shape: () for a cell, (C,) for all."""

    planet: Array  # int32, Board.planet
    distance: Array  # int32, to the nearest own structure or station
    steps: Array  # int32, terraforming steps that the faction needs
    open: Array  # bool, a planet without structure that the player may build on
    own_gaia: Array  # bool, Gaia planet under an own gaiaformer (GAI-03, GAI-04)
    guest: Array  # bool, a planet of one other player, for the Lantids (LAN-01)


@pytree
class Price:
    """What a mine costs besides the price of the action that builds it."""

    ore: Array
    credits: Array
    qic: Array
    gaiaformer: Array  # 1 where an available gaiaformer is spent for good (MIN-12)


def site(rules: Ruleset, game: GameState, player: Array, cell=slice(None)) -> Site:
    """What `player` needs to know of one cell, or of all cells (the default)."""
    board = game.board
    planet = board.planet[cell].astype(jnp.int32)
    piece, holder, flags = board.piece[cell], board.holder[cell], board.flags[cell]
    steps = game.steps[player].astype(jnp.int32)
    colonizable = (planet != EMPTY) & (planet != SHIP) & (planet != TRANSDIM) & (planet != LOST)
    own_gaia = (piece == GAIAFORMER) & (holder == player) & (planet == GAIA) & (flags & FRESH == 0)
    taken = (piece != NONE) & (piece != GAIAFORMER)
    guest_mines = jnp.asarray(rules.tables.faction.guest_mines)[game.setup.faction[player]] > 0
    return Site(
        planet=planet,
        distance=game.board.reach[player].astype(jnp.int32)[cell],
        steps=steps[planet],
        open=colonizable & (piece == NONE) | own_gaia,
        own_gaia=own_gaia,
        guest=guest_mines & taken & (holder != player) & (flags & GUEST == 0),
    )


def reach_bonus(rules: Ruleset, me: Players) -> Array:
    """() int32, the basic range of the player (MIN-04)."""
    t = rules.tables
    level = me.tracks[..., rules.ids["track"].index("navigation")]
    tile = (uncovered(rules, me) * t.range_bonus).sum(-1)
    return jnp.asarray(t.navigation_range).astype(jnp.int32)[level] + tile


def range_qic(distance: Array, reach: Array) -> Array:
    """QIC that stretch `reach` to `distance`, two cells each (MIN-05)."""
    missing = jnp.maximum(distance - reach, 0)
    return (missing + costs.RANGE_PER_QIC - 1) // costs.RANGE_PER_QIC


def price(rules: Ruleset, faction: Columns, me: Players, at: Site, op: OperationRow) -> Price:
    """What a mine by the operation `op` costs at a site (MIN-02, MIN-09 to MIN-14, LAN-01)."""
    t = rules.tables
    level = me.tracks[rules.ids["track"].index("terraforming")]
    rock = (at.planet == ASTEROID) & ~at.guest
    steps = jnp.where(at.guest, 0, jnp.maximum(at.steps - op.free_steps, 0))
    base = 1 - jnp.where(rock, 1, op.waived)
    ore = base * rules.mine_cost.ore + steps * jnp.asarray(t.ore_per_step).astype(jnp.int32)[level]
    gaia = (at.planet == GAIA) & ~at.own_gaia & ~at.guest
    # The Gleens pay ore for a Gaia planet if enough is left after the mine, else QIC (MIN-10).
    in_ore = (faction.gaia_ore > 0) & (me.ore >= ore + faction.gaia_ore)
    near = at.own_gaia | (op.unlimited > 0)
    reach = reach_bonus(rules, me) + op.range_bonus
    qic = jnp.where(near, 0, range_qic(at.distance, reach))
    return Price(
        ore=ore + jnp.where(gaia & in_ore, faction.gaia_ore, 0),
        credits=base * rules.mine_cost.credits + 0 * ore,
        qic=qic + jnp.where(gaia & ~in_ore, faction.gaia_qic, 0),
        gaiaformer=(rock & (op.rocks != ROCKS_ONLY)).astype(jnp.int32),
    )


def affordable(rules: Ruleset, faction: Columns, me: Players, at: Site, op: OperationRow) -> Array:
    """bool, the cell is a legal and payable target of a mine by `op`, its own price included.

    The price of `op` in power, and whether it is still there this round, are not asked here.
    """
    cost = price(rules, faction, me, at, op)
    rock = at.planet == ASTEROID
    allowed = jnp.where(rock & ~at.guest, op.rocks != NO_ROCKS, op.rocks != ROCKS_ONLY)
    return (
        (op.mine > 0)
        & (at.open | at.guest & (op.guests > 0))
        & allowed
        & (me.built[MINE] < costs.PIECES["MINE"])
        & (me.ore >= cost.ore + op.cost_ore)
        & (me.credits >= cost.credits + op.cost_credits)
        & (me.qic >= cost.qic + op.cost_qic)
        & (me.gaiaformers >= cost.gaiaformer)
    )


def project_site(game: GameState, cell=slice(None)) -> Array:
    """bool, a transdim planet without a gaiaformer (GPJ-03)."""
    return (game.board.planet[cell] == TRANSDIM) & (game.board.piece[cell] == NONE)


def project_tokens(rules: Ruleset, me: Players, op: OperationRow) -> Array:
    """() int32, power tokens of a Gaia project; none for an instant one (GPJ-01, GPJ-04)."""
    level = me.tracks[..., rules.ids["track"].index("gaia")]
    cost = jnp.asarray(rules.tables.project_cost).astype(jnp.int32)[level]
    return jnp.where(op.project == PROJECT, cost, 0)


def project_affordable(rules: Ruleset, me: Players, distance: Array, op: OperationRow) -> Array:
    """bool, a Gaia project by `op` at that distance can be paid (GPJ-01, MIN-06)."""
    qic = range_qic(distance, reach_bonus(rules, me) + op.range_bonus)
    return (
        (op.project > 0)
        & (me.gaiaformers > 0)
        & (power.held(me) >= project_tokens(rules, me, op))
        & (me.qic >= qic + op.cost_qic)
    )


def lost_planet_cells(rules: Ruleset, game: GameState, player: Array, me: Players) -> Array:
    """(C,) bool, empty space without satellite or station, in range, QIC included (RES-07)."""
    board = game.board
    free = (board.planet == EMPTY) & (board.links & 15 == 0) & ~board.station
    distance = board.reach[player].astype(jnp.int32)
    return free & (range_qic(distance, reach_bonus(rules, me)) <= me.qic)


def station_cells(rules: Ruleset, game: GameState, player: Array, me: Players) -> Array:
    """(C,) bool, where the Hive may place a station: empty space without one, in range (HIV-01)."""
    board = game.board
    distance = board.reach[player].astype(jnp.int32)
    near = range_qic(distance, reach_bonus(rules, me)) <= me.qic
    return (board.planet == EMPTY) & ~board.station & near & (me.stations < costs.HIVE_STATIONS)


def new_sector(rules: Ruleset, me: Players, cell: Array) -> tuple[Array, Array, Array]:
    """Whether a mine on `cell` opens a sector for the player (RMS-06).

    Returns:
        () bool for any sector, () bool for a main sector, and the sector's bit as int32.
    """
    sector = jnp.asarray(rules.geometry.sector).astype(jnp.int32)[cell]
    new = (sector >= 0) & ~has(me.sectors, jnp.maximum(sector, 0))
    bit = jnp.where(sector >= 0, 1 << jnp.maximum(sector, 0), 0)
    return new, new & (sector < rules.geometry.num_main_sectors), bit
