"""What each cell is good for to the decider, as bits: one look at the map for the whole mask."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.components import costs
from gaia_jax.rules import mine, upgrade
from gaia_jax.rules.player import LOST
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import SPACE, UNRINGED, OperationRow
from gaia_jax.state import MINE, RING, GameState, Node
from gaia_jax.xla.fusion_barrier import fusion_barrier
from gaia_jax.xla.packed import pick
from gaia_jax.xla.struct import pytree

# The bits of a cell.
USES = (
    "mine", "project_site", "project", "upgrade", "own", "own_mine", "station", "unringed", "lost",
    "start", "add",
)  # fmt: skip


@pytree
class Cells:
    """The cells' uses."""

    bits: Array  # (C,) int16
    any: Array  # () int16, the bits that some cell has
    mines: Array  # (W,) bool, some cell is a legal target of each mode that builds a mine
    nearest: Array  # () int8, distance to the nearest spot for a Gaia project

    def any_cell(self, use: str) -> Array:
        """() bool, some cell has that use."""
        return self.any & bit(use) != 0


def bit(use: str) -> int:
    """The bit of one of USES."""
    return 1 << USES.index(use)


def own_cells(game: GameState, player: Array, structure: Array | int) -> Array:
    """(C,) bool, own pieces of that structure; neither guests nor the Lost Planet."""
    board = game.board
    piece, number = jnp.asarray(structure).astype(jnp.int8), player.astype(jnp.int8)
    return (board.piece == piece) & (board.piece_owner == number) & (board.planet != LOST)


@pytree
class Targets:
    """The inputs of `cell_uses` that depend on the game."""

    modes: Array  # (m, K), rows: modes to build a mine that depend on the game, the plane's first
    project: Array  # (K,), the row of a Gaia project
    own: Array  # () int32, the structure that a target must be, 0 none
    add: Array  # (C,) bool, groups that can be added to a federation


def cell_uses(seat: Seat, static_ops: np.ndarray, targets: Targets) -> Cells:
    """The uses of each cell for the player, payment included.

    Args:
        static_ops: (n,) operations, modes to build a mine that do not depend on the game; static.
    """
    ruleset, game, in_game = seat.ruleset, seat.game, ~seat.at(Node.ENDED)
    # A separate stage; otherwise XLA recomputes a site for each mode to build on it.
    sites = fusion_barrier(partial(_sites, ruleset), in_game, (game,))
    kernel = partial(_uses, ruleset, tuple(static_ops.tolist()))
    return fusion_barrier(kernel, in_game, (game, sites, seat.faction.row, targets))


def _sites(ruleset: Ruleset, game: GameState) -> mine.Site:
    return mine.site(ruleset, game, game.turn.player.astype(jnp.int32))


def _uses(
    ruleset: Ruleset,
    static_ops: tuple[int, ...],
    game: GameState,
    sites: mine.Site,
    faction_columns: Array,
    targets: Targets,
) -> Cells:
    board, player = game.board, game.turn.player.astype(jnp.int32)
    seat = Seat.of_columns(ruleset, game, player, faction_columns)
    distance, project = pick(board.distance_to_own, player), OperationRow.of(targets.project)

    def mine_cells(values: Array) -> Array:
        return mine.affordable(seat, sites, OperationRow.of(values))

    spots = mine.project_site(game)
    ring_free = board.structures_of(player.astype(jnp.int8))
    ring_free &= (board.flags & RING == 0) & (seat.me.rings < costs.MOWEYDS_RINGS)
    mines = jax.vmap(mine_cells)(targets.modes)
    has_mine_cell = [
        _somewhere(cells)
        for cells in (mines, jax.vmap(mine_cells)(ruleset.tables.ops[np.array(static_ops, int)]))
    ]
    cells_by_use = {
        "mine": mines[0],
        "project_site": spots,
        "project": spots & mine.project_affordable(ruleset, seat.me, distance, project),
        "upgrade": upgrade.upgrade_cells(seat),
        "own": own_cells(game, player, targets.own) & (targets.own > 0),
        "own_mine": own_cells(game, player, MINE),
        "station": mine.station_cells(seat),
        "unringed": ring_free,
        "lost": mine.lost_planet_cells(seat),
        "start": (board.planet == mine.as_int8(seat.faction.start_planet)) & (board.piece == 0),
        "add": targets.add,
    }
    bits = jnp.zeros_like(distance, jnp.int16)
    for use in USES:
        bits |= jnp.where(cells_by_use[use], jnp.int16(bit(use)), jnp.int16(0))
    return Cells(
        bits=bits,
        any=lax.reduce(bits, jnp.int16(0), lax.bitwise_or, (0,)),
        mines=jnp.concatenate(has_mine_cell),
        nearest=jnp.where(spots, distance, jnp.int8(mine.UNREACHABLE)).min(),
    )


def _somewhere(cells: Array) -> Array:
    """(...) bool, some of (..., C); in int8, of which a CPU takes the greatest in one call."""
    return cells.astype(jnp.int8).max(-1) > 0


def planes(seat: Seat, mode: OperationRow, uses: Cells) -> Array:
    """(4 C,) bool, the options of the four planes: mine, project, upgrade, pick."""
    target = seat.at(Node.TARGET)

    def bits_when(condition: Array, *names: str) -> Array:
        return jnp.where(condition, sum(bit(name) for name in names), 0).astype(jnp.int16)

    picks = [
        bits_when(seat.at(Node.START), "start"),
        bits_when(seat.at(Node.FREE_MINE) | target & (mode.mine > 0), "mine"),
        bits_when(target, "project", "own"),
        bits_when(target & (mode.target == SPACE), "station"),
        bits_when(target & (mode.target == UNRINGED), "unringed"),
        bits_when(seat.at(Node.LOST_PLANET), "lost"),
        bits_when(seat.at(Node.FEDERATION), "add"),
    ]
    my_turn = seat.at(Node.TURN)
    kinds = [bits_when(my_turn, name) for name in ("mine", "project", "upgrade")] + [sum(picks)]
    return jnp.concatenate([uses.bits & kind != 0 for kind in kinds])
