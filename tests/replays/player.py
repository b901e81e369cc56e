"""A recorded game as our actions; what they do not express is written into our state."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gaia_jax.importers import player
from gaia_jax.importers.lines import Line
from gaia_jax.importers.position import Script
from tests.replays import brainstone, layouts, lost_gains
from tests.replays.table import Position

# Where our game asks in the phases between two turns; a tile of the Itars may open more decisions.
NODES_BETWEEN = ("INCOME", "TERRANS", "ITARS")


class Player(player.Player):
    """Plays the commands of lines at a position of a table."""

    position: Position

    def __init__(self, position: Position, record: dict[str, Any]) -> None:
        super().__init__(position, record)
        self.written: Counter[str] = Counter()  # what was written into our states
        self.planets: Any = None  # what lay on the cells before the last decision of a turn

    def act(self, text: str) -> Script:
        if text not in self.position.menu() and lost_gains.special_is_void(self.position, text):
            lost_gains.allow(self.position, text)
            self.written["a special action whose gain was lost"] += 1
        for action in super().act(text):
            position = self.position
            if position.node not in NODES_BETWEEN:
                self.planets = position.table.states.game.board.planet[position.lane].copy()
            position.written = False
            yield action

    def put_brainstone(self, before: Any, player: int, place: int) -> None:
        if brainstone.place_brainstone(self.position, before, player, place):
            self.written["the brainstone and a token change places"] += 1

    def leave_brainstone(self, line: Line, player: int, choices: list[int]) -> None:
        if brainstone.adopt(self.position, player, line.outcome["pl"][player], choices):
            self.written["the brainstone and a token change places"] += 1

    def put_satellites(self, before: Any, player: int, cells: set[int]) -> None:
        if layouts.adopt(self.position, before, player, cells):
            self.written["satellites on other cells"] += 1

    def lose(self, player: int, price: str) -> None:
        layouts.pay(self.position, price, player)
        self.written["a conversion whose gain was lost"] += 1

    def take(self, player: int, credits: int) -> None:
        layouts.take(self.position, player, credits)
        self.written["half a token lost"] += 1
