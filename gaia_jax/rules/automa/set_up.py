"""The Automa in the set-up: its board, its starting mines, its first booster (AUT-05 to AUT-07)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.rules.automa import boosters, cards, placing
from gaia_jax.rules.automa.choice import FAR, Order, TieBreaker, directional, first
from gaia_jax.rules.player import book, player_row, with_player_row
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AUTOMA, MINE, NO_BRAINSTONE, NONE, AutomaState, GameState, Node, Phase


def with_board(ruleset: Ruleset, game: GameState) -> GameState:
    """A new game with the Automa's row: VP of the level, one track, nothing else (AUT-05)."""
    me = player_row(game, jnp.int32(AUTOMA))
    start_track = cards.faction(ruleset, game).start_track
    me = me.replace(
        vp=0,
        vp_source=0,
        resources=0,
        power=0,
        brainstone=NO_BRAINSTONE,
        tracks=jnp.arange(me.tracks.shape[0]) == start_track,
        gaiaformers=0,
    )
    me = book(me, {"START": cards.level(ruleset, game).start_vp})
    assert game.setup.automa is not None
    if ruleset.automa_table.tile_ships.size:  # the shuttle is there (AUT-42)
        me = me.replace(shuttles=1 << game.setup.automa.explored_ship[0].astype(jnp.int32))
    row = game.setup.boosters.astype(jnp.int8)
    automa = AutomaState(turns=jnp.zeros((), jnp.int8), booster_row=row)
    return with_player_row(game, jnp.int32(AUTOMA), me).replace(automa=automa)


def is_next(game: GameState) -> Array:
    """() bool, the next decision of the set-up is the Automa's."""
    return (game.turn.phase == Phase.SETUP) & (game.turn.active == AUTOMA)


def take_steps(ruleset: Ruleset, game: GameState) -> GameState:
    """The game after the Automa's mines and its booster, up to the human's next decision."""

    def step(game: GameState) -> GameState:
        turn = game.turn
        length, done = (turn.sequence >= 0).sum(), turn.setup_done.astype(jnp.int32) + 1
        takes_booster = done > length - game.num_players
        game = place_mine(ruleset, game, ~takes_booster)
        game = _take_booster(ruleset, game, takes_booster)
        # The human takes a booster last, so that one more decision follows.
        active = turn.sequence[done]
        node = jnp.where(done >= length - game.num_players, Node.BOOSTER, Node.START)
        turn = turn.replace(setup_done=done, active=active, player=active, node=node)
        return game.replace(turn=turn)

    return lax.while_loop(is_next, step, game)


def mine_order(ruleset: Ruleset, game: GameState) -> Order:
    """The empty home planets, the closest to the centre first; a card decides ties (AUT-06)."""
    assert game.setup.automa is not None
    me, table, board = player_row(game, jnp.int32(AUTOMA)), ruleset.automa_table, game.board
    faction = game.setup.faction[AUTOMA].astype(jnp.int32)
    home = jnp.asarray(ruleset.tables.faction.home)[faction]
    card = cards.card(ruleset, game.setup.automa.start_cards[me.built[MINE]])
    distance = jnp.asarray(ruleset.geometry.distance)[table.center].astype(jnp.int32)
    rank = directional(ruleset, card.reverse)
    closest = TieBreaker(distance, FAR + 1, "center")
    direction = TieBreaker(rank, len(rank), "direction")
    return Order((board.planet == home) & (board.piece == NONE), (closest, direction))


def place_mine(ruleset: Ruleset, game: GameState, happens: Array) -> GameState:
    """The next starting mine, where `happens` () bool and a place is left (AUT-06)."""
    me, order = player_row(game, jnp.int32(AUTOMA)), mine_order(ruleset, game)
    cell, possible = first(order._replace(options=order.options & happens))
    choice = placing.Choice(cell, jnp.int32(MINE), possible)
    game, me = placing.place_structure(ruleset, game, me, choice, jnp.ones((), bool))
    return with_player_row(game, jnp.int32(AUTOMA), me)


def _take_booster(ruleset: Ruleset, game: GameState, happens: Array) -> GameState:
    """The booster whose place in the row the card shows (AUT-07)."""
    assert game.setup.automa is not None and game.automa is not None
    automa, row = game.automa, game.automa.booster_row
    me = player_row(game, jnp.int32(AUTOMA))
    place = cards.card(ruleset, game.setup.automa.booster_card).setup_booster - 1
    booster = row[place].astype(jnp.int32)
    none = jnp.int32(-1)
    row = boosters.exchange(row, booster, none, happens)
    me = me.replace(booster=jnp.where(happens, booster, me.booster))
    game = with_player_row(game, jnp.int32(AUTOMA), me)
    return game.replace(automa=automa.replace(booster_row=row))
