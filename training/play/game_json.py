"""Everything that a page shows of a game except its picture."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gaia_jax.replay.page import seats_json, sources_json

from . import endings
from .game import HUMAN, Game
from .game_server import GameServer
from .lookahead import in_words


def view(server: GameServer, game: Game) -> dict[str, Any]:
    """The current state of the game as JSON."""
    with server.lock:
        table = game.table()
        agents = {seat for seat in game.seats if seat != HUMAN}
        waiting = [server.agents.get(name, game.rules) for name in sorted(agents)]
        return {
            "id": game.id,
            "name": game.name,
            "agents": server.agents.fitting(game.rules.env.id, game.rules.env.num_players),
            "can_undo": game.earlier() is not None,
            "version": game.version,
            "ruleset": game.rules.env.id,
            "node": game.now,
            "line": game.line,
            "moves": game.move_rows(),
            "seats": [
                {**seat, "who": occupant, "vp": table.seats[p].vp}
                for p, (seat, occupant) in enumerate(
                    zip(seats_json(table), game.seats, strict=True)
                )
            ],
            "vp": [[seat.vp for seat in game.table(id).seats] for id in game.line],
            "sources": sources_json(table),
            "by_source": [list(seat.vp_source.values()) for seat in table.seats],
            "player": table.player,
            "asks": table.node,
            "over": table.over,
            "ended": game.table(game.line[-1]).over,
            "end": endings.ending(game) if table.over else None,
            "paused": game.paused,
            "thinking": game.agent_to_move() or "",
            "half_made": game.half_made(),
            "settings": asdict(server.settings[game.id]),
            "message": game.message,
            "progress": [
                dict(zip(("text", "seconds"), line, strict=True))
                for line in (
                    *(ready.progress() for ready in waiting if ready.status != "ready"),
                    *game.rules.progress(),
                )
            ],
            "legal": legal(game),
        }


def legal(game: Game) -> list[dict[str, Any]]:
    """What a person may do at the present position; nothing where an agent decides.

    With what each costs and brings, as soon as that is compiled.
    """
    if game.agent_to_move():
        return []
    rules, table, prices = game.rules, game.table(), game.prices()
    moves: list[dict[str, Any]] = []
    for text in rules.legal(game.nodes[game.now].state):
        move = {"text": text, "words": in_words(rules, table, text)}
        moves.append({**move, "effects": prices[text]} if prices else move)
    return moves
