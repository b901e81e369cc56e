"""Federations: who may form one, the builder, satellites, absorption (FED, A2, A9, A10).

The search is in `search.py`; this module has the rules that are its inputs.
"""

from __future__ import annotations

from functools import cache, partial

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.components import costs
from gaia_jax.rules import leech, power
from gaia_jax.rules.federation import search
from gaia_jax.rules.federation.lattice import Lattice, build_lattice
from gaia_jax.rules.federation.search import Position
from gaia_jax.rules.mine import EMPTY
from gaia_jax.rules.player import bit_vector, player_row, with_player_row
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import FactionRow, Ruleset
from gaia_jax.state import (
    PI,
    FederationOptions,
    GameState,
    Node,
    Players,
    Turn,
)
from gaia_jax.xla.compact_vmap import compact_vmap

# `Turn.last_pick` where the player has said that the picks are to be committed.
COMMIT_PICKS = -2
# `Players.min_satellites_feasible` and `max_satellites_infeasible` where nothing is known.
UNKNOWN_FEASIBLE, UNKNOWN_INFEASIBLE = 100, -1


@cache
def lattice(ruleset: Ruleset) -> Lattice:
    """The map of a ruleset as the search wants it."""
    return build_lattice(ruleset.geometry)


def neighbours_of(ruleset: Ruleset, cells: Array) -> Array:
    """(C,) bool, cells that touch one of `cells`, (C,) bool."""
    padded = jnp.concatenate([cells, jnp.zeros(1, bool)])
    return padded[ruleset.geometry.neighbors].any(-1)


def has_bit(marks: Array, bit: Array) -> Array:
    """(C,) bool, whether a bit of () int32 `bit` is set in `marks`, (C,) uint8."""
    return marks & bit.astype(jnp.uint8) != 0


def own_federation(game: GameState, player: Array) -> Array:
    """(C,) bool, cells of the player's federations: structures, stations, satellites."""
    return has_bit(game.board.federation_bits, 17 << player)


def members(game: GameState, player: Array) -> Array:
    """(C,) bool, own structures and stations, in a federation or not (FED-14: guests too)."""
    board, number = game.board, player.astype(jnp.int8)
    stations = board.station & (player_row(game, player).stations > 0)
    return board.structures_of(number) | board.guests_of(number) | stations


def unfederated(game: GameState, player: Array) -> Array:
    """(C,) bool, own structures and stations outside any federation."""
    return members(game, player) & ~has_bit(game.board.federation_bits, 16 << player)


def power_values(seat: Seat) -> Array:
    """(C,) int8, power of the player's cells in a federation (FED-09, BES-01, MOW-01)."""
    ruleset, board, me = seat.ruleset, seat.game.board, seat.me
    value = leech.structure_power(ruleset, board, seat.player, leech.raised_power(ruleset, me))
    bonus = seat.faction.black_planet_bonus_pi
    value = leech.with_bonuses(board, value, me.built[PI], me.rings, bonus)
    station = jnp.where(me.stations > 0, costs.STATION_POWER, 0).astype(jnp.int8)
    return value + jnp.where(board.station, station, jnp.int8(0))


def payable_satellites(faction: FactionRow, me: Players) -> Array:
    """() int32, satellites that the player can pay and still has (FED-06, FED-15, FED-17)."""
    paid = jnp.where(faction.satellite_qic > 0, me.qic, power.total_tokens(me))
    return jnp.minimum(paid, costs.SATELLITES - me.satellites)


@jax.named_scope("position")
def position(seat: Seat) -> Position:
    """What the player may federate, where satellites may lie (FED-04, FED-05, FED-10, FED-15)."""
    game, player, me, faction = seat.game, seat.player, seat.me, seat.faction
    board = game.board
    own, value = unfederated(game, player), power_values(seat)
    federation = own_federation(game, player)
    grows = (faction.federation_grows > 0) & (me.formed > 0)
    station = board.station & (me.stations > 0)
    free = (board.planet == EMPTY) & ~has_bit(board.federation_bits, 1 << player) & ~station
    inside = members(game, player) & ~own
    needed = jnp.where(
        me.built[PI] > 0, faction.federation_requirement_pi, faction.federation_requirement
    )
    total = needed * (me.formed + 1) - jnp.where(inside, value, jnp.int8(0)).sum(dtype=jnp.int16)
    return Position(
        own=own,
        power=jnp.where(own, value, jnp.int8(0)),
        free=free,
        given=federation & grows,
        barred=federation & ~grows,
        required=jnp.where(grows, total, needed).astype(jnp.int8),
        tokens=payable_satellites(faction, me).astype(jnp.int8),
    )


def token_left(seat: Seat) -> Array:
    """() bool, a federation token is there for the player (FED-18, FED-20)."""
    turn = seat.game.turn
    ships = bit_vector(turn.ship_tokens & seat.me.shuttles, len(seat.ruleset.ships))
    return (turn.token_supply > 0).any() | (ships > 0).any()


def resolve(ruleset: Ruleset, game: GameState) -> GameState:
    """The game with the federation that the decider's picks have made, and what they may do next.

    At TURN: whether one can be formed. That is monotone in the satellites that can be paid, so what
    was found is kept in `Players.min_satellites_feasible` and `max_satellites_infeasible` until the
    player's pieces change. In the
    builder: which groups can be added; once the picks suffice, the federation is formed. One search
    answers all of it; `GameState.federation` hands the answer on to the mask.
    """
    seat = Seat.of_decider(ruleset, game)
    building = game.turn.node == Node.FEDERATION
    needs_answer, is_cached, inputs = _question(seat)
    answer = _survey(seat, needs_answer & ~is_cached | building, inputs)
    game, exists = _remember(seat, answer, needs_answer, is_cached, inputs.tokens.astype(jnp.int32))
    forms = building & answer.commits
    args = (game, answer.members, answer.satellites)
    players, turn, federation_bits = compact_vmap(
        partial(_form, ruleset),
        forms,
        args,
        (game.players, game.turn, game.board.federation_bits),
        cpu_chunk=8,
    )
    still = building & ~forms
    federation = FederationOptions(
        may_form=needs_answer & exists,
        addable=jnp.packbits(answer.add_cells & still, bitorder="little"),
        complete=answer.complete & still & ruleset.surplus_federations,
    )
    board = game.board.replace(federation_bits=federation_bits)
    return game.replace(players=players, turn=turn, board=board, federation=federation)


def _question(seat: Seat) -> tuple[Array, Array, Position]:
    """Whether the node asks if a federation exists, whether that is known, and the position."""
    game, me = seat.game, seat.me
    inputs = position(seat)
    tokens = inputs.tokens.astype(jnp.int32)
    strong = inputs.power.sum(dtype=jnp.int16) >= inputs.required
    needs_answer = (game.turn.node == Node.TURN) & strong & token_left(seat)
    return (
        needs_answer,
        (tokens >= me.min_satellites_feasible) | (tokens <= me.max_satellites_infeasible),
        inputs,
    )


def _survey(seat: Seat, needed: Array, inputs: Position) -> search.Answer:
    """The search: does a federation exist, or how can the builder continue?"""
    ruleset, turn = seat.ruleset, seat.game.turn
    # Where surplus is allowed the player decides when the picks are enough; growth that needs no
    # power is enough at once (A10).
    stop = None
    if ruleset.surplus_federations:
        stop = (turn.last_pick == COMMIT_PICKS) | (inputs.required <= 0)
    return search.survey(
        lattice(ruleset),
        needed,
        inputs,
        turn.node == Node.FEDERATION,
        turn.picked_groups.astype(jnp.int32),
        turn.last_pick.astype(jnp.int32),
        stop,
        surplus_allowed=ruleset.surplus_federations,
    )


def _remember(
    seat: Seat, answer: search.Answer, needs_answer: Array, is_cached: Array, tokens: Array
) -> tuple[GameState, Array]:
    """The game with what the search found, and () bool, whether a federation exists."""
    game, me, turn = seat.game, seat.me, seat.game.turn
    building, searched = turn.node == Node.FEDERATION, needs_answer & ~is_cached
    exists = jnp.where(is_cached, tokens >= me.min_satellites_feasible, answer.exists)
    yes, no = searched & answer.exists, searched & ~answer.exists
    me = me.replace(
        min_satellites_feasible=jnp.where(yes, tokens, me.min_satellites_feasible),
        max_satellites_infeasible=jnp.where(no, tokens, me.max_satellites_infeasible),
    )
    turn = turn.replace(
        picked_groups=jnp.where(building, answer.picks, turn.picked_groups),
        last_pick=jnp.where(building, -1, turn.last_pick),
    )
    return with_player_row(game, seat.player, me).replace(turn=turn), exists


def forget(players: Players, selected: Array) -> Players:
    """Nothing is known any more of the federations of the players `selected`, (P,) bool.

    What is known holds until a player's pieces or their power change, or a cell is taken.
    """
    return players.replace(
        min_satellites_feasible=jnp.where(
            selected, UNKNOWN_FEASIBLE, players.min_satellites_feasible
        ),
        max_satellites_infeasible=jnp.where(
            selected, UNKNOWN_INFEASIBLE, players.max_satellites_infeasible
        ),
    )


def addable(seat: Seat) -> Array:
    """(C,) bool, the lowest cell of each group that can be added to the picks (A10)."""
    cells = seat.ruleset.geometry.num_cells
    bits = jnp.unpackbits(seat.game.federation.addable, count=cells, bitorder="little")
    return bits != 0


def options(seat: Seat) -> dict[str, Array]:
    """`form_federation` and `commit`, as `resolve` found them."""
    federation = seat.game.federation
    return {"form_federation": federation.may_form[None], "commit": federation.complete[None]}


def _form(
    ruleset: Ruleset, game: GameState, joins: Array, satellites: Array
) -> tuple[Players, Turn, Array]:
    """Satellites are placed and paid, the federation is formed, a token is to be chosen (FED-06).

    Args:
        joins: (C,) bool, the structures and stations; satellites: (C,) bool.
    Returns:
        The players, the turn, `Board.federation_bits`.
    """
    player = game.turn.player.astype(jnp.int32)
    seat = Seat.of(ruleset, game, player)
    me, faction = seat.me, seat.faction
    laid = satellites.sum()
    federation_bits = game.board.federation_bits.astype(jnp.int32)
    federation_bits |= jnp.where(satellites, 1 << player, 0) | jnp.where(joins, 16 << player, 0)
    in_qic = faction.satellite_qic > 0
    me = power.discard(me, jnp.where(in_qic, 0, laid))
    me = me.replace(
        qic=me.qic - jnp.where(in_qic, laid, 0),
        satellites=me.satellites + laid,
        formed=me.formed + 1,
    )
    turn = game.turn.replace(building=False, picked_groups=0, token=True, node=Node.TOKEN)
    board = game.board.replace(
        federation_bits=federation_bits.astype(game.board.federation_bits.dtype)
    )
    game = with_player_row(game.replace(board=board, turn=turn), player, me)
    players = forget(game.players, jnp.arange(game.num_players) == player)
    return players, turn, _absorb(ruleset, game, player)


def absorb(ruleset: Ruleset, game: GameState, player: Array, changed: Array) -> GameState:
    """Own structures and stations that touch an own federation join it, and so on (FED-07).

    Args:
        changed: () bool, the player has placed something or formed a federation.
    """
    need = changed & (player_row(game, player).formed > 0)
    federation_bits = compact_vmap(
        partial(_absorb, ruleset), need, (game, player), game.board.federation_bits, cpu_chunk=32
    )
    return game.replace(board=game.board.replace(federation_bits=federation_bits))


def _absorb(ruleset: Ruleset, game: GameState, player: Array) -> Array:
    def join(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        inside, outside, _ = carry
        joins = outside & neighbours_of(ruleset, inside)
        return inside | joins, outside & ~joins, joins.any()

    outside = unfederated(game, player)
    start = own_federation(game, player), outside, jnp.ones((), bool)
    _, left, _ = lax.while_loop(lambda carry: carry[2], join, start)
    joined = jnp.where(outside & ~left, 16 << player, 0)
    return (game.board.federation_bits.astype(jnp.int32) | joined).astype(
        game.board.federation_bits.dtype
    )
