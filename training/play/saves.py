"""The records that are saved, and which of them can be opened."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gaia_jax import replay
from gaia_jax.replay import Record, RecordError
from gaia_jax.ruleset import RULESETS
from gaia_jax.setup.setup_json import players_of
from gaia_jax.state import Setup

from ..config import shipped
from .compiled_rules import Rules
from .game import HUMAN, MOST_NODES, Game, Refused

MOST_SAVED = 500
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,59}")
# (ruleset id, number of players) -> its rules; raises Refused where the ruleset does not allow it.
FindRules = Callable[[str, int], Rules]
Stamp = tuple[int, int]  # time of the last change in nanoseconds, bytes


# The records that come with the project, where it is a clone: opened, never written.
SHIPPED = shipped("docs/records")
SHIPPED_MARK = "Shipped: "  # no saved name has a colon


class Saves:
    """A folder of records. Every method may be called from any thread."""

    def __init__(self, folder: Path, shipped: Path = SHIPPED):
        """
        Args:
            folder: of saved records. shipped: folder of further records; may be missing.
        """
        self.folder, self.shipped = folder, shipped
        # What was found of each file as it is now; None: it cannot be opened.
        self._found: dict[str, tuple[Stamp, dict[str, Any] | None]] = {}

    def names(self) -> list[str]:
        """The names of all records that are saved."""
        return _stems(self.folder)

    def offers(self, rules: FindRules) -> list[dict[str, Any]]:
        """The records that can be opened: `name`, `ruleset`, `players`.

        A record is not played for this: an illegal action is found by opening it, and from then on
        it is not offered.
        """
        shipped = [f"{SHIPPED_MARK}{name}" for name in _stems(self.shipped)]
        offered = (self._offer(name, rules) for name in (*self.names(), *shipped))
        return [offer for offer in offered if offer]

    def _offer(self, name: str, rules: FindRules) -> dict[str, Any] | None:
        try:
            stamp = self._stamp(name)
            if name not in self._found or self._found[name][0] != stamp:
                self._found[name] = stamp, None
                record = self.read(name)
                players = players_of(record.setup)
                check(record, rules)
                about = {"name": name, "ruleset": record.ruleset, "players": players}
                self._found[name] = stamp, about
        except (Refused, ValueError, OSError):
            return None
        return self._found[name][1]

    def refuse(self, name: str) -> None:
        """A record turned out not to play: it is not offered until its file is another."""
        if name in self.names():
            self._found[name] = self._stamp(name), None

    def _stamp(self, name: str) -> Stamp:
        about = self._path(name).stat()
        return about.st_mtime_ns, about.st_size

    def read(self, name: str) -> Record:
        """A saved or shipped record by its name; Refused if there is none."""
        path = self._path(name)
        try:
            return replay.read(path)
        except RecordError as error:
            raise Refused(str(error).replace(f"{path.parent}{os.sep}", "")) from error

    def _path(self, name: str) -> Path:
        """The path of a record. Raises Refused for a name that no record may have."""
        plain = name.removeprefix(SHIPPED_MARK)
        if not _NAME.fullmatch(plain):
            raise Refused("record: the name of a saved one is wanted")
        return (self.folder if plain == name else self.shipped) / f"{plain}.json"

    def save(self, name: object, record: Record) -> str:
        """Save a game; the name of the record.

        The file is whole on the disk before this returns, or not there at all. An earlier part of
        the same game is replaced; if another game has the name, a number is added.
        """
        name = (name or time.strftime("%Y-%m-%d %H.%M.%S")) if name is not None else name
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise Refused("a record's name has letters, digits, blanks and _.- alone, at most 60")
        if name not in self.names() and len(self.names()) >= MOST_SAVED:
            raise Refused(f"{MOST_SAVED} records are saved; move some of them away first")
        name = self._free(name, record)
        self.folder.mkdir(parents=True, exist_ok=True)
        target, part = self.folder / f"{name}.json", self.folder / f".{secrets.token_hex(6)}.part"
        replay.write(part, record)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        return name

    def _free(self, name: str, record: Record) -> str:
        """The name, followed by a number if another game is saved under it."""
        for number in range(2, MOST_SAVED + 3):
            if _goes_on(self.folder / f"{name}.json", record):
                break
            name = f"{re.sub(r' [0-9]+$', '', name)[:56]} {number}"
        return name


def about(game: Game) -> dict[str, Any]:
    """A game to continue: `id`, `ruleset`, `round`, the factions that `people` play."""
    table = game.table(game.line[-1])
    people = [seat.faction.name for seat in table.seats if game.seats[seat.player] == HUMAN]
    return {
        "id": game.id, "ruleset": game.rules.env.id, "round": table.round, "people": people,
    }  # fmt: skip


def unfinished_name() -> str:
    """The name of a game that is saved because the server ends."""
    return f"Unfinished {time.strftime('%Y-%m-%d %H.%M.%S')}"


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.json")) if folder.is_dir() else []


def _goes_on(path: Path, record: Record) -> bool:
    """Whether a record is the game of a file, perhaps further on; so it is where there is none."""
    if not path.exists():
        return True
    try:
        before = replay.read(path)
    except RecordError:
        return False
    same = (before.ruleset, before.version) == (record.ruleset, record.version)
    same = same and dict(before.setup) == json.loads(json.dumps(dict(record.setup)))
    return same and record.actions[: len(before.actions)] == before.actions


def check(record: Record, find: FindRules) -> tuple[Rules, Setup]:
    """The rules and the set-up of a record; its moves are not checked.

    Raises:
        Refused: an unknown ruleset, another version, a broken set-up, an action that is unknown, or
            too many; one line.
    """
    if record.ruleset not in RULESETS:
        raise Refused(f"unknown ruleset {record.ruleset!r}; known are {', '.join(RULESETS)}")
    try:
        rules = find(record.ruleset, players_of(record.setup))
    except ValueError as error:
        raise Refused(str(error)) from error
    if record.version != rules.env.version:
        raise Refused(f"the record is of version {record.version}, not {rules.env.version}")
    setup = read_setup(record.setup, rules)
    if len(record.actions) >= MOST_NODES:
        raise Refused(f"a game holds at most {MOST_NODES} positions")
    for number, text in enumerate(record.actions):
        try:
            rules.index(text)
        except ValueError as error:
            raise Refused(f"action {number + 1}: {error}") from error
    return rules, setup


def read_setup(data: object, rules: Rules) -> Setup:
    """The set-up that JSON describes; Refused if it is broken."""
    if not isinstance(data, Mapping):
        raise Refused("setup: an object is wanted")
    try:
        return rules.read_setup(data)
    except (ValueError, TypeError, KeyError) as error:
        raise Refused(f"setup: {error}") from error
