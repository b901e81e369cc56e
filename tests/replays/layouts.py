"""What the reader writes into a state: recorded satellites, the price of wasted conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaia_jax.actions import from_text
from tests.replays.table import Differs, Seat


def members(game: Any, player: int) -> set[int]:
    """Cells of own structures, guests and stations."""
    board = game.board
    own = (np.asarray(board.owner) == player) | (np.asarray(board.guest) == player)
    if game.players.stations[player]:
        own |= np.asarray(board.station)
    return {int(cell) for cell in np.flatnonzero(own)}


def marked(game: Any, player: int, low: int) -> set[int]:
    """Cells with the bit of the player among the links; `low` 0 satellites, 4 members."""
    links = np.asarray(game.board.links).astype(int)
    return {int(cell) for cell in np.flatnonzero(links >> (player + low) & 1)}


def loose(game: Any, player: int) -> set[int]:
    """Own structures and stations outside any federation."""
    return members(game, player) - marked(game, player, 4)


def neighbours(seat: Seat, cells: set[int]) -> set[int]:
    table = seat.rules.geometry.neighbors
    return {int(n) for cell in cells for n in table[cell] if n >= 0}


def group_of(seat: Seat, text: str, game: Any) -> set[int]:
    """The group of touching unfederated structures and stations that a pick names (A9)."""
    player = seat.player
    own = loose(game, player)
    index = from_text(seat.rules, text)
    group = {int(seat.rules.actions.cell[index])}
    while more := (neighbours(seat, group) & own) - group:
        group |= more
    return group


def adopt(seat: Seat, before: Any, player: int, recorded: set[int]) -> None:
    """Put the recorded satellites where ours lie, after comparing planets, power and number.

    Raises:
        Differs: the federation has other planets, or another number of satellites.
    """
    state = seat.state
    game = state.game
    old = marked(before, player, 0)
    ours = marked(game, player, 0) - old
    theirs = recorded - members(game, player) - old
    if len(ours) != len(theirs):
        raise Differs("satellites", len(theirs), len(ours))
    picked = recorded & members(game, player)
    satellites = old | theirs
    joined = marked(before, player, 4) | picked
    outside = members(game, player) - joined
    while more := neighbours(seat, joined | satellites) & outside:
        joined |= more
        outside -= more
    links = np.asarray(game.board.links).astype(int)
    links &= ~((1 << player) | (16 << player))
    links[list(satellites)] |= 1 << player
    links[list(joined)] |= 16 << player
    board = game.board.replace(links=links.astype(game.board.links.dtype))
    seat.table.put(seat.lane, state.replace(game=game.replace(board=board)))


def pay(seat: Seat, price: str, times: int) -> None:
    """Take one of `times` payments that brought nothing from the decider's stocks (FRE-03)."""
    from tests.replays.player import amounts

    state, player = seat.state, seat.player
    players = state.game.players
    ((count, unit),) = amounts(price)
    names = {"c": "credits", "o": "ore", "k": "knowledge", "q": "qic"}
    order = ("c", "o", "k", "q")
    if unit in names:
        resources = np.array(players.resources)
        resources[player, order.index(unit)] -= count // times
        players = players.replace(resources=resources)
    elif unit == "pw":
        power = np.array(players.power)
        power[player] += np.array([1, 0, -1], power.dtype) * (count // times)
        players = players.replace(power=power)
    else:
        raise Differs("wasted conversion", price, "not known")
    seat.table.put(seat.lane, state.replace(game=state.game.replace(players=players)))
