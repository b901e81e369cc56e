"""Replay a recorded game: its positions and actions; replay the actions of a playout from one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np

import gaia_jax
from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import GaiaEnv, State

from ..system.environments import make_env
from ..types import Environment, EnvState

Position = TypeVar("Position", bound=EnvState)


class Game(NamedTuple):
    """A game of M decisions."""

    env: Any
    states: list[Any]  # M + 1: the position before each decision, and the end
    actions: list[int]  # M; -1 if the action is not known, as in the table's latest position


def read_game(path: Path, num_decisions: int | None = None) -> Game:
    """Replay a record.

    Args:
        num_decisions: replay at most this many decisions.
    Raises:
        UserError: the file cannot be read, or one of its moves is illegal.
    """
    try:
        record = replay.read(path)
        if num_decisions is not None:
            record = dataclasses.replace(
                record, actions=record.actions[:num_decisions], final_vp=()
            )
        return replay_game(record)
    except replay.RecordError as error:
        raise UserError(str(error)) from error


def replay_game(record: replay.Record) -> Game:
    """The game of a record.

    Raises:
        RecordError: one of its moves is illegal.
    """
    states = list(replay.states(record))
    env = make_env(gaia_jax, record.ruleset, "vp", states[0].game.num_seats)
    return Game(env, states, [from_text(env.ruleset, text) for text in record.actions])


def compiled_step(env: GaiaEnv) -> Callable[[State, int], State]:
    """The compiled step with which records of an environment are replayed; states on the host."""
    step = replay.compiled(gaia_jax.make(env.id, players=env.num_players))[1]
    return lambda state, action: jax.device_get(step(state, action))


def follow(
    game: Game, number: int, first: int, actions: Sequence[int] | np.ndarray
) -> Iterator[tuple[int, State]]:
    """Replay the actions of a playout: each, ends of turns included, with the state after it.

    Args:
        number: of the decision, from 1, at whose position the playout started.
        first: the first action.
        actions: the later ones, with or without ends of turns; -1 ends them.
    """
    moves = (first, *(int(action) for action in actions))
    yield from whole_moves(game.env, compiled_step(game.env), game.states[number - 1], moves)


def whole_moves(
    env: Environment,
    step: Callable[[Position, int], Position],
    state: Position,
    actions: Iterable[int],
) -> Iterator[tuple[int, Position]]:
    """Restore the ends of turns, which playouts leave out: each action and the state after it.

    Args:
        step: one decision of an environment without short turns.
        state: a single state, before the first action.
        actions: the first action of the playout, then its row of `Ends.moves`; -1 ends them.
    """
    end_turn = env.ruleset.actions.first.get("end_turn", -1)
    for index, action in enumerate(actions):
        if action < 0:
            return
        can_end_turn = end_turn >= 0 and state.legal_action_mask[end_turn]
        if index and can_end_turn and action != end_turn:
            state = step(state, end_turn)
            yield end_turn, state
        state = step(state, action)
        yield action, state
