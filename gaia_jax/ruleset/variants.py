"""The variants of the game (A4, A11)."""

from __future__ import annotations

import copyreg
from dataclasses import replace
from typing import Any

from gaia_jax.cli.arguments import shown
from gaia_jax.cli.command_line import nearest
from gaia_jax.components import automa, base_game, published, tech_tiles
from gaia_jax.ruleset.definition import Ruleset

LOST_FLEET = Ruleset("lost_fleet")

LOST_FLEET_PUBLISHED = Ruleset(
    "lost_fleet_published",
    version="0.3",
    map=published.MAP,
    factions=published.FACTIONS,
    round_tiles=published.ROUND_TILES,
    final_missions=published.FINAL_MISSIONS,
    ship_actions=published.SHIP_ACTIONS,
    artifacts=published.ARTIFACTS,
    tinkering_tiles=published.TINKERING_TILES,
    twilight_range_projects=True,
    free_leech_is_taken=False,
    surplus_federations=True,
    gaiaformed_planet_waits=False,
    zero_ranks=False,
    bonus_power_in_leech=True,
    stations_count_as_satellites=True,
    free_steps_without_need=False,
    actions_without_gain=False,
    ship_token_mines_are_plain=True,
)

# Only what differs from four (PLA-08 to PLA-14).
PUBLISHED_FOR_THREE = replace(
    LOST_FLEET_PUBLISHED,
    players=3,
    map=published.MAP_FOR_THREE,
    factions=published.FACTIONS_FOR_THREE,
)

PUBLISHED_FOR_TWO = replace(
    LOST_FLEET_PUBLISHED,
    players=2,
    map=published.MAP_FOR_TWO,
    factions=published.FACTIONS_FOR_TWO,
    ships=published.SHIPS_FOR_TWO,
    ship_actions=published.SHIP_ACTIONS_FOR_TWO,
    ship_tile_ships=published.SHIP_TILE_SHIPS_FOR_TWO,
    extra_conditions=published.EXTRA_CONDITIONS_FOR_TWO,
    neutral_player=published.NEUTRAL_PLAYER,
)

BASE = Ruleset(
    "base",
    version="0.3",
    map=base_game.MAP,
    faction_boards=base_game.FACTION_BOARDS,
    factions=base_game.FACTIONS,
    ship_tiles=(),
    ship_tile_ships=(),
    advanced_tiles=base_game.ADVANCED_TILES,
    extra_conditions=(),
    boosters=base_game.BOOSTERS,
    round_tiles=base_game.ROUND_TILES,
    final_missions=base_game.FINAL_MISSIONS,
    ship_tokens=(),
    ships=(),
    ship_actions=(),
    qic_actions=base_game.QIC_ACTIONS,
    artifacts=(),
    tinkering_tiles=(),
    economy_income=base_game.ECONOMY_INCOME,
    twilight_range_projects=True,
    free_leech_is_taken=False,
    surplus_federations=True,
    gaiaformed_planet_waits=False,
    zero_ranks=False,
    bonus_power_in_leech=True,
    stations_count_as_satellites=True,
    leech_in_seat_order=True,
    free_step_is_optional=True,
    free_steps_without_need=False,
    actions_without_gain=False,
)

# Only what differs from four; the rest is as for them (PLA-01, PLA-05).
BASE_FOR_THREE = replace(BASE, players=3, map=base_game.MAP_FOR_THREE)

BASE_FOR_TWO = replace(
    BASE, players=2, map=base_game.MAP_FOR_TWO, neutral_player=base_game.NEUTRAL_PLAYER
)

# Alone against the Automa, by the rules of two (AUT-01 to AUT-03, AUT-40).
_TOKENS_FOR_ONE = tuple(replace(x, copies=automa.TOKEN_COPIES) for x in BASE.base_tokens)

BASE_FOR_ONE = replace(BASE_FOR_TWO, base_tokens=_TOKENS_FOR_ONE, automa=automa.AUTOMA)

PUBLISHED_FOR_ONE = replace(
    PUBLISHED_FOR_TWO,
    base_tokens=_TOKENS_FOR_ONE,
    ships=published.SHIPS_FOR_ONE,
    ship_actions=published.SHIP_ACTIONS_FOR_ONE,
    ship_tile_ships=tech_tiles.SHIP_TILE_SHIPS,
    artifacts=(),
    automa=automa.AUTOMA_IN_LOST_FLEET,
)

# The variants for four by id, and all by id and number of players.
RULESETS = {ruleset.id: ruleset for ruleset in (LOST_FLEET, LOST_FLEET_PUBLISHED, BASE)}
VARIANTS = {
    (ruleset.id, ruleset.seats): ruleset
    for ruleset in (
        *RULESETS.values(),
        *(BASE_FOR_THREE, BASE_FOR_TWO, BASE_FOR_ONE),
        *(PUBLISHED_FOR_THREE, PUBLISHED_FOR_TWO, PUBLISHED_FOR_ONE),
    )
}


def ruleset_of(id: str, players: int = 4) -> Ruleset:
    """The variant `id` for that many players.

    Raises:
        ValueError: an unknown id, or one that is not for that many; one line, with the choices.
    """
    if not isinstance(id, str) or id not in RULESETS:
        ids = ", ".join(RULESETS) + nearest(id, RULESETS)
        raise ValueError(f"unknown environment {shown(id)}; known are {ids}")
    if isinstance(players, bool) or not isinstance(players, int) or (id, players) not in VARIANTS:
        ids = ", ".join(str(p) for i, p in sorted(VARIANTS) if i == id)
        others = ", ".join(i for i, p in sorted(VARIANTS) if type(players) is int and p == players)
        hint = f"; rulesets for {players} player{'s' * (players != 1)}: {others}" if others else ""
        raise ValueError(f"{id!r} is a game for {ids} players, not {shown(players)}{hint}")
    return VARIANTS[id, players]


def _reduce(ruleset: Ruleset) -> Any:
    """Copied and unpickled, a ruleset of `VARIANTS` is itself: it is compared by identity."""
    if VARIANTS.get((ruleset.id, ruleset.seats)) is ruleset:
        return ruleset_of, (ruleset.id, ruleset.seats)
    return ruleset.__reduce_ex__(4)


copyreg.pickle(Ruleset, _reduce)
