"""A game at the table: a tree of positions, the players of the seats, the present position.

Which position a browser shows belongs to the browser: it is the argument `at` of the methods.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from gaia_jax.cli.command_line import UserError
from gaia_jax.env import State
from gaia_jax.language import language
from gaia_jax.render import Table, effects, panels
from gaia_jax.replay import Record
from gaia_jax.replay.page import effects_json
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from . import caps
from .compiled_rules import Rules

HUMAN = "you"
AUTOMA_NAME = "the Automa"  # at the last seat of a solo game, which no player can take
MAX_NODES = 6000
MAX_ACTIONS = 64  # of one request
# Nodes of an incomplete move, which is not paid for yet.
HALF_MADE = ("TARGET", "PIECE", "FEDERATION")


class Refused(UserError, ValueError):
    """A request that cannot be carried out; the message is one line for the user."""


@dataclass
class Position:
    """A position."""

    id: int
    parent: int  # -1 for the first position
    text: str  # the action that led here
    action: int
    state: State
    children: list[int] = field(default_factory=list)
    table: Table | None = None
    analysis: dict[str, Any] = field(default_factory=dict)  # by agent
    texts: dict[tuple[str, str], Any] = field(default_factory=dict)  # by language and kind
    by: str = ""  # a setting, or the previous decision, that decided instead of a person


class Game:
    """The tree. Change it only under the lock of its server."""

    def __init__(self, id: str, rules: Rules, setup: Setup, seats: list[str], name: str = ""):
        """
        Args:
            id: in the address of the page.
            setup: of one game.
            seats: HUMAN or the name of an agent, for each player.
            name: of the record that it continues; "" for a new game.
        """
        self.id, self.rules, self.setup, self.name = id, rules, setup, name
        self.nodes = [Position(0, -1, "", -1, rules.start(setup))]
        self.seats = list(seats)
        self.line = [0]  # positions from the first over the present one to its latest continuation
        self.now = 0  # the position at which the game is played on
        self.opens_at: int | None = None  # the position that browsers show first; None: the present
        self.paused = False  # agents wait
        self.message = ""
        # Counts on across restarts of the server, whose pages ask for what is newer.
        self.version = int(time.time() * 1000)

    def changed(self) -> None:
        """Count a change that pages have to show."""
        self.version += 1

    def node(self, id: int) -> Position:
        """A position by its number; Refused if the number is unknown."""
        if not 0 <= id < len(self.nodes):
            raise Refused(f"this game has no position {id}")
        return self.nodes[id]

    def view(self, at: int | None = None) -> Table:
        """A position as a table; by default the present one."""
        node = self.nodes[self.now if at is None else at]
        if node.table is None:
            node.table = self.rules.table(node.state)
        return node.table

    def over(self, at: int | None = None) -> bool:
        """Whether a position, by default the present one, ends the game."""
        return self.view(at).over

    def deciding_agent(self, at: int) -> str | None:
        """The agent at the seat that decides at a position; None for a person and at the end."""
        table = self.view(at)
        return None if table.over or self.seats[table.player] == HUMAN else self.seats[table.player]

    def agent_to_move(self) -> str | None:
        """The agent that decides; None for a person, at the end, or while paused."""
        return None if self.paused else self.deciding_agent(self.now)

    def play(self, text: str, by: str = "") -> None:
        """Take an action of the player to move; an action that has a position goes there.

        Args:
            by: what decided instead of the player, such as a setting; "" for the player.
        Raises:
            Refused: an unknown or illegal action, or the game is over.
        """
        node = self.nodes[self.now]
        try:
            action = self.rules.index(text)
        except ValueError as error:
            raise Refused(str(error)) from error
        if self.over():
            raise Refused("the game is over")
        if not node.state.legal_action_mask[action]:
            raise Refused(f"{text!r} is not legal here")
        existing = [child for child in node.children if self.nodes[child].action == action]
        if existing:
            child = existing[0]
        else:
            if len(self.nodes) >= MAX_NODES:
                raise Refused(f"a game holds at most {MAX_NODES} positions; start another")
            child = len(self.nodes)
            action_text = self.rules.env.ruleset.actions.texts[action]
            after = self.rules.after(node.state, action)
            self.nodes.append(Position(child, node.id, action_text, action, after))
            node.children.append(child)
        self.nodes[child].by = by
        self.paused = False
        self.message = ""
        self.opens_at = None
        self._move_to(child)
        # Earlier moves from here stay as branches.
        self.line = self.line[: self.line.index(child) + 1]

    def play_all(self, texts: list[str], at: int | None = None) -> None:
        """Take several actions of one player as one decision; all of them or none.

        Args:
            at: the position to play from; by default the present one.
        Raises:
            Refused: one of them cannot be taken, or the next decision is another player's.
        """
        before, line, paused, opens_at = self.now, self.line, self.paused, self.opens_at
        start = before if at is None else self.node(at).id
        player, count = self.view(start).player, len(self.nodes)
        try:
            self._move_to(start)
            for number, text in enumerate(texts):
                if self.view().player != player:
                    raise Refused(f"{text!r} is another player's decision")
                self.play(text, "one choice" if number else "")
        except Refused:
            self._move_to(before)
            for node in self.nodes[count:]:
                self.nodes[node.parent].children.remove(node.id)
            del self.nodes[count:]
            self.line, self.paused, self.opens_at = line, paused, opens_at
            raise

    def back(self) -> None:
        """Go back to the last earlier decision of a person, or to the start of an incomplete move.

        The moves that were played stay as a branch; an incomplete move is removed.
        """
        at, node = self.earlier(), self.now
        if at is None:
            raise Refused("there is no decision of a person to take back")
        half_made = self.half_made()
        self.line = self._onward([*self.line])  # with moves that were taken back before
        self._move_to(at)
        if half_made:
            self._prune(node, at)
        self.paused = self.seats[self.view().player] != HUMAN
        self.changed()

    def earlier(self) -> int | None:
        """The position of `back`; None before the first decision of a person."""
        at = self.nodes[self.now]
        if self.half_made():
            while at.parent >= 0 and self.view(at.id).node in HALF_MADE:
                at = self.nodes[at.parent]
            return at.id
        while at.parent >= 0:
            by, at = at.by, self.nodes[at.parent]
            if not by and self.seats[self.view(at.id).player] == HUMAN:
                return at.id
        return None

    def _prune(self, id: int, until: int) -> None:
        """Remove the newest positions from `id` up to `until` that have no later ones."""
        while id != until and not self.nodes[id].children and id == len(self.nodes) - 1:
            node = self.nodes.pop()
            self.nodes[node.parent].children.remove(id)
            id = node.parent
        self.line = self._onward([id for id in self.line if id < len(self.nodes)])

    def half_made(self, at: int | None = None) -> bool:
        """Whether a move is incomplete and not paid for yet."""
        return not self.over(at) and self.view(at).node in HALF_MADE

    def sit(self, player: int, occupant: str) -> None:
        """Let another player or agent play a seat from now on."""
        if not 0 <= player < len(self.seats):
            raise Refused(f"there is no player {player}")
        self.seats[player] = occupant
        self.message = ""
        self.changed()

    def resume(self, at: int) -> None:
        """Let the game continue from a position."""
        self.paused, self.message = False, ""
        self._move_to(self.node(at).id)

    def _move_to(self, id: int) -> None:
        self.now, self.line = id, self.line_of(id)
        self.changed()

    def line_of(self, at: int) -> list[int]:
        """The line of the game if a position is on it, otherwise the line through the position."""
        return self.line if at in self.line else self._onward(self.path(at))

    def has_choice(self, at: int) -> bool:
        """Whether several actions are legal at a position."""
        return int(np.sum(self.nodes[at].state.legal_action_mask)) > 1

    def played_at(self, at: int) -> int:
        """The action that the line through a position takes there; -1 at its end."""
        line = self.line_of(at)
        later = line[line.index(at) + 1 :]
        return self.nodes[later[0]].action if later else -1

    def _onward(self, path: list[int]) -> list[int]:
        """Extend a line by the latest moves from its end."""
        while self.nodes[path[-1]].children:
            path.append(self.nodes[path[-1]].children[-1])
        return path

    def path(self, id: int) -> list[int]:
        """The positions from the first to this one."""
        out = []
        while id >= 0:
            out.append(id)
            id = self.nodes[id].parent
        return out[::-1]

    def record(self, names: Sequence[str] = ()) -> Record:
        """The line of the game to its end, from any position, with its players.

        Args:
            names: of the people, by seat; "" or missing where unknown.
        """
        moves = [self.nodes[id].action for id in self.line[1:]]
        tip = self.view(self.line[-1])
        vp = [seat.vp for seat in tip.seats] if tip.over else []
        people = [name or "a person" for name, _ in zip_longest(names, self.seats, fillvalue="")]
        players = [
            name if seat == HUMAN else seat for name, seat in zip(people, self.seats, strict=True)
        ]
        record = Record.of(self.rules.env, self.setup, moves, vp)
        return record.with_players([*players, *[AUTOMA_NAME] * self.rules.solo])

    def parts(self, at: int) -> dict[str, dict[str, str]]:
        """The picture of a position, in parts."""
        action = self.nodes[at].action
        return panels.parts(self.view(at), action if action >= 0 else None)

    def picture(self, at: int) -> dict[str, Any]:
        """The map and the panels of a position, for a new page."""
        return panels.frame(self.view(at), self.parts(at))

    def prices(self, at: int) -> dict[str, dict[str, Any]]:
        """Costs and gains of each action of a position, in words; {} until compiled."""
        node = self.nodes[at]
        key = (language(), "prices")
        if key not in node.texts:
            if self.over(at) or not self.rules.prices_ready:
                return {}
            texts = self.rules.env.ruleset.actions.texts
            effects_by_action = self.rules.effects_of_all(node.state)
            to_words, table = self.rules.action_words, self.view(at)
            brief = {a: e.brief(to_words(texts[a], table)) for a, e in effects_by_action.items()}
            lost = caps.goods_without_room(self.rules, node.state, effects_by_action)
            for action, goods in lost.items():
                brief[action].setdefault("notes", []).extend(caps.lost_goods_in_words(table, goods))
            node.texts[key] = {texts[a]: effect for a, effect in brief.items()}
        prices: dict[str, dict[str, Any]] = node.texts[key]
        return prices

    def words(self, id: int) -> str:
        """The decision that led to a position, in words."""
        node = self.nodes[id]
        words: str = self._once(
            node, "words", lambda: self.rules.action_words(node.text, self.view(node.parent))
        )
        return words

    def _once(self, node: Position, kind: str, make: Callable[[], Any]) -> Any:
        """Texts of a position, made once in each language."""
        key = (language(), kind)
        if key not in node.texts:
            node.texts[key] = make()
        return node.texts[key]

    def effects_text(self, id: int) -> str:
        """Costs and gains of the decision that led to a position, in words."""
        return str(self.effects_json(id)["effects_text"])

    def effects_json(self, id: int) -> dict[str, Any]:
        """Costs and gains of the decision that led to a position, as pages show them."""
        node = self.nodes[id]
        kind = f"effects {self.rules.prices_ready}"  # with prices they name what has no room
        texts: dict[str, Any] = self._once(node, kind, lambda: self._effects_json(node))
        return texts

    def _effects_json(self, node: Position) -> dict[str, Any]:
        before = self.view(node.parent)
        changes = effects(before, self.view(node.id))
        out = effects_json(changes, node.text, self.words(node.id))
        if changes.begins_round and self.rules.prices_ready:
            parent, action = self.nodes[node.parent].state, node.action
            lost = caps.goods_without_room(self.rules, parent, {action: changes}).get(action, {})
            for key in out.keys() & {"effects_text", "paid"}:
                out[key] = "; ".join([out[key], *caps.lost_goods_in_words(before, lost)])
        return out

    def automa(self, id: int) -> list[dict[str, Any]]:
        """The Automa's turns after the decision that led to a position, card by card."""
        node = self.nodes[id]
        parent = self.nodes[node.parent].state
        turns: list[dict[str, Any]] = self._once(
            node, "automa", lambda: self.rules.automa_turns(parent, node.state)
        )
        return turns

    def setup_json(self) -> dict[str, Any]:
        """The set-up, as records hold it."""
        return setup_to_dict(self.setup, self.rules.env.ruleset)

    def move_rows(self, line: list[int]) -> list[dict[str, Any]]:
        """A row for each decision of a line, with other moves there."""
        rows = list[dict[str, Any]]()
        for before, id in zip(line, line[1:], strict=False):
            node, table = self.nodes[id], self.view(before)
            others = [
                {"node": other, "words": self.words(other)}
                for other in self.nodes[before].children
                if other != id
            ]
            rows.append(
                {
                    "node": id,
                    "round": table.round,
                    "player": table.player,
                    "text": node.text,
                    "words": self.words(id),
                    **self.effects_json(id),
                    "by": node.by,
                    "automa": self.automa(id),
                    "others": others,
                }
            )
        return rows


def requested_actions(body: Mapping[str, Any]) -> list[str]:
    """The `action` of a request, or its `actions`, which are taken as one decision."""
    texts = body["actions"] if "actions" in body else [body.get("action")]
    if not isinstance(texts, list) or not 0 < len(texts) <= MAX_ACTIONS:
        raise Refused(f"actions: from 1 to {MAX_ACTIONS} texts are required")
    if not all(isinstance(text, str) and len(text) <= 100 for text in texts):
        raise Refused("action: a short text is required")
    return texts


def whole_number(body: Mapping[str, Any], key: str) -> int:
    """A whole number of a request."""
    value = body.get(key)
    if type(value) is not int:
        raise Refused(f"{key}: a whole number is required")
    return value
