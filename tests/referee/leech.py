"""Leech: charging power when an opponent builds nearby."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import power
from tests.referee.board import Cell
from tests.referee.decision import Script, ask

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def announce(game: Game, cell: Cell) -> None:
    """A mine, an upgrade or a downgrade has taken place here (LEE-08)."""
    game.events.append(cell)


def resolve(game: Game, builder: Player) -> Script:
    """Ask the others about every event, strictly in order (LEE-04, LEE-05, A13)."""
    while game.events:
        cell = game.events.pop(0)
        for player in game.others(builder):
            yield from offer(game, player, cell)


def worth(game: Game, player: Player, cell: Cell) -> int:
    """The highest power value of an own structure within distance 2 (LEE-02, LEE-06)."""
    structures = player.structures
    best = 0
    for near in game.board.geometry.near[cell]:
        kind = structures.get(near)
        if kind is not None:
            best = max(best, power_value(player, near, kind))
    return best


def power_value(player: Player, cell: Cell, kind: str) -> int:
    """What a structure is worth by itself (FED-09, TEC-11)."""
    value: int = player.rules.power_value[kind]
    if kind in ("PI", "AC_A", "AC_B") and player.uncovered("BT8_PIAC_4"):
        value += 1
    if player.rules.switches.bonus_power_in_leech:
        value += bonus_power(player, cell)
    return value


def bonus_power(player: Player, cell: Cell) -> int:
    """Moweyds' rings and the Bescods' black planets (FED-09, FED-11)."""
    bonus = player.rules.ring_power if cell in player.rings else 0
    if player.has_pi("BESCODS") and player.board.planet[cell] == "Black":
        bonus += 1
    return bonus


def offer(game: Game, player: Player, cell: Cell) -> Script:
    """One player may charge, and pays 1 VP less than the charge (LEE-02, LEE-03, LEE-07)."""
    value = worth(game, player, cell)
    if value == 0:
        return
    amount = min(value, power.capacity(player), player.vp + 1)
    menu: dict[str, Any] = {"leech DECLINE": None}
    if player.has_pi("TAKLONS"):
        token_first = min(value, power.capacity(player) + 2, player.vp + 1)
        menu["leech TOKEN_FIRST"] = (_token_first, token_first)
        if amount >= 1:
            menu["leech CHARGE"] = (_charge_then_token, amount)
    elif amount == 0:
        return
    elif amount == 1 and not free_leech_is_asked(game, player):
        _charge(player, amount)
        return
    else:
        menu["leech CHARGE"] = (_charge, amount)
    effect = yield from ask(player.number, "LEECH", menu)
    if effect is not None:
        function, amount = effect
        function(player, amount)


def free_leech_is_asked(game: Game, player: Player) -> bool:
    """Whether one may decline what costs nothing (LEE-03, A20): the Itars with the PI may want to
    keep tokens in bowl II, to burn them into the Gaia area.
    """
    return game.rules.switches.free_leech_is_asked or player.has_pi("ITARS")


def _charge(player: Player, amount: int) -> None:
    player.score("LEECH", 1 - amount)
    power.charge(player, amount)


def _token_first(player: Player, amount: int) -> None:
    player.gain({"tokens": 1})
    _charge(player, amount)


def _charge_then_token(player: Player, amount: int) -> None:
    _charge(player, amount)
    player.gain({"tokens": 1})
