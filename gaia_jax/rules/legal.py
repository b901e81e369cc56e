"""The legal mask: what the decider may do at the open node (docs/actions.md).

One pass: the cells are looked at once for every way to build a mine, then each verb of the index
gets its options. Nothing here changes the game.
"""

from __future__ import annotations

import operator
from functools import partial, reduce

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.common import RESOURCES
from gaia_jax.components.free_actions import FREE_ACTIONS_PER_TURN
from gaia_jax.operations import (
    NO_TARGET,
    OWN,
    SITE,
    SPACE,
    TOKEN,
    TRACK,
    UNRINGED,
    OperationRow,
)
from gaia_jax.rules import cells, federation, gaia, leech, mine, power, research, tech, upgrade
from gaia_jax.rules.player import (
    Columns,
    bit_vector,
    faction_of,
    has,
    load,
    pick,
    power_worth,
    uncovered,
)
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GAIA_AREA, MINE, PI, GameState, Node, PackedTurn, Players


def operation(rules: Ruleset, index) -> OperationRow:
    """The row (or rows) of the operation table; of constants where `index` is one."""
    if isinstance(index, int | np.ndarray):
        return OperationRow(rules.tables.ops[index])
    return OperationRow(pick(jnp.asarray(rules.tables.ops), index))


class Listed:
    """Printed rows of the table, of which a few stand aside for rows of the game."""

    def __init__(self, rules: Ruleset, printed: np.ndarray, instead: dict[int, OperationRow]):
        """`printed` are (n,) operations, static; `instead` has single rows by their place."""
        self._rules, self._operations, self._instead = rules, printed, instead
        self._printed = operation(rules, printed)

    def __getattr__(self, name: str) -> Array:
        """The column `name`, (n, ...) int32."""
        column = getattr(self._printed, name)
        places = np.arange(len(column)).reshape(-1, *[1] * (column.ndim - 1))
        for place, row in self._instead.items():
            column = jnp.where(places == place, getattr(row, name), column)
        return column

    def that_may(self, name: str) -> tuple[np.ndarray, Listed]:
        """The places where the column `name` may be above 0, and the rows there."""
        there = [bool(getattr(self._rules.operations[op], name)) for op in self._operations]
        places = np.union1d(np.flatnonzero(there), list(self._instead)).astype(int)
        instead = {i: self._instead[p] for i, p in enumerate(places) if p in self._instead}
        return places, Listed(self._rules, self._operations[places], instead)


class Either:
    """Rows of constants: some where a condition holds, else others."""

    def __init__(self, condition: Array, then: OperationRow, otherwise: OperationRow):
        """`condition` is () bool; the others are rows of constants, (n, K)."""
        self._condition, self._then, self._otherwise = condition, then, otherwise

    def __getattr__(self, name: str) -> Array:
        """The column `name`, (n, ...) int32."""
        then, otherwise = getattr(self._then, name), getattr(self._otherwise, name)
        return jnp.where(self._condition, then, otherwise)


def placed(n: int, places: np.ndarray, values: Array) -> Array:
    """(n,) bool, `values`, (k,) bool, at the k places, else False; a scatter without a scatter."""
    out = jnp.zeros(n, bool)
    for i, place in enumerate(places):
        out |= (np.arange(n) == place) & values[i]
    return out


def payable(faction: Columns, me: Players, op: OperationRow | Listed | Either) -> Array:
    """bool, the player has the price of the operation itself (ROU-05, EXP-01)."""
    stone = (me.brainstone >= 0) & (me.brainstone <= 2)
    resources = [me.resources[i] >= op.cost_resources[..., i] for i in range(len(RESOURCES))]
    return (
        reduce(operator.and_, resources)
        & (power.spendable(me, power_worth(faction, me)) >= op.cost_power)
        & (power.held(me) >= op.cost_tokens)
        & (me.vp >= op.cost_vp)
        & (stone | (op.brainstone == 0))
    )


def free_options(rules: Ruleset, faction: Columns, me: Players, turn: PackedTurn) -> Array:
    """(free actions,) bool: payable, the faction's own, and not all of the gain lost (FRE-03).

    Args:
        turn: for the free actions already taken this turn (ROU-08, A21).
    """
    row, ops = rules.operation_index, rules.tables.ops
    plain = np.array([row[f"free {x}"] for x in rules.ids["free_action"]])
    bundles = rules.tables.faction.bundles
    whole_tokens = power_worth(faction, me) > 1
    bundled = np.where(bundles > 0, bundles, plain)
    op = Either(whole_tokens, OperationRow(ops[bundled]), OperationRow(ops[plain]))
    no_academy = me.built[upgrade.NUM_STRUCTURES - 1] == 0
    as_ore = (faction.qic_becomes_ore_until_academy_b > 0) & no_academy
    useful = (
        (op.gain_credits > 0) & (me.credits < costs.CAPS["credits"])
        | ((op.gain_ore > 0) | (op.gain_qic > 0) & as_ore) & (me.ore < costs.CAPS["ore"])
        | (op.gain_knowledge > 0) & (me.knowledge < costs.CAPS["knowledge"])
        | (op.gain_qic > 0) & ~as_ore
        | (op.gain_tokens > 0)
        | (op.burn > 0)
        | (op.reverses_brainstone > 0)
    )
    in_bowl = (me.brainstone >= 0) & (me.brainstone != GAIA_AREA)
    able = (
        payable(faction, me, op)
        & ((op.burn == 0) | power.burnable(me))
        & (me.gaiaformers >= op.gaiaformer)
        & (me.power[2] >= op.to_gaia)
        & ((op.reverses_brainstone == 0) | in_bowl & ~turn.brainstone_reversed)
        & faction.free_actions
        & ((me.built[PI] > 0) | ~rules.tables.faction.free_needs_pi)
    )
    return useful & able & (turn.free_actions < FREE_ACTIONS_PER_TURN)


def keeps_turn_open(rules: Ruleset, free: Array) -> Array:
    """() bool, some free action is legal that is not the brainstone's alone (ROU-03, A1, A21)."""
    alone = np.array([action.reverses_brainstone for action in rules.free_actions])
    return (free & ~alone).any()


def open_boosters(rules: Ruleset, game: GameState) -> Array:
    """(boosters,) bool, in play and with nobody (PAS-01)."""
    kinds = jnp.arange(len(rules.boosters))
    in_play = (kinds[:, None] == game.setup.boosters).any(-1)
    return in_play & ~(kinds[:, None] == game.players.booster).any(-1)


def special_operations(rules: Ruleset, faction: Columns, me: Players) -> list[Array]:
    """() int32 each, by ids["special"], the operation behind it, 0 if it is not there (ACT-11)."""
    ids, row = rules.ids, rules.operation_index
    tiles = uncovered(rules, me)

    def owned(name: str) -> Array:
        if name in ids["booster"]:
            return me.booster == ids["booster"].index(name)
        if name in ids["tile"]:
            return tiles[ids["tile"].index(name)] > 0
        return has(me.advanced, ids["advanced"].index(name))

    tile = pick(jnp.asarray(rules.tables.tinkering_op), jnp.maximum(me.tinkering, 0))
    own = jnp.where(me.tinkering >= 0, tile.astype(jnp.int32), faction.special_op)
    needs = (faction.special_needs_pi > 0) | (faction.tinkering > 0)
    of_game = {
        "AC_B": jnp.where(me.built[upgrade.NUM_STRUCTURES - 1] > 0, faction.academy_b_op, 0),
        "FACTION": jnp.where(needs & (me.built[PI] == 0), 0, own),
    }
    return [
        of_game[name] if name in of_game else jnp.where(owned(name), row[f"special {name}"], 0)
        for name in ids["special"]
    ]


def owned_tokens(rules: Ruleset, game: GameState, me: Players) -> Array:
    """(11,) bool by `token` action, kinds that the player owns (FED-21)."""
    base = len(rules.base_tokens) + 1
    ship = me.tokens[base:][game.setup.ship_token.astype(jnp.int32)]
    return jnp.concatenate([me.tokens[:base] > 0, ship[: len(rules.ships)] > 0])


def explorable(
    rules: Ruleset, game: GameState, faction: Columns, me: Players, player: Array, bonus: Array
) -> Array:
    """(..., ships) bool: no own shuttle there, one left, in range, payable (EXP-01 to EXP-03).

    Args:
        bonus: (...) int32, range that the action adds.
    """
    there = bit_vector(me.shuttles, len(rules.ships)) == 1
    cells = game.setup.ship_cell.astype(jnp.int32)
    distance = game.board.reach[player].astype(jnp.int32)[cells]
    qic = mine.range_qic(distance, mine.reach_bonus(rules, me) + bonus[..., None])
    able = payable(faction, me, operation(rules, faction.explore_op))
    shuttles = faction.shuttles + (faction.preplaced_ship >= 0)
    return ~there & (there.sum() < shuttles) & (qic <= me.qic) & able


def look(rules: Ruleset, game: GameState) -> tuple[GameState, Array]:
    """The legal actions, after the federation that the decider's picks have made is formed.

    `step` and `look` together carry a decision out: the search that says which groups can be added
    also finds where the satellites of a finished federation lie (`federation.look`).

    Returns:
        The game, as it was but for that federation and `players.enough` and `short`; (A,) bool.
    """
    player = game.turn.player.astype(jnp.int32)
    faction = faction_of(rules, game, player)
    game, may_form, add_cells, complete = federation.look(rules, game, player, faction)
    t, turn, node, me = rules.tables, game.turn, game.turn.node, load(game, player)
    ids, row = rules.ids, rules.operation_index

    def at(*nodes: int) -> Array:
        return jnp.stack([node == x for x in nodes]).any(0)

    my_turn = at(Node.TURN)
    target = at(Node.TARGET)
    mode = jnp.maximum(turn.mode.astype(jnp.int32), 0)
    aimed = operation(rules, jnp.where(target, mode, 0))

    # Actions that are there once a round: power actions, shared ones, private specials.
    shared = [f"{verb} {a.id}" for verb, a in rules.shared_actions]
    specials = special_operations(rules, faction, me)
    fixed = [row[f"power {a.id}"] for a in rules.power_actions] + [row[name] for name in shared]
    printed = np.array(fixed + [row.get(f"special {x}", 0) for x in ids["special"]])
    of_game = {int(i): specials[i - len(fixed)] for i in np.flatnonzero(printed == 0)}
    ops = Listed(rules, printed, {i: operation(rules, op) for i, op in of_game.items()})
    sizes = (len(rules.power_actions), len(shared), len(ids["special"]))
    # One number with a bit for each: XLA puts a concatenation together anew for each use of it.
    if sum(sizes) > 31:
        raise ValueError(f"{sum(sizes)} once-a-round actions in a ruleset; int32 has room for 31")
    left = jnp.int32((1 << len(fixed)) - 1)
    left += sum(jnp.where(op > 0, 1 << len(fixed) + i, 0) for i, op in enumerate(specials))
    used = (turn.power_used, turn.ship_used, me.used)
    for marks, first in zip(used, np.cumsum([0, *sizes[:2]]), strict=True):
        left &= ~(marks.astype(jnp.int32) << first)
    crew = has(me.shuttles, jnp.maximum(ops.ship, 0)) | (ops.ship < 0)
    ready = (bit_vector(left, sum(sizes)) == 1) & payable(faction, me, ops) & crew

    # Mines: the plane's own way first, then every way that is offered as a mode.
    plain = jnp.where(my_turn, row["mine"], jnp.where(target, mode, 0))
    plain = jnp.where(at(Node.FREE_MINE), jnp.maximum(turn.free_mine.astype(jnp.int32), 0), plain)
    names = [rules.operations[x].id for x in fixed] + [f"special {x}" for x in ids["special"]]
    own_way = names.index("special FACTION")
    builds = [x in row and bool(rules.operations[row[x]].mine) for x in names]
    ways = np.flatnonzero(builds)
    rows = operation(rules, jnp.stack([plain, of_game[own_way]]))
    plain_project = operation(rules, jnp.where(my_turn, row["project"], mode * target))
    there = cells.uses(
        rules, game, faction, rows, printed[ways], plain_project, aimed.own, add_cells
    )
    in_place = partial(placed, len(names))
    any_mine = in_place(np.array([own_way, *ways]), there.mines[1:])

    # Gaia projects: a mode needs its nearest transdim planet only.
    places, projects = ops.that_may("project")
    payable_there = mine.project_affordable(rules, me, there.nearest, projects)
    any_project = there.some("spot") & in_place(places, payable_there)
    places, explores = ops.that_may("explore")
    stretches = [jnp.zeros(1, jnp.int32), aimed.range_bonus[None], explores.range_bonus]
    ships = explorable(rules, game, faction, me, player, jnp.concatenate(stretches))
    any_ship = in_place(places, ships[2:].any(-1) & (explores.explore > 0))

    below, enter = research.advance_options(rules, game, faction, me)
    tracks, lowest = below | enter, research.lowest(me)
    tiles, slots = tech.tile_options(rules, game, me)
    owned = owned_tokens(rules, game, me)
    # Guests count among the mines built, and are no target.
    standing = jnp.where(np.arange(len(t.pieces)) == MINE, there.some("own_mine"), me.built > 0)
    places, replaces = ops.that_may("own")
    in_supply = (replaces.piece == 0) | (me.built < t.pieces)[replaces.piece]
    any_own = in_place(places, standing[replaces.own] & in_supply)
    has_target = {
        NO_TARGET: (ops.tile == 0) | tiles.any() | slots.any(),
        SITE: any_mine | any_project | any_ship,
        TRACK: jnp.where(ops.lowest > 0, (tracks & lowest).any(), tracks.any()),
        TOKEN: owned.any(),
        OWN: any_own,
        SPACE: there.some("station"),
        UNRINGED: there.some("unringed"),
    }
    for kind, found in has_target.items():
        ready &= (ops.target != kind) | found
    powers, shares, privates = jnp.split(my_turn & ready, np.cumsum(sizes)[:-1])

    # What a TARGET of each kind offers.
    track_target = tracks & (aimed.research > 0) & ((aimed.lowest == 0) | lowest)
    token_target = owned & (aimed.target == TOKEN)

    def wanted(when: Array, *uses: str) -> Array:
        return jnp.where(when, sum(cells.bit(use) for use in uses), 0).astype(jnp.int16)

    picks = [
        wanted(at(Node.START), "start"),
        wanted(at(Node.FREE_MINE) | target & (aimed.mine > 0), "mine"),
        wanted(target, "project", "own"),
        wanted(target & (aimed.target == SPACE), "station"),
        wanted(target & (aimed.target == UNRINGED), "unringed"),
        wanted(at(Node.LOST_PLANET), "lost"),
        wanted(at(Node.FEDERATION), "add"),
    ]
    planes = [wanted(my_turn, use) for use in ("mine", "project", "upgrade")] + [sum(picks)]

    # Free actions; at TERRANS the same words name the conversions.
    free = free_options(rules, faction, me, turn)
    free &= my_turn | at(Node.AFTER) & keeps_turn_open(rules, free)
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

    options = {
        "free": free,
        "end_turn": at(Node.AFTER)[None],
        "skip": skip[None],
        "pass": (my_turn & last_round)[None],
        "form_federation": may_form[None],
        "commit": (at(Node.FEDERATION) & complete)[None],
        "advance": my_turn & tracks & payable(faction, me, operation(rules, row["research"]))
        | at(Node.STEP) & step_tracks
        | target & track_target,
        "power": powers,
        "ship": shares[: len(rules.ship_actions)],
        "qic": shares[len(rules.ship_actions) :],
        "special": privates,
        "explore": my_turn & ships[0] | target & (aimed.explore > 0) & ships[1],
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
    on_map = [there.bits & plane != 0 for plane in planes]
    mask = jnp.concatenate([*on_map, *[options[verb] for verb in rules.actions.ids]])
    return game, mask | at(Node.ENDED)


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
