"""Serve the shipped puzzles to their page.

`PuzzleBook` replays the game of a puzzle to its position and describes the first moves to choose
from. After an answer it plays the solved line of the best one and a line to compare with.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.env import GaiaEnv, State
from gaia_jax.language import language, with_minus
from gaia_jax.render import Table, effects, in_words, panels, say_at
from gaia_jax.render.names import sources
from gaia_jax.replay import page

from ..agents import sha256_of
from ..analysis import puzzles
from ..analysis.actions import is_conversion
from ..analysis.puzzles import LEVELS, find_level
from ..analysis.recorded_game import compiled_step
from ..analysis.round_solver import END_TURN, Goal
from ..types import JsonObject
from .game import HALF_MADE, Refused
from .languages import page_text, page_texts
from .lookahead import joined

POSITIONS, LINES = 8, 16  # that are cached; a line takes some MB


class Action(NamedTuple):
    """An action of a line."""

    text: str
    number: int
    before: Table
    after: Table


class Line(NamedTuple):
    """The position of a puzzle and the visible steps of a line."""

    steps: list[JsonObject]
    parts: list[dict[str, dict[str, str]]]  # of the picture after each step
    vp_by_source: Mapping[str, int]  # of the deciding player at its end


class PuzzleBook:
    """The puzzles of a file; positions and lines are played when the page asks for them."""

    def __init__(self, path: Path = puzzles.SHIPPED):
        self._path = path
        self._position = functools.lru_cache(POSITIONS)(self._replay)
        self._line = functools.lru_cache(LINES)(self._play_line)

    @functools.cached_property
    def _collection(self) -> JsonObject:
        return puzzles.read(self._path)

    @functools.cached_property
    def mark(self) -> str:
        """Identifies the file: the score in a browser belongs to one set of puzzles."""
        return hashlib.sha256(self._path.read_bytes()).hexdigest()[:12]

    def index(self) -> JsonObject:
        """The theme and the level of each puzzle, the names of both, and the mark of the file."""
        own, texts = self._collection["puzzles"], page_texts()
        themes, levels = [puzzle["theme"] for puzzle in own], [find_level(p) for p in own]
        names = {theme: texts[f"theme-{theme.replace(' ', '-')}"] for theme in sorted({*themes})}
        level_names = {level: texts[f"puzzle-{level}"] for level in LEVELS if level in levels}
        return {
            "values": {"theme": themes, "level": levels}, "mark": self.mark,
            "names": {"theme": names, "level": level_names},
        }  # fmt: skip

    def question(self, number: int) -> JsonObject:
        """A puzzle without its answer.

        Raises:
            Refused: there is no puzzle of this number, or one of its lines cannot be played.
        """
        puzzle = self._puzzle(number)
        *_, table = self._position(number)
        choices = []
        # In the order of the action index, which does not give the answer away.
        for candidate in sorted(puzzle["candidates"], key=lambda c: int(c["action"])):
            about = {"action": candidate["action"], "text": candidate["text"]}
            choices.append(about | {"words": self._first_move(number, candidate)})
        return {
            **{key: puzzle[key] for key in ("goal", "round", "player", "moves")},
            "number": number,
            "seats": page.seats_json(table),
            "vp": [seat.vp for seat in table.seats],
            "choices": choices,
            "picture": panels.frame(table, panels.parts(table)),
        }

    def explanation(self, number: int, body: Mapping[str, object]) -> JsonObject:
        """Whether an answer is right, the values of all choices, and the lines.

        The second line, only of a puzzle for VP, is the one to compare with.

        Args:
            body: `action`, the chosen candidate; `compared` (optional), the candidate whose line to
                compare with. By default that is a wrong choice itself, or the agent's choice.
        Raises:
            Refused: unknown puzzle or candidate, or a line that cannot be played.
        """
        puzzle = self._puzzle(number)
        action, answer = body.get("action"), puzzle["answer"]
        actions = [candidate["action"] for candidate in puzzle["candidates"]]
        if not isinstance(action, int) or action not in actions:
            raise Refused(f"action must be one of the choices, got {action!r}")
        compared = body.get("compared", puzzle["agent"] if action == answer else action)
        if not isinstance(compared, int) or compared not in actions or compared == answer:
            raise Refused(f"compared must be another choice, got {compared!r}")
        shown = [answer, compared] if puzzle["goal"] == Goal.VP.value else [answer]
        lines, timeline = [self._line(number, a, language()) for a in shown], page.Timeline()
        for frame, parts in enumerate(parts for line in lines for parts in line.parts):
            timeline.add(frame, parts)
        candidates = [
            {key: candidate[key] for key in ("action", "text", "value")}
            | {"words": self._first_move(number, candidate)}
            for candidate in puzzle["candidates"]
        ]
        agent = self._collection["agent"]
        return {
            **{key: puzzle[key] for key in ("theme", "answer", "agent")},
            "number": number,
            "right": action == answer,
            "compared": compared,
            "candidates": candidates,
            "sources": self._difference(number, lines),
            "maker": agent,
            "earlier": self._collection["sha256"] != sha256_of(agent),
            "chosen": self._collection.get("chosen"),
            "line": [step for line in lines for step in line.steps],
            "parts": timeline.varying(),
        }

    def _puzzle(self, number: int) -> JsonObject:
        own = self._collection["puzzles"]
        if not 0 <= number < len(own):
            raise Refused(f"there is no puzzle {number}: they are 0 to {len(own) - 1}")
        puzzle: JsonObject = own[number]
        return puzzle

    def _replay(self, number: int) -> tuple[GaiaEnv, State, Table]:
        puzzle = self._puzzle(number)
        record = puzzles.record_of(self._collection, puzzle["game"], puzzle["decision"])
        *_, state = replay.states(record)
        env = record.env()
        return env, state, Table(state, env.ruleset)

    def _play(self, number: int, texts: Sequence[str]) -> Iterator[Action]:
        """The actions of a line from the position of a puzzle."""
        env, state, table = self._position(number)
        step = compiled_step(env)
        for text in texts:
            try:
                action = from_text(env.ruleset, text)
            except ValueError as error:
                raise Refused(f"puzzle {number + 1} cannot be explained: {error}") from error
            before, state = table, step(state, action)
            table = Table(state, env.ruleset)
            yield Action(text, action, before, table)

    def _first_move(self, number: int, candidate: JsonObject) -> str:
        """The first main action of a line until it is paid for, without conversions before it."""
        words = list[str]()
        for action in self._play(number, candidate["line"]):
            if is_conversion(action.text):
                continue
            words.append(say_at(action.before, action.text))
            if action.after.node not in HALF_MADE:
                break
        return joined(words)

    def _play_line(self, number: int, action: int, code: str) -> Line:
        """The line of a candidate, whose words are in the language `code`, the one in use.

        The JSON of a step has its words and what it `brings`; `vp` of the player after it; `over`:
        whether the game has ended. The first step is the position.
        """
        puzzle, (_, _, table) = self._puzzle(number), self._position(number)
        texts = next(c["line"] for c in puzzle["candidates"] if c["action"] == action)
        parts, seat = [panels.parts(table)], puzzle["player"]
        start = {"text": "", "words": "", "brings": "", "vp": table.seats[seat].vp, "over": False}
        steps: list[JsonObject] = [start]
        for text, index, before, table in self._play(number, texts):
            # The other players only decline leech.
            if before.player != seat or text == END_TURN:
                continue
            words = say_at(before, text)
            brings = with_minus(in_words(effects(before, table), words))
            about = {"text": text, "words": words, "brings": brings}
            steps.append(about | {"vp": table.seats[seat].vp, "over": table.over})
            parts.append(panels.parts(table, index))
        return Line(steps, parts, table.seats[seat].vp_source)

    def _difference(self, number: int, lines: Sequence[Line]) -> str:
        """VP of the first line above the second by source, the largest first; "" for one line."""
        if len(lines) == 1:
            return ""
        *_, table = self._position(number)
        names = sources(table.ruleset, table.final_missions)
        own, other = (line.vp_by_source for line in lines)
        vp_by_source = {id: own.get(id, 0) - other.get(id, 0) for id in {**own, **other}}
        ranked = sorted(vp_by_source.items(), key=lambda item: -abs(item[1]))
        return ", ".join(
            page_text("vp-from", vp=with_minus(f"{vp:+d}"), source=names[id])
            for id, vp in ranked
            if vp
        )
