"""A game as a JSON file: reading and writing it, playing it again.

A record (`docs/reference/datasets.md`) holds ruleset, version, set-up, the text of each action and
the VP at the end: after the set-up nothing is random. Without VP the game is unfinished.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from gaia_jax import actions as action_index
from gaia_jax.cli import command_line, outputs
from gaia_jax.cli.arguments import shown
from gaia_jax.env import GaiaEnv, State, make
from gaia_jax.ruleset import RULESETS, Ruleset
from gaia_jax.setup.setup_json import players_of, setup_from_json, setup_to_dict
from gaia_jax.state import Setup
from gaia_jax.xla.fast_compile import jit_fast_compile
from gaia_jax.xla.stored_programs import env_jit

FORMAT = "gaia_jax game 1"
LONGEST = 10**7  # bytes of a file
MAX_NAMED = 8  # legal actions in a message
KEYS = ("format", "ruleset", "version", "setup", "actions", "final_vp")


class RecordError(ValueError):
    """A record that cannot be read or replayed; the message is one line."""


@dataclass(frozen=True)
class Record:
    """A game from its set-up on."""

    ruleset: str
    version: str
    setup: Mapping[str, Any]  # as `setup_to_dict` writes it
    actions: tuple[str, ...]
    final_vp: tuple[int, ...]  # by player; empty for an unfinished game
    # The line of each action in the file that it was read from; may be empty.
    lines: tuple[int, ...] = ()
    players: tuple[str, ...] = ()  # who played, by player; empty where it is not known

    def env(self) -> GaiaEnv:
        """The environment of the record.

        Raises:
            RecordError: an unknown ruleset, or one that is not for that many players.
        """
        if self.ruleset not in RULESETS:
            ruleset_names = ", ".join(RULESETS)
            raise RecordError(f"unknown ruleset {self.ruleset!r}; known are {ruleset_names}")
        try:
            return make(self.ruleset, players=players_of(self.setup))
        except ValueError as error:
            raise RecordError(str(error)) from error

    def with_players(self, names: Iterable[str]) -> Record:
        """The record with the names of those who played."""
        return dataclasses.replace(self, players=tuple(names))

    @classmethod
    def of(
        cls, env: GaiaEnv, setup: Setup, actions: Iterable[int], final_vp: Iterable[int]
    ) -> Record:
        """The record of a game that was played in `env`.

        Args:
            env: where.
            setup: what `env.draw_setup` gave or `env.init_from` took: one, not a batch.
            actions: the index of each action in order.
            final_vp: (P,) VP at the end; empty for an unfinished game.
        """
        texts = tuple(action_index.to_text(env.ruleset, int(action)) for action in actions)
        vp = tuple(int(x) for x in final_vp)
        return cls(env.id, env.version, setup_to_dict(setup, env.ruleset), texts, vp)


def write(path: str | Path, record: Record) -> None:
    """Write a record, one action a line; whole or not at all."""
    with outputs.replacing(Path(path)) as file:
        file.write(to_text(record).encode("utf-8"))


def to_text(record: Record) -> str:
    """A record as JSON, one action a line."""
    head = {"format": FORMAT, "ruleset": record.ruleset, "version": record.version}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    inner = [f"    {json.dumps(key)}: {json.dumps(v)}" for key, v in record.setup.items()]
    lines.append('  "setup": {\n' + ",\n".join(inner) + "\n  }")
    texts = [f"    {json.dumps(text)}" for text in record.actions]
    lines.append('  "actions": [\n' + ",\n".join(texts) + "\n  ]")
    lines.append(f'  "final_vp": {json.dumps(list(record.final_vp))}')
    lines += [f'  "players": {json.dumps(list(record.players))}'] if record.players else []
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: str | Path) -> Record:
    """Read a record; whether it plays is for `play` to say.

    Raises:
        RecordError: no such file, no record, or one of another format.
    """
    try:
        text = command_line.read_text(path, LONGEST)
    except command_line.UserError as error:
        raise RecordError(str(error)) from error
    try:
        data = json.loads(text, object_pairs_hook=command_line.unique_keys)
    except command_line.DuplicateKeyError as error:
        raise RecordError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:  # also numbers of too many digits
        raise RecordError(f"{path} is not JSON: {error}") from error
    return parse(data, path, text)


def parse(data: object, path: str | Path = "record", text: str = "") -> Record:
    """The record that JSON data describes.

    Args:
        data: as `json.loads` gives it.
        path: what messages call it.
        text: where it was read from, for the numbers of lines in messages.
    Raises:
        RecordError: no record, or one of another format.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f"{path} is no game record: its format is not {FORMAT!r}")
    for key in KEYS:
        if key not in data:
            raise RecordError(f"{path}: key {key!r} is missing")
    known = (*KEYS, "players")  # which may be missing
    for key in data:
        if key not in known:
            raise RecordError(f"{path}: unknown key {key!r}; known are {', '.join(known)}")
    ruleset, version, setup, texts, vp = (data[key] for key in KEYS[1:])
    for key in ("ruleset", "version"):
        if not isinstance(data[key], str):
            raise RecordError(f"{path}: {key} must be a text, not {shown(data[key])}")
    players = data.get("players", [])
    for key, listed in (("actions", texts), ("players", players)):
        is_list = isinstance(listed, list)
        wrong = [x for x in listed if not isinstance(x, str)] if is_list else [listed]
        if wrong:
            raise RecordError(f"{path}: {key} must be a list of texts, got {shown(wrong[0])}")
    if not isinstance(vp, list) or not all(type(x) is int for x in vp):
        raise RecordError(f"{path}: final_vp must be a list of whole numbers, not {shown(vp)}")
    if not isinstance(setup, dict):
        raise RecordError(f"{path}: setup must be an object, not {shown(setup)}")
    lines = _action_lines(text, len(texts))
    return Record(ruleset, version, setup, tuple(texts), tuple(vp), lines, tuple(players))


def play(record: Record, progress: Callable[[int, State], None] | None = None) -> State:
    """Play a record to its end and verify it.

    Args:
        record: what `read` or `Record.of` gave.
        progress: called with the number of decisions played and the state, after each.
    Returns:
        The state at the end.
    Raises:
        RecordError: as `states`.
    """
    for number, reached in enumerate(states(record)):
        state = reached
        if progress and number:
            progress(number, state)
    return state


def states(record: Record) -> Iterator[State]:
    """The states of a recorded game, the first before its first decision.

    Raises:
        RecordError: an unknown ruleset, another version, a broken set-up, an action that is
            unknown, illegal, missing or too many, or another final VP.
    """
    env, setup, indices = _prepared(record)
    init_from, step = compiled(env)
    # On the host, as the table's states are: `step` of arrays on a device is a second program.
    state = jax.device_get(init_from(setup))
    yield state
    for number, action in enumerate(indices):
        if state.terminated | state.truncated:
            raise RecordError(f"{_locate(record, number)}: the game ended before this action")
        if not state.legal_action_mask[action]:
            raise RecordError(
                f"{_locate(record, number)}: {record.actions[number]!r} is illegal for player"
                f" {int(state.current_player)}; {_legal(env, state)}"
            )
        state = jax.device_get(step(state, action))
        yield state
    if not record.final_vp:
        return
    if not state.terminated | state.truncated:
        raise RecordError(f"the game is not over after its {len(indices)} actions")
    vp = tuple(int(x) for x in state.game.players.vp)
    if vp != record.final_vp:
        raise RecordError(f"the game ends with VP {list(vp)}, recorded {list(record.final_vp)}")


def _prepared(record: Record) -> tuple[GaiaEnv, Setup, list[int]]:
    """The environment of a record, its set-up, the index of each action."""
    env = record.env()
    if record.version != env.version:
        raise RecordError(
            f"the game was played in version {record.version} of {env.id}, this is {env.version};"
            " docs/reference/rulesets.md lists the changes"
        )
    try:
        setup = laid(record.setup, env.ruleset)
    except ValueError as error:
        raise RecordError(f"setup: {error}") from error
    indices = []
    for number, text in enumerate(record.actions):
        try:
            indices.append(action_index.from_text(env.ruleset, text))
        except ValueError as error:
            raise RecordError(f"{_locate(record, number)}: {error}") from error
    if record.final_vp and not indices:  # said before anything is compiled
        raise RecordError("the game is not over after its 0 actions")
    return env, setup, indices


def laid(setup: Mapping[str, object], ruleset: Ruleset) -> Setup:
    """The set-up of a game that was played: people also lay maps on which equal types touch (A23).

    Raises:
        ValueError: as `setup_from_json`.
    """
    return setup_from_json(setup, _without_touching_rule(ruleset))


@functools.cache
def _without_touching_rule(ruleset: Ruleset) -> Ruleset:
    anyhow = dataclasses.replace(ruleset.map, same_types_touch=True)
    return dataclasses.replace(ruleset, map=anyhow)


@functools.cache
def compiled(env: GaiaEnv) -> tuple[Callable[..., State], Callable[..., State]]:
    """`env.init_from` and `env.step`, compiled once a process, for one game at a time."""
    return _of_one_game(env_jit(env, "init_from")), _of_one_game(env_jit(env, "step"))


def _of_one_game(function: Callable[..., State]) -> Callable[..., State]:
    """A compiled function that compiles in less time, except inside other programs."""
    quick = jit_fast_compile(function, level=1)

    @functools.wraps(quick)
    def call(*args: object) -> State:
        is_traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(args))
        state: State = (function if is_traced else quick)(*args)
        return state

    return call


def _locate(record: Record, number: int) -> str:
    line = f"line {record.lines[number]}, " if number < len(record.lines) else ""
    return f"{line}action {number + 1}"


def _legal(env: GaiaEnv, state: State) -> str:
    """The legal actions, the first ones by name."""
    legal = [i for i, is_legal in enumerate(state.legal_action_mask.tolist()) if is_legal]
    texts = ", ".join(action_index.to_text(env.ruleset, action) for action in legal[:MAX_NAMED])
    more = len(legal) - MAX_NAMED
    return f"legal are {texts}" + (f" and {more} more" if more > 0 else "")


def _action_lines(text: str, count: int) -> tuple[int, ...]:
    """The line of each action in the text of a record; empty where they are not found."""
    start = re.search(r'^[ \t]*"actions"\s*:\s*\[', text, re.MULTILINE)
    if not start:
        return ()
    lines, place, line = [], start.end(), text.count("\n", 0, start.end()) + 1
    for _ in range(count):
        match = re.compile(r'"(?:[^"\\]|\\.)*"').search(text, place)
        if not match:
            return ()
        line += text.count("\n", place, match.start())
        lines.append(line)
        place = match.end()
    return tuple(lines)
