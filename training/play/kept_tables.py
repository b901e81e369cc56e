"""Tables on disk: a game with all its branches, its seats and members, written after each move.

A new game is also written before its first move. A server that is killed between two moves loses
nothing: the next one has the same positions under the same numbers, the same people at the same
seats.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gaia_jax.ruleset import VARIANTS

from ..analysis.default_agent import adviser_for
from .compiled_rules import Rules
from .game import Game, Refused
from .members import Members
from .saves import read_setup
from .settings import Settings

MAX_TABLES = 300  # the oldest ended table makes room for one more, or else the oldest
_ID = re.compile(r"[0-9a-f]{12}")
FORMAT = "gaia_jax table 1"


@dataclass
class OpenTable:
    """A game with its members and the settings of its seats."""

    game: Game
    members: Members
    settings: list[Settings]  # by seat
    is_kept: bool = False  # on the disk
    chat: list[tuple[int, str, str]] = field(default_factory=list)  # seat, name, line

    def may_act(self, browser: str, at: int) -> bool:
        """Whether a browser decides at a position; an earlier one only if it plays for all."""
        game, members = self.game, self.members
        if game.over(at) or game.view(at).player not in members.played_by(browser, game.seats):
            return False
        return at == game.now or members.is_alone(browser, game.seats)

    def may_explain(self, browser: str, at: int) -> bool:
        """Whether a browser gets hints at a position: a player also at what others decided."""
        game, members = self.game, self.members
        if game.over(at) or self.may_act(browser, at):
            return not game.over(at)
        is_player = bool(members.played_by(browser, game.seats)) and at != game.now
        return is_player or members.is_alone(browser, game.seats)

    def reset_free_seats(self) -> None:
        """Let whoever takes a free seat make every decision: settings belong to a person."""
        if self.members.shared:
            for player in range(len(self.settings)):
                if self.members.is_free(player):
                    self.settings[player] = Settings()

    def may_call_off(self, browser: str, kind: str, at: int) -> bool:
        """Whether a browser cancels the `hint` or `check` at a position, or the `review`."""
        if kind == "review":
            is_player = bool(self.members.played_by(browser, self.game.seats))
            return is_player or self.members.is_host(browser)
        return self.may_explain(browser, at)

    def may_undo(self, browser: str) -> bool:
        """Whether the last decision of a person is a browser's."""
        at = self.game.earlier()
        played = self.members.played_by(browser, self.game.seats)
        return at is not None and self.game.view(at).player in played


def seated_agents(tables: Iterable[OpenTable]) -> set[tuple[str, str]]:
    """The agents at unfinished tables, each with the name of its ruleset."""
    games = [table.game for table in tables if not table.game.over()]
    return {(name, game.rules.env.ruleset.name) for game in games for name in game.seats}


def about_json(table: OpenTable) -> dict[str, Any]:
    """A table in a list: `id`, `ruleset`, `round`, `over`, `factions`, `seats`, `names`, `date`."""
    game, tip = table.game, table.game.view()
    return {
        "id": game.id, "ruleset": game.rules.env.id, "round": tip.round, "over": tip.over,
        "factions": [seat.faction.name for seat in tip.seats], "seats": list(game.seats),
        "names": list(table.members.names) if table.members.shared else [],
        "date": int(time.time()),
    }  # fmt: skip


class KeptTables:
    """A folder with a file for each table. Call it only under the lock of its server."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._data: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
            data = _read(path)
            if data:
                self._data[path.stem] = data

    def keep(self, table: OpenTable, open_ids: Collection[str] = ()) -> None:
        """Write a table. A killed process loses nothing; a power cut may lose the last move.

        Args:
            open_ids: of tables in memory, which make no room for this one.
        """
        game = table.game
        data = {
            "format": FORMAT, "version": game.rules.env.version, "about": about_json(table),
            "name": game.name, "players": len(game.seats), "setup": game.setup_json(),
            "nodes": [[node.parent, node.action, node.by] for node in game.nodes[1:]],
            "now": game.now, "tip": game.line[-1],
            "settings": [asdict(chosen) for chosen in table.settings],
            "members": asdict(table.members), "chat": table.chat,
        }  # fmt: skip
        self._data.pop(game.id, None)
        while len(self._data) >= MAX_TABLES:
            closed = [id for id in self._data if id not in open_ids]
            if not closed:
                break
            oldest = min(closed, key=self._worth)
            del self._data[oldest]
            (self.folder / f"{oldest}.json").unlink(missing_ok=True)
        self._data[game.id] = data
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{secrets.token_hex(6)}.part"
        # The file has the keys of the seats.
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(data, file)
            part.replace(self.folder / f"{game.id}.json")
        finally:
            part.unlink(missing_ok=True)  # the disk is full

    def _worth(self, id: str) -> tuple[bool, bool]:
        """What makes room last: games under way, after those that ended, after those not begun."""
        data = self._data[id]
        return bool(data["nodes"]), not data["about"]["over"]

    def under_way(self, browser: str, admitted: bool) -> list[dict[str, Any]]:
        """The unfinished tables that a browser may enter, the latest first, as `about_json`.

        `free` are the seats that it may take, `mine` those that it plays.

        Args:
            admitted: whether the browser may take free seats.
        """
        tables = []
        for data in reversed(self._data.values()):
            about, members, seats = (
                data["about"],
                Members(**data["members"]),
                data["about"]["seats"],
            )
            free = members.free_seats(seats) if admitted and members.shared else []
            can_continue = not about["over"] and _is_current(data)
            if can_continue and members.is_open_to(browser, admitted, seats):
                mine = members.played_by(browser, seats)
                tables.append({**about, "free": free, "mine": mine})
        return tables

    def ended_of(self, browser: str) -> dict[str, list[str]]:
        """The tables to review that a browser may see, the latest first, by a person's name.

        They have ended, and an adviser plays such games.
        """
        tables: dict[str, list[str]] = {}
        for id, data in reversed(self._data.items()):
            members, about = Members(**data["members"]), data["about"]
            is_ended = about["over"] and _is_current(data) and members.sees(browser)
            if is_ended and adviser_for(about["ruleset"], data["players"]):
                for name in dict.fromkeys(filter(None, members.names)):
                    tables.setdefault(name, []).append(id)
        return tables

    def is_guest(self, browser: str) -> bool:
        """Whether a browser is a member of some shared table."""
        everyone = (Members(**data["members"]) for data in self._data.values())
        return any(members.shared and members.sees(browser) for members in everyone)

    def id_of(self, key: str) -> str | None:
        """The table whose link has a key; None if there is none."""
        for id, data in self._data.items():
            members = Members(**data["members"])
            if key in (*members.seat_keys, members.watch_key):
                return id
        return None

    def members(self, id: str) -> tuple[Members, list[str]]:
        """The members and the players by seat of a kept table; KeyError if there is none."""
        data = self._data[id]
        return Members(**data["members"]), data["about"]["seats"]

    def read(self, id: str, rules_for: Callable[[str, int], Rules]) -> OpenTable | None:
        """A kept table, played again to its positions; None if there is none.

        Raises:
            Refused: it is of another version of the game.
        """
        data = self._data.get(id)
        if data is None:
            return None
        rules = rules_for(data["about"]["ruleset"], data["players"])
        if data["version"] != rules.env.version:
            raise Refused(f"the table is of version {data['version']}, not {rules.env.version}")
        seats = data["about"]["seats"]
        game = Game(id, rules, read_setup(data["setup"], rules), seats, data["name"])
        if data["nodes"]:
            rules.prepare()
        texts = rules.env.ruleset.actions.texts
        for parent, action, by in data["nodes"]:
            game.resume(parent)
            game.play(texts[action], by)
        game.resume(data["now"])
        if "tip" in data:
            game.line = game.path(data["tip"])
        chosen = [Settings.read(entry) for entry in data["settings"]]
        chat = [(seat, name, line) for seat, name, line in data.get("chat", ())]
        return OpenTable(game, Members(**data["members"]), chosen, is_kept=True, chat=chat)


def _is_current(data: dict[str, Any]) -> bool:
    """Whether the rules of a table are those of this version."""
    ruleset = VARIANTS.get((data["about"]["ruleset"], data["players"]))
    return ruleset is not None and bool(data["version"] == ruleset.version)


def _read(path: Path) -> dict[str, Any] | None:
    """The table of a file; None if it is no such file."""
    try:
        data = json.loads(path.read_text())
        if not _ID.fullmatch(path.stem) or data["format"] != FORMAT:
            return None
        Members(**data["members"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(data)
