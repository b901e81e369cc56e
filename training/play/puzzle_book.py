"""Serve the shipped puzzles to their page.

`PuzzleBook` replays the game of a puzzle to its position and describes the choices. After an answer
it plays two lines, that of the best move and one to compare with, and reports the playouts.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.env import GaiaEnv, State
from gaia_jax.language import ENGLISH, in_language, language, with_minus
from gaia_jax.render import Table, effects, in_words, panels, say_at
from gaia_jax.render.names import VP_SOURCES, sources
from gaia_jax.replay import page

from ..agents import sha256_of
from ..analysis import puzzles
from ..analysis.actions import is_conversion
from ..analysis.puzzle_choices import LEVELS, choose_candidates, find_level
from ..analysis.races import MIN_LEAD_OVER_RIVALS, other_moves
from ..analysis.recorded_game import compiled_step
from ..types import JsonObject
from .game import HALF_MADE, Refused
from .languages import page_text, page_texts
from .lookahead import joined
from .puzzle_explanation import Contrast, explain, lead_over
from .puzzle_lines import Step, part_of_turn, piece_taken, steps_of

POSITIONS, LINES = 8, 16  # that are cached; a line takes some 10 MB
CANDIDATE = ("action", "text", "words", "vp", "less", "answer_next")
RESULTS = ("theme", "beats", "loss", "playouts", "by", "ahead")  # of a puzzle, for its page


class Move(NamedTuple):
    """A choice, with the decisions that follow until it is paid for."""

    words: str
    table: Table  # after it
    num_actions: int
    brings: str  # by the whole turn, in words


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
            Refused: there is no puzzle of this number.
        """
        puzzle = self._puzzle(number)
        env, state, table = self._position(number)
        choices = []
        # In the order of the action index, which does not give the answer away.
        for candidate in sorted(puzzle["candidates"], key=lambda c: int(c["action"])):
            words, after, *_ = self._whole_move(number, candidate)
            brings = with_minus(in_words(effects(table, after), words))
            about = {"action": candidate["action"], "text": candidate["text"], "words": words}
            choices.append(about | {"brings": brings})
        return {
            "number": number,
            "round": puzzle["round"],
            "player": puzzle["player"],
            "seats": page.seats_json(table),
            "vp": [seat.vp for seat in table.seats],
            "choices": choices,
            "legal": len(other_moves(env, state, ())),
            "picture": panels.frame(table, panels.parts(table)),
        }

    def explanation(self, number: int, body: Mapping[str, object]) -> JsonObject:
        """Whether an answer is right, why, and the lines of the best move and of another candidate.

        Args:
            body: `action`, the chosen candidate; `compared` (optional), the candidate whose line to
                compare with. By default that is a wrong choice itself, or the agent's choice.
        Raises:
            Refused: unknown puzzle or candidate, or a line that cannot be played.
        """
        puzzle = verified(self._puzzle(number))
        action, answer = body.get("action"), puzzle["answer"]["action"]
        candidates = {candidate["action"]: candidate for candidate in puzzle["candidates"]}
        if not isinstance(action, int) or action not in candidates:
            raise Refused(f"action must be one of the choices, got {action!r}")
        beaten = puzzle["policy"]["action"]
        compared = body.get("compared", beaten if action == answer else action)
        if not isinstance(compared, int) or compared not in candidates or compared == answer:
            raise Refused(f"compared must be another choice, got {compared!r}")
        code = language()
        both = self._line(number, answer, code), self._line(number, compared, code)
        timeline, lines = page.Timeline(), [*both[0], *both[1]]
        for frame, step in enumerate(lines):
            timeline.add(frame, step.parts)
        return self._results(number, puzzle, candidates[compared], both) | {
            "number": number,
            "right": action == answer,
            "line": [step.json for step in lines],
            "parts": timeline.varying(),
        }

    def _puzzle(self, number: int) -> JsonObject:
        """A puzzle; its candidates are the choices of the page."""
        own = self._collection["puzzles"]
        if not 0 <= number < len(own):
            raise Refused(f"there is no puzzle {number}: they are 0 to {len(own) - 1}")
        return dict(own[number]) | {"candidates": choose_candidates(own[number])}

    def _replay(self, number: int) -> tuple[GaiaEnv, State, Table]:
        puzzle = self._puzzle(number)
        record = puzzles.record_of(self._collection, puzzle["game"], puzzle["decision"])
        *_, state = replay.states(record)
        env = record.env()
        return env, state, Table(state, env.ruleset)

    def _whole_move(self, number: int, candidate: JsonObject) -> Move:
        """A choice with the decisions that follow in its line until it is paid for."""
        env, state, before = self._position(number)
        step, words, tables, count = compiled_step(env), list[str](), [before], 0
        for text in (candidate["text"], *candidate["line"][1:]):
            is_turn = int(state.current_player) == before.player and (
                not words or part_of_turn(state, text) == "continues"
            )
            if not is_turn:
                break
            words.append(words_of(tables[-1], text))
            state = step(state, from_text(env.ruleset, text))
            tables.append(Table(state, env.ruleset))
            if not count and tables[-1].node not in HALF_MADE:
                count = len(words)
        brings = effects(before, tables[-1])
        turn = in_words(brings, joined(words), with_then=False)
        return Move(joined(words[:count]), tables[count], count, with_minus(turn))

    def _play_line(self, number: int, action: int, code: str) -> list[Step]:
        """The steps of a line, whose words are in the language `code`, the one in use."""
        puzzle, (env, state, _) = self._puzzle(number), self._position(number)
        line_of = {c["action"]: c["line"] for c in puzzle["candidates"]}
        texts, answer = line_of[action], line_of[puzzle["answer"]["action"]]
        turn = itertools.takewhile(lambda text: text != "end_turn", answer)
        events = {c.get("reason", {}).get("text") for c in puzzle["candidates"]}
        events = (events | set(map(piece_taken, turn))) - {None, ""}
        try:
            return list(steps_of(env, state, texts, puzzle["player"], events))
        except ValueError as error:
            raise Refused(f"puzzle {number + 1} cannot be explained: {error}") from error

    def _contrast(
        self, number: int, puzzle: JsonObject, compared: JsonObject, lines: Sequence[list[Step]]
    ) -> Contrast:
        """The answer and another choice, with their lines."""
        table, answer = self._position(number)[2], puzzle["answer"]["action"]
        best = next(c for c in puzzle["candidates"] if c["action"] == answer)
        moves = [self._whole_move(number, candidate) for candidate in (best, compared)]
        words, _, counts, brings = zip(*moves, strict=True)
        names = [row["name"] for row in page.seats_json(table)]
        return Contrast(puzzle, compared, words, brings, counts, lines, names, source_names(table))

    def _results(
        self, number: int, puzzle: JsonObject, compared: JsonObject, lines: Sequence[list[Step]]
    ) -> JsonObject:
        """The results of the playouts, and why the answer is better.

        Args:
            puzzle: `verified`. compared: the candidate to compare with.
            lines: of the answer and of that candidate.
        """
        table = self._position(number)[2]
        moves = {c["action"]: self._whole_move(number, c).words for c in puzzle["candidates"]}

        def with_move(action: JsonObject) -> JsonObject:
            """An action with the words of its move."""
            words = moves.get(action.get("action"))
            return action | {"words": words or words_of(table, action["text"])}

        agent = self._collection["agent"]
        described = {key: puzzle.get(key) for key in RESULTS}
        described |= {key: with_move(puzzle[key]) for key in ("answer", "policy")}
        candidates = [with_move(c) | {"less": lead_over(puzzle, c)} for c in puzzle["candidates"]]
        return described | {
            "compared": {"action": compared["action"], "words": moves[compared["action"]]},
            "why": explain(self._contrast(number, puzzle, compared, lines)),
            "tried": puzzle.get("rival", {}).get("moves"),
            "min_lead": MIN_LEAD_OVER_RIVALS,
            "candidates": [{k: v for k, v in c.items() if k in CANDIDATE} for c in candidates],
            "agent": agent,
            "earlier": self._collection["sha256"] != sha256_of(agent),
            "chosen": self._collection.get("chosen"),
        }


def verified(puzzle: JsonObject) -> JsonObject:
    """A puzzle with the results of its verification, if any, in place of the maker's."""
    return {**puzzle, **puzzle.get("held", {})}


def source_names(table: Table) -> dict[str, str]:
    """The names of the sources of VP in the language in use, by their names in files of puzzles."""
    names_in_use = sources(table.ruleset, table.final_missions)
    with in_language(ENGLISH):  # as the file has them
        return {VP_SOURCES[id]: name for id, name in names_in_use.items() if id in VP_SOURCES}


def words_of(table: Table, text: str) -> str:
    """An action in words that name the pieces at its place; a conversion only begins a move."""
    words = say_at(table, text)
    return page_text("first-conversions", list=words) if is_conversion(text) else words
