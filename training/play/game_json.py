"""A game as JSON for its page: seats, moves, legal actions, and the summary of its end."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gaia_jax.components.common import VP_AT_THE_END
from gaia_jax.components.costs import RESOURCES_PER_VP, ROUNDS
from gaia_jax.language import language
from gaia_jax.render.automa_words import LEVEL_NAMES
from gaia_jax.render.table import Table
from gaia_jax.replay.page import seats_json, sources_json
from gaia_jax.state import AUTOMA
from gaia_jax.state import HUMAN as PLAYER

from ..analysis.action_words import words_with_place
from .advisers import refusal
from .game import AUTOMA_NAME, HUMAN, Game, Refused
from .game_server import GameServer
from .kept_tables import OpenTable
from .languages import server_text, translated
from .lookahead import PARTS, TWO_STEPS, joined

NUM_BEST_MOVES = 8


def game_json(server: GameServer, table: OpenTable, browser: str, at: int) -> dict[str, Any]:
    """Everything that a page shows of a game except its picture.

    Args:
        browser: what it may do is part of the result.
        at: the position that it shows.
    """
    game, members = table.game, table.members
    with server.lock:
        view, line = game.view(at), game.line_of(at)
        invites = members.shared and members.is_host(browser)
        return {
            "id": game.id,
            "name": game.name,
            "agents": server.agents.fitting(game.rules.env.id, game.rules.env.num_players),
            "can_undo": at == game.now and table.may_undo(browser),
            "version": game.version,
            "ruleset": game.rules.env.id,
            "node": at,
            "now": game.now,
            "line": line,
            "moves": game.move_rows(line),
            "seats": [
                {**seat, "who": occupant, "vp": view.seats[p].vp, **_person(table, p, invites)}
                for p, (seat, occupant) in enumerate(
                    zip(seats_json(view), occupants(game), strict=True)
                )
            ],
            "shared": members.shared,
            "host": members.is_host(browser),
            "mine": members.played_by(browser, game.seats),
            "alone": members.is_alone(browser, game.seats),
            "chat": table.chat if members.shared else [],
            "watch_key": members.watch_key if invites else "",
            "vp": [[seat.vp for seat in game.view(id).seats] for id in line],
            "sources": sources_json(view),
            "by_source": [list(seat.vp_source.values()) for seat in view.seats],
            "player": view.player,
            "asks": view.node,
            "over": view.over,
            "ended": game.view(line[-1]).over,
            "end": end_summary(game, at) if view.over else None,
            "paused": game.paused,
            "thinking": (game.agent_to_move() or "") if at == game.now else "",
            "half_made": game.half_made(at),
            "settings": asdict(
                table.settings[min(members.played_by(browser, game.seats), default=0)]
            ),
            "message": translated(game.message),
            "progress": _progress(server, game),
            "legal": legal_actions(game, at) if table.may_act(browser, at) else [],
            "your_turn": table.may_act(browser, game.now),
            "decides": game.view().player,
            "advised": not refusal(game.rules),
            "reviewed": server.analyses.has_review(game),
            "explained": table.may_explain(browser, at) and game.has_choice(at),
        }


def _progress(server: GameServer, game: Game) -> list[dict[str, Any]]:
    """What a game's agents and rules are compiling: `text`, and `seconds` or None."""
    agents = {seat for seat in game.seats if seat != HUMAN}
    programs = [server.agents.get(name, game.rules) for name in sorted(agents)]
    lines = [program.progress() for program in programs if program.status != "ready"]
    return [
        {"text": translated(text), "seconds": seconds}
        for text, seconds in (*lines, *game.rules.progress())
    ]


def _person(table: OpenTable, player: int, invites: bool) -> dict[str, Any]:
    """The person at a seat: `person`, a name; `free`; `key` of the link, for the host."""
    members, seats = table.members, table.game.seats
    if player >= len(seats) or seats[player] != HUMAN:
        return {"person": "", "free": False, "key": ""}
    key = members.seat_keys[player] if invites else ""
    is_free = members.shared and members.is_free(player)
    person = members.names[player] if members.shared else ""
    return {"person": person, "free": is_free, "key": key}


def occupants(game: Game) -> list[str]:
    """Who plays, by player."""
    return [*game.seats, *[AUTOMA_NAME] * game.rules.solo]


def legal_actions(game: Game, at: int) -> list[dict[str, Any]]:
    """The legal actions of a position, with effects once these are compiled."""
    rules, table, prices = game.rules, game.view(at), game.prices(at)
    actions: list[dict[str, Any]] = []
    for text in rules.legal(game.nodes[at].state):
        action: dict[str, Any] = {"text": text, "words": words_with_place(table, text)}
        if prices:
            action["effects"] = _with_warnings(table, text, prices[text])
        actions.append(action)
    return actions


def _with_warnings(table: Table, text: str, effects: dict[str, Any]) -> dict[str, Any]:
    """The effects of an action, with notes on what they leave open."""
    notes = []
    if text.startswith("project") and table.round == ROUNDS:
        notes.append(server_text("project-too-late"))
    return {**effects, "notes": [*effects.get("notes", []), *notes]} if notes else effects


def lookahead_json(game: Game, at: int, part: str) -> dict[str, Any]:
    """One part of the lookahead at a person's turn, by its name in `lookahead.PARTS`.

    Raises:
        Refused: there is no such part.
    """
    if part not in PARTS:
        raise Refused(f"there is no {part!r} further on; known are {', '.join(PARTS)}")
    node, rules = game.nodes[at], game.rules
    cached: dict[str, Any] | None = node.texts.get((language(), part))
    if cached is None:
        if game.over(at) or game.deciding_agent(at) or not rules.ready:
            return {"node": at}
        priced = rules.prices_ready
        options = {name: find(rules, node.state) for name, find in PARTS[part].items()}
        cached = {"node": at, **options}
        if priced:
            node.texts[language(), part] = cached
    return cached


def end_summary(game: Game, at: int) -> dict[str, Any]:
    """The summary at the end of a game.

    Returns:
        `places`: (P,) from 1, equal for ties; `rounds`: number and VP of each player after the
        set-up, each round and the final scoring; `best`: the decisions that gained their player the
        most VP; `left`: how remaining resources score (FIN-11); `verdict`: of a solo game.
    """
    table = game.view(at)
    vp = [seat.vp for seat in table.seats]
    path = game.path(at)
    rows = [{"round": 0, "vp": [seat.vp for seat in game.view(path[0]).seats]}]
    gains = []
    for parent, id in zip(path, path[1:], strict=False):
        before, after = game.view(parent), game.view(id)
        if after.over or after.round != before.round:
            in_play = [_vp_in_play(after, p) for p in range(len(vp))]
            rows.append({"round": before.round, "vp": in_play})
        gain = _vp_in_play(after, before.player) - before.seat(before.player).vp
        if gain > 0:
            gains.append((gain, id, before))
    rows.append({"round": 0, "vp": vp})
    gains.sort(key=lambda entry: -entry[0])
    best = [
        {
            "node": id,
            "player": before.player,
            "round": before.round,
            "gain": gain,
            "text": game.nodes[id].text,
            "words": _decision_words(game, before, id),
            "effects_text": game.effects_text(id),
        }
        for gain, id, before in gains[:NUM_BEST_MOVES]
    ]
    left = server_text("left", n=RESOURCES_PER_VP)
    places = [1 + sum(other > own for other in vp) for own in vp]
    return {
        "places": places,
        "rounds": rows,
        "best": best,
        "left": left,
        "verdict": _verdict(table) if game.rules.solo else "",
    }


def _verdict(table: Table) -> str:
    """The result of a solo game (AUT-34)."""
    margin = table.seat(PLAYER).vp - table.seat(AUTOMA).vp
    level = LEVEL_NAMES[table.automa_level]
    if margin == 0:
        return server_text("draw", level=level)
    return server_text("win" if margin > 0 else "lose", level=level, n=abs(margin))


def _decision_words(game: Game, before: Table, id: int) -> str:
    """The decision that led to a position; a second step with its first one."""
    words, first = words_with_place(before, game.nodes[id].text), game.nodes[id].parent
    if before.node not in (*TWO_STEPS, "COVER"):
        return words
    return joined([game.words(first), words])


def _vp_in_play(table: Table, player: int) -> int:
    """VP of a player without those of the final scoring."""
    seat = table.seat(player)
    final = sum(seat.vp_source.get(id, 0) for id in VP_AT_THE_END) if table.over else 0
    return seat.vp - final
