"""How a game ended: places, VP round by round, the moves that brought most, the game as files."""

from __future__ import annotations

from typing import Any

from gaia_jax.components.common import VP_AT_THE_END
from gaia_jax.components.costs import RESOURCES_PER_VP
from gaia_jax.render.names import VP_SOURCES
from gaia_jax.render.table import Table
from gaia_jax.replay import page as replay_page
from gaia_jax.replay.record import to_text

from .game import HUMAN, Game
from .lookahead import TWO_STEPS, in_words, joined

SHOWN = 8


def ending(game: Game) -> dict[str, Any]:
    """The summary that is shown at the end of a game.

    Returns:
        `places`: (P,) from 1, the same for who ties; `rounds`: name and VP by player at the end of
        the set-up, of each round, and of the game; `best`: the decisions that brought whoever made
        them the most VP; `left`: what scores of what is left over (FIN-11).
    """
    vp = [seat.vp for seat in game.table().seats]
    places = [1 + sum(other > own for other in vp) for own in vp]
    path = game.path(game.now)
    rows = [{"name": "Start", "vp": [seat.vp for seat in game.table(path[0]).seats]}]
    gains = []
    for before, id in zip(path, path[1:], strict=False):
        before_table, two = game.table(before), game.table(id)
        if two.over or two.round != before_table.round:
            name = f"Round {before_table.round}" if before_table.round else "Set-up"
            rows.append({"name": name, "vp": [_without_final(two, p) for p in range(len(vp))]})
        gain = _without_final(two, before_table.player) - before_table.seat(before_table.player).vp
        if gain > 0:
            gains.append((gain, id, before_table))
    rows.append({"name": "Final scoring", "vp": vp})
    gains.sort(key=lambda gain_entry: -gain_entry[0])
    best = [
        {
            "node": id,
            "player": before_table.player,
            "round": before_table.round,
            "gain": gain,
            "text": game.nodes[id].text,
            "words": _in_words(game, before_table, id),
            "told": game.told(id),
        }
        for gain, id, before_table in gains[:SHOWN]
    ]
    left = f"{VP_SOURCES['RESOURCES']}: 1 VP for {RESOURCES_PER_VP} credits, ore and knowledge left"
    return {"places": places, "rounds": rows, "best": best, "left": left}


def _in_words(game: Game, before: Table, id: int) -> str:
    """The decision that led to a position; of a target, a piece or a cover also what it is of."""
    words, first = in_words(game.rules, before, game.nodes[id].text), game.nodes[id].parent
    if before.node not in (*TWO_STEPS, "COVER"):
        return words
    return joined([game.words(first), words])


def _without_final(table: Table, p: int) -> int:
    seat = table.seat(p)
    return seat.vp - (sum(seat.vp_source.get(id, 0) for id in VP_AT_THE_END) if table.over else 0)


def record(game: Game) -> str:
    """The line in view as a record, with who played."""
    names = ["a person" if seat == HUMAN else seat for seat in game.seats]
    return to_text(game.record().with_players(names))


def replay(game: Game) -> str:
    """The line in view as a page that opens anywhere."""
    states = [game.nodes[id].state for id in game.line]
    return replay_page.page(game.record(), played=states)
