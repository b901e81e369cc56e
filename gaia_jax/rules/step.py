"""One decision, one pass: decode, pay, place, gain, trigger, open what follows, settle (GEN-15).

Actions are rows of the operation table. Every mechanism stands here once; what a row leaves at 0
does nothing.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.free_actions import ITARS_TOKENS_PER_TILE
from gaia_jax.components.planets import PROTO_VP
from gaia_jax.components.research import CHARGE_AT_3, GAIA_5_PER, MAX_LEVEL
from gaia_jax.fence import stage
from gaia_jax.operations import (
    INSTANT,
    OWN,
    POWER_SLOT,
    SHIP_SLOT,
    SPACE,
    SPECIAL_SLOT,
    TOKEN,
    UNRINGED,
    OperationRow,
)
from gaia_jax.rules import (
    gaia,
    income,
    leech,
    mine,
    place,
    power,
    research,
    scoring,
    tech,
    upgrade,
)
from gaia_jax.rules.legal import current_offer, operation, special_operation
from gaia_jax.rules.player import (
    GAIA,
    PROTO,
    SOURCE,
    Columns,
    counts,
    faction_of,
    has,
    load,
    owned_types,
    power_worth,
    receive,
    receive_power,
    score,
    store,
)
from gaia_jax.rules.turn import settle
from gaia_jax.ruleset import GAIN_FIELDS, Ruleset
from gaia_jax.state import (
    AC_A,
    AC_B,
    MINE,
    NUM_PLAYERS,
    PI,
    TS,
    Board,
    GameState,
    Node,
    Players,
    PackedTurn,
    Turn,
)
from gaia_jax.struct import pytree

VP, TOKENS, TOKENS_III = (GAIN_FIELDS.index(x) for x in ("vp", "tokens", "tokens_iii"))


@pytree
class Decision:
    """An action at a node, decoded. Flags are () bool."""

    verb: Array  # () int32
    argument: Array  # () int32
    cell: Array  # () int32, the cell it names or was chosen before; 0 where there is none
    op: Array  # () int32, operation that is carried out or, with `aims`, chosen
    token: Array  # () int32, kind of federation token named
    aims: Array  # a mode is chosen; its target comes next
    asks_piece: Array  # an upgrade with several pieces; the piece comes next


def step(rules: Ruleset, game: GameState, action: Array) -> GameState:
    """The game after a legal action of `game.turn.player`.

    Args:
        rules: the ruleset, static.
        game: a game that is not over.
        action: () int32, legal in `game`; what an illegal one does is not defined here (RL-02).
    """
    going = game.turn.node != Node.ENDED
    acted = stage(partial(_act, rules), going, (game, action))
    gained = stage(partial(_gains, rules), going, (game, acted))
    game = stage(partial(_follow, rules), going, (game, acted, gained), game)
    choice = acted.what.verb != rules.tables.verbs["mine"]
    game = stage(partial(_other_choices, rules), going & choice, (game, acted), game)
    return settle(rules, game, turn_is_over(rules, game, acted.what))


@pytree
class Acted:
    """A decision carried out as far as paying and placing."""

    what: Decision
    before: Players  # the decider's row before the decision
    me: Players  # and after paying and placing
    board: Board
    placement: place.Placement
    site: mine.Site
    offered: Array  # (P,) int32, power that the others are offered
    op: Array  # () int32, the operation carried out, 0 where a target is still to come


@pytree
class Gained:
    """What the decision brought."""

    me: Players
    turn: Turn
    events: Array  # (events,) int32
    op: Array  # () int32, the operation that gave it: the decision's or a token's
    step: Array  # () int32, for `turn.step`


def _act(rules: Ruleset, game: GameState, action: Array) -> Acted:
    """Decode, pay, place."""
    player = game.turn.player.astype(jnp.int32)
    me, faction = load(game, player), faction_of(rules, game, player)
    what = decode(rules, game, me, faction, player, action)
    acts = ~(what.aims | what.asks_piece)
    index = jnp.where(acts, what.op, 0)
    op = operation(rules, index)
    site = mine.site(rules, game, player, what.cell)
    placement, price = _placement(rules, game, faction, me, player, what, op, site, acts)
    paid = pay(rules, game, faction, me, player, what, op, placement, price)
    return Acted(
        what=what,
        before=me,
        me=place.of_player(rules, game, paid, player, placement),
        board=place.on_board(rules, game.board, player, placement),
        placement=placement,
        site=site,
        offered=leech.offers(rules, game, what.cell, player),
        op=index,
    )


def _gains(rules: Ruleset, game: GameState, acted: Acted) -> Gained:
    """Take what is taken, gain, advance on a track (A14)."""
    player, node = game.turn.player.astype(jnp.int32), game.turn.node
    faction, what = faction_of(rules, game, player), acted.what
    op = operation(rules, acted.op)
    is_token = (node == Node.TOKEN) | (node == Node.RETRIGGER) | (op.target == TOKEN)
    token_op = jnp.asarray(rules.tables.token_op).astype(jnp.int32)[jnp.maximum(what.token, 0)]
    index = jnp.where((what.token >= 0) & is_token, token_op, acted.op)
    gained = operation(rules, index)
    me, turn, events = take_things(rules, game, faction, acted.me, what)
    track, advances, asked = _research_step(rules, game, faction, me, what, op)
    gain = _gain(rules, faction, me, what, gained)
    me = receive_power(receive(faction, me, gain), gain)
    me = score(me, gained.source, gain[VP])
    me, turn, reached = advance(rules, game, faction, me, turn, track, advances)
    return Gained(me=me, turn=turn, events=events + reached, op=index, step=asked)


def _follow(rules: Ruleset, game: GameState, acted: Acted, gained: Gained) -> GameState:
    """Triggers, and the sub-decisions that open (GEN-15)."""
    player = game.turn.player.astype(jnp.int32)
    faction, placement = faction_of(rules, game, player), acted.placement
    before, me = acted.before, gained.me
    events = gained.events
    events += _build_events(rules, game, before, faction, placement, acted.site)
    me = faction_triggers(rules, faction, me, before, events, placement, acted.site)
    me, extra, opens_tile = institute_powers(rules, faction, me, placement)
    me = scoring.score_events(rules, game, me, before, events + extra)
    turn = _open(rules, game.turn, gained, acted, opens_tile)
    return store(game.replace(board=acted.board, turn=PackedTurn.of(turn)), player, me)


def _other_choices(rules: Ruleset, game: GameState, acted: Acted) -> GameState:
    """What is decided at the nodes around the turns, leech answers, passing."""
    player = game.turn.player.astype(jnp.int32)
    faction = faction_of(rules, game, player)
    game = _frame_choices(rules, game, faction, player, acted.what)
    game = _leech_choice(rules, game, player, acted.what)
    return _pass(rules, game, player, acted.what)


def decode(
    rules: Ruleset, game: GameState, me: Players, faction: Columns, player: Array, action: Array
) -> Decision:
    """What the action means at the open node."""
    t, turn, node = rules.tables, game.turn, game.turn.node
    verb = jnp.asarray(t.verb).astype(jnp.int32)[action]
    argument = jnp.asarray(t.argument).astype(jnp.int32)[action]
    cell = jnp.asarray(t.cell).astype(jnp.int32)[action]
    cell = jnp.where(node == Node.PIECE, turn.cell, cell)
    cell = jnp.where(cell < rules.geometry.num_cells, cell, 0)

    def is_(name: str) -> Array:
        return verb == t.verbs[name]

    op = jnp.asarray(t.action_op).astype(jnp.int32)[action]
    # Free actions: Nevlas with PI pay whole tokens, Terrans in the Gaia phase pay points.
    bundle = jnp.asarray(t.faction.bundles).astype(jnp.int32)[
        jnp.minimum(argument, len(t.faction.bundles) - 1)
    ]
    op = jnp.where(is_("free") & (power_worth(faction, me) > 1) & (bundle > 0), bundle, op)
    for letter, name in (("Q", "P4_to_Q"), ("O", "P3_to_O"), ("K", "P4_to_K")):
        converts = (node == Node.TERRANS) & is_("free")
        converts &= argument == rules.ids["free_action"].index(name)
        op = jnp.where(converts, t.op[f"terrans {letter}"], op)
    op = jnp.where(is_("explore"), faction.explore_op, op)
    if rules.artifacts:
        kind = game.setup.artifacts.astype(jnp.int32)[jnp.minimum(argument, 3)]
        op = jnp.where(is_("artifact"), jnp.asarray(t.artifact_op).astype(jnp.int32)[kind], op)
    for slot, name in enumerate(rules.ids["special"]):
        if name in ("AC_B", "FACTION"):
            chosen = special_operation(rules, faction, me, slot)
            op = jnp.where(is_("special") & (argument == slot), chosen, op)
    pieces = upgrade.pieces_for(rules, game, faction, me, player, cell)
    single = jnp.asarray(t.upgrade_op).astype(jnp.int32)[jnp.argmax(pieces)]
    op = jnp.where(is_("upgrade"), single, op)
    near = upgrade.discounted(game, player, cell)
    op = jnp.where((op == t.op["upgrade TS"]) & near, t.op["upgrade TS near"], op)
    op = jnp.where(node == Node.TARGET, turn.mode.astype(jnp.int32), op)
    op = jnp.where((node == Node.FREE_MINE) & is_("pick"), turn.free_mine.astype(jnp.int32), op)
    choice = (node == Node.STEP) | (node == Node.BOOSTER) | (node == Node.TINKERING)
    op = jnp.where(choice, 0, op)
    # A tile taken, or an advanced one with the tile that it covers.
    cover = jnp.maximum(turn.cover.astype(jnp.int32), 0)
    high = game.setup.advanced.astype(jnp.int32)[cover]
    high_op = jnp.asarray(t.advanced_op).astype(jnp.int32)[high]
    op = jnp.where(is_("tile") & (node == Node.COVER), high_op, op)
    base = len(rules.base_tokens) + 1
    ship = jnp.maximum(argument - base, 0)
    kind = game.setup.ship_token.astype(jnp.int32)[jnp.minimum(ship, len(rules.ships) - 1)]
    token = jnp.where(argument < base, argument, base + kind)
    return Decision(
        verb=verb,
        argument=argument,
        cell=cell,
        op=op,
        token=jnp.where(is_("token"), token, -1),
        aims=(node == Node.TURN) & (operation(rules, op).target > 0),
        asks_piece=is_("upgrade") & (pieces.sum() > 1),
    )


def _is(rules: Ruleset, what: Decision, verb: str) -> Array:
    return what.verb == rules.tables.verbs[verb]


def _placement(
    rules: Ruleset,
    game: GameState,
    faction: Columns,
    me: Players,
    player: Array,
    what: Decision,
    op: OperationRow,
    site: mine.Site,
    acts: Array,
) -> tuple[place.Placement, mine.Price]:
    """What the decision puts on the map, and what it costs beside the operation's own price."""
    node = game.turn.node
    on_cell = _is(rules, what, "mine") | _is(rules, what, "project") | _is(rules, what, "pick")
    project = acts & on_cell & (op.project > 0) & place.is_transdim(game, what.cell)
    start = (node == Node.START) & on_cell
    lost = (node == Node.LOST_PLANET) & on_cell
    builds = acts & on_cell & (op.mine > 0) & ~project
    explore = acts & _is(rules, what, "explore")
    station = acts & (op.target == SPACE)
    ring = acts & (op.target == UNRINGED)
    swap = acts & (op.target == OWN) & (op.piece == 0)
    upgraded = acts & (op.piece > 0)
    structure = jnp.where(builds | lost, MINE, 0)
    structure = jnp.where(start, faction.start_piece, structure)
    structure = jnp.where(upgraded, op.piece, structure)
    structure = jnp.where(swap, PI, structure)
    placement = place.Placement(
        cell=what.cell,
        structure=structure,
        is_new=builds | lost | start,
        guest=builds & site.guest,
        lost=lost,
        gaiaformer=project,
        instant=project & (op.project == INSTANT),
        station=station,
        ring=ring,
        swap=swap,
    )
    cost = mine.price(rules, faction, me, site, op)
    reach = mine.reach_bonus(rules, me) + op.range_bonus
    ship = game.setup.ship_cell.astype(jnp.int32)[jnp.minimum(what.argument, 3)]
    distance = jnp.where(explore, game.board.reach[player].astype(jnp.int32)[ship], site.distance)
    stretched = project | lost | station | explore
    qic = jnp.where(stretched, mine.range_qic(distance, reach), 0)
    return placement, mine.Price(
        ore=jnp.where(builds, cost.ore, 0),
        credits=jnp.where(builds, cost.credits, 0),
        qic=jnp.where(builds, cost.qic, qic),
        gaiaformer=jnp.where(builds, cost.gaiaformer, 0),
    )


def pay(
    rules: Ruleset,
    game: GameState,
    faction: Columns,
    me: Players,
    player: Array,
    what: Decision,
    op: OperationRow,
    placement: place.Placement,
    price: mine.Price,
) -> Players:
    """The whole price at once: the operation's, the site's, an exploration's (MIN-02, EXP-01)."""
    node = game.turn.node
    target = node == Node.TARGET
    ship = operation(rules, jnp.where(target & _is(rules, what, "explore"), faction.explore_op, 0))
    bought = (node == Node.ITARS) & ~_is(rules, what, "skip")
    me = me.replace(
        credits=me.credits - op.cost_credits - price.credits,
        ore=me.ore - op.cost_ore - price.ore,
        knowledge=me.knowledge - op.cost_knowledge,
        qic=me.qic - op.cost_qic - price.qic,
        gaiaformers=me.gaiaformers - price.gaiaformer - op.gaiaformer,
        gaiaformers_gaia=me.gaiaformers_gaia + op.gaiaformer,
        gaia_power=me.gaia_power + op.to_gaia - jnp.where(bought, ITARS_TOKENS_PER_TILE, 0),
    )
    me = score(me, "EXPLORE", -op.cost_vp - ship.cost_vp)
    me, stone = power.spend(me, op.cost_power, power_worth(faction, me))
    # FRE-10: the brainstone alone for one power gives three credits; `_gain` adds the other two.
    me = me.replace(power=me.power - jnp.array([0, 0, 1]) * op.to_gaia)
    me = power.discard(me, op.cost_tokens + ship.cost_tokens)
    explores = (op.brainstone + ship.brainstone) > 0
    me = me.replace(brainstone=jnp.where(explores, 3, me.brainstone))
    tokens = jnp.where(placement.gaiaformer, mine.project_tokens(rules, me, op), 0)
    me = power.to_gaia_area(me, tokens)
    burned = power.burn(me, faction.burn_to_gaia)
    me = jax.tree.map(lambda a, b: jnp.where(op.burn > 0, a, b), burned, me)
    small = stone & (op.cost_power < power.BRAINSTONE_POWER) & _is(rules, what, "free")
    return me.replace(
        credits=jnp.where(
            small,
            jnp.minimum(me.credits + power.BRAINSTONE_POWER - 1, costs.CAPS["credits"]),
            me.credits,
        )
    )


def _gain(
    rules: Ruleset, faction: Columns, me: Players, what: Decision, gained: OperationRow
) -> Array:
    """(9,) int32, what the operation brings: fixed amounts and so much for each counted thing."""
    fixed = jnp.stack([getattr(gained, f"gain_{name}") for name in GAIN_FIELDS])
    number = counts(rules, me)[gained.per_count]
    per = {"vp": gained.per_vp, "knowledge": gained.per_knowledge, "ore": gained.per_ore}
    extra = jnp.stack([per.get(name, jnp.zeros((), jnp.int32)) for name in GAIN_FIELDS])
    gain = fixed + extra * number
    # The Xenos' ore becomes a token in bowl III (XEN-01).
    third = _is(rules, what, "free") & (gained.cost_ore > 0) & (faction.ore_token_bowl == 3)
    moved = jnp.where(third, gain[TOKENS], 0)
    return gain.at[TOKENS].add(-moved).at[TOKENS_III].add(moved)


def take_things(
    rules: Ruleset, game: GameState, faction: Columns, me: Players, what: Decision
) -> tuple[Players, Turn, Array]:
    """Tiles, tokens, artifacts and shuttles that the decision takes, and the events of doing so."""
    turn, node = game.turn.unpack(), game.turn.node
    events = jnp.zeros(len(rules.ids["event"]), jnp.int32)
    takes_tile = _is(rules, what, "tile") & (node != Node.COVER)
    covers = _is(rules, what, "tile") & (node == Node.COVER)
    cover = jnp.maximum(turn.cover.astype(jnp.int32), 0)
    high = game.setup.advanced.astype(jnp.int32)[cover]
    bit = 1 << what.argument
    me = me.replace(
        tiles=me.tiles | jnp.where(takes_tile, bit, 0),
        covered=me.covered | jnp.where(covers, bit, 0),
        advanced=me.advanced | jnp.where(covers, 1 << high, 0),
        green=me.green - covers,
    )
    turn = turn.replace(
        advanced_left=jnp.where(
            covers, turn.advanced_left & ~(1 << cover), turn.advanced_left
        )
    )
    # A federation token from the supply or from a ship (FED-18).
    obtains = _is(rules, what, "token") & (node == Node.TOKEN)
    me, got = obtain_token(rules, me, jnp.maximum(what.token, 0), obtains)
    events = events + got
    base = len(rules.base_tokens)
    supply = turn.token_supply - (obtains & (jnp.arange(base) == what.argument))
    ship = jnp.maximum(what.argument - base - 1, 0)
    from_ship = obtains & (what.argument > base)
    ships = jnp.where(from_ship, turn.ship_tokens & ~(1 << ship), turn.ship_tokens)
    turn = turn.replace(
        token_supply=supply,
        ship_tokens=ships,
    )
    # An artifact; two of them count as a mine on a planet type (ART-03).
    artifact = _is(rules, what, "artifact")
    if rules.artifacts:
        kind = game.setup.artifacts.astype(jnp.int32)[jnp.minimum(what.argument, 3)]
        planet = jnp.asarray(rules.tables.virtual_planet).astype(jnp.int32)[kind]
        virtual = artifact & (planet >= 0)
        new = ~owned_types(rules, me)[jnp.maximum(planet, 0)]
        index = rules.ids["event"].index
        events = events.at[index("mine")].add(virtual).at[index("new_type")].add(virtual & new)
        me = me.replace(artifacts=me.artifacts | jnp.where(artifact, 1 << kind, 0))
        left = jnp.where(artifact, turn.artifacts_left & ~(1 << what.argument), turn.artifacts_left)
        turn = turn.replace(artifacts_left=left)
    # A shuttle charges by its slot on the ship (EXP-02).
    explores = _is(rules, what, "explore")
    crew = has(game.players.shuttles.astype(jnp.int32), what.argument).sum()
    charge = jnp.asarray(rules.tables.shuttle_charge).astype(jnp.int32)[jnp.minimum(crew, 3)]
    me = power.charge(me, jnp.where(explores, charge, 0))
    me = me.replace(shuttles=me.shuttles | jnp.where(explores, bit, 0))
    return me, turn, events


def obtain_token(rules: Ruleset, me: Players, kind: Array, happens: Array) -> tuple[Players, Array]:
    """A federation token comes to the player, green unless it is grey on both sides (TEC-07).

    Returns:
        The row, and the events: one federation token obtained (RMS-07).
    """
    green = jnp.asarray(rules.tables.green)[kind] & happens
    tokens = me.tokens + ((jnp.arange(me.tokens.shape[-1]) == kind) & happens)
    events = (jnp.arange(len(rules.ids["event"])) == _event(rules, "federation_token")) & happens
    return me.replace(tokens=tokens, green=me.green + green), events.astype(jnp.int32)


def _event(rules: Ruleset, name: str) -> int:
    return rules.ids["event"].index(name)


def _research_step(
    rules: Ruleset,
    game: GameState,
    faction: Columns,
    me: Players,
    what: Decision,
    op: OperationRow,
) -> tuple[Array, Array, Array]:
    """The track that advances with this decision, whether it does, and the step that is asked for.

    A tile of a track slot steps on its track by itself; entering level 5 there is asked for, since
    it costs a green token (TEC-09, TEC-10).

    Returns:
        () int32 track, () bool, and () int32 for `turn.step`.
    """
    node = game.turn.node
    named = _is(rules, what, "advance") & ((op.research > 0) | (node == Node.STEP))
    takes_tile = _is(rules, what, "tile") & (node != Node.COVER)
    slot = tech.slot_of(game, what.argument)
    linked = takes_tile & (slot < 6)
    below, enter = research.advance_options(rules, game, faction, me)
    on_track = jnp.minimum(slot, 5)
    track = jnp.where(named, what.argument, on_track)
    consent = jnp.where(linked & enter[on_track], 2 + on_track, 0)
    free_choice = takes_tile & ~linked | _is(rules, what, "tile") & (node == Node.COVER)
    return track, named | linked & below[on_track], jnp.where(free_choice, 1, consent)


def advance(
    rules: Ruleset,
    game: GameState,
    faction: Columns,
    me: Players,
    turn: Turn,
    track: Array,
    happens: Array,
) -> tuple[Players, Turn, Array]:
    """One level up on a track: charge 3 on reaching level 3, then the level's bonus (RES-01..07).

    Returns:
        The row, the turn (Lost Planet pending, the token of terraforming 5 gone), and the events.
    """
    names = rules.ids["track"]
    here = (jnp.arange(len(names)) == track) & happens
    me = me.replace(tracks=me.tracks + here)
    level = me.tracks[track]
    top = happens & (level == MAX_LEVEL)
    me = me.replace(green=me.green - top)
    me = power.charge(me, jnp.where(happens & (level == 3), CHARGE_AT_3, 0))
    bonus = jnp.asarray(rules.tables.level_bonus).astype(jnp.int32)[track, level]
    bonus = jnp.where(happens, bonus, 0)
    gaia_top = top & (track == names.index("gaia"))
    bonus = bonus.at[VP].add(jnp.where(gaia_top, GAIA_5_PER.vp * me.colonized[GAIA], 0))
    me = score(receive_power(receive(faction, me, bonus), bonus), "RESEARCH", bonus[VP])
    # Terraforming 5: the federation token that lies there (FED-23).
    takes = top & (track == names.index("terraforming"))
    kind = game.setup.tf5_token.astype(jnp.int32)
    me, events = obtain_token(rules, me, kind, takes)
    row = operation(rules, jnp.asarray(rules.tables.token_op)[kind])
    gain = jnp.stack([getattr(row, f"gain_{name}") for name in GAIN_FIELDS]) * takes
    me = score(receive_power(receive(faction, me, gain), gain), "FEDERATION", gain[VP])
    events = events.at[_event(rules, "research_step")].add(happens)
    turn = turn.replace(
        lost_planet=turn.lost_planet | top & (track == names.index("navigation")),
        track_token=turn.track_token & ~takes,
    )
    return me, turn, events


def _build_events(
    rules: Ruleset,
    game: GameState,
    me: Players,
    faction: Columns,
    what: place.Placement,
    site: mine.Site,
) -> Array:
    """(events,) int32 of a mine or an upgrade, judged on the position before it (GEN-15)."""
    mine_built = what.is_new & (game.turn.node != Node.START)
    own = mine_built & ~what.guest
    planet = jnp.where(what.lost, mine.LOST, site.planet)
    sector, main_sector, _ = mine.new_sector(rules, me, what.cell)
    swapped = what.swap
    events = {
        "new_type": own & ~owned_types(rules, me)[planet],
        "terraform_step": jnp.where(own & ~what.lost, site.steps, 0),
        "gaia_mine": own & (planet == GAIA),
        "mine": mine_built,
        "new_sector": mine_built & sector,
        "trading_station": (what.structure == TS) & ~what.is_new,
        "pi_academy": (what.structure >= PI) & ~what.is_new & ~swapped,
        "new_main_sector": mine_built & main_sector,
        "guest_mine": mine_built & what.guest,
    }
    zero = jnp.zeros((), jnp.int32)
    return jnp.stack(
        [jnp.asarray(events.get(x, zero)).astype(jnp.int32) for x in rules.ids["event"]]
    )


def faction_triggers(
    rules: Ruleset,
    faction: Columns,
    me: Players,
    before: Players,
    events: Array,
    what: place.Placement,
    site: mine.Site,
) -> Players:
    """What the faction board gives for a mine, and the 6 VP of a protoplanet (MIN-11, GLE-03)."""
    proto = (
        what.is_new
        & ~what.guest
        & ~what.lost
        & (site.planet == PROTO)
        & (events[_event(rules, "mine")] > 0)
    )
    me = score(me, "PROTO", jnp.where(proto, PROTO_VP, 0))
    gaia_mine = events[_event(rules, "gaia_mine")]
    me = score(me, "FACTION", faction.gaia_mine_vp * gaia_mine)
    institute = before.built[PI] > 0
    knowledge = faction.pi_new_type_knowledge * events[_event(rules, "new_type")]
    knowledge += faction.pi_guest_knowledge * events[_event(rules, "guest_mine")]
    sector = faction.pi_new_main_sector * events[_event(rules, "new_main_sector")]
    gain = sector.at[GAIN_FIELDS.index("knowledge")].add(knowledge)
    return receive(faction, me, jnp.where(institute, gain, 0))


def institute_powers(
    rules: Ruleset, faction: Columns, me: Players, what: place.Placement
) -> tuple[Players, Array, Array]:
    """What a new planetary institute brings at once: the Gleens' token, the Space Giants' tile.

    Returns:
        The row, the events (GLE-04), and whether a tech tile is to be taken (SPG-01).
    """
    new = (what.structure == PI) & ~what.is_new & ~what.swap
    kind = jnp.asarray(len(rules.base_tokens))
    takes = new & (faction.pi_token > 0)
    me, events = obtain_token(rules, me, kind, takes)
    row = operation(rules, int(rules.tables.token_op[len(rules.base_tokens)]))
    gain = jnp.stack([getattr(row, f"gain_{name}") for name in GAIN_FIELDS]) * takes
    me = score(receive_power(receive(faction, me, gain), gain), "FEDERATION", gain[VP])
    return me, events, new & (faction.pi_tech_tile > 0)


def _open(rules: Ruleset, now: Turn, gained: Gained, acted: Acted, opens_tile: Array) -> Turn:
    """Sub-decisions that the decision closes and opens, its once-a-round mark, its leech event."""
    turn, what, placement, me = gained.turn, acted.what, acted.placement, acted.before
    op, gain, step = operation(rules, acted.op), operation(rules, gained.op), gained.step
    node = now.node

    def closes(*nodes: int) -> Array:
        return jnp.stack([node == x for x in nodes]).any(0)

    tile_taken = _is(rules, what, "tile") | _is(rules, what, "advanced")
    tile = turn.tile & ~(closes(Node.TILE) & tile_taken)
    tile |= (op.tile > 0) | (gain.tile > 0) | opens_tile
    # SA-QIC-4VP counts if it was owned before paying (ADV-01).
    owned = has(me.advanced, rules.ids["advanced"].index("SA-QIC-4VP"))
    cover = jnp.where(closes(Node.COVER), -1, turn.cover)
    cover = jnp.where(_is(rules, what, "advanced"), what.argument, cover)
    free_mine = jnp.where(closes(Node.FREE_MINE), -1, turn.free_mine)
    free_mine = jnp.where(gain.free_mine > 0, gain.free_mine, free_mine)
    pending_step = jnp.where(closes(Node.STEP), 0, turn.step)
    pending_step = jnp.where(step > 0, step, pending_step)
    pending_step = jnp.where(op.step > 0, 1, pending_step)
    event = (placement.structure > 0) & ~placement.swap & ~closes(Node.START)
    power_bit = jnp.where(op.slot_kind == POWER_SLOT, 1 << op.slot, 0)
    ship_bit = jnp.where(op.slot_kind == SHIP_SLOT, 1 << op.slot, 0)
    free = closes(Node.TURN, Node.AFTER) & _is(rules, what, "free")

    # A chosen mode waits for its target, an upgrade for its piece; any other choice ends both.
    return turn.replace(
        mode=jnp.where(what.aims, what.op, -1),
        cell=jnp.where(what.asks_piece, what.cell, -1),
        acted=turn.acted | (op.main > 0) & (turn.phase == 4),
        tile=tile,
        token=turn.token & ~closes(Node.TOKEN),
        retrigger=turn.retrigger & ~closes(Node.RETRIGGER)
        | (op.retrigger > 0) & (me.tokens.sum() > 0),
        cover=cover,
        free_mine=free_mine,
        step=pending_step,
        lost_planet=turn.lost_planet & ~closes(Node.LOST_PLANET),
        qic_action=turn.qic_action | (op.qic_action > 0) & owned,
        power_used=turn.power_used | power_bit,
        ship_used=turn.ship_used | ship_bit,
        leech=leech.add_event(turn.leech, acted.offered, event),
        free_actions=turn.free_actions + free,
    )


def _frame_choices(
    rules: Ruleset,
    game: GameState,
    faction: Columns,
    player: Array,
    what: Decision,
) -> GameState:
    """Set-up, tinkering, income order, Terrans, Itars, the booster of a pass; marks of specials."""
    turn, node = game.turn, game.turn.node
    me = load(game, player)
    setting_up = (node == Node.START) | (node == Node.BOOSTER)
    takes_booster = _is(rules, what, "booster")
    passes = takes_booster & (node == Node.TURN)
    pays = jax.tree.map(
        lambda a, b: jnp.where(passes | _is(rules, what, "pass"), a, b),
        scoring.score_pass(rules, me),
        me,
    )
    me = pays.replace(booster=jnp.where(takes_booster, what.argument, pays.booster))
    # Private specials are marked used; the mark lies with the player.
    op = operation(rules, jnp.where(what.aims | what.asks_piece, 0, what.op))
    mark = jnp.where(op.slot_kind == SPECIAL_SLOT, 1 << op.slot, 0)
    me = me.replace(used=me.used | mark)
    tinkers = node == Node.TINKERING
    me = me.replace(
        tinkering=jnp.where(tinkers, what.argument, me.tinkering),
        tinkered=me.tinkered | jnp.where(tinkers, 1 << what.argument, 0),
    )
    # One atom of income, and what then comes by itself.
    earns = node == Node.INCOME
    amounts = income.atoms(income.parts(rules, faction, me, game.setup.economy_side))
    atom = jnp.minimum(what.argument, len(amounts) - 1)
    paid = income.finish(income.apply_atom(me, amounts, atom), amounts)
    me = jax.tree.map(lambda a, b: jnp.where(earns, a, b), paid, me)
    # Terrans: a pick spends points, `skip` makes the rest credits (GAI-08).
    terrans = node == Node.TERRANS
    spent = jnp.zeros((), jnp.int32)
    for name, points in gaia.CONVERSION_PRICE.items():
        named = what.argument == rules.ids["free_action"].index(name)
        spent = jnp.where(named & _is(rules, what, "free"), points, spent)
    points = turn.points.astype(jnp.int32)
    rest = terrans & _is(rules, what, "skip")
    gain = jnp.zeros(len(GAIN_FIELDS), jnp.int32)
    gain = gain.at[GAIN_FIELDS.index("credits")].set(jnp.where(rest, points, 0))
    me = receive(faction, me, gain)
    points = jnp.where(terrans, jnp.where(rest, 0, points - spent), points)
    # Itars: STOP sends the remaining tokens home (GAI-09).
    stops = (node == Node.ITARS) & _is(rules, what, "skip")
    home = power.leave_gaia_area(me, faction.gaia_tokens_to_bowl)
    me = jax.tree.map(lambda a, b: jnp.where(stops, a, b), home, me)
    active = jnp.where(node == Node.ITARS, player, turn.active)
    turn = turn.replace(
        placed=turn.placed + setting_up,
        points=points,
        active=active,
    )
    return store(game.replace(turn=turn), player, me)


def _leech_choice(rules: Ruleset, game: GameState, player: Array, what: Decision) -> GameState:
    """The answer to an offer: charge, token and charge, or nothing (LEE-02, LEE-07)."""
    answers = game.turn.node == Node.LEECH
    choice = what.argument
    taklons = leech.taklons(rules, game)[player]
    charges = answers & (choice == 0)
    token_first = answers & (choice == 1)
    me = load(game, player)
    me = leech.accept(
        me,
        current_offer(game, player),
        charges | token_first,
        token_first.astype(jnp.int32),
        (charges & taklons).astype(jnp.int32),
    )
    waits = (game.turn.leech > 0).any(-1)
    event = jnp.arange(leech.EVENTS) == jnp.argmax(waits)
    answered = event[:, None] & (jnp.arange(NUM_PLAYERS) == player) & answers
    queue = jnp.where(answered, 0, game.turn.leech).astype(game.turn.leech.dtype)
    return store(game, player, me).replace(turn=game.turn.replace(leech=queue))


def _pass(rules: Ruleset, game: GameState, player: Array, what: Decision) -> GameState:
    """A pass takes the next place in the pass order (ROU-02)."""
    turn = game.turn
    passes = _is(rules, what, "pass") | _is(rules, what, "booster") & (turn.node == Node.TURN)
    place_ = (turn.passed > 0).sum() + 1
    mine_ = (jnp.arange(NUM_PLAYERS) == player) & passes
    passed = jnp.where(mine_, place_, turn.passed)
    return game.replace(turn=turn.replace(passed=passed))


def turn_is_over(rules: Ruleset, game: GameState, what: Decision) -> Array:
    """() bool, the decision itself ends the turn: END_TURN or a pass (ROU-04)."""
    passed = game.turn.passed[game.turn.active.astype(jnp.int32)] > 0
    return passed | _is(rules, what, "end_turn")


__all__ = ["AC_A", "AC_B", "SOURCE", "step"]
