"""Drawing a set-up: all the chance there is in a game (GEN-03, GEN-04, SET, MAP), and its map."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax import geometry
from gaia_jax.components import (
    artifacts,
    boosters,
    costs,
    factions,
    federation_tokens,
    map_tiles,
    missions,
    planets,
    research,
    tech_tiles,
)
from gaia_jax.struct import pytree

# One sub-key each, in this order; a new draw goes to the end (GEN-04).
DRAWS = (
    "sectors",
    "rotations",
    "interface",
    "deep",
    "factions",
    "turn_order",
    "basic_tiles",
    "advanced_tiles",
    "extra_condition",
    "tf5_token",
    "ship_tokens",
    "ship_tiles",
    "artifacts",
    "boosters",
    "round_tiles",
    "final_missions",
    "economy_side",
    "colours",
)
# Random words that the largest draws use: eight deep tiles, each a place, a side and a rotation.
_WORDS = 24


@pytree
class Setup:
    """Everything that is drawn before a game. Indices are into the tuples of `components/`."""

    sector_tile: Array  # (10,) int8, SECTOR_TILES in each sector slot
    sector_rotation: Array  # (10,) int8, 0..5
    interface: Array  # (10,) int8, PLANETS on each interspace cell: Asteroid, Proto, Empty, Ship
    ship_cell: Array  # (4,) int16, the cell of each of SHIPS
    deep_tile: Array  # (8,) int8, DEEP_TILES (a side of a tile) in each deep slot
    deep_rotation: Array  # (8,) int8, 0..2
    faction: Array  # (4,) int8, FACTIONS of each player
    turn_order: Array  # (4,) int8, the players in the order of round 1
    basic_slot: Array  # (9,) int8, BASIC_TILES in each slot: six tracks, three free ones
    advanced: Array  # (7,) int8, ADVANCED_TILES: six tracks, the extra tile
    extra_condition: Array  # () int8, EXTRA_CONDITIONS
    tf5_token: Array  # () int8, BASE_TOKENS on terraforming level 5
    ship_token: Array  # (4,) int8, SHIP_TOKENS on each of SHIPS
    ship_tile: Array  # (3,) int8, SHIP_TILES on each of SHIP_TILE_SHIPS
    artifacts: Array  # (4,) int8, ARTIFACTS on the Twilight
    boosters: Array  # (7,) int8, BOOSTERS in play
    round_tiles: Array  # (6,) int8, ROUND_TILES of rounds 1 to 6
    final_missions: Array  # (2,) int8, FINAL_MISSIONS
    economy_side: Array  # () int8, ECONOMY_SIDES
    colour_order: Array  # (7,) int8, TERRAFORM_CYCLE in random order, for INI-09


@dataclass(frozen=True, eq=False)
class DrawTables:
    """What a variant draws from, as numpy arrays, and the board that it is laid out on."""

    geometry: geometry.Geometry
    sector_contents: np.ndarray  # (tiles, 6, 19) int8, PLANETS on the slot's cells by rotation
    center_pool: tuple[int, ...]  # tiles of which the first num_center slots take some
    num_center: int
    interface_contents: np.ndarray  # (sets, orders, I) int8, PLANETS on the interspace cells
    ship_interface: np.ndarray  # (sets, orders, ships) int8, interspace cell of each ship
    deep_contents: np.ndarray  # (slots, faces, 3, 3) int8, PLANETS on the slot's cells by rotation
    board_factions: np.ndarray  # (boards, 2) int8, FACTIONS on the two sides of each board
    pools: Mapping[str, tuple[int, int]]  # how many of how many, for draws without replacement


def lost_fleet_tables() -> DrawTables:
    """The tables of four players with The Lost Fleet."""
    tile_ids = [tile.id for tile in map_tiles.SECTOR_TILES]
    faction_ids = [faction.id for faction in factions.FACTIONS]
    interface_contents, ship_interface = _interface_layouts()
    return DrawTables(
        geometry=geometry.lost_fleet_geometry(),
        sector_contents=_sector_contents(map_tiles.SECTOR_TILES),
        center_pool=tuple(tile_ids.index(tile) for tile in map_tiles.CENTER_POOL),
        num_center=len(map_tiles.CENTER_SLOTS),
        interface_contents=interface_contents,
        ship_interface=ship_interface,
        deep_contents=_deep_contents(),
        board_factions=np.array(
            [[faction_ids.index(side) for side in board] for board in factions.FACTION_BOARDS],
            np.int8,
        ),
        pools={
            "turn_order": (costs.NUM_PLAYERS, costs.NUM_PLAYERS),
            "basic_tiles": (len(tech_tiles.BASIC_TILES),) * 2,
            "advanced_tiles": (costs.ADVANCED_IN_PLAY, len(tech_tiles.ADVANCED_TILES)),
            "ship_tokens": (len(map_tiles.SHIPS), len(federation_tokens.SHIP_TOKENS)),
            "ship_tiles": (len(tech_tiles.SHIP_TILE_SHIPS), len(tech_tiles.SHIP_TILES)),
            "artifacts": (costs.ARTIFACTS_IN_PLAY, len(artifacts.ARTIFACTS)),
            "boosters": (costs.BOOSTERS_IN_PLAY, len(boosters.BOOSTERS)),
            "round_tiles": (costs.ROUNDS, len(missions.ROUND_TILES)),
            "final_missions": (costs.FINAL_MISSIONS_IN_PLAY, len(missions.FINAL_MISSIONS)),
            "colours": (len(planets.TERRAFORM_CYCLE),) * 2,
        },
    )


def _planet_indices(contents: tuple[str, ...]) -> list[int]:
    return [planets.PLANETS.index(planet) for planet in contents]


def _sector_contents(tiles: tuple[map_tiles.SectorTile, ...]) -> np.ndarray:
    """(tiles, 6, 19): what a tile, turned k times, has on each of the slot's cells (MAP-02)."""
    local = list(map_tiles.SECTOR_LOCAL)
    table = np.zeros((len(tiles), 6, len(local)), np.int8)
    for t, tile in enumerate(tiles):
        for turns in range(6):
            lands = [local.index(geometry.rotate(cell, turns)) for cell in local]
            table[t, turns, lands] = _planet_indices(tile.contents())
    return table


def _interface_layouts() -> tuple[np.ndarray, np.ndarray]:
    """All ways to lay out the interspace: contents by (ship cells, order of the rest), and
    the interspace cell of each ship by (ship cells, order of the ships) (MAP-07).
    """
    num_cells = len(map_tiles.INTERFACE_CELLS)
    rest_orders = sorted(set(itertools.permutations(_planet_indices(map_tiles.INTERFACE_TILES))))
    ship_orders = list(itertools.permutations(range(len(map_tiles.SHIPS))))
    sets = np.array(map_tiles.SHIP_CELL_SETS)
    contents = np.full(
        (len(sets), len(rest_orders), num_cells), planets.PLANETS.index("Ship"), np.int8
    )
    for s, ship_cells in enumerate(sets):
        rest = [cell for cell in range(num_cells) if cell not in ship_cells]
        contents[s][:, rest] = rest_orders
    return contents, sets[:, np.array(ship_orders)].astype(np.int8)


def _deep_contents() -> np.ndarray:
    """(slots, faces, 3, 3): what a face, turned k times, has on each of the slot's cells.

    The cells of an A slot run the same way round as those of the tile, in a B slot the other
    way (MAP-10).
    """
    slots, faces = map_tiles.DEEP_SLOTS, map_tiles.DEEP_TILES
    table = np.zeros((len(slots), len(faces), 3, 3), np.int8)
    for (s, slot), (f, face) in itertools.product(enumerate(slots), enumerate(faces)):
        contents = _planet_indices(face.contents)
        for turns, j in itertools.product(range(3), range(3)):
            cell = j + turns if slot.orientation == "A" else 2 - j - turns
            table[s, f, turns, cell % 3] = contents[j]
    return table


LOST_FLEET_TABLES = lost_fleet_tables()


def _sample(words: Array, size: int, total: int) -> Array:
    """`size` different numbers of 0..total-1 in random order, from the first `total` of `words`.

    The rank of a random word among the others is the number drawn; unlike a sort this is a few
    comparisons for XLA. The low bits are replaced by the position, so that no two are equal.

    Args:
        words: (>= total,) uint32, random bits; total <= 32.
    Returns:
        (size,) int8.
    """
    if total > len(words):
        raise ValueError(f"{total} words are needed to draw from {total}, not {len(words)}")
    distinct = (words[:total] & ~np.uint32(31)) | np.arange(total, dtype=np.uint32)
    return jnp.sum(distinct < distinct[:size, None], axis=-1, dtype=jnp.int8)


def _below(words: Array, bound: int) -> Array:
    """Each word as a number in 0..bound-1, uniform but for bound / 2^32. Same shape, int8."""
    return (words % np.uint32(bound)).astype(jnp.int8)


def draw_setup(key: Array, tables: DrawTables = LOST_FLEET_TABLES) -> Setup:
    """A random set-up; the same key gives the same one (GEN-03, GEN-04).

    Args:
        key: one key of `jax.random`.
        tables: what is drawn from.
    Returns:
        Setup of one game.
    """
    keys = jax.random.split(key, len(DRAWS))
    bits = jax.vmap(lambda sub: jax.random.bits(sub, (_WORDS,), jnp.uint32))(keys)
    words = dict(zip(DRAWS, bits, strict=True))

    def sample(name: str) -> Array:
        return _sample(words[name], *tables.pools[name])

    interface, ship_cell = _draw_interface(words["interface"], tables)
    deep_tile, deep_rotation = _draw_deep(words["deep"], tables)
    return Setup(
        sector_tile=_draw_sectors(words["sectors"], tables),
        sector_rotation=_below(words["rotations"][: len(tables.geometry.sector_cells)], 6),
        interface=interface,
        ship_cell=ship_cell,
        deep_tile=deep_tile,
        deep_rotation=deep_rotation,
        faction=_draw_factions(words["factions"], tables),
        turn_order=sample("turn_order"),
        basic_slot=sample("basic_tiles"),
        advanced=sample("advanced_tiles"),
        extra_condition=_below(words["extra_condition"][0], len(tech_tiles.EXTRA_CONDITIONS)),
        tf5_token=_below(words["tf5_token"][0], len(federation_tokens.BASE_TOKENS)),
        ship_token=sample("ship_tokens"),
        ship_tile=sample("ship_tiles"),
        artifacts=sample("artifacts"),
        boosters=sample("boosters"),
        round_tiles=sample("round_tiles"),
        final_missions=sample("final_missions"),
        economy_side=_below(words["economy_side"][0], len(research.ECONOMY_SIDES)),
        colour_order=sample("colours"),
    )


def _draw_sectors(words: Array, tables: DrawTables) -> Array:
    """The first slots take tiles of the centre pool, the others all that is left (MAP-01)."""
    pool = tables.center_pool
    others = [tile for tile in range(len(tables.sector_contents)) if tile not in pool]
    shuffled = jnp.array(pool, jnp.int8)[_sample(words, len(pool), len(pool))]
    center, spare = shuffled[: tables.num_center], shuffled[tables.num_center :]
    rest = jnp.concatenate([spare, jnp.array(others, jnp.int8)])
    order = _sample(words[len(pool) :], len(rest), len(rest))
    return jnp.concatenate([center, rest[order]])


def _draw_interface(words: Array, tables: DrawTables) -> tuple[Array, Array]:
    """Where the ships stand and what lies on the other interspace cells (MAP-07)."""
    num_sets, num_orders, _ = tables.interface_contents.shape
    ship_set = _below(words[0], num_sets)
    contents = jnp.array(tables.interface_contents)[ship_set, _below(words[1], num_orders)]
    ship_order = _below(words[2], tables.ship_interface.shape[1])
    ship_cells = tables.geometry.interface_cells[tables.ship_interface]
    return contents, jnp.array(ship_cells)[ship_set, ship_order]


def _draw_deep(words: Array, tables: DrawTables) -> tuple[Array, Array]:
    """Each deep tile in a random slot, either side up, turned at random (MAP-10, MAP-11)."""
    slots = len(tables.deep_contents)
    tile, side, turns = _sample(words, slots, slots), words[slots:], words[2 * slots :]
    return 2 * tile + _below(side[:slots], 2), _below(turns[:slots], 3)


def _draw_factions(words: Array, tables: DrawTables) -> Array:
    """Four different boards, either side of each (SET-10, SET-11)."""
    boards = len(tables.board_factions)
    board = _sample(words, costs.NUM_PLAYERS, boards)
    side = _below(words[boards : boards + costs.NUM_PLAYERS], 2)
    return jnp.array(tables.board_factions)[board, side]


def board_planets(setup: Setup, tables: DrawTables = LOST_FLEET_TABLES) -> Array:
    """The map that a set-up lays out (MAP-02, MAP-10).

    Args:
        setup: Setup of one game.
    Returns:
        (C,) int8, PLANETS on each cell.
    """
    board = tables.geometry
    listed = np.concatenate(
        [board.sector_cells.ravel(), board.interface_cells, board.deep_cells.ravel()]
    )
    sectors = jnp.array(tables.sector_contents)[setup.sector_tile, setup.sector_rotation]
    deep = jnp.array(tables.deep_contents)[
        np.arange(len(board.deep_cells)), setup.deep_tile, setup.deep_rotation
    ]
    contents = jnp.concatenate([sectors.ravel(), setup.interface, deep.ravel()])
    return contents[np.argsort(listed)]
