"""What the reader writes into a state: recorded satellites, the price of wasted conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaia_jax.components import costs
from gaia_jax.importers.notation import MismatchError, amounts
from gaia_jax.importers.position import (
    brainstone_and_tokens,
    is_spent,
    loose,
    marked,
    members,
    neighbours,
    worth,
)
from tests.replays import brainstone
from tests.replays.table import Position


def check_satellites(
    position: Position, before: Any, player: int, picked: set[int], satellites: set[int]
) -> None:
    """Whether recorded satellites may lie there: FED-03 to FED-05 but for their number.

    Args:
        before: the game before the federation; picked: cells of own buildings in it.
    Raises:
        MismatchError: a satellite is not on empty space, or is next to another federation of the
            player, or the federation does not connect.
    """
    board, rules = before.board, position.rules

    def names(cells: set[int]) -> list[str]:
        return [",".join(map(str, rules.geometry.cells[cell])) for cell in sorted(cells)]

    empty = np.asarray(board.planet) == rules.ids["planet"].index("Empty")
    if blocked := {cell for cell in satellites if not empty[cell]}:
        raise MismatchError("satellites", names(blocked), "no empty space")
    own = marked(before, player, 0) | marked(before, player, 4)
    faction = rules.factions[int(before.setup.faction[player])]
    if faction.federation_grows:
        union = picked | satellites | own
    else:
        union = picked | satellites
        if near := neighbours(position, satellites) & own:
            raise MismatchError("satellites", names(near), "next to another federation")
    outside = loose(before, player) - union
    # Groups are taken whole (A9).
    while touching := neighbours(position, union - satellites) & outside:
        union |= touching
        outside -= touching
    reached = {min(union)}
    while touching := neighbours(position, reached) & union - reached:
        reached |= touching
    if reached != union:
        raise MismatchError("satellites", names(satellites), "not connected")


def adopt(position: Position, before: Any, player: int, recorded: set[int]) -> bool:
    """Put the recorded satellites where ours lie, after comparing planets, power and number.

    Returns:
        Whether they lay elsewhere.
    Raises:
        MismatchError: the federation has other planets, or another number of satellites.
    """
    state = position.state
    game = state.game
    old = marked(before, player, 0)
    own = marked(game, player, 0) - old
    recorded_satellites = recorded - members(game, player) - old
    if len(own) != len(recorded_satellites):
        raise MismatchError("satellites", len(recorded_satellites), len(own))
    picked = recorded & members(game, player)
    check_satellites(position, before, player, picked, recorded_satellites)
    satellites = old | recorded_satellites
    joined = marked(before, player, 4) | picked
    outside = members(game, player) - joined
    while touching := neighbours(position, joined | satellites) & outside:
        joined |= touching
        outside -= touching
    federation_bits = np.asarray(game.board.federation_bits).astype(int)
    federation_bits &= ~((1 << player) | (16 << player))
    federation_bits[list(satellites)] |= 1 << player
    federation_bits[list(joined)] |= 16 << player
    if (federation_bits == np.asarray(game.board.federation_bits)).all():
        return False
    board = game.board.replace(
        federation_bits=federation_bits.astype(game.board.federation_bits.dtype)
    )
    position.set_state(state.replace(game=game.replace(board=board)))
    return True


def pay(position: Position, price: str, player: int) -> None:
    """Take a payment that brought nothing from a player's stocks (FRE-03).

    Power is paid as our rules pay it: the brainstone too (ACT-06, A21), Nevlas with the PI in
    tokens worth 2 (ACT-07).
    """
    state = position.state
    players = state.game.players
    ((amount, unit),) = amounts(price)
    order = ("c", "o", "k", "q")
    stone, tokens = brainstone_and_tokens(state.game, player)
    if unit in order:
        resources = np.array(players.resources)
        resources[player, order.index(unit)] -= amount
        position.set_state(
            state.replace(game=state.game.replace(players=players.replace(resources=resources)))
        )
        return
    if unit == "t-a3":
        tokens[2] -= 1
        tokens[3] += 1
    elif unit == "pw":
        if is_spent(position, player, amount):
            stone, amount = 0, max(0, amount - costs.BRAINSTONE_POWER)
        amount = -(-amount // worth(position, player))
        tokens[2] -= amount
        tokens[0] += amount
    else:
        raise MismatchError("wasted conversion", price, "not known")
    brainstone.write(position, player, stone, tokens)


def take(position: Position, player: int, credits: int) -> None:
    """Take credits from a player."""
    state = position.state
    resources = np.array(state.game.players.resources)
    resources[player, 0] -= credits
    players = state.game.players.replace(resources=resources)
    position.set_state(state.replace(game=state.game.replace(players=players)))
