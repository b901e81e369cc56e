"""The Automa's pieces as rows of numbers, and the orders in which it chooses (AUT)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from jax import Array

from gaia_jax.components import automa, common, planets, research
from gaia_jax.ruleset.geometry import Geometry
from gaia_jax.ruleset.pieces import Pieces

# `FactionNumbers.research`: none, track t as t, or by numbered selection.
NO_RESEARCH, RANDOM_RESEARCH = -1, len(research.TRACKS)
NO_TRACK = -1
# `FactionNumbers.mine_prefers`.
PREFERENCES = (None, automa.NEAR_HUMAN, automa.TRANSDIM)

Row = TypeVar("Row", bound=NamedTuple)


class CardNumbers(NamedTuple):
    """A decision card, () int32 each."""

    action: Array  # index of `automa.ACTIONS`
    vp: Array
    red: Array  # 0 or 1
    booster: Array  # LEFT, MIDDLE, RIGHT
    mission: Array  # NO_MISSION, UPPER, LOWER
    range: Array
    reverse: Array  # 0 or 1
    number: Array  # of the numbered selection
    from_right: Array  # 0 or 1
    setup_booster: Array  # 1..5


class FactionNumbers(NamedTuple):
    """A card of the Automa's factions, () int32 each."""

    start_track: Array  # NO_TRACK or a track
    vp: Array
    research: Array  # NO_RESEARCH, a track, or RANDOM_RESEARCH
    mine_range: Array
    mine_prefers: Array  # index of PREFERENCES
    upgrades_first: Array  # 0 or 1
    downgrades: Array  # 0 or 1
    power_actions: Array
    card_power_actions: Array
    trading_station_vp: Array
    new_type_vp: Array
    lab_research: Array  # 0 or 1


class LevelNumbers(NamedTuple):
    """A level, () int32 each."""

    start_vp: Array
    extra_vp: Array


EXTRA_VP = LevelNumbers._fields.index("extra_vp")


@dataclass(frozen=True, eq=False)
class NumberTable(Generic[Row]):
    """Rows of numbers that are read as a named tuple."""

    kind: Callable[..., Row]
    numbers: np.ndarray  # (rows, fields) int8

    def row(self, values: Array) -> Row:
        """The named fields of one row, (fields,) int."""
        return self.kind(*(values[i] for i in range(self.numbers.shape[1])))


class Upgrade(NamedTuple):
    """A replacement of structures, codes of `Board.piece`; of two academies the first comes."""

    old: int
    new: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SpaceTable:
    """The Automa's options for power and QIC from left to right, numpy (AUT-25, AUT-42).

    Spaces are bits: the power actions, then the shared actions.
    """

    space: np.ndarray  # (options,) int32, the bit that closes the option once covered; 0 none
    covered: np.ndarray  # (options,) int32, the bits that choosing it covers
    ship: np.ndarray  # (options,) int32, the bit of the ship of its tile; 0 without a tile
    explores: np.ndarray  # (options,) bool, the tile's other side: a ship to explore


@dataclass(frozen=True, eq=False)
class AutomaTable:
    """Tables of the Automa, numpy."""

    cards: NumberTable[CardNumbers]  # by the number of the card; row 0 is no card
    factions: NumberTable[FactionNumbers]  # by ids["faction"]
    levels: NumberTable[LevelNumbers]
    plays: np.ndarray  # (factions,) bool by ids["faction"], the Automa may play it
    fixed: np.ndarray  # (levels, 18) bool by card
    round_tile_vp: np.ndarray  # (round tiles, 2) int8, rounds 1 to 3 and 4 to 6
    spaces: SpaceTable
    tile_ships: np.ndarray  # (ship tiles,) int8, index of ids["ship"]
    reading_rank: np.ndarray  # (C,) int32, place of a cell row by row from the top left
    center: int  # the cell in the middle of the map
    steps: np.ndarray  # (14,) int8, steps to planets off the ring of colours, -1 on it
    upgrades: tuple[Upgrade, ...]  # the downgrade first


def _faction_row(faction: automa.AutomaFaction) -> list[int]:
    tracks = research.TRACKS
    names = (*tracks, automa.RESEARCH_RANDOM)
    return [
        NO_TRACK if faction.start_track is None else tracks.index(faction.start_track),
        faction.vp,
        NO_RESEARCH if faction.research is None else names.index(faction.research),
        faction.mine_range,
        PREFERENCES.index(faction.mine_prefers),
        faction.upgrades_first,
        faction.downgrades,
        faction.power_actions,
        faction.card_power_actions,
        faction.trading_station_vp,
        faction.new_type_vp,
        faction.lab_research,
    ]


def _card_row(card: automa.DecisionCard) -> list[int]:
    return [
        automa.ACTIONS.index(card.action),
        card.vp,
        card.red,
        card.booster,
        card.mission,
        card.range,
        card.reverse,
        card.number_chosen,
        card.from_right,
        card.setup_booster,
    ]


def reading_ranks(geometry: Geometry) -> np.ndarray:
    """(C,) int32, the place of each cell, row by row from the top, each from the left (AUT-16)."""
    q, r = geometry.cells.astype(int).T
    ranks = np.empty(geometry.num_cells, np.int32)
    ranks[np.lexsort((q, -r))] = np.arange(geometry.num_cells)
    return ranks


def _structures(name: str) -> tuple[int, ...]:
    """The codes of a structure; "AC" is either academy."""
    return tuple(i for i, id in enumerate(common.STRUCTURES) if id.split("_")[0] == name)


def _upgrades() -> tuple[Upgrade, ...]:
    rows = (automa.DOWNGRADE, *automa.UPGRADES)
    return tuple(Upgrade(_structures(old)[0], _structures(new)) for old, new in rows)


def _numbers(rows: Sequence[object]) -> np.ndarray:
    return np.array(rows, np.int8)


def _spaces(pieces: Pieces, parts: automa.Automa) -> SpaceTable:
    shared = tuple(action.id for _, action in pieces.shared_actions)
    bits = {x: 1 << i for i, x in enumerate((*pieces.ids["power_action"], *shared))}
    rows = [(bits[x], bits[x], 0, False) for x in parts.action_row]
    for tile in parts.ship_tiles:
        ship = 1 << pieces.ships.index(tile.ship)
        own = [bits[x] for x in tile.spaces]
        rows.append((0, 0, ship, True))
        # The space to the left on the same tile is covered too.
        rows += [(x, x | left, ship, False) for x, left in zip(own, [0, *own], strict=False)]
    space, covered, ships, explores = zip(*rows, strict=True)
    return SpaceTable(
        space=np.array(space, np.int32),
        covered=np.array(covered, np.int32),
        ship=np.array(ships, np.int32),
        explores=np.array(explores),
    )


def make_automa_table(pieces: Pieces) -> AutomaTable:
    """The tables of a ruleset with an Automa."""
    parts = pieces.automa
    assert parts is not None and not pieces.free_leech_is_taken
    ids, geometry = pieces.ids, pieces.geometry
    by_id = {faction.id: faction for faction in parts.factions}
    no_card = automa.AutomaFaction("", None, 0)
    cards: list[list[int]] = [[0] * len(CardNumbers._fields), *map(_card_row, parts.cards)]
    levels = [[x.start_vp, x.extra_vp] for x in parts.levels]
    steps = [automa.OTHER_STEPS.get(planet, -1) for planet in planets.PLANETS]
    fixed = [[n in x.fixed_cards for n in range(len(cards))] for x in parts.levels]
    return AutomaTable(
        cards=NumberTable(CardNumbers, _numbers(cards)),
        factions=NumberTable(
            FactionNumbers, _numbers([_faction_row(by_id.get(x, no_card)) for x in ids["faction"]])
        ),
        levels=NumberTable(LevelNumbers, _numbers(levels)),
        plays=np.array([x in by_id for x in ids["faction"]]),
        fixed=np.array(fixed),
        round_tile_vp=_numbers([parts.round_tile_vp[x] for x in ids["round_tile"]]),
        spaces=_spaces(pieces, parts),
        tile_ships=_numbers([pieces.ships.index(tile.ship) for tile in parts.ship_tiles]),
        reading_rank=reading_ranks(geometry),
        center=geometry.cell_index[pieces.map.sector_centers[0]],
        steps=_numbers(steps),
        upgrades=_upgrades(),
    )
