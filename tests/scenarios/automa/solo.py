"""A solo table to set scenes on, on the map with rotations 0.

    table = solo(automa="GEODENS").place(AUTOMA, (-2, 1)).deck(4, 6, 7, 9)
    after = table.turn()

A turn of the Automa is compiled once for the session and ruleset, by itself. Cells are (q, r) with
r growing downward, as in the printed tables of the map; in The Lost Fleet r grows upward.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from gaia_jax.rules.automa import set_up
from gaia_jax.rules.automa.turn import take_turn
from gaia_jax.rules.setup import new_game
from gaia_jax.ruleset import ruleset_of
from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.state import AUTOMA, HUMAN, Node, Phase
from tests.scenarios.scene import DEALT, at
from tests.scenarios.table import Table, _changed, _on_host

RULES = ruleset_of("base", 1)
TILES = ("M01", "M02", "M03", "M04", "M05B", "M06B", "M07B")
LEVELS = {level.id: level for level in RULES.automa.levels}
SETUP = {
    "players": 1,
    "sectors": [{"tile": tile, "rotation": 5} for tile in TILES],
    "factions": ["ITARS"],
    "basic_tiles": DEALT["basic_tiles"],
    "advanced_tiles": {
        "terraforming": "TS-4VP",
        "navigation": "SA-O-3",
        "ai": "SA-QIC-CRED",
        "gaia": "MINE-2VP",
        "economy": "RS-3VP-PASS",
        "science": "FED-3VP-PASS",
    },
    "tf5_token": "FT_12VP",
    "boosters": ["RB1", "RB2", "RB5", "RB7", "RB9"],
    "round_tiles": [
        "RM-TF-2VP",
        "RM-TS-4VP",
        "RM-MINE-2VP",
        "RM-TS-3VP",
        "RM-FED-5VP",
        "RM-GAIA-4VP",
    ],
    "final_missions": ["BUILDINGS", "SATELLITES"],
}


def decks(level: str) -> list[list[int]]:
    """Decks of a level that take the other cards in the order of their numbers."""
    fixed = LEVELS[level].fixed_cards
    others = [card for card in range(1, 18) if card not in fixed]
    return [[*fixed, *others[: number + 1]] for number in range(6)]


@cache
def _programs(rules: Any) -> tuple[Any, Any, Any]:
    return (
        jax.jit(partial(new_game, rules)),
        jax.jit(partial(set_up.take_steps, rules)),
        jax.jit(partial(take_turn, rules)),
    )


class SoloTable(Table):
    """A solo game in progress; methods return a new table."""

    rules = RULES
    setup_file = SETUP
    r_sign = -1  # of cells as they are named here
    explored_ship: dict[str, str] = {}  # of the part of the Automa

    @classmethod
    def dealt(
        cls, human: str = "ITARS", automa: str = "GEODENS", level: str = "automachtig",
        **changes: Any,
    ) -> Any:  # fmt: skip
        """A new game before its first decision; `changes` replace keys of the set-up file."""
        part = {"level": level, "faction": automa, "decks": decks(level), **cls.explored_ship,
                "start_mine_cards": [1, 1, 1], "booster_card": 1}  # fmt: skip
        part |= {key: changes.pop(key) for key in list(changes) if key in part}
        whole = cls.setup_file | {"factions": [human], "automa": part} | changes
        return cls(_programs(cls.rules)[0](setup_from_json(whole, cls.rules)))

    @classmethod
    def in_round(cls, *args: Any, round: int = 1, **kwargs: Any) -> Any:
        """An empty board in the action phase of a round, before a turn of the Automa."""
        return cls.dealt(*args, **kwargs).set_turn(
            round=round, phase=Phase.ACTIONS, node=Node.TURN, player=AUTOMA, active=AUTOMA
        )

    def __init__(self, game: Any, stop: Any = None) -> None:
        self.env, self._game, self.stop = gaia_jax.make(self.rules.id, players=1), game, stop

    @property
    def game(self) -> Any:
        """The game state of the rules."""
        return self._game

    def _arranged(self, **parts: Any) -> SoloTable:
        return type(self)(self.game.replace(**parts))

    def set_turn(self, **fields: Any) -> SoloTable:
        """Fields of `Turn` set by hand."""
        return self._arranged(turn=_changed(self.game.turn, fields))

    def cell(self, cell: Any) -> int:
        """The index of a cell (q, r)."""
        q, r = cell
        return self.rules.geometry.cell_index[(q, r) if self.r_sign > 0 else (q + r, -r)]

    def mines(self, player: int, *cells: tuple[int, int]) -> SoloTable:
        """Mines of a player on these cells."""
        table = self
        for cell in cells:
            table = table.place(player, cell, "MINE")
        return table

    def deck(self, *cards: int, turns: int = 0) -> SoloTable:
        """The deck of this round in drawing order, and the turns that the Automa has taken."""
        draws, automa = self.game.setup.automa, self.game.automa
        deck = np.array(draws.deck)
        deck[int(self.field("round")) - 1] = [*cards, *[0] * (deck.shape[1] - len(cards))]
        setup = self.game.setup.replace(automa=draws.replace(deck=jnp.asarray(deck)))
        return self._arranged(setup=setup, automa=automa.replace(turns=jnp.int8(turns)))

    def cards(self, support: int, action: int) -> SoloTable:
        """The next turn has these cards, which are not the last three."""
        return self.deck(support, action, 4, 6, 9, 13)

    levels = at

    def covered(self, *spaces: str) -> SoloTable:
        """These action spaces are covered, no others."""
        power, shared = self._spaces()
        return self.set_turn(
            power_used=sum(1 << power.index(x) for x in spaces if x in power),
            ship_used=sum(1 << shared.index(x) for x in spaces if x in shared),
        )

    def _spaces(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        shared = tuple(action.id for _, action in self.rules.shared_actions)
        return self.rules.ids["power_action"], shared

    def spaces(self) -> set[str]:
        """The covered action spaces."""
        used = self.field("power_used"), self.field("ship_used")
        pairs = zip(self._spaces(), used, strict=True)
        return {x for ids, bits in pairs for i, x in enumerate(ids) if bits >> i & 1}

    def turn(self) -> SoloTable:
        """After one turn of the Automa."""
        return type(self)(*_programs(self.rules)[2](self.game))

    def set_up_steps(self, done: int = 1) -> SoloTable:
        """After the Automa's steps of the set-up, `done` decisions having been made."""
        table = self.set_turn(setup_done=done, active=AUTOMA, player=AUTOMA)
        return type(self)(_programs(self.rules)[1](table.game))

    def field(self, name: str) -> Any:
        """A field of `Turn`, with numpy."""
        return np.asarray(getattr(_on_host(self.game.turn), name))

    def structures(self, player: int) -> dict[tuple[int, int], str]:
        """The player's structures by cell."""
        board = self.game.board
        own = np.flatnonzero(np.asarray(board.owner) == player)
        cells = {c: tuple(int(x) for x in self.rules.geometry.cells[c]) for c in own}
        names = self.rules.ids["structure"]
        return {
            (q, r) if self.r_sign > 0 else (q + r, -r): names[int(board.structure[c])]
            for c, (q, r) in cells.items()
        }

    def row(self) -> list[str]:
        """The boosters without owner, from left to right."""
        boosters = self.rules.ids["booster"]
        return [boosters[b] for b in np.asarray(self.game.automa.booster_row) if b >= 0]

    def offer(self) -> int:
        """The power that waits for the human's answer."""
        return int(self.field("leech")[:, HUMAN].max())


start, solo = SoloTable.dealt, SoloTable.in_round
