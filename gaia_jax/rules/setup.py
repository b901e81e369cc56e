"""The start of a game: boards, starting resources, the order of the set-up decisions (SET, INI)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.planets import (
    DRAWN_COLOUR_STEPS,
    DRAWN_COLOURS,
    FIRST_COLOUR,
    OTHER_COLOUR_STEPS,
    TERRAFORM_CYCLE,
)
from gaia_jax.rules.automa import set_up
from gaia_jax.rules.federation import UNKNOWN_FEASIBLE, UNKNOWN_INFEASIBLE
from gaia_jax.rules.player import book, receive, receive_power
from gaia_jax.ruleset import FactionRow, Ruleset
from gaia_jax.ruleset.faction_table import STOCKS
from gaia_jax.setup.draw import board_planets
from gaia_jax.state import (
    NO_BRAINSTONE,
    NO_PLAYER,
    PI,
    Board,
    FederationOptions,
    GameState,
    Node,
    Phase,
    Players,
    Setup,
    Turn,
)


def terraforming_steps(ruleset: Ruleset, setup: Setup) -> Array:
    """(P, 14) int8, steps that each planet needs for each player (MIN-08, MIN-21, INI-09)."""
    f = ruleset.tables.faction
    faction = setup.faction.astype(jnp.int32)
    steps = jnp.asarray(f.steps)[faction]
    home = jnp.asarray(f.home).astype(jnp.int32)[faction]
    colours = jnp.arange(len(TERRAFORM_CYCLE))
    if not f.drawn_colours.any():
        return steps
    homes = (home[:, None] == colours + FIRST_COLOUR).any(0)
    # Fillers: colours without a home player, in drawn order; each homeless faction takes the next.
    place = jnp.argsort(setup.colour_order.astype(jnp.int32))
    earlier = place[None] < place[:, None]
    filler = jnp.where(homes, len(TERRAFORM_CYCLE), (earlier & ~homes[None]).sum(-1))
    drawn = jnp.asarray(f.drawn_colours)[faction] > 0
    seat = jnp.argsort(setup.turn_order.astype(jnp.int32))
    before = (drawn[None] & (seat[None] < seat[:, None])).sum(-1)[:, None]
    need = DRAWN_COLOURS - homes.sum()
    hard = homes | (filler >= before * need) & (filler < (before + 1) * need)
    colour_steps = jnp.where(hard, DRAWN_COLOUR_STEPS, OTHER_COLOUR_STEPS)
    window = steps[:, FIRST_COLOUR : FIRST_COLOUR + len(TERRAFORM_CYCLE)]
    chosen = jnp.where(drawn[:, None], colour_steps, window).astype(jnp.int8)
    return steps.at[:, FIRST_COLOUR : FIRST_COLOUR + len(TERRAFORM_CYCLE)].set(chosen)


def decision_sequence(ruleset: Ruleset, setup: Setup) -> Array:
    """(3 P + 1,) int8, who makes each set-up decision; -1 beyond the last (INI-01 to INI-10).

    Base factions place one mine in turn order and one in reverse, the Xenos a third, then the
    factions of the Lost Fleet, then the Hive; boosters last, in reverse turn order (SET-13).
    """
    f = ruleset.tables.faction
    order = setup.turn_order.astype(jnp.int32)
    faction = setup.faction.astype(jnp.int32)[order]
    expansion = jnp.asarray(f.expansion)[faction] > 0
    institute = jnp.asarray(f.start_piece)[faction] == PI
    pieces = jnp.asarray(f.start_pieces)[faction]
    first = ~expansion & ~institute
    everyone = jnp.ones(ruleset.players, bool)
    players = [order, order[::-1], order, order, order, order[::-1]]
    takes_part = [
        first,
        (first & (pieces >= 2))[::-1],
        first & (pieces >= 3),
        expansion,
        ~expansion & institute,
        everyone,
    ]
    player, decides = jnp.concatenate(players), jnp.concatenate(takes_part)
    longest = 3 * ruleset.players + 1  # two mines and a booster each, the Xenos' third mine
    place = jnp.where(decides, jnp.cumsum(decides) - 1, longest)
    hit = place[None] == jnp.arange(longest)[:, None]
    return jnp.where(hit.any(-1), jnp.where(hit, player, 0).sum(-1), NO_PLAYER).astype(jnp.int8)


def _player(ruleset: Ruleset, faction: Array) -> Players:
    """A player's row before the first decision (SET-14 to SET-17, GEN-08)."""
    f = FactionRow.of(ruleset, faction)
    ship = f.preplaced_ship
    me = (
        Players.zeros(ruleset.players)
        .edit()
        .replace(
            resources=f.start[STOCKS],
            power=f.start_power,
            brainstone=jnp.where(f.brainstone > 0, 0, NO_BRAINSTONE),
            tracks=f.start_tracks,
            shuttles=jnp.where(ship >= 0, 1 << jnp.maximum(ship, 0), 0),
            booster=-1,
            tinkering=-1,
            min_satellites_feasible=UNKNOWN_FEASIBLE,
            max_satellites_infeasible=UNKNOWN_INFEASIBLE,
        )
    )
    me = book(me, {"START": jnp.int32(costs.START_VP)})
    # Bonuses of the starting levels (SET-14); the Gleens' QIC of navigation becomes ore.
    bonus = jnp.asarray(ruleset.tables.level_bonus).astype(jnp.int32)
    for track in range(len(ruleset.ids["track"])):
        gain = jnp.where(me.tracks[track] >= 1, bonus[track, 1], 0)
        me = receive_power(receive(f, me, gain), gain)
    return me


def _turn(ruleset: Ruleset, setup: Setup) -> Turn:
    """The first decision of the set-up, and everything still there."""
    sequence = decision_sequence(ruleset, setup)
    supply = jnp.array([token.copies for token in ruleset.base_tokens])
    on_track = jnp.arange(len(ruleset.base_tokens)) == setup.tf5_token
    return Turn.zeros(ruleset.players).replace(
        phase=Phase.SETUP,
        node=Node.START,
        player=sequence[0],
        active=sequence[0],
        order=setup.turn_order,
        sequence=sequence,
        pending_op=-1,
        pending_upgrade_cell=-1,
        cover=-1,
        free_mine=-1,
        last_pick=-1,
        advanced_left=(1 << len(ruleset.ids["advanced_slot"])) - 1,
        artifacts_left=(1 << ruleset.artifacts_in_play) - 1,
        token_supply=supply - on_track,
        ship_tokens=(1 << len(ruleset.ships)) - 1,
        track_token=True,
    )


def new_game(ruleset: Ruleset, setup: Setup) -> GameState:
    """The game that a set-up deals, before its first decision.

    Args:
        ruleset: the ruleset; setup: one draw, see `state.Setup`.
    """
    cells = ruleset.geometry.num_cells
    faction = setup.faction.astype(jnp.int32)
    guests = jnp.asarray(ruleset.tables.faction.guest_mines)[faction] > 0
    board = Board(
        planet=board_planets(setup, ruleset).astype(jnp.int8),
        piece=jnp.zeros(cells, jnp.int8),
        piece_owner=jnp.full(cells, NO_PLAYER, jnp.int8),
        flags=jnp.zeros(cells, jnp.uint8),
        federation_bits=jnp.zeros(cells, jnp.uint8),
        distance_to_own=jnp.full((ruleset.players, cells), 127, jnp.int8),
        lantids=jnp.where(guests.any(), jnp.argmax(guests), NO_PLAYER).astype(jnp.int8),
    )
    players = jax.vmap(lambda x: _player(ruleset, x))(faction)
    game = GameState(
        board=board,
        players=players.pack(),
        turn=_turn(ruleset, setup),
        federation=FederationOptions(
            may_form=jnp.zeros((), bool),
            addable=jnp.zeros(-(-cells // 8), jnp.uint8),
            complete=jnp.zeros((), bool),
        ),
        setup=setup,
        steps=terraforming_steps(ruleset, setup),
    )
    if ruleset.automa:
        game = set_up.take_steps(ruleset, set_up.with_board(ruleset, game))
    return game
