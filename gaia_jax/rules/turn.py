"""Whose decision is next: pending sub-decisions, end of turn, round, game (GEN-15, ROU-01 to ROU-08).

`settle` is one straight line without a loop over decisions (A1). It runs after the effects of a
decision are in the state, and leaves `turn.node` and `turn.player` set for the next one.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.fence import stage
from gaia_jax.on_demand import on_demand
from gaia_jax.rules import gaia, income, leech, mine, research, scoring, tech
from gaia_jax.rules.legal import free_options, operation, step_options
from gaia_jax.rules.player import Columns, choose, faction_of, load, receive, score, store
from gaia_jax.ruleset import GAIN_FIELDS, Ruleset
from gaia_jax.state import FRESH, NUM_PLAYERS, GameState, Node, Phase, Players, Turn


def settle(rules: Ruleset, game: GameState, turn_over: Array) -> GameState:
    """The next open node.

    Args:
        game: after the effects of a decision.
        turn_over: () bool, the decision ended the turn (a pass or END_TURN).
    """
    game, pending = stage(
        partial(_sub_decision, rules), _waits(game.turn), (game,), (game, jnp.full((), -1))
    )
    resolved = pending < 0
    game = _pay_qic_action(rules, game, resolved)
    game, waits, asked = stage(
        partial(leech.settle, rules),
        (game.turn.leech > 0).any(),
        (game, resolved),
        (game, jnp.zeros((), bool), jnp.zeros((), jnp.int32)),
    )
    node = jnp.where(resolved, Node.LEECH, pending)
    player = jnp.where(waits, asked, game.turn.active)
    done = resolved & ~waits
    game, round_over = stage(
        partial(_end_of_turn, rules),
        game.turn.phase == Phase.ACTIONS,
        (game, done, turn_over),
        (game, jnp.zeros((), bool)),
    )
    between = done & (round_over | (game.turn.phase != Phase.ACTIONS))
    game = on_demand(partial(_frame, rules), between, (game, round_over), game, cpu_chunk=64)
    next_node, next_player = _frame_decision(rules, game)
    return game.replace(
        turn=game.turn.replace(
            node=jnp.where(done, next_node, node),
            player=jnp.where(done, next_player, player),
        )
    )


def _waits(turn: Turn) -> Array:
    """() bool, some sub-decision is pending."""
    flags = turn.building | turn.token | turn.retrigger | turn.tile | turn.lost_planet
    marks = (turn.mode >= 0) | (turn.cell >= 0) | (turn.cover >= 0) | (turn.free_mine >= 0)
    return flags | marks | (turn.step > 0)


def _frame(rules: Ruleset, game: GameState, round_over: Array) -> GameState:
    """What happens between the turns: the end of the game, set-up, a new round up to its first turn.

    Every phase that needs no decision runs through, so that the next decision is open (A1).
    """
    last = round_over & (game.turn.round >= costs.ROUNDS)
    game = stage(partial(_end_of_game, rules), last, (game, last), game)
    game, set_up = _next_placement(game)
    game = _new_round(rules, game, round_over & ~last | set_up)
    phase = game.turn.phase
    game = stage(partial(_income_phase, rules), phase == Phase.TINKERING, (game,), game)
    phase = game.turn.phase
    gaia_now = (phase == Phase.INCOME) | (phase == Phase.GAIA)
    return stage(partial(_gaia_phase, rules), gaia_now, (game,), game)


def _sub_decision(rules: Ruleset, game: GameState) -> tuple[GameState, Array]:
    """The first pending sub-decision that has an option; those without are dropped (A12).

    Returns:
        The game, and () int32 the node, -1 where nothing is pending.
    """
    turn = game.turn
    player = turn.active.astype(jnp.int32)
    me, faction = load(game, player), faction_of(rules, game, player)
    tiles, slots = tech.tile_options(rules, game, me)
    below, enter = research.advance_options(rules, game, faction, me)
    op = operation(rules, jnp.maximum(turn.free_mine.astype(jnp.int32), 0))
    sites = mine.site(rules, game, player)
    mine_there = mine.affordable(rules, faction, me, sites, op).any()
    lost_there = mine.lost_planet_cells(rules, game, player, me).any()

    tile = turn.tile & (tiles.any() | slots.any())
    first = [
        (turn.mode >= 0, Node.TARGET),
        (turn.cell >= 0, Node.PIECE),
        (turn.building, Node.FEDERATION),
        (turn.token, Node.TOKEN),
        (turn.retrigger, Node.RETRIGGER),
        (tile, Node.TILE),
        (turn.cover >= 0, Node.COVER),
    ]
    # Behind a tile that is still to come, the rest waits untested.
    early = jnp.stack([there for there, _ in first]).any()
    free_mine = (turn.free_mine >= 0) & (early | mine_there)
    early |= free_mine
    step = (turn.step > 0) & (early | step_options(below, enter, turn.step).any())
    early |= step
    lost_planet = turn.lost_planet & (early | lost_there)
    later = [
        (free_mine, Node.FREE_MINE),
        (step, Node.STEP),
        (lost_planet, Node.LOST_PLANET),
    ]
    node = jnp.full((), -1, jnp.int32)
    for there, which in reversed(first + later):
        node = jnp.where(there, which, node)
    turn = turn.replace(
        tile=tile,
        free_mine=jnp.where(free_mine, turn.free_mine, -1),
        step=jnp.where(step, turn.step, 0),
        lost_planet=lost_planet,
    )
    return game.replace(turn=turn), node


def _pay_qic_action(rules: Ruleset, game: GameState, resolved: Array) -> GameState:
    """SA-QIC-4VP after everything that a QIC action led to (GEN-15 step 5, ADV-01)."""
    pays = resolved & game.turn.qic_action
    events = rules.ids["event"].index("qic_action")
    vp = int(rules.tables.advanced_events[:, events].max())
    player = game.turn.active.astype(jnp.int32)
    me = score(load(game, player), "ADVANCED_TILE", jnp.where(pays, vp, 0))
    turn = game.turn.replace(qic_action=game.turn.qic_action & ~resolved)
    return store(game, player, me).replace(turn=turn)


def _end_of_turn(
    rules: Ruleset, game: GameState, done: Array, turn_over: Array
) -> tuple[GameState, Array]:
    """The turn is over after the main action where no free action is legal (ROU-03, A1).

    The next in turn order who has not passed is active; the round is over when all have (ROU-06).

    Returns:
        The game, and () bool, the round is over.
    """
    turn = game.turn
    player = turn.active.astype(jnp.int32)
    free = free_options(
        rules, faction_of(rules, game, player), load(game, player), turn.free_actions
    )
    acts = done & (turn.phase == Phase.ACTIONS)
    over = acts & (turn_over | turn.acted & ~free.any())
    after = (leech.distance_in_order(game) - 1) % NUM_PLAYERS
    waiting = turn.passed == 0
    nearest = jnp.argmin(jnp.where(waiting, after, NUM_PLAYERS))
    active = jnp.where(over & waiting.any(), nearest, turn.active)
    turn = turn.replace(
        acted=turn.acted & ~over,
        free_actions=jnp.where(over, 0, turn.free_actions),
        active=active,
    )
    return game.replace(turn=turn), over & ~waiting.any()


def _end_of_game(rules: Ruleset, game: GameState, last: Array) -> GameState:
    """Final scoring after the last pass of round 6 (FIN-01)."""
    scored = scoring.final_score(rules, game)
    players = choose(last, scored, game.players)
    phase = jnp.where(last, Phase.OVER, game.turn.phase)
    return game.replace(players=players, turn=game.turn.replace(phase=phase))


def _next_placement(game: GameState) -> tuple[GameState, Array]:
    """The next set-up decision; the first round starts after the last booster (INI-10)."""
    turn = game.turn
    setting_up = turn.phase == Phase.SETUP
    length = (turn.sequence >= 0).sum()
    active = jnp.where(setting_up & (turn.placed < length), turn.sequence[turn.placed], turn.active)
    turn = turn.replace(active=active)
    return game.replace(turn=turn), setting_up & (turn.placed >= length)


def _new_round(rules: Ruleset, game: GameState, starts: Array) -> GameState:
    """Clean-up of the old round and step 0 of the new one (ROU-01, ROU-07, A6)."""
    turn, board, players = game.turn, game.board, game.players
    # The k-th to pass is k-th in the new round (ROU-02); before round 1 nobody has passed.
    passed = starts & (turn.round > 0)
    order = jnp.where(passed, jnp.argsort(turn.passed), turn.order)

    def reset(value: Array, to: int = 0) -> Array:
        return jnp.where(starts, jnp.asarray(to, value.dtype), value)

    turn = turn.replace(
        round=turn.round + starts,
        phase=reset(turn.phase, Phase.TINKERING),
        order=order,
        passed=reset(turn.passed),
        power_used=reset(turn.power_used),
        ship_used=reset(turn.ship_used),
    )
    players = players.replace(used=reset(players.used), tinkering=reset(players.tinkering, -1))
    flags = jnp.where(starts, board.flags & (255 - FRESH), board.flags).astype(board.flags.dtype)
    return game.replace(turn=turn, players=players, board=board.replace(flags=flags))


def _tinkerers(rules: Ruleset, game: GameState) -> Array:
    """(P,) bool, players who still choose this round's tinkering tile (TIN-01)."""
    faction = game.setup.faction.astype(jnp.int32)
    ability = jnp.asarray(rules.tables.faction.tinkering)[faction] > 0
    return ability & (game.players.tinkering < 0)


def _income_phase(rules: Ruleset, game: GameState) -> GameState:
    """Income of all players, once the tinkering tile is chosen (INC-02, GEN-06)."""
    turn = game.turn
    starts = (turn.phase == Phase.TINKERING) & ~_tinkerers(rules, game).any()
    faction = game.setup.faction.astype(jnp.int32)
    paid = income.collect_all(rules, game.players.unpack(), faction, game.setup.economy_side)
    phase = jnp.where(starts, Phase.INCOME, turn.phase)
    return game.replace(players=choose(starts, paid, game.players), turn=turn.replace(phase=phase))


def _gaia_phase(rules: Ruleset, game: GameState) -> GameState:
    """Planets convert, tokens return but for the Itars', Terrans' points are laid out (GAI-06)."""
    turn = game.turn
    starts = (turn.phase == Phase.INCOME) & (game.players.income == 0).all()
    faction = game.setup.faction.astype(jnp.int32)
    players = game.players.unpack()
    itars = gaia.decides_on_tiles(rules, players, faction)
    points = gaia.conversion_points(rules, players, faction).sum()
    points = jnp.where(starts, points, turn.points)
    back = gaia.return_tokens(rules, players, faction, ~itars & starts)
    phase = jnp.where(starts, Phase.GAIA, turn.phase)
    terrans = jnp.argmax(jnp.asarray(rules.tables.faction.pi_gaia_convert)[faction] > 0)

    # Terrans: no pick legal, so what is left becomes credits (A12, GAI-08).
    me = jax.tree.map(lambda x: x[terrans], back)
    rest = ~gaia.conversion_options(rules, me, points).any() & (phase == Phase.GAIA)
    credits = jnp.where(rest, points, 0)
    gain = jnp.zeros(len(GAIN_FIELDS), jnp.int32).at[GAIN_FIELDS.index("credits")].set(credits)
    me = receive(Columns(rules.tables.faction, faction[terrans]), me, gain)
    back = back.replace(credits=back.credits.at[terrans].set(me.credits))
    turn = turn.replace(phase=phase, points=jnp.where(rest, 0, points))
    game = game.replace(
        board=gaia.convert(game.board, starts),
        players=choose(jnp.array(True), back, game.players),
        turn=turn,
    )
    # Itars: the last tokens return when no tile can be bought (GAI-09).
    over = (phase == Phase.GAIA) & (turn.points == 0) & ~_itars_wait(rules, game)[0]
    players = game.players.unpack()
    back = gaia.return_tokens(rules, players, faction, itars & over)
    phase = jnp.where(over, Phase.ACTIONS, phase)
    active = jnp.where(over, turn.order[0], turn.active)
    return game.replace(
        players=choose(jnp.array(True), back, game.players),
        turn=turn.replace(phase=phase, active=active),
    )


def _itars_wait(rules: Ruleset, game: GameState) -> tuple[Array, Array]:
    """Whether the Itars can buy a tile now, and who they are (GAI-09)."""
    faction = game.setup.faction.astype(jnp.int32)
    itars = gaia.decides_on_tiles(rules, game.players, faction)
    player = jnp.argmax(itars)
    me = load(game, player)
    tiles, slots = tech.tile_options(rules, game, me)
    return itars.any() & gaia.can_buy_tile(me) & (tiles.any() | slots.any()), player


def _frame_decision(rules: Ruleset, game: GameState) -> tuple[Array, Array]:
    """Node and decider where no sub-decision and no leech is pending."""
    turn = game.turn
    length = (turn.sequence >= 0).sum()
    boosters = turn.placed >= length - NUM_PLAYERS
    tinkerer = jnp.argmax(_tinkerers(rules, game))
    order = turn.order.astype(jnp.int32)
    earner = order[jnp.argmax(game.players.income[order] != 0)]
    terrans = jnp.argmax(
        jnp.asarray(rules.tables.faction.pi_gaia_convert)[game.setup.faction.astype(jnp.int32)]
    )
    _, itars = _itars_wait(rules, game)
    converts = turn.points > 0
    by_phase = [
        (Phase.SETUP, jnp.where(boosters, Node.BOOSTER, Node.START), turn.active),
        (Phase.TINKERING, Node.TINKERING, tinkerer),
        (Phase.INCOME, Node.INCOME, earner),
        (
            Phase.GAIA,
            jnp.where(converts, Node.TERRANS, Node.ITARS),
            jnp.where(converts, terrans, itars),
        ),
        (Phase.ACTIONS, jnp.where(turn.acted, Node.AFTER, Node.TURN), turn.active),
        (Phase.OVER, Node.ENDED, turn.active),
    ]
    node, player = jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32)
    for phase, which, who in by_phase:
        here = turn.phase == phase
        node, player = jnp.where(here, which, node), jnp.where(here, who, player)
    return node, player
