"""Drawing a set-up: all the chance there is in a game (GEN-03, GEN-04, SET, MAP), and its map."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import planets
from gaia_jax.ruleset import LOST_FLEET, Ruleset
from gaia_jax.setup.automa_draw import ANY, AutomaChoice, draw_automa, faction_pair, threefry
from gaia_jax.setup.draw_tables import DrawTables, draw_tables
from gaia_jax.state import Setup

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
# The draws that are repeated where planets of one type may not touch.
_MAP_DRAWS = ("sectors", "rotations", "deep")


def _bits(key: Array) -> Array:
    """(_WORDS,) uint32, the random words of one draw."""
    return jax.random.bits(key, (_WORDS,), jnp.uint32)


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


def draw_setup(
    key: Array,
    ruleset: Ruleset = LOST_FLEET,
    small: bool = False,
    automa: AutomaChoice = ANY,
) -> Setup:
    """A random set-up; the same key gives the same one (GEN-03, GEN-04).

    Args:
        key: one key of `jax.random`.
        ruleset: static.
        small: static; without the tiles that may be left out, and the last places (PLA-04).
        automa: static; of a ruleset with an Automa.
    Returns:
        Setup of one game.
    """
    tables = draw_tables(ruleset)
    keys = jax.random.split(threefry(key), len(DRAWS))
    words = dict(zip(DRAWS, jax.vmap(_bits)(keys), strict=True))

    def sample(name: str) -> Array:
        return _sample(words[name], *tables.pools[name])

    def choose(name: str) -> Array:
        return _below(words[name][0], max(tables.choices[name], 1))

    interface, ship_cell = _draw_interface(words["interface"], tables)
    if tables.types_touch:
        tiles = _draw_map(words, tables, small)
        tiles = turn_side_over(tiles, interface, sample("final_missions"), tables)
    else:
        # Not used twice: the words of these draws are left where the map is drawn again.
        named = dict(zip(DRAWS, jax.random.clone(keys), strict=True))
        tiles = _draw_allowed_map(named, interface, sample("final_missions"), tables, small)
    turn_order, draws = sample("turn_order"), None
    if ruleset.automa:
        # The human is the first player (AUT-01).
        turn_order = jnp.arange(ruleset.players, dtype=jnp.int8)
        draws = draw_automa(ruleset, automa.level, jax.random.fold_in(threefry(key), len(DRAWS)))
    return Setup(
        **tiles,
        interface=interface,
        ship_cell=ship_cell,
        faction=_draw_factions(words["factions"], ruleset, tables, automa.faction),
        turn_order=turn_order,
        automa=draws,
        basic_slot=sample("basic_tiles"),
        advanced=sample("advanced_tiles"),
        extra_condition=choose("extra_condition"),
        tf5_token=choose("tf5_token"),
        ship_token=sample("ship_tokens"),
        ship_tile=sample("ship_tiles"),
        artifacts=sample("artifacts"),
        boosters=sample("boosters"),
        round_tiles=sample("round_tiles"),
        final_missions=sample("final_missions"),
        economy_side=choose("economy_side"),
        colour_order=sample("colours"),
    )


def _draw_sectors(words: Array, tables: DrawTables, small: bool) -> Array:
    """The first slots take tiles of the centre pool, the others the remaining tiles (MAP-01)."""
    pool = tables.center_pool
    if small:
        count = tables.num_tiles - tables.spare
        return jnp.append(_sample(words, count, count), jnp.full(tables.spare, -1, jnp.int8))
    others = [tile for tile in range(tables.num_tiles) if tile not in pool]
    if not pool:
        return _sample(words, len(others), len(others))
    shuffled = jnp.array(pool, jnp.int8)[_sample(words, len(pool), len(pool))]
    center, spare = shuffled[: tables.num_center], shuffled[tables.num_center :]
    rest = jnp.concatenate([spare, jnp.array(others, jnp.int8)])
    order = _sample(words[len(pool) :], len(rest), len(rest))
    return jnp.concatenate([center, rest[order]])


def _draw_map(words: dict[str, Array], tables: DrawTables, small: bool) -> dict[str, Array]:
    """Tiles and rotations of all sector and deep slots: fields of Setup (MAP-01, MAP-10)."""
    deep_tile, deep_rotation = _draw_deep(words["deep"], tables)
    tile = _draw_sectors(words["sectors"], tables, small)
    rotation = _below(words["rotations"][: len(tables.geometry.sector_cells)], 6)
    return {
        "sector_tile": tile,
        "sector_rotation": jnp.where(tile < 0, jnp.int8(0), rotation) if small else rotation,
        "deep_tile": deep_tile,
        "deep_rotation": deep_rotation,
    }


def lacks_planets(laid: Array, missions: Array, tables: DrawTables) -> Array:
    """() bool, a drawn final mission counts planets of which the map has too few (PLA-10).

    Args:
        laid: (C,) int8, PLANETS on each cell; missions: (2,) int8, the final missions drawn.
    """
    if tables.required is None:
        return jnp.zeros((), bool)
    count = (laid == tables.required.planet).sum()
    return (missions == tables.required.mission).any() & (count < tables.required.number)


def turn_side_over(
    tiles: dict[str, Array], interface: Array, missions: Array, tables: DrawTables
) -> dict[str, Array]:
    """The tiles, with one deep tile on its other side if `lacks_planets` (PLA-10)."""
    if tables.required is None:
        return tiles
    lacks = lacks_planets(_laid_out(tables, interface=interface, **tiles), missions, tables)
    turned = lacks & (tiles["deep_tile"] == tables.required.side)
    return tiles | {"deep_tile": jnp.where(turned, tiles["deep_tile"] ^ 1, tiles["deep_tile"])}


def _draw_allowed_map(
    keys: dict[str, Array], interface: Array, missions: Array, tables: DrawTables, small: bool
) -> dict[str, Array]:
    """`_draw_map`, drawn again until no two planets of one type touch across tiles (A23).

    So every map that keeps the rule is as likely as any other; about three in ten do.

    Args:
        keys: a key by name of a draw; interface: (I,) int8, the contents of the interspace cells.
        missions: (2,) int8, the final missions drawn.
    """

    def attempt(number: Array) -> dict[str, Array]:
        attempt_keys = {name: jax.random.fold_in(keys[name], number) for name in _MAP_DRAWS}
        tiles = _draw_map({name: _bits(key) for name, key in attempt_keys.items()}, tables, small)
        return turn_side_over(tiles, interface, missions, tables)

    def breaks(carry: tuple[Array, dict[str, Array]]) -> Array:
        laid = _laid_out(tables, interface=interface, **carry[1])
        return same_types_touch(laid, tables)

    def redraw(carry: tuple[Array, dict[str, Array]]) -> tuple[Array, dict[str, Array]]:
        return carry[0] + 1, attempt(carry[0])

    first = jnp.zeros((), jnp.int32)
    return jax.lax.while_loop(breaks, redraw, redraw((first, {})))[1]


def same_types_touch(laid: Array, tables: DrawTables) -> Array:
    """() bool, two planets of one type touch across tiles (MAP-06, A23).

    Args:
        laid: (C,) int8, PLANETS on each cell.
    """
    first, second = laid[tables.across[:, 0]], laid[tables.across[:, 1]]
    same = (first == second) & (first != planets.PLANETS.index("Empty"))
    if tables.spare:
        same &= first != planets.PLANETS.index("Ship")
    return same.any()


def _draw_interface(words: Array, tables: DrawTables) -> tuple[Array, Array]:
    """The cells of the ships, and the contents of the other interspace cells (MAP-07)."""
    num_sets, num_orders, num_cells = tables.interface_contents.shape
    if not num_cells:
        return jnp.zeros(0, jnp.int8), jnp.zeros(0, jnp.int16)
    ship_set = _below(words[0], num_sets)
    contents = jnp.array(tables.interface_contents)[ship_set, _below(words[1], num_orders)]
    ship_order = _below(words[2], tables.ship_interface.shape[1])
    ship_cells = tables.geometry.interface_cells[tables.ship_interface]
    return contents, jnp.array(ship_cells)[ship_set, ship_order]


def _draw_deep(words: Array, tables: DrawTables) -> tuple[Array, Array]:
    """Each deep tile in a random slot, either side up, turned at random (MAP-10, MAP-11)."""
    slots = len(tables.deep_contents)
    if not slots:
        return jnp.zeros(0, jnp.int8), jnp.zeros(0, jnp.int8)
    tile, side, turns = _sample(words, slots, slots), words[slots:], words[2 * slots :]
    return 2 * tile + _below(side[:slots], 2), _below(turns[:slots], 3)


def _draw_factions(
    words: Array, ruleset: Ruleset, tables: DrawTables, automa_faction: int
) -> Array:
    """Different boards, either side of each (SET-10, SET-11)."""
    boards, players = len(tables.board_factions), ruleset.players
    # The Automa may need a later board: it does not play every faction.
    board = _sample(words, boards if ruleset.automa else players, boards)
    side = _below(words[boards : boards + players], 2)
    factions = jnp.array(tables.board_factions)[board[:players], side]
    return faction_pair(ruleset, board, factions, automa_faction) if ruleset.automa else factions


def board_planets(setup: Setup, ruleset: Ruleset = LOST_FLEET) -> Array:
    """The map that a set-up lays out (MAP-02, MAP-10).

    Args:
        setup: Setup of one game.
        ruleset: the ruleset, static.
    Returns:
        (C,) int8, PLANETS on each cell.
    """
    return _laid_out(
        draw_tables(ruleset),
        setup.sector_tile,
        setup.sector_rotation,
        setup.interface,
        setup.deep_tile,
        setup.deep_rotation,
    )


def _laid_out(
    tables: DrawTables,
    sector_tile: Array,
    sector_rotation: Array,
    interface: Array,
    deep_tile: Array,
    deep_rotation: Array,
) -> Array:
    """(C,) int8, PLANETS on each cell, of these fields of Setup."""
    board = tables.geometry
    listed = np.concatenate(
        [board.sector_cells.ravel(), board.interface_cells, board.deep_cells.ravel()]
    )
    sectors = jnp.array(tables.sector_contents)[sector_tile, sector_rotation]
    contents = [sectors.ravel(), interface]
    if len(board.deep_cells):
        slots = np.arange(len(board.deep_cells))
        deep = jnp.array(tables.deep_contents)[slots, deep_tile, deep_rotation]
        contents.append(deep.ravel())
    return jnp.concatenate(contents)[np.argsort(listed)]
