"""The Automa's turns between two positions, card by card: what it considered, and what decided.

The turns are played again from the position before by the functions of `rules.automa`, which
choose by the same orders here as in a game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.automa import LARGEST_DECK, DecisionCard
from gaia_jax.rules.automa import cards, set_up, turn
from gaia_jax.rules.automa.choice import Order
from gaia_jax.rules.player import player_row
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AUTOMA, HUMAN, Board, GameState, Node, Phase, Players

# `Step.verb`: a mine, an upgrade, a research step, an advanced tile removed, a space covered, a
# ship explored, a booster taken.
MINE_ON, UPGRADE, ADVANCE, REMOVE, COVER = "mine", "upgrade", "advance", "remove", "cover"
EXPLORE, BOOSTER = "explore", "booster"
NUMBER = "number"  # of a numbered selection (AUT-17), in `Step.decided_by` and `Option.lost_by`


@dataclass(frozen=True)
class Option:
    """A planet, track, action space or booster that was considered."""

    place: str  # "q,r", or an id
    planet: str  # id of a planet; "" for other places
    values: dict[str, int]  # of planets, by tie-breaker; the least wins
    lost_by: str  # the tie-breaker by which it lost; "" for the chosen one


@dataclass(frozen=True)
class Step:
    """A part of an action."""

    verb: str
    place: str
    before: str  # the planet, the structure or the level; "" for the others
    after: str  # of a space the one on its left that is covered too, if any
    options: tuple[Option, ...]
    decided_by: str  # a tie-breaker or NUMBER; "" with one option
    card: int = 0  # the card that decides in the set-up; 0 in a round, where the support card does


@dataclass(frozen=True)
class AutomaTurn:
    """A turn of the Automa, or its steps of a set-up. `dataclasses.asdict` of it is JSON."""

    round: int
    number: int  # in the round, from 1; 0 in the set-up
    support: int  # card number; 0 in the set-up
    action: int  # card number; 0 if none is left, and in the set-up
    passes: bool
    steps: tuple[Step, ...]
    reach: int  # of a mine
    vp: int
    satellite: bool  # one was gained
    offered: int  # power offered to the human
    cards_left: int  # in this round's deck


class _TurnResult(NamedTuple):
    """A turn as arrays."""

    after: GameState
    passes: Array
    plan: turn.Plan
    tracks: Array  # (6,) bool, those that research may choose
    covered: turn.Covered  # with the first space alone


@partial(jax.jit, static_argnums=0)
def _take(ruleset: Ruleset, game: GameState, changes: dict[str, Array]) -> _TurnResult:
    """A turn of the Automa in a position whose fields of `Turn` need these changes."""
    open_ = game.turn.replace(
        phase=Phase.ACTIONS, node=Node.TURN, player=AUTOMA, active=AUTOMA,
        main_action_done=False, leech=0, **changes,
    )  # fmt: skip
    game = game.replace(turn=open_)
    turn_cards = cards.turn_cards(ruleset, game)
    me = player_row(game, jnp.int32(AUTOMA))
    plan = turn.plan(ruleset, game, me, turn_cards)
    count = jnp.minimum(plan.orders.spaces, 1)
    return _TurnResult(
        after=turn.take_turn(ruleset, game)[0],
        passes=turn_cards.passes,
        plan=plan,
        tracks=turn.research_options(game, me, plan.orders)[0],
        covered=turn.cover_spaces(ruleset, game.turn, me.shuttles, count, turn_cards.support),
    )


@partial(jax.jit, static_argnums=0)
def _place_start_mine(ruleset: Ruleset, game: GameState) -> tuple[Order, GameState]:
    """The order of the planets for the next starting mine, and the game after it."""
    order = set_up.mine_order(ruleset, game)
    return order, set_up.place_mine(ruleset, game, jnp.ones((), bool))


def compile_turns(ruleset: Ruleset, state: Any) -> None:
    """Compile what `automa_turns` needs; `state`: any state of the ruleset."""
    game = jax.device_get(state.game)
    _take(ruleset, game, _changes(game))
    _place_start_mine(ruleset, game)


def _changes(game: GameState, **fields: Any) -> dict[str, Any]:
    """The changes of `_take`: those of the position but for `fields`, always of one type."""
    names = ("passed", "power_used", "ship_used", "advanced_left")
    current = {name: fields.get(name, getattr(game.turn, name)) for name in names}
    return {name: np.asarray(value, np.int32) for name, value in current.items()}


def automa_turns(before: Any, after: Any, ruleset: Ruleset) -> tuple[AutomaTurn, ...]:
    """The Automa's turns in the step from one state to the next; () in a game without one.

    Args:
        before, after: states of `gaia_jax.GaiaEnv` around one decision of the human.
    """
    if not ruleset.automa:
        return ()
    earlier, later = jax.device_get((before.game, after.game))
    if int(earlier.turn.phase) == Phase.SETUP:
        return tuple(_set_up_steps(ruleset, earlier, later))
    return tuple(_turns(ruleset, earlier, later))


def _turns(ruleset: Ruleset, earlier: GameState, later: GameState) -> Iterator[AutomaTurn]:
    """The turns in the round of `earlier`, then a first turn in the next round."""
    was_open, is_open = (int(game.turn.phase) == Phase.ACTIONS for game in (earlier, later))
    same_round = is_open and int(later.turn.round) == int(earlier.turn.round)
    assert earlier.automa is not None and later.automa is not None
    if was_open and not earlier.turn.passed[AUTOMA]:
        # A round that is over has seen the pass.
        done = int(later.automa.turns) - int(earlier.automa.turns) if same_round else LARGEST_DECK
        game = _after_human(earlier, later)
        passed = np.array([int(not same_round or later.turn.passed[HUMAN] > 0), 0])
        for _ in range(done):
            result = jax.device_get(_take(ruleset, game, _changes(game, passed=passed)))
            yield _describe(ruleset, game, result)
            game = result.after
            if result.passes:
                break
    if is_open and not (was_open and same_round) and later.automa.turns:
        game, changes = _before_first_turn(earlier, later)
        yield _describe(ruleset, game, jax.device_get(_take(ruleset, game, changes)))


def _after_human(earlier: GameState, later: GameState) -> GameState:
    """The position after a decision that ended the human's turn, before the Automa's turn.

    Of what such a decision changes the Automa's turns depend on the row of boosters alone (AUT-29).
    """
    assert earlier.automa is not None
    old, new = (int(game.players.booster[HUMAN]) for game in (earlier, later))
    if old == new:
        return earlier
    row = [int(b) for b in earlier.automa.booster_row if b not in (-1, new)] + [old]
    padded = row + [-1] * (len(earlier.automa.booster_row) - len(row))
    automa = earlier.automa.replace(booster_row=np.array(padded, np.int8))
    return earlier.replace(automa=automa)


def _before_first_turn(earlier: GameState, later: GameState) -> tuple[GameState, dict[str, Any]]:
    """The position before the only turn of the Automa in a round, from the one after it.

    What the human has is that of `later`; what the Automa has it had in `earlier`.
    """
    old, new = earlier.board, later.board
    cells = (new.piece_owner == AUTOMA) & (old.piece != new.piece)
    parts = {x: np.where(cells, getattr(old, x), getattr(new, x)) for x in _CELLS}
    near = np.uint8(1 << AUTOMA)
    parts["flags"] = new.flags & ~near | old.flags & near
    parts["distance_to_own"] = _with_row(new.distance_to_own, old.distance_to_own)
    board: Board = new.replace(**parts)
    players = Players(
        *(_with_row(getattr(later.players, x), getattr(earlier.players, x)) for x in _ROWS)
    )
    assert later.automa is not None
    game = later.replace(
        board=board, players=players, automa=later.automa.replace(turns=np.int8(0))
    )
    # The Automa removed the tiles that the human does not own.
    left = int(earlier.turn.advanced_left)
    for slot, tile in enumerate(later.setup.advanced):
        left &= ~(int(later.players.advanced[HUMAN] >> int(tile) & 1) << slot)
    return game, _changes(game, power_used=0, ship_used=0, advanced_left=left)


_CELLS, _ROWS = ("planet", "piece", "piece_owner"), ("small", "large")


def _with_row(array: Any, rows: Any) -> Any:
    """(P, ...) array on the host with the Automa's row of another."""
    out = np.array(array)
    out[AUTOMA] = rows[AUTOMA]
    return out


def _place(ruleset: Ruleset, cell: int) -> str:
    q, r = (int(x) for x in ruleset.geometry.cells[cell])
    return f"{q},{r}"


def _set_up_steps(ruleset: Ruleset, earlier: GameState, later: GameState) -> Iterator[AutomaTurn]:
    """The Automa's mines and booster of the set-up, as one turn with a card for each step."""
    draws, game, steps = earlier.setup.automa, earlier, list[Step]()
    assert draws is not None
    first, last = (int(np.sum(x.board.piece_owner == AUTOMA)) for x in (earlier, later))
    for card in draws.start_cards[first:last]:
        order, game = jax.device_get(_place_start_mine(ruleset, game))
        options, decided_by = _ranked(ruleset, earlier.board, order)
        (chosen,) = (option for option in options if not option.lost_by)
        mine = (MINE_ON, chosen.place, chosen.planet, "MINE")
        steps.append(Step(*mine, options, decided_by, int(card)))
    booster = int(later.players.booster[AUTOMA])
    if booster != int(earlier.players.booster[AUTOMA]):
        assert earlier.automa is not None
        ids = ruleset.ids["booster"]
        ranked = _numbered([ids[b] for b in earlier.automa.booster_row if b >= 0], ids[booster])
        steps.append(Step(BOOSTER, ids[booster], "", "", *ranked, int(draws.booster_card)))
    if steps:
        deck = int(np.count_nonzero(_deck(later)))
        yield AutomaTurn(0, 0, 0, 0, False, tuple(steps), 0, 0, False, 0, deck)


def _deck(game: GameState) -> np.ndarray:
    """(14,) int8, the deck of the round; of round 1 before it."""
    assert game.setup.automa is not None
    deck: np.ndarray = np.asarray(game.setup.automa.deck)[max(int(game.turn.round) - 1, 0)]
    return deck


def turned_cards(ruleset: Ruleset, game: GameState) -> tuple[list[DecisionCard], int]:
    """The deck as the table shows it: this round's turned cards, and the number of cards left.

    Args:
        game: one game on the host. The last card turned supports the next turn.
    """
    assert ruleset.automa is not None and game.automa is not None
    deck = [int(card) for card in _deck(game) if card]
    turns = int(game.automa.turns)
    count = min(turns + 1, len(deck)) if turns else 0
    by_number = {card.number: card for card in ruleset.automa.cards}
    return [by_number[number] for number in deck[:count]], len(deck) - count


def _describe(ruleset: Ruleset, game: GameState, result: _TurnResult) -> AutomaTurn:
    """A turn from a position, with its parts and their reasons."""
    assert game.automa is not None
    after, deck, turns = result.after, _deck(game), int(game.automa.turns)
    size, passes = int(np.count_nonzero(deck)), bool(result.passes)
    steps = _pass(ruleset, game, after) if passes else _steps(ruleset, game, result)
    vp, satellites = (
        int(getattr(after.players, x)[AUTOMA]) - int(getattr(game.players, x)[AUTOMA])
        for x in ("vp", "satellites")
    )
    return AutomaTurn(
        round=int(game.turn.round),
        number=turns + 1,
        support=int(deck[turns]),
        action=int(deck[turns + 1]) if turns + 1 < size else 0,
        passes=passes,
        steps=tuple(steps),
        reach=int(result.plan.orders.reach),
        vp=vp,
        satellite=satellites > 0,
        offered=int(after.turn.leech[:, HUMAN].max()),
        cards_left=max(size - turns - 2, 0),
    )


def _pass(ruleset: Ruleset, game: GameState, after: GameState) -> Iterator[Step]:
    """The booster that a pass takes; none in the last round (AUT-28)."""
    old, new = (int(x.players.booster[AUTOMA]) for x in (game, after))
    if old != new:
        assert game.automa is not None
        ids = ruleset.ids["booster"]
        row = [ids[b] for b in game.automa.booster_row if b >= 0]
        yield Step(BOOSTER, ids[new], "", "", *_numbered(row, ids[new]))


def _steps(ruleset: Ruleset, game: GameState, result: _TurnResult) -> Iterator[Step]:
    """The parts of an action, in the order in which factions print them."""
    plan, after = result.plan, result.after
    research = list(_research(ruleset, game, result))
    if not plan.is_upgrade:
        yield from research
    if plan.is_mine or plan.is_upgrade:
        order = plan.mines if plan.is_mine else plan.upgrades
        options, decided_by = _ranked(ruleset, game.board, order)
        cell, ids = int(plan.choice.cell), ruleset.ids
        before = ids["planet"][game.board.planet[cell]]
        if plan.is_upgrade:
            before = ids["structure"][game.board.piece[cell]]
        piece = ids["structure"][after.board.piece[cell]]
        verb = MINE_ON if plan.is_mine else UPGRADE
        yield Step(verb, _place(ruleset, cell), before, piece, options, decided_by)
    if plan.is_upgrade:  # the Firaks research after it
        yield from research
    yield from _covers(ruleset, game, result)


def _ranked(ruleset: Ruleset, board: Board, order: Order) -> tuple[tuple[Option, ...], str]:
    """The options of an order with the rule by which each lost, and the rule that decided."""
    left = [int(c) for c in np.flatnonzero(order.options)]
    lost_by, decided_by, options = dict.fromkeys(left, ""), "", list(left)
    for rule in order.tie_breakers:
        best = min(rule.value[c] for c in left)
        for cell in [c for c in left if rule.value[c] > best]:
            lost_by[cell] = decided_by = rule.name
            left.remove(cell)
    values = {c: {rule.name: int(rule.value[c]) for rule in order.tie_breakers} for c in options}
    out = (
        Option(_place(ruleset, c), ruleset.ids["planet"][board.planet[c]], values[c], lost_by[c])
        for c in options
    )
    return tuple(out), decided_by


def _numbered(options: Sequence[str], chosen: str) -> tuple[tuple[Option, ...], str]:
    """The options of a numbered selection, from left to right."""
    out = tuple(Option(x, "", {}, "" if x == chosen else NUMBER) for x in options)
    return out, NUMBER if len(options) > 1 else ""


def _research(ruleset: Ruleset, game: GameState, result: _TurnResult) -> Iterator[Step]:
    """A research step, or an advanced tile that is removed in its place (AUT-24)."""
    tracks, after = ruleset.ids["track"], result.after
    options = [track for track, is_option in zip(tracks, result.tracks, strict=True) if is_option]
    removed = int(game.turn.advanced_left) & ~int(after.turn.advanced_left)
    for t, track in enumerate(tracks):
        level, level_after = (int(x.players.tracks[AUTOMA][t]) for x in (game, after))
        if level != level_after:
            yield Step(ADVANCE, track, str(level), str(level_after), *_numbered(options, track))
        if removed >> t & 1:
            tile = ruleset.ids["advanced"][int(game.setup.advanced[t])]
            yield Step(REMOVE, track, tile, "", *_numbered(options, track))


def _covers(ruleset: Ruleset, game: GameState, result: _TurnResult) -> Iterator[Step]:
    """The spaces covered and ships explored, one after another (AUT-25, AUT-27, AUT-42)."""
    before, after = (
        _closed_ids(ruleset, x.turn.power_used, x.turn.ship_used, x.players.shuttles[AUTOMA])
        for x in (game, result.after)
    )
    first = _closed_ids(ruleset, *result.covered)
    for earlier, later in ((before, first), (first, after)):
        options = _space_options(ruleset, earlier)
        if new := [x for x in options if x in later]:
            *left, chosen = new
            verb = EXPLORE if chosen in ruleset.ships else COVER
            yield Step(verb, chosen, "", "".join(left), *_numbered(options, chosen))


def _closed_ids(ruleset: Ruleset, power: Any, shared: Any, shuttles: Any) -> set[str]:
    """The ids of covered action spaces, and of ships with a shuttle of the Automa."""
    shared_ids = tuple(action.id for _, action in ruleset.shared_actions)
    bits = (ruleset.ids["power_action"], power), (shared_ids, shared), (ruleset.ships, shuttles)
    return {x for ids, value in bits for i, x in enumerate(ids) if int(value) >> i & 1}


def _space_options(ruleset: Ruleset, closed_ids: set[str]) -> list[str]:
    """The options of a numbered selection from left to right: free spaces, ships to explore."""
    assert ruleset.automa is not None
    row = [*ruleset.automa.action_row]
    for tile in ruleset.automa.ship_tiles:
        row += tile.spaces if tile.ship in closed_ids else [tile.ship]
    return [x for x in row if x not in closed_ids]
