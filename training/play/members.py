"""The members of a table: browsers and names of its seats, links to them, permissions.

A browser is known by a random id, a cookie. At a table that is not `shared`, every browser that
reaches the server plays all seats of people (one screen for several people). At a shared table a
browser plays the seats that it has taken, by a link or by name, and strangers see nothing.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from .access import new_key
from .game import HUMAN, Refused

MAX_NAME = 30
MAX_BROWSERS = 64  # of one table


class Forbidden(Refused):
    """A request for something that belongs to others."""

    status = 403


def read_name(value: object, kind: str = "name", longest: int = MAX_NAME) -> str:
    """The name of a person in any script, or another line of text; Refused if it is none."""
    text = unicodedata.normalize("NFC", value).strip() if isinstance(value, str) else ""
    if not text.isprintable() or not 0 < len(text) <= longest:
        raise Refused(f"{kind}: from 1 to {longest} characters are required")
    return text


@dataclass
class Members:
    """The members of one table. Change it only under the lock of its server."""

    host: str  # the browser that opened the table
    shared: bool
    names: list[str]  # by seat; "" for a free one
    browsers: list[list[str]]  # by seat
    seat_keys: list[str]  # by seat: of the link that takes it
    watch_key: str = field(default_factory=new_key)
    watchers: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, host: str, name: str, seats: Sequence[str], shared: bool) -> Members:
        """The members of a new table: its host at the first seat of a person, under a name."""
        members = cls(
            host, shared, [""] * len(seats), [[] for _ in seats], [new_key() for _ in seats]
        )
        if HUMAN in seats:
            members.sit(host, seats.index(HUMAN), name)
        return members

    def take_people_from(self, before: Members, seats: Sequence[str], name: str) -> Members:
        """These members with the people of an earlier table, under new keys.

        Args:
            name: of the host, whose seat may have had none.
        """
        self.names, self.browsers = list(before.names), [list(seat) for seat in before.browsers]
        self.watchers, self.shared = list(before.watchers), before.shared
        for player in self.played_by(self.host, seats)[:1]:
            self.names[player] = self.names[player] or name
        return self

    def share(self, browser: str) -> None:
        """Share the table; the seats that nobody has taken are free."""
        self.shared, self.host = True, browser

    def sees(self, browser: str) -> bool:
        """Whether a browser may look at the table."""
        if not self.shared or browser in (self.host, *self.watchers):
            return True
        return any(browser in seat for seat in self.browsers)

    def is_open_to(self, browser: str, admitted: bool, seats: Sequence[str]) -> bool:
        """Whether a browser may look at the table: as a member, or as one that may take a seat.

        Args:
            admitted: whether the browser is admitted to the server.
        """
        if not self.shared:
            return admitted
        return self.sees(browser) or (admitted and bool(self.free_seats(seats)))

    def is_host(self, browser: str) -> bool:
        """Whether a browser may change seats and invite."""
        return not self.shared or browser == self.host

    def played_by(self, browser: str, seats: Sequence[str]) -> list[int]:
        """The seats of people that a browser plays."""
        people = [player for player, occupant in enumerate(seats) if occupant == HUMAN]
        return [p for p in people if not self.shared or browser in self.browsers[p]]

    def is_alone(self, browser: str, seats: Sequence[str]) -> bool:
        """Whether a browser plays all seats of people, and may therefore change what was played."""
        people = list(seats).count(HUMAN)
        return len(self.played_by(browser, seats)) == people if people else self.is_host(browser)

    def is_free(self, player: int) -> bool:
        """Whether no browser has taken a seat."""
        return not self.browsers[player]

    def free_seats(self, seats: Sequence[str]) -> list[int]:
        """The free seats of people."""
        return [p for p, occupant in enumerate(seats) if occupant == HUMAN and self.is_free(p)]

    def sit(self, browser: str, player: int, name: str) -> None:
        """Give a seat, or its name, to a browser. Refused if there is no room."""
        if browser not in self.browsers[player]:
            if sum(map(len, self.browsers)) >= MAX_BROWSERS:
                raise Refused(f"a table has at most {MAX_BROWSERS} browsers")
            self.browsers[player].append(browser)
        self.names[player] = name or self.names[player]

    def leave(self, browser: str, player: int) -> None:
        """Free a seat that a browser plays, for all of its browsers.

        Its link changes: it may be known.
        """
        if browser not in self.browsers[player] and browser != self.host:
            raise Forbidden("that seat is not yours")
        self.clear(player)

    def clear(self, player: int) -> None:
        """Free a seat."""
        self.browsers[player].clear()
        self.names[player], self.seat_keys[player] = "", new_key()

    def enter(self, browser: str, key: str, name: str) -> bool:
        """Follow a link of this table: to a seat, or to watch. False if it is no link of it."""
        for player, seat_key in enumerate(self.seat_keys):
            if secrets.compare_digest(seat_key, key):
                self.sit(browser, player, name)
                return True
        if not secrets.compare_digest(self.watch_key, key):
            return False
        if not self.sees(browser):
            if len(self.watchers) >= MAX_BROWSERS:
                raise Refused(f"a table has at most {MAX_BROWSERS} spectators")
            self.watchers.append(browser)
        return True
