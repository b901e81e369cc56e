"""The decisions of a recorded game as text and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from gaia_jax.render.automa_words import turn_lines
from gaia_jax.render.pieces import round_name
from gaia_jax.replay.page import Move
from gaia_jax.state import AUTOMA

_STOCKS = ("credits", "ore", "knowledge", "qic", "power_1", "power_2", "power_3", "gaia_power")


def columns(players: int) -> list[str]:
    """The columns of the CSV: who decided what, all VP and the decider's stocks afterwards."""
    vp = [f"vp_{player}" for player in range(players)]
    return ["decision", "round", "player", "faction", "node", "action", "words", *vp, *_STOCKS]


def row(move: Move) -> list[Any]:
    """The values of `columns` for one decision."""
    seat = move.after.seats[move.player]
    stocks = (seat.credits, seat.ore, seat.knowledge, seat.qic, *seat.power, seat.gaia_power)
    actor = (move.number, move.round, move.player, seat.faction.id)
    vp = [other.vp for other in move.after.seats]
    return [*actor, move.node, move.text, move.words, *vp, *stocks]


def write_csv(file: TextIO, players: int, moves: Iterable[Move]) -> None:
    """Write the names of the columns of a game for `players`, then a row a decision."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns(players))
    writer.writerows(map(row, moves))


def lines(moves: Iterable[Move]) -> Iterator[str]:
    """A line a decision, a head line a round; the Automa's turns card by card."""
    last = -1
    for move in moves:
        if move.round != last:
            last = move.round
            yield round_name(last)
        player_name = f"{move.player} {move.after.faction(move.player).id}"
        effects_text = f"  ({move.effects_text})" if move.effects_text else ""
        yield f"{move.number:4}  {player_name:16} {move.text:26} {move.words}{effects_text}"
        for turn in move.automa:
            automa = f"{AUTOMA} {move.after.faction(AUTOMA).id}"
            line, *details = turn_lines(turn, move.after.ruleset)
            yield f"      {automa:16} {line}"
            yield from (f"{'':23} {detail}" for detail in details)
