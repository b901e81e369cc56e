"""Name the event for which the answer of a puzzle is better than another candidate.

A player believes an answer for a reason that the next turns show, not for a mean over whole games.
So the playouts of both moves are replayed until the end of the next round, and one of these events
has to hold in MIN_SHARE of the paired games:

- "vp": the answer scores VP at once that the other move does not make up later;
- "taken": after the other move an opponent takes a piece or place of the answer in this round,
  before the seat could;
- "follows": after the answer the seat makes a move that it could not make after the other one,
  neither directly nor after conversions. Without that move most of the lead is gone
  (`Reason.needs`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.env import GaiaEnv, State
from gaia_jax.state import Node

from ..system.batched import concatenated, in_batches, one_row, stepping, take_rows
from ..types import JsonObject
from .actions import begins_turn, is_conversion, is_within_turn
from .attribution import by_source, largest_sources
from .trials import Trial

MIN_SHARE = 0.75  # of the paired games
MIN_PART = 0.5  # of the lead, for which the event has to account
MIN_VP_NOW = 3.0  # VP of the answer in its turn above those of the other move
BATCH = 256  # positions that are stepped together, for one compiled program
NUM_CONVERSIONS = 2  # before a move that counts as possible
CONTESTED = ("mine", "project", "pick", "ship", "artifact", "power", "booster", "advanced")
FOLLOWING = (
    "mine", "project", "upgrade", "piece", "ship", "explore", "artifact", "form_federation",
    "advance", "power",
)  # fmt: skip


class Reason(NamedTuple):
    """Why the answer is better than another candidate."""

    kind: str  # "vp", "taken" or "follows"
    holds: np.ndarray  # (n,) bool, in which of the paired games
    events: np.ndarray  # (n,) the action of the event in each game; -1: none
    about: JsonObject
    round: int = 0  # of "follows": by the end of which round
    needs: int = -1  # of "follows": the event; the answer without it has to lose most of its lead

    def json(self, texts: Sequence[str], game: int) -> JsonObject:
        """The value of "reason" of a candidate.

        Args:
            texts: of all actions. game: the one whose lines are shown.
        """
        event = int(self.events[game])
        about = {"kind": self.kind, "games": int(self.holds.sum())} | self.about
        return about | ({"text": texts[event]} if event >= 0 else {})


class Turns(NamedTuple):
    """The replayed beginnings of the n playouts of a candidate."""

    own: list[list[tuple[int, list[int]]]]  # by game: round (0 is this one) and actions of a turn
    # By game: the actions of opponents in this round as (column, player, action).
    others: list[list[tuple[int, int, int]]]
    # By game: column, round and (A,) possible actions when a later turn of the seat begins.
    openings: list[list[tuple[int, int, np.ndarray]]]
    vp: np.ndarray  # (S,) mean VP by source in the turn of the decision


class Opening(NamedTuple):
    """A later turn of the seat that begins."""

    row: int  # of the candidate
    game: int
    column: int
    round: int
    state: State


def find_reasons(env: GaiaEnv, trial: Trial) -> dict[int, list[Reason]]:
    """The possible reasons of each alternative by its row, the most convincing first.

    A move that the answer follows in the same round is none, unless it comes too late for a piece.

    Args:
        env: with short turns, as of the playouts.
    """
    turns, openings = _replay(env, trial)
    rows = [row for row in range(len(turns)) if row != trial.best_row]
    detours = {row for row in rows if _is_detour(turns[row], trial.answer)}
    reasons = {row: list(_scored(env, trial, turns, row)) for row in rows if row not in detours}
    unexplained = [row for row in rows if not reasons.get(row)]
    _add_openings(env, turns, [opening for opening in openings if opening.row in unexplained])
    texts = env.ruleset.actions.texts
    start = one_row(trial.state)
    is_pass = [texts[a].startswith(("pass", "booster")) for a in trial.comparison.candidates]
    possible = possible_actions(env, start)[0] if any(is_pass) else np.zeros(len(texts), bool)
    for row in unexplained:
        losses = list(_contested(texts, trial, turns, row))
        if row not in detours:
            # A pass ends the round of the seat: what it could do before is not due to the answer.
            excluded = possible & is_pass[row]
            reasons[row] = [*losses, *_following(texts, trial, turns, row, excluded)]
        elif losses:
            reasons[row] = losses
    return reasons


def has_reason(env: GaiaEnv, trial: Trial) -> bool:
    """Whether an event may explain why the answer is better than the choice to beat.

    Args:
        env: with short turns, as of the playouts.
    """
    rows = [0, trial.best_row]
    comparison = trial.comparison._replace(candidates=trial.comparison.candidates[rows])
    pair = trial._replace(comparison=comparison, ends=trial.ends.at(rows))
    return bool(find_reasons(env, pair).get(0))


def _is_detour(turns: Turns, answer: int) -> bool:
    """Whether the seat makes the move of the answer in the same round all the same."""
    return bool(
        np.mean([any(r == 0 and answer in actions for r, actions in own[1:]) for own in turns.own])
        >= MIN_SHARE
    )


def _scored(env: GaiaEnv, trial: Trial, turns: Sequence[Turns], row: int) -> Iterator[Reason]:
    """VP that the answer scores in its turn and keeps to the end, from main sources of its lead."""
    best, seat = trial.best_row, trial.comparison.seat
    now = turns[best].vp - turns[row].vp
    final = trial.ends.sources[[best, row], :, seat].mean(1)
    main = np.isin(np.arange(len(now)), largest_sources(final[0] - final[1]))
    lasting = np.where(main, np.clip(np.minimum(now, final[0] - final[1]), 0, None), 0)
    lead = trial.seat_vp[best].mean() - trial.seat_vp[row].mean()
    if lasting.sum() >= MIN_PART * lead and now.sum() >= MIN_VP_NOW:
        why = by_source(env.ruleset, turns[best].vp * (lasting > 0))
        holds = trial.seat_vp[best] > trial.seat_vp[row]
        yield Reason("vp", holds, np.full(len(holds), -1), {"sources": why})


def _contested(
    texts: Sequence[str], trial: Trial, turns: Sequence[Turns], row: int
) -> Iterator[Reason]:
    best, other = trial.best_row, int(trial.comparison.candidates[row])
    games = [own[0][1] for own in turns[best].own]
    pieces = Counter(piece for game in games for piece in {piece_of(texts[a]) for a in game})
    for piece, count in pieces.most_common():
        is_choice = piece.startswith("booster") and texts[other].startswith("booster")
        if not piece or is_choice or count < MIN_SHARE * len(games):
            continue
        takers = [
            _taker(texts, turns[row], game, piece, trial.answer) for game in range(len(games))
        ]
        holds = np.array([action >= 0 for _, action in takers])
        if holds.mean() >= MIN_SHARE:
            events = np.array([action for _, action in takers])
            players = Counter(player for player, action in takers if action >= 0)
            yield Reason("taken", holds, events, {"player": players.most_common(1)[0][0]})


def _taker(
    texts: Sequence[str], turns: Turns, game: int, piece: str, answer: int
) -> tuple[int, int]:
    """The opponent who takes a piece before the seat can, and the action; -1, -1: no one."""
    is_tile = texts[answer].startswith(("tile ", "advanced "))  # a new structure brings it again
    roots = (
        [a for a, text in enumerate(texts) if text.startswith("piece ")] if is_tile else [answer]
    )
    for column, player, action in turns.others[game]:
        if piece_of(texts[action]) == piece:
            before = [legal for at, _, legal in turns.openings[game] if at < column]
            is_taken = not any(legal[roots].any() for legal in before)
            return (player, action) if is_taken else (-1, -1)
    return -1, -1


def _following(
    texts: Sequence[str], trial: Trial, turns: Sequence[Turns], row: int, excluded: np.ndarray
) -> Iterator[Reason]:
    answer, other = turns[trial.best_row], turns[row]
    first: list[dict[int, tuple[int, int, int]]] = []  # by game and event: round, turn, action
    for own in answer.own:
        first.append({})
        for number, (round_, actions) in enumerate(own[1:]):
            event = _event(texts, actions)
            first[-1].setdefault(event, (round_, number, _main(texts, actions)))
    reasons = []
    for event in {event for game in first for event in game if event >= 0}:
        if excluded[same_event(texts, event)].any():
            continue
        for round_ in (0, 1):
            holds = np.array([
                event in game and game[event][0] <= round_
                and not _is_possible(texts, other, number, event, round_)
                for number, game in enumerate(first)
            ])  # fmt: skip
            if holds.mean() >= MIN_SHARE:
                events = np.array([game[event][2] if event in game else -1 for game in first])
                turn = float(np.mean([game[event][1] for game in first if event in game]))
                last = int(trial.state.game.turn.round) + round_
                about = {"round": round_, "turns": 1 + round(turn)}
                reason = Reason("follows", holds, events, about, last, event)
                reasons.append((round_, turn, event, reason))
                break
    yield from (reason for *_, reason in sorted(reasons, key=lambda rated: rated[:3]))


def _is_possible(
    texts: Sequence[str], turns: Turns, game: int, event: int, last_round: int
) -> bool:
    """Whether the seat makes a move in a game or could make it, until the end of a round."""
    is_played = any(
        _event(texts, actions) == event
        for round_, actions in turns.own[game]
        if round_ <= last_round
    )
    return is_played or any(
        legal[same_event(texts, event)].any()
        for _, round_, legal in turns.openings[game]
        if round_ <= last_round
    )


def _main(texts: Sequence[str], actions: Sequence[int]) -> int:
    """The main action of a turn; -1 if there is none."""
    return next((a for a in actions if not is_conversion(texts[a])), -1)


def _event(texts: Sequence[str], actions: Sequence[int]) -> int:
    """What a turn does, as an action: an upgrade by its new structure; -1: of no kind that counts.

    All upgrades that offer no choice are one event.
    """
    piece = next((a for a in actions if texts[a].startswith("piece ")), -1)
    main = piece if piece >= 0 else _main(texts, actions)
    if main < 0 or texts[main].split()[0] not in FOLLOWING:
        return -1
    return same_event(texts, main)[0]


def same_event(texts: Sequence[str], event: int) -> list[int]:
    """The actions that count as the same event: all upgrades, and both academies."""
    for start in ("upgrade ", "piece AC"):
        if texts[event].startswith(start):
            return [a for a, text in enumerate(texts) if text.startswith(start)]
    return [event]


def piece_of(text: str) -> str:
    """What an action takes from the others: a place of the map, a tile, an action; "": nothing."""
    verb, _, argument = text.partition(" ")
    if verb not in CONTESTED:
        return ""
    return argument if "," in argument else text


def _replay(env: GaiaEnv, trial: Trial) -> tuple[list[Turns], list[Opening]]:
    """Replay the games of each candidate until the end of the next round.

    `_add_openings` adds the possible actions.
    """
    seat, first_round = trial.comparison.seat, int(trial.state.game.turn.round)
    candidates, width = trial.comparison.candidates, trial.ends.moves.shape[2]
    first = np.repeat(candidates, trial.ends.moves.shape[1])
    lines = np.column_stack([first, trial.ends.moves.reshape(len(first), width)])
    states = take_rows(one_row(trial.state), np.zeros(len(lines), int))
    own: list[list[tuple[int, list[int]]]] = [[(0, [])] for _ in lines]
    others: list[list[tuple[int, int, int]]] = [[] for _ in lines]
    openings, count = list[Opening](), len(lines) // len(candidates)
    before = states.game.players.vp_source[:, seat]
    vp, is_over = np.zeros(before.shape), np.zeros(len(lines), bool)
    for column in range(width + 1):
        rounds = np.asarray(states.game.turn.round) - first_round
        vp[~is_over] = (states.game.players.vp_source[:, seat] - before)[~is_over]
        is_open = (lines[:, column] >= 0) & (rounds <= 1)
        if not is_open.any():
            break
        begins, inside = np.asarray(begins_turn(states)), np.asarray(is_within_turn(states))
        is_own = (np.asarray(states.current_player) == seat) & (inside | (column == 0))
        opens = is_open & is_own & begins & (column > 0)
        is_over |= (column > 0) & (opens | ~is_own)
        for game in np.flatnonzero(is_open).tolist():
            action, player = int(lines[game, column]), int(states.current_player[game])
            if opens[game]:
                at = *divmod(game, count), column, int(rounds[game])
                openings.append(Opening(*at, take_rows(states, np.array([game]))))
                own[game].append((int(rounds[game]), []))
            if is_own[game]:
                own[game][-1][1].append(action)
            elif rounds[game] == 0 and player != seat:
                others[game].append((column, player, action))
        states = step_all(env, states, np.maximum(lines[:, column], 0))
    turns = [
        Turns(
            own[first : first + count], others[first : first + count],
            [[] for _ in range(count)], vp[first : first + count].mean(0),
        )
        for first in range(0, len(lines), count)
    ]  # fmt: skip
    return turns, openings


def _add_openings(env: GaiaEnv, turns: Sequence[Turns], openings: Sequence[Opening]) -> None:
    if not openings:
        return
    states = concatenated(opening.state for opening in openings)
    for opening, legal in zip(openings, possible_actions(env, states), strict=True):
        turns[opening.row].openings[opening.game].append((opening.column, opening.round, legal))


def possible_actions(env: GaiaEnv, states: State) -> np.ndarray:
    """(T, A) the actions that are legal at T beginnings of turns, or after conversions.

    The structures that upgrades offer count too.
    """
    verbs = np.array([text.split()[0] for text in env.ruleset.actions.texts])
    legal = np.array(states.legal_action_mask)
    owners, frontier, last = np.arange(len(legal)), states, np.zeros(len(legal), int)
    for _ in range(NUM_CONVERSIONS):
        mask = np.asarray(frontier.legal_action_mask)
        in_order = np.arange(len(verbs)) >= last[:, None]  # of two conversions
        rows, actions = np.nonzero(mask & ((verbs == "upgrade") | ((verbs == "free") & in_order)))
        if not len(rows):
            break
        after = step_all(env, take_rows(frontier, rows), actions)
        node, is_free = np.asarray(after.game.turn.node), verbs[actions] == "free"
        counts = np.where(is_free, node == Node.TURN, node == Node.PIECE)
        np.logical_or.at(legal, owners[rows[counts]], np.asarray(after.legal_action_mask)[counts])
        conversions = np.flatnonzero(is_free & counts)
        owners, frontier, last = (
            owners[rows[conversions]],
            take_rows(after, conversions),
            actions[conversions],
        )
    return legal


def step_all(env: GaiaEnv, states: State, actions: np.ndarray) -> State:
    """The states (T, ...) after the actions (T,), in batches of one size, on the host."""
    after: list[State] = [
        jax.device_get(stepping(env)(batch, jnp.asarray(chosen)))
        for batch, chosen in in_batches((states, actions), BATCH)
    ]
    return take_rows(concatenated(after), slice(len(actions)))


def typical_game(trial: Trial, reasons: Mapping[int, Reason], main_rows: Iterable[int]) -> int:
    """The game that shows the reasons of the main rows, and most of the others.

    Of several games it is the one nearest to the median lead.
    """
    lead = trial.lead_by_game
    most, main = (
        sum((reasons[row].holds for row in rows), np.zeros(len(lead)))
        for rows in (reasons, main_rows)
    )
    return int(np.lexsort([np.abs(lead - np.median(lead)), -most, -main])[0])
