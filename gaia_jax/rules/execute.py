"""A decision carried out as far as paying and placing (GEN-15, steps 1 and 2)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import leech, mine, place
from gaia_jax.rules.decode import Decision, decode
from gaia_jax.rules.operation import operation
from gaia_jax.rules.pay import pay, placement_and_price
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Board, GameState, Players
from gaia_jax.xla.struct import pytree


@pytree
class ActionResult:
    """A decision carried out as far as paying and placing."""

    decision: Decision
    me: Players  # the decider's row after it
    board: Board
    placement: place.Placement
    site: mine.Site
    offered: Array  # (P,) int32, power that the others are offered
    op: Array  # () int32, the operation carried out, 0 where a target is still to come
    faction_columns: Array  # (K,) int16, what the decider's faction board prints, for `FactionRow`


def execute(ruleset: Ruleset, game: GameState, action: Array) -> ActionResult:
    """Decode, pay, place. `action`, () int32, is legal."""
    seat = Seat.of_decider(ruleset, game)
    player = seat.player
    decision = decode(seat, action)
    index = jnp.where(decision.needs_target | decision.needs_piece, 0, decision.op)
    op = operation(ruleset, index)
    site = mine.site(ruleset, game, player, decision.cell)
    placement, price = placement_and_price(seat, decision, op, site)
    paid = seat.with_row(pay(seat, decision, op, placement, price))
    return ActionResult(
        decision=decision,
        me=place.of_player(paid, placement).pack(),
        board=place.on_board(ruleset, game.board, player, placement),
        placement=placement,
        site=site,
        offered=leech.offers(ruleset, game, decision.cell, player),
        op=index,
        faction_columns=seat.faction.row,
    )
