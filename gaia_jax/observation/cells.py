"""The columns of a cell. Readers give (C,) or (C, columns)."""

from __future__ import annotations

import operator
from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.planets import PLANETS
from gaia_jax.observation.view import Block, View, fixed, ids, one_hot, seats
from gaia_jax.rules import federation, mine
from gaia_jax.rules.federation import search
from gaia_jax.rules.player import FIRST_TYPE, LAST_TYPE, owned_types
from gaia_jax.rules.seat import Seat
from gaia_jax.state import GAIAFORMER, Node

# Planets that no mine is built on, or that are none.
CLOSED = tuple(PLANETS.index(name) for name in ("Empty", "Lost", "Transdim", "Ship"))


def _steps(view: View) -> Array:
    planet = view.game.board.planet
    closed = reduce(operator.or_, (planet == kind for kind in CLOSED))
    steps = jax.vmap(mine.steps_to, (0, None))(view.game.steps, planet)
    return view.by_seat(jnp.where(closed, jnp.int8(-1), steps))


def _distance(view: View) -> Array:
    far = int(view.ruleset.geometry.distance.max()) + 1
    return jnp.minimum(view.by_seat(view.game.board.distance_to_own), far)


def _guest(view: View) -> Array:
    board = view.game.board
    own = board.lantids == view.player
    return jnp.stack([board.has_guest & own, board.has_guest & ~own], -1)


def _station(view: View) -> Array:
    own = view.own_row(view.game.players.stations) > 0
    station = view.game.board.station
    return jnp.stack([station & own, station & ~own], -1)


def _new_type(view: View) -> Array:
    planet = view.game.board.planet
    is_type = (planet >= FIRST_TYPE) & (planet <= LAST_TYPE)
    owned = view.own_row(owned_types(view.ruleset, view.game.players))
    bits = jnp.where(owned, 1 << np.arange(len(PLANETS)), 0).sum()
    return is_type & (bits >> planet.astype(jnp.int32) & 1 == 0)


def _new_sector(view: View) -> Array:
    sector = view.ruleset.geometry.sector.astype(np.int32)
    bits = view.own_row(view.game.players.sectors)
    return jnp.asarray(sector >= 0) & (bits >> np.maximum(sector, 0) & 1 == 0)


def _picked(view: View) -> Array:
    ruleset, game = view.ruleset, view.game
    building, player = game.turn.node == Node.FEDERATION, game.turn.active.astype(jnp.int32)
    position = federation.position(Seat.of(ruleset, game, player))
    lattice = federation.lattice(ruleset)
    number = search.group_numbers(lattice, building, position.own, position.power)
    chosen = game.turn.picked_groups.astype(jnp.int32) >> jnp.maximum(number.astype(jnp.int32), 0)
    return building & (number >= 0) & (chosen & 1 == 1)


def _ship_there(view: View) -> Array:
    cells = np.arange(view.ruleset.geometry.num_cells)
    is_ship_cell: Array = cells[:, None] == view.game.setup.ship_cell[: len(view.ruleset.ships)]
    return is_ship_cell


CELLS = (
    Block("planet", 0, 1, "what the cell is; none for empty space", fixed(*PLANETS[1:]),
          lambda v: one_hot(v.game.board.planet, len(PLANETS))[:, 1:]),
    Block("ship", 0, 1, "which ship it is", ids("ship"), _ship_there),
    Block("sector", -1, 17, "number of the sector in `ids[\"sector\"]`, -1 in the interspace", None,
          lambda v: v.ruleset.geometry.sector),
    Block("piece", 0, 1, "the piece on the cell", lambda r: (*r.ids["structure"][1:], "GAIAFORMER"),
          lambda v: one_hot(v.game.board.piece, GAIAFORMER + 1)[:, 1:]),
    Block("owner", 0, 1, "whose piece it is", seats,
          lambda v: v.game.board.piece_owner[:, None] == v.seats),
    Block("guest", 0, 1, "a guest mine of the Lantids", fixed("own", "other"), _guest),
    Block("station", 0, 1, "a space station of the Hive", fixed("own", "other"), _station),
    Block("ring", 0, 1, "a power ring of the Moweyds", None, lambda v: v.game.board.ring),
    Block("fresh", 0, 1, "made a Gaia planet at once this round: no mine until the next", None,
          lambda v: v.game.board.fresh),
    Block("satellite", 0, 1, "a satellite of the seat", seats,
          lambda v: v.by_seat(v.game.board.satellite)),
    Block("federated", 0, 1, "the seat's structure or station there is in a federation",
          seats, lambda v: v.by_seat(v.game.board.federated)),
    Block("near", 0, 1, "the seat has a structure within two cells", seats,
          lambda v: v.by_seat(v.game.board.near)),
    Block("distance", 0, 20, "to the seat's nearest structure or station; the most: it has none",
          seats, _distance),
    Block("steps", -1, 3, "terraforming steps that the seat needs there; -1 where no mine is built",
          seats, _steps),
    Block("new_type", 0, 1, "a planet type that the own seat has not yet", None, _new_type),
    Block("new_sector", 0, 1, "in a sector where the own seat is not yet", None, _new_sector),
    Block("picked", 0, 1, "in a group picked for the federation that is being formed", None,
          _picked),
    Block("waiting", 0, 1, "the structure whose upgrade waits for the choice of the piece", None,
          lambda v: np.arange(v.ruleset.geometry.num_cells) == v.game.turn.pending_upgrade_cell),
)  # fmt: skip
