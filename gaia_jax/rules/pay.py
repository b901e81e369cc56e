"""What a decision puts on the map and what it costs, paid all at once (MIN-02, EXP-01, GPJ-01)."""

from __future__ import annotations

import jax.numpy as jnp

from gaia_jax.components import costs
from gaia_jax.components.free_actions import ITARS_TOKENS_PER_TILE
from gaia_jax.rules import mine, place, power
from gaia_jax.rules.decode import Decision, is_verb
from gaia_jax.rules.operation import operation
from gaia_jax.rules.player import book, power_worth
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset.operations import INSTANT, OWN, SPACE, UNRINGED, OperationRow
from gaia_jax.state import GAIA_AREA, MINE, PI, Node, Players
from gaia_jax.xla.packed import pick


def placement_and_price(
    seat: Seat, decision: Decision, op: OperationRow, site: mine.Site
) -> tuple[place.Placement, mine.Price]:
    """What the decision places on the map, and its cost on top of the operation's own price."""
    ruleset, game, node = seat.ruleset, seat.game, seat.game.turn.node
    on_cell = (
        is_verb(ruleset, decision, "mine")
        | is_verb(ruleset, decision, "project")
        | is_verb(ruleset, decision, "pick")
    )
    # A transdim planet is a Gaia project's target, never a mine's (MIN-19).
    project = on_cell & (op.project > 0) & (site.planet == mine.TRANSDIM)
    start = (node == Node.START) & on_cell
    lost = (node == Node.LOST_PLANET) & on_cell
    builds = on_cell & (op.mine > 0) & ~project
    explore = is_verb(ruleset, decision, "explore")
    station = op.target == SPACE
    swap = (op.target == OWN) & (op.piece == 0)
    structure = jnp.where(builds | lost, MINE, op.piece)
    structure = jnp.where(start, seat.faction.start_piece, structure)
    structure = jnp.where(swap, PI, structure)
    placement = place.Placement(
        cell=decision.cell,
        structure=structure,
        is_new=builds | lost | start,
        guest=builds & site.guest,
        lost=lost,
        gaiaformer=project,
        instant=project & (op.project == INSTANT),
        station=station,
        ring=op.target == UNRINGED,
        swap=swap,
    )
    cost = mine.price(seat, site, op)
    distance = site.distance
    if ruleset.ships:
        last = len(ruleset.ships) - 1
        ship = game.setup.ship_cell.astype(jnp.int32)[jnp.minimum(decision.argument, last)]
        to_ship = pick(game.board.distance_to_own, seat.player).astype(jnp.int32)[ship]
        distance = jnp.where(explore, to_ship, distance)
    pays_range = project | lost | station | explore
    reach = mine.basic_range(ruleset, seat.me) + op.extra_range
    qic = jnp.where(pays_range, mine.range_qic(distance, reach), 0)
    return placement, mine.Price(
        ore=jnp.where(builds, cost.ore, 0),
        credits=jnp.where(builds, cost.credits, 0),
        qic=jnp.where(builds, cost.qic, qic),
        gaiaformer=jnp.where(builds, cost.gaiaformer, 0),
    )


def pay(
    seat: Seat,
    decision: Decision,
    op: OperationRow,
    placement: place.Placement,
    price: mine.Price,
) -> Players:
    """The whole price at once: the operation's, the site's, an exploration's (MIN-02, EXP-01).

    Returns:
        The decider's row after it.
    """
    ruleset, faction, me, turn = seat.ruleset, seat.faction, seat.me, seat.game.turn
    node = turn.node
    by_mode = (node == Node.TARGET) & is_verb(ruleset, decision, "explore")
    ship = operation(ruleset, jnp.where(by_mode, faction.explore_op, 0))
    bought = (node == Node.ITARS) & ~is_verb(ruleset, decision, "skip")
    of_site = jnp.stack([price.credits, price.ore, 0 * price.ore, price.qic])
    worth = power_worth(faction, me)
    reverse = turn.brainstone_reversed
    me, spends_brainstone = power.spend(me, op.cost.power, worth, reverse)
    # FRE-10: the brainstone, spent for one power, still gives three credits.
    small = (
        spends_brainstone
        & (op.cost.power < costs.BRAINSTONE_POWER)
        & is_verb(ruleset, decision, "free")
    )
    extra_credits = jnp.where(small, costs.BRAINSTONE_POWER - 1, 0) * (jnp.arange(4) == 0)
    resources = me.resources - op.cost_resources - of_site + extra_credits
    me = me.replace(
        resources=jnp.minimum(resources, jnp.array([costs.CAPS["credits"], 127, 127, 127])),
        gaiaformers=me.gaiaformers - price.gaiaformer - op.gaiaformer,
        gaiaformers_gaia=me.gaiaformers_gaia + op.gaiaformer,
        gaia_power=me.gaia_power + op.to_gaia - jnp.where(bought, ITARS_TOKENS_PER_TILE, 0),
        power=me.power - jnp.array([0, 0, 1]) * op.to_gaia,
    )
    me = book(me, {"EXPLORE": -op.cost.vp - ship.cost.vp})
    me = power.discard(me, op.cost.tokens + ship.cost.tokens)
    explores = (op.brainstone + ship.brainstone) > 0
    me = me.replace(brainstone=jnp.where(explores, GAIA_AREA, me.brainstone))
    tokens = jnp.where(placement.gaiaformer, mine.project_tokens(ruleset, me, op), 0)
    me = power.to_gaia_area(me, tokens, reverse)
    return power.burn(me, op.burn, faction.burn_to_gaia, reverse)
