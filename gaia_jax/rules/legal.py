"""The legal mask: what the decider may do at the open node (docs/actions.md).

One pass: the cells are looked at once for every way to build a mine, then each verb of the index
gets its options. Nothing here changes the game.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.free_actions import FREE_ACTIONS_PER_TURN
from gaia_jax.operations import COLUMNS, SITE, TOKEN, OperationRow
from gaia_jax.rules import federation, gaia, leech, mine, power, research, tech, upgrade
from gaia_jax.rules.player import (
    LOST,
    Columns,
    bit_vector,
    faction_of,
    has,
    load,
    power_worth,
    uncovered,
)
from gaia_jax.rules.player import advanced as advanced_owned
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import (
    GAIAFORMER,
    MINE,
    PI,
    RING,
    RL,
    TS,
    GameState,
    Node,
    Players,
)


def operation(rules: Ruleset, index) -> OperationRow:
    """The row (or rows) of the operation table, int32."""
    return OperationRow(jnp.asarray(rules.tables.ops).astype(jnp.int32)[index])


def payable(faction: Columns, me: Players, op: OperationRow) -> Array:
    """bool, the player has the price of the operation itself (ROU-05, EXP-01)."""
    stone = (me.brainstone >= 0) & (me.brainstone <= 2)
    return (
        (me.resources >= op.cost_resources).all(-1)
        & (power.spendable(me, power_worth(faction, me)) >= op.cost_power)
        & (power.held(me) >= op.cost_tokens)
        & (me.vp >= op.cost_vp)
        & (stone | (op.brainstone == 0))
    )


def free_options(rules: Ruleset, faction: Columns, me: Players, taken: Array) -> Array:
    """(free actions,) bool: payable, the faction's own, and not all of the gain lost (FRE-03).

    Args:
        taken: () int, free actions already taken this turn (ROU-08).
    """
    row = rules.operation_index
    indices = [row[f"free {x}"] for x in rules.ids["free_action"]]
    worth = power_worth(faction, me)
    bundles = rules.tables.faction.bundles
    chosen = jnp.where((worth > 1) & (bundles > 0), bundles, jnp.asarray(indices))
    op = operation(rules, chosen)
    no_academy = me.built[upgrade.NUM_STRUCTURES - 1] == 0
    as_ore = (faction.qic_becomes_ore_until_academy_b > 0) & no_academy
    useful = (
        (op.gain_credits > 0) & (me.credits < costs.CAPS["credits"])
        | ((op.gain_ore > 0) | (op.gain_qic > 0) & as_ore) & (me.ore < costs.CAPS["ore"])
        | (op.gain_knowledge > 0) & (me.knowledge < costs.CAPS["knowledge"])
        | (op.gain_qic > 0) & ~as_ore
        | (op.gain_tokens > 0)
        | (op.burn > 0)
    )
    able = (
        payable(faction, me, op)
        & ((op.burn == 0) | power.burnable(me))
        & (me.gaiaformers >= op.gaiaformer)
        & (me.power[2] >= op.to_gaia)
        & faction.free_actions
        & ((me.built[PI] > 0) | ~rules.tables.faction.free_needs_pi)
    )
    return useful & able & (taken < FREE_ACTIONS_PER_TURN)


def open_boosters(rules: Ruleset, game: GameState) -> Array:
    """(boosters,) bool, in play and with nobody (PAS-01)."""
    kinds = jnp.arange(len(rules.boosters))
    in_play = (kinds[:, None] == game.setup.boosters).any(-1)
    return in_play & ~(kinds[:, None] == game.players.booster).any(-1)


def special_operation(rules: Ruleset, faction: Columns, me: Players, slot: int) -> Array:
    """() int32, the operation behind a private special, 0 where the player has none (ACT-11)."""
    name = rules.ids["special"][slot]
    row = rules.operation_index
    if name == "AC_B":
        return jnp.where(me.built[upgrade.NUM_STRUCTURES - 1] > 0, faction.academy_b_op, 0)
    if name == "FACTION":
        tile = jnp.asarray(rules.tables.tinkering_op).astype(jnp.int32)[me.tinkering]
        op = jnp.where(me.tinkering >= 0, tile, faction.special_op)
        needs = (faction.special_needs_pi > 0) | (faction.tinkering > 0)
        return jnp.where(needs & (me.built[PI] == 0), 0, op)
    if name in rules.ids["booster"]:
        mine_now = me.booster == rules.ids["booster"].index(name)
    elif name in rules.ids["tile"]:
        mine_now = uncovered(rules, me)[rules.ids["tile"].index(name)] > 0
    else:
        mine_now = advanced_owned(rules, me)[rules.ids["advanced"].index(name)] > 0
    return jnp.where(mine_now, row[f"special {name}"], 0)


def owned_tokens(rules: Ruleset, game: GameState, me: Players) -> Array:
    """(11,) bool by `token` action, kinds that the player owns (FED-21)."""
    base = len(rules.base_tokens) + 1
    ship = me.tokens[base:][game.setup.ship_token.astype(jnp.int32)]
    return jnp.concatenate([me.tokens[:base] > 0, ship[: len(rules.ships)] > 0])


def explorable(
    rules: Ruleset, game: GameState, faction: Columns, me: Players, player: Array, bonus: Array
) -> Array:
    """(ships,) bool: no own shuttle there, one left, in range, payable (EXP-01 to EXP-03)."""
    there = bit_vector(me.shuttles, len(rules.ships)) == 1
    cells = game.setup.ship_cell.astype(jnp.int32)
    distance = game.board.reach[player].astype(jnp.int32)[cells]
    qic = mine.range_qic(distance, mine.reach_bonus(rules, me) + bonus)
    able = payable(faction, me, operation(rules, faction.explore_op))
    shuttles = faction.shuttles + (faction.preplaced_ship >= 0)
    return ~there & (there.sum() < shuttles) & (qic <= me.qic) & able


def own_cells(game: GameState, player: Array, structure: Array | int) -> Array:
    """(C,) bool, own pieces of that structure; neither guests nor the Lost Planet."""
    board = game.board
    return (board.piece == structure) & (board.holder == player) & (board.planet != LOST)


def legal_mask(rules: Ruleset, game: GameState) -> Array:
    """(A,) bool, the legal actions of `game.turn.player`; all True when the game is over (A7)."""
    return look(rules, game)[1]


def look(rules: Ruleset, game: GameState) -> tuple[GameState, Array]:
    """The legal actions, after the federation that the decider's picks have made is formed.

    `step` and `look` together carry a decision out: the search that says which groups can be added
    also finds where the satellites of a finished federation lie (`federation.look`).

    Returns:
        The game, as it was but for that federation and `players.enough` and `short`; (A,) bool.
    """
    game, may_form, add_cells, complete = federation.look(rules, game)
    t, turn, board = rules.tables, game.turn, game.board
    node, player = turn.node, turn.player.astype(jnp.int32)
    me = load(game, player)
    faction = faction_of(rules, game, player)
    ids, row = rules.ids, rules.operation_index

    def at(*nodes: int) -> Array:
        return jnp.stack([node == x for x in nodes]).any(0)

    my_turn = at(Node.TURN)
    target = at(Node.TARGET)
    mode = jnp.maximum(turn.mode.astype(jnp.int32), 0)
    aimed = operation(rules, jnp.where(target, mode, 0))

    # Once-a-round actions and their operations.
    power_ops = operation(rules, np_index(row, "power", ids["power_action"]))
    power_ok = payable(faction, me, power_ops)
    power_ok &= bit_vector(turn.power_used, len(rules.power_actions)) == 0
    shared = [f"{verb} {a.id}" for verb, a in rules.shared_actions]
    ship_ops = operation(rules, np.array([row[name] for name in shared], np.int32))
    crew = has(me.shuttles, jnp.maximum(ship_ops.ship, 0)) | (ship_ops.ship < 0)
    ship_ok = payable(faction, me, ship_ops) & crew
    ship_ok &= bit_vector(turn.ship_used, len(shared)) == 0
    special_index = jnp.stack(
        [special_operation(rules, faction, me, i) for i in range(len(ids["special"]))]
    )
    special_ops = operation(rules, special_index)
    special_ok = (special_index > 0) & (bit_vector(me.used, len(ids["special"])) == 0)

    # Mines: the plane's own way first, then every way that is offered as a mode.
    plain = jnp.where(my_turn, row["mine"], jnp.where(target, mode, 0))
    plain = jnp.where(at(Node.FREE_MINE), jnp.maximum(turn.free_mine.astype(jnp.int32), 0), plain)
    ways = {"plain": plain}
    for a in rules.power_actions:
        if a.free_steps:
            ways[f"power {a.id}"] = jnp.asarray(row[f"power {a.id}"])
    for name in shared:
        if rules.operations[row[name]].mine:
            ways[name] = jnp.asarray(row[name])
    for i, name in enumerate(ids["special"]):
        if (
            name == "FACTION"
            or f"special {name}" in row
            and rules.operations[row[f"special {name}"]].mine
        ):
            ways[f"special {name}"] = special_index[i]
    sites = mine.site(rules, game, player)
    rows = operation(rules, jnp.stack(list(ways.values())))
    mines = jax.vmap(
        lambda values: mine.affordable(rules, faction, me, sites, OperationRow(values))
    )(rows.values)
    any_mine = dict(zip(ways, mines.any(-1), strict=True))

    # Gaia projects: a mode needs its nearest transdim planet only.
    spots = mine.project_site(game)
    reach = board.reach[player].astype(jnp.int32)
    nearest = jnp.where(spots, reach, mine.FAR).min()
    plain_project = operation(rules, jnp.where(my_turn, row["project"], mode * target))
    projects = spots & mine.project_affordable(rules, me, reach, plain_project)

    def project_in_reach(op: OperationRow) -> Array:
        return spots.any() & mine.project_affordable(rules, me, nearest, op)

    def explore_in_reach(op: OperationRow) -> Array:
        by_op = explorable(rules, game, faction, me, player, op.range_bonus)
        return by_op.any() & (op.explore > 0)

    below, enter = research.advance_options(rules, game, faction, me)
    tracks = below | enter
    tiles, slots = tech.tile_options(rules, game, me)
    owned = owned_tokens(rules, game, me)
    stations = mine.station_cells(rules, game, player, me)
    ring_free = (
        (board.holder == player)
        & (board.piece != 0)
        & (board.piece != GAIAFORMER)
        & (board.flags & RING == 0)
        & (me.rings < costs.MOWEYDS_RINGS)
    )

    def aims(name: str, op: OperationRow) -> Array:
        """Whether an operation that asks for a target has one."""
        static = rules.operations[row[name]]
        if static.target == SITE:
            found = any_mine.get(name, jnp.array(False))
            return found | project_in_reach(op) | explore_in_reach(op)
        return jnp.array(True)

    supply = t.pieces
    ship_aims = []
    for i, (verb, a) in enumerate(rules.shared_actions):
        op = OperationRow(ship_ops.values[i])
        ship_aims.append(
            {
                "TECH": tiles.any() | slots.any(),
                "UPGRADE_TS": own_cells(game, player, MINE).any() & (me.built[TS] < supply[TS]),
                "UPGRADE_RL": (me.built[TS] > 0) & (me.built[RL] < supply[RL]),
                "RETRIGGER": owned.any(),
                "RESEARCH": tracks.any(),
            }.get(a.effect or "", aims(f"{verb} {a.id}", op))
        )
    special_aims = []
    for i, name in enumerate(ids["special"]):
        op = OperationRow(special_ops.values[i])
        if name == "FACTION":
            site_there = any_mine["special FACTION"]
            if "GLEENS_RANGE" in row:
                site_there |= project_in_reach(op) | explore_in_reach(op)
            special_aims.append(
                _faction_aims(
                    rules,
                    game,
                    me,
                    special_index[i],
                    site_there,
                    stations,
                    ring_free,
                    tracks & research.lowest(me),
                    player,
                )
            )
        elif f"special {name}" in row:
            special_aims.append(aims(f"special {name}", op))
        else:
            special_aims.append(jnp.array(True))

    # What a TARGET of each kind offers.
    own_target = own_cells(game, player, aimed.own) & (aimed.own > 0)
    pick_target = (mines[0] & (aimed.mine > 0)) | projects | own_target
    space = (mode == row["HIVE_STATION"]) & target
    unringed = (mode == row["MOWEYDS_RING"]) & target
    pick_target |= stations & space | ring_free & unringed
    track_target = tracks & (aimed.research > 0) & ((aimed.lowest == 0) | research.lowest(me))
    token_target = owned & (aimed.target == TOKEN)
    explore_target = explorable(rules, game, faction, me, player, aimed.range_bonus)

    lost_cells = mine.lost_planet_cells(rules, game, player, me)
    start = (board.planet == faction.start_planet) & (board.piece == 0)
    pick = (
        at(Node.START) & start
        | target & pick_target
        | at(Node.FREE_MINE) & mines[0]
        | at(Node.LOST_PLANET) & lost_cells
        | at(Node.FEDERATION) & add_cells
    )

    # Free actions; at TERRANS the same words name the conversions.
    free = at(Node.TURN, Node.AFTER) & free_options(rules, faction, me, turn.free_actions)
    free |= at(Node.TERRANS) & gaia.conversion_options(rules, me, turn.points.astype(jnp.int32))
    step_tracks = step_options(rules, below, enter, turn.step)
    only_level_5 = ~(step_tracks & below).any()
    declines = at(Node.STEP) & only_level_5
    if rules.free_step_is_optional:
        declines = at(Node.STEP) | target & (aimed.lowest > 0)
    skip = at(Node.TERRANS, Node.ITARS, Node.FREE_MINE) | declines
    last_round = turn.round == costs.ROUNDS
    choose_tile = at(Node.TILE, Node.ITARS)
    boosters = open_boosters(rules, game) & (at(Node.BOOSTER) | my_turn & ~last_round)
    artifacts_left = bit_vector(turn.artifacts_left, rules.artifacts_in_play) == 1
    artifact_ship = ids["ship"].index(rules.artifact_ship) if rules.artifacts else 0
    can_take = has(me.shuttles, artifact_ship) & (power.held(me) >= rules.artifact_cost.tokens)
    supply_tokens = jnp.concatenate(
        [
            turn.token_supply > 0,
            jnp.zeros(1, bool),
            (bit_vector(turn.ship_tokens, len(rules.ships)) == 1)
            & (bit_vector(me.shuttles, len(rules.ships)) == 1),
        ]
    )
    pieces = upgrade.pieces_for(
        rules, game, faction, me, player, jnp.maximum(turn.cell, 0).astype(jnp.int32)
    )
    piece_names = rules.actions.ids["piece"]
    leech_now = at(Node.LEECH)
    offered = current_offer(game, player)
    is_taklons = leech.taklons(rules, game)[player]
    charge_ok = leech.amount(me, offered) >= 1
    tile_round = (t.tinkering_round == turn.round).any(-1)
    used_tiles = bit_vector(me.tinkered, len(rules.tinkering_tiles)) == 1

    ship_open = my_turn & ship_ok & jnp.stack(ship_aims)
    options = {
        "mine": my_turn & mines[0],
        "project": my_turn & projects,
        "upgrade": my_turn & upgrade.upgrade_cells(rules, game, faction, me, player),
        "pick": pick,
        "free": free,
        "end_turn": at(Node.AFTER)[None],
        "skip": skip[None],
        "pass": (my_turn & last_round)[None],
        "form_federation": may_form[None],
        "commit": (at(Node.FEDERATION) & complete)[None],
        "advance": my_turn & tracks & payable(faction, me, operation(rules, row["research"]))
        | at(Node.STEP) & step_tracks
        | target & track_target,
        "power": my_turn
        & power_ok
        & jnp.stack(
            [
                aims(f"power {a.id}", operation(rules, row[f"power {a.id}"]))
                for a in rules.power_actions
            ]
        ),
        "ship": ship_open[: len(rules.ship_actions)],
        "qic": ship_open[len(rules.ship_actions) :],
        "special": my_turn & special_ok & jnp.stack(special_aims),
        "explore": my_turn & explorable(rules, game, faction, me, player, jnp.zeros((), jnp.int32))
        | target & (aimed.explore > 0) & explore_target,
        "artifact": my_turn & artifacts_left & can_take,
        "booster": boosters,
        "leech": leech_now & jnp.stack([charge_ok, is_taklons, jnp.array(True)]),
        "tile": choose_tile & tiles | at(Node.COVER) & (uncovered(rules, me) > 0),
        "advanced": choose_tile & slots,
        "token": at(Node.TOKEN) & supply_tokens
        | at(Node.RETRIGGER) & owned
        | target & token_target,
        "income": at(Node.INCOME) & (bit_vector(me.income, len(ids["income"])) == 1),
        "piece": at(Node.PIECE)
        & jnp.stack([pieces[ids["structure"].index(x)] for x in piece_names]),
        "tinkering": at(Node.TINKERING) & tile_round & ~used_tiles,
    }
    verbs = ("mine", "project", "upgrade", "pick", *rules.actions.ids)
    mask = jnp.concatenate([options[verb] for verb in verbs])
    return game, mask | at(Node.ENDED)


def np_index(row: dict[str, int], verb: str, names: tuple[str, ...]):
    """The operation indices of the actions of a verb, as a constant array."""
    return np.array([row[f"{verb} {x}"] for x in names], np.int32)


def step_options(rules: Ruleset, below: Array, enter: Array, step: Array) -> Array:
    """(6,) bool, tracks offered at STEP: any that can advance, or the one asked for."""
    track = jnp.arange(below.shape[0])
    asked = (step >= 2) & (track == step.astype(jnp.int32) - 2)
    on_track = below | enter if rules.free_step_is_optional else enter
    return jnp.where(step == 1, below | enter, asked & on_track)


def current_offer(game: GameState, player: Array) -> Array:
    """() int32, power of the first offer that waits for `player`, 0 for none."""
    mine_queue = game.turn.leech[:, player].astype(jnp.int32)
    waits = (game.turn.leech > 0).any(-1)
    return jnp.where(waits.any(), mine_queue[jnp.argmax(waits)], 0)


def _faction_aims(rules, game, me, op_index, any_mine, stations, ring_free, lowest, player):
    """Whether the faction's special action has a target (ACT-11)."""
    row = rules.operation_index
    has_target = {
        "HIVE_STATION": stations.any(),
        "AMBAS_SWAP": own_cells(game, player, MINE).any(),
        "FIRAKS_DOWNGRADE": (me.built[RL] > 0) & (me.built[TS] < rules.tables.pieces[TS]),
        "BESCODS_LOWEST": lowest.any(),
        "MOWEYDS_RING": ring_free.any(),
    }
    ok = jnp.asarray(rules.tables.ops[:, _column("mine")])[op_index] == 0
    ok |= any_mine
    for name, found in has_target.items():
        ok &= (op_index != row[name]) | found
    return ok


def _column(name: str) -> int:
    return COLUMNS.index(name)
