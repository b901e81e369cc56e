"""Make puzzles from games of an agent.

Whenever all other players have passed, the solver lists what the last one can still reach
(`round_solver`): the VP at the end of the game in the last round, a federation or an advanced tile
in earlier ones. A position is a puzzle if one first main action reaches more than every other one,
and the agent chose another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.actions import to_text
from gaia_jax.cli.progress import status_line
from gaia_jax.components.costs import ROUNDS
from gaia_jax.env import GaiaEnv, State

from ..agents import make_agent
from ..system.batched import dealing, stacked, stepping, take_rows
from ..types import JsonObject
from . import puzzles
from .actions import is_conversion, is_main_action
from .judge import policy_probabilities
from .puzzles import MIN_MAIN_ACTIONS, AnswerCriteria
from .recorded_game import Game, compiled_step
from .review import check_policy
from .round_solver import Goal, Line, RoundSolver, TooManyLines, is_alone

GAMES_PER_BLOCK = 64  # that are played together
GAMES_PER_BATCH = 8  # of a block, whose puzzles are written together
MIN_LEAD = 3  # VP of the answer above every other first main action
MIN_FIRST_ACTIONS = 6  # of fewer the answer is found by elimination
MAX_CHOICES, MAX_OF_A_KIND = 5, 2  # of a puzzle: with the answer; rivals such as mines
LATE_ROUND, MAX_LATE_SHARE = 5, 0.7  # of a set of limited size: puzzles of this round and later
PASS = "pass", "booster "  # begin the texts of passes, in the last round and before it
MAX_DECISIONS = 1000  # of a game; later ones give no puzzles


class Position(NamedTuple):
    """A position of a played game whose rest of a round may be a puzzle."""

    decision: int  # from 1
    state: State
    move: int  # the first main action that the agent chose


class PlayedGame(NamedTuple):
    """A game that the agent played."""

    start: State
    actions: list[int]
    positions: list[Position]


class PuzzleMaker:
    """Makes puzzles with one agent; compiled once."""

    def __init__(self, env: GaiaEnv, name: str, max_steps: int, criteria: AnswerCriteria):
        """
        Args:
            name: of the agent that plays, one with a policy.
            max_steps: of the solver for one position; positions with more lines are left out.
        Raises:
            UserError: an unknown agent, or one without a policy.
        """
        self.env, self.criteria, self.max_steps = env, criteria, max_steps
        self.agent = make_agent(name, env, likeliest=True)
        check_policy(name, self.agent)
        self._solver = RoundSolver(env)
        self._others = puzzles.make_solvers(criteria.agents, env)
        self._texts = env.ruleset.actions.texts
        self._decide = jax.jit(self._decisions)
        self._stage = ""

    def extend(
        self, collection: JsonObject, end: int, out: Path | None, at_most: int = 0
    ) -> tuple[JsonObject, bool]:
        """Add the puzzles of more games, written after every GAMES_PER_BATCH games.

        Args:
            end: number of the set-up after the last one.
            at_most: stop at this number of puzzles, as of `has_room`; 0: any number.
        Returns:
            The collection, and whether all games were searched; Ctrl-C keeps the puzzles so far.
        """
        first = collection["following"]

        def status() -> str:
            searched = f"{collection['following'] - first} of {end - first} games"
            return f"{searched}, {len(collection['puzzles'])} puzzles; {self._stage}"

        try:
            with status_line(status):
                for extended in self._search(collection, end, at_most):
                    if out:
                        puzzles.write(out, extended)
                    collection = extended
        except KeyboardInterrupt:
            return collection, False
        return collection, True

    def _search(self, collection: JsonObject, end: int, at_most: int) -> Iterator[JsonObject]:
        """Yield the collection after each batch, up to set-up number `end` or `at_most`."""
        block, played = -1, list[PlayedGame]()
        while (first := collection["following"]) < end:
            if 0 < at_most <= len(collection["puzzles"]):
                return
            if first // GAMES_PER_BLOCK != block:
                block = first // GAMES_PER_BLOCK
                self._stage = "playing games"
                played = self.play_games(collection["seed"], block)
            stop = min(first - first % GAMES_PER_BATCH + GAMES_PER_BATCH, end)
            games = [played[number % GAMES_PER_BLOCK] for number in range(first, stop)]
            by_game = self.find_puzzles(games)
            if at_most:
                by_game = first_puzzles(by_game, collection["puzzles"], at_most)
            records = [Game(self.env, [game.start], game.actions) for game in games]
            collection = puzzles.add_games(collection, records, by_game, stop)
            yield collection

    def play_games(self, seed: int, block: int) -> list[PlayedGame]:
        """Play on GAMES_PER_BLOCK set-ups of a seed; a block always gives the same games."""
        key, numbers = jax.random.key(seed), np.arange(GAMES_PER_BLOCK) + block * GAMES_PER_BLOCK
        deal_keys = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers)
        states = dealing(self.env)(deal_keys)
        starts = jax.device_get(states)
        actions, positions = list[np.ndarray](), [dict[int, State]() for _ in numbers]
        for index in range(MAX_DECISIONS):
            *decisions, next_states = self._decide(states, self.agent.params)
            chosen_actions, is_candidate, has_ended = jax.device_get(decisions)
            if has_ended.all():
                break
            for row in np.flatnonzero(is_candidate & ~has_ended).tolist():
                positions[row][index] = take_rows(states, row)
            actions.append(np.where(has_ended, -1, chosen_actions))
            states = next_states
        by_game = np.stack(actions, axis=1)
        return [
            self._played(take_rows(starts, row), by_game[row], positions[row])
            for row in range(GAMES_PER_BLOCK)
        ]

    def _decisions(self, states: State, params: Any) -> tuple[Any, ...]:
        """The agent's actions, which players are alone, which games have ended; the next states."""
        keys = jax.random.split(jax.random.key(0), GAMES_PER_BLOCK)
        draw = keys if self.agent.by_game else keys[0]
        actions = self.agent.act(params, states, states.legal_action_mask, draw)
        has_ended = states.terminated | states.truncated
        return actions, is_alone(states), has_ended, stepping(self.env)(states, actions)

    def _played(self, start: State, actions: np.ndarray, states: dict[int, State]) -> PlayedGame:
        """A game; of each round the first position whose player is alone."""
        moves, positions = actions[actions >= 0].tolist(), dict[int, Position]()  # by round
        for index, state in states.items():
            later_actions = (a for a in moves[index:] if not is_conversion(self._texts[a]))
            move = next(later_actions, None)  # None: the game was cut before it
            if move is not None:
                position = Position(index + 1, state, move)
                positions.setdefault(int(state.game.turn.round), position)
        return PlayedGame(start, moves, [*positions.values()])

    def find_puzzles(self, games: Sequence[PlayedGame]) -> list[list[JsonObject]]:
        """The puzzles of each game, at most one of a round."""
        candidates = list[tuple[int, State, JsonObject]]()
        for number, game in enumerate(games):
            for position in game.positions:
                self._stage = f"solving round {int(position.state.game.turn.round)}"
                of_goals = (self.find_puzzle(position, goal) for goal in goals_of(position.state))
                puzzle = next(filter(None, of_goals), None)
                if puzzle:
                    candidates.append((number, position.state, puzzle))
        selected = self._selected(candidates)
        return [[puzzle for at, _, puzzle in selected if at == n] for n in range(len(games))]

    def find_puzzle(self, position: Position, goal: Goal) -> JsonObject | None:
        """The puzzle of a position; None if there is none."""
        state = position.state
        try:
            lines = self._solver.solve(state, goal, self.max_steps, max_reached=1)
        except TooManyLines:
            return None
        lines = self._with_a_single_pass(lines, position.move)
        ranked = sorted(lines, key=lambda action: -lines[action].value)
        if len(ranked) < MIN_FIRST_ACTIONS or position.move not in ranked[1:]:
            return None
        best, second = (lines[action].value for action in ranked[:2])
        if best - second < (MIN_LEAD if goal is Goal.VP else 1):
            return None
        if goal is Goal.VP and second == self._value_of_pass(lines):
            return None
        num_turns = self._num_turns(state, lines[ranked[0]])
        if num_turns < MIN_MAIN_ACTIONS + (goal is Goal.VP):
            return None
        return self._puzzle_json(position, goal, lines, num_turns)

    def _with_a_single_pass(self, lines: dict[int, Line], move: int) -> dict[int, Line]:
        """The lines without those that differ only in the booster that a pass takes.

        Before the last round no pass reaches a goal; in the last one there is a single pass.

        Args:
            move: the agent's first main action, which stays.
        """
        passes = [action for action in lines if self._texts[action].startswith(PASS)]
        kept_pass = move if move in passes else passes[0] if passes else None
        return {
            action: line
            for action, line in lines.items()
            if action not in passes or action == kept_pass
        }

    def _puzzle_json(
        self, position: Position, goal: Goal, lines: dict[int, Line], num_turns: int
    ) -> JsonObject:
        """A puzzle; of moves that reach as much, those of the answer's kind come first."""
        state, turn = position.state, position.state.game.turn
        probabilities = policy_probabilities(self.agent, stacked([state]))[0]
        answer = max(lines, key=lambda action: lines[action].value)
        first = (answer, position.move)
        others = sorted(
            (action for action in lines if action not in first),
            key=lambda action: (
                -lines[action].value,
                not self._is_alike(action, answer),
                -probabilities[action],
            ),
        )
        choices = [*first]
        for action in others:
            num_alike = sum(
                self._is_alike(action, choice) for choice in choices if choice != answer
            )
            if len(choices) < MAX_CHOICES and num_alike < MAX_OF_A_KIND:
                choices.append(action)
        theme = puzzles.find_theme(self._texts[answer]) if goal is Goal.VP else goal.value
        return {
            "decision": position.decision, "round": int(turn.round), "player": int(turn.active),
            "goal": goal.value, "theme": theme, "moves": len(lines), "turns": num_turns,
            "answer": answer, "agent": position.move,
            "candidates": [
                {
                    "action": action, "text": self._texts[action], "value": lines[action].value,
                    "line": [to_text(self.env.ruleset, a) for a in lines[action].actions],
                }
                for action in sorted(choices, key=lambda action: -lines[action].value)
            ],
        }  # fmt: skip

    def _is_alike(self, action: int, other: int) -> bool:
        """Whether two main actions are of one kind, such as two upgrades."""
        return self._texts[action].split()[0] == self._texts[other].split()[0]

    def _value_of_pass(self, lines: dict[int, Line]) -> int:
        """What passing at once reaches: a best rival of that value is no temptation."""
        return next(lines[a].value for a in lines if self._texts[a].startswith(PASS))

    def _num_turns(self, state: State, line: Line) -> int:
        """The number of main actions of a line."""
        step, count = compiled_step(self.env), 0
        for action in line.actions:
            count += is_main_action(int(state.game.turn.node), self._texts[action])
            state = step(state, action)
        return count

    def _selected(
        self, candidates: Sequence[tuple[int, State, JsonObject]]
    ) -> list[tuple[int, State, JsonObject]]:
        """The puzzles that all of `solved_by` solve, and no agent of `unsolved_by`."""
        remaining = [*candidates]
        for name, agent in self._others.items():
            if remaining:
                self._stage = f"asking {name}"
                moves = puzzles.first_main_actions(
                    agent, self.env, [state for _, state, _ in remaining]
                )
                is_solver = name in self.criteria.solved_by
                remaining = [
                    item
                    for item, move in zip(remaining, moves, strict=True)
                    if (item[2]["answer"] == move) == is_solver
                ]
        return remaining


def goals_of(state: State) -> list[Goal]:
    """What the player may want of the rest of the round, the rarer goal first."""
    is_last = int(state.game.turn.round) == ROUNDS
    return [Goal.VP] if is_last else [Goal.ADVANCED_TILE, Goal.FEDERATION]


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
