"""Saved records, and which of them can be opened."""

from __future__ import annotations

import json
import os
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gaia_jax import replay
from gaia_jax.importers.boardgamers import LogError, to_record
from gaia_jax.replay import Record, RecordError
from gaia_jax.ruleset import RULESETS
from gaia_jax.setup.setup_json import players_of
from gaia_jax.state import Setup

from ..config import shipped
from .compiled_rules import Rules
from .game import MAX_NODES, Refused

MAX_SAVED = 500
MAX_NAME_BYTES = 200  # of a file system's 255
# (ruleset id, number of players) -> its rules; raises Refused if the ruleset does not allow it.
FindRules = Callable[[str, int], Rules]
Stamp = tuple[int, int]  # time of the last change in nanoseconds, bytes


# The records of the project: opened, never written.
SHIPPED = shipped("docs/records")
SHIPPED_MARK = "Shipped: "  # no saved name has a colon


class Saves:
    """A folder of records. Every method may be called from any thread."""

    def __init__(self, folder: Path):
        self.folder = folder
        # The offer of each file as of its stamp; None if it cannot be opened.
        self._offers: dict[str, tuple[Stamp, dict[str, Any] | None]] = {}
        self._reading = threading.Lock()  # a record counts as unreadable while it is read

    def names(self) -> list[str]:
        """The names of all saved records."""
        return _stems(self.folder)

    def offers(self, rules: FindRules) -> list[dict[str, Any]]:
        """The records that can be opened: `name`, `ruleset`, `players`.

        Records are not replayed: an illegal action is found when a record is opened, and from then
        on the record is not offered.
        """
        shipped = [f"{SHIPPED_MARK}{name}" for name in _stems(SHIPPED)]
        with self._reading:
            offered = [self._offer(name, rules) for name in (*self.names(), *shipped)]
        return [offer for offer in offered if offer]

    def _offer(self, name: str, rules: FindRules) -> dict[str, Any] | None:
        try:
            stamp = self._stamp(name)
            if name not in self._offers or self._offers[name][0] != stamp:
                self._offers[name] = stamp, None
                record = self.read(name)
                players = players_of(record.setup)
                check(record, rules)
                about = {"name": name, "ruleset": record.ruleset, "players": players}
                self._offers[name] = stamp, about
        except (Refused, ValueError, OSError):
            return None
        return self._offers[name][1]

    def refuse(self, name: str) -> None:
        """Stop offering a record that cannot be replayed, until its file changes."""
        if name in self.names():
            self._offers[name] = self._stamp(name), None

    def _stamp(self, name: str) -> Stamp:
        about = self._path(name).stat()
        return about.st_mtime_ns, about.st_size

    def open(self, record_json: object) -> Record:
        """The record to continue: a saved one by name, or one in the request.

        Raises:
            Refused: it cannot be read.
        """
        if isinstance(record_json, str):
            return self.read(record_json)
        if not isinstance(record_json, Mapping):
            raise Refused("record: the name of a saved one is required")
        try:
            return replay.parse(record_json)
        except RecordError as error:
            raise Refused(str(error)) from error

    def read(self, name: str) -> Record:
        """A saved or shipped record by its name; Refused if it cannot be read."""
        path = self._path(name)
        try:
            return replay.read(path)
        except RecordError as error:
            raise Refused(str(error).replace(f"{path.parent}{os.sep}", "")) from error

    def _path(self, name: str) -> Path:
        """The path of a record; Refused if the name is invalid."""
        plain = name.removeprefix(SHIPPED_MARK)
        if not is_name(plain):
            raise Refused("record: the name of a saved one is required")
        return (self.folder if plain == name else SHIPPED) / f"{plain}.json"

    def save(self, name: object, record: Record) -> str:
        """Save a game; the name of the record.

        The file is complete on the disk before this returns, or absent. It replaces an earlier part
        of the same game; if another game has the name, a number is added.
        """
        name = (name or time.strftime("%Y-%m-%d %H.%M.%S")) if name is not None else name
        name = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
        if not is_name(name):
            raise Refused("a record's name has at most 60 letters, digits, blanks and _.-")
        if name not in self.names() and len(self.names()) >= MAX_SAVED:
            raise Refused(f"{MAX_SAVED} records are saved; move some of them away first")
        name = self._free(name, record)
        self.folder.mkdir(parents=True, exist_ok=True)
        replay.write(self.folder / f"{name}.json", record)
        return name

    def _free(self, name: str, record: Record) -> str:
        """The name, followed by a number if another game is saved under it."""
        for number in range(2, MAX_SAVED + 3):
            if _continues(self.folder / f"{name}.json", record):
                break
            name = f"{re.sub(r' [0-9]+$', '', name)[:56]} {number}"
        return name


def is_name(name: str) -> bool:
    """Whether a record may have a name: letters and digits of any script, blanks and _.-"""
    if not 0 < len(name) <= 60 or len(name.encode()) > MAX_NAME_BYTES or not name[0].isalnum():
        return False
    return all(c.isalnum() or c in " _.-" or unicodedata.category(c)[0] == "M" for c in name)


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.json")) if folder.is_dir() else []


def _continues(path: Path, record: Record) -> bool:
    """Whether a record continues the game of a file, or there is no file."""
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
        Refused: an unknown ruleset or action, another version, an invalid set-up, or too many
            actions; one line.
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
    if len(record.actions) >= MAX_NODES:
        raise Refused(f"a game holds at most {MAX_NODES} positions")
    for number, text in enumerate(record.actions):
        try:
            rules.index(text)
        except ValueError as error:
            raise Refused(f"action {number + 1}: {error}") from error
    return rules, setup


def imported(log: object) -> Record:
    """The record of a log of boardgamers.space; Refused if it cannot be played."""
    if not isinstance(log, Mapping) or not isinstance(log.get("steps"), list):
        raise Refused("log: an object with the list `steps` is required")
    try:
        return to_record(dict(log)).record
    except LogError as error:
        raise Refused(str(error)) from error


def read_setup(data: object, rules: Rules) -> Setup:
    """The set-up of JSON values; Refused if they are invalid."""
    if not isinstance(data, Mapping):
        raise Refused("setup: an object is required")
    try:
        return rules.read_setup(data)
    except (ValueError, TypeError, KeyError) as error:
        raise Refused(f"setup: {error}") from error
