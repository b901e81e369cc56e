"""Whose decision is next: pending sub-decisions, leech, the end of a turn (GEN-15, ROU).

`next_decision` is one straight line without a loop over decisions (A1). It runs after the effects
of a decision are in the state, and leaves `turn.node` and `turn.player` set for the next one.
"""

from __future__ import annotations

import operator
from functools import partial, reduce

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import free, leech, mine, research, tech
from gaia_jax.rules.automa import play
from gaia_jax.rules.between_turns import between_turns
from gaia_jax.rules.decode import Decision, is_verb
from gaia_jax.rules.operation import operation
from gaia_jax.rules.player import book, faction_row, with_player_row
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import HUMAN, GameState, Node, Phase, Players, Turn
from gaia_jax.xla.compact_vmap import compact_vmap
from gaia_jax.xla.fusion_barrier import fusion_barrier


def next_decision(
    ruleset: Ruleset,
    game: GameState,
    turn_over: Array,
    decision: Decision,
    short_turns: bool = False,
) -> GameState:
    """The next open node.

    Args:
        game: after the effects of a decision, with `turn` still at its node.
        turn_over: () bool, the decision ended the turn (a pass or END_TURN).
        decision: what was decided.
        short_turns: static; a turn ends with its main action (ROU-03), whatever is still legal.
    """
    no_player, round_before = jnp.full((), -1, jnp.int32), game.turn.round
    answers = game.turn.node == Node.LEECH
    no = jnp.zeros((), bool)
    # Read once for both stages: who is active changes at the end of the second.
    faction_columns = faction_row(ruleset, game, game.turn.active.astype(jnp.int32)).row
    turn, pending = fusion_barrier(
        partial(_sub_decision, ruleset),
        _waits(game.turn),
        (game, faction_columns),
        (game.turn, no_player),
    )
    game, resolved = game.replace(turn=turn), pending < 0
    players, queue, waits, leech_decider = fusion_barrier(
        partial(leech.resolve_offers, ruleset),
        (game.turn.leech > 0).any(),
        (game, resolved, answers, decision.argument),
        (game.players, game.turn.leech, no, jnp.zeros((), jnp.int32)),
    )
    game = game.replace(players=players, turn=game.turn.replace(leech=queue))
    done = resolved & ~waits
    players, turn, round_over = fusion_barrier(
        partial(_end_of_turn, ruleset, short_turns=short_turns),
        game.turn.phase >= Phase.GAIA,
        (game, faction_columns, resolved, done, turn_over),
        (game.players, game.turn, no),
    )
    game = game.replace(players=players, turn=turn)
    if ruleset.automa:
        game, stop = play.play(ruleset, game, done & ~round_over & play.moves(game))
        done, round_over = done & ~stop.offer_waits, round_over | stop.round_over
        waits |= stop.offer_waits
        leech_decider = jnp.where(stop.offer_waits, HUMAN, leech_decider)
    between = done & (round_over | (game.turn.phase != Phase.ACTIONS))
    game = _time_between_turns(ruleset, game, between, round_over, decision)
    turn = game.turn
    # `between_turns` has found the node.
    node = jnp.where(turn.main_action_done, Node.AFTER, Node.TURN)
    node = jnp.where(between, turn.node, node)
    node = jnp.where(done, node, jnp.where(resolved, Node.LEECH, pending))
    player = jnp.where(between, turn.player, jnp.where(waits, leech_decider, turn.active))
    game = game.replace(turn=turn.replace(node=node, player=player))
    return play.after_round(ruleset, game, round_before) if ruleset.automa else game


def _time_between_turns(
    ruleset: Ruleset, game: GameState, between: Array, round_over: Array, decision: Decision
) -> GameState:
    """The game after the time between turns, where `between`; the others are as they were."""
    stops = is_verb(ruleset, decision, "skip")
    atom = jnp.where(game.turn.node == Node.INCOME, decision.argument, -1)
    board = game.board
    players, turn, planet, flags = compact_vmap(
        partial(between_turns, ruleset),
        between,
        (game, round_over, stops, atom),
        (game.players, game.turn, board.planet, board.flags),
        cpu_chunk=64,
    )
    board = board.replace(planet=planet, flags=flags)
    return game.replace(players=players, turn=turn, board=board)


def _waits(turn: Turn) -> Array:
    """() bool, some sub-decision is pending."""
    flags = turn.building | turn.token | turn.retrigger | turn.tile | turn.lost_planet
    marks = (
        (turn.pending_op >= 0)
        | (turn.pending_upgrade_cell >= 0)
        | (turn.cover >= 0)
        | (turn.free_mine >= 0)
    )
    return flags | marks | (turn.pending_step > 0)


def _sub_decision(ruleset: Ruleset, game: GameState, faction_columns: Array) -> tuple[Turn, Array]:
    """The first pending sub-decision that has an option; those without are dropped (A12).

    Args:
        faction_columns: (K,) int16, what the board of `turn.active` prints.
    Returns:
        The turn, and () int32 the node, -1 where nothing is pending.
    """
    turn = game.turn
    player = turn.active.astype(jnp.int32)
    seat = Seat.of_columns(ruleset, game, player, faction_columns)
    tiles, slots = tech.tile_options(seat)
    below, enter = research.advance_options(seat)
    op = operation(ruleset, jnp.maximum(turn.free_mine.astype(jnp.int32), 0))
    sites = mine.site(ruleset, game, player)
    mine_there = mine.affordable(seat, sites, op).any()
    lost_there = mine.lost_planet_cells(seat).any()

    tile = turn.tile & (tiles.any() | slots.any())
    first = [
        (turn.pending_op >= 0, Node.TARGET),
        (turn.pending_upgrade_cell >= 0, Node.PIECE),
        (turn.building, Node.FEDERATION),
        (turn.token, Node.TOKEN),
        (turn.retrigger, Node.RETRIGGER),
        (tile, Node.TILE),
        (turn.cover >= 0, Node.COVER),
    ]
    # While a tile is still to be taken, the rest waits untested.
    early = reduce(operator.or_, [pending for pending, _ in first])
    free_mine = (turn.free_mine >= 0) & (early | mine_there)
    early |= free_mine
    step = (turn.pending_step > 0) & (
        early | research.step_options(ruleset, below, enter, turn.pending_step).any()
    )
    early |= step
    lost_planet = turn.lost_planet & (early | lost_there)
    later = [
        (free_mine, Node.FREE_MINE),
        (step, Node.STEP),
        (lost_planet, Node.LOST_PLANET),
    ]
    node = jnp.full((), -1, jnp.int32)
    for pending, sub_node in reversed(first + later):
        node = jnp.where(pending, sub_node, node)
    turn = turn.replace(
        tile=tile,
        free_mine=jnp.where(free_mine, turn.free_mine, -1),
        pending_step=jnp.where(step, turn.pending_step, 0),
        lost_planet=lost_planet,
    )
    return turn, node


def _end_of_turn(
    ruleset: Ruleset,
    game: GameState,
    faction_columns: Array,
    resolved: Array,
    done: Array,
    turn_over: Array,
    short_turns: bool = False,
) -> tuple[Players, Turn, Array]:
    """The turn is over after the main action where no free action is legal (ROU-03, A1).

    SA-QIC-4VP is paid after everything that the QIC action caused (GEN-15 step 5, ADV-01). The next
    in turn order who has not passed is active; the round is over when all have passed (ROU-06).

    Args:
        faction_columns: (K,) int16, what the board of `turn.active` prints.
        short_turns: static; as if no free action were legal after a main action.
    Returns:
        The players, the turn, and () bool, the round is over.
    """
    turn = game.turn
    player = turn.active.astype(jnp.int32)
    seat = Seat.of_columns(ruleset, game, player, faction_columns)
    event = ruleset.ids["event"].index("qic_action")
    bonus = int(ruleset.tables.advanced_events[:, event].max())
    me = book(seat.me, {"ADVANCED_TILE": jnp.where(resolved & turn.qic_action, bonus, 0)})
    goes_on = jnp.zeros((), bool)
    if not short_turns:
        goes_on = free.keeps_turn_open(ruleset, free.conversions(seat.with_row(me)))
    acts = done & (turn.phase == Phase.ACTIONS)
    over = acts & (turn_over | turn.main_action_done & ~goes_on)
    after = (leech.distance_in_order(game) - 1) % game.num_players
    waiting = turn.passed == 0
    nearest = jnp.argmin(jnp.where(waiting, after, game.num_players))
    turn = turn.replace(
        qic_action=turn.qic_action & ~resolved,
        main_action_done=turn.main_action_done & ~over,
        free_actions=jnp.where(over, 0, turn.free_actions),
        brainstone_reversed=turn.brainstone_reversed & ~over,
        active=jnp.where(over & waiting.any(), nearest, turn.active),
    )
    return with_player_row(game, player, me).players, turn, over & ~waiting.any()
