"""Puzzles: positions with one best move, and the file that holds them.

All other players have passed, so the rest of the round is solved exactly: a puzzle asks which first
main action leads to the most VP, to a federation or to an advanced tile. `puzzle_maker` makes
puzzles; this module reads and writes them, replays their positions, and selects puzzles by the
agents that solve them.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax import replay
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason
from gaia_jax.env import GaiaEnv, State
from gaia_jax.setup import setup_json

from ..agents import Agent, make_agent, sha256_of
from ..system import data_files
from ..system.batched import in_batches, stacked, stepping
from ..system.data_files import LIST, OBJECT, TEXT, WHOLE
from ..types import JsonObject
from .actions import conversion_mask
from .recorded_game import Game, replay_game
from .round_solver import Goal

Schema = Mapping[str, Any]  # by key: a type, a schema, or a list that holds the schema of its items
FORMAT = "gaia_jax puzzles 4"
SHIPPED = Path(__file__).parent / "puzzles.json.gz"
AT_ONCE = 16  # positions at which an agent chooses in one call
MIN_MAIN_ACTIONS = 2  # in the line of an answer, before a pass; a single one is found at sight
LEVELS = "easy", "medium", "hard"
MAX_CONVERSIONS = 64  # before a main action
THEMES = {
    "form_federation": "federation", "advance": "research", "ship": "ship", "explore": "ship",
    "artifact": "ship", "pass": "pass", "mine": "building", "project": "building",
    "upgrade": "building",
}  # fmt: skip
# The keys of a collection, and of the objects in it; those that end in "?" may be missing.
SCHEMA: Schema = {
    "ruleset": TEXT, "version": TEXT, "agent": TEXT, "sha256": TEXT, "max_steps": WHOLE,
    "seed": WHOLE, "following": WHOLE,
    "at_most?": WHOLE,  # a limit that may have left puzzles out
    "chosen?": {"solved_by": LIST, "unsolved_by": LIST},  # agents that selected the puzzles
    "games": [{"setup": OBJECT, "actions": LIST}],
    "puzzles": [{
        "game": WHOLE, "decision": WHOLE, "round": WHOLE, "player": WHOLE, "theme": TEXT,
        "goal": TEXT,  # of `round_solver.Goal`
        "moves": WHOLE,  # number of main actions that can come first
        "turns": WHOLE,  # main actions in the line of the answer
        "answer": WHOLE, "agent": WHOLE,  # first main actions: the best one, and the agent's
        # Some of the first main actions, the best first. "value": VP at the end of the game, or
        # whether the goal is reached; "line": action texts of a line that reaches it.
        "candidates": [{"action": WHOLE, "text": TEXT, "value": WHOLE, "line": LIST}],
    }],
}  # fmt: skip


class AnswerCriteria(NamedTuple):
    """Conditions on the answer of a puzzle, by agents."""

    solved_by: Sequence[str] = ()  # each of them chooses the answer
    unsolved_by: Sequence[str] = ()  # none of them chooses it

    @property
    def agents(self) -> list[str]:
        """The names of the agents that choose."""
        return [*self.solved_by, *self.unsolved_by]


ANY_ANSWER = AnswerCriteria()


def find_level(puzzle: JsonObject) -> str:
    """How hard a puzzle is, by the number of main actions of its line before a pass: 2, 3, more."""
    num_actions = puzzle["turns"] - (puzzle["goal"] == Goal.VP.value)  # such a line ends with it
    return LEVELS[min(num_actions, MIN_MAIN_ACTIONS + 2) - MIN_MAIN_ACTIONS]


def find_theme(text: str) -> str:
    """The subject of a puzzle, by the verb of its answer."""
    return THEMES.get(text.split()[0], "action")


def new_collection(
    env: GaiaEnv,
    agent: str,
    max_steps: int,
    seed: int,
    first: int,
    criteria: AnswerCriteria = ANY_ANSWER,
) -> JsonObject:
    """A collection without puzzles. Its `sha256` is that of a shipped agent's file, or empty.

    Args:
        seed: of the set-ups. first: number of the first one.
    """
    names = {"solved_by": [*criteria.solved_by], "unsolved_by": [*criteria.unsolved_by]}
    return ({"chosen": names} if any(criteria) else {}) | {
        "format": FORMAT, "ruleset": env.id, "version": env.version, "agent": agent,
        "sha256": sha256_of(agent), "max_steps": max_steps, "seed": seed, "following": first,
        "games": [], "puzzles": [],
    }  # fmt: skip


def add_games(
    collection: JsonObject,
    games: Sequence[Game],
    by_game: Sequence[Sequence[JsonObject]],
    following: int,
) -> JsonObject:
    """Add the puzzles of more games to a collection; it stores a game up to its last puzzle.

    Args:
        by_game: the puzzles of each game. following: number of the next set-up.
    """
    records, puzzles = list(collection["games"]), list(collection["puzzles"])
    for game, own in zip(games, by_game, strict=True):
        if own:
            last = max(puzzle["decision"] for puzzle in own)
            setup = jax.tree.map(np.asarray, game.states[0].game.setup)
            record = replay.Record.of(game.env, setup, game.actions[: last - 1], ())
            puzzles += [{"game": len(records)} | puzzle for puzzle in own]
            records.append({"setup": dict(record.setup), "actions": list(record.actions)})
    return collection | {"following": following, "games": records, "puzzles": puzzles}


def to_text(collection: JsonObject) -> str:
    """A collection as JSON, one line for each game and each puzzle."""
    compact, parts = partial(json.dumps, separators=(",", ":")), list[str]()
    for key, value in collection.items():
        rows = (
            "[\n" + ",\n".join(map(compact, value)) + "\n]" if key in ("games", "puzzles") else ""
        )
        parts.append(f'"{key}":{rows or compact(value)}')
    return "{" + ",\n".join(parts) + "}\n"


def write(path: Path, collection: JsonObject) -> None:
    """Write a collection; a name that ends in .gz is compressed."""
    data = to_text(collection).encode()
    outputs.write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _load(path: Path) -> Any:
    if path.suffix != ".gz":
        return data_files.read_json(path, "the puzzles")
    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UserError(f"cannot read the puzzles {path}: {reason(error)}") from error


def is_own_file(path: Path) -> bool:
    """Whether a file holds puzzles, so that a command may replace it."""
    try:
        data = _load(path)
    except UserError:
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def read(path: Path) -> JsonObject:
    """Read a collection of puzzles.

    Raises:
        UserError: the file holds something else, or lacks a key.
    """
    collection: JsonObject = _load(path)
    if not isinstance(collection, dict) or collection.get("format") != FORMAT:
        raise UserError(f"{path} is not a file of puzzles: its format must be {FORMAT!r}")
    _check(str(path), collection, SCHEMA)
    games, goals = collection["games"], {goal.value for goal in Goal}
    for number, puzzle in enumerate(collection["puzzles"], 1):
        game, decision = puzzle["game"], puzzle["decision"]
        has_game = 0 <= game < len(games)
        if not has_game or not 0 < decision <= len(games[game]["actions"]) + 1:
            raise UserError(f"{path}: puzzle {number} is of no position of its games")
        if puzzle["goal"] not in goals:
            raise UserError(f"{path}: puzzle {number} has an unknown goal {puzzle['goal']!r}")
    return collection


def _check(path: str, data: object, schema: Schema) -> None:
    for key, kind in schema.items():
        name = key.removesuffix("?")
        if name != key and isinstance(data, dict) and name not in data:
            continue
        plain = OBJECT if isinstance(kind, dict) else LIST if isinstance(kind, list) else kind
        data_files.check_keys(path, data, {name: plain})
        values: Any = data
        if isinstance(kind, dict):
            _check(f"{path}: {name}", values[name], kind)
        for number, value in enumerate(values[name] if isinstance(kind, list) else ()):
            _check(f"{path}: {name}[{number}]", value, kind[0])


def read_to_resume(path: Path, expected: JsonObject, players: int) -> JsonObject:
    """Read a collection that is to be continued.

    Args:
        expected: an empty collection with the settings of this command.
        players: of the games of this command.
    Raises:
        UserError: the settings differ.
    """
    collection = read(path)
    if collection.get("chosen") != expected.get("chosen"):
        raise UserError(f"{path} was made with other --solved-by or --unsolved-by")
    limit = collection.get("at_most")
    if limit and limit != expected.get("at_most"):
        raise UserError(f"{path} may lack puzzles beyond --at-most {limit}: continue it with that")
    same = expected.keys() - {"following", "games", "puzzles", "at_most"}
    data_files.check_same(path, {k: collection[k] for k in same}, {k: expected[k] for k in same})
    if collection["games"] and num_players(collection) != players:
        raise UserError(f"{path} has games of {num_players(collection)} players, not {players}")
    if collection["following"] < expected["following"]:
        raise UserError(f"{path} ends before --first {expected['following']}")
    return expected | collection


def num_players(collection: JsonObject) -> int:
    """The number of players of the games.

    Raises:
        UserError: the first set-up does not name them.
    """
    try:
        games = collection["games"]
        return setup_json.players_of(games[0]["setup"]) if games else 4
    except ValueError as error:
        raise UserError(f"game 0 of the puzzles: {error}") from error


def replay_games(collection: JsonObject) -> Iterator[Game]:
    """The games of the puzzles.

    Raises:
        UserError: one of them does not play.
    """
    number = 0
    try:
        for number in range(len(collection["games"])):
            yield replay_game(record_of(collection, number))
    except replay.RecordError as error:
        raise UserError(f"game {number} of the puzzles: {error}") from error


def record_of(collection: JsonObject, number: int, decision: int | None = None) -> replay.Record:
    """A game as a record.

    Args:
        decision: the record ends before this decision, from 1; None: with the last action.
    """
    game = collection["games"][number]
    played = game["actions"][: None if decision is None else decision - 1]
    ruleset, version = collection["ruleset"], collection["version"]
    return replay.Record(ruleset, version, game["setup"], tuple(played), ())


def replay_positions(collection: JsonObject) -> Iterator[tuple[int, JsonObject, State]]:
    """The number of each puzzle, the puzzle and its state, game by game.

    Raises:
        UserError: a game does not play.
    """
    for index, game in enumerate(replay_games(collection)):
        for number, puzzle in enumerate(collection["puzzles"]):
            if puzzle["game"] == index:
                yield number, puzzle, game.states[puzzle["decision"] - 1]


def make_solvers(names: Sequence[str], env: GaiaEnv) -> dict[str, Agent]:
    """Make agents by name, each of which takes its most probable action.

    Raises:
        UserError: an unknown name, or an agent of another game.
    """
    return {name: make_agent(name, env, likeliest=True) for name in names}


def first_main_actions(agent: Agent, env: GaiaEnv, states: Sequence[State]) -> list[int]:
    """The first main action that an agent chooses at each state, after its conversions."""
    step, act = stepping(env), jax.jit(agent.act)
    keys = jax.random.split(jax.random.key(0), AT_ONCE)
    is_conversion = conversion_mask(env.ruleset.actions.texts)
    chosen = list[np.ndarray]()
    for batch in in_batches(stacked(states), AT_ONCE):
        moves = np.full(AT_ONCE, -1)
        for _ in range(MAX_CONVERSIONS):
            key = keys if agent.by_game else keys[0]
            actions = act(agent.params, batch, batch.legal_action_mask, key)
            moves = np.where((moves < 0) & ~is_conversion[np.asarray(actions)], actions, moves)
            if (moves >= 0).all():
                break
            batch = step(batch, actions)
        chosen.append(moves)
    moves = np.concatenate(chosen)[: len(states)]
    return [int(move) for move in moves]


def find_solved(
    agent: Agent, env: GaiaEnv, positions: Sequence[tuple[int, JsonObject, State]]
) -> list[bool]:
    """Whether an agent solves each puzzle, by the number of the puzzle.

    Args:
        positions: all `replay_positions` of a collection.
    """
    moves = first_main_actions(agent, env, [state for *_, state in positions])
    is_right = {
        number: move == puzzle["answer"]
        for move, (number, puzzle, _) in zip(moves, positions, strict=True)
    }
    return [is_right[number] for number in range(len(positions))]


def select_solved(
    collection: JsonObject, solved_by_agent: Mapping[str, Sequence[bool]], criteria: AnswerCriteria
) -> tuple[JsonObject, dict[str, list[bool]]]:
    """The puzzles that some agents solve and others do not, and which agent solves which.

    Args:
        solved_by_agent: results of `find_solved`, for the agents of `criteria` and maybe others.
    """
    numbers = [
        number
        for number in range(len(collection["puzzles"]))
        if all(solved_by_agent[name][number] for name in criteria.solved_by)
        and not any(solved_by_agent[name][number] for name in criteria.unsolved_by)
    ]
    names = {"solved_by": criteria.solved_by, "unsolved_by": criteria.unsolved_by}
    selected = {
        name: [solved[number] for number in numbers] for name, solved in solved_by_agent.items()
    }
    return select_puzzles(collection, numbers, names), selected


def select_puzzles(
    collection: JsonObject, numbers: Sequence[int], names: Mapping[str, Sequence[str]]
) -> JsonObject:
    """Select some puzzles of a collection and their games.

    Args:
        numbers: of the puzzles. names: the agents that selected them, added to "chosen".
    """
    puzzles = [collection["puzzles"][number] for number in numbers]
    games = sorted({puzzle["game"] for puzzle in puzzles})
    chosen = {"solved_by": [], "unsolved_by": []} | collection.get("chosen", {})
    chosen |= {key: list(dict.fromkeys([*chosen.get(key, ()), *names[key]])) for key in names}
    return collection | {
        "games": [collection["games"][number] for number in games],
        "puzzles": [puzzle | {"game": games.index(puzzle["game"])} for puzzle in puzzles],
        "chosen": chosen,
    }


def summary(collection: JsonObject, solved_by_agent: Mapping[str, Sequence[bool]]) -> str:
    """The puzzles by theme, the agents that selected them, and the agents that solve them."""
    themes = [puzzle["theme"] for puzzle in collection["puzzles"]]
    games, agent = len(collection["games"]), collection["agent"]
    lines = [f"{len(themes)} puzzles of {games} games of {agent}"]
    lines += [f"  {name}: {themes.count(name)}" for name in sorted(set(themes))]
    rounds = [puzzle["round"] for puzzle in collection["puzzles"]]
    by_round = [f"{rounds.count(round)} of round {round}" for round in sorted(set(rounds))]
    lines += [", ".join(by_round)] if rounds else []
    if chosen := collection.get("chosen"):
        words = {"solved_by": "solved by", "unsolved_by": "not by"}
        agents = [f"{words[key]} {name}" for key in words for name in chosen.get(key, [])]
        lines.append("chosen: " + ", ".join(agents))
    lines += [
        f"{name} solves {sum(right)} of {len(right)}" for name, right in solved_by_agent.items()
    ]
    return "\n".join(lines)
