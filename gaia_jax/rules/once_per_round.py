"""Actions that are there once a round: power actions, those of ships, special actions (ACT)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.rules import mine, power, research, tech
from gaia_jax.rules.cells import Cells
from gaia_jax.rules.fleet import Explorable
from gaia_jax.rules.operation import operation, payable, scatter_bool
from gaia_jax.rules.player import bit_vector, has, stocks_take, uncovered
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import (
    NO_TARGET,
    OWN,
    SITE,
    SPACE,
    TOKEN,
    TRACK,
    UNRINGED,
    OperationRow,
)
from gaia_jax.state import AC_B, MINE, PI, Node
from gaia_jax.xla.packed import pick


def special_operations(seat: Seat) -> list[Array]:
    """() int32 each, by ids["special"], its operation, 0 if the player does not own it (ACT-11)."""
    ruleset, faction, me = seat.ruleset, seat.faction, seat.me
    ids, row = ruleset.ids, ruleset.operation_index
    tiles = uncovered(ruleset, me)

    def owned(name: str) -> Array:
        if name in ids["booster"]:
            return me.booster == ids["booster"].index(name)
        if name in ids["tile"]:
            return tiles[ids["tile"].index(name)] > 0
        return has(me.advanced, ids["advanced"].index(name))

    tile = pick(jnp.asarray(ruleset.tables.tinkering_op), jnp.maximum(me.tinkering, 0))
    own = jnp.where(me.tinkering >= 0, tile.astype(jnp.int32), faction.special_op)
    needs = (faction.special_needs_pi > 0) | (faction.tinkering > 0)
    dynamic_ops = {
        "AC_B": jnp.where(me.built[AC_B] > 0, faction.academy_b_op, 0),
        "FACTION": jnp.where(needs & (me.built[PI] == 0), 0, own),
    }
    return [
        dynamic_ops[name]
        if name in dynamic_ops
        else jnp.where(owned(name), row[f"special {name}"], 0)
        for name in ids["special"]
    ]


@dataclass(frozen=True)
class Actions:
    """The once-a-round actions of a ruleset: power, shared and special actions, n in all."""

    ruleset: Ruleset
    names: list[str]  # the operations; `special ...` where they depend on the game
    sizes: tuple[int, int, int]  # how many of each kind
    static_ops: np.ndarray  # (n,) int, their operations; 0 where they depend on the game
    rows: OperationRow  # (n,) rows, those of the game in their places
    dynamic_ops: dict[int, OperationRow]  # single rows by place, where they depend on the game
    faction: Array  # () int32, the operation of the faction's special action, 0 none
    available: Array  # () int32, a bit an action: it exists and is not used this round

    @property
    def mine_modes(self) -> np.ndarray:
        """The places of printed actions that build a mine, ascending."""
        return self._static_with("mine")

    def _static_with(self, column: str) -> np.ndarray:
        ops = self.ruleset.operations
        return np.flatnonzero([bool(getattr(ops[op], column)) for op in self.static_ops])

    def places_where(self, column: str) -> tuple[np.ndarray, OperationRow]:
        """The places where the column may be above 0, and the rows there."""
        places = np.union1d(self._static_with(column), list(self.dynamic_ops)).astype(int)
        return places, self.rows_at(places)

    def rows_at(self, places: np.ndarray) -> OperationRow:
        """The rows of some places, (k,) int."""
        dynamic_ops = {
            i: self.dynamic_ops[p] for i, p in enumerate(places) if p in self.dynamic_ops
        }
        return operation(self.ruleset, self.static_ops[places]).patched(dynamic_ops)

    @property
    def faction_place(self) -> int:
        """The place of the faction's special action."""
        return self.names.index("special FACTION")

    def __len__(self) -> int:
        return len(self.names)


def actions(seat: Seat) -> Actions:
    """The actions, and which of them are left this round."""
    ruleset, turn, row = seat.ruleset, seat.game.turn, seat.ruleset.operation_index
    shared = [f"{verb} {a.id}" for verb, a in ruleset.shared_actions]
    specials = special_operations(seat)
    names = [f"power {a.id}" for a in ruleset.power_actions] + shared
    fixed = [row[name] for name in names]
    static_ops = np.array(fixed + [row.get(f"special {x}", 0) for x in ruleset.ids["special"]])
    dynamic = {int(i): specials[i - len(fixed)] for i in np.flatnonzero(static_ops == 0)}
    dynamic_ops = {place: operation(ruleset, op) for place, op in dynamic.items()}
    sizes = (len(ruleset.power_actions), len(shared), len(ruleset.ids["special"]))
    # One number with a bit for each: XLA rebuilds a concatenation at each use.
    if sum(sizes) > 31:
        raise ValueError(f"{sum(sizes)} once-a-round actions in a ruleset; int32 has room for 31")
    left = jnp.int32((1 << len(fixed)) - 1)
    left += sum(jnp.where(op > 0, 1 << len(fixed) + i, 0) for i, op in enumerate(specials))
    used = (turn.power_used, turn.ship_used, seat.me.used)
    for marks, first in zip(used, np.cumsum([0, *sizes[:2]]), strict=True):
        left &= ~(marks.astype(jnp.int32) << first)
    names += [f"special {x}" for x in ruleset.ids["special"]]
    return Actions(
        ruleset=ruleset,
        names=names,
        sizes=sizes,
        static_ops=static_ops,
        rows=operation(ruleset, static_ops).patched(dynamic_ops),
        dynamic_ops=dynamic_ops,
        faction=dynamic[names.index("special FACTION")],
        available=left,
    )


def options(seat: Seat, acts: Actions, uses: Cells, ships: Explorable) -> list[Array]:
    """(power,), (shared,), (special actions,) bool: payable, with a target where one is asked.

    Args:
        uses: what the cells are good for; its `mines` are of the plane's mode, the faction's
            special action, then `acts.mine_modes`.
        ships: those of the modes are by `acts.places_where("explore")`.
    """
    ops, me = acts.rows, seat.me
    has_shuttle = has(me.shuttles, jnp.maximum(ops.ship, 0)) | (ops.ship < 0)
    ready = (
        (bit_vector(acts.available, len(acts)) == 1) & payable(seat.faction, me, ops) & has_shuttle
    )
    in_place = partial(scatter_bool, len(acts))
    any_mine = in_place(np.array([acts.faction_place, *acts.mine_modes]), uses.mines[1:])
    # A mode for a Gaia project needs its nearest transdim planet only.
    places, projects = acts.places_where("project")
    payable_there = mine.project_affordable(seat.ruleset, me, uses.nearest, projects)
    any_project = uses.any_cell("project_site") & in_place(places, payable_there)
    places, explores = acts.places_where("explore")
    any_ship = in_place(places, ships.by_mode.any(-1) & (explores.explore > 0))
    below, enter = research.advance_options(seat)
    tracks, lowest = below | enter, research.lowest(me)
    tiles, slots = tech.tile_options(seat)
    has_target = {
        NO_TARGET: (ops.tile == 0) | tiles.any() | slots.any(),
        SITE: any_mine | any_project | any_ship,
        TRACK: jnp.where(ops.lowest > 0, (tracks & lowest).any(), tracks.any()),
        TOKEN: tech.scored_by_action(seat, tech.owned_tokens(seat)).any(),
        OWN: _any_own(seat, acts, uses),
        SPACE: uses.any_cell("station"),
        UNRINGED: uses.any_cell("unringed"),
    }
    for kind, exists in has_target.items():
        ready &= (ops.target != kind) | exists
    if not seat.ruleset.actions_without_gain:
        ready &= ~_all_lost(seat, acts)
    return jnp.split(seat.at(Node.TURN) & ready, np.cumsum(acts.sizes)[:-1])


def _all_lost(seat: Seat, acts: Actions) -> Array:
    """(n,) bool, the action gives resources, tokens or power alone, and all would be lost (A27)."""
    effects = ("target", "tile", "research", "mine", "project")
    ops, me = seat.ruleset.operations, seat.me
    static = [
        op > 0 and ops[op].gain.vp == 0 and not any(getattr(ops[op], x) for x in effects)
        for op in acts.static_ops
    ]
    places = np.union1d(np.flatnonzero(static), list(acts.dynamic_ops)).astype(int)
    rows = acts.rows_at(places)
    gain, charges = rows.gain, power.capacity(me) > 0
    gains = stocks_take(seat.faction, me, gain) | (gain.charge > 0) & charges
    return scatter_bool(len(acts), places, (rows.target == 0) & ~gains)


def _any_own(seat: Seat, acts: Actions, uses: Cells) -> Array:
    """(n,) bool, the player has a structure that the action replaces, and the new piece is left."""
    pieces, me = seat.ruleset.tables.pieces, seat.me
    # Guests count among the mines built, and are no target.
    standing = jnp.where(np.arange(len(pieces)) == MINE, uses.any_cell("own_mine"), me.built > 0)
    places, replaces = acts.places_where("own")
    in_supply = (replaces.piece == 0) | (me.built < pieces)[replaces.piece]
    return scatter_bool(len(acts), places, standing[replaces.own] & in_supply)
