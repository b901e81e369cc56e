"""Which decisions may become puzzles, when they are puzzles, and which a set has room for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaia_jax.state import Node

from ..types import JsonObject
from .puzzles import MIN_LEAD, MIN_LEAD_OVER_OTHERS
from .recorded_game import Game
from .trials import Trial

NUM_CANDIDATES = 6  # of a puzzle
LATE_ROUND, MAX_LATE_SHARE = 5, 0.7  # of a set of limited size: puzzles of this round and later
PUZZLE_NODES = (Node.START, Node.TURN, Node.LEECH, Node.TILE, Node.TOKEN)


def puzzle_decisions(game: Game, first_round: int = 1) -> list[int]:
    """Decisions that may become puzzles, numbered from 0.

    Start places, turns, offers of leech, and the choice of a tile or of a token of a federation.

    Args:
        first_round: of the puzzles; 0 begins with the start places.
    """
    return [
        at
        for at, state in enumerate(game.states[:-1])
        if int(state.game.turn.node) in PUZZLE_NODES
        and int(state.game.turn.round) >= first_round
        and int(np.sum(state.legal_action_mask)) > 1
    ]


def has_answer(trial: Trial) -> bool:
    """Whether the best candidate is allowed, needs no plan, and is not the choice to beat."""
    return (
        trial.best_row > 0
        and bool(trial.allowed[trial.answer])
        and trial.answer not in trial.improved_by_plan
    )


def leads_by_line(trial: Trial) -> bool:
    """Whether the best candidate leads in single playouts."""
    vp = trial.seat_vp.mean(1)
    lead = vp[trial.best_row] - np.delete(vp, trial.best_row)
    return has_answer(trial) and bool(lead[0] >= MIN_LEAD and (lead >= MIN_LEAD_OVER_OTHERS).all())


def is_promising(trial: Trial) -> bool:
    """Whether the best candidate may lead clearly, by its shrunk leads in VP.

    A smaller lead rarely survives the later tests.
    """
    beaten, *others = trial.losses
    is_clear = all(loss.shrunk_mean >= 2.0 for loss in others)
    return has_answer(trial) and beaten.shrunk_mean >= 6.0 and is_clear


def is_puzzle(trial: Trial) -> bool:
    """Whether the best candidate leads by MIN_LEAD VP and MIN_LEAD_OVER_OTHERS VP, at 95 %."""
    beaten, *others = trial.losses
    is_clear = all(loss.mean >= MIN_LEAD_OVER_OTHERS and loss.low > 0 for loss in others)
    return has_answer(trial) and beaten.mean >= MIN_LEAD and beaten.low > 0 and is_clear


def has_room(existing: Sequence[JsonObject], at_most: int, round: int) -> bool:
    """Whether a set of at most `at_most` puzzles has room for one of a round.

    Args:
        existing: its puzzles so far.
    """
    num_late = sum(puzzle["round"] >= LATE_ROUND for puzzle in existing)
    has_late_room = num_late < int(at_most * MAX_LATE_SHARE)
    return len(existing) < at_most and (round < LATE_ROUND or has_late_room)


def first_puzzles(
    by_game: Sequence[Sequence[JsonObject]], existing: Sequence[JsonObject], at_most: int
) -> list[list[JsonObject]]:
    """The puzzles of each game for which a set of at most `at_most` has room.

    Args:
        existing: the puzzles of the set so far.
    """
    selected, first = [*existing], [list[JsonObject]() for _ in by_game]
    for own, puzzles_of_game in zip(first, by_game, strict=True):
        for puzzle in puzzles_of_game:
            if has_room(selected, at_most, puzzle["round"]):
                selected.append(puzzle)
                own.append(puzzle)
    return first
