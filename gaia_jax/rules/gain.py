"""What a decision brings: things taken, one step on a track, triggers (A14, GEN-15).

Gains come as a short ordered list. Resources commute up to their caps, so they are added at once;
power does not, so tokens and charges go one gain after the other.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.planets import PROTO_VP
from gaia_jax.components.research import CHARGE_AT_3, GAIA_5_PER, MAX_LEVEL
from gaia_jax.rules import fleet, mine, place, research, tech
from gaia_jax.rules.decode import Decision, is_verb
from gaia_jax.rules.execute import ActionResult
from gaia_jax.rules.operation import operation
from gaia_jax.rules.player import (
    GAIA,
    LOST,
    PROTO,
    book,
    counts,
    has,
    owned_types,
    receive,
    receive_power,
)
from gaia_jax.rules.scoring import event_vp, pass_vp
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import GAIN_FIELDS, Ruleset
from gaia_jax.ruleset.faction_table import CHARGE, KNOWLEDGE, TOKENS, VP
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.state import PI, RL, TS, Node, Players, Turn
from gaia_jax.xla.struct import pytree


@pytree
class Step:
    """A level gained on a track, or the step that the player still has to choose."""

    track: Array  # () int32
    happens: Array  # () bool
    pending: Array  # () int32, for `Turn.pending_step`


def gain_all(
    seat: Seat, acted: ActionResult, op: OperationRow, gained: OperationRow
) -> tuple[Players, Turn, Step]:
    """Everything that the decision brings to the decider.

    Args:
        seat: the decider before the decision; acted: what paying and placing left.
        op: the operation carried out; gained: the one that gives, a token's or the same.
    """
    ruleset, game, faction, before = seat.ruleset, seat.game, seat.faction, seat.me
    decision, placement, site = acted.decision, acted.placement, acted.site
    after_taking, turn, artifact = take_things(seat.with_row(acted.me.edit()), decision)
    step = research_step(after_taking, decision, op)
    me, turn, bonus = advance(ruleset, after_taking.me, turn, step)
    kind, obtains, pays = token_obtained(seat, acted, me, step)
    me = obtain_token(ruleset, me, kind, obtains)
    token = operation(ruleset, jnp.asarray(ruleset.tables.token_op)[kind]).gain_vector
    token = jnp.where(pays, token, 0)

    happened = build_events(seat, placement, site)
    happened |= {"research_step": step.happens, "federation_token": obtains}
    happened["mine"] |= artifact["mine"]
    happened["new_type"] |= artifact["new_type"]
    zero = jnp.zeros((), jnp.int32)
    happened["qic_action"] = zero  # scored when the action is resolved (`turn.py`, ADV-01)
    events = event_vector(ruleset, happened)

    # Of what is still to come only gaiaformers are counted, and no pass brings any (PAS-01).
    counted = counts(ruleset, me)
    main_gain = operation_gain(seat, counted, decision, gained)
    trigger = faction_gain(seat, happened, placement, site)
    me = receive(faction, me, main_gain + bonus + token + trigger)
    for gain in (main_gain, bonus, token):
        me = receive_power(me, gain)
    if ruleset.tables.faction.pi_guest_charge.any():
        me = receive_power(me, trigger)
    proto = placement.is_new & happened["mine"] & ~placement.guest & (site.planet == PROTO)
    by_source = event_vp(ruleset, game, before, events)
    passes = is_verb(ruleset, decision, "pass") | is_verb(ruleset, decision, "booster") & (
        op.main > 0
    )
    for source, vp in pass_vp(ruleset, me, counted).items():
        by_source[source] = by_source.get(source, zero) + jnp.where(passes, vp, 0)
    by_source |= {
        "RESEARCH": bonus[VP],
        "PROTO": jnp.where(proto & ~placement.lost, PROTO_VP, 0),
        "FACTION": faction.gaia_mine_vp * happened["gaia_mine"],
        "FEDERATION": token[VP],
    }
    return book(me, by_source, gained.source, main_gain[VP]), turn, step


def token_obtained(
    seat: Seat, acted: ActionResult, me: Players, step: Step
) -> tuple[Array, Array, Array]:
    """Federation tokens: chosen, on terraforming 5 (FED-23), the Gleens' own (GLE-04).

    Returns:
        () int32 its kind, () bool whether one comes, () bool whether it pays here: a chosen one
        pays as the operation of the decision.
    """
    ruleset, placement, token = seat.ruleset, acted.placement, acted.decision.token
    chosen = (token >= 0) & seat.at(Node.TOKEN)
    top = step.happens & (me.tracks[step.track] == MAX_LEVEL)
    on_track = top & (step.track == ruleset.ids["track"].index("terraforming"))
    institute = (placement.structure == PI) & placement.replaces
    own = institute & (seat.faction.pi_token > 0)
    kind = jnp.where(on_track, seat.game.setup.tf5_token, jnp.maximum(token, 0))
    kind = jnp.where(own, len(ruleset.base_tokens), kind)
    return kind, chosen | on_track | own, on_track | own


def operation_gain(seat: Seat, counted: Array, decision: Decision, op: OperationRow) -> Array:
    """(9,) int32, what the operation brings: fixed amounts, and so much for each counted thing.

    Args:
        counted: (15,) int32, `counts` of the decider.
    """
    ruleset, number = seat.ruleset, counted[op.per_count]
    per = {"vp": op.per.vp, "knowledge": op.per.knowledge, "ore": op.per.ore}
    # A shuttle charges by its slot on the ship (EXP-02).
    explores = is_verb(ruleset, decision, "explore") & (op.explore > 0)
    aboard = has(seat.game.players.shuttles.astype(jnp.int32), decision.argument).sum()
    charge = jnp.asarray(ruleset.tables.shuttle_charge).astype(jnp.int32)[jnp.minimum(aboard, 3)]
    # The Xenos' ore becomes a token in bowl III (XEN-01).
    third = is_verb(ruleset, decision, "free") & (op.cost.ore > 0)
    third &= seat.faction.ore_token_bowl == 3
    moved = jnp.where(third, op.gain_vector[TOKENS], 0)
    extra = {name: number * value for name, value in per.items()}
    extra |= {"charge": jnp.where(explores, charge, 0), "tokens": -moved, "tokens_iii": moved}
    gain, field = op.gain_vector, np.arange(len(GAIN_FIELDS))
    for name, value in extra.items():
        gain = gain + jnp.where(field == GAIN_FIELDS.index(name), value, 0)
    return gain


def take_things(seat: Seat, decision: Decision) -> tuple[Seat, Turn, dict[str, Array]]:
    """Tiles, tokens off the supply, artifacts and shuttles that the decision takes.

    Returns:
        The seat with its row, the turn, and the events of an artifact mine (ART-03).
    """
    ruleset, game, me, turn = seat.ruleset, seat.game, seat.me, seat.game.turn.edit()
    node = game.turn.node
    bit = 1 << decision.argument
    tile, explores = is_verb(ruleset, decision, "tile"), is_verb(ruleset, decision, "explore")
    covers = tile & (node == Node.COVER)
    cover = jnp.maximum(turn.cover, 0)
    high = game.setup.advanced.astype(jnp.int32)[cover]
    artifact = is_verb(ruleset, decision, "artifact")
    kind, planet = jnp.zeros((), jnp.int32), jnp.full((), -1, jnp.int32)
    if ruleset.artifacts:
        kind = fleet.artifact_kind(seat, decision.argument)
        planet = jnp.asarray(ruleset.tables.virtual_planet).astype(jnp.int32)[kind]
    virtual = artifact & (planet >= 0)
    new_type = virtual & ~owned_types(ruleset, me)[jnp.maximum(planet, 0)]
    me = me.replace(
        tiles=me.tiles | jnp.where(tile & ~covers, bit, 0),
        covered=me.covered | jnp.where(covers, bit, 0),
        advanced=me.advanced | jnp.where(covers, 1 << high, 0),
        green=me.green - covers,
        artifacts=me.artifacts | jnp.where(artifact, 1 << kind, 0),
        shuttles=me.shuttles | jnp.where(explores, bit, 0),
    )
    obtains = is_verb(ruleset, decision, "token") & (node == Node.TOKEN)
    base = len(ruleset.base_tokens)
    ship = jnp.maximum(decision.argument - base - 1, 0)
    from_ship = obtains & (decision.argument > base)
    turn = turn.replace(
        advanced_left=turn.advanced_left & ~jnp.where(covers, 1 << cover, 0),
        artifacts_left=turn.artifacts_left & ~jnp.where(artifact, bit, 0),
        token_supply=turn.token_supply - (obtains & (jnp.arange(base) == decision.argument)),
        ship_tokens=turn.ship_tokens & ~jnp.where(from_ship, 1 << ship, 0),
    )
    return seat.with_row(me), turn, {"mine": virtual, "new_type": new_type}


def obtain_token(ruleset: Ruleset, me: Players, kind: Array, happens: Array) -> Players:
    """A federation token comes to the player, green unless it is grey on both sides (TEC-07)."""
    green = jnp.asarray(ruleset.tables.green)[kind] & happens
    tokens = me.tokens + ((jnp.arange(me.tokens.shape[-1]) == kind) & happens)
    return me.replace(tokens=tokens, green=me.green + green)


def research_step(seat: Seat, decision: Decision, op: OperationRow) -> Step:
    """The step that the decision makes, and the one that it asks for.

    A tile of a track slot steps on its track by itself; entering level 5 there is asked for, since
    it costs a green token (TEC-09, TEC-10).
    """
    ruleset, game, node = seat.ruleset, seat.game, seat.game.turn.node
    named = is_verb(ruleset, decision, "advance") & ((op.research > 0) | (node == Node.STEP))
    tile, covers = is_verb(ruleset, decision, "tile"), node == Node.COVER
    slot = tech.slot_of(game, decision.argument)
    linked = tile & ~covers & (slot < len(ruleset.ids["track"]))
    below, enter = research.advance_options(seat)
    on_track = jnp.minimum(slot, len(ruleset.ids["track"]) - 1)
    optional = ruleset.free_step_is_optional
    offers_step = enter[on_track] | below[on_track] & optional
    pending = jnp.where(linked & offers_step, 2 + on_track, 0)
    return Step(
        track=jnp.where(named, decision.argument, on_track),
        happens=named | linked & below[on_track] & (not optional),
        pending=jnp.where(tile & ~linked | (op.step > 0), 1, pending),
    )


def advance(ruleset: Ruleset, me: Players, turn: Turn, step: Step) -> tuple[Players, Turn, Array]:
    """One level up: charge 3 on reaching level 3, then the level's bonus (RES-01 to RES-07).

    Returns:
        The row, the turn (Lost Planet pending, the token of terraforming 5 gone), and the gain.
    """
    names = ruleset.ids["track"]
    increment = (jnp.arange(len(names)) == step.track) & step.happens
    me = me.replace(tracks=me.tracks + increment)
    level = me.tracks[step.track]
    top = step.happens & (level == MAX_LEVEL)
    bonus = jnp.asarray(ruleset.tables.level_bonus).astype(jnp.int32)[step.track, level]
    charge = jnp.where(level == 3, CHARGE_AT_3, 0)
    gaia_top = (level == MAX_LEVEL) & (step.track == names.index("gaia"))
    vp = jnp.where(gaia_top, GAIA_5_PER.vp * me.colonized[GAIA], 0)
    field = jnp.arange(len(GAIN_FIELDS))
    bonus = bonus + jnp.where(field == VP, vp, 0) + jnp.where(field == CHARGE, charge, 0)
    turn = turn.replace(
        lost_planet=turn.lost_planet | top & (step.track == names.index("navigation")),
        track_token=turn.track_token & ~(top & (step.track == names.index("terraforming"))),
    )
    return me.replace(green=me.green - top), turn, jnp.where(step.happens, bonus, 0)


def build_events(seat: Seat, placement: place.Placement, site: mine.Site) -> dict[str, Array]:
    """Events of a mine or an upgrade, judged on the position before it (GEN-15)."""
    ruleset, me = seat.ruleset, seat.me
    mine_built = placement.is_new & (seat.game.turn.node != Node.START)
    own = mine_built & ~placement.guest
    planet = jnp.where(placement.lost, LOST, site.planet)
    sector, main_sector, _ = mine.new_sector(ruleset, me, placement.cell)
    replaces = placement.replaces
    return {
        "new_type": own & ~owned_types(ruleset, me)[planet],
        "terraform_step": jnp.where(own & ~placement.lost, site.steps, 0),
        "gaia_mine": own & (planet == GAIA),
        "mine": mine_built,
        "new_sector": mine_built & sector,
        "trading_station": (placement.structure == TS) & replaces,
        "pi_academy": (placement.structure >= PI) & replaces,
        "research_lab": (placement.structure == RL) & replaces,
        "new_main_sector": mine_built & main_sector,
        "guest_mine": mine_built & placement.guest,
    }


def event_vector(ruleset: Ruleset, happened: dict[str, Array]) -> Array:
    """(events,) int32, how often each of ids["event"] happened.

    Raises:
        KeyError: an event that nothing fires, or one that the ruleset does not know.
    """
    names = ruleset.ids["event"]
    mismatched = happened.keys() ^ set(names)
    if mismatched:
        raise KeyError(f"events without a source, or unknown: {', '.join(sorted(mismatched))}")
    return jnp.stack([jnp.asarray(happened[name], jnp.int32) for name in names])


def faction_gain(
    seat: Seat, happened: dict[str, Array], placement: place.Placement, site: mine.Site
) -> Array:
    """(9,) int32, what the faction board gives for a mine, with the PI (GEO-01, DAR-01, LAN-02).

    The Lantids' home mines and charge are printed on the tile for fewer than four (PLA-13).
    """
    faction, printed = seat.faction, seat.ruleset.tables.faction
    knowledge = faction.pi_new_type_knowledge * happened["new_type"]
    knowledge += faction.pi_guest_knowledge * happened["guest_mine"]
    if printed.pi_home_knowledge.any():
        at_home = placement.is_new & ~placement.guest & (site.planet == faction.home)
        knowledge += faction.pi_home_knowledge * at_home
    sector = faction.pi_new_main_sector * happened["new_main_sector"]
    sector += faction.pi_new_sector * happened["new_sector"]
    field = jnp.arange(len(GAIN_FIELDS))
    gain = sector + jnp.where(field == KNOWLEDGE, knowledge, 0)
    if printed.pi_guest_charge.any():
        charge = faction.pi_guest_charge * happened["guest_mine"]
        gain = gain + jnp.where(field == CHARGE, charge, 0)
    return jnp.where(seat.me.built[PI] > 0, gain, 0)
