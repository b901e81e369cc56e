"""The Gaia phase: planets convert, tokens return, Terrans and Itars decide (GAI-01 to GAI-09)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.free_actions import ITARS_TOKENS_PER_TILE, TERRANS_CONVERSIONS
from gaia_jax.rules import power
from gaia_jax.rules.mine import TRANSDIM
from gaia_jax.rules.player import GAIA, institute_ability
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GAIAFORMER, Board, Players


def convert(board: Board, happens: Array) -> Board:
    """Every transdim planet with a gaiaformer becomes a Gaia planet (GAI-02)."""
    ready = (board.planet == TRANSDIM) & (board.piece == GAIAFORMER) & happens
    return board.replace(planet=jnp.where(ready, GAIA, board.planet).astype(board.planet.dtype))


def decides_on_tiles(ruleset: Ruleset, players: Players, factions: Array) -> Array:
    """(P,) bool, Itars with their PI: they may buy tiles before their tokens return (GAI-09)."""
    return institute_ability(ruleset.tables.faction.pi_gaia_tiles, players, factions)


def return_tokens(ruleset: Ruleset, players: Players, factions: Array, selected: Array) -> Players:
    """Tokens and gaiaformers of the Gaia area of the players `selected` return (GAI-05).

    Args:
        players: rows in int32; factions: (P,) int32; selected: (P,) bool.
    """
    bowl = jnp.asarray(ruleset.tables.faction.gaia_tokens_to_bowl).astype(jnp.int32)[factions]
    players = jax.vmap(power.leave_gaia_area)(players, selected, bowl)
    back = jnp.where(selected, players.gaiaformers_gaia, 0)
    return players.replace(
        gaiaformers=players.gaiaformers + back, gaiaformers_gaia=players.gaiaformers_gaia - back
    )


def conversion_points(ruleset: Ruleset, players: Players, factions: Array) -> Array:
    """(P,) int32, returning tokens that Terrans with their PI convert (GAI-08); 0 for others."""
    converts = institute_ability(ruleset.tables.faction.pi_gaia_convert, players, factions)
    return jnp.where(converts, players.gaia_power, 0)


# Points by free-action id that names the conversion at TERRANS.
CONVERSION_PRICE = {conversion.id: conversion.tokens for conversion in TERRANS_CONVERSIONS}


def conversion_options(ruleset: Ruleset, me: Players, points: Array) -> Array:
    """(free actions,) bool, what the Terrans can pick: points enough, resource below its cap."""
    room: dict[str, Array | bool] = {
        "P4_to_Q": True,
        "P3_to_O": me.ore < costs.CAPS["ore"],
        "P4_to_K": me.knowledge < costs.CAPS["knowledge"],
    }
    no = jnp.zeros((), bool)
    return jnp.stack(
        [
            (points >= CONVERSION_PRICE[x]) & room[x] if x in CONVERSION_PRICE else no
            for x in ruleset.ids["free_action"]
        ]
    )


def can_buy_tile(me: Players) -> Array:
    """() bool, enough tokens in the Gaia area for a tile (GAI-09)."""
    return me.gaia_power >= ITARS_TOKENS_PER_TILE
