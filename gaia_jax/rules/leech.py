"""Leech: who is offered power when something is built nearby, and in which order (LEE)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.components import costs
from gaia_jax.components.planets import PLANETS
from gaia_jax.rules import gaia, power
from gaia_jax.rules.player import book, institute_ability, inverse, player_row, uncovered
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import (
    GAIAFORMER,
    PI,
    Board,
    GameState,
    Node,
    Players,
)
from gaia_jax.xla.loops import on_gpu
from gaia_jax.xla.packed import pick

EVENTS = 3
BLACK = PLANETS.index("Black")
# Along the offers: VP, brainstone and bowls, each (P,); () bool, one waits; () int32, for whom.
Carry = tuple[tuple[Array, ...], Array, Array]


def raised_power(ruleset: Ruleset, players: Players) -> Array:
    """(...) int8, what a tile makes of the power of a PI or an academy, 0 without one (TEC-12)."""
    return (uncovered(ruleset, players) * ruleset.tables.tile_power).max(-1).astype(jnp.int8)


def structure_power(ruleset: Ruleset, board: Board, player: Array, raised: Array) -> Array:
    """(..., C) int8, power value of the player's structure on each cell (LEE-06, TEC-12).

    Guest mines count, stations and gaiaformers do not. All in int8: a CPU does 32 at a time.

    Args:
        player: (...) int, then an axis for the cells; raised: of that shape, see `raised_power`.
    """
    player = player.astype(jnp.int8)
    piece = board.piece
    value = jnp.zeros_like(piece)
    for code, power_ in enumerate(ruleset.tables.power_value):
        if power_:
            value = jnp.where(piece == code, jnp.int8(power_), value)
    big = (piece >= PI) & (piece != GAIAFORMER)
    value = jnp.where(big, jnp.maximum(value, raised), value)
    own, guest = board.structures_of(player), board.guests_of(player)
    mine = jnp.int8(costs.POWER_VALUE["MINE"])
    return jnp.where(own, value, jnp.where(guest, mine, jnp.int8(0)))


def power_values(ruleset: Ruleset, game: GameState) -> Array:
    """(P, C) int8, power value of each player's structures, as others are offered it (LEE-06).

    Rings and the Bescods' black planets count if the ruleset's switch is on (FED-11).
    """
    board, players = game.board, game.players
    player = jnp.arange(game.num_players)[:, None]
    value = structure_power(ruleset, board, player, raised_power(ruleset, players)[:, None])
    if not ruleset.bonus_power_in_leech:
        return value
    faction = game.setup.faction.astype(jnp.int32)
    black = jnp.asarray(ruleset.tables.faction.black_planet_bonus_pi)[faction]
    institute, rings = players.built[:, PI], players.rings
    return with_bonuses(board, value, institute[:, None], rings[:, None], black[:, None])


def with_bonuses(
    board: Board, value: Array, institutes: Array, rings: Array, black_bonus: Array
) -> Array:
    """The power of own structures with the bonus of the Bescods and of rings (BES-01, MOW-01).

    Args:
        value: (..., C) int8, without it; institutes, rings: how many the player has on the map.
        black_bonus: of the faction, with its PI.
    """
    bonus = jnp.where(institutes > 0, black_bonus, 0).astype(jnp.int8)
    black = (board.planet == BLACK) & (value > 0)
    value = value + jnp.where(black, bonus, jnp.int8(0))
    # A ring is on a structure of the Moweyds; a guest mine on that planet gains nothing from it.
    ringed = board.ring & (rings > 0) & (value > 0)
    return value + jnp.where(ringed, jnp.int8(costs.RING_POWER), jnp.int8(0))


def offers(ruleset: Ruleset, game: GameState, cell: Array, builder: Array) -> Array:
    """(P,) int32, highest power value within two cells of `cell`, 0 for the builder (LEE-02)."""
    near = jnp.asarray(ruleset.geometry.distance)[cell] <= costs.LEECH_DISTANCE
    best = jnp.where(near, power_values(ruleset, game), jnp.int8(0)).max(-1).astype(jnp.int32)
    player = jnp.arange(game.num_players)
    if ruleset.automa:
        best = jnp.where(player < ruleset.seats, best, 0)  # AUT-15
    return jnp.where(player == builder, 0, best)


def taklons(ruleset: Ruleset, game: GameState) -> Array:
    """(P,) bool, players who also gain a token with each leech (LEE-07)."""
    factions = game.setup.faction.astype(jnp.int32)
    return institute_ability(ruleset.tables.faction.pi_leech_token, game.players, factions)


def amount(me: Players, offered: Array, tokens: Array | int = 0) -> Array:
    """Power that can be taken of an offer, after `tokens` new tokens in bowl I (LEE-02, LEE-07)."""
    room = power.capacity(me) + 2 * tokens
    return jnp.minimum(jnp.minimum(offered, room), me.vp + 1)


def accept(
    me: Players, offered: Array, take: Array, token_first: Array, token_last: Array
) -> Players:
    """One player's answer: charge and pay a - 1 VP, with the Taklons' token (LEE-02, LEE-07).

    Args:
        me: a row; offered: power of the offer; take: bool; token_first, token_last: int32 0 or 1.
    Returns:
        The row with its VP, which are still to be booked under LEECH.
    """
    a = jnp.where(take, amount(me, offered, token_first), 0)
    me = power.add_tokens(me, token_first, 0 * token_first)
    me = power.charge(me, a)
    me = power.add_tokens(me, token_last, 0 * token_last)
    return me.replace(vp=me.vp - jnp.maximum(a - 1, 0))


def distance_in_order(game: GameState) -> Array:
    """(P,) int32, how many seats after the active player each player comes (LEE-04)."""
    seat = inverse(game.turn.order)
    return (seat - pick(seat, game.turn.active.astype(jnp.int32))) % game.num_players


def current(queue: Array) -> Array:
    """(3,) bool, the event whose offers are being answered: the first that is not empty."""
    waits = (queue > 0).any(-1)
    return waits & (jnp.cumsum(waits) == 1)


def resolve_offers(
    ruleset: Ruleset, game: GameState, resolved: Array, answers: Array, choice: Array
) -> tuple[Players, Array, Array, Array]:
    """The decider's answer, then free offers in order until one needs a decision (LEE-03, A13).

    Args:
        resolved: () bool, the action is resolved and the queue may move.
        answers: () bool, `game.turn.player` has answered an offer.
        choice: () int32, with what of `ruleset.LEECH_CHOICES`.
    Returns:
        The players, the offers left, whether one waits, and whose decision it is.
    """
    seats_away, adds_token = distance_in_order(game), taklons(ruleset, game)
    if ruleset.leech_in_seat_order:
        seats = jnp.arange(game.num_players)
        seats_away = (seats - game.turn.active.astype(jnp.int32)) % game.num_players
    # To them power in bowl II may be worth more: what they burn buys tech tiles (A20).
    factions = game.setup.faction.astype(jnp.int32)
    may_decline_free = gaia.decides_on_tiles(ruleset, game.players, factions)
    charge, token_first, decline = range(3)
    queue = game.turn.leech.astype(jnp.int32)
    decider = jnp.arange(game.num_players) == game.turn.player
    answered = current(queue)[:, None] & decider & answers
    rows = jnp.concatenate(
        [jnp.where(answered, queue, 0).sum(0)[None], jnp.where(answered, 0, queue)]
    )

    def resolve_event(carry: Carry, row: tuple[Array, Array]) -> tuple[Carry, Array]:
        (vp, brainstone, *bowls), blocked, decider_next = carry
        players = power.with_bowls(everyone, *bowls, vp=vp, brainstone=brainstone)
        offered, is_answer = row
        a = amount(players, offered)
        free = (a == 1) & ~adds_token & ~may_decline_free & ruleset.free_leech_is_taken
        is_decision = ~is_answer & (offered > 0) & ((a >= 1) & ~free | adds_token)
        first = jnp.where(is_decision, seats_away, game.num_players).min()
        # Offers before the first that asks are taken or void; the others wait.
        passes = ~blocked & (seats_away < first)
        accepts = passes & (offered > 0) & jnp.where(is_answer, choice != decline, free)
        tokens_before = (accepts & is_answer & (choice == token_first)).astype(jnp.int32)
        tokens_after = (accepts & is_answer & (choice == charge) & adds_token).astype(jnp.int32)
        players = accept(players, offered, accepts, tokens_before, tokens_after)
        waits = ~blocked & is_decision.any()
        nearest = jnp.argmin(jnp.where(is_decision, seats_away, game.num_players))
        after_it = players.vp, players.brainstone, *power.bowls(players)
        carry = after_it, blocked | waits, jnp.where(waits, nearest, decider_next)
        return carry, jnp.where(passes, 0, offered)

    everyone = game.players.edit()
    before = everyone.vp, everyone.brainstone, *power.bowls(everyone)
    start: Carry = before, ~resolved, jnp.zeros((), jnp.int32)
    ((vp, brainstone, *bowls), blocked, decider_next), left = lax.scan(
        resolve_event,
        start,
        (rows, jnp.arange(EVENTS + 1) == 0),
        unroll=EVENTS + 1 if on_gpu() else 1,
    )
    players = power.with_bowls(everyone, *bowls, brainstone=brainstone)
    players = jax.vmap(book)(players, {"LEECH": vp - everyone.vp})
    left = left[1:].astype(game.turn.leech.dtype)
    return players.pack(), left, blocked & resolved, decider_next


def add_event(queue: Array, offered: Array, happens: Array) -> Array:
    """The queue with one more event after those waiting (LEE-05).

    Args:
        queue: (3, P) int8; offered: (P,) int32; happens: () bool.
    """
    empty = (queue == 0).all(-1)
    place = jnp.argmax(empty)
    is_place = (jnp.arange(EVENTS) == place) & happens
    return jnp.where(is_place[:, None], offered[None].astype(queue.dtype), queue)


def needs_answer(ruleset: Ruleset, game: GameState, player: Array) -> Array:
    """() bool, the first offer that waits for `player` is a decision; no offer is free (LEE-03).

    Args:
        player: () int32; ruleset: one where `free_leech_is_taken` is off.
    """
    offered = current_offer(game, player)
    charges = amount(player_row(game, player), offered) >= 1
    return (offered > 0) & (charges | pick(taklons(ruleset, game), player))


def options(seat: Seat) -> Array:
    """(3,) bool by `ruleset.LEECH_CHOICES` (LEE-02, LEE-07)."""
    charges = amount(seat.me, current_offer(seat.game, seat.player)) >= 1
    chooses = pick(taklons(seat.ruleset, seat.game), seat.player)
    return seat.at(Node.LEECH) & jnp.stack([charges, chooses, jnp.array(True)])


def current_offer(game: GameState, player: Array) -> Array:
    """() int32, power of the first offer that waits for `player`, 0 for none."""
    mine_queue = game.turn.leech[:, player].astype(jnp.int32)
    waits = (game.turn.leech > 0).any(-1)
    return jnp.where(waits.any(), mine_queue[jnp.argmax(waits)], 0)
