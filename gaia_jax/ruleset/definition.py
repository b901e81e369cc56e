"""Ruleset: every piece, price and switch of one variant of the game, and what is made from them.

A ruleset is data. No rule asks for its name: what differs between variants is a row of a table or a
switch that is read while tracing. The arrays are numpy and are made once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gaia_jax import components as box
from gaia_jax import operations
from gaia_jax.actions import BARE, ActionSpace
from gaia_jax.components.common import Cost
from gaia_jax.geometry import Geometry, geometry_of
from gaia_jax.ruleset.tables import Tables, make_tables

LEECH_CHOICES = ("CHARGE", "TOKEN_FIRST", "DECLINE")
INCOME_ATOMS = (
    "CH_PI",
    "CH_ECO",
    "CH_BOOSTER",
    "CH_TILE",
    "CH_LABS",
    "TK_FACTION",
    "TK_PI",
    "TK_BOOSTER",
)
CHARGE_ATOMS = 5


@dataclass(frozen=True, eq=False)
class Ruleset:
    """One variant of the game: its pieces, prices and switches, and the arrays made from them."""

    id: str
    map: box.map_tiles.MapParts = box.map_tiles.LOST_FLEET_MAP
    faction_boards: tuple[tuple[str, str], ...] = box.factions.FACTION_BOARDS
    factions: tuple[box.factions.Faction, ...] = box.factions.FACTIONS
    basic_tiles: tuple[box.tech_tiles.TechTile, ...] = box.tech_tiles.BASIC_TILES
    ship_tiles: tuple[box.tech_tiles.TechTile, ...] = box.tech_tiles.SHIP_TILES
    ship_tile_ships: tuple[str, ...] = box.tech_tiles.SHIP_TILE_SHIPS
    advanced_tiles: tuple[box.tech_tiles.TechTile, ...] = box.tech_tiles.ADVANCED_TILES
    extra_conditions: tuple[str, ...] = box.tech_tiles.EXTRA_CONDITIONS  # of a seventh, if any
    boosters: tuple[box.boosters.Booster, ...] = box.boosters.BOOSTERS
    round_tiles: tuple[box.missions.RoundTile, ...] = box.missions.ROUND_TILES
    final_missions: tuple[str, ...] = box.missions.FINAL_MISSIONS
    base_tokens: tuple[box.federation_tokens.FederationToken, ...] = (
        box.federation_tokens.BASE_TOKENS
    )
    gleens_token: box.federation_tokens.FederationToken = box.federation_tokens.GLEENS_TOKEN
    ship_tokens: tuple[box.federation_tokens.FederationToken, ...] = (
        box.federation_tokens.SHIP_TOKENS
    )
    ships: tuple[str, ...] = box.map_tiles.SHIPS
    ship_actions: tuple[box.ships.ShipAction, ...] = box.ships.SHIP_ACTIONS
    qic_actions: tuple[box.ships.ShipAction, ...] = ()  # of the research board (ACT-01)
    artifact_ship: str = box.ships.ARTIFACT_SHIP
    artifacts: tuple[box.artifacts.Artifact, ...] = box.artifacts.ARTIFACTS
    artifact_cost: Cost = box.artifacts.ARTIFACT_COST
    power_actions: tuple[box.power_actions.PowerAction, ...] = box.power_actions.POWER_ACTIONS
    free_actions: tuple[box.free_actions.FreeAction, ...] = box.free_actions.FREE_ACTIONS
    nevlas_pi_bundles: tuple[box.free_actions.Bundle, ...] = box.free_actions.NEVLAS_PI_BUNDLES
    terrans_conversions: tuple[box.free_actions.Bundle, ...] = box.free_actions.TERRANS_CONVERSIONS
    tinkering_tiles: tuple[box.tinkering.TinkeringTile, ...] = box.tinkering.TINKERING_TILES
    upgrade_cost: Mapping[str, Cost] = field(default_factory=lambda: box.costs.UPGRADE_COST)
    ts_neighbour_cost: Cost = box.costs.TS_NEIGHBOUR_COST
    mine_cost: Cost = box.costs.MINE_COST
    research_cost: Cost = box.research.RESEARCH_COST
    economy_income: tuple = box.research.ECONOMY_INCOME
    range_bonus: int = box.costs.RANGE_BONUS
    rb13_free_steps: int = box.boosters.RB13_FREE_STEPS
    tf3_mine_free_steps: int = box.federation_tokens.TF3_MINE_FREE_STEPS

    # Switches, with the ruling that asks for them.
    twilight_range_projects: bool = False  # MIN-18
    free_leech_is_taken: bool = True  # LEE-03, A11
    surplus_federations: bool = False  # A11
    gaiaformed_planet_waits: bool = True  # MIN-20
    zero_ranks: bool = True  # FIN-03
    bonus_power_in_leech: bool = False  # FED-11
    stations_count_as_satellites: bool = False  # HIV-02, FIN-07, A22
    leech_in_seat_order: bool = False  # LEE-04, A11
    free_step_is_optional: bool = False  # TEC-09, FIR-01, ACT-15, A11

    def __reduce__(self) -> Any:
        """Copied and unpickled, a ruleset of `RULESETS` is itself: it is compared by identity."""
        from gaia_jax.ruleset import RULESETS

        if RULESETS.get(self.id) is self:
            return _registered, (self.id,)
        return super().__reduce__()

    @cached_property
    def geometry(self) -> Geometry:
        """The cells of the map."""
        return geometry_of(self.map)

    @property
    def artifacts_in_play(self) -> int:
        """Artifacts on the ship (SET-20)."""
        return box.costs.ARTIFACTS_IN_PLAY if self.artifacts else 0

    @property
    def shared_actions(self) -> tuple[tuple[str, box.ships.ShipAction], ...]:
        """(verb, action) of the actions of ships and the QIC actions, in the order of their bits
        in `Turn.ship_used`.
        """
        ships = [("ship", action) for action in self.ship_actions]
        return (*ships, *(("qic", action) for action in self.qic_actions))

    @cached_property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """Ids of each kind of thing, in the order that the arrays use."""

        def of(things) -> tuple[str, ...]:
            return tuple(thing.id for thing in things)

        main = tuple(f"main {i + 1}" for i in range(self.geometry.num_main_sectors))
        deep = tuple(f"deep {i + 1}" for i in range(self.geometry.num_deep_sectors))
        specials = [t.id for t in (*self.basic_tiles, *self.advanced_tiles) if t.special]
        specials += ["AC_B", *(b.id for b in self.boosters if b.special), "FACTION"]
        return {
            "planet": box.planets.PLANETS,
            "planet_type": box.planets.PLANET_TYPES,
            "structure": box.common.STRUCTURES,
            "faction": of(self.factions),
            "track": box.research.TRACKS,
            "tile": of((*self.basic_tiles, *self.ship_tiles)),
            "advanced": of(self.advanced_tiles),
            "advanced_slot": (*box.research.TRACKS, *(["extra"] if self.extra_conditions else [])),
            "booster": of(self.boosters),
            "round_tile": of(self.round_tiles),
            "final_mission": self.final_missions,
            "token": of((*self.base_tokens, self.gleens_token, *self.ship_tokens)),
            "ship": self.ships,
            "ship_action": of(self.ship_actions),
            "qic_action": of(self.qic_actions),
            "power_action": of(self.power_actions),
            "special": tuple(specials),
            "artifact": of(self.artifacts),
            "tinkering": of(self.tinkering_tiles),
            "free_action": of(self.free_actions),
            "income": INCOME_ATOMS,
            "vp_source": box.common.VP_SOURCES,
            "sector": (*main, *deep),
            "event": box.common.EVENTS,
            "count": box.common.COUNTS,
        }

    @cached_property
    def actions(self) -> ActionSpace:
        """The action index of this ruleset."""
        ids = self.ids
        tokens = tuple(t.id for t in (*self.base_tokens, self.gleens_token))
        groups = [
            ("free", ids["free_action"]),
            *((verb, ("",)) for verb in BARE),
            ("advance", ids["track"]),
            ("power", ids["power_action"]),
            ("ship", ids["ship_action"]),
            ("qic", ids["qic_action"]),
            ("special", ids["special"]),
            ("explore", self.ships),
            ("artifact", tuple(str(i + 1) for i in range(self.artifacts_in_play))),
            ("booster", ids["booster"]),
            ("leech", LEECH_CHOICES),
            ("tile", ids["tile"]),
            ("advanced", ids["advanced_slot"]),
            ("token", (*tokens, *self.ships)),
            ("income", ids["income"]),
            ("piece", ("RL", "PI", "AC_A", "AC_B")),
            ("tinkering", ids["tinkering"]),
        ]
        return ActionSpace(self.geometry, tuple(groups))

    @cached_property
    def operations(self) -> tuple[operations.Operation, ...]:
        """The rows of `operations.Operation`, "none" first."""
        return operations.build(self)

    @cached_property
    def operation_index(self) -> dict[str, int]:
        """The row of each operation by its id."""
        return {op.id: i for i, op in enumerate(self.operations)}

    @cached_property
    def tables(self) -> Tables:
        """The arrays that the rules read."""
        return make_tables(self)


def _registered(id: str) -> Ruleset:
    from gaia_jax.ruleset import RULESETS

    return RULESETS[id]
