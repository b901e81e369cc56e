"""Positions of solo games for tests of the Automa.

The second axis of hexes points down here, on the map of one and two players with all tiles
unturned.
"""

from __future__ import annotations

from typing import Any
from unittest import mock

from tests.referee import automa, solo
from tests.referee import setup as drawing
from tests.referee.automa import Automa
from tests.referee.automa_cards import facts
from tests.referee.board import Cell
from tests.referee.game import Game
from tests.referee.player import Player
from tests.referee.random_games import in_a_turn
from tests.referee.rules import ruleset

CARDS = facts()["cards"]
FACTIONS = list(facts()["factions"])
LEVELS = list(facts()["levels"])
TILES = list(ruleset("base", 2).map["sector_tiles"])
UNTURNED = 5  # the referee's name of the turn that the examples call none
READING, REVERSE = CARDS[1], CARDS[4]
SPACES = facts()["action_spaces"]
TRACKS = ruleset("base", 2).tracks
Hex = tuple[int, int]


def mirrored(hex_: Hex) -> Hex:
    """The same hex with the second axis the other way: up as the referee has it, or down."""
    q, r = hex_
    return q + r, -r


def a_setup(
    faction: str, human: str | None = None, level: str = "automa", **changes: Any
) -> dict[str, Any]:
    """A set-up on the unturned map; `automa` among the changes is merged into the Automa's."""
    setup = solo.draw(1, level, faction, human)
    setup["sectors"] = [{"tile": tile, "rotation": UNTURNED} for tile in TILES]
    setup["automa"] |= changes.pop("automa", {})
    return setup | changes


def a_game(
    faction: str, human: str | None = None, level: str = "automa", **changes: Any
) -> tuple[Game, Automa]:
    """A game in the human's first turn, and its Automa."""
    with mock.patch.object(drawing, "touching", return_value=[]):  # some equal planets do touch
        game = Game(a_setup(faction, human, level, **changes), "base")
    return in_a_turn(game), game.automa()


def a_fleet_game(
    faction: str,
    human: str | None = None,
    level: str = "automa",
    seed: int = 1,
    **changes: Any,
) -> tuple[Game, Automa]:
    """The same in The Lost Fleet, on a map that is drawn."""
    setup = solo.draw(seed, level, faction, human, solo.FLEET)
    setup["automa"] |= changes.pop("automa", {})
    game = Game(setup | changes, solo.FLEET)
    return in_a_turn(game), game.automa()


def place_structures(game: Game, player: Player, structures: dict[Hex, str]) -> None:
    """Make these the structures of a player."""
    place_at(game, player, {at(game, hex_): kind for hex_, kind in structures.items()})


def place_at(game: Game, player: Player, structures: dict[Cell, str]) -> None:
    """Make these the structures of a player; cells as the referee numbers them."""
    board = game.board
    for cell in player.structures:
        board.owner[cell] = None
    player.structures = dict(structures)
    player.distance = [99] * len(board.planet)
    for cell in structures:
        board.owner[cell] = player.number
        player.add_range_source(cell)


def mines(*hexes: Hex) -> dict[Hex, str]:
    return dict.fromkeys(hexes, "MINE")


def at(game: Game, hex_: Hex) -> Cell:
    return game.board.geometry.index[mirrored(hex_)]


def hexes(game: Game, cells: Any) -> list[Hex]:
    return [mirrored(game.board.geometry.cells[cell]) for cell in cells]


def planet(game: Game, hex_: Hex) -> str:
    return game.board.planet[at(game, hex_)]


def play_cards(game: Game, *deck: int) -> list[tuple[int, int | None]]:
    """What a round with this deck shows: the support and the action card of each turn."""
    player = game.automa()
    player.deck, player.cards_turned = list(deck), 0
    turned: list[tuple[int, int | None]] = []
    while not turned or turned[-1][1] is not None:
        support, action = automa.turn_cards(player)
        turned.append((support["id"], action["id"] if action else None))
    return turned


def act(game: Game, support: int, action: int) -> Automa:
    """One turn of the Automa with these two cards, which do not make it pass."""
    player = game.automa()
    player.deck, player.cards_turned = [support, action, *(4, 6, 7, 9)], 0
    for _ in automa.take_turn(game, player):
        break  # the human is asked about power
    return player
