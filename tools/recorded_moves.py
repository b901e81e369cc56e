"""Moves and beginnings of recorded games, for `tools.calibrate_review`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax import replay
from gaia_jax.actions import to_text
from gaia_jax.ruleset import Ruleset
from training.analysis import review
from training.analysis.actions import is_main_action
from training.analysis.recorded_game import Game, read_game

PLANTER = "zoo/strong"  # the agent whose moves are replaced
TRIES = 6  # moves of a seat that may be replaced
BEGINS = 24  # decisions, among which the first main move is


class Move(NamedTuple):
    """A move of a recorded game."""

    game: str
    kind: str  # the player: an agent's name, or people
    seat: int
    number: int  # from 1
    state: Any
    played: int
    of: int  # main moves of the seat in the game
    vp: int  # of the seat at the end

    @property
    def key(self) -> tuple[str, int]:
        """The position, as (game, decision)."""
        return self.game, self.number


def moves(
    folder: Path, kinds: Sequence[str], moves_per_seat: int, turns: bool = False
) -> Iterator[Move]:
    """Moves of the seats of these kinds, the same ones at every call.

    Args:
        moves_per_seat: at most.
        turns: only main actions that have a legal alternative, in the order of the draw.
    """
    for path in sorted(folder.glob("*.json")):
        players, game = replay.read(path).players or ("people",) * 4, read_game(path)
        rng = np.random.default_rng(int.from_bytes(path.stem.encode()) % 2**64)
        positions = review.judged_positions(game)
        for seat, kind in enumerate(players[: game.env.num_players]):
            own = [at for at in positions if int(game.states[at].current_player) == seat]
            if kind in kinds and own:
                candidates = [
                    at
                    for at in own
                    if not turns
                    or other_actions(game.env.ruleset, game.states[at], game.actions[at])
                ]
                drawn = rng.permutation(candidates)[:moves_per_seat].tolist()
                for at in drawn if turns else sorted(drawn):
                    yield _move(game, path.stem, kind, seat, at, len(own))


def seats(folder: Path) -> Iterator[list[Move]]:
    """For each seat of a `PLANTER` the moves that may be replaced, in the order of the draw."""
    candidates = moves(folder, [PLANTER], TRIES, turns=True)
    for _, seat_moves in groupby(candidates, lambda move: (move.game, move.seat)):
        yield list(seat_moves)


def other_actions(rules: Ruleset, state: Any, played: int) -> list[int]:
    """The legal main actions except the one played; none for a placement or a booster."""
    node, legal = int(state.game.turn.node), np.flatnonzero(state.legal_action_mask).tolist()
    return [a for a in legal if a != played and is_main_action(node, to_text(rules, a))]


def _move(game: Game, name: str, kind: str, seat: int, at: int, of: int) -> Move:
    state, vp = jax.device_get(game.states[at]), int(game.states[-1].game.players.vp[seat])
    return Move(name, kind, seat, at + 1, state, game.actions[at], of, vp)


class Beginning(NamedTuple):
    """A recorded game where its first main move is made."""

    game: str
    number: int  # from 1
    state: Any
    kinds: tuple[str, ...]  # the players of the seats
    vp: list[int]  # of the seats at the end

    @property
    def key(self) -> tuple[str, int]:
        """The position, as (game, decision)."""
        return self.game, self.number


def beginnings(folder: Path) -> Iterator[Beginning]:
    """All games of a folder."""
    for path in sorted(folder.glob("*.json")):
        record, game = replay.read(path), read_game(path, BEGINS)
        at, players = review.judged_positions(game)[0], record.players or ("people",) * 4
        state = jax.device_get(game.states[at])
        yield Beginning(path.stem, at + 1, state, tuple(players), list(record.final_vp))
