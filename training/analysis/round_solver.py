"""Solve the rest of a round exactly for a player when all others have passed.

The player takes one turn after another (ROU-06), nothing is random after the set-up, and the others
only answer offers of leech, which cannot change what the player can do. So the solver lists all
lines of play of the player, by breadth, as long as there are not too many. It leaves out what
cannot be better:

- Of two positions that differ only in resources, power and VP, the one that has at most as much of
  each. Power is compared by the tokens in bowl III, in II and III, and in all three: burning makes
  up for a charge that one more token in bowl I absorbs. With the brainstone it must be equal,
  because the number of tokens decides what pays.
- Conversions after the main action of a turn: they may as well begin the next turn (ROU-03).

The rules themselves offer at most `MAX_FEDERATIONS` sets of groups and satellites at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv, State
from gaia_jax.state import Node

from ..system.batched import stepping, take_rows
from .actions import conversion_mask

WIDTHS = 64, 256, 1024, 4096  # states of a batch; more of them take several batches
END_TURN = "end_turn"
# Fields of the player in `_Children.wealth`, VP by source, and bounds of searches for federations.
NOT_IN_REST = (
    "vp", "resources", "power", "vp_source", "min_satellites_feasible", "max_satellites_infeasible",
)  # fmt: skip


class Goal(Enum):
    """A result that a puzzle asks for."""

    VP = "vp"  # the most VP at the end of the game; in the last round only
    FEDERATION = "federation"  # to form a federation
    ADVANCED_TILE = "advanced tile"  # to take an advanced tech tile


GOALS = tuple(Goal)


class TooManyLines(Exception):
    """There are more lines of play than the solver may follow."""


class Line(NamedTuple):
    """A best line of play that begins with a certain main action."""

    value: int  # VP at the end of the game, or 1 if the goal is reached and 0 if not
    actions: tuple[int, ...]  # to the end, the others' answers to leech and ends of turns included


class _Position(NamedTuple):
    """A position that the solver has reached."""

    parent: int  # the number of the position before it
    action: int  # that led here
    first_action: int  # the first main action; NONE: not chosen yet


NONE = -1


class _Children(NamedTuple):
    """The positions after B actions."""

    states: Any
    value: np.ndarray  # (B,) int32, of `Line`; -1: the line continues
    wealth: np.ndarray  # (B, 8) int32, resources, power from bowl III down, VP
    rest: np.ndarray  # (B, number of bytes) uint8, what must be equal to compare wealth


class RoundSolver:
    """Solves positions of one environment; compiled once for each of WIDTHS."""

    def __init__(self, env: GaiaEnv):
        texts = env.ruleset.actions.texts
        self._expand = jax.jit(_expansion(env))
        self._is_conversion = conversion_mask(texts)
        self._is_end_of_turn = np.array([text == END_TURN for text in texts])

    def solve(
        self, state: State, goal: Goal, max_steps: int, max_reached: int | None = None
    ) -> dict[int, Line]:
        """The best line of each main action that can come first, after conversions or not.

        Args:
            state: at the beginning of a turn (`is_alone`), on the host.
            max_steps: the most steps of the environment.
            max_reached: stop early if more first main actions than this reach the goal (not VP).
        Raises:
            TooManyLines: `max_steps` are not enough.
        """
        seat, tree, num_steps = int(state.current_player), _Tree(goal, self._is_conversion), 0
        frontier, numbers = take_rows(jax.tree.map(lambda x: x[None], state), slice(0, 1)), [0]
        while numbers:
            rows, actions = self._next_actions(frontier, seat)
            num_steps += len(rows)
            if num_steps > max_steps:
                raise TooManyLines
            children = self._children(frontier, rows, actions, state, goal)
            parents = [numbers[row] for row in rows.tolist()]
            indices, numbers = tree.add(parents, actions.tolist(), children)
            frontier = take_rows(children.states, np.array(indices, int))
            if max_reached is not None and tree.num_reached > max_reached:
                break
        return tree.lines()

    def _next_actions(self, frontier: State, seat: int) -> tuple[np.ndarray, np.ndarray]:
        """The actions to follow, with their rows of the frontier.

        Of the answers of the other players the last one, which declines leech, is enough.
        """
        mask = np.asarray(frontier.legal_action_mask).copy()
        mask[np.asarray(frontier.game.turn.node) == Node.AFTER] &= self._is_end_of_turn
        is_other = np.asarray(frontier.current_player) != seat
        mask[is_other] &= np.cumsum(mask[is_other, ::-1], axis=1)[:, ::-1] == 1
        rows, actions = np.nonzero(mask)
        return rows, actions.astype(np.int32)

    def _children(
        self, frontier: State, rows: np.ndarray, actions: np.ndarray, start: State, goal: Goal
    ) -> _Children:
        """The positions after actions at rows of the frontier."""
        parts = list[_Children]()
        for begin in range(0, len(rows), WIDTHS[-1]):
            end = min(begin + WIDTHS[-1], len(rows))
            width = next(width for width in WIDTHS if width >= end - begin)
            padded = np.minimum(np.arange(begin, begin + width), end - 1)
            states = take_rows(frontier, rows[padded])
            part = jax.device_get(self._expand(states, actions[padded], start, GOALS.index(goal)))
            parts.append(take_rows(_Children(*part), slice(0, end - begin)))
        return parts[0] if len(parts) == 1 else jax.tree.map(lambda *x: np.concatenate(x), *parts)


class _Tree:
    """The positions reached so far, and the best end after each first main action."""

    def __init__(self, goal: Goal, conversions: np.ndarray):
        """
        Args:
            conversions: (A,) bool, which actions are conversions.
        """
        self._goal, self._is_conversion = goal, conversions
        self._positions = [_Position(0, NONE, NONE)]
        self._ends = dict[int, tuple[int, int]]()  # value and number, by first main action
        # The wealth of positions that are equal otherwise: none has no more than another.
        self._fronts = dict[tuple[int, bytes], np.ndarray]()

    def add(
        self, parents: list[int], actions: list[int], children: _Children
    ) -> tuple[list[int], list[int]]:
        """Add positions; those that are no better than others are left out.

        Returns:
            The indices of the children that continue, and their numbers.
        """
        indices, numbers = list[int](), list[int]()
        for child, (parent, action) in enumerate(zip(parents, actions, strict=True)):
            first = self._positions[parent].first_action
            if first == NONE and not self._is_conversion[action]:
                first = action
            if self._is_reached(first) or not self._record_if_better(first, children, child):
                continue
            value, number = int(children.value[child]), len(self._positions)
            self._positions.append(_Position(parent, action, first))
            if value < 0:
                indices.append(child)
                numbers.append(number)
            elif first not in self._ends or value > self._ends[first][0]:
                self._ends[first] = value, number
        return indices, numbers

    @property
    def num_reached(self) -> int:
        """The number of first main actions that reach the goal."""
        return sum(map(self._is_reached, self._ends))

    def lines(self) -> dict[int, Line]:
        """The best line of each first main action."""
        return {first: Line(value, self._path(end)) for first, (value, end) in self._ends.items()}

    def _is_reached(self, first: int) -> bool:
        """Whether a first main action is known to reach the goal, so that no line is better."""
        return self._goal is not Goal.VP and first in self._ends and self._ends[first][0] > 0

    def _record_if_better(self, first: int, children: _Children, child: int) -> bool:
        """Whether no recorded position has as much of everything; if so, records the child."""
        key, wealth = (first, children.rest[child].tobytes()), children.wealth[child]
        front = self._fronts.get(key)
        if front is None:
            self._fronts[key] = wealth[None]
            return True
        if (front >= wealth).all(axis=1).any():
            return False
        incomparable = front[(front > wealth).any(axis=1)]
        self._fronts[key] = np.concatenate([incomparable, wealth[None]])
        return True

    def _path(self, number: int) -> tuple[int, ...]:
        """The actions that lead to a position."""
        actions = list[int]()
        while number:
            parent, action, _ = self._positions[number]
            actions.append(action)
            number = parent
        return tuple(reversed(actions))


def is_alone(states: State) -> Array:
    """(...) bool, whether a turn begins and all other players have passed."""
    turn = states.game.turn
    num_passed = (turn.passed > 0).sum(-1)
    is_turn = (turn.node == Node.TURN) & (turn.free_actions == 0)
    return jnp.asarray(is_turn & (num_passed == turn.passed.shape[-1] - 1))


def _expansion(env: GaiaEnv) -> Callable[..., tuple[Any, ...]]:
    def expand(states: State, actions: Array, start: State, goal: Array) -> tuple[Any, ...]:
        """The fields of `_Children`, of (B,) states and actions.

        Args:
            start: the position to solve, without B. goal: index in GOALS.
        """
        after = stepping(env)(states, actions)
        return after, *jax.vmap(_describe, (0, None, None))(after, start, goal)

    return expand


def _describe(after: State, start: State, goal: Array) -> tuple[Array, Array, Array]:
    """The value, wealth and rest of a position, for the player who decides at `start`."""
    game, seat, before = after.game, start.current_player, start.game
    players, turn = game.players, game.turn
    has_ended = after.terminated | after.truncated
    # The pass of the last player ends the round, which clears `turn.passed` (ROU-07).
    has_passed = (turn.round != before.turn.round) | has_ended
    values = {
        Goal.VP: jnp.where(has_ended, players.vp[seat].astype(jnp.int32), -1),
        Goal.FEDERATION: _value(players.formed[seat] > before.players.formed[seat], has_passed),
        Goal.ADVANCED_TILE: _value(
            players.advanced[seat] != before.players.advanced[seat], has_passed
        ),
    }
    wealth = jnp.concatenate([
        players.resources[seat], jnp.cumsum(players.power[seat, ::-1].astype(jnp.int32)),
        players.vp[seat, None],
    ])  # fmt: skip
    is_seat = jnp.arange(len(players.vp)) == seat
    fields = {name: getattr(players, name) for name in NOT_IN_REST}
    cleared = {
        name: jnp.where(is_seat.reshape(-1, *[1] * (x.ndim - 1)), 0, x)
        for name, x in fields.items()
    }
    power_with_stone = jnp.where(players.brainstone[seat] >= 0, players.power[seat], 0)
    rest = players.replace(**cleared), turn.replace(free_actions=0), game.board, power_with_stone
    leaves = [jax.lax.bitcast_convert_type(x, jnp.uint8).ravel() for x in jax.tree.leaves(rest)]
    return jnp.stack([values[name] for name in GOALS])[goal], wealth, jnp.concatenate(leaves)


def _value(is_reached: Array, has_passed: Array) -> Array:
    """1 if a goal is reached, 0 if it is not and cannot be any more, else -1."""
    return jnp.where(is_reached, 1, jnp.where(has_passed, 0, -1))
