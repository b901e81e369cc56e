"""The puzzles that come with the project, as a page asks them: a position, and some moves."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np

from gaia_jax import replay
from gaia_jax.actions import from_text, to_text
from gaia_jax.env import GaiaEnv, State
from gaia_jax.render import Table, effects, in_words, panels, say_at
from gaia_jax.render.names import VP_SOURCES
from gaia_jax.replay import page
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Node

from ..agents import sha256_of
from ..analysis import puzzles
from ..analysis.actions import is_main
from ..analysis.review import Plain
from .background import Job
from .game import Refused

KEPT = 4  # puzzles that are ready to be shown again; their lines take some 30 MB each
CHOICE = ("action", "text", "words", "brings")
CANDIDATE = ("action", "text", "words", "policy", "vp", "answer_next")
WITHIN = {Node.BOOSTER, *range(Node.TARGET, Node.LOST_PLANET + 1)}  # a move goes on there
SILENT = ("end_turn", "leech DECLINE")  # steps of a line that are not told
# Moves that one player takes from the others: for good, or for the round.
PLACES = ("mine", "project")  # and a pick that builds a mine: the cell is taken, however
FOR_GOOD = ("artifact", "advanced")
FOR_THE_ROUND = ("power", "ship", "booster")
LAST_STEP = " 4 to 5"
LOST = 2  # of such moves that are told
# Of puzzles that the network itself misses, and of those that weaker agents do.
LEVEL, LEVEL_BEATEN = "expert", "regular"
Step = tuple[Plain, Table]  # of a line, and the table behind it


class PuzzleBook:
    """The puzzles of a file, each played to its position when it is asked for.

    The lines of its candidates are played behind it, while somebody thinks.
    """

    def __init__(self, path: Path = puzzles.SHIPPED):
        """
        Args:
            path: the file; it is read when the first puzzle is asked for.
        """
        self._path = path
        self._made = functools.lru_cache(KEPT)(self._make)
        # By the number of a puzzle that is played to: how many decisions are, and of how many.
        self.playing: dict[int, tuple[int, int]] = {}

    @functools.cached_property
    def _found(self) -> Plain:
        return puzzles.read(self._path)

    @functools.cached_property
    def mark(self) -> str:
        """Of the file: a score is of its puzzles, and of no others under the same numbers."""
        return hashlib.sha256(self._path.read_bytes()).hexdigest()[:12]

    def themes(self) -> list[str]:
        """The theme of each puzzle, in their order."""
        return [one["theme"] for one in self._found["puzzles"]]

    def levels(self) -> list[str]:
        """The level of each puzzle, in their order: for whom it is, by whose choice it beats."""
        return [LEVEL_BEATEN if "beats" in one else LEVEL for one in self._found["puzzles"]]

    def asked(self, number: int) -> Plain:
        """A puzzle without its answer.

        Raises:
            Refused: there is none of that number.
        """
        return dict(self._made(self._checked(number))[0])

    def answered(self, number: int, body: Mapping[str, object]) -> Plain:
        """What is to be said of an answer.

        Args:
            body: of the request: `action`, the index of a candidate; maybe `beside`, of the one
                whose line stands beside the answer's. Without it that is the wrong one that was
                chosen, and the second best beside a right one.
        Raises:
            Refused: there is no such puzzle or candidate, or a line of it cannot be played.
        """
        asked, later = self._made(self._checked(number))
        action, known = body.get("action"), [one["action"] for one in asked["choices"]]
        if action not in known:
            raise Refused("action: one of the choices is wanted")
        later.wait()
        if later.result is None:
            raise Refused(f"puzzle {number + 1} cannot be told: {later.message}")
        one, lines = later.result
        answer = one["answer"]["action"]
        second = next(c["action"] for c in one["candidates"] if c["action"] != answer)
        beside = body.get("beside", second if action == answer else action)
        if not isinstance(beside, int) or beside not in known or beside == answer:
            raise Refused("beside: one of the other choices is wanted")
        return self._explained(number, one, lines, beside) | {"right": action == answer}

    def _checked(self, number: int) -> int:
        count = len(self._found["puzzles"])
        if not 0 <= number < count:
            raise Refused(f"there is no puzzle {number}: they are 0 to {count - 1}")
        return number

    def _states(self, number: int, record: replay.Record) -> list[State]:
        """All states of a record; `playing` tells meanwhile how far it is."""
        found: list[State] = []
        try:
            for state in replay.states(record):
                found.append(state)
                self.playing[number] = (len(found) - 1, len(record.actions))
        finally:
            self.playing.pop(number, None)
        return found

    def _make(self, number: int) -> tuple[Plain, Job]:
        """What is asked, and what is told once there is an answer."""
        one = self._found["puzzles"][number]
        game = self._found["games"][one["game"]]
        actions = tuple(game["actions"][: one["decision"] - 1])
        record = replay.Record(
            self._found["ruleset"], self._found["version"], game["setup"], actions, ()
        )
        here, env = self._states(number, record)[-1], record.env()
        table = Table(here, env.ruleset)
        asked = {
            "number": number,
            "round": one["round"],
            "player": one["player"],
            "seats": page.seats_json(table),
            "vp": [seat.vp for seat in table.seats],
            "choices": _choices(env, here, one, table),
            **_legal(here, env.ruleset),
            "picture": panels.frame(table, panels.parts(table)),
        }

        def explain(job: Job) -> None:
            held = _as_held(one)
            lines: dict[int, list[Step]] = {}
            for c in held["candidates"]:
                lines[c["action"]] = []
                for step in _told(env, here, c["line"], one["player"]):
                    job.report("the lines are played", len(lines), len(held["candidates"]))
                    lines[c["action"]].append(step)
            job.result = held, lines

        return asked, Job(explain, f"puzzle {number}")

    def _explained(
        self, number: int, one: Plain, lines: Mapping[int, Sequence[Step]], beside: int
    ) -> Plain:
        """What is told of a puzzle, with the lines of the answer and of another candidate.

        Args:
            one: the puzzle, `_as_held`. lines: by action, the position and the steps behind it.
        """
        agent, by_action = self._found["agent"], {c["action"]: c for c in one["candidates"]}
        answer, instead = lines[one["answer"]["action"]], lines[beside]
        first, rows = answer[0][1], [*answer, *instead]
        timeline, seats = page.Timeline(), page.seats_json(first)
        for frame, (step, table) in enumerate(rows):
            timeline.add(frame, panels.parts(table, step.get("action")))
        return {
            "number": number,
            "theme": one["theme"],
            "answer": _named(one["answer"], first),
            "then": [step["words"] for step in _move(answer)[1:]],
            "taken": _taken(answer, instead, seats),
            "only": [_only(answer, instead), _only(instead, answer)],
            "policy": _named(one["policy"], first),
            "beats": one.get("beats"),
            "beside": {"action": beside, "words": _named(by_action[beside], first)["words"]},
            "loss": one["loss"],
            "why": {_source(first, name): vp for name, vp in by_action[beside]["why"].items()},
            "candidates": [
                {k: v for k, v in _named(c, first).items() if k in CANDIDATE}
                for c in one["candidates"]
            ],
            "playouts": one["playouts"],
            "agent": agent,
            "by": one.get("by"),
            "ahead": one.get("ahead"),
            "rival": _named(one["rival"], first) if "rival" in one else None,
            "earlier": self._found["sha256"] != sha256_of(agent),
            "chosen": self._found.get("chosen"),
            # The position stands before each line.
            "line": [_step(step, seats) for step, _ in rows],
            "parts": timeline.varying(),
        }


def _source(table: Table, name: str) -> str:
    """A source of VP by its name in this game: which final mission it is."""
    ids = [id for id, known in VP_SOURCES.items() if known == name]
    return page.sources_json(table)[table.ids["vp_source"].index(ids[0])]["name"] if ids else name


def _as_held(one: Plain) -> Plain:
    """A puzzle with what came of it where a stronger agent, `by`, played on; as it is without that.

    The best candidate first.
    """
    if "held" not in one:
        return one
    candidates = [c | c["held"] for c in one["candidates"]]
    made: Plain = one | one["held"]
    return made | {"candidates": sorted(candidates, key=lambda c: -float(c["vp"]))}


def _named(action: Plain, table: Table) -> Plain:
    """An action with words that name what lies at its place; a free one begins a move."""
    first = "first " if action["text"].startswith("free ") else ""
    return action | {"words": first + say_at(table, action["text"])}


def _told(env: GaiaEnv, state: State, line: Sequence[str], seat: int) -> Iterator[Step]:
    """The position, with no step, then the steps of a line that are told, each with what it gives.

    Behind the first no end of a turn is told, no declining, no conversion of somebody else. A step
    is in words that name what lies at its place before it; `brings`: what it costs and brings;
    `own`: the seat's; `same`: it is of the first move still; `vp`: the seat's behind it; `over`:
    the game has ended.
    """
    table, same = Table(state, env.ruleset), True
    yield {}, table
    step = replay.compiled(env)[1]
    for number, text in enumerate(line):
        within = bool(number) and int(state.game.turn.node) in WITHIN
        same &= within or not number
        player, action = int(state.current_player), from_text(env.ruleset, text)
        before, state = table, step(state, action)
        told = not number or text not in SILENT and (player == seat or not text.startswith("free "))
        table = Table(state, env.ruleset)
        if told:
            words = say_at(before, text)
            brings = in_words(effects(before, table), words)
            yield {
                "text": text, "action": action, "player": player, "own": player == seat,
                "within": within, "same": same, "words": words, "brings": brings,
                "gained": table.seats[seat].vp - before.seats[seat].vp,
                "vp": table.seats[seat].vp, "over": table.over,
            }, table  # fmt: skip


def _move(line: Sequence[Step]) -> list[Plain]:
    """The steps of the move that a line begins with."""
    first, *others = (step for step, _ in line[1:])
    return [first, *takewhile(lambda step: step["same"], others)]


def _only(line: Sequence[Step], other: Sequence[Step]) -> list[str]:
    """What the seat does in one line and not in another: its moves in words, with their VP.

    Without conversions and the last pass, whose VP are the end's.
    """

    def moves(steps: Sequence[Step]) -> list[list[Plain]]:
        found = list[list[Plain]]()
        for step, _ in steps[1:]:
            if not step["own"] or step["text"] == "pass" or step["text"].startswith("free "):
                continue
            if step["within"] and found:
                found[-1].append(step)
            else:
                found.append([step])
        return found

    def texts(move: Sequence[Plain]) -> tuple[str, ...]:
        return tuple(step["text"] for step in move)

    known, told = Counter(map(texts, moves(other))), []
    for move in moves(line):
        if known[texts(move)]:
            known[texts(move)] -= 1
            continue
        gained = sum(step["gained"] for step in move)
        vp = f" ({gained:+d} VP)" if gained else ""
        told.append(", ".join(step["words"] for step in move) + vp)
    return told


def _taken(answer: Sequence[Step], instead: Sequence[Step], seats: Sequence[Plain]) -> list[Plain]:
    """What the seat takes in the answer's line, another in a second one; the first move first.

    Returns:
        LOST at most: `name` of the player, `words` of the step, `step` of the other line from 1.
    """
    first = len(_move(answer))
    own = [what for n, what in _contested(answer) if answer[n][0]["own"]]
    before = {what for n, what in _contested(answer) if n <= first}
    kept = {what for n, what in _contested(instead) if instead[n][0]["own"]}
    found: dict[tuple[str, int], Plain] = {}
    for number, what in _contested(instead):
        step = instead[number][0]
        if what in own and what not in kept and what not in found:
            name = seats[step["player"]]["name"]
            found[what] = {"name": name, "words": step["words"], "step": number}
    return [found[what] for what in sorted(found, key=lambda what: what not in before)][:LOST]


def _contested(line: Sequence[Step]) -> Iterator[tuple[int, tuple[str, int]]]:
    """The steps of a line, from 1, that leave nothing for others: what is taken, for which round.

    0 is for good. A step on a track is one where it comes to the end, which has one place.
    """
    for number, (step, _) in enumerate(line[1:], 1):
        verb, _, place = step["text"].partition(" ")
        now = line[number - 1][1].round
        if verb in PLACES or verb == "pick" and "+mine" in re.split("[,;] ", step["brings"]):
            yield number, (place, 0)
        elif verb in FOR_GOOD or verb == "advance" and LAST_STEP in step["brings"]:
            yield number, (step["text"], 0)
        elif verb in FOR_THE_ROUND:
            yield number, (step["text"], now)


def _step(step: Plain, seats: Sequence[Plain]) -> Plain:
    """A step of a line, whose it is and in words; the position for none."""
    if not step:
        return {"text": "", "words": "The position", "brings": ""}
    words = f"{seats[step['player']]['name']}: {step['words']}"
    return {"words": words} | {key: step[key] for key in ("text", "brings", "own", "vp", "over")}


def _legal(state: State, ruleset: Ruleset) -> Plain:
    """`legal`: how many moves there are, at a main decision without conversions: `converts`."""
    node = int(state.game.turn.node)
    texts = [to_text(ruleset, int(a)) for a in np.flatnonzero(np.asarray(state.legal_action_mask))]
    main = [text for text in texts if node != Node.TURN or is_main(node, text)]
    return {"legal": len(main), "converts": len(main) < len(texts)}


def _choices(env: GaiaEnv, state: State, one: Plain, table: Table) -> list[Plain]:
    """The candidates as choices, in the order of the action index: it gives nothing away.

    `brings`: what the step costs and brings at once, and what is to be chosen behind it.
    """
    step, found = replay.compiled(env)[1], []
    for candidate in sorted(one["candidates"], key=lambda c: int(c["action"])):
        named = _named(candidate, table)
        after = Table(step(state, candidate["action"]), env.ruleset)
        named["brings"] = in_words(effects(table, after), named["words"])
        found.append({key: named[key] for key in CHOICE})
    return found
