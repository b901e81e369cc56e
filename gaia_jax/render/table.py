"""A state as plain Python; the only module of `render` that reads arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.automa import DecisionCard
from gaia_jax.components.common import Gain
from gaia_jax.components.factions import Faction
from gaia_jax.render.automa_turns import turned_cards
from gaia_jax.rules import income, leech, power, scoring
from gaia_jax.ruleset import GAIN_FIELDS, RULESETS, VARIANTS, FactionRow, Ruleset
from gaia_jax.state import AUTOMA, GAIAFORMER, NODES, GameState, Players

# Fields of `SeatView` that are bits or counts in a state, by the kind of their ids.
_BITS = {
    "tiles": "tile", "covered": "tile", "advanced": "advanced", "artifacts": "artifact",
    "sectors": "sector", "shuttles": "ship", "used": "special",
}  # fmt: skip
_COUNTS = {
    "built": "structure", "colonized": "planet", "tokens": "token", "vp_source": "vp_source",
}  # fmt: skip
PHASES = ("set-up", "tinkering", "income", "Gaia phase", "actions", "over")


@dataclass(frozen=True)
class SeatView:
    """One player, everything by its id. Numbers as in `gaia_jax.state.Players`."""

    player: int
    faction: Faction
    vp: int
    credits: int
    ore: int
    knowledge: int
    qic: int
    power: tuple[int, ...]
    gaia_power: int
    brainstone: int  # bowl 0..2, GAIA_AREA, -1 none
    tracks: tuple[int, ...]
    built: dict[str, int]
    colonized: dict[str, int]
    guests: int
    guest_protos: int
    guest_asteroids: int
    sectors: tuple[str, ...]
    tiles: tuple[str, ...]
    covered: tuple[str, ...]
    advanced: tuple[str, ...]
    tokens: dict[str, int]
    green: int
    satellites: int
    stations: int
    rings: int
    gaiaformers: int
    gaiaformers_out: int
    gaiaformers_gaia: int
    shuttles: tuple[str, ...]
    artifacts: tuple[str, ...]
    booster: str | None
    used: tuple[str, ...]
    tinkering: str | None
    passed: int
    vp_source: dict[str, int]
    income: Gain[int]
    missions: tuple[int, ...]  # what each final mission of the game counts


@dataclass(frozen=True)
class Map:
    """The contents of the cells; arrays as the properties of `gaia_jax.state.Board`."""

    planet: np.ndarray
    structure: np.ndarray
    owner: np.ndarray
    guest: np.ndarray
    gaiaformer: np.ndarray
    station: np.ndarray
    ring: np.ndarray
    satellite: np.ndarray
    federated: np.ndarray


def ruleset_of_state(state: Any) -> Ruleset:
    """The ruleset that a state names.

    Raises:
        ValueError: its name is not in `gaia_jax.RULESETS`, or `state` is a batch.
    """
    if np.ndim(state.current_player):
        raise ValueError("expected one state, got a batch; index it, or use jax.tree.map")
    id, players = str(getattr(state, "ruleset", "")), state.game.num_seats
    if (id, players) not in VARIANTS:
        raise ValueError(f"unknown ruleset {id!r}, not in {', '.join(RULESETS)}; pass the ruleset")
    return VARIANTS[id, players]


class Counts(NamedTuple):
    """Counts by the rules, of P players; on the host numpy."""

    missions: Any  # (missions, P) int32, what each final mission counts (FIN-03 to FIN-10)
    income: Any  # (P, 9) int32, the next one in the order of GAIN_FIELDS (INC-01)
    room: Any  # (P,) int32, the most power that each can charge (LEE-01)
    strongest: Any  # (P,) int32, power value of each player's strongest structure (LEE-06)


def count(ruleset: Ruleset, game: GameState) -> Counts:
    """Counts by the rules, of the players of one game."""

    def income_of(me: Players, faction: Array) -> Array:
        row = FactionRow.of(ruleset, faction.astype(jnp.int32))
        parts = income.parts(ruleset, row, me, game.setup.economy_side)
        parts["booster"] *= me.booster >= 0  # none is dealt while structures are placed
        return sum(parts.values(), jnp.zeros(len(GAIN_FIELDS), jnp.int32))

    players = game.players.edit()
    incomes = jax.vmap(income_of)(players, game.setup.faction)
    room = jax.vmap(power.capacity)(players)
    strongest = leech.power_values(ruleset, game).max(-1).astype(jnp.int32)
    return Counts(scoring.final_values(ruleset, game), incomes, room, strongest)


_count = jax.jit(count, static_argnums=0)


class Table:
    """A state, read. One state, not a batch."""

    def __init__(self, state: Any, ruleset: Ruleset | None = None, counted: Counts | None = None):
        """
        Args:
            ruleset: `env.ruleset`; None takes `ruleset_of_state(state)`.
            counted: the result of `count` on the host, if known.
        """
        self.ruleset = ruleset or ruleset_of_state(state)
        self.over = bool(state.terminated) or bool(state.truncated)
        game = jax.device_get(state.game)
        self._game, turn, setup = game, game.turn, game.setup
        self.num_players = len(setup.turn_order)
        self.round, self.phase = int(turn.round), PHASES[int(turn.phase)]
        self.node = NODES[int(turn.node)]
        self.player = int(state.current_player)
        self.order = tuple(int(p) for p in turn.order)
        self._seats: dict[int, SeatView] = {}
        if counted is not None:
            self._counted = counted

    @cached_property
    def map(self) -> Map:
        """The contents of the cells."""
        board = self._game.board
        return Map(**{f.name: np.asarray(getattr(board, f.name)) for f in fields(Map)})

    @cached_property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """`ruleset.ids`."""
        return self.ruleset.ids

    def _bits(self, value: Any, kind: str | tuple[str, ...]) -> tuple[str, ...]:
        ids = self.ids[kind] if isinstance(kind, str) else kind
        return tuple(id for i, id in enumerate(ids) if int(value) >> i & 1)

    def _id(self, kind: str, index: Any) -> str | None:
        return None if int(index) < 0 else self.ids[kind][int(index)]

    @cached_property
    def setup(self) -> Any:
        """The set-up, arrays of numpy."""
        return self._game.setup

    @cached_property
    def seats(self) -> tuple[SeatView, ...]:
        """The players, by number."""
        return tuple(self.seat(p) for p in range(self.num_players))

    def seat(self, p: int) -> SeatView:
        """One player."""
        if p not in self._seats:
            self._seats[p] = self._seat(p)
        return self._seats[p]

    def faction(self, p: int) -> Faction:
        """The faction of a player."""
        return self.ruleset.factions[int(self.setup.faction[p])]

    def _seat(self, p: int) -> SeatView:
        me, turn = self._game.players, self._game.turn
        values: dict[str, Any] = {}
        for name in (field.name for field in fields(SeatView)):
            if not hasattr(me, name):
                continue
            value = getattr(me, name)[p]
            if name in _BITS:
                values[name] = self._bits(value, _BITS[name])
            elif name in _COUNTS:
                counts = zip(self.ids[_COUNTS[name]], value.tolist(), strict=False)
                values[name] = {id: n for id, n in counts if n > 0 or name != "tokens"}
            elif name in ("booster", "tinkering"):
                values[name] = self._id(name, value)
            else:
                values[name] = tuple(value.tolist()) if np.ndim(value) else int(value)
        # The Automa counts its structures but one in federations, and begins with none (AUT-33).
        missions = self._counted.missions[self.setup.final_missions, p].tolist()
        return SeatView(
            player=p,
            faction=self.faction(p),
            passed=int(turn.passed[p]),
            missions=tuple(max(n, 0) for n in missions),
            **values | {"income": self._income(p)},
        )

    @cached_property
    def _counted(self) -> Counts:
        counted: Counts = jax.device_get(_count(self.ruleset, self._game))
        return counted

    def power_room(self, p: int) -> int:
        """The power that player `p` could charge (LEE-01)."""
        return int(self._counted.room[p])

    def strongest(self, p: int) -> int:
        """The power value of the strongest structure of player `p` (LEE-06)."""
        return int(self._counted.strongest[p])

    @property
    def has_income(self) -> bool:
        """Whether an income phase is still to come."""
        return not (self.over or (self.round == costs.ROUNDS and self.phase not in PHASES[:3]))

    def _income(self, p: int) -> Gain[int]:
        """The income of the next income phase in this state (INC-01); nothing after the last."""
        if not self.has_income or self.is_automa(p):
            return Gain()
        return Gain(**dict(zip(GAIN_FIELDS, self._counted.income[p].tolist(), strict=True)))

    def is_automa(self, p: int) -> bool:
        """Whether player `p` is the Automa, which has no resources (AUT-15)."""
        return bool(self.ruleset.automa) and p == AUTOMA

    @cached_property
    def automa_level(self) -> str:
        """The id of the Automa's level."""
        assert self.ruleset.automa is not None
        level: str = self.ruleset.automa.levels[int(self.setup.automa.level)].id
        return level

    @cached_property
    def automa_cards(self) -> tuple[list[DecisionCard], int]:
        """The Automa's cards that are turned in this round, and how many are left in its deck."""
        return turned_cards(self.ruleset, self._game)

    @cached_property
    def power_used(self) -> tuple[str, ...]:
        """Power actions used this round."""
        return self._bits(self._game.turn.power_used, "power_action")

    @cached_property
    def ship_used(self) -> tuple[str, ...]:
        """Ship and QIC actions used this round."""
        ids = tuple(action.id for _, action in self.ruleset.shared_actions)
        return self._bits(self._game.turn.ship_used, ids)

    @cached_property
    def advanced_tiles(self) -> dict[str, tuple[str, bool]]:
        """The advanced tile of each slot, and whether it is still there."""
        left = self._bits(self._game.turn.advanced_left, "advanced_slot")
        tiles = [self.ids["advanced"][int(i)] for i in self.setup.advanced]
        slots = zip(self.ids["advanced_slot"], tiles, strict=True)
        return {slot: (tile, slot in left) for slot, tile in slots}

    @cached_property
    def basic_tiles(self) -> tuple[str, ...]:
        """The basic tile of each slot: six tracks, then the free ones."""
        return tuple(self.ids["tile"][int(i)] for i in self.setup.basic_slot)

    @cached_property
    def artifacts(self) -> tuple[tuple[str, bool], ...]:
        """The artifact of each place, and whether it is still there."""
        left = int(self._game.turn.artifacts_left)
        ids = [self.ids["artifact"][int(i)] for i in self.setup.artifacts]
        return tuple((id, bool(left >> place & 1)) for place, id in enumerate(ids))

    @cached_property
    def token_supply(self) -> dict[str, int]:
        """Base federation tokens left."""
        ids = [token.id for token in self.ruleset.base_tokens]
        supply = self._game.turn.token_supply.tolist()
        return dict(zip(ids, supply, strict=True))

    @cached_property
    def track_token(self) -> str | None:
        """The federation token on terraforming 5, None once taken."""
        is_available = bool(self._game.turn.track_token)
        return self.ruleset.base_tokens[int(self.setup.tf5_token)].id if is_available else None

    @cached_property
    def ship_tokens(self) -> dict[str, tuple[str, bool]]:
        """The federation token of each ship, and whether it is still there."""
        left = self._bits(self._game.turn.ship_tokens, "ship")
        tokens = self.ruleset.ship_tokens
        return {
            ship: (tokens[int(i)].id, ship in left)
            for ship, i in zip(self.ruleset.ships, self.setup.ship_token, strict=False)
        }

    @cached_property
    def ship_tiles(self) -> dict[str, str]:
        """The tech tile of each ship that holds one."""
        tiles, ships = self.ruleset.ship_tiles, self.ruleset.ship_tile_ships
        return {s: tiles[int(i)].id for s, i in zip(ships, self.setup.ship_tile, strict=False)}

    @cached_property
    def ship_cells(self) -> dict[str, int]:
        """The cell of each ship."""
        return {s: int(c) for s, c in zip(self.ruleset.ships, self.setup.ship_cell, strict=False)}

    @cached_property
    def boosters(self) -> dict[str, int]:
        """The boosters in play with their owners; -1 for none.

        In a solo game the row comes first, from the left: its places matter (AUT-28).
        """
        holder = {seat.booster: seat.player for seat in self.seats}
        row = self._game.automa.booster_row if self._game.automa else ()
        ids = [self.ids["booster"][int(i)] for i in (*row, *self.setup.boosters) if i >= 0]
        return {id: holder.get(id, -1) for id in ids}

    @cached_property
    def round_tiles(self) -> tuple[Any, ...]:
        """The round tiles of rounds 1 to 6."""
        return tuple(self.ruleset.round_tiles[int(i)] for i in self.setup.round_tiles)

    @cached_property
    def final_missions(self) -> tuple[str, ...]:
        """The two final missions."""
        return tuple(self.ruleset.final_missions[int(i)] for i in self.setup.final_missions)

    @cached_property
    def offers(self) -> dict[int, int]:
        """Power offered to each player by the event that is being answered."""
        rows: list[list[int]] = np.asarray(self._game.turn.leech).tolist()
        waiting = next((row for row in rows if any(row)), [])
        return {p: n for p, n in enumerate(waiting) if n > 0}

    def new_offers(self, before: Table) -> dict[int, int]:
        """Pending offers of power by player that were not pending `before`."""
        old, new = (np.asarray(table._game.turn.leech) for table in (before, self))
        offers = np.where((old > 0).any(-1, keepdims=True), 0, new).sum(0)
        return {p: n for p, n in enumerate(offers.tolist()) if n > 0}

    def same_seat(self, after: Table, p: int) -> bool:
        """Whether player `p` is unchanged in a later table of the same game."""
        now, then = self._game, after._game
        return (
            np.array_equal(now.players.small[p], then.players.small[p])
            and np.array_equal(now.players.large[p], then.players.large[p])
            and now.turn.passed[p] == then.turn.passed[p]
            and np.array_equal(self._counted.missions[:, p], after._counted.missions[:, p])
        )

    def _pieces(self, p: int) -> np.ndarray:
        """(C,) index in ids["structure"] of the structures of player `p`."""
        piece, owner = (
            np.asarray(x) for x in (self._game.board.piece, self._game.board.piece_owner)
        )
        return np.where((owner == p) & (piece != GAIAFORMER), piece, 0)

    def changed_pieces(self, after: Table, p: int) -> list[tuple[str, str]]:
        """The changed structures of player `p`: ids before and after."""
        old, new, ids = self._pieces(p), after._pieces(p), self.ids["structure"]
        cells = (old != new).nonzero()[0]
        return [(ids[int(old[c])], ids[int(new[c])]) for c in cells]

    def steps_to_new(self, after: Table, p: int) -> int:
        """Terraforming steps of the planets where player `p` has a structure later; 0 for none."""
        if self.round == 0:
            return 0
        cells = ((self._pieces(p) == 0) & (after._pieces(p) > 0)).nonzero()[0]
        planets = np.asarray(self._game.board.planet)[cells]
        return int(np.asarray(self._game.steps)[p][planets].sum())
