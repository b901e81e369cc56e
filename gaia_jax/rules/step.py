"""One decision, one pass: decode, pay, place, gain, trigger, open what follows (GEN-15).

Actions are rows of the operation table. Every mechanism occurs once in the pass; columns that are 0
do nothing.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import partial, reduce

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import federation, gaia, leech
from gaia_jax.rules.automa import boosters
from gaia_jax.rules.decode import is_verb
from gaia_jax.rules.execute import ActionResult, execute
from gaia_jax.rules.gain import Step, gain_all
from gaia_jax.rules.operation import operation
from gaia_jax.rules.player import has, player_row, with_player_row
from gaia_jax.rules.seat import Seat
from gaia_jax.rules.turn import next_decision
from gaia_jax.ruleset import FactionRow, Ruleset
from gaia_jax.ruleset.operations import POWER_SLOT, SHIP_SLOT, SPECIAL_SLOT, TOKEN, OperationRow
from gaia_jax.state import (
    PI,
    GameState,
    Node,
    Phase,
    Players,
    Turn,
)
from gaia_jax.xla.fusion_barrier import blank, fusion_barrier
from gaia_jax.xla.packed import pick
from gaia_jax.xla.struct import pytree


def step(
    ruleset: Ruleset,
    game: GameState,
    action: Array,
    active: Array | bool = True,
    short_turns: bool = False,
) -> GameState:
    """The game after a legal action of `game.turn.player`, ready for the next decision.

    Args:
        ruleset: the ruleset, static.
        game: a game.
        action: () int32, legal in `game`; what an illegal one does is not defined here (RL-02).
        active: () bool; where False the action is not taken, and the game comes out as it was.
        short_turns: static; a turn ends with its main action.
    """
    # No player decides at ENDED: `skip` does nothing there, and `next_decision` finds the node.
    nothing = ruleset.actions.first["skip"]
    action = jnp.where(active, action, nothing)
    node = jnp.where(active, game.turn.node, Node.ENDED)
    game = game.replace(turn=game.turn.replace(node=node))
    is_live = node != Node.ENDED
    carry_out = partial(execute, ruleset)
    unchanged = replace(blank(carry_out, (game, action)), board=game.board)
    acted = fusion_barrier(carry_out, is_live, (game, action), unchanged)
    gained = fusion_barrier(partial(_gain, ruleset), is_live, (game, acted))
    players, turn = fusion_barrier(
        partial(_update_turn, ruleset), is_live, (game, acted, gained), (game.players, game.turn)
    )
    before, game = game.players, game.replace(board=acted.board, players=players, turn=turn)
    if ruleset.automa:
        game = boosters.after_human(game, before)
    player, placed = game.turn.player.astype(jnp.int32), acted.placement
    game = federation.absorb(ruleset, game, player, placed.is_new | placed.station | placed.swap)
    passed = pick(game.turn.passed, game.turn.active.astype(jnp.int32)) > 0
    turn_over = passed | is_verb(ruleset, acted.decision, "end_turn")
    game = next_decision(ruleset, game, turn_over, acted.decision, short_turns)
    return federation.resolve(ruleset, game)


@pytree
class GainResult:
    """What the decision brought."""

    me: Players
    turn: Turn
    op: Array  # () int32, the operation that gave it: the decision's or a token's
    step: Step


def _gain(ruleset: Ruleset, game: GameState, acted: ActionResult) -> GainResult:
    """Gains and triggers."""
    player, node = game.turn.player.astype(jnp.int32), game.turn.node
    decision = acted.decision
    op = operation(ruleset, acted.op)
    is_token = (node == Node.TOKEN) | (node == Node.RETRIGGER) | (op.target == TOKEN)
    token_op = jnp.asarray(ruleset.tables.token_op).astype(jnp.int32)[
        jnp.maximum(decision.token, 0)
    ]
    index = jnp.where((decision.token >= 0) & is_token, token_op, acted.op)
    seat = Seat.of_columns(ruleset, game, player, acted.faction_columns)
    me, turn, step_ = gain_all(seat, acted, op, operation(ruleset, index))
    return GainResult(me.pack(), turn.pack(), index, step_)


def _update_turn(
    ruleset: Ruleset, game: GameState, acted: ActionResult, gained: GainResult
) -> tuple[Players, Turn]:
    """The choices of this node are written down, and others open."""
    player = game.turn.player.astype(jnp.int32)
    faction = FactionRow(ruleset, acted.faction_columns)
    placed = acted.placement
    institute = (placed.structure == PI) & placed.replaces
    opens_tile = institute & (faction.pi_tech_tile > 0)
    turn = _open(ruleset, game, acted, gained, opens_tile)
    op = operation(ruleset, acted.op)
    me, turn = _record_choice(ruleset, game, gained.me.edit(), turn, player, acted, op)
    players = with_player_row(game, player, me).players
    changes = (placed.structure > 0) | placed.station | placed.ring
    changes |= is_verb(ruleset, acted.decision, "tile")
    # The Lost Planet takes a cell from everyone's satellites.
    updates_player = changes & (jnp.arange(game.num_players) == player) | placed.lost
    return federation.forget(players, updates_player), turn.pack()


def _open(
    ruleset: Ruleset, game: GameState, acted: ActionResult, gained: GainResult, opens_tile: Array
) -> Turn:
    """Sub-decisions that the decision closes and opens, its once-a-round mark, its leech event."""
    node, decision, op = game.turn.node, acted.decision, operation(ruleset, acted.op)
    before = player_row(game, game.turn.player.astype(jnp.int32))
    gained_op, turn, placement = operation(ruleset, gained.op), gained.turn.edit(), acted.placement

    def at_node(*nodes: int) -> Array:
        return reduce(operator.or_, [node == x for x in nodes])

    took_tile = at_node(Node.TILE) & (
        is_verb(ruleset, decision, "tile") | is_verb(ruleset, decision, "advanced")
    )
    # SA-QIC-4VP counts if it was owned before paying (ADV-01).
    owned = jnp.zeros((), bool)
    if "SA-QIC-4VP" in ruleset.ids["advanced"]:
        owned = has(before.advanced, ruleset.ids["advanced"].index("SA-QIC-4VP"))
    cover = jnp.where(at_node(Node.COVER), -1, turn.cover)
    free_mine = jnp.where(at_node(Node.FREE_MINE), -1, turn.free_mine)
    pending_step = jnp.where(at_node(Node.STEP), 0, turn.pending_step)
    retriggers = (op.retrigger > 0) & (before.tokens.sum() > 0)
    event = (placement.structure > 0) & ~placement.swap & ~at_node(Node.START)
    free = at_node(Node.TURN, Node.AFTER) & is_verb(ruleset, decision, "free")
    forms = is_verb(ruleset, decision, "form_federation")
    picked = jnp.where(is_verb(ruleset, decision, "commit"), federation.COMMIT_PICKS, decision.cell)
    # A chosen mode waits for its target, an upgrade for its piece; any other choice ends both.
    decides = node != Node.ENDED
    return turn.replace(
        pending_op=jnp.where(
            decision.needs_target, decision.op, jnp.where(decides, -1, turn.pending_op)
        ),
        pending_upgrade_cell=jnp.where(
            decision.needs_piece, decision.cell, jnp.where(decides, -1, turn.pending_upgrade_cell)
        ),
        main_action_done=turn.main_action_done
        | forms
        | (op.main > 0) & (turn.phase == Phase.ACTIONS),
        building=turn.building | forms,
        last_pick=jnp.where(at_node(Node.FEDERATION), picked, turn.last_pick),
        tile=turn.tile & ~took_tile | (op.tile > 0) | (gained_op.tile > 0) | opens_tile,
        token=turn.token & ~at_node(Node.TOKEN),
        retrigger=turn.retrigger & ~at_node(Node.RETRIGGER) | retriggers,
        cover=jnp.where(is_verb(ruleset, decision, "advanced"), decision.argument, cover),
        free_mine=jnp.where(gained_op.free_mine > 0, gained_op.free_mine, free_mine),
        pending_step=jnp.where(gained.step.pending > 0, gained.step.pending, pending_step),
        lost_planet=turn.lost_planet & ~at_node(Node.LOST_PLANET),
        qic_action=turn.qic_action | (op.qic_action > 0) & owned,
        power_used=turn.power_used | jnp.where(op.slot_kind == POWER_SLOT, 1 << op.slot, 0),
        ship_used=turn.ship_used | jnp.where(op.slot_kind == SHIP_SLOT, 1 << op.slot, 0),
        leech=leech.add_event(turn.leech, acted.offered, event),
        free_actions=turn.free_actions + free,
        brainstone_reversed=turn.brainstone_reversed | (op.reverses_brainstone > 0),
    )


def _record_choice(
    ruleset: Ruleset,
    game: GameState,
    me: Players,
    turn: Turn,
    player: Array,
    acted: ActionResult,
    op: OperationRow,
) -> tuple[Players, Turn]:
    """Boosters, passing, tinkering tiles, used special actions; Terrans' points, Itars' turn."""
    node, decision = game.turn.node, acted.decision
    booster = is_verb(ruleset, decision, "booster")
    passes = is_verb(ruleset, decision, "pass") | booster & (node == Node.TURN)
    tinkers = node == Node.TINKERING
    setting_up = (node == Node.START) | (node == Node.BOOSTER)
    mark = jnp.where(op.slot_kind == SPECIAL_SLOT, 1 << op.slot, 0)
    me = me.replace(
        booster=jnp.where(booster, decision.argument, me.booster),
        used=me.used | mark,
        tinkering=jnp.where(tinkers, decision.argument, me.tinkering),
        tinkered=me.tinkered | jnp.where(tinkers, 1 << decision.argument, 0),
    )
    spent = jnp.zeros((), jnp.int32)
    for name, points in gaia.CONVERSION_PRICE.items():
        named = decision.argument == ruleset.ids["free_action"].index(name)
        spent = jnp.where(named & is_verb(ruleset, decision, "free"), points, spent)
    place_ = (turn.passed > 0).sum() + 1
    turn = turn.replace(
        setup_done=turn.setup_done + setting_up,
        terrans_points=turn.terrans_points - jnp.where(node == Node.TERRANS, spent, 0),
        active=jnp.where(node == Node.ITARS, player, turn.active),
        passed=jnp.where((jnp.arange(len(turn.passed)) == player) & passes, place_, turn.passed),
    )
    return me, turn
