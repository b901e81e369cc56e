"""Every piece and switch of one variant of the game, with the names of all things in it.

No rule asks for the name of a variant: what differs between two is a row of a table or a switch
that is read while tracing. Prices that all variants share are in `components`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gaia_jax.components.artifacts import ARTIFACTS, Artifact
from gaia_jax.components.automa import Automa
from gaia_jax.components.boosters import BOOSTERS, Booster
from gaia_jax.components.common import COUNTS, EVENTS, STRUCTURES, VP_SOURCES, Gain
from gaia_jax.components.costs import SPARE_BOOSTERS
from gaia_jax.components.factions import FACTION_BOARDS, FACTIONS, Faction
from gaia_jax.components.federation_tokens import (
    BASE_TOKENS,
    GLEENS_TOKEN,
    SHIP_TOKENS,
    FederationToken,
)
from gaia_jax.components.free_actions import FREE_ACTIONS, FreeAction
from gaia_jax.components.map_tiles import LOST_FLEET_MAP, SHIPS, MapParts
from gaia_jax.components.missions import FINAL_MISSIONS, ROUND_TILES, RoundTile
from gaia_jax.components.planets import PLANET_TYPES, PLANETS
from gaia_jax.components.power_actions import POWER_ACTIONS, PowerAction
from gaia_jax.components.research import ECONOMY_INCOME, TRACKS
from gaia_jax.components.ships import SHIP_ACTIONS, ShipAction
from gaia_jax.components.tech_tiles import (
    ADVANCED_TILES,
    BASIC_TILES,
    EXTRA_CONDITIONS,
    SHIP_TILE_SHIPS,
    SHIP_TILES,
    TechTile,
)
from gaia_jax.components.tinkering import TINKERING_TILES, TinkeringTile
from gaia_jax.ruleset.action_space import BARE, ActionSpace
from gaia_jax.ruleset.geometry import Geometry, geometry_of

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


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """The pieces and switches of one variant of the game, and the names made from them."""

    id: str
    version: str = "0.2"  # of the behaviour; docs/reference/rulesets.md
    players: int = 4  # P, rows of players, with the Automa
    map: MapParts = LOST_FLEET_MAP
    faction_boards: tuple[tuple[str, str], ...] = FACTION_BOARDS
    factions: tuple[Faction, ...] = FACTIONS
    basic_tiles: tuple[TechTile, ...] = BASIC_TILES
    ship_tiles: tuple[TechTile, ...] = SHIP_TILES
    ship_tile_ships: tuple[str, ...] = SHIP_TILE_SHIPS
    advanced_tiles: tuple[TechTile, ...] = ADVANCED_TILES
    extra_conditions: tuple[str, ...] = EXTRA_CONDITIONS  # of a seventh, if any
    boosters: tuple[Booster, ...] = BOOSTERS
    round_tiles: tuple[RoundTile, ...] = ROUND_TILES
    final_missions: tuple[str, ...] = FINAL_MISSIONS
    base_tokens: tuple[FederationToken, ...] = BASE_TOKENS
    gleens_token: FederationToken = GLEENS_TOKEN
    ship_tokens: tuple[FederationToken, ...] = SHIP_TOKENS
    ships: tuple[str, ...] = SHIPS
    ship_actions: tuple[ShipAction, ...] = SHIP_ACTIONS
    qic_actions: tuple[ShipAction, ...] = ()  # of the research board (ACT-01)
    artifacts: tuple[Artifact, ...] = ARTIFACTS
    power_actions: tuple[PowerAction, ...] = POWER_ACTIONS
    free_actions: tuple[FreeAction, ...] = FREE_ACTIONS
    tinkering_tiles: tuple[TinkeringTile, ...] = TINKERING_TILES
    economy_income: tuple[tuple[Gain[int], ...], ...] = ECONOMY_INCOME

    automa: Automa | None = None  # the opponent of a solo game, player 1

    # Switches, with the ruling that asks for them.
    twilight_range_projects: bool = False  # MIN-18
    free_leech_is_taken: bool = True  # LEE-03, A11
    surplus_federations: bool = False  # A11, A25
    gaiaformed_planet_waits: bool = True  # MIN-20
    zero_ranks: bool = True  # FIN-03
    bonus_power_in_leech: bool = False  # FED-11
    # What a neutral player counts for each final mission, where there is one.
    neutral_player: Mapping[str, int] = field(default_factory=dict)
    stations_count_as_satellites: bool = False  # HIV-02, FIN-07, A22
    leech_in_seat_order: bool = False  # LEE-04, A11
    free_step_is_optional: bool = False  # TEC-09, FIR-01, ACT-15, A11
    free_steps_without_need: bool = True  # MIN-15, A26
    actions_without_gain: bool = True  # ACT-13, A27
    ship_token_mines_are_plain: bool = False  # MIN-13, A5, A28

    @cached_property
    def geometry(self) -> Geometry:
        """The cells of the map."""
        return geometry_of(self.map)

    @property
    def seats(self) -> int:
        """S, the players who decide: all but the Automa (AUT-01)."""
        return self.players - (self.automa is not None)

    @property
    def name(self) -> str:
        """The name in messages and pictures: the id, and the number of players unless it is 4."""
        if self.seats == 4:
            return self.id
        return f"{self.id} for {self.seats} player{'s' * (self.seats > 1)}"

    @property
    def boosters_in_play(self) -> int:
        """Boosters that are dealt (SET-09, PLA-02)."""
        return self.players + SPARE_BOOSTERS

    @property
    def artifacts_in_play(self) -> int:
        """Artifacts on the ship, one a player (SET-20, PLA-11)."""
        return self.players if self.artifacts else 0

    @property
    def shared_actions(self) -> tuple[tuple[str, ShipAction], ...]:
        """(verb, action) of the actions of ships and the QIC actions, in the order of their bits
        in `Turn.ship_used`.
        """
        ships = [("ship", action) for action in self.ship_actions]
        return (*ships, *(("qic", action) for action in self.qic_actions))

    @cached_property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """Ids of each kind of thing, in the order that the arrays use."""

        def of(pieces: Iterable[Any]) -> tuple[str, ...]:
            return tuple(piece.id for piece in pieces)

        main = tuple(f"main {i + 1}" for i in range(self.geometry.num_main_sectors))
        deep = tuple(f"deep {i + 1}" for i in range(self.geometry.num_deep_sectors))
        specials = [t.id for t in (*self.basic_tiles, *self.advanced_tiles) if t.special]
        specials += ["AC_B", *(b.id for b in self.boosters if b.special), "FACTION"]
        return {
            "planet": PLANETS,
            "planet_type": PLANET_TYPES,
            "structure": STRUCTURES,
            "faction": of(self.factions),
            "track": TRACKS,
            "tile": of((*self.basic_tiles, *self.ship_tiles)),
            "advanced": of(self.advanced_tiles),
            "advanced_slot": (*TRACKS, *(["extra"] if self.extra_conditions else [])),
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
            "vp_source": VP_SOURCES,
            "sector": (*main, *deep),
            "event": EVENTS,
            "count": COUNTS,
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
