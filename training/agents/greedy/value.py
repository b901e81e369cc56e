"""The value of a position for one player, in VP. Takes one game; `vmap` makes batches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from gaia_jax.rules import income, scoring
from gaia_jax.rules.player import counts as player_counts
from gaia_jax.ruleset import LOST_FLEET, FactionRow
from gaia_jax.state import AC_A, AC_B, GAIAFORMER, NONE, PI

Game = Any
# The missions in the order of `Weights.unit`, and one that weighs as another does.
MISSIONS = LOST_FLEET.final_missions
ALIKE = {"ASTEROID_BUILDINGS": "ASTEROID_PROTO_BUILDINGS"}


def real(x: ArrayLike) -> Array:
    """Anything as float32."""
    return jnp.asarray(x).astype(jnp.float32)


def bits(field: Array, size: int) -> Array:
    """(..., size) float32 of 0 and 1."""
    return real((field[..., None].astype(jnp.int32) >> jnp.arange(size)) & 1)


class Position:
    """A game from the view of one player, with the inputs of several parts of the value."""

    def __init__(self, t: SimpleNamespace, w: SimpleNamespace, game: Game, player: Array):
        """`t` of `make_tables`, `w` the weights, `player` () int32."""
        self.t, self.w, self.game, self.player = t, w, game, player
        self.players = game.players
        self.me = jax.tree.map(lambda x: x[player], game.players)
        self.faction = game.setup.faction[player].astype(jnp.int32)
        self.left = real(t.rounds - game.turn.round)  # R; 6 in the set-up
        self.passed = game.turn.passed[player] > 0
        self.early = jnp.minimum(self.left, 5.0) / 5.0
        rounds = jnp.minimum(jnp.arange(t.rounds + 1), t.rounds - 1) / (t.rounds - 1)
        fading = rounds[:, None] ** w.fade
        self.prices = w.late + (w.early - w.late) * fading  # (R, G)
        number = jnp.arange(t.rounds + 1)[:, None]
        self.price = jnp.where(number == self.left, self.prices, 0).sum(0)  # now
        self.future = jnp.where(number < self.left, self.prices, 0).sum(0)  # of all rounds to come
        ids = t.ids
        me = self.me
        self.tiles = bits(me.tiles & ~me.covered, len(ids["tile"]))
        self.advanced = bits(me.advanced, len(ids["advanced"]))
        self.counts = real(player_counts(t.rules, game.players))  # (P, counts)
        self.range = real(t.navigation_range)[me.tracks[1].astype(jnp.int32)]
        self.range += (self.tiles * t.tile_range).sum()

    def row(self, table: ArrayLike) -> Array:
        """The faction's row of a table, float32."""
        return real(table)[self.faction]


def value(t: SimpleNamespace, w: SimpleNamespace, game: Game, player: Array) -> Array:
    """() float32, the VP that `player` may expect of the position, up to a constant of the game.

    Args:
        t: tables of `make_tables`.
        w: weights.
        game: the GameState.
        player: () int32.
    """
    at = Position(t, w, game, player)
    parts = (
        _stock, _power, _income, _research, _federations, _missions, _passing, _triggers,
        _specials, _fleet, _planets,
    )  # fmt: skip
    return cast(Array, sum(part(at) for part in parts))


def _stock(at: Position) -> Array:
    """VP and resources; a unit is worth less the fuller its store is (GEN-07)."""
    resources = real(at.me.resources)
    prices = at.price[1:5]
    full = resources[:3] / at.t.caps
    shrink = jnp.concatenate([1 - at.w.crowd * full, jnp.ones(1)])
    return real(at.me.vp) + (resources * prices * shrink).sum()


def _power(at: Position) -> Array:
    """Tokens, and how far they are charged; the brainstone is worth three."""
    power, g = real(at.me.power), at.t.g
    stone = real(at.me.brainstone)
    charged = power[1] + 2 * power[2] + jnp.where((stone >= 0) & (stone <= 2), 3 * stone, 0)
    tokens = power.sum() + real(at.me.gaia_power) + 2 * (stone >= 0)
    return tokens * at.price[g["tokens"]] + charged * at.price[g["charge"]]


def _income(at: Position) -> Array:
    """The value of the remaining income phases (INC-01), the booster once it cannot change."""
    row = FactionRow.of(at.t.rules, at.faction)
    parts = income.parts(at.t.rules, row, at.me, at.game.setup.economy_side)
    booster = real(parts.pop("booster"))
    booster_worth = jnp.where(at.passed, (booster * at.price).sum(), 0)
    return (real(sum(parts.values())) * at.future).sum() + booster_worth


def _research(at: Position) -> Array:
    t, w = at.t, at.w
    levels = at.me.tracks.astype(jnp.int32)
    vp = (real(t.end_vp)[levels] + w.step[levels] * at.early).sum()
    saved = 3.0 - real(t.ore_per_step)[levels[0]]
    formers = real(at.me.gaiaformers + at.me.gaiaformers_out + at.me.gaiaformers_gaia)
    by_round = saved * w.terraforming + at.range * w.navigation + formers * w.gaiaformer
    out = real(at.me.gaiaformers_out) * w.gaiaformer_out * (at.left > 0)
    summed: Array = vp + by_round * at.left + out
    return summed


def cell_power(at: Position) -> Array:
    """(C,) float32, power of own structures that are in no federation yet."""
    t, board = at.t, at.game.board
    own = (board.piece_owner == at.player) & (board.piece != GAIAFORMER) & (board.piece != NONE)
    power = real(t.power_value)[board.piece.astype(jnp.int32)]
    big = (board.piece == PI) | (board.piece == AC_A) | (board.piece == AC_B)
    best = jnp.maximum((at.tiles * t.tile_power).max(), 3.0)
    power = jnp.where(big, best, power) + 2.0 * board.ring
    power = jnp.where(own, power, 0) + 1.0 * (board.guest == at.player)
    hive = at.t.ids["faction"].index("HIVES") if "HIVES" in at.t.ids["faction"] else -1
    power += 1.0 * board.station * (at.faction == hive)
    return jnp.where(board.federated[at.player], 0, power)


def _federations(at: Position) -> Array:
    t, w = at.t, at.w
    power = cell_power(at)
    has_institute = at.me.built[PI] > 0
    need = jnp.where(has_institute, at.row(t.requirement_pi), at.row(t.requirement))
    cluster = jnp.minimum((t.near @ power).max(), need) / need
    spread = jnp.minimum(power.sum(), 2 * need) / need
    hope = 0.4 + 0.6 * jnp.minimum(at.left, 3.0) / 3.0
    green = real(at.me.green) * w.green * jnp.minimum(at.left, 2.0) / 2.0
    summed: Array = (cluster * cluster * w.federation + spread * w.spread) * hope + green
    return summed


def _missions(at: Position) -> Array:
    """6 VP for each player with less, 3 for a tie, smoothed while rounds are left (FIN-02).

    A neutral player is one of them (PLA-06).
    """
    chosen, rules = at.game.setup.final_missions.astype(jnp.int32), at.t.rules
    counts = real(scoring.final_values(rules, at.game))
    if not rules.stations_count_as_satellites and "SATELLITES" in rules.final_missions:
        # It counts stations of the Hives as satellites, against FIN-07: its weights were fitted
        # that way, and its published games replay unchanged.
        counts = counts.at[rules.final_missions.index("SATELLITES")].add(real(at.players.stations))
    values = counts[chosen]  # (2, P)
    if rules.neutral_player:
        neutral = jnp.array([rules.neutral_player[name] for name in rules.final_missions])
        values = jnp.concatenate([values, real(neutral)[chosen][:, None]], axis=-1)
    lead = values[:, at.player][:, None] - values
    place = [MISSIONS.index(ALIKE.get(name, name)) for name in rules.final_missions]
    unit = at.w.unit[jnp.array(place)][chosen]
    soft = at.w.rank * (at.left + 0.3) * unit[:, None]
    won = jax.nn.sigmoid(lead / soft)
    others = jnp.arange(values.shape[-1]) != at.player
    return 6.0 * jnp.where(others, won, 0).sum()


def _passing(at: Position) -> Array:
    """VP of passes to come: the booster in hand, the advanced tiles each round (PAS-04)."""
    mine = at.counts[at.player]
    now = 1.0 * ~at.passed * (at.left < 6)
    booster = (real(at.t.booster_pass)[at.me.booster.astype(jnp.int32)] * mine).sum()
    tiles = at.advanced @ (at.t.advanced_pass * mine).sum(-1)
    later = jnp.where(at.passed & (at.left > 0), booster * at.w.growth, 0)
    summed: Array = booster * now + later + tiles * (now + at.left)
    return summed


def _triggers(at: Position) -> Array:
    """Tiles that score events, by the expected number of events a round."""
    owned = jnp.concatenate([at.tiles, at.advanced])
    by_round = owned @ (at.t.triggers * at.w.events).sum(-1)
    summed: Array = by_round * (at.left + 0.3 * ~at.passed)
    return summed


def _specials(at: Position) -> Array:
    """Actions once a round: this round's at a discount, so that they are taken."""
    t, me = at.t, at.me
    ids = t.special
    now, future = [], []
    for i, name in enumerate(ids):
        gain = real(t.specials[i])
        if name == "AC_B":
            owned, gain = me.built[AC_B] > 0, at.row(t.academy_action)
        elif name == "FACTION":
            able = (me.built[PI] > 0) | ~jnp.asarray(t.special_needs_pi)[at.faction]
            owned = jnp.asarray(t.has_special)[at.faction] & able
            tile = at.w.tinkering[jnp.maximum(me.tinkering, 0).astype(jnp.int32)]
            worth = jnp.where(me.tinkering >= 0, tile, at.w.faction_special)
            now.append(jnp.where(owned, worth, 0))
            future.append(jnp.where(owned, at.w.faction_special * at.left, 0))
            continue
        elif name in t.ids["tile"]:
            owned = at.tiles[t.ids["tile"].index(name)] > 0
        elif name in t.ids["advanced"]:
            owned = at.advanced[t.ids["advanced"].index(name)] > 0
        else:
            owned = me.booster == t.ids["booster"].index(name)
            now.append(jnp.where(owned, at.w.booster_special, 0))
            future.append(jnp.zeros(()))
            continue
        now.append(jnp.where(owned, (gain * at.price).sum(), 0))
        future.append(jnp.where(owned, (gain * at.future).sum(), 0))
    unused = 1 - bits(me.used, len(ids))
    open_now = jnp.stack(now) * unused * ~at.passed * at.w.unused
    summed: Array = open_now.sum() + jnp.stack(future).sum()
    return summed


def _fleet(at: Position) -> Array:
    ships = len(at.t.ids["ship"])
    shuttles = bits(at.me.shuttles, ships)
    worth = at.w.shuttle[:ships] * at.early + at.w.shuttle_base * (at.left > 0)
    summed: Array = (shuttles * worth).sum()
    return summed


def attraction(at: Position) -> Array:
    """(C,) float32 in 0 .. 1, how good a place for a mine each free planet is, range aside."""
    t, board, me = at.t, at.game.board, at.me
    planet = board.planet.astype(jnp.int32)
    steps = real(at.game.steps[at.player])
    ore = steps * real(t.ore_per_step)[me.tracks[0].astype(jnp.int32)]
    by_planet = jnp.where(t.colour | t.proto, jnp.clip(1 - ore / 9, 0.05, 1), 0)
    formers = me.gaiaformers > 0
    by_planet = jnp.where(t.proto, by_planet + 0.3, by_planet)
    by_planet = jnp.where(t.gaia, 0.7, by_planet)
    by_planet = jnp.where(t.rock, jnp.where(formers, 0.5, 0.15), by_planet)
    by_planet = jnp.where(t.transdim, jnp.where(formers, 0.5, 0.15), by_planet)
    own_gaia = (board.piece == GAIAFORMER) & (board.piece_owner == at.player)
    free = (board.piece == NONE) & jnp.asarray(t.open)[planet]
    return jnp.where(own_gaia, 1.0, jnp.where(free, by_planet[planet], 0))


def _planets(at: Position) -> Array:
    """Planets in reach, later gains of structures, and the institute."""
    reach = real(at.game.board.distance_to_own[at.player])
    beyond = reach - at.range
    easy = jnp.where(beyond <= 0, 1.0, jnp.where(beyond <= 2, 0.5, 0.0))
    easy = jnp.where((beyond > 2) & (beyond <= 4), 0.15, easy)
    room = jnp.sqrt((attraction(at) * easy).sum() + 1e-6)
    has_institute = real(at.me.built[PI] > 0)
    structure_worth = (at.w.structure * real(at.me.built)).sum()
    summed: Array = (
        at.w.expand * room + structure_worth
    ) * at.early + at.w.institute * has_institute * at.left
    return summed


def booster_value(t: SimpleNamespace, w: SimpleNamespace, game: Game, player: Array) -> Array:
    """(boosters,) float32, the value of each for the player if taken now."""
    at = Position(t, w, game, player)
    gain = real(t.booster_income) @ at.price
    passing = real(t.booster_pass) @ at.counts[player] * w.growth
    summed: Array = gain + passing + jnp.asarray(t.booster_special) * w.booster_special
    return summed
