"""Serve the shipped puzzles to their page.

`PuzzleBook` replays the game of a puzzle to its position and describes the choices. After an answer
it plays two lines, that of the best move and one to compare with, and reports the playouts.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.env import GaiaEnv, State
from gaia_jax.language import ENGLISH, fill_in, in_language, language, with_minus
from gaia_jax.render import Table, effects, in_words, panels, say_at
from gaia_jax.render.names import VP_SOURCES, sources
from gaia_jax.replay import page
from gaia_jax.state import Node

from ..agents import sha256_of
from ..analysis import puzzles
from ..analysis.actions import is_within_turn
from ..analysis.puzzles import CONVERSION
from ..analysis.races import MIN_LEAD_OVER_RIVALS, other_moves
from ..analysis.recorded_game import compiled_step
from ..types import JsonObject
from .game import HALF_MADE, Refused
from .languages import page_texts, say
from .lookahead import joined

POSITIONS, LINES = 8, 16  # that are cached; a line takes some 10 MB
CANDIDATE = ("action", "text", "words", "vp", "answer_next")
RESULTS = ("theme", "beats", "loss", "playouts", "by", "ahead")  # of a puzzle, for its page
HIDDEN = ("end_turn", "leech DECLINE")  # steps of a line that are not shown
NUM_NEXT_MOVES = 3  # of each line, in the idea
MAX_STEPS = 80  # of a line, before its last one; an early puzzle has hundreds
# The policy itself misses the answers of the first level, weaker agents those of the second.
LEVEL, LEVEL_BEATEN = "expert", "regular"

# A step of a line, and the parts of the picture after it.
Step = tuple[JsonObject, dict[str, dict[str, str]]]


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
        """The theme and the level of each puzzle, the levels by name, and the mark of the file."""
        own = self._collection["puzzles"]
        levels = [LEVEL_BEATEN if "beats" in puzzle else LEVEL for puzzle in own]
        return {
            "themes": [puzzle["theme"] for puzzle in own], "levels": levels, "mark": self.mark,
            "level_names": {level: say(f"level-{level}") for level in set(levels)},
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
            words, after = self._whole_move(number, candidate)
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
        for frame, (_, parts) in enumerate(lines):
            timeline.add(frame, parts)
        return self._results(number, puzzle, candidates[compared]) | {
            "number": number,
            "right": action == answer,
            "reason": self._reason(number, candidates[compared], *both),
            "line": [step for step, _ in lines],
            "next": [own_moves([step for step, _ in line])[:NUM_NEXT_MOVES] for line in both],
            "parts": timeline.varying(),
        }

    def _puzzle(self, number: int) -> JsonObject:
        own = self._collection["puzzles"]
        if not 0 <= number < len(own):
            raise Refused(f"there is no puzzle {number}: they are 0 to {len(own) - 1}")
        return dict(own[number])

    def _replay(self, number: int) -> tuple[GaiaEnv, State, Table]:
        puzzle = self._puzzle(number)
        record = puzzles.record_of(self._collection, puzzle["game"], puzzle["decision"])
        *_, state = replay.states(record)
        env = record.env()
        return env, state, Table(state, env.ruleset)

    def _whole_move(self, number: int, candidate: JsonObject) -> tuple[str, Table]:
        """A move in words, with the choices that follow until it is paid for; the table after it.

        The choices are those of its line.
        """
        env, state, table = self._position(number)
        step, words = compiled_step(env), list[str]()
        for text in (candidate["text"], *candidate["line"][1:]):
            words.append(words_of(table, text))
            state = step(state, from_text(env.ruleset, text))
            table = Table(state, env.ruleset)
            if table.node not in HALF_MADE:
                break
        return joined(words), table

    def _play_line(self, number: int, action: int, code: str) -> list[Step]:
        """The steps of a line, whose words are in the language `code`, the one in use."""
        puzzle, (env, state, _) = self._puzzle(number), self._position(number)
        texts = next(c["line"] for c in puzzle["candidates"] if c["action"] == action)
        try:
            return list(steps_of(env, state, texts, puzzle["player"]))
        except ValueError as error:
            raise Refused(f"puzzle {number + 1} cannot be explained: {error}") from error

    def _reason(
        self, number: int, compared: JsonObject, answer: Sequence[Step], other: Sequence[Step]
    ) -> JsonObject | None:
        """The reason why the answer is better than another candidate, if the puzzle has it.

        Args:
            answer, other: the two lines, which give the event its words.
        """
        reason: JsonObject | None = compared.get("reason")
        table = self._position(number)[2]
        if reason and "sources" in reason:
            return reason | {"sources": localized(table, reason["sources"])}
        if reason is None or "text" not in reason:
            return reason
        text = reason["text"]
        if reason["kind"] == "taken":
            words = [
                step["words"] for step, _ in other[1:] if step["text"] == text and not step["own"]
            ]
        else:
            moves = own_moves([step for step, _ in answer])
            words = [move["words"] for move in moves if text in move["texts"]]
        return reason | {"words": words[0] if words else words_of(table, text)}

    def _results(self, number: int, puzzle: JsonObject, compared: JsonObject) -> JsonObject:
        """The results of the playouts.

        Args:
            puzzle: `verified`. compared: the candidate to compare with.
        """
        table, lines = self._position(number)[2], self._puzzle(number)["candidates"]
        moves = {c["action"]: self._whole_move(number, c)[0] for c in lines}

        def with_move(action: JsonObject) -> JsonObject:
            """An action with the words of its move."""
            words = moves.get(action.get("action"))
            return action | {"words": words} if words else with_words(table, action)

        agent = self._collection["agent"]
        described = {key: puzzle.get(key) for key in RESULTS}
        described |= {key: with_move(puzzle[key]) for key in ("answer", "policy")}
        candidates = [with_move(candidate) for candidate in puzzle["candidates"]]
        return described | {
            "compared": {"action": compared["action"], "words": moves[compared["action"]]},
            "why": localized(table, compared["why"]),
            "tried": puzzle.get("rival", {}).get("moves"),
            "min_lead": MIN_LEAD_OVER_RIVALS,
            "candidates": [{k: v for k, v in c.items() if k in CANDIDATE} for c in candidates],
            "agent": agent,
            "earlier": self._collection["sha256"] != sha256_of(agent),
            "chosen": self._collection.get("chosen"),
        }


def part_of_turn(state: State, text: str) -> str:
    """Whether an action "begins" or "continues" the turn of its player, or neither."""
    if int(state.game.turn.node) in (Node.START, Node.TURN):
        return "" if text.startswith(CONVERSION) else "begins"
    return "continues" if is_within_turn(state) else ""


def own_moves(line: Sequence[JsonObject]) -> list[JsonObject]:
    """The seat's moves after the first move of a line.

    Args:
        line: as of `steps_of`.
    Returns:
        The `texts` of the actions of each move, and its `words`.
    """
    moves = list[list[JsonObject]]()
    for step in line[2:]:
        if step["turn"] == "begins":
            moves.append([step])
        elif step["turn"] and moves:
            moves[-1].append(step)
    return [
        {
            "texts": [step["text"] for step in move],
            "words": joined(step["plain"] for step in move),
        }
        for move in moves
    ]


def verified(puzzle: JsonObject) -> JsonObject:
    """A puzzle with the results of its verification, if any, in place of the maker's."""
    return {**puzzle, **puzzle.get("held", {})}


def localized(table: Table, by_source: Mapping[str, float]) -> dict[str, float]:
    """VP by the English name of their source, with the names of the language in use."""
    names_in_use = sources(table.ruleset, table.final_missions)
    with in_language(ENGLISH):  # as the file has them
        names = {VP_SOURCES[id]: name for id, name in names_in_use.items() if id in VP_SOURCES}
    return {names.get(source, source): vp for source, vp in by_source.items()}


def words_of(table: Table, text: str) -> str:
    """An action in words that name the pieces at its place; a conversion only begins a move."""
    words = say_at(table, text)
    is_conversion = text.startswith(CONVERSION)
    return fill_in(page_texts()["first-conversions"], list=words) if is_conversion else words


def with_words(table: Table, action: JsonObject) -> JsonObject:
    """An action that has a text, with its words."""
    return action | {"words": words_of(table, action["text"])}


def steps_of(env: GaiaEnv, state: State, line: Sequence[str], seat: int) -> Iterator[Step]:
    """The position, then the visible steps of a line.

    Hidden are ends of turns, declined leech and conversions of other players, except as the first
    step, and those between MAX_STEPS visible ones and the last one. A step has its words, also
    without the name as `plain`, and what it `brings`; `own`: whether it is the seat's; `turn`:
    whether it "begins" or "continues" an own turn; `vp` of the seat after it; `over`: whether the
    game has ended; `skipped`: the number of visible steps left out before it.
    """
    table, step = Table(state, env.ruleset), compiled_step(env)
    names = [row["name"] for row in page.seats_json(table)]
    yield {"text": "", "words": "", "brings": ""}, panels.parts(table)
    num_shown = num_skipped = 0
    for number, text in enumerate(line):
        player, action = int(state.current_player), from_text(env.ruleset, text)
        before, state = state, step(state, action)
        is_own, is_cut = player == seat, num_shown >= MAX_STEPS
        is_minor = text in HIDDEN or (not is_own and text.startswith(CONVERSION))
        if is_cut and number < len(line) - 1:
            num_skipped += not is_minor
            continue
        table_before = Table(before, env.ruleset) if is_cut else table
        table = Table(state, env.ruleset)
        if number and is_minor and not num_skipped:
            continue
        num_shown += 1
        words = say_at(table_before, text)
        brings = with_minus(in_words(effects(table_before, table), words))
        yield {
            "text": text, "words": f"{names[player]}: {words}", "plain": words, "brings": brings,
            "own": is_own, "turn": part_of_turn(before, text) if is_own else "",
            "vp": table.seats[seat].vp, "over": table.over, "skipped": num_skipped,
        }, panels.parts(table, action)  # fmt: skip
