"""The changes that a browser makes to a table: moves and members.

Each raises Refused if it is invalid, Forbidden if it is for others to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .game import HUMAN, Refused, requested_actions, whole_number
from .kept_tables import OpenTable
from .members import Forbidden, read_name
from .settings import Settings, carry_out

Body = Mapping[str, Any]
MAX_LINE, MAX_LINES = 200, 100  # characters of a line of the chat, and lines that a table holds


def act(table: OpenTable, browser: str, body: Body) -> None:
    """`action`, or `actions`; from the earlier position `node` if `branch` is true."""
    game, branch = table.game, body.get("branch") is True
    at = game.node(whole_number(body, "node")).id if branch else game.now
    if body.get("node") not in (None, at):
        raise Refused("the table has changed since; look again")
    if game.deciding_agent(at):
        raise Refused("it is an agent's decision; take over the seat first")
    if not game.over(at) and not table.may_act(browser, at):
        raise Forbidden("it is another player's decision")
    game.play_all(requested_actions(body), at)
    carry_out(game, table.settings)


def undo(table: OpenTable, browser: str, body: Body) -> None:
    """Take back the last decision of a person."""
    if table.game.earlier() is not None and not table.may_undo(browser):
        raise Forbidden("the last decision is another player's to take back")
    table.game.back()


def resume(table: OpenTable, browser: str, body: Body) -> None:
    """Continue from the present position, or from `node`."""
    game = table.game
    at = whole_number(body, "node") if "node" in body else game.now
    if not table.members.played_by(browser, game.seats) and not table.members.is_host(browser):
        raise Forbidden("you play none of the seats")
    if at != game.now and not table.members.is_alone(browser, game.seats):
        raise Forbidden("only a player without others at the table leaves the present position")
    game.resume(at)


def settings(table: OpenTable, browser: str, body: Body) -> None:
    """The settings of the browser's seats."""
    chosen = Settings.read(body)
    for player in table.members.played_by(browser, table.game.seats):
        table.settings[player] = chosen
    if table.game.rules.ready:
        carry_out(table.game, table.settings)


def sit(table: OpenTable, browser: str, body: Body) -> None:
    """Take the free seat `player`, or rename it, as `name`; with `settings`."""
    game, members = table.game, table.members
    player, name = whole_number(body, "player"), read_name(body.get("name"))
    if not 0 <= player < len(game.seats) or game.seats[player] != HUMAN:
        raise Refused("player: the seat of a person is required")
    if not members.is_free(player) and player not in members.played_by(browser, game.seats):
        raise Forbidden("that seat is taken")
    members.sit(browser, player, name)
    table.settings[player] = Settings.read(body.get("settings", {}))


def leave(table: OpenTable, browser: str, body: Body) -> None:
    """Free the seat `player`."""
    player = whole_number(body, "player")
    if not 0 <= player < len(table.game.seats):
        raise Refused(f"there is no player {player}")
    table.members.leave(browser, player)
    table.reset_free_seats()


def share(table: OpenTable, browser: str, body: Body) -> None:
    """Share the table: from now on each browser plays its own seats alone."""
    if not table.members.is_host(browser):
        raise Forbidden("only the host of the table shares it")
    if not table.members.shared:
        table.members.share(browser)
        table.reset_free_seats()


def chat(table: OpenTable, browser: str, body: Body) -> None:
    """Add the line `text` for all at a shared table."""
    played = table.members.played_by(browser, table.game.seats)
    if not table.members.shared or not played:
        raise Forbidden("you play none of the seats")
    line, player = read_name(body.get("text"), "text", MAX_LINE), played[0]
    table.chat.append((player, table.members.names[player], line))
    del table.chat[:-MAX_LINES]


CHANGES: dict[str, Callable[[OpenTable, str, Body], None]] = {
    "act": act, "undo": undo, "resume": resume, "settings": settings,
    "sit": sit, "leave": leave, "share": share, "chat": chat,
}  # fmt: skip
# After these a browser shows the present position.
MOVES = ("act", "undo", "resume")
