"""Operations: one row for each thing that an action, a tile or a token does.

`step` knows no kinds of actions; it reads the row: what is paid, gained and built, what opens
next. The rows are made from `components/` here and become one int16 table.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from gaia_jax.components import common
from gaia_jax.components.common import Cost, Gain, Per
from gaia_jax.packed import stretch

# What `Operation.target` asks for at TARGET.
NO_TARGET, SITE, TRACK, TOKEN, OWN, SPACE, UNRINGED = range(7)
# Where `Operation.slot_kind` keeps its once-a-round mark.
NO_SLOT, POWER_SLOT, SHIP_SLOT, SPECIAL_SLOT = range(4)
# Asteroids as a target of a mine (MIN-12, MIN-13).
NO_ROCKS, WITH_GAIAFORMER, ROCKS_ONLY = range(3)
# Gaia projects: none, paid with tokens, instant (GPJ-04).
NO_PROJECT, PROJECT, INSTANT = range(3)


@dataclass(frozen=True)
class Operation:
    """One row. Numbers as in the components; 0 and the first name of each list mean "none"."""

    id: str
    cost: Cost = Cost()
    gain: Gain = Gain()
    per: Per | None = None
    source: str = "FACTION"  # of its VP
    main: bool = False  # it is the main action of the turn
    slot_kind: int = NO_SLOT
    slot: int = 0
    ship: int = -1  # an own shuttle must be there
    target: int = NO_TARGET
    own: int = 0  # OWN: the structure to pick
    mine: bool = False  # a mine is built
    range_bonus: int = 0
    free_steps: int = 0
    waived: bool = False  # the 1 ore and 2 credits of the mine
    rocks: int = NO_ROCKS
    unlimited: bool = False  # any distance
    guests: bool = False  # Lantids may aim at an occupied planet (A5)
    project: int = NO_PROJECT
    explore: bool = False
    piece: int = 0  # the structure that replaces the one on the cell
    research: bool = False  # one step on the track that the action names
    lowest: bool = False  # only tracks at the lowest level (ACT-15)
    tile: bool = False  # opens TILE
    step: bool = False  # opens STEP
    retrigger: bool = False  # opens RETRIGGER
    free_mine: int = 0  # opens FREE_MINE with that operation
    brainstone: bool = False  # the brainstone goes to the Gaia area (EXP-01)
    gaiaformer: int = 0  # available gaiaformers that go to the Gaia area (FRE-09)
    to_gaia: int = 0  # tokens III -> Gaia area (FRE-06)
    burn: bool = False
    reverses_brainstone: bool = False  # (A21)
    qic_action: bool = False  # counts for SA-QIC-4VP (ADV-01)


_COST = ("credits", "ore", "knowledge", "qic", "power", "tokens", "vp")
_GAIN = tuple(f.name for f in fields(Gain))
_PER = ("vp", "knowledge", "ore")
_PLAIN = [
    "main",
    "slot_kind",
    "slot",
    "ship",
    "target",
    "own",
    "mine",
    "range_bonus",
    "free_steps",
    "waived",
    "rocks",
    "unlimited",
    "guests",
    "project",
    "explore",
    "piece",
    "research",
    "lowest",
    "tile",
    "step",
    "retrigger",
    "free_mine",
    "brainstone",
    "gaiaformer",
    "to_gaia",
    "burn",
    "reverses_brainstone",
    "qic_action",
]
COLUMNS = (
    *(f"cost_{name}" for name in _COST),
    *(f"gain_{name}" for name in _GAIN),
    *(f"per_{name}" for name in _PER),
    "per_count",
    "source",
    *_PLAIN,
)


class OperationRow:
    """A row (or rows) of the table with its columns as attributes: `row.cost_ore`, `row.mine`."""

    def __init__(self, values):
        """`values` is (..., K) int16."""
        self.values = values

    @property
    def cost_resources(self):
        """(..., 4) int32, the cost in credits, ore, knowledge and QIC."""
        first = COLUMNS.index("cost_credits")
        return stretch(self.values, first, 4).astype(np.int32)

    @property
    def gain(self):
        """(..., 9) int32, the fixed gain in the order of the fields of `Gain`."""
        first = COLUMNS.index(f"gain_{_GAIN[0]}")
        return stretch(self.values, first, len(_GAIN)).astype(np.int32)

    def __getattr__(self, name):
        """The column `name`, (...,) int32."""
        if name not in COLUMNS:
            raise AttributeError(name)
        return stretch(self.values, COLUMNS.index(name)).astype(np.int32)


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


def _free(r) -> list[Operation]:
    ops = []
    for f in r.free_actions:
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
    for b in r.nevlas_pi_bundles:
        ops.append(Operation(f"bundle {b.id}", Cost(power=2 * b.tokens), b.gain))
    # The Gaia phase's points are kept in `turn.points` (GAI-08).
    for b in r.terrans_conversions[:3]:
        ops.append(Operation(f"terrans {b.id}", gain=b.gain))
    return ops


def _building(r) -> list[Operation]:
    mine = {"mine": True, "source": "FACTION", "main": True}
    ops = [
        Operation("mine", rocks=WITH_GAIAFORMER, guests=True, **mine),
        Operation("project", project=PROJECT, main=True),
    ]
    names = common.STRUCTURES
    for name in names[2:]:
        cost = r.upgrade_cost[name]
        tile = name in ("RL", "AC_A", "AC_B")
        ops.append(
            Operation(f"upgrade {name}", cost, main=True, piece=names.index(name), tile=tile)
        )
    ops.append(
        Operation("upgrade TS near", r.ts_neighbour_cost, main=True, piece=names.index("TS"))
    )
    ops.append(Operation("research", r.research_cost, main=True, research=True))
    for p, a in enumerate(r.power_actions):
        aims = {"target": SITE, "mine": True, "free_steps": a.free_steps} if a.free_steps else {}
        ops.append(
            Operation(
                f"power {a.id}", a.cost, a.gain, main=True, slot_kind=POWER_SLOT, slot=p, **aims
            )
        )
    return ops


def _ships(r) -> list[Operation]:
    aims = {
        None: {},
        "TECH": {"tile": True},
        "UPGRADE_TS": {"target": OWN, "own": 1, "piece": 2},
        "UPGRADE_RL": {"target": OWN, "own": 2, "piece": 3, "tile": True},
        "RETRIGGER": {"target": TOKEN},
        "RANGE": {
            "target": SITE,
            "mine": True,
            "rocks": WITH_GAIAFORMER,
            "guests": True,
            "explore": True,
            "range_bonus": r.range_bonus,
            "project": PROJECT if r.twilight_range_projects else NO_PROJECT,
        },
        "INSTANT_GAIA": {"target": SITE, "project": INSTANT},
        "MINE_TF1": {"target": SITE, "mine": True},
        "RESEARCH": {"target": TRACK, "research": True},
        "ASTEROID_MINE": {"target": SITE, "mine": True, "waived": True, "rocks": ROCKS_ONLY},
    }
    ops = []
    for i, (verb, a) in enumerate(r.shared_actions):
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
                ship=r.ships.index(a.ship) if a.ship else -1,
                free_steps=a.free_steps,
                qic_action=a.cost.qic > 0,
                **aims[a.effect],
            )
        )
    for f in r.factions if r.ships else ():
        cost, stone = f.shuttle_cost, f.shuttle_brainstone
        ops.append(
            Operation(
                f"explore {f.id}", cost, source="EXPLORE", main=True, explore=True, brainstone=stone
            )
        )
    artifact_ship = r.ships.index(r.artifact_ship) if r.artifacts else -1
    for a in r.artifacts:
        ops.append(
            Operation(
                f"artifact {a.id}",
                r.artifact_cost,
                a.gain,
                a.per,
                source="ARTIFACT",
                main=True,
                ship=artifact_ship,
                retrigger=a.retrigger,
            )
        )
    return ops


def _specials(r) -> list[Operation]:
    special = {"main": True, "slot_kind": SPECIAL_SLOT}
    slot = r.ids["special"].index
    ops = []
    for t in (*r.basic_tiles, *r.advanced_tiles):
        if t.special:
            ops.append(Operation(f"special {t.id}", gain=t.special, slot=slot(t.id), **special))
    for f in r.factions:
        ops.append(Operation(f"AC_B {f.id}", gain=f.academy_b_action, slot=slot("AC_B"), **special))
    site = {"target": SITE, **special}
    boosters = {
        "RB6": {"project": INSTANT},
        "RB11": {
            "mine": True,
            "rocks": WITH_GAIAFORMER,
            "guests": True,
            "project": PROJECT,
            "explore": bool(r.ships),
            "range_bonus": r.range_bonus,
        },
        "RB13": {"mine": True, "free_steps": r.rb13_free_steps},
    }
    for b in r.boosters:
        if b.special:
            ops.append(Operation(f"special {b.id}", slot=slot(b.id), **site, **boosters[b.special]))
    own = {"slot": slot("FACTION"), **special}
    steps = max(f.special_free_steps for f in r.factions)
    ops += [
        Operation("HIVE_STATION", target=SPACE, **own),
        Operation("AMBAS_SWAP", target=OWN, own=1, **own),
        Operation("FIRAKS_DOWNGRADE", target=OWN, own=3, piece=2, step=True, **own),
        Operation("BESCODS_LOWEST", target=TRACK, research=True, lowest=True, **own),
        Operation("SPACE_GIANTS_TF2", target=SITE, mine=True, free_steps=steps, **own),
        Operation("MOWEYDS_RING", target=UNRINGED, **own),
    ]
    if any(f.special == "GLEENS_RANGE" for f in r.factions):
        bonus = max(f.special_range_bonus for f in r.factions)
        far = boosters["RB11"] | {"range_bonus": bonus}
        ops.append(Operation("GLEENS_RANGE", target=SITE, **far, **own))
    for t in r.tinkering_tiles:
        aims = {"target": SITE, "mine": True, "free_steps": t.free_steps} if t.free_steps else {}
        ops.append(Operation(f"tinkering {t.id}", gain=t.gain, **own, **aims))
    return ops


def _rewards(r) -> list[Operation]:
    ops = [Operation("pass", main=True)]
    free = {"mine": True, "waived": True}
    mines = [
        Operation("free mine RANGE", unlimited=True, rocks=WITH_GAIAFORMER, **free),
        Operation("free mine TF3", free_steps=r.tf3_mine_free_steps, **free),
    ]
    for t in r.ship_tiles:
        if t.free_mine_steps is not None:
            mines.append(Operation(f"free mine {t.id}", free_steps=t.free_mine_steps, **free))
    ops += mines
    for t in (*r.basic_tiles, *r.ship_tiles):
        ops.append(Operation(f"tile {t.id}", gain=t.gain, per=t.per, source="BASIC_TILE"))
    for t in r.advanced_tiles:
        ops.append(Operation(f"advanced {t.id}", gain=t.gain, per=t.per, source="ADVANCED_TILE"))
    for t in (*r.base_tokens, r.gleens_token, *r.ship_tokens):
        ops.append(
            Operation(f"token {t.id}", gain=t.gain, source="FEDERATION", tile=t.effect == "TECH")
        )
    return ops


def build(r) -> tuple[Operation, ...]:
    """All operations of a ruleset, "none" first; names are in `ids["operation"]`."""
    ops = [Operation("none"), *_free(r), *_building(r), *_ships(r), *_specials(r), *_rewards(r)]
    names = [op.id for op in ops]
    opens = {
        f"tile {t.id}": f"free mine {t.id}" for t in r.ship_tiles if t.free_mine_steps is not None
    }
    effects = {"RANGE_MINE": "free mine RANGE", "TF3_MINE": "free mine TF3"}
    opens |= {f"token {t.id}": effects[t.effect] for t in r.ship_tokens if t.effect in effects}
    return tuple(
        replace(op, free_mine=names.index(opens[op.id])) if op.id in opens else op for op in ops
    )
