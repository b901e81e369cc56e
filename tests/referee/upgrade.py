"""Upgrade a structure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import federation, leech, scoring, tech
from tests.referee.board import Cell
from tests.referee.decision import Options, Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def pieces(game: Game, player: Player, cell: Cell) -> list[str]:
    """What may replace the structure on a hex and can be paid (UPG-01, UPG-02, UPG-05)."""
    if cell in player.guests or cell == player.lost_planet:
        return []
    rules = game.rules
    tree = rules.upgrades_bescods if player.is_("BESCODS") else rules.upgrades
    return [
        piece
        for piece in tree.get(player.structures[cell], ())
        if player.supply(piece) and player.can_pay(price(game, player, cell, piece))
    ]


def price(game: Game, player: Player, cell: Cell, piece: str) -> dict[str, int]:
    """A trading station is cheaper near an opponent (UPG-03)."""
    costs: dict[str, dict[str, int]] = game.rules.costs
    if piece == "TS" and game.board.opponent_near(cell, player.number):
        return costs["TS_near"]
    return costs["AC" if piece in ("AC_A", "AC_B") else piece]


def options(game: Game, player: Player) -> Options:
    for cell in player.structures:
        legal = pieces(game, player, cell)
        if legal:
            yield f"upgrade {game.board.text[cell]}", (upgrade, cell, legal)


def upgrade(game: Game, player: Player, cell: Cell, legal: list[str]) -> Script:
    """Choose the piece where there is a choice, pay, and replace the structure."""
    piece = legal[0]
    if len(legal) > 1:
        piece = yield from ask(player.number, "PIECE", {f"piece {kind}": kind for kind in legal})
    player.pay(price(game, player, cell, piece))
    yield from replace(game, player, cell, piece)


def replace(game: Game, player: Player, cell: Cell, piece: str) -> Script:
    """Put the new piece; the old one goes back to the supply. Score, tell the others, reward."""
    player.structures[cell] = piece
    scoring.piece_placed(game, player, piece)
    leech.announce(game, cell)
    if piece == "PI" and player.is_("GLEENS"):
        (token,) = game.rules.gleens_token
        yield from federation.receive(game, player, token)  # GLE-04
    if piece in ("RL", "AC_A", "AC_B") or (piece == "PI" and player.is_("SPACE_GIANTS")):
        yield from tech.choose(game, player)  # UPG-06, SPG-01


def free_upgrades(game: Game, player: Player, old: str, new: str) -> dict[str, tuple[object, ...]]:
    """The ship actions that upgrade without cost: their targets (ACT-17)."""
    if not player.supply(new):
        return {}
    return {
        f"pick {game.board.text[cell]}": (replace, cell, new)
        for cell, kind in player.structures.items()
        if kind == old and cell not in player.guests and cell != player.lost_planet
    }


def downgrade(game: Game, player: Player) -> Script:
    """Firaks: a research lab becomes a trading station; then one research step (FIR-01)."""
    effect = yield from ask(player.number, "TARGET", downgrades(game, player))
    player.used.add("FACTION")
    yield from do(effect, game, player)
    yield from tech.step_anywhere(game, player, game.rules.switches.free_step_optional)


def downgrades(game: Game, player: Player) -> dict[str, tuple[object, ...]]:
    if not player.supply("TS"):
        return {}
    return {
        f"pick {game.board.text[cell]}": (replace, cell, "TS")
        for cell, kind in player.structures.items()
        if kind == "RL"
    }
