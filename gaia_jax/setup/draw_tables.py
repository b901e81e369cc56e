"""Tables from which a variant draws its set-ups (SET, MAP)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from gaia_jax.components import costs, map_tiles, planets
from gaia_jax.ruleset import Ruleset, geometry


class Required(NamedTuple):
    """`map_tiles.RequiredPlanets` in indices."""

    mission: int  # of the final missions
    planet: int  # of PLANETS
    number: int
    side: int  # of the sides of deep tiles

    @classmethod
    def of(cls, ruleset: Ruleset) -> Required | None:
        """Those of a ruleset, if its map has any."""
        required = ruleset.map.required_planets
        if required is None:
            return None
        return cls(
            ruleset.final_missions.index(required.mission),
            planets.PLANETS.index(required.planet),
            required.number,
            [tile.id for tile in ruleset.map.deep_tiles].index(required.side),
        )


@dataclass(frozen=True, eq=False)
class DrawTables:
    """Tables of a variant to draw from, as numpy arrays, and the board of the layout."""

    geometry: geometry.Geometry
    # (tiles, 6, 19) int8, PLANETS on the slot's cells by rotation; where tiles may be left out, one
    # row more, which the tile -1 names.
    sector_contents: np.ndarray
    num_tiles: int
    spare: int  # tiles that may be left out, the last
    center_pool: tuple[int, ...]  # the tiles that the first slots take
    num_center: int
    across: np.ndarray  # (E, 2) int16, touching cells of different tiles
    types_touch: bool  # planets of one type may touch across tiles
    interface_contents: np.ndarray  # (sets, orders, I) int8, PLANETS on the interspace cells
    ship_interface: np.ndarray  # (sets, orders, ships) int8, interspace cell of each ship
    deep_contents: np.ndarray  # (slots, faces, 3, 3) int8, PLANETS on the slot's cells by rotation
    required: Required | None  # planets of a final mission, if any (PLA-10)
    board_factions: np.ndarray  # (boards, 2) int8, factions on the two sides of each board
    pools: Mapping[str, tuple[int, int]]  # how many of how many, for draws without replacement
    choices: Mapping[str, int]  # one of how many


@cache
def draw_tables(ruleset: Ruleset) -> DrawTables:
    """The tables of a ruleset."""
    parts, board = ruleset.map, ruleset.geometry
    tile_ids = [tile.id for tile in parts.sector_tiles]
    faction_ids = ruleset.ids["faction"]
    interface_contents, ship_interface = _interface_layouts(parts, len(ruleset.ships))
    colours = len(planets.TERRAFORM_CYCLE)
    draws_colours = any(faction.drawn_colours for faction in ruleset.factions)
    return DrawTables(
        geometry=board,
        sector_contents=_sector_contents(parts),
        num_tiles=len(parts.sector_tiles),
        spare=len(parts.spare_tiles),
        center_pool=tuple(tile_ids.index(tile) for tile in parts.center_pool),
        num_center=len(parts.center_slots),
        across=_across_tiles(board),
        types_touch=parts.same_types_touch,
        interface_contents=interface_contents,
        ship_interface=ship_interface,
        deep_contents=_deep_contents(parts),
        required=Required.of(ruleset),
        board_factions=np.array(
            [[faction_ids.index(side) for side in sides] for sides in ruleset.faction_boards],
            np.int8,
        ),
        pools={
            "turn_order": (ruleset.players, ruleset.players),
            "basic_tiles": (len(ruleset.basic_tiles),) * 2,
            "advanced_tiles": (len(ruleset.ids["advanced_slot"]), len(ruleset.advanced_tiles)),
            "ship_tokens": (len(ruleset.ships), len(ruleset.ship_tokens)),
            "ship_tiles": (len(ruleset.ship_tile_ships), len(ruleset.ship_tiles)),
            "artifacts": (ruleset.artifacts_in_play, len(ruleset.artifacts)),
            "boosters": (ruleset.boosters_in_play, len(ruleset.boosters)),
            "round_tiles": (costs.ROUNDS, len(ruleset.round_tiles)),
            "final_missions": (costs.FINAL_MISSIONS_IN_PLAY, len(ruleset.final_missions)),
            "colours": (colours, colours) if draws_colours else (0, 0),
        },
        choices={
            "extra_condition": len(ruleset.extra_conditions),
            "tf5_token": len(ruleset.base_tokens),
            "economy_side": len(ruleset.economy_income),
        },
    )


def _planet_indices(contents: tuple[str, ...]) -> list[int]:
    return [planets.PLANETS.index(planet) for planet in contents]


def _sector_contents(parts: map_tiles.MapParts) -> np.ndarray:
    """`DrawTables.sector_contents`: a tile that is turned k times (MAP-02)."""
    tiles = parts.sector_tiles
    local = list(map_tiles.SECTOR_LOCAL)
    table = np.zeros((len(tiles), 6, len(local)), np.int8)
    for t, tile in enumerate(tiles):
        for turns in range(6):
            lands = [local.index(geometry.rotate(cell, turns)) for cell in local]
            table[t, turns, lands] = _planet_indices(tile.contents())
    if not parts.spare_tiles:
        return table
    return np.concatenate([table, np.full_like(table[:1], planets.PLANETS.index("Ship"))])


def _across_tiles(board: geometry.Geometry) -> np.ndarray:
    """(E, 2) int16, the pairs of cells that touch and lie on different tiles (MAP-06, A23)."""
    tile = np.full(board.num_cells, -1)
    tile[board.sector_cells] = np.arange(len(board.sector_cells))[:, None]
    for group in (board.interface_cells[:, None], board.deep_cells):
        tile[group] = tile.max() + 1 + np.arange(len(group))[:, None]
    cell, side = np.nonzero(board.neighbors >= 0)
    other = board.neighbors[cell, side]
    pairs: np.ndarray = np.stack([cell, other], -1)[tile[cell] < tile[other]]
    return pairs.astype(np.int16)


def _interface_layouts(parts: map_tiles.MapParts, ships: int) -> tuple[np.ndarray, np.ndarray]:
    """All ways to lay out the interspace: contents by (ship cells, order of the rest), and
    the interspace cell of each ship by (ship cells, order of the ships) (MAP-07).
    """
    num_cells = len(parts.interface_cells)
    rest_orders = sorted(set(itertools.permutations(_planet_indices(parts.interface_tiles))))
    ship_orders = list(itertools.permutations(range(ships)))
    sets = np.array(parts.ship_cell_sets, int)
    contents = np.full(
        (len(sets), len(rest_orders), num_cells), planets.PLANETS.index("Ship"), np.int8
    )
    for s, ship_cells in enumerate(sets):
        rest = [cell for cell in range(num_cells) if cell not in ship_cells]
        contents[s][:, rest] = rest_orders
    return contents, sets[:, np.array(ship_orders, int)].astype(np.int8)


def _deep_contents(parts: map_tiles.MapParts) -> np.ndarray:
    """(slots, faces, 3, 3): what a face, turned k times, has on each of the slot's cells.

    The cells of an A slot run the same way round as those of the tile, in a B slot the other
    way (MAP-10).
    """
    slots, faces = parts.deep_slots, parts.deep_tiles
    table = np.zeros((len(slots), len(faces), 3, 3), np.int8)
    for (s, slot), (f, face) in itertools.product(enumerate(slots), enumerate(faces)):
        contents = _planet_indices(face.contents)
        for turns, j in itertools.product(range(3), range(3)):
            cell = j + turns if slot.orientation == "A" else 2 - j - turns
            table[s, f, turns, cell % 3] = contents[j]
    return table
