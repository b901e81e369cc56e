"""Scoring: events of an action, passing, the end of the game (RMS, PAS-04, FIN)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.rules.player import (
    ASTEROID,
    GAIA,
    LOST,
    PROTO,
    advanced,
    bit_vector,
    book,
    owned_types,
    uncovered,
    virtual_mines,
)
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.automa_table import EXTRA_VP
from gaia_jax.state import (
    AC_A,
    AC_B,
    AUTOMA,
    MINE,
    NONE,
    PI,
    GameState,
    Players,
)


def round_tile(ruleset: Ruleset, game: GameState) -> Array:
    """(events,) int32, VP that the round's tile gives for each event; nothing in the set-up."""
    tile = game.setup.round_tiles[game.turn.round_index].astype(jnp.int32)
    vp = jnp.asarray(ruleset.tables.round_events).astype(jnp.int32)[tile]
    return jnp.where(game.turn.round > 0, vp, 0)


def event_vp(ruleset: Ruleset, game: GameState, owner: Players, events: Array) -> dict[str, Array]:
    """VP by source for what happened, from round tile and tiles (RMS-11, ADV-01, ADV-08).

    Args:
        owner: the row whose tiles count, before the action.
        events: (events,) int32, how often each of ids["event"] happened.
    """
    t = ruleset.tables
    return {
        "ROUND_TILE": (round_tile(ruleset, game) * events).sum(),
        "BASIC_TILE": (uncovered(ruleset, owner) * (t.tile_events * events).sum(-1)).sum(),
        "ADVANCED_TILE": (advanced(ruleset, owner) * (t.advanced_events * events).sum(-1)).sum(),
    }


def pass_vp(ruleset: Ruleset, me: Players, counted: Array) -> dict[str, Array]:
    """VP by source on passing: the returned booster and the advanced tiles (PAS-01, PAS-04).

    Args:
        counted: (15,) int32, `counts` of the player.
    """
    t = ruleset.tables
    booster = jnp.asarray(t.booster_pass).astype(jnp.int32)[me.booster]
    tiles = (t.advanced_pass * counted).sum(-1)
    return {
        "BOOSTER": (booster * counted).sum(),
        "ADVANCED_TILE": (advanced(ruleset, me) * tiles).sum(),
    }


class Counted(NamedTuple):
    """What the final missions count of the players, (..., P) int32 each (FIN-03 to FIN-10)."""

    structures: Array  # on the board, the Lost Planet among them, no gaiaformers
    asteroids: Array  # colonized or with a guest
    protos: Array  # the same
    virtual_asteroids: Array  # mines of artifacts (ART-03)
    virtual_protos: Array
    gaia_planets: Array
    planet_types: Array
    main_sectors: Array
    deep_sectors: Array
    satellites: Array
    stations: Array
    academy_distance: Array
    federated: Array  # structures and guests in federations


def mission_counts(ruleset: Ruleset, of: Counted) -> Array:
    """(..., missions, P) int32, what each final mission counts (FIN-03 to FIN-10)."""
    virtual = of.virtual_asteroids + of.virtual_protos
    values = {
        "BUILDINGS": of.structures + virtual,
        "DEEP_SECTORS": of.deep_sectors,
        "PLANET_TYPES": of.planet_types,
        "PI_AC_DISTANCE": of.academy_distance,
        "SATELLITES": of.satellites + of.stations * ruleset.stations_count_as_satellites,
        "ASTEROID_PROTO_BUILDINGS": of.asteroids + of.protos + virtual,
        "ASTEROID_BUILDINGS": of.asteroids + of.virtual_asteroids,
        "MAIN_SECTORS": of.main_sectors,
        "GAIA_BUILDINGS": of.gaia_planets,
        "FEDERATION_BUILDINGS": of.federated,
    }
    return jnp.stack([values[name].astype(jnp.int32) for name in ruleset.final_missions], axis=-2)


def academy_distance(ruleset: Ruleset, institute: Array, academy: Array) -> Array:
    """(...) int32, the greatest distance from the PI to an academy, 0 without either (FIN-06).

    Args:
        institute, academy: (..., C) bool, the cells where a player has them.
    """
    rows = jnp.asarray(ruleset.geometry.distance)[jnp.argmax(institute, axis=-1)]
    far = jnp.where(academy, rows, 0).max(-1).astype(jnp.int32)
    return jnp.where(institute.any(-1), far, 0)


def final_values(ruleset: Ruleset, game: GameState) -> Array:
    """(missions, P) int32, what each final mission counts (FIN-03 to FIN-10)."""
    board, me = game.board, game.players
    main = ruleset.geometry.num_main_sectors
    sectors = bit_vector(me.sectors, main + ruleset.geometry.num_deep_sectors)
    player = jnp.arange(board.num_players)[:, None]
    own = board.owner == player
    standing = own & (board.piece != NONE) | (board.guest == player)
    academy = own & ((board.piece == AC_A) | (board.piece == AC_B))
    structures = me.built[:, MINE:].sum(-1) + me.colonized[:, LOST]
    federated = (standing & board.federated).sum(-1)
    if ruleset.automa:  # it counts all its structures but one (AUT-33)
        federated = jnp.where(player[:, 0] == AUTOMA, structures - 1, federated)
    counted = Counted(
        structures=structures,
        asteroids=me.colonized[:, ASTEROID] + me.guest_asteroids,
        protos=me.colonized[:, PROTO] + me.guest_protos,
        virtual_asteroids=virtual_mines(ruleset, me, ASTEROID),
        virtual_protos=virtual_mines(ruleset, me, PROTO),
        gaia_planets=me.colonized[:, GAIA],
        planet_types=owned_types(ruleset, me).sum(-1),
        main_sectors=sectors[:, :main].sum(-1),
        deep_sectors=sectors[:, main:].sum(-1),
        satellites=me.satellites,
        stations=me.stations,
        academy_distance=academy_distance(ruleset, own & (board.piece == PI), academy),
        federated=federated,
    )
    return mission_counts(ruleset, counted)


def prizes(ruleset: Ruleset, values: Array, mission: Array) -> Array:
    """(P,) int32, VP by rank; equal values share the prizes of their ranks (FIN-02, FIN-03).

    A neutral player takes a rank, and a share where it ties (PLA-06).

    Args:
        values: (P,) int32, what the mission counts; mission: () int, which it is.
    """
    table = jnp.asarray(ruleset.tables.prizes).astype(jnp.int32)
    ranked = values
    if ruleset.neutral_player:
        neutral = [ruleset.neutral_player[name] for name in ruleset.final_missions]
        ranked = jnp.append(values, jnp.array(neutral)[mission])
    better = (ranked[None] > values[:, None]).sum(-1)
    equal = (ranked[None] == values[:, None]).sum(-1)
    rank = jnp.arange(len(ruleset.tables.prizes))
    mine = (rank >= better[:, None]) & (rank < (better + equal)[:, None])
    vp = jnp.where(mine, table, 0).sum(-1) // equal
    return vp if ruleset.zero_ranks else jnp.where(values > 0, vp, 0)


def final_score(ruleset: Ruleset, game: GameState) -> Players:
    """All players after final missions, research and resources (FIN-01, FIN-11, RES-10)."""
    values = final_values(ruleset, game)
    players = game.players.edit()
    research = jnp.asarray(ruleset.tables.end_vp).astype(jnp.int32)[players.tracks].sum(-1)
    left = players.credits + players.ore + players.knowledge
    first, second = game.setup.final_missions[0], game.setup.final_missions[1]
    gains = {
        "FINAL_1": prizes(ruleset, values[first], first),
        "FINAL_2": prizes(ruleset, values[second], second),
        "RESEARCH_END": research,
        "RESOURCES": left // costs.RESOURCES_PER_VP,
    }
    if game.setup.automa is not None:  # at a level with more VP each of these is a gain (AUT-11)
        extra = jnp.asarray(ruleset.automa_table.levels.numbers)[
            game.setup.automa.level.astype(jnp.int32), EXTRA_VP
        ]
        is_automa = jnp.arange(game.num_players) == AUTOMA
        gains = {x: vp + jnp.where(is_automa & (vp > 0), extra, 0) for x, vp in gains.items()}
    return jax.vmap(book)(players, gains).pack()
