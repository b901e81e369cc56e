"""The faction boards of a ruleset as columns of numbers, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np
from jax import Array

from gaia_jax.components import planets
from gaia_jax.components.common import STRUCTURES, Gain
from gaia_jax.components.factions import Faction, FactionNumbers
from gaia_jax.ruleset.pieces import Pieces

GAIN_FIELDS = tuple(f.name for f in fields(Gain))
VP, CREDITS, ORE, KNOWLEDGE, QIC, TOKENS, TOKENS_III, CHARGE, GAIAFORMERS = map(
    GAIN_FIELDS.index,
    ("vp", "credits", "ore", "knowledge", "qic", "tokens", "tokens_iii", "charge", "gaiaformers"),
)
STOCKS = slice(CREDITS, QIC + 1)  # as `Players.resources`
# A price that no player can pay.
NO_PRICE = 127


def gain_vector(gain: Gain[int]) -> list[int]:
    """The amounts of a gain in the order of GAIN_FIELDS."""
    return [getattr(gain, name) for name in GAIN_FIELDS]


def _cumulative(gains: Iterable[Gain[int]]) -> list[list[int]]:
    """(n + 1, 9), what the first k pieces bring together."""
    rows = [[0] * len(GAIN_FIELDS)]
    for gain in gains:
        rows.append([a + b for a, b in zip(rows[-1], gain_vector(gain), strict=True)])
    return rows


def _gaia_qic(faction: Faction) -> int:
    """QIC for a Gaia planet where it is not paid in ore (MIN-09, MIN-10)."""
    if faction.gaia_planet_cost.ore and not faction.gaia_planet_qic_instead:
        return NO_PRICE
    return max(faction.gaia_planet_cost.qic, int(faction.gaia_planet_qic_instead))


def _upgrades(faction: Faction) -> np.ndarray:
    paths = np.zeros((len(STRUCTURES), len(STRUCTURES)), bool)
    for old, new in faction.upgrades:
        paths[STRUCTURES.index(old), STRUCTURES.index(new)] = True
    return paths


def _steps(faction: Faction) -> np.ndarray:
    cycle, steps = planets.TERRAFORM_CYCLE, np.zeros(len(planets.PLANETS), np.int8)
    steps[planets.PLANETS.index("Proto")] = planets.PROTO_STEPS
    for place, colour in enumerate(cycle):
        number = faction.colour_steps or 0
        if faction.home:
            distance = abs(cycle.index(faction.home) - place)
            number = min(distance, len(cycle) - distance)
        steps[planets.PLANETS.index(colour)] = number
    return steps


@dataclass(frozen=True)
class FactionColumn:
    """A column that is worked out from what a board prints; `read` gives a number or an array.

    `read` is given the faction, the pieces of the ruleset and the number of each operation.
    """

    read: Callable[[Faction, Pieces, Mapping[str, int]], Any]
    dtype: type = np.int8

    @overload
    def __get__(self, row: None, owner: type) -> FactionColumn: ...

    @overload
    def __get__(self, row: FactionColumns, owner: type) -> Array: ...

    def __get__(self, row: FactionColumns | None, owner: type) -> Array | FactionColumn:
        """The column of a row."""
        return self if row is None else row.column(row.names[self])

    __hash__ = object.__hash__


class FactionColumns(FactionNumbers[Array]):
    """Columns of faction boards by name, of one faction (`FactionRow`) or of all of a ruleset."""

    home = FactionColumn(lambda f, pieces, _: pieces.ids["planet"].index(f.home) if f.home else -1)
    start_planet = FactionColumn(lambda f, pieces, _: pieces.ids["planet"].index(f.start_planet))
    start_piece = FactionColumn(lambda f, *_: STRUCTURES.index(f.start_structures[0][0]))
    start_pieces = FactionColumn(lambda f, *_: sum(n for _, n in f.start_structures))
    start = FactionColumn(lambda f, *_: gain_vector(f.start))
    start_power = FactionColumn(lambda f, *_: f.start_power)
    start_tracks = FactionColumn(lambda f, *_: f.start_tracks)
    preplaced_ship = FactionColumn(
        lambda f, pieces, _: pieces.ships.index(f.preplaced_ship) if f.preplaced_ship else -1
    )
    mine_income = FactionColumn(lambda f, *_: np.cumsum((0, *f.mine_income_ore)))
    base_income = FactionColumn(lambda f, *_: gain_vector(f.base_income))
    ts_income = FactionColumn(lambda f, *_: _cumulative(f.ts_income))
    rl_income = FactionColumn(lambda f, *_: _cumulative(f.rl_income))
    pi_income = FactionColumn(lambda f, *_: gain_vector(f.pi_income))
    academy_a_income = FactionColumn(lambda f, *_: gain_vector(f.academy_a_income))
    gaia_ore = FactionColumn(lambda f, *_: f.gaia_planet_cost.ore)
    gaia_qic = FactionColumn(lambda f, *_: _gaia_qic(f))
    pi_new_main_sector = FactionColumn(lambda f, *_: gain_vector(f.pi_new_main_sector))
    pi_new_sector = FactionColumn(lambda f, *_: gain_vector(f.pi_new_sector))
    upgrades = FactionColumn(lambda f, *_: _upgrades(f), bool)
    free_actions = FactionColumn(
        lambda f, pieces, _: [x.faction in (None, f.id) for x in pieces.free_actions], bool
    )
    steps = FactionColumn(lambda f, *_: _steps(f))
    explore_op = FactionColumn(
        lambda f, _, operations: operations.get(f"explore {f.id}", 0), np.int16
    )
    academy_b_op = FactionColumn(lambda f, _, operations: operations[f"AC_B {f.id}"], np.int16)
    special_op = FactionColumn(
        lambda f, _, operations: operations.get(f.special or "", 0), np.int16
    )

    names: dict[FactionColumn, str]  # of the worked-out columns

    def column(self, name: str) -> Any:
        """The column of that name."""
        raise NotImplementedError

    __eq__, __hash__, __repr__ = object.__eq__, object.__hash__, object.__repr__


class FactionTable(FactionColumns):
    """The columns of all factions of a ruleset, (F, ...) numpy arrays, and all in one."""

    arrays: dict[str, np.ndarray]
    layout: dict[str, tuple[int, tuple[int, ...], bool]]  # first place, shape, is it bool
    packed: np.ndarray  # (F, K) int16, all columns of a row concatenated

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        """`arrays` are the columns by name."""
        layout, parts, first = {}, [], 0
        for name, table in arrays.items():
            flat = table.reshape(len(table), -1).astype(np.int16)
            layout[name] = (first, table.shape[1:], table.dtype == bool)
            parts.append(flat)
            first += flat.shape[1]
        object.__setattr__(self, "arrays", arrays)
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "packed", np.concatenate(parts, axis=1))

    def column(self, name: str) -> Any:
        """A column of all factions with its own dtype."""
        return self.arrays[name]


FactionColumns.names = {
    column: name
    for name, column in vars(FactionColumns).items()
    if isinstance(column, FactionColumn)
}


def _printed(name: str) -> property:
    return property(lambda row: row.column(name))


for _field in fields(FactionNumbers):
    setattr(FactionColumns, _field.name, _printed(_field.name))


def make_faction_table(pieces: Pieces, operations: Mapping[str, int]) -> FactionTable:
    """The columns of a ruleset's factions; `operations` gives the row of each by its id."""
    arrays = {
        f.name: np.array([getattr(x, f.name) for x in pieces.factions], np.int8)
        for f in fields(FactionNumbers)
    }
    for column, name in FactionColumns.names.items():
        values = [column.read(x, pieces, operations) for x in pieces.factions]
        arrays[name] = np.array(values, column.dtype)
    return FactionTable(arrays)
