"""One turn of the Automa: its action or its pass, as a function of the game (AUT-12 to AUT-30)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import automa, costs
from gaia_jax.components.research import MAX_LEVEL
from gaia_jax.rules import leech
from gaia_jax.rules.automa import boosters, cards, placing
from gaia_jax.rules.automa.cards import TurnCards
from gaia_jax.rules.automa.choice import Order, distance_to_human, numbered
from gaia_jax.rules.player import book, player_row, with_player_row
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.automa_table import NO_RESEARCH, RANDOM_RESEARCH, CardNumbers, FactionNumbers
from gaia_jax.state import AUTOMA, HUMAN, RL, TS, GameState, Node, Players, Turn
from gaia_jax.xla.packed import pick
from gaia_jax.xla.struct import pytree


class CardOrders(NamedTuple):
    """What an action card asks for, with what its faction makes of it."""

    builds: Array  # () bool, a mine
    upgrades: Array  # () bool, an upgrade, for want of a mine too (AUT-22)
    upgrades_first: Array  # () bool, the upgrade comes before the mine
    downgrades: Array  # () bool
    reach: Array  # () int32, range of the mine
    prefers: Array  # () int32, index of PREFERENCES
    track: Array  # () int32, NO_RESEARCH, a track, or RANDOM_RESEARCH
    highest: Array  # () bool, of the tracks the highest
    spaces: Array  # () int32, action spaces to cover


def card_orders(action: CardNumbers, support: CardNumbers, faction: FactionNumbers) -> CardOrders:
    """What a turn's cards ask for."""

    def is_action(name: str) -> Array:
        return action.action == automa.ACTIONS.index(name)

    special = is_action(automa.FACTION)
    upgrades_first = is_action(automa.UPGRADE) | special & (faction.upgrades_first > 0)
    builds = is_action(automa.MINE) | special & (faction.mine_range > 0)
    highest = is_action(automa.RESEARCH_HIGHEST)
    random = highest | is_action(automa.RESEARCH_RANDOM)
    by_card = jnp.where(random, RANDOM_RESEARCH, NO_RESEARCH)
    covers = jnp.where(is_action(automa.POWER), faction.card_power_actions, 0)
    return CardOrders(
        builds=builds,
        upgrades=builds | upgrades_first,
        upgrades_first=upgrades_first,
        downgrades=special & (faction.downgrades > 0),
        reach=jnp.where(special, faction.mine_range, support.range),
        prefers=jnp.where(special, faction.mine_prefers, 0),
        track=jnp.where(special, faction.research, by_card),
        highest=highest,
        spaces=jnp.where(special, faction.power_actions, covers),
    )


def research_options(game: GameState, me: Players, orders: CardOrders) -> tuple[Array, Array]:
    """Of each track: it may be chosen, and its advanced tile would be removed (AUT-24).

    Args:
        orders: of whose `track` NO_RESEARCH is none.
    Returns:
        Twice (6,) bool.
    """
    mine, number = me.tracks, jnp.arange(me.tracks.shape[0])
    left = game.turn.advanced_left.astype(jnp.int32)
    is_free = (game.players.tracks < MAX_LEVEL).all(0)
    takes_tile = (mine == MAX_LEVEL - 1) & (left >> number & 1 == 1)
    valid = (mine < MAX_LEVEL - 1) | (mine == MAX_LEVEL - 1) & is_free | takes_tile
    level = jnp.where(valid, mine, -1)
    options = valid & (~orders.highest | (level == level.max()))
    options &= (orders.track == RANDOM_RESEARCH) | (orders.track == number)
    return options, takes_tile


def research(
    game: GameState, me: Players, orders: CardOrders, support: CardNumbers
) -> tuple[Array, Array]:
    """The Automa's levels, (6,) int32, and `Turn.advanced_left` after its research (AUT-24)."""
    mine, number = me.tracks, jnp.arange(me.tracks.shape[0])
    options, takes_tile = research_options(game, me, orders)
    left = game.turn.advanced_left.astype(jnp.int32)
    chosen = numbered(options, support)
    left = left & ~jnp.where(chosen & takes_tile, 1 << number, 0).sum()
    return mine + (chosen & ~takes_tile), left


class Covered(NamedTuple):
    """The action spaces and ships after the Automa's choices of power and QIC, () int32 each."""

    power_used: Array  # `Turn.power_used`
    ship_used: Array  # `Turn.ship_used`
    shuttles: Array  # `Players.shuttles` of the Automa


def cover_spaces(
    ruleset: Ruleset, turn: Turn, shuttles: Array, count: Array, support: CardNumbers
) -> Covered:
    """Spaces covered and ships explored, one by one (AUT-25, AUT-27, AUT-42).

    Args:
        shuttles: () int, ships of the Automa, whose tiles show their actions.
        count: () int32, how many choices, at most two.
    """
    shift, table = len(ruleset.power_actions), ruleset.automa_table.spaces
    used = turn.power_used.astype(jnp.int32) | turn.ship_used.astype(jnp.int32) << shift
    ships = shuttles.astype(jnp.int32)
    for number in range(2):
        is_open = used & table.space == 0
        if ruleset.automa_table.tile_ships.size:
            # A tile shows its ship until the Automa is there, then the spaces.
            is_open &= ((ships & table.ship == 0) == table.explores) | (table.ship == 0)
        chosen = numbered(is_open, support) & (number < count)
        used = used | jnp.where(chosen, table.covered, 0).sum()
        ships = ships | jnp.where(chosen & table.explores, table.ship, 0).sum()
    return Covered(used & (1 << shift) - 1, used >> shift, ships)


def gain(ruleset: Ruleset, game: GameState, me: Players, source: str, *vp: Array) -> Players:
    """The Automa's row with VP; each of the gains may bring more by the level (AUT-11).

    Args:
        source: one of VP_SOURCES; vp: () int32, gains of their own; 0 is none.
    """
    extra = cards.level(ruleset, game).extra_vp
    total = sum((jnp.where(x > 0, x + extra, 0) for x in vp), jnp.int32(0))
    return book(me, {source: total})


class Plan(NamedTuple):
    """What the Automa chooses in a turn, before anything happens."""

    orders: CardOrders
    mines: Order
    upgrades: Order
    is_mine: Array  # () bool
    is_upgrade: Array  # () bool
    choice: placing.Choice


def plan(ruleset: Ruleset, game: GameState, me: Players, turn_cards: TurnCards) -> Plan:
    """The choices of a turn that is no pass (AUT-19 to AUT-26).

    Args:
        me: the Automa's row.
    """
    support, faction = turn_cards.support, cards.faction(ruleset, game)
    orders = card_orders(turn_cards.action, support, faction)
    distance = distance_to_human(ruleset, game.board)
    at = placing.selection(ruleset, support, distance)
    mines = placing.mine_order(ruleset, game, me, at, orders.reach, orders.prefers)
    upgrades, structure = placing.upgrade_order(ruleset, game, me, at, orders.downgrades)
    new_mine, upgrade = placing.best_mine(mines), placing.best_upgrade(upgrades, structure)
    is_mine = orders.builds & new_mine.possible & ~(orders.upgrades_first & upgrade.possible)
    is_upgrade = orders.upgrades & upgrade.possible & ~is_mine
    choice = placing.Choice(
        jnp.where(is_mine, new_mine.cell, upgrade.cell),
        jnp.where(is_mine, new_mine.structure, upgrade.structure),
        is_mine | is_upgrade,
    )
    researches = is_upgrade & (choice.structure == RL) & (faction.lab_research > 0)
    orders = orders._replace(track=jnp.where(researches, RANDOM_RESEARCH, orders.track))
    return Plan(orders, mines, upgrades, is_mine, is_upgrade, choice)


def act(ruleset: Ruleset, game: GameState, turn_cards: TurnCards) -> GameState:
    """The game after the action of the action card, with the power that it offers (AUT-14)."""
    me, support = player_row(game, jnp.int32(AUTOMA)), turn_cards.support
    faction = cards.faction(ruleset, game)
    orders, _, _, is_mine, is_upgrade, choice = plan(ruleset, game, me, turn_cards)
    opens_type = placing.is_new_type(me, pick(game.board.planet, choice.cell)) & is_mine
    alone = placing.lies_alone(game, choice.cell) & is_mine
    offered = jnp.where(
        choice.possible, leech.offers(ruleset, game, choice.cell, jnp.int32(AUTOMA))[HUMAN], 0
    )
    game, me = placing.place_structure(ruleset, game, me, choice, is_mine)
    tracks, advanced_left = research(game, me, orders, support)
    covered = cover_spaces(ruleset, game.turn, me.shuttles, orders.spaces, support)
    special = turn_cards.action.action == automa.ACTIONS.index(automa.FACTION)
    me = gain(
        ruleset,
        game,
        me.replace(tracks=tracks, satellites=me.satellites + alone, shuttles=covered.shuttles),
        "FACTION",
        jnp.where(special, faction.vp, turn_cards.action.vp),
        jnp.where(is_upgrade & (choice.structure == TS), faction.trading_station_vp, 0),
        jnp.where(opens_type, faction.new_type_vp, 0),
    )
    offers = (jnp.arange(game.num_players) == HUMAN) * offered
    turn = game.turn.edit()
    turn = turn.replace(
        advanced_left=advanced_left,
        power_used=covered.power_used,
        ship_used=covered.ship_used,
        main_action_done=True,
        leech=leech.add_event(turn.leech, offers, offered > 0),
    )
    return with_player_row(game, jnp.int32(AUTOMA), me).replace(turn=turn.pack())


def pass_round(ruleset: Ruleset, game: GameState, support: CardNumbers) -> GameState:
    """The game after the Automa's pass: VP of the round tile, another booster (AUT-28)."""
    assert game.automa is not None
    me, turn = player_row(game, jnp.int32(AUTOMA)), game.turn
    index = turn.round_index
    tile = game.setup.round_tiles[index].astype(jnp.int32)
    late = (index >= costs.ROUNDS // 2).astype(jnp.int32)
    vp = jnp.asarray(ruleset.automa_table.round_tile_vp).astype(jnp.int32)[tile, late]
    me = gain(ruleset, game, me, "ROUND_TILE", vp)
    automa_state, row = game.automa, game.automa.booster_row
    changes = turn.round < costs.ROUNDS
    booster = jnp.where(changes, row[support.booster].astype(jnp.int32), me.booster)
    row = boosters.exchange(row, booster, me.booster, changes)
    place = (turn.passed > 0).sum() + 1
    passed = jnp.where(jnp.arange(game.num_players) == AUTOMA, place, turn.passed)
    game = with_player_row(game, jnp.int32(AUTOMA), me.replace(booster=booster))
    return game.replace(
        automa=automa_state.replace(booster_row=row), turn=turn.replace(passed=passed)
    )


@pytree
class Stop:
    """Why the Automa does not play on; at most one of them."""

    offer_waits: Array  # () bool, the human decides on an offer of power
    round_over: Array  # () bool, all have passed
    human_moves: Array  # () bool

    def any_reason(self) -> Array:
        """() bool, the Automa has stopped."""
        return self.offer_waits | self.round_over | self.human_moves


def take_turn(ruleset: Ruleset, game: GameState) -> tuple[GameState, Stop]:
    """The game after one turn of the Automa, and who comes next (AUT-29, AUT-30)."""
    assert game.automa is not None
    turn_cards = cards.turn_cards(ruleset, game)
    acted = act(ruleset, game, turn_cards)
    rests = pass_round(ruleset, game, turn_cards.support)

    after = jax.tree.map(lambda a, b: jnp.where(turn_cards.passes, a, b), rests, acted)
    assert after.automa is not None
    turns = (game.automa.turns + 1).astype(jnp.int8)
    after = after.replace(automa=after.automa.replace(turns=turns))
    is_offer = leech.needs_answer(ruleset, after, jnp.int32(HUMAN))
    human_passed = after.turn.passed[HUMAN] > 0
    over = human_passed & turn_cards.passes
    moves = ~human_passed & ~is_offer
    turn = after.turn.edit()
    turn = turn.replace(
        # An offer that the human cannot take is void (LEE-03).
        leech=jnp.where(is_offer, turn.leech, 0),
        main_action_done=turn.main_action_done & is_offer,
        active=jnp.where(moves, HUMAN, AUTOMA),
        player=jnp.where(is_offer | moves, HUMAN, AUTOMA),
        node=jnp.where(is_offer, Node.LEECH, Node.TURN),
    )
    return after.replace(turn=turn.pack()), Stop(is_offer, over, moves)
