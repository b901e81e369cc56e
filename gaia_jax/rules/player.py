"""One player's row: what the faction prints, what is counted, what is gained and paid (GEN-07)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.common import RESOURCES, VP_SOURCES, Gain
from gaia_jax.components.planets import PLANETS
from gaia_jax.rules import power
from gaia_jax.ruleset import FactionRow, Ruleset
from gaia_jax.ruleset.faction_table import CHARGE, GAIAFORMERS, STOCKS, TOKENS, TOKENS_III
from gaia_jax.state import (
    AC_A,
    AC_B,
    MINE,
    PI,
    RL,
    TS,
    GameState,
    Players,
)
from gaia_jax.xla.packed import pick

GAIA, PROTO, ASTEROID, LOST = (PLANETS.index(x) for x in ("Gaia", "Proto", "Asteroid", "Lost"))
FIRST_TYPE, LAST_TYPE = PLANETS.index("Red"), LOST
# The caps of `Players.resources`; QIC has none but that of its dtype (GEN-07, A18).
LIMITS = np.array([costs.CAPS["credits"], costs.CAPS["ore"], costs.CAPS["knowledge"], 127])
QIC_TO_ORE = np.array([0, 1, 0, -1])
SOURCE = {name: i for i, name in enumerate(VP_SOURCES)}


def inverse(order: Array) -> Array:
    """(P,) int32, the place of each player in `order`, (P,) int, which names each player once."""
    seats = jnp.arange(order.shape[-1])
    return jnp.where(order == seats[:, None], seats, 0).sum(-1)


def player_row(game: GameState, player: Array) -> Players:
    """The row of `player` in int32, wide enough for every sum; `pack` narrows it again."""
    players = game.players
    return Players(pick(players.small, player), pick(players.large, player)).edit()


def with_player_row(game: GameState, player: Array, me: Players) -> GameState:
    """The game with the row of `player` replaced."""
    is_player = jnp.arange(game.num_players)[:, None] == player
    row = me.pack()
    return game.replace(
        players=Players(
            jnp.where(is_player, row.small, game.players.small),
            jnp.where(is_player, row.large, game.players.large),
        )
    )


def faction_row(ruleset: Ruleset, game: GameState, player: Array) -> FactionRow:
    """What the faction board of `player` prints: columns of `components.factions.Faction`."""
    return FactionRow.of(ruleset, pick(game.setup.faction, player).astype(jnp.int32))


def has(bits: Array, index: Array | int) -> Array:
    """bool, bit `index` of `bits` is set."""
    return (bits >> index) & 1 == 1


def bit_vector(bits: Array, size: int) -> Array:
    """(..., size) int32 of 0 and 1."""
    return (bits[..., None].astype(jnp.int32) >> jnp.arange(size)) & 1


def uncovered(ruleset: Ruleset, me: Players) -> Array:
    """(..., kinds) int32, 1 for each basic or ship tile owned and not covered (TEC-05)."""
    return bit_vector(me.tiles & ~me.covered, len(ruleset.ids["tile"]))


def advanced(ruleset: Ruleset, me: Players) -> Array:
    """(..., kinds) int32, 1 for each advanced tile owned."""
    return bit_vector(me.advanced, len(ruleset.ids["advanced"]))


def institute_ability(ability: Array, players: Players, factions: Array) -> Array:
    """(P,) bool, players with their PI whose faction has an ability.

    Args:
        ability: (factions,) of the ruleset, above 0 where the board has it.
        factions: (P,) int32.
    """
    return (jnp.asarray(ability)[factions] > 0) & (players.built[:, PI] > 0)


def power_worth(faction: FactionRow, me: Players) -> Array:
    """() int32, power that a token of bowl III is worth when spent (ACT-07)."""
    return jnp.where(me.built[..., PI] > 0, faction.pi_power_worth, 1)


def virtual_mines(ruleset: Ruleset, me: Players, planet: int) -> Array:
    """() int32, artifact mines of that planet type (ART-03)."""
    kinds = [i for i, x in enumerate(ruleset.tables.virtual_planet) if x == planet]
    return sum((has(me.artifacts, i).astype(jnp.int32) for i in kinds), jnp.zeros((), jnp.int32))


def owned_types(ruleset: Ruleset, me: Players) -> Array:
    """(..., 14) bool by planet: types of GEN-09 owned, artifact types included (FIN-05, PAS-05)."""
    number, owned = jnp.arange(len(PLANETS)), me.colonized > 0
    for planet in sorted({int(x) for x in ruleset.tables.virtual_planet if x >= 0}):
        owned |= (number == planet) & (virtual_mines(ruleset, me, planet) > 0)[..., None]
    is_type = (number >= FIRST_TYPE) & (number <= LAST_TYPE)
    return is_type & owned


def counts(ruleset: Ruleset, me: Players) -> Array:
    """(15,) int32, what "for each ..." counts, in the order of `components.common.COUNTS`."""
    main = ruleset.geometry.num_main_sectors
    sectors = bit_vector(me.sectors, main + ruleset.geometry.num_deep_sectors)
    as_mines = virtual_mines(ruleset, me, ASTEROID)
    artifact_mines = as_mines + virtual_mines(ruleset, me, PROTO)
    built = me.built
    values = {
        "mines": built[..., MINE] + me.colonized[..., LOST] + artifact_mines,
        "trading_stations": built[..., TS],
        "research_labs": built[..., RL],
        "pi_academies": built[..., PI] + built[..., AC_A] + built[..., AC_B],
        "planet_types": owned_types(ruleset, me).sum(-1),
        "gaia_planets": me.colonized[..., GAIA],
        "asteroid_buildings": me.colonized[..., ASTEROID] + me.guest_asteroids + as_mines,
        "main_sectors": sectors[..., :main].sum(-1),
        "deep_sectors": sectors[..., main:].sum(-1),
        "federation_tokens": me.tokens.sum(-1),
        "gaiaformers": me.gaiaformers + me.gaiaformers_out + me.gaiaformers_gaia,
        "basic_tiles": bit_vector(me.tiles, len(ruleset.ids["tile"])).sum(-1),
        "science_level": me.tracks[..., ruleset.ids["track"].index("science")],
        "gaia_level": me.tracks[..., ruleset.ids["track"].index("gaia")],
        "tracks_at_3": (me.tracks >= 3).sum(-1),
    }
    return jnp.stack([values[name].astype(jnp.int32) for name in ruleset.ids["count"]], -1)


def book(
    me: Players, by_source: dict[str, Array], source: Array | int = 0, vp: Array | int = 0
) -> Players:
    """VP (they may be negative) to the player, each amount under its source.

    Args:
        by_source: () int32 by id of ids["vp_source"].
        source, vp: () int32, one more amount whose source is traced.
    Raises:
        KeyError: a source that VP_SOURCES does not have.
    """
    unknown = by_source.keys() - set(VP_SOURCES)
    if unknown:
        raise KeyError(f"no source of VP: {', '.join(sorted(unknown))}")
    # Spread by `where`: a stack of mostly zeros would be a kernel a part (docs/lab/performance.md).
    number, total = jnp.arange(len(VP_SOURCES)), me.vp + vp
    amounts = me.vp_source + jnp.where(number == source, vp, 0)
    for name, amount in by_source.items():
        amounts = amounts + jnp.where(number == SOURCE[name], amount, 0)
        total = total + amount
    return me.replace(vp=total, vp_source=amounts)


def qic_becomes_ore(faction: FactionRow, me: Players) -> Array:
    """(...) bool, the Gleens gain ore for each QIC until they build academy B (GLE-01, GLE-02)."""
    return (faction.qic_becomes_ore_until_academy_b > 0) & (me.built[..., AC_B] == 0)


def receive(faction: FactionRow, me: Players, gain: Array) -> Players:
    """Credits, ore, knowledge, QIC and gaiaformers of a gain, up to the caps (GEN-07).

    Args:
        gain: (9,) int32 in the order of `ruleset.GAIN_FIELDS`; its VP and power are not applied.
    """
    as_ore = qic_becomes_ore(faction, me)
    incoming = gain[..., STOCKS]
    turned = jnp.where(as_ore, incoming[..., RESOURCES.index("qic")], 0)
    incoming = incoming + turned[..., None] * QIC_TO_ORE
    return me.replace(
        resources=jnp.minimum(me.resources + incoming, LIMITS),
        gaiaformers=me.gaiaformers + gain[..., GAIAFORMERS],
    )


def stocks_take(faction: FactionRow, me: Players, gain: Gain[Array] | Gain[int]) -> Array:
    """(...) bool, some of the resources and new tokens of a gain are not lost (FRE-03, GLE-01).

    Args:
        gain: columns of (...,) int32; its VP, charge and tokens into bowl III are not asked for.
    """
    as_ore = qic_becomes_ore(faction, me)
    return (
        (gain.credits > 0) & (me.credits < costs.CAPS["credits"])
        | ((gain.ore > 0) | (gain.qic > 0) & as_ore) & (me.ore < costs.CAPS["ore"])
        | (gain.knowledge > 0) & (me.knowledge < costs.CAPS["knowledge"])
        | (gain.qic > 0) & ~as_ore
        | (gain.tokens > 0)
    )


def receive_power(me: Players, gain: Array) -> Players:
    """New tokens, then the charge, of one gain (A14)."""
    with_tokens = power.add_tokens(me, gain[..., TOKENS], gain[..., TOKENS_III])
    return power.charge(with_tokens, gain[..., CHARGE])
