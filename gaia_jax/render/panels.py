"""The table for a page: the map as a picture, the pieces of `pieces` as HTML.

`frame` has what a page begins with, `parts` what a decision may change, by block and id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from gaia_jax.components import research
from gaia_jax.components.ships import ARTIFACT_SHIP
from gaia_jax.render import board, colours, help, picture, pieces, seat_pieces
from gaia_jax.render.names import faction_name
from gaia_jax.render.pieces import Level, Piece
from gaia_jax.render.shapes import group, seat_number, split, symbols
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import phrase

Parts = dict[str, dict[str, str]]
# Where a narrow column may break a word.
_HYPHENS = {"erraforming": "erra&shy;forming", "Navigation": "Navi&shy;gation",
            "Economy": "Eco&shy;nomy", "issenschaft": "issen&shy;schaft",
            "irtschaft": "irt&shy;schaft"}  # fmt: skip
_AFTER_TEXT = re.compile(r"([^\s<>]+)(<svg.*?</svg>)")


def face(line: str) -> str:
    """A line of a face as HTML."""
    out = "".join(_mark(kind, part) for kind, part in split(line))
    # An icon stays with the number before it: `3{o}`.
    return _AFTER_TEXT.sub(r'<span class="u">\1\2</span>', out)


def _mark(kind: str, part: str) -> str:
    if kind == "icon":
        return f'<svg class="i" aria-hidden="true"><use href="#g-{part}"/></svg>'
    if kind == "planet":
        box = 'viewBox="-.8 -.8 1.6 1.6" aria-hidden="true"'
        return f'<svg class="i" {box}><use href="#g-{part}"/></svg>'
    if kind == "disc":
        return _disc(int(part[1:]))
    if kind == "small":
        return f"<small>{part}</small>"
    text = escape(part)
    for word, parts in _HYPHENS.items():
        text = text.replace(word, parts)
    return re.sub(r"/(?=[^\W\d])", "<wbr>/", text)  # a narrow face breaks `2{v}/asteroid` there


def _disc(player: int, title: str = "", emblem: str = "") -> str:
    """The disc of a player; with the id of a faction, its emblem next to the number."""
    named = f' title="{escape(title)}"' if title else ""
    drawn = _mark("icon", emblem) if emblem else ""
    return f'<i class="disc d{player}"{named}>{seat_number(player)}{drawn}</i>'


def _button(piece: Piece, body: str = "") -> str:
    """A piece as a button: its face, or another body."""
    body = body or "".join(f"<span>{face(line)}</span>" for line in piece.face if line)
    attributes = f' data-of="{escape(piece.of)}"' if piece.of else ""
    attributes += f' data-action="{escape(piece.action)}"' if piece.action else ""
    classes = " ".join(name for name in ("piece", piece.kind, piece.state) if name)
    return (
        f'<button type="button" id="{escape(piece.id)}" class="{classes}"'
        f' aria-label="{escape(piece.label)}"{attributes}>{body}</button>'
    )


def _row(row: Iterable[Piece], kind: str = "") -> str:
    buttons = "".join(_button(piece) for piece in row)
    return f'<div class="{f"row {kind}".strip()}">{buttons}</div>'


def _section(name: str, row: Iterable[Piece]) -> str:
    return f"<section><h3>{name}</h3>{_row(row)}</section>"


def parts(table: Table, last: int | None = None) -> Parts:
    """The parts that a decision may change, by block and id; `last`: the action to mark."""
    actions = _section(phrase("power-actions"), pieces.actions(table, "power"))
    if table.ruleset.qic_actions:
        actions += _section(phrase("qic-actions"), pieces.actions(table, "qic"))
    missions = _section(phrase("final-missions"), pieces.missions(table))
    boosters = _section(phrase("boosters-to-take"), pieces.boosters(table))
    out = {
        "head": {"head": _head(table), "order": _order(table)},
        "map": picture.map_parts(table, last),
        "rounds": {"rounds": _section(phrase("rounds"), pieces.rounds(table)), "finals": missions},
        "research": {f"track-{id}": _track(table, t) for t, id in enumerate(research.TRACKS)},
        "actions": {"power": actions},
        "boosters": {"boosters": boosters},
        "tokens": {"tokens": _section(phrase("federation-tokens"), pieces.tokens(table))},
    }
    if table.ruleset.extra_conditions:
        words = face(phrase("extra-tile-with", text=pieces.extra_condition(table)))
        out["research"]["extra"] = f"<span>{words}</span>{_advanced(table, 'extra')}"
    out["actions"] |= {f"ship-{ship}": _ship(table, ship) for ship in table.ruleset.ships}
    for seat in table.seats:
        p = seat.player
        lines = {f"seat-{p}-line": _seat_line(table, seat), f"seat-{p}-rest": _board(table, seat)}
        out[f"seat-{p}"] = lines
    return out


def frame(table: Table, panel_parts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The first content of a page with the `parts` of a table of the same game.

    Returns:
        `map`: an SVG; `blocks`: HTML by name; `colours`: fill and ink of each player;
        `help` by id and `rules`, as `gaia_jax.render.help` has them.
    """
    free = [pieces.basic_tile(table, id) for id in table.basic_tiles[len(research.TRACKS) :]]
    fixed = {"research": _row(free, "free-tiles")}
    blocks = {
        name: fixed.get(name, "")
        + "".join(f'<div id="part-{id}" class="part ">{body}</div>' for id, body in bodies.items())
        for name, bodies in panel_parts.items()
        if name != "map"
    }
    inner = board.grid(table.ruleset)
    inner += "".join(group(body, f"part-{id}") for id, body in panel_parts["map"].items())
    w, h, name = board.WIDTH, board.HEIGHT, phrase("the-map")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}"'
        f' role="group" aria-label="{name}"><g id="block-map">{inner}</g></svg>'
    )
    return {
        "map": svg,
        "defs": f'<svg class="defs" aria-hidden="true">{symbols()}</svg>',
        "blocks": blocks,
        "colours": [list(colours.faction(seat.faction.start_planet)) for seat in table.seats],
        "help": help.pages(
            table.ruleset,
            # The Automa plays by its card, not by the board of its faction.
            (seat.faction for seat in table.seats if not table.is_automa(seat.player)),
            int(table.setup.economy_side),
        ),
        "rules": help.rules_in_brief(table.ruleset),
    }


def _head(table: Table) -> str:
    return f"<b>{escape(pieces.phase(table))}</b> <span>{escape(picture.question(table))}</span>"


def _order(table: Table) -> str:
    """The turn order with VP: players who passed are struck through, the deciding has a ring."""
    out = ""
    for seat in (table.seats[p] for p in table.order):
        state = pieces.seat_state(table, seat).replace("wins", "")
        label = faction_name(seat.faction)
        if state:
            label = phrase("name-and-state", name=label, state=pieces.state_words(state))
        inner = f"{_disc(seat.player, label)}<small>{seat.vp}</small>"
        out += f'<span class="turn {state.replace("decides", "now")}">{inner}</span>'
    label = phrase("turn-order")
    return f'<span class="order" role="group" aria-label="{label}">{out}</span>'


def _advanced(table: Table, slot: str) -> str:
    tile = pieces.advanced_tile(table, slot)
    return _button(tile) if tile else '<div class="gap"></div>'


def _track(table: Table, t: int) -> str:
    """A column of the research board."""
    track, levels = pieces.track(table, t)
    body = f"<b>{face(track.face[0])}</b>" + "".join(map(_level, levels))
    basic = pieces.basic_tile(table, table.basic_tiles[t])
    return _advanced(table, research.TRACKS[t]) + _button(track, body) + _button(basic)


def _level(level: Level) -> str:
    token = f'<span class="token-here">{face(level.token)}</span>' if level.token else ""
    return (
        f'<span class="level"><small>{level.number}</small><span>{face(level.brings)}</span>'
        f"{token}<span>{face(level.discs)}</span></span>"
    )


def _ship(table: Table, ship: str) -> str:
    head, *rest = pieces.ship(table, ship)
    body = _button(head, f"<b>{face(head.face[0])}</b><span>{face(head.face[1])}</span>")
    body += "".join(_button(piece) for piece in rest)
    if ship == ARTIFACT_SHIP:
        artifacts = "".join(_button(piece) for piece in pieces.artifacts(table))
        body += f'<div class="artifacts">{artifacts}</div>'
    return body


def _seat_line(table: Table, seat: SeatView) -> str:
    """Name, state, VP and stock of a player."""
    p, name, state = seat.player, faction_name(seat.faction), pieces.seat_state(table, seat)
    status = f' <em class="{state}">{pieces.state_words(state)}</em>' if state else ""
    stock = "".join(_button(piece) for piece in seat_pieces.stock(table, seat))
    return (
        f'<span class="who">{_disc(p, name, seat.faction.id)}<b>{escape(name)}</b>{status}</span>'
        f'<b class="vp" id="vp-{p}"><span>{seat.vp}</span>{face("{v}")}</b>'
        f'<span class="stock">{stock}</span>'
    )


def _board(table: Table, seat: SeatView) -> str:
    """The rest of a player's board."""
    rows = {"built": seat_pieces.built(seat), "facts": seat_pieces.facts(table, seat),
            "owned": seat_pieces.owned(table, seat)}  # fmt: skip
    return "".join(_row(row, name) for name, row in rows.items())
