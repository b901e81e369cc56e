"""The columns of a player. Readers give (P,) or (P, columns) in the order of the players; `observe`
seats the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.planets import FIRST_COLOUR, TERRAFORM_CYCLE
from gaia_jax.components.research import MAX_LEVEL
from gaia_jax.observation.view import Block, View, fixed, ids, one_hot
from gaia_jax.rules import mine
from gaia_jax.rules.player import FIRST_TYPE, LAST_TYPE, bit_vector, counts, inverse
from gaia_jax.state import GAIA_AREA, Phase


def _field(name: str) -> Callable[[View], Array]:
    return lambda view: getattr(view.game.players, name)


def _bits(name: str, kind: str) -> Callable[[View], Array]:
    return lambda view: bit_vector(getattr(view.game.players, name), len(view.ruleset.ids[kind]))


def _seat_in_order(view: View) -> Array:
    return inverse(view.game.turn.order)


def _setup_left(view: View) -> Array:
    turn = view.game.turn
    number = jnp.arange(turn.sequence.shape[0])
    coming = (number >= turn.setup_done) & (turn.phase == Phase.SETUP)
    return (coming & (turn.sequence == jnp.arange(view.game.num_players)[:, None])).sum(-1)


def _colour_steps(view: View) -> Array:
    return view.game.steps[:, FIRST_COLOUR : FIRST_COLOUR + len(TERRAFORM_CYCLE)]


PLAYER_BLOCKS = (
    Block("faction", 0, 1, "which board", ids("faction"),
          lambda v: one_hot(v.game.setup.faction, len(v.ruleset.factions))),
    Block("vp", 0, 999, "victory points", None, _field("vp")),
    Block("credits", 0, costs.CAPS["credits"], "", None, _field("credits")),
    Block("ore", 0, costs.CAPS["ore"], "", None, _field("ore")),
    Block("knowledge", 0, costs.CAPS["knowledge"], "", None, _field("knowledge")),
    Block("qic", 0, 100, "", None, _field("qic")),
    Block("power", 0, 100, "tokens in each bowl, without the brainstone", fixed("I", "II", "III"),
          _field("power")),
    Block("gaia_power", 0, 100, "tokens in the Gaia area, without the brainstone", None,
          _field("gaia_power")),
    Block("brainstone", 0, 1, "the bowl of the brainstone", fixed("I", "II", "III", "gaia"),
          lambda v: one_hot(v.game.players.brainstone, GAIA_AREA + 1)),
    Block("track", 0, MAX_LEVEL, "level on each research track", ids("track"), _field("tracks")),
    Block("built", 0, 8, "own structures on the map; mines with guests, without the Lost Planet",
          lambda r: r.ids["structure"][1:], lambda v: v.game.players.built[:, 1:]),
    Block("colonized", 0, 21, "own structures on each planet type, without guests",
          ids("planet_type"),
          lambda v: v.game.players.colonized[:, FIRST_TYPE : LAST_TYPE + 1]),
    Block("guests", 0, 8, "guest mines built", None, _field("guests")),
    Block("guest_protos", 0, 8, "of these on protoplanets", None, _field("guest_protos")),
    Block("guest_asteroids", 0, 8, "of these on asteroids", None, _field("guest_asteroids")),
    Block("count", 0, 50, "what tiles, boosters and missions count", ids("count"),
          lambda v: counts(v.ruleset, v.game.players)),
    Block("range", 0, 10, "basic range", None,
          lambda v: mine.basic_range(v.ruleset, v.game.players)),
    Block("tile", 0, 1, "basic and ship tiles owned", ids("tile"), _bits("tiles", "tile")),
    Block("covered", 0, 1, "of these covered", ids("tile"), _bits("covered", "tile")),
    Block("advanced", 0, 1, "advanced tiles owned", ids("advanced"),
          _bits("advanced", "advanced")),
    Block("token", 0, 6, "federation tokens owned", ids("token"),
          lambda v: v.game.players.tokens[:, : len(v.ruleset.ids["token"])]),
    Block("green", 0, 20, "of these with the green side up", None, _field("green")),
    Block("formed", 0, 20, "federations formed", None, _field("formed")),
    Block("satellites", 0, costs.SATELLITES, "on the map", None, _field("satellites")),
    Block("stations", 0, costs.HIVE_STATIONS, "space stations", None, _field("stations")),
    Block("rings", 0, costs.MOWEYDS_RINGS, "power rings", None, _field("rings")),
    Block("gaiaformers", 0, 3, "on the board, on the map, in the Gaia area",
          fixed("ready", "out", "gaia"),
          lambda v: jnp.stack([v.game.players.gaiaformers, v.game.players.gaiaformers_out,
                               v.game.players.gaiaformers_gaia], -1)),
    Block("shuttle", 0, 1, "a shuttle on the ship", ids("ship"), _bits("shuttles", "ship")),
    Block("artifact", 0, 1, "artifacts owned", ids("artifact"), _bits("artifacts", "artifact")),
    Block("booster", 0, 1, "the booster held; after passing the next round's", ids("booster"),
          lambda v: one_hot(v.game.players.booster, len(v.ruleset.boosters))),
    Block("used", 0, 1, "special actions used this round", ids("special"),
          _bits("used", "special")),
    Block("tinkering", 0, 1, "the tinkering tile of this round", ids("tinkering"),
          lambda v: one_hot(v.game.players.tinkering, len(v.ruleset.tinkering_tiles))),
    Block("tinkered", 0, 1, "tinkering tiles of this and earlier rounds", ids("tinkering"),
          _bits("tinkered", "tinkering")),
    Block("income", 0, 1, "parts of the income whose order is still to be chosen", ids("income"),
          _bits("income", "income")),
    Block("colour_steps", 0, 3, "terraforming steps to each colour", fixed(*TERRAFORM_CYCLE),
          _colour_steps),
    Block("order", 0, 3, "place in the turn order of the round", None, _seat_in_order),
    Block("passed", 0, 4, "k: the k-th to pass this round; 0: not passed", None,
          lambda v: v.game.turn.passed),
    Block("active", 0, 1, "whose turn it is", None,
          lambda v: np.arange(v.game.num_players) == v.game.turn.active),
    Block("decides", 0, 1, "whose decision is next", None,
          lambda v: np.arange(v.game.num_players) == v.game.turn.player),
    Block("leech", 0, 8, "power offered by each event that waits", fixed("1", "2", "3"),
          lambda v: v.game.turn.leech.T),
    Block("setup_left", 0, 4, "decisions of the set-up still to make", None, _setup_left),
)  # fmt: skip
