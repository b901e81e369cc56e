"""One game at the table: a tree of positions, the occupants of the seats, the position in view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gaia_jax.env import State
from gaia_jax.render import Table, effects, in_words, panels
from gaia_jax.replay import Record
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from .compiled_rules import Rules

HUMAN = "you"
MOST_NODES = 6000
MOST_AT_ONCE = 64
# Nodes that belong to a move which has begun and is paid for only when it is complete.
HALF_MADE = ("TARGET", "PIECE", "FEDERATION")


class Refused(ValueError):
    """A request that cannot be carried out; the message is one line for the user."""


@dataclass
class Node:
    """A position."""

    id: int
    parent: int  # -1: the first
    text: str  # the action that led here
    action: int
    state: State
    children: list[int] = field(default_factory=list)
    table: Table | None = None
    analysis: dict[str, Any] = field(default_factory=dict)  # by agent
    prices: dict[str, dict[str, Any]] | None = None  # of each action, once they were asked for
    words: str | None = None  # the action that led here
    told: str | None = None  # costs and gains of the action that led to this position
    further: dict[str, Any] = field(
        default_factory=dict
    )  # `GameServer.further`, what was asked for
    by: str = ""  # what made that decision for a person: a setting, or the one before it


class Game:
    """The tree. It is changed under the lock of its server only."""

    def __init__(self, id: str, rules: Rules, setup: Setup, seats: list[str], name: str = ""):
        """
        Args:
            id: in the address of the page.
            setup: of one game.
            seats: for each player HUMAN or the name of an agent.
            name: of the record that it continues; "" if there is none.
        """
        self.id, self.rules, self.setup, self.name = id, rules, setup, name
        self.nodes = [Node(0, -1, "", -1, rules.start(setup))]
        self.seats = list(seats)
        self.line = [0]  # from the first position to the tip of the line in view
        self.now = 0
        self.paused = False  # agents wait: an earlier position is looked at
        self.message = ""
        self.unsaved = False  # a person has decided since it was saved
        self.version = 1

    def changed(self) -> None:
        """Something that a page shows is otherwise."""
        self.version += 1

    def node(self, id: int) -> Node:
        """A position by its number; Refused if there is none."""
        if not 0 <= id < len(self.nodes):
            raise Refused(f"this game has no position {id}")
        return self.nodes[id]

    def table(self, id: int | None = None) -> Table:
        """A position, read; the present one."""
        node = self.nodes[self.now if id is None else id]
        if node.table is None:
            node.table = self.rules.table(node.state)
        return node.table

    def over(self) -> bool:
        """Whether the present position ends the game."""
        return self.table().over

    def unfinished(self) -> bool:
        """Whether a person plays it, it is not over, and what was played is not saved."""
        return self.unsaved and not self.table(self.line[-1]).over

    def agent_to_move(self) -> str | None:
        """The agent whose decision it is; None for a person, at the end, or while paused."""
        if self.paused or self.over():
            return None
        seat = self.seats[self.table().player]
        return None if seat == HUMAN else seat

    def play(self, text: str, by: str = "") -> None:
        """The player to move takes an action; one that was taken before is gone along again.

        Args:
            by: what decided instead of a person, such as a setting; "" for who sits there.
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
            if len(self.nodes) >= MOST_NODES:
                raise Refused(f"a game holds at most {MOST_NODES} positions; start another")
            child = len(self.nodes)
            action_text = self.rules.env.ruleset.actions.texts[action]
            after = self.rules.after(node.state, action)
            self.nodes.append(Node(child, node.id, action_text, action, after))
            node.children.append(child)
        self.nodes[child].by = by
        self.paused = False
        self.message = ""
        self._stand_on(child)

    def play_all(self, texts: list[str]) -> None:
        """One player takes several actions, as one decision of theirs; all of them or none.

        Raises:
            Refused: one of them cannot be taken, or the next decision is another player's.
        """
        start, player, paused = self.now, self.table().player, self.paused
        try:
            for number, text in enumerate(texts):
                if self.table().player != player:
                    raise Refused(f"{text!r} is another player's decision")
                self.play(text, "one choice" if number else "")
        except Refused:
            last = self.now
            self._stand_on(start)
            self._prune(last, start)
            self.paused = paused
            raise

    def go(self, id: int) -> None:
        """Look at a position; agents wait if there are later ones."""
        node = self.node(id)
        self._stand_on(node.id)
        self.paused = bool(node.children)

    def back(self) -> None:
        """Take back: to the last earlier decision of a person.

        A half-made move is given up alone. What was played stays as a branch.
        """
        at, node = self.earlier(), self.now
        if at is None:
            raise Refused("there is no decision of a person to take back")
        half_made = self.half_made()
        self._stand_on(at)
        if half_made:
            self._prune(node, at)
        self.paused = self.seats[self.table().player] != HUMAN
        self.changed()

    def earlier(self) -> int | None:
        """Where taking back leads to; None before the first decision of a person."""
        at = self.nodes[self.now]
        if self.half_made():
            while at.parent >= 0 and self.table(at.id).node in HALF_MADE:
                at = self.nodes[at.parent]
            return at.id
        while at.parent >= 0:
            by, at = at.by, self.nodes[at.parent]
            if not by and self.seats[self.table(at.id).player] == HUMAN:
                return at.id
        return None

    def _prune(self, id: int, until: int) -> None:
        """Forget the half-made positions from `id` up to `until` that nothing follows."""
        while id != until and not self.nodes[id].children and id == len(self.nodes) - 1:
            node = self.nodes.pop()
            self.nodes[node.parent].children.remove(id)
            id = node.parent
        self.line = self._onward([id for id in self.line if id < len(self.nodes)])

    def half_made(self) -> bool:
        """Whether a move has begun that is not paid for yet."""
        return not self.over() and self.table().node in HALF_MADE

    def sit(self, player: int, occupant: str) -> None:
        """Another hand plays a seat from now on."""
        if not 0 <= player < len(self.seats):
            raise Refused(f"there is no player {player}")
        self.seats[player] = occupant
        self.message = ""
        self.changed()

    def resume(self) -> None:
        """Let agents play from this position on."""
        self.paused, self.message = False, ""
        self.changed()

    def _stand_on(self, id: int) -> None:
        self.now = id
        if id not in self.line:
            self.line = self._onward(self.path(id))
        self.changed()

    def _onward(self, path: list[int]) -> list[int]:
        """Extend a line by the moves that were played last from its end."""
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

    def record(self) -> Record:
        """The line in view to its end, whatever position is shown."""
        moves = [self.nodes[id].action for id in self.line[1:]]
        tip = self.table(self.line[-1])
        vp = [seat.vp for seat in tip.seats] if tip.over else []
        return Record.of(self.rules.env, self.setup, moves, vp)

    def parts(self) -> dict[str, dict[str, str]]:
        """The picture of the present position, in parts."""
        action = self.nodes[self.now].action
        return panels.parts(self.table(), action if action >= 0 else None)

    def picture(self) -> dict[str, Any]:
        """What a page begins with: the map and the panels of the present position."""
        return panels.frame(self.table(), self.parts())

    def prices(self) -> dict[str, dict[str, Any]]:
        """What each action of the present position costs and brings, in words; {} until ready."""
        node = self.nodes[self.now]
        if node.prices is None:
            if self.over() or not self.rules.prices_ready:
                return {}
            texts = self.rules.env.ruleset.actions.texts
            effects_by_action = self.rules.effects_of_all(node.state)
            to_words, table = self.rules.say, self.table()
            node.prices = {
                texts[a]: effect.brief(to_words(texts[a], table))
                for a, effect in effects_by_action.items()
            }
        return node.prices

    def words(self, id: int) -> str:
        """The decision that led to a position, in words; made once."""
        node = self.nodes[id]
        if node.words is None:
            node.words = self.rules.say(node.text, self.table(node.parent))
        return node.words

    def told(self, id: int) -> str:
        """Costs and gains of the decision that led to a position, in words."""
        node = self.nodes[id]
        if node.told is None:
            before = self.table(node.parent)
            change = effects(before, self.table(id))
            node.told = in_words(change, self.words(id))
        return node.told

    def setup_json(self) -> dict[str, Any]:
        """The set-up, as records hold it."""
        return setup_to_dict(self.setup, self.rules.env.ruleset)

    def move_rows(self) -> list[dict[str, Any]]:
        """The line in view: a row a decision, with the other moves tried at each position."""
        rows = []
        for before, id in zip(self.line, self.line[1:], strict=False):
            node, table = self.nodes[id], self.table(before)
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
                    "told": self.told(id),
                    "by": node.by,
                    "others": others,
                }
            )
        return rows


def decided(body: Mapping[str, Any]) -> list[str]:
    """The `action` of a request, or its `actions`: several that are taken as one."""
    texts = body["actions"] if "actions" in body else [body.get("action")]
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_AT_ONCE:
        raise Refused(f"actions: from 1 to {MOST_AT_ONCE} texts are wanted")
    if not all(isinstance(text, str) and len(text) <= 100 for text in texts):
        raise Refused("action: a short text is wanted")
    return texts


def whole_number(body: Mapping[str, Any], key: str) -> int:
    """A whole number of a request."""
    value = body.get(key)
    if type(value) is not int:
        raise Refused(f"{key}: a whole number is wanted")
    return value
