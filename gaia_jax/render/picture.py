"""The whole table as one SVG: the map, and the pieces of `pieces` in boxes around it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from html import escape
from typing import Any

from gaia_jax import actions
from gaia_jax.components.research import MAX_LEVEL, TRACKS
from gaia_jax.components.ships import ARTIFACT_SHIP
from gaia_jax.render import board, colours, pieces, seat_pieces
from gaia_jax.render.names import PLANETS, faction_name, say
from gaia_jax.render.pieces import Level, Piece
from gaia_jax.render.shapes import (
    FONT,
    box,
    disc_symbol,
    group,
    icon,
    number,
    run,
    run_width,
    symbols,
    use,
)
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import TEXTS, column, joined, phrase
from gaia_jax.ruleset import Ruleset

WIDTH, MARGIN = 1280, 8
_TOP, _SEATS = 92, 92 + board.HEIGHT + 10
_SEAT_WIDTH, _SEAT_HEIGHT = 314.0, 296.0
HEIGHT = int(_SEATS + _SEAT_HEIGHT + MARGIN)
_RIGHT, _RIGHT_WIDTH = MARGIN + board.WIDTH + 4, 548.0
_COLUMN, _LEVEL, _TILE = _RIGHT_WIDTH / 6, 35.0, 36.0
_SHIP_HEIGHT = 190.0
_ASKS, _LEGEND = column("node", "asks"), column("planet", "short")
# Fill and edge of a piece, by kind.
_COLOURS = {
    "tile": ("#fffdf5", "#8b93a7"),
    "advanced": ("#ffe9bd", "#8b93a7"),
    "booster": ("#fdf1dc", "#8b93a7"),
    "special": ("#ffe3cf", "#8b93a7"),
    "artifact": ("#f7e3ee", "#a04c7d"),
    "power": ("#f1e6f7", "#8b93a7"),
    "qic": ("#dff2e2", "#8b93a7"),
    "token green": ("#cfe8d2", "#2a6b35"),
    "token": ("#e4e5ea", "#777e8f"),
    "mission": ("#e9eefb", "#7e8fc4"),
    "round": (colours.PANEL, "#b9bfce"),
    "round now": ("#fff3d1", colours.MARK),
    "round past": ("#e6e8ee", "#b9bfce"),
    "ship": ("#ffffff", "#a8b2d1"),
    "count": ("#ffffff", colours.LINE),
}
_TITLED, _LINE = ("round", "mission"), 13  # kinds with a bold first line; from line to line
_BOWLS = ("#e9dcf1", "#d9c2e6", "#c9a5dd", "#d3ecd6")
_TRACKS = ("#f6e3d5", "#dfe9f8", "#e0f1e2", "#ece2f4", "#faf0cf", "#dcecf9")


def question(table: Table) -> str:
    """The deciding player and the decision, in words."""
    if table.over:
        best = max(seat.vp for seat in table.seats)
        winners = [faction_name(s.faction) for s in table.seats if s.vp == best]
        return phrase("winners", names=joined(winners), n=len(winners))
    name = faction_name(table.seats[table.player].faction)
    text = _ASKS[table.node]
    if table.node == "LEECH" and table.player in table.offers:
        text = phrase("may-take-power", n=table.offers[table.player])
    return phrase("decides-what", name=name, text=text)


@functools.lru_cache(8192)
def _draw(piece: Piece, x: float, y: float, width: float, height: float) -> str:
    """A piece in a box: its lines below one another, or at both ends of a low box."""
    fill, edge = _COLOURS.get(f"{piece.kind} {piece.state}") or _COLOURS[piece.kind]
    is_current, is_used = piece.state == "now", piece.state in ("used", "covered")
    ink = colours.QUIET if piece.state in ("past", "none") or is_used else colours.INK
    body = box(x, y, width, height, fill, edge, 4, 2.5 if is_current else 0.9)
    lines = [line for line in piece.face if line]
    base = y + height / 2 + 3.6
    if len(lines) > 1 and height < 24:
        end = run_width(lines[1], 10)
        body += run(x + 5, base, lines[0], 10, ink, room=max(30.0, width - 14 - end))
        left = min(run_width(lines[0], 10), width / 2)
        body += run(x + width - 5, base, lines[1], 10, ink, "end", room=width - 14 - left)
    else:
        for i, line in enumerate(lines):
            at, bold = base + (i - (len(lines) - 1) / 2) * _LINE, piece.kind in _TITLED and not i
            body += run(x + width / 2, at, line, 10, ink, "middle", bold, width - 8)
    if is_used:
        a, b, c, d = (number(v) for v in (x + 3, y + height - 3, x + width - 3, y + 3))
        dash = ' stroke-dasharray="3 3"' if piece.state == "covered" else ""
        body += f'<path d="M{a} {b}L{c} {d}" stroke="#8a2b2b" stroke-width="1.8"{dash}/>'
    return group(body, piece.id, piece.label, piece.action)


def _grid(
    row: Sequence[Piece], y: float, width: float, height: float, columns: int = 0, x: float = 0
) -> str:
    """Pieces in rows of equal boxes."""
    columns = columns or max(1, len(row))
    step = width / columns
    return "".join(
        _draw(piece, x + i % columns * step, y + i // columns * (height + 3), step - 3, height)
        for i, piece in enumerate(row)
    )


def _flow(row: Sequence[Piece], y: float, width: float) -> str:
    """Pieces as wide as their lines, in at most two rows."""
    widths = [run_width(piece.face[0], 10) + 8 for piece in row]
    scale = min(1.0, (1.85 if len(row) > 6 else 1.0) * width / (sum(widths) + 3 * len(row)))
    x, out = 0.0, ""
    for piece, wide in zip(row, widths, strict=True):
        if x + wide * scale > width:
            x, y = 0.0, y + 21
        out += _draw(piece, x, y, wide * scale, 18)
        x += wide * scale + 3
    return out


def _head(table: Table, last: int | None) -> str:
    game = TEXTS["game"].get(table.ruleset.id, table.ruleset.id)
    if table.ruleset.automa:
        game = phrase("against-automa", game=game)
    elif table.num_players != 4:
        game = phrase("for-players", game=game, n=table.num_players)
    out = run(0, 21, pieces.phase(table), 19, bold=True)
    out += run(190, 20, question(table), 15, bold=True, room=560)
    out += run(0, 37, game, 10, colours.QUIET)
    if last is not None:
        text = actions.to_text(table.ruleset, last)
        words = phrase("last-action", words=say(table.ruleset, text), text=text)
        out += run(190, 37, words, 10.5, colours.QUIET, room=560)
    right = WIDTH - 2.0 * MARGIN
    out += run(right - 4 * 34 - 6, 24, phrase("turn-order"), 10, colours.QUIET, "end")
    for i, p in enumerate(table.order):
        x = right - (len(table.order) - i) * 34 + 16
        if p == table.player and not table.over:
            out += box(x - 14, 7, 28, 26, "none", colours.MARK, 13, 2.5)
        out += icon(f"d{p}", x - 10, 10, 20)
        if table.seats[p].passed:
            out += f'<path d="M{number(x - 8)} 28L{number(x + 8)} 12" {_STRUCK}/>'
    return out


_STRUCK = 'stroke="#8a2b2b" stroke-width="2.4"'


def _track(t: int, track: Piece, levels: list[Level]) -> str:
    out = run(_COLUMN / 2 - 1, 11, track.face[0], 10.5, anchor="middle", bold=True, room=86)
    wide = _COLUMN - 2.5
    for i, level in enumerate(levels):
        y = 19 + _TILE + i * _LEVEL
        out += box(0, y, wide, _LEVEL - 1.5, _TRACKS[t], "#b9bfce", 3, 0.7)
        out += run(3, y + 11.5, str(level.number), 9, colours.QUIET)
        lost = PLANETS["Lost"]
        brings, planet = level.brings.removesuffix(f" {lost}"), lost in level.brings
        out += run(wide - 4, y + 11.6, brings, 9.8, anchor="end", room=_COLUMN - 16)
        out += run(4, y + 26, lost, 9) if planet else ""
        if level.token:
            out += box(3, y + 15, 42, 16, "#cfe8d2", "#2a6b35", 3, 0.8)
            out += run(24, y + 26.4, level.token, 9, anchor="middle", room=38)
        out += run(wide - 1, y + 27.5, level.discs, 10, anchor="end")
    return group(out, track.id, track.words, track.action)


def _research(table: Table) -> str:
    out, below = "", 19 + _TILE + (MAX_LEVEL + 1) * _LEVEL + 1
    for t, id in enumerate(TRACKS):
        column = _track(t, *pieces.track(table, t))
        advanced = pieces.advanced_tile(table, id)
        if advanced:
            column += _draw(advanced, 0, 16, _COLUMN - 2.5, _TILE)
        else:
            column += box(0, 16, _COLUMN - 2.5, _TILE, "none", colours.LINE, 4, 0.8)
        column += _draw(
            pieces.basic_tile(table, table.basic_tiles[t]), 0, below, _COLUMN - 2.5, _TILE
        )
        out += group(column, at=(t * _COLUMN, 0))
    free, y = [pieces.basic_tile(table, id) for id in table.basic_tiles[6:]], below + _TILE + 4
    out += _grid(free, y, 3 * _COLUMN, _TILE)
    if table.ruleset.extra_conditions:
        condition = phrase("extra-with", text=pieces.extra_condition(table))
        for base, line in ((14, phrase("extra-tile-short")), (27, condition)):
            out += run(4 * _COLUMN - 8, y + base, line, 9, colours.QUIET, "end")
        extra = pieces.advanced_tile(table, "extra")
        out += _draw(extra, 4 * _COLUMN, y, _COLUMN - 2.5, _TILE) if extra else ""
    return out


def _ship(table: Table, ship: str, width: float) -> str:
    head, *rest = pieces.ship(table, ship)
    out = use("ship", 13, 13, 9.5) + run(26, 17, head.face[0], 12, bold=True)
    out = group(out, head.id, head.words, head.action)
    out += run(width - 4, 17, head.face[1], 9, anchor="end")
    for i, piece in enumerate(rest):
        out += _draw(piece, 4, 26 + 25 * i, width - 8, 22)
    if ship == ARTIFACT_SHIP:
        out += _grid(pieces.artifacts(table), 26 + 25.0 * len(rest), width - 5, 30, 2, 4)
    return box(0, 0, width, _SHIP_HEIGHT, "#eef1f9", "#7e8fc4", 6, 1) + out


def _ships(table: Table) -> str:
    ships, step = table.ruleset.ships, _RIGHT_WIDTH / 4
    return "".join(group(_ship(table, s, step - 4), at=(i * step, 0)) for i, s in enumerate(ships))


def _legend(ruleset: Ruleset) -> str:
    """The planets, the seven colours in the order of the terraforming ring."""
    planets = [p for p in _LEGEND if ruleset.ships or p not in ("Proto", "Asteroid")]
    out, width = "", _RIGHT_WIDTH / len(planets)
    for i, planet in enumerate(planets):
        x = (i + 0.5) * width
        out += use(planet, x, 11, 14)
        out += run(x, 33, _LEGEND[planet], 9, colours.QUIET, "middle", room=width - 3)
    return out


def _seat(table: Table, seat: SeatView) -> str:
    """The board of a player."""
    (fill, ink), w, state = (
        colours.faction(seat.faction.start_planet), _SEAT_WIDTH, pieces.seat_state(table, seat)
    )  # fmt: skip
    out = box(0, 0, w, _SEAT_HEIGHT, colours.PANEL, "#9aa3b8", 8, 1)
    out += f'<path d="M8 0H{w - 8}A8 8 0 0 1 {w} 8V32H0V8A8 8 0 0 1 8 0Z" fill="{fill}"/>'
    emblem = f'<g color="{ink}">{icon(seat.faction.id, 37, 7, 18)}</g>'
    out += icon(f"d{seat.player}", 8, 4, 24) + emblem
    out += run(62, 21.5, faction_name(seat.faction), 15, ink, bold=True, room=128)
    vp = run(w - 10, 23, f"{seat.vp}{{v}}", 20, ink, "end", True)
    out += group(vp, f"vp-{seat.player}") + run(
        w - 82, 21, pieces.state_words(state), 11, ink, "end"
    )
    stock = seat_pieces.stock(table, seat)
    for i, piece in enumerate(stock[:-1]):
        body = run(10 + i * 75, 56, piece.face[0], 17, bold=True)
        body += run(76 + i * 75, 55, piece.face[1], 10.5, "#2a6b35", "end")
        out += group(body, piece.id, piece.words)
    for bowls in stock[-1:]:
        body = ""
        for i, line in enumerate(bowls.face):
            edge = "#2a6b35" if i == 3 else "#6b3a83"
            body += box(10 + i * 74, 67, 68, 24, _BOWLS[i], edge, 12, 1.2)
            body += run(44 + i * 74, 84, line, 15, anchor="middle", bold=True)
        out += group(body, bowls.id, bowls.words)
    rows = _flow(seat_pieces.built(seat), 98, w - 16)
    rows += _flow(seat_pieces.facts(table, seat), 119, w - 16)
    out += group(rows, at=(8, 0))
    owned = seat_pieces.owned(table, seat)
    # As many columns as the pieces need: four as a rule.
    columns = next(n for n in (4, 5, 6, 7, 8) if -(-len(owned) // n) <= 4 or n == 8)
    height = (_SEAT_HEIGHT - 164) / max(4, -(-len(owned) // columns)) - 3
    out += _grid(owned, 162, w - 12, height, columns, 6)
    if state == "decides":
        out += box(0, 0, w, _SEAT_HEIGHT, "none", colours.MARK, 8, 3.5)
    return out


def last_mark(table: Table, last: int | None) -> str:
    """The mark on the cell that an action went to; "" for an action without a cell."""
    if last is None:
        return ""
    cell = int(table.ruleset.actions.cell[last])
    if cell < 0 and actions.to_text(table.ruleset, last).startswith("explore "):
        cell = table.ship_cells[actions.to_text(table.ruleset, last).split()[1]]
    return board.marked(table.ruleset, cell) if cell >= 0 else ""


def map_parts(table: Table, last: int | None = None) -> dict[str, str]:
    """The map's cells by id, with the mark of the last action."""
    return board.MapDrawing(table).parts(last_mark(table, last))


def blocks(table: Table, last: int | None = None) -> dict[str, tuple[tuple[float, float], str]]:
    """The blocks of the picture, each with its place; `last`: the action to mark."""
    left, right = float(MARGIN), float(_RIGHT)
    cells = "".join(group(body, f"part-{id}") for id, body in map_parts(table, last).items())
    out = {
        "head": ((left, 6.0), _head(table, last)),
        "rounds": ((left, 48.0), _grid(pieces.rounds(table), 0, 780, 38)),
        "finals": ((left + 790, 48.0), _grid(pieces.missions(table), 0, 477, 38)),
        "map": ((left, float(_TOP)), board.ground(table.ruleset) + cells),
        "research": ((right, _TOP + 2.0), _research(table)),
        "legend": ((right, _TOP + board.HEIGHT - 38.0), _legend(table.ruleset)),
    }
    y = _TOP + 2 + 19 + (MAX_LEVEL + 1) * _LEVEL + 3 * _TILE + 9
    w = _RIGHT_WIDTH
    out["tokens"] = ((right, y), _grid(pieces.tokens(table), 0, w, 22))
    powers, qic = pieces.actions(table, "power"), pieces.actions(table, "qic")
    body = _grid(powers, 0, w, 41) + _grid(qic, 44, w, 41, 6)
    out["actions"] = ((right, y + 27), body)
    y += 27 + 44 * (2 if qic else 1) + 1
    if table.ruleset.ships:
        out["ships"] = ((right, y), _ships(table))
        y += _SHIP_HEIGHT + 4
    boosters = pieces.boosters(table)
    out["boosters"] = ((right, y), _grid(boosters, 0, w, 42, max(6, len(boosters))))
    step = (WIDTH - 2 * MARGIN + 2.7) / 4
    for seat in table.seats:
        p = seat.player
        out[f"seat-{p}"] = ((MARGIN + p * step, float(_SEATS)), _seat(table, seat))
    return out


def document(table: Table, width: int, height: int, body: str) -> str:
    """An SVG of its own: icons, paper and a body."""
    discs = "".join(disc_symbol(s.player, s.faction.start_planet) for s in table.seats)
    label = escape(joined([faction_name(seat.faction) for seat in table.seats]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="{FONT}" color="{colours.INK}"'
        f' role="img" aria-label="{label}">'
        f"{symbols()}<defs>{discs}</defs>"
        f"{box(0, 0, width, height, colours.PAPER, radius=0)}{body}</svg>"
    )


def svg(state: Any, ruleset: Ruleset | None = None, last: int | None = None) -> str:
    """The whole table as an SVG.

    Args:
        state: one state of `gaia_jax.GaiaEnv`.
        ruleset: `env.ruleset`; None takes the one that the state names.
        last: index of the action that led to the state, to be marked.
    Returns:
        A document of 1,280 by about 1,180; it needs no other file.
    Raises:
        ValueError: a batch of states, or one that names no ruleset of `gaia_jax.RULESETS`.
    """
    table = Table(state, ruleset)
    body = "".join(
        group(inner, f"block-{name}", at=at, kind="block")
        for name, (at, inner) in blocks(table, last).items()
    )
    return document(table, WIDTH, HEIGHT, body)
