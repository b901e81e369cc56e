"""The puzzles that come with the project, as a page asks them: a position, and some moves."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.render import Table, panels, say_at
from gaia_jax.render.names import VP_SOURCES
from gaia_jax.replay import page

from ..study import puzzles
from ..study.review import Plain
from .game import Refused

KEPT = 16  # puzzles that are ready to be shown again
CHOICE = ("action", "text", "words")
CANDIDATE = ("action", "words", "vp", "policy")


class PuzzleBook:
    """The puzzles of a file, each played to its position when it is asked for."""

    def __init__(self, path: Path = puzzles.SHIPPED):
        """
        Args:
            path: the file; it is read when the first puzzle is asked for.
        """
        self._path = path
        self._made = functools.lru_cache(KEPT)(self._make)

    @functools.cached_property
    def _found(self) -> Plain:
        return puzzles.read(self._path)

    def themes(self) -> list[str]:
        """The theme of each puzzle, in their order."""
        return [one["theme"] for one in self._found["puzzles"]]

    def asked(self, number: int) -> Plain:
        """A puzzle without its answer.

        Raises:
            Refused: there is none of that number.
        """
        return dict(self._made(self._checked(number))[0])

    def answered(self, number: int, body: Mapping[str, object]) -> Plain:
        """What is to be said of an answer.

        Args:
            body: of the request: `action`, the index of a candidate.
        Raises:
            Refused: there is no such puzzle or candidate.
        """
        asked, told = self._made(self._checked(number))
        action = body.get("action")
        if action not in [one["action"] for one in asked["choices"]]:
            raise Refused("action: one of the choices is wanted")
        return told | {"right": action == told["answer"]["action"]}

    def _checked(self, number: int) -> int:
        count = len(self._found["puzzles"])
        if not 0 <= number < count:
            raise Refused(f"there is no puzzle {number}: they are 0 to {count - 1}")
        return number

    def _make(self, number: int) -> tuple[Plain, Plain]:
        one = self._found["puzzles"][number]
        game = self._found["games"][one["game"]]
        actions = tuple(game["actions"][: one["decision"] - 1])
        line = tuple(step["text"] for step in one["line"])
        record = replay.Record(
            self._found["ruleset"], self._found["version"], game["setup"], actions + line, ()
        )
        ruleset = record.env().ruleset
        shown = list(replay.states(record))[len(actions) :]
        tables = [Table(state, ruleset) for state in shown]
        timeline = page.Timeline()
        for frame, table in enumerate(tables):
            last = from_text(ruleset, line[frame - 1]) if frame else None
            timeline.add(frame, panels.parts(table, last))
        seats = page.seats_json(tables[0])
        asked = {
            "number": number,
            "theme": one["theme"],
            "round": one["round"],
            "player": one["player"],
            "seats": seats,
            "vp": [seat.vp for seat in tables[0].seats],
            "choices": _choices(one, tables[0]),
            "picture": panels.frame(tables[0], panels.parts(tables[0])),
        }
        told = {
            "answer": _named(one["answer"], tables[0]),
            "policy": _named(one["policy"], tables[0]),
            "loss": one["loss"],
            "why": {_source(tables[0], name): vp for name, vp in one["why"].items()},
            "candidates": [
                {key: _named(c, tables[0])[key] for key in CANDIDATE} for c in one["candidates"]
            ],
            "playouts": self._found["playouts"],
            "agent": self._found["agent"],
            "sha256": self._found["sha256"],
            "chosen": "chosen" in self._found,
            "line": [
                f"{seats[step['player']]['name']}: {say_at(table, step['text'])}"
                for step, table in zip(one["line"], tables, strict=False)  # one more is behind them
            ],
            "parts": timeline.varying(),
        }
        return asked, told


def _source(table: Table, name: str) -> str:
    """A source of VP by its name in this game: which final mission it is."""
    ids = [id for id, known in VP_SOURCES.items() if known == name]
    return page.sources_json(table)[table.ids["vp_source"].index(ids[0])]["name"] if ids else name


def _named(action: Plain, table: Table) -> Plain:
    """An action with words that name what lies at its place; a free one begins a move."""
    first = "first " if action["text"].startswith("free ") else ""
    return action | {"words": first + say_at(table, action["text"])}


def _choices(one: Plain, table: Table) -> list[Plain]:
    """The candidates as choices, in the order of the action index: it gives nothing away."""
    found = ({key: _named(c, table)[key] for key in CHOICE} for c in one["candidates"])
    return sorted(found, key=lambda choice: int(choice["action"]))
