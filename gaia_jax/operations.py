"""Operations: one row for each thing that an action, a tile or a token does.

`step` knows no kinds of actions; it reads the row: what is paid, gained and built, what opens
next. The rows are made from `components/` here and become one int16 table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import common
from gaia_jax.components.common import FREE, NOTHING, Cost, Gain, N, Per, number
from gaia_jax.records import slice_columns

if TYPE_CHECKING:
    from gaia_jax.ruleset.definition import Ruleset

# What `Operation.target` asks for at TARGET.
NO_TARGET, SITE, TRACK, TOKEN, OWN, SPACE, UNRINGED = range(7)
# Where `Operation.slot_kind` keeps its once-a-round mark.
NO_SLOT, POWER_SLOT, SHIP_SLOT, SPECIAL_SLOT = range(4)
# Asteroids as a target of a mine (MIN-12, MIN-13).
NO_ASTEROIDS, WITH_GAIAFORMER, ASTEROIDS_ONLY = range(3)
# Gaia projects: none, paid with tokens, instant (GPJ-04).
NO_PROJECT, PROJECT, INSTANT = range(3)


@dataclass(frozen=True, kw_only=True)
class OperationNumbers(Generic[N]):
    """What an operation does, in numbers: int as written here, arrays in a row of the table.

    0 and the first name of each list above mean "none".
    """

    main: N = number()  # it is the main action of the turn
    slot_kind: N = number()
    slot: N = number()
    ship: N = number(-1)  # an own shuttle must be there
    target: N = number()
    own: N = number()  # OWN: the structure to pick
    mine: N = number()  # a mine is built
    extra_range: N = number()
    free_steps: N = number()
    mine_is_free: N = number()  # the 1 ore and 2 credits of the mine
    asteroid_rule: N = number()
    unlimited_range: N = number()  # any distance
    guests: N = number()  # Lantids may aim at an occupied planet (A5)
    project: N = number()
    explore: N = number()
    piece: N = number()  # the structure that replaces the one on the cell
    research: N = number()  # one step on the track that the action names
    lowest: N = number()  # only tracks at the lowest level (ACT-15)
    tile: N = number()  # opens TILE
    step: N = number()  # opens STEP
    retrigger: N = number()  # opens RETRIGGER
    free_mine: N = number()  # opens FREE_MINE with that operation
    brainstone: N = number()  # the brainstone goes to the Gaia area (EXP-01)
    gaiaformer: N = number()  # available gaiaformers that go to the Gaia area (FRE-09)
    to_gaia: N = number()  # tokens III -> Gaia area (FRE-06)
    burn: N = number()
    reverses_brainstone: N = number()  # (A21)
    qic_action: N = number()  # counts for SA-QIC-4VP (ADV-01)


@dataclass(frozen=True)
class Operation(OperationNumbers[int]):
    """One operation, made from the components."""

    id: str
    cost: Cost[int] = FREE
    gain: Gain[int] = NOTHING
    per: Per[int] | None = None
    source: str = "FACTION"  # of its VP


_COST = tuple(f.name for f in fields(Cost))
_GAIN = tuple(f.name for f in fields(Gain))
_PER = tuple(f.name for f in fields(Per) if f.name != "count")
_PLAIN = tuple(f.name for f in fields(OperationNumbers))
COLUMNS = (
    *(f"cost_{name}" for name in _COST),
    *(f"gain_{name}" for name in _GAIN),
    *(f"per_{name}" for name in _PER),
    "per_count",
    "source",
    *_PLAIN,
)
_FIRST = {name: i for i, name in enumerate(COLUMNS)}

# FactionRow `first` to `first + size` of some rows, (..., size), or one column, (...,), for None.
ReadColumns = Callable[[int, int | None], Any]


class OperationRow(OperationNumbers[Array]):
    """A row (or rows) of the table: `row.mine`, `row.cost.ore`; each column (...,) int32.

    A column is read when it is asked for, so rows put together from others cost what is used.
    """

    def __init__(self, read: ReadColumns) -> None:
        """`read` gives int16 columns of the rows."""
        object.__setattr__(self, "read", read)

    read: ReadColumns

    @classmethod
    def of(cls, values: Any) -> OperationRow:
        """The rows of `values`, (..., K) int16."""
        return cls(lambda first, size: slice_columns(values, first, size))

    @classmethod
    def where(cls, condition: Array, then: OperationRow, otherwise: OperationRow) -> OperationRow:
        """The rows `then` where `condition`, () bool, holds, else `otherwise`."""
        return cls(
            lambda first, size: jnp.where(
                condition, then.columns(first, size), otherwise.columns(first, size)
            )
        )

    def patched(self, rows: dict[int, OperationRow]) -> OperationRow:
        """These rows, (n,), with single rows in some of their places."""

        def read(first: int, size: int | None) -> Any:
            column = self.columns(first, size)
            places = np.arange(len(column)).reshape(-1, *[1] * (column.ndim - 1))
            for place, row in rows.items():
                column = jnp.where(places == place, row.columns(first, size), column)
            return column

        return OperationRow(read)

    def columns(self, first: int, size: int | None = None) -> Any:
        """(..., size) int32, or (...,) without a size."""
        return self.read(first, size).astype(np.int32)

    @property
    def values(self) -> Any:
        """(..., K) int16, all columns."""
        return self.read(0, len(COLUMNS))

    @property
    def cost(self) -> Cost[Array]:
        """The cost, by column."""
        return _CostRow(self)

    @property
    def gain(self) -> Gain[Array]:
        """The fixed gain, by column."""
        return _GainRow(self)

    @property
    def per(self) -> Per[Array]:
        """What each counted thing gives, by column; `per_count` says which thing."""
        return _PerRow(self)

    @property
    def per_count(self) -> Array:
        """(...,) int32, index of `common.COUNTS`."""
        return self.columns(_FIRST["per_count"])

    @property
    def source(self) -> Array:
        """(...,) int32, index of `common.VP_SOURCES`."""
        return self.columns(_FIRST["source"])

    @property
    def cost_resources(self) -> Array:
        """(..., 4) int32, the cost in credits, ore, knowledge and QIC."""
        return self.columns(_FIRST["cost_credits"], 4)

    @property
    def gain_vector(self) -> Array:
        """(..., 9) int32, the fixed gain in the order of the fields of `Gain`."""
        return self.columns(_FIRST[f"gain_{_GAIN[0]}"], len(_GAIN))

    __eq__, __hash__, __repr__ = object.__eq__, object.__hash__, object.__repr__


class _Part:
    """Some columns of a row under the names of a component's fields."""

    def __init__(self, row: OperationRow) -> None:
        object.__setattr__(self, "row", row)

    __eq__, __hash__, __repr__ = object.__eq__, object.__hash__, object.__repr__


class _CostRow(_Part, Cost[Array]):
    """The columns of `Cost`."""


class _GainRow(_Part, Gain[Array]):
    """The columns of `Gain`."""


class _PerRow(_Part, Per[Array]):
    """The columns of `Per`."""


def _make_columns() -> None:
    """Properties that read the columns, under the names that the components declare."""

    def of_row(first: int) -> property:
        return property(lambda row: row.columns(first))

    def of_part(first: int) -> property:
        return property(lambda part: part.row.columns(first))

    for name in _PLAIN:
        setattr(OperationRow, name, of_row(_FIRST[name]))
    for kind, names, prefix in (
        (_CostRow, _COST, "cost"),
        (_GainRow, _GAIN, "gain"),
        (_PerRow, _PER, "per"),
    ):
        for name in names:
            setattr(kind, name, of_part(_FIRST[f"{prefix}_{name}"]))


_make_columns()


def table(operations: tuple[Operation, ...]) -> np.ndarray:
    """The (number of operations, K) int16 table with the columns of COLUMNS.

    Raises:
        OverflowError: a number that int16 cannot hold.
    """
    rows = []
    for op in operations:
        row = [getattr(op.cost, name) for name in _COST]
        row += [getattr(op.gain, name) for name in _GAIN]
        row += [getattr(op.per, name) if op.per else 0 for name in _PER]
        row += [common.COUNTS.index(op.per.count) if op.per else 0]
        row += [common.VP_SOURCES.index(op.source)]
        row += [int(getattr(op, name)) for name in _PLAIN]
        rows.append(row)
    out = np.array(rows)
    if abs(out).max() > 32767:
        raise OverflowError("an operation does not fit int16")
    return out.astype(np.int16)


def _free(ruleset: Ruleset) -> list[Operation]:
    ops = []
    for f in ruleset.free_actions:
        ops.append(
            Operation(
                f"free {f.id}",
                f.cost,
                f.gain,
                burn=f.burn,
                gaiaformer=f.gaiaformer,
                to_gaia=f.tokens_to_gaia,
                reverses_brainstone=f.reverses_brainstone,
            )
        )
    # Whole tokens instead of power (FRE-07): priced in power so that half of it, rounded up, is
    # the number of tokens.
    for b in ruleset.nevlas_pi_bundles:
        ops.append(Operation(f"bundle {b.id}", Cost(power=2 * b.tokens), b.gain))
    # The Gaia phase's points are kept in `turn.terrans_points` (GAI-08).
    for b in ruleset.terrans_conversions[:3]:
        ops.append(Operation(f"terrans {b.id}", gain=b.gain))
    return ops


def _building(ruleset: Ruleset) -> list[Operation]:
    mine: dict[str, Any] = {"mine": True, "source": "FACTION", "main": True}
    ops = [
        Operation("mine", asteroid_rule=WITH_GAIAFORMER, guests=True, **mine),
        Operation("project", project=PROJECT, main=True),
    ]
    names = common.STRUCTURES
    for name in names[2:]:
        cost = ruleset.upgrade_cost[name]
        tile = name in ("RL", "AC_A", "AC_B")
        ops.append(
            Operation(f"upgrade {name}", cost, main=True, piece=names.index(name), tile=tile)
        )
    ops.append(
        Operation("upgrade TS near", ruleset.ts_neighbour_cost, main=True, piece=names.index("TS"))
    )
    ops.append(Operation("research", ruleset.research_cost, main=True, research=True))
    for p, a in enumerate(ruleset.power_actions):
        aims: dict[str, Any] = (
            {"target": SITE, "mine": True, "free_steps": a.free_steps} if a.free_steps else {}
        )
        ops.append(
            Operation(
                f"power {a.id}", a.cost, a.gain, main=True, slot_kind=POWER_SLOT, slot=p, **aims
            )
        )
    return ops


def _ships(ruleset: Ruleset) -> list[Operation]:
    aims: dict[str | None, dict[str, Any]] = {
        None: {},
        "TECH": {"tile": True},
        "UPGRADE_TS": {"target": OWN, "own": 1, "piece": 2},
        "UPGRADE_RL": {"target": OWN, "own": 2, "piece": 3, "tile": True},
        "RETRIGGER": {"target": TOKEN},
        "RANGE": {
            "target": SITE,
            "mine": True,
            "asteroid_rule": WITH_GAIAFORMER,
            "guests": True,
            "explore": True,
            "extra_range": ruleset.range_bonus,
            "project": PROJECT if ruleset.twilight_range_projects else NO_PROJECT,
        },
        "INSTANT_GAIA": {"target": SITE, "project": INSTANT},
        "MINE_TF1": {"target": SITE, "mine": True},
        "RESEARCH": {"target": TRACK, "research": True},
        "ASTEROID_MINE": {
            "target": SITE,
            "mine": True,
            "mine_is_free": True,
            "asteroid_rule": ASTEROIDS_ONLY,
        },
    }
    ops = []
    for i, (verb, a) in enumerate(ruleset.shared_actions):
        ops.append(
            Operation(
                f"{verb} {a.id}",
                a.cost,
                a.gain,
                a.per,
                source="SHIP",
                main=True,
                slot_kind=SHIP_SLOT,
                slot=i,
                ship=ruleset.ships.index(a.ship) if a.ship else -1,
                free_steps=a.free_steps,
                qic_action=a.cost.qic > 0,
                **aims[a.effect],
            )
        )
    for f in ruleset.factions if ruleset.ships else ():
        cost, stone = f.shuttle_cost, f.shuttle_brainstone
        ops.append(
            Operation(
                f"explore {f.id}", cost, source="EXPLORE", main=True, explore=True, brainstone=stone
            )
        )
    artifact_ship = ruleset.ships.index(ruleset.artifact_ship) if ruleset.artifacts else -1
    for artifact in ruleset.artifacts:
        ops.append(
            Operation(
                f"artifact {artifact.id}",
                ruleset.artifact_cost,
                artifact.gain,
                artifact.per,
                source="ARTIFACT",
                main=True,
                ship=artifact_ship,
                retrigger=artifact.retrigger,
            )
        )
    return ops


def _specials(ruleset: Ruleset) -> list[Operation]:
    special: dict[str, Any] = {"main": True, "slot_kind": SPECIAL_SLOT}
    slot = ruleset.ids["special"].index
    ops = []
    for t in (*ruleset.basic_tiles, *ruleset.advanced_tiles):
        if t.special:
            ops.append(Operation(f"special {t.id}", gain=t.special, slot=slot(t.id), **special))
    for f in ruleset.factions:
        ops.append(Operation(f"AC_B {f.id}", gain=f.academy_b_action, slot=slot("AC_B"), **special))
    site: dict[str, Any] = {"target": SITE, **special}
    boosters: dict[str, dict[str, Any]] = {
        "RB6": {"project": INSTANT},
        "RB11": {
            "mine": True,
            "asteroid_rule": WITH_GAIAFORMER,
            "guests": True,
            "project": PROJECT,
            "explore": bool(ruleset.ships),
            "extra_range": ruleset.range_bonus,
        },
        "RB13": {"mine": True, "free_steps": ruleset.rb13_free_steps},
    }
    for b in ruleset.boosters:
        if b.special:
            ops.append(Operation(f"special {b.id}", slot=slot(b.id), **site, **boosters[b.special]))
    own: dict[str, Any] = {"slot": slot("FACTION"), **special}
    steps = max(f.special_free_steps for f in ruleset.factions)
    ops += [
        Operation("HIVE_STATION", target=SPACE, **own),
        Operation("AMBAS_SWAP", target=OWN, own=1, **own),
        Operation("FIRAKS_DOWNGRADE", target=OWN, own=3, piece=2, step=True, **own),
        Operation("BESCODS_LOWEST", target=TRACK, research=True, lowest=True, **own),
        Operation("SPACE_GIANTS_TF2", target=SITE, mine=True, free_steps=steps, **own),
        Operation("MOWEYDS_RING", target=UNRINGED, **own),
    ]
    if any(f.special == "GLEENS_RANGE" for f in ruleset.factions):
        bonus = max(f.special_range_bonus for f in ruleset.factions)
        far = boosters["RB11"] | {"extra_range": bonus}
        ops.append(Operation("GLEENS_RANGE", target=SITE, **far, **own))
    for tile in ruleset.tinkering_tiles:
        aims = site | {"mine": True, "free_steps": tile.free_steps} if tile.free_steps else {}
        ops.append(Operation(f"tinkering {tile.id}", gain=tile.gain, **(aims | own)))
    return ops


def _rewards(ruleset: Ruleset) -> list[Operation]:
    ops = [Operation("pass", main=True)]
    free: dict[str, Any] = {"mine": True, "mine_is_free": True}
    mines = [
        Operation("free mine RANGE", unlimited_range=True, asteroid_rule=WITH_GAIAFORMER, **free),
        Operation("free mine TF3", free_steps=ruleset.tf3_mine_free_steps, **free),
    ]
    for t in ruleset.ship_tiles:
        if t.free_mine_steps is not None:
            mines.append(Operation(f"free mine {t.id}", free_steps=t.free_mine_steps, **free))
    ops += mines
    for t in (*ruleset.basic_tiles, *ruleset.ship_tiles):
        ops.append(Operation(f"tile {t.id}", gain=t.gain, per=t.per, source="BASIC_TILE"))
    for t in ruleset.advanced_tiles:
        ops.append(Operation(f"advanced {t.id}", gain=t.gain, per=t.per, source="ADVANCED_TILE"))
    for token in (*ruleset.base_tokens, ruleset.gleens_token, *ruleset.ship_tokens):
        tile = token.effect == "TECH"
        ops.append(Operation(f"token {token.id}", gain=token.gain, source="FEDERATION", tile=tile))
    return ops


def build(ruleset: Ruleset) -> tuple[Operation, ...]:
    """All operations of a ruleset, "none" first; names are in `ids["operation"]`."""
    ops = [
        Operation("none"),
        *_free(ruleset),
        *_building(ruleset),
        *_ships(ruleset),
        *_specials(ruleset),
        *_rewards(ruleset),
    ]
    names = [op.id for op in ops]
    opens = {
        f"tile {t.id}": f"free mine {t.id}"
        for t in ruleset.ship_tiles
        if t.free_mine_steps is not None
    }
    effects = {"RANGE_MINE": "free mine RANGE", "TF3_MINE": "free mine TF3"}
    opens |= {
        f"token {t.id}": effects[t.effect] for t in ruleset.ship_tokens if t.effect in effects
    }
    return tuple(
        replace(op, free_mine=names.index(opens[op.id])) if op.id in opens else op for op in ops
    )
