"""The research board: six tracks, their tiles, federation tokens, power and QIC actions."""

from __future__ import annotations

from typing import Any

from gaia_jax.components import research
from gaia_jax.components.common import Gain
from gaia_jax.components.costs import RANGE_PER_QIC
from gaia_jax.components.tech_tiles import EXTRA_A_VP, EXTRA_B_SHIPS
from gaia_jax.render import colours
from gaia_jax.render.icons import (
    action_face,
    action_words,
    icons,
    tile_face,
    tile_words,
    token_face,
    token_words,
)
from gaia_jax.render.names import TRACK_NAMES
from gaia_jax.render.shapes import box, group, label, run, seat_disc
from gaia_jax.render.table import Table

WIDTH = 548
COLUMN, ROW, TILE = 90.5, 35.0, 36.0
TRACK_FILL = {
    "terraforming": "#f6e3d5",
    "navigation": "#dfe9f8",
    "ai": "#e0f1e2",
    "gaia": "#ece2f4",
    "economy": "#faf0cf",
    "science": "#dcecf9",
}
SHORT = {"ai": "AI", "gaia": "Gaia project"}
GREY_TOKEN, GREEN_TOKEN = "#e4e5ea", "#cfe8d2"

assert RANGE_PER_QIC == 2


def tile(x: float, y: float, w: float, h: float, face: tuple[str, ...], fill: str) -> str:
    """A box with one or two centred lines."""
    out = box(x, y, w, h, fill, "#8b93a7", 4, 0.8)
    lines = [line for line in face if line]
    size = 10.0
    for i, line in enumerate(lines):
        base = y + h / 2 + 3.6 + (i - (len(lines) - 1) / 2) * 13
        out += run(x + w / 2, base, line, size, anchor="middle", room=w - 8)
    return out


def crossed(x: float, y: float, w: float, h: float) -> str:
    """The mark over something that is used up."""
    veil = f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="4" fill="#fff" fill-opacity=".55"/>'
    return (
        f'{veil}<path d="M{x + 3} {y + 3}L{x + w - 3} {y + h - 3}M{x + w - 3} {y + 3}L{x + 3}'
        f' {y + h - 3}" stroke="#8a2b2b" stroke-width="2" stroke-opacity=".75"/>'
    )


def level_text(table: Table, track: str, level: int) -> str:
    """What a level brings, and what it is worth from then on."""
    t = research.TRACKS.index(track)
    bonus = icons(research.LEVEL_BONUS[t][level])
    if track == "terraforming":
        lasting = f"step {research.ORE_PER_STEP[level]}{{o}}"
        return f"{bonus} {lasting}" if bonus else lasting
    if track == "navigation":
        return f"{bonus} range {research.NAVIGATION_RANGE[level]}".strip()
    if track == "gaia":
        if level == research.MAX_LEVEL:
            return f"{bonus} 1{{v}}/Gaia"
        cost = research.PROJECT_COST[level]
        return f"{bonus} {cost}{{t}}".strip() if level else ""
    income: Gain[int] | None = None
    if track == "economy":
        income = table.ruleset.economy_income[int(table.setup.economy_side)][level]
    if track == "science":
        income = research.SCIENCE_INCOME[level]
    run_of_it = icons(income) if income else ""
    return f"{{i}}{run_of_it}" if run_of_it else bonus


def level_box(t: int, level: int) -> tuple[float, float]:
    """Top left corner of a level of track t."""
    return t * COLUMN, 16 + TILE + 3 + (research.MAX_LEVEL - level) * ROW


def board(table: Table) -> str:
    """What does not change during a game."""
    out = []
    for t, track in enumerate(research.TRACKS):
        fill = TRACK_FILL[track]
        name = SHORT.get(track, TRACK_NAMES[track])
        head = label(
            t * COLUMN + COLUMN / 2 - 1,
            11,
            name,
            10.5,
            colours.INK,
            "middle",
            True,
            COLUMN - 4,
        )
        for level in range(research.MAX_LEVEL + 1):
            x, y = level_box(t, level)
            text = level_text(table, track, level)
            head += box(x, y, COLUMN - 2.5, ROW - 1.5, fill, "#b9bfce", 3, 0.7)
            head += label(x + 3, y + 11.5, str(level), 9, colours.QUIET)
            if (track, level) == ("navigation", research.MAX_LEVEL):
                head += label(x + 4, y + 26, "Lost Planet", 9, room=56)
            head += run(x + COLUMN - 6, y + 11.6, text, 9.8, anchor="end", room=COLUMN - 16)
        out.append(group(head, action=f"advance {track}", title=TRACK_NAMES[track]))
        x, y = t * COLUMN, level_box(t, 0)[1] + ROW + 1
        out.append(_basic(table, x, y, table.basic_tiles[t]))
    y = level_box(0, 0)[1] + ROW + 1 + TILE + 4
    for i, id in enumerate(table.basic_tiles[6:]):
        out.append(_basic(table, i * COLUMN, y, id))
    return "".join(out)


def _basic(table: Table, x: float, y: float, id: str) -> str:
    basic_tile = next(t for t in table.ruleset.basic_tiles if t.id == id)
    body = tile(x, y, COLUMN - 2.5, TILE, tile_face(basic_tile), "#fffdf5")
    return group(body, f"basic-{id}", f"tech tile: {tile_words(basic_tile)}", f"tile {id}")


def _advanced(table: Table, slot: str, x: float, y: float) -> str:
    id, is_available = table.advanced_tiles[slot]
    advanced_tile = next(t for t in table.ruleset.advanced_tiles if t.id == id)
    title = f"advanced tile: {tile_words(advanced_tile)}"
    if not is_available:
        return box(x, y, COLUMN - 2.5, TILE, "none", "#c9cdd8", 4, 0.8)
    body = tile(x, y, COLUMN - 2.5, TILE, tile_face(advanced_tile), "#ffe9bd")
    return group(body, f"advanced-{slot}", title, f"advanced {slot}")


def parts(table: Table) -> dict[str, str]:
    """What changes: advanced tiles, the token on terraforming 5, the players' markers."""
    out = {}
    for t, track in enumerate(research.TRACKS):
        body = _advanced(table, track, t * COLUMN, 16)
        levels: dict[int, int] = {}
        for seat in table.seats:
            level = seat.tracks[t]
            x, y = level_box(t, level)
            at = levels.get(level, 0)
            levels[level] = at + 1
            disc = seat_disc(
                x + COLUMN - 13 - 17.5 * at, y + 24, 8, seat.player, seat.faction.start_planet
            )
            body += group(disc, f"level-{seat.player}-{track}", seat.faction.name)
        out[f"track-{track}"] = body
    if table.track_token:
        x, y = level_box(0, research.MAX_LEVEL)
        token = next(t for t in table.ruleset.base_tokens if t.id == table.track_token)
        fill = GREEN_TOKEN if token.green else GREY_TOKEN
        body = box(x + 3, y + 15, 42, 16, fill, "#2a6b35", 3, 0.8)
        body += run(x + 24, y + 26.4, token_face(token), 9, anchor="middle", room=38)
        words = f"federation token: {token_words(token)}"
        out["track-token"] = group(body, "piece-track-token", words)
    if table.ruleset.extra_conditions:
        y = level_box(0, 0)[1] + ROW + 1 + TILE + 4
        condition = table.ruleset.extra_conditions[int(table.setup.extra_condition)]
        requirement = f"{EXTRA_A_VP}{{v}}" if condition == "A" else f"{EXTRA_B_SHIPS} ships"
        body = run(3 * COLUMN + COLUMN - 8, y + 14, "extra tile", 9, colours.QUIET, "end")
        body += run(3 * COLUMN + COLUMN - 8, y + 27, f"with {requirement}", 9, colours.QUIET, "end")
        out["extra"] = body + _advanced(table, "extra", 4 * COLUMN, y)
    return out


RESEARCH_HEIGHT = 16 + TILE + 3 + 6 * ROW + 1 + 2 * TILE + 8


def tokens(table: Table) -> str:
    """The supply of federation tokens, a row."""
    out = ""
    for i, token in enumerate(table.ruleset.base_tokens):
        left = table.token_supply[token.id]
        x = i * COLUMN
        fill = GREEN_TOKEN if token.green else GREY_TOKEN
        body = box(x, 0, COLUMN - 2.5, 22, fill, "#2a6b35" if token.green else "#777e8f", 9, 0.9)
        body += run(x + 32, 14.8, token_face(token), 9.5, anchor="middle", room=52)
        body += label(x + COLUMN - 9, 14.8, f"x{left}", 9.5, anchor="end", bold=True)
        if not left:
            body += crossed(x, 0, COLUMN - 2.5, 22)
        title = f"federation token: {token_words(token)}; {left} left"
        out += group(body, f"supply-{token.id}", title, f"token {token.id}")
    return out


def actions(table: Table) -> dict[str, str]:
    """Power actions, and below them QIC actions where the ruleset has them."""
    r, out = table.ruleset, {}
    rows: list[tuple[str, Any, int, tuple[str, ...]]]
    rows = [("power", a, 0, table.power_used) for a in r.power_actions]
    rows += [("qic", a, 1, table.ship_used) for a in r.qic_actions]
    columns = {0: len(r.power_actions), 1: max(3, len(r.qic_actions))}
    place = {0: 0, 1: 0}
    for verb, action, row, used in rows:
        width = (WIDTH - 5) / (columns[row] if row == 0 else 6)
        x, y = place[row] * width, row * 44
        place[row] += 1
        fill = "#f1e6f7" if verb == "power" else "#dff2e2"
        body = tile(x, y, width - 3, 41, action_face(action), fill)
        if action.id in used:
            body += crossed(x, y, width - 3, 41)
        title = f"{verb} action: {action_words(action)}" + (", used" if action.id in used else "")
        piece = group(body, f"action-{action.id}", title, f"{verb} {action.id}")
        out[f"action-{action.id}"] = piece
    return out
