"""Between the turns: set-up, a new round, tinkering, income, the Gaia phase, the end (ROU-01)."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.free_actions import TERRANS_REST
from gaia_jax.rules import gaia, income, scoring, tech
from gaia_jax.rules.player import bit_vector, faction_row, inverse, receive
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import GAIN_FIELDS, FactionRow, Ruleset
from gaia_jax.ruleset.faction_table import CREDITS
from gaia_jax.state import FRESH, GameState, Node, Phase, Players, Turn
from gaia_jax.xla.fusion_barrier import fusion_barrier


def between_turns(
    ruleset: Ruleset, game: GameState, round_over: Array, stops: Array, atom: Array
) -> tuple[Players, Turn, Array, Array]:
    """From one decision between the turns, or the end of a round, to the next decision.

    Every phase that needs no decision runs through (A1).

    Args:
        round_over: () bool, all players have passed.
        stops: () bool, the decision was `skip`.
        atom: () int32, the income atom that was chosen, -1 none.
    Returns:
        What may have changed: the players, the turn, `Board.planet` and `Board.flags`.
    """
    turn_before, last = game.turn, round_over & (game.turn.round >= costs.ROUNDS)
    scored = fusion_barrier(partial(scoring.final_score, ruleset), last, (game,), game.players)
    game = game.replace(
        players=Players(
            jnp.where(last, scored.small, game.players.small),
            jnp.where(last, scored.large, game.players.large),
        ),
        # Changed in many places and packed once: each pack is a dozen kernels.
        turn=game.turn.edit().replace(phase=jnp.where(last, Phase.OVER, game.turn.phase)),
    )
    game, set_up = _next_placement(game)
    game = _new_round(game, round_over & ~last | set_up)
    phase = game.turn.phase
    starts = (phase == Phase.TINKERING) & ~_tinkerers(ruleset, game).any()
    game = game.replace(
        players=fusion_barrier(
            partial(income.collect, ruleset),
            starts | (atom >= 0),
            (game.replace(turn=turn_before), starts, turn_before.player.astype(jnp.int32), atom),
            game.players,
        ),
        turn=game.turn.replace(phase=jnp.where(starts, Phase.INCOME, phase)).pack(),
    )
    gaia_now = (game.turn.phase == Phase.INCOME) | (game.turn.phase == Phase.GAIA)
    players, turn, planet = fusion_barrier(
        partial(_gaia_phase, ruleset),
        gaia_now,
        (game, stops),
        (game.players, game.turn, game.board.planet),
    )
    node, player = _decision(ruleset, game.replace(players=players, turn=turn))
    return players, turn.replace(node=node, player=player), planet, game.board.flags


def _next_placement(game: GameState) -> tuple[GameState, Array]:
    """The next set-up decision; the first round starts after the last booster (INI-10)."""
    turn = game.turn
    setting_up = turn.phase == Phase.SETUP
    length = (turn.sequence >= 0).sum()
    upcoming = turn.sequence[turn.setup_done.astype(jnp.int32)]
    active = jnp.where(setting_up & (turn.setup_done < length), upcoming, turn.active)
    return game.replace(turn=turn.replace(active=active)), setting_up & (turn.setup_done >= length)


def _new_round(game: GameState, starts: Array) -> GameState:
    """Clean-up of the old round and step 0 of the new one (ROU-01, ROU-07, A6)."""
    turn, board, players = game.turn, game.board, game.players
    # The k-th to pass is k-th in the new round (ROU-02); before round 1 no player has passed.
    passed = starts & (turn.round > 0)

    def reset(value: Array, to: int = 0) -> Array:
        return jnp.where(starts, jnp.asarray(to, value.dtype), value)

    turn = turn.replace(
        round=turn.round + starts,
        phase=reset(turn.phase, Phase.TINKERING),
        order=jnp.where(passed, inverse(turn.passed - 1), turn.order),
        passed=reset(turn.passed),
        power_used=reset(turn.power_used),
        ship_used=reset(turn.ship_used),
    )
    players = players.replace(used=reset(players.used), tinkering=reset(players.tinkering, -1))
    flags = jnp.where(starts, board.flags & (255 - FRESH), board.flags).astype(board.flags.dtype)
    return game.replace(turn=turn, players=players, board=board.replace(flags=flags))


def _tinkerers(ruleset: Ruleset, game: GameState) -> Array:
    """(P,) bool, players who still choose this round's tinkering tile (TIN-01)."""
    faction = game.setup.faction.astype(jnp.int32)
    ability = jnp.asarray(ruleset.tables.faction.tinkering)[faction] > 0
    return ability & (game.players.tinkering < 0)


def tinkering_options(seat: Seat) -> Array:
    """(tinkering tiles,) bool: of this half of the game, not chosen before (TIN-01)."""
    ruleset = seat.ruleset
    this_half: Array = (ruleset.tables.tinkering_round == seat.game.turn.round).any(-1)
    chosen = bit_vector(seat.me.tinkered, len(ruleset.tinkering_tiles)) == 1
    return seat.at(Node.TINKERING) & this_half & ~chosen


def _gaia_phase(ruleset: Ruleset, game: GameState, stops: Array) -> tuple[Players, Turn, Array]:
    """Planets convert, tokens return, Terrans convert theirs, Itars buy tiles (GAI-06)."""
    turn = game.turn
    starts = (turn.phase == Phase.INCOME) & (game.players.income == 0).all()
    faction = game.setup.faction.astype(jnp.int32)
    players = game.players.edit()
    itars = gaia.decides_on_tiles(ruleset, players, faction)
    points = gaia.conversion_points(ruleset, players, faction).sum()
    points = jnp.where(starts, points, turn.terrans_points)
    players = gaia.return_tokens(ruleset, players, faction, ~itars & starts)
    phase = jnp.where(starts, Phase.GAIA, turn.phase)

    # Terrans: DONE, or no pick legal, and what is left becomes credits (A12, GAI-08).
    terrans = jnp.argmax(jnp.asarray(ruleset.tables.faction.pi_gaia_convert)[faction] > 0)
    me = jax.tree.map(lambda x: x[terrans], players)
    can_pick = gaia.conversion_options(ruleset, me, points).any()
    rest = (phase == Phase.GAIA) & (points > 0) & (stops & (turn.node == Node.TERRANS) | ~can_pick)
    credits = jnp.where(rest, points * TERRANS_REST.gain.credits, 0)
    gain = jnp.where(jnp.arange(len(GAIN_FIELDS)) == CREDITS, credits, 0)
    richer = receive(FactionRow.of(ruleset, faction[terrans]), me, gain).resources
    is_terrans = (jnp.arange(game.num_players) == terrans)[:, None]
    players = players.replace(resources=jnp.where(is_terrans, richer, players.resources))
    points = jnp.where(rest, 0, points)

    # The Itars stop, or can buy no tile, and the last tokens return (GAI-09).
    waits = _itars_wait(ruleset, game, players) & ~(stops & (turn.node == Node.ITARS))
    over = (phase == Phase.GAIA) & (points == 0) & ~waits
    players = gaia.return_tokens(ruleset, players, faction, itars & over)
    turn = turn.replace(
        phase=jnp.where(over, Phase.ACTIONS, phase),
        terrans_points=points,
        active=jnp.where(over, turn.order[0], turn.active),
    )
    return players.pack(), turn, gaia.convert(game.board, starts).planet


def _itars_wait(ruleset: Ruleset, game: GameState, players: Players) -> Array:
    """() bool, the Itars can buy a tile now (GAI-09). `players`: all, in their current state."""
    itars = gaia.decides_on_tiles(ruleset, players, game.setup.faction.astype(jnp.int32))
    player = jnp.argmax(itars)
    me, faction = jax.tree.map(lambda x: x[player], players), faction_row(ruleset, game, player)
    tiles, slots = tech.tile_options(Seat(ruleset, game, player, faction, me))
    return itars.any() & gaia.can_buy_tile(me) & (tiles.any() | slots.any())


def _decision(ruleset: Ruleset, game: GameState) -> tuple[Array, Array]:
    """Node and decider of the phase; no sub-decision or leech is pending."""
    turn = game.turn
    faction = game.setup.faction.astype(jnp.int32)
    length = (turn.sequence >= 0).sum()
    boosters = turn.setup_done >= length - game.num_players
    tinkerer = jnp.argmax(_tinkerers(ruleset, game))
    order = turn.order.astype(jnp.int32)
    earner = order[jnp.argmax(game.players.income[order] != 0)]
    converts = turn.terrans_points > 0
    buys = jnp.asarray(ruleset.tables.faction.pi_gaia_tiles)[faction]
    changes = jnp.asarray(ruleset.tables.faction.pi_gaia_convert)[faction]
    by_phase: list[tuple[Phase, Node | Array, Array]] = [
        (Phase.SETUP, jnp.where(boosters, Node.BOOSTER, Node.START), turn.active),
        (Phase.TINKERING, Node.TINKERING, tinkerer),
        (Phase.INCOME, Node.INCOME, earner),
        (
            Phase.GAIA,
            jnp.where(converts, Node.TERRANS, Node.ITARS),
            jnp.argmax(jnp.where(converts, changes, buys)),
        ),
        (Phase.ACTIONS, Node.TURN, turn.active),
        (Phase.OVER, Node.ENDED, turn.active),
    ]
    node, player = jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32)
    for phase, phase_node, decider in by_phase:
        in_phase = turn.phase == phase
        node, player = jnp.where(in_phase, phase_node, node), jnp.where(in_phase, decider, player)
    return node, player
