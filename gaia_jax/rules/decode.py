"""Decode an action at the open node: its operation and its target."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import fleet, upgrade
from gaia_jax.rules.once_per_round import special_operations
from gaia_jax.rules.operation import operation
from gaia_jax.rules.player import power_worth
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Node
from gaia_jax.xla.struct import pytree


@pytree
class Decision:
    """An action at a node, decoded. Flags are () bool."""

    verb: Array  # () int32
    argument: Array  # () int32
    cell: Array  # () int32, the cell it names or was chosen before; 0 where there is none
    op: Array  # () int32, operation that is carried out or, with `needs_target`, chosen
    token: Array  # () int32, kind of federation token named, -1 none
    needs_target: Array  # a mode is chosen; its target comes next
    needs_piece: Array  # an upgrade with several pieces; the piece comes next


def is_verb(ruleset: Ruleset, decision: Decision, verb: str) -> Array:
    """() bool, the action has that verb."""
    return decision.verb == ruleset.tables.verbs[verb]


def decode(seat: Seat, action: Array) -> Decision:
    """What the action means at the open node."""
    ruleset, game, faction = seat.ruleset, seat.game, seat.faction
    t, turn, node = ruleset.tables, game.turn, game.turn.node
    verb, argument, cell, op = jnp.moveaxis(jnp.asarray(t.index)[action].astype(jnp.int32), -1, 0)
    cell = jnp.where(node == Node.PIECE, turn.pending_upgrade_cell, cell)

    def is_(name: str) -> Array:
        same: Array = verb == t.verbs[name]
        return same

    # Free actions: Nevlas with PI pay whole tokens, Terrans in the Gaia phase pay points.
    other = jnp.where(node == Node.TERRANS, t.conversions, t.bundles)
    other = other.astype(jnp.int32)[jnp.minimum(argument, len(t.bundles) - 1)]
    replaced = (node == Node.TERRANS) | (power_worth(faction, seat.me) > 1) & (other > 0)
    op = jnp.where(is_("free") & replaced, other, op)
    op = jnp.where(is_("explore"), faction.explore_op, op)
    if ruleset.artifacts:
        kind = fleet.artifact_kind(seat, argument)
        op = jnp.where(is_("artifact"), jnp.asarray(t.artifact_op).astype(jnp.int32)[kind], op)
    # Academy B and the faction's own action depend on the game.
    specials = enumerate(special_operations(seat))
    special = sum(jnp.where(argument == i, its_op, 0) for i, its_op in specials)
    op = jnp.where(is_("special"), special, op)
    pieces = upgrade.pieces_for(seat, cell)
    single = jnp.asarray(t.upgrade_op).astype(jnp.int32)[jnp.argmax(pieces)]
    op = jnp.where(is_("upgrade"), single, op)
    is_discounted = upgrade.discounted(seat, cell)
    op = jnp.where((op == t.op["upgrade TS"]) & is_discounted, t.op["upgrade TS near"], op)
    op = jnp.where(node == Node.TARGET, turn.pending_op, op)
    op = jnp.where((node == Node.FREE_MINE) & is_("pick"), turn.free_mine, op)
    names_only = (node == Node.STEP) | (node == Node.BOOSTER) | (node == Node.TINKERING)
    op = jnp.where(names_only, 0, op)
    # An advanced tile works with the choice of the tile that it covers.
    high = game.setup.advanced.astype(jnp.int32)[jnp.maximum(turn.cover, 0)]
    high_op = jnp.asarray(t.advanced_op).astype(jnp.int32)[high]
    op = jnp.where(is_("tile") & (node == Node.COVER), high_op, op)
    base = len(ruleset.base_tokens) + 1
    token = argument
    if ruleset.ships:
        ship = jnp.clip(argument - base, 0, len(ruleset.ships) - 1)
        token = jnp.where(argument < base, argument, base + game.setup.ship_token[ship])
    return Decision(
        verb=verb,
        argument=argument,
        cell=cell,
        op=op.astype(jnp.int32),
        token=jnp.where(is_("token"), token, -1),
        needs_target=(node == Node.TURN) & (operation(ruleset, op).target > 0),
        needs_piece=is_("upgrade") & (pieces.sum() > 1),
    )
