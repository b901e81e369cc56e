"""Rounds and missions, ships, artifacts, boosters: what lies beside map and research board."""

from __future__ import annotations

from gaia_jax.render import colours, icons
from gaia_jax.render.names import MISSIONS, SHIPS
from gaia_jax.render.research import GREEN_TOKEN, GREY_TOKEN, crossed, tile
from gaia_jax.render.shapes import box, group, label, number, run, run_width, seat_disc
from gaia_jax.render.table import Table
from gaia_jax.ruleset import Ruleset

SHIP_WIDTH, SHIP_HEIGHT = 136.2, 190.0


def rounds(table: Table) -> str:
    """The round tiles, a row of 780; the present one is marked."""
    out, width = "", 130.0
    for i, round_tile in enumerate(table.round_tiles):
        x, now = i * width, table.round == i + 1
        past = table.round > i + 1 or table.over
        fill = "#fff3d1" if now else "#e6e8ee" if past else colours.PANEL
        edge = colours.MARK if now else "#b9bfce"
        ink = colours.QUIET if past else colours.INK
        body = box(x, 0, width - 4, 38, fill, edge, 5, 2.5 if now else 0.9)
        body += label(x + 15, 26, str(i + 1), 19, ink, "middle", True)
        body += run(x + 30, 16.5, f"{round_tile.vp}{{v}} per", 10.5, ink)
        body += run(x + 30, 31, icons.EVENT_WORDS[round_tile.event][1], 10.5, ink, room=width - 38)
        out += group(body, f"round-{i + 1}", f"round {i + 1}: {round_tile.vp} VP per "
                     f"{icons.EVENT_WORDS[round_tile.event][0]}")  # fmt: skip
    return out


def finals(table: Table) -> str:
    """The final missions with what each player counts, a row of 470."""
    out, width = "", 237.0
    for i, mission in enumerate(table.final_missions):
        x = i * width
        body = box(x, 0, width - 4, 38, "#e9eefb", "#7e8fc4", 5, 0.9)
        body += label(x + 8, 15.5, MISSIONS[mission][1], 10.5, bold=True, room=width - 70)
        body += run(x + width - 12, 15.5, "18 12 6{v}", 9, colours.QUIET, "end")
        for k, seat in enumerate(table.seats):
            at = x + 16 + k * 56
            body += seat_disc(at, 28, 6.8, seat.player, seat.faction.start_planet)
            body += label(at + 11, 31.8, str(seat.missions[i]), 11, bold=True)
        if mission in table.ruleset.neutral_player:
            count = table.ruleset.neutral_player[mission]
            at = x + 16 + len(table.seats) * 56
            body += label(at, 31.8, f"neutral {count}", 11, bold=True)
        out += group(body, f"mission-{i}", f"final mission: {MISSIONS[mission][0]}")
    return out


def boosters(table: Table) -> dict[str, str]:
    """The boosters that nobody has, a row; the others lie with their players."""
    free = [id for id, holder in table.boosters.items() if holder < 0]
    width = 548 / max(6, len(free))
    out = ""
    for i, id in enumerate(free):
        booster = next(b for b in table.ruleset.boosters if b.id == id)
        body = tile(i * width, 0, width - 3, 42, icons.booster_face(booster), "#fdf1dc")
        out += group(
            body, f"booster-{id}", f"booster: {icons.booster_words(booster)}", f"booster {id}"
        )
    return {"boosters": out}


def _ship(table: Table, ship: str) -> str:
    r, w = table.ruleset, SHIP_WIDTH - 4
    body = box(0, 0, w, SHIP_HEIGHT, "#eef1f9", "#7e8fc4", 6, 1)
    head = '<use href="#g-ship" transform="translate(13,13)scale(9.5)"/>'
    head += label(26, 17, SHIPS[ship], 12, bold=True)
    body += group(head, title=f"shuttle to the {SHIPS[ship]}", action=f"explore {ship}")
    on_board = [s for s in table.seats if ship in s.shuttles]
    for i, seat in enumerate(on_board):
        disc = seat_disc(w - 11 - i * 15.5, 13, 6.8, seat.player, seat.faction.start_planet)
        body += group(disc, f"shuttle-{seat.player}-{ship}", f"shuttle of {seat.faction.name}")
    y = 26.0
    for action in (a for a in r.ship_actions if a.ship == ship):
        used = action.id in table.ship_used
        cost, brings = icons.action_face(action)
        line = box(4, y, w - 8, 23, "#fff", "#a8b2d1", 4, 0.8)
        line += run(9, y + 15.2, cost, 10)
        start = 9 + run_width(cost, 10) + 4
        line += run(w - 9, y + 15.2, brings, 10, anchor="end", room=w - 12 - start)
        if used:
            line += crossed(4, y, w - 8, 23)
        title = f"ship action: {icons.action_words(action)}" + (", used" if used else "")
        body += group(line, f"action-{action.id}", title, f"ship {action.id}")
        y += 25
    token_id, is_available = table.ship_tokens[ship]
    if is_available:
        token = next(t for t in r.ship_tokens if t.id == token_id)
        line = box(4, y + 1, w - 8, 20, GREEN_TOKEN if token.green else GREY_TOKEN, "#2a6b35", 8, 1)
        line += run(w / 2, y + 14.6, icons.token_face(token), 10, anchor="middle", room=w - 20)
        title = f"federation token: {icons.token_words(token)}"
        body += group(line, f"ship-token-{ship}", title, f"token {ship}")
    y += 24
    if ship in table.ship_tiles:
        ship_tile = next(t for t in r.ship_tiles if t.id == table.ship_tiles[ship])
        line = tile(4, y, w - 8, 23, (" ".join(icons.tile_face(ship_tile)),), "#fffdf5")
        title = f"tech tile: {icons.tile_words(ship_tile)}"
        body += group(line, f"basic-{ship_tile.id}", title, f"tile {ship_tile.id}")
    if ship == r.artifact_ship:
        body += _artifacts(table, y)
    return body


def _artifacts(table: Table, y: float) -> str:
    out = ""
    w, h = (SHIP_WIDTH - 12) / 2, 29.0
    for place, (id, is_available) in enumerate(table.artifacts):
        if not is_available:
            continue
        artifact = next(a for a in table.ruleset.artifacts if a.id == id)
        x, top = 4 + place % 2 * w, y + place // 2 * (h + 2)
        body = box(x, top, w - 2, h, "#f7e3ee", "#a04c7d", 4, 0.8)
        for i, line in enumerate(icons.artifact_face(artifact)):
            body += run(x + w / 2 - 1, top + 12 + 12 * i, line, 9.5, anchor="middle", room=w - 8)
        title = f"artifact: {icons.artifact_words(artifact)}"
        out += group(body, f"artifact-{place + 1}", title, f"artifact {place + 1}")
    return out


def ships(table: Table) -> dict[str, str]:
    """A sheet for each ship."""
    return {
        f"sheet-{ship}": group(_ship(table, ship), at=(i * SHIP_WIDTH, 0))
        for i, ship in enumerate(table.ruleset.ships)
    }


def order(table: Table, x: float, y: float) -> str:
    """The turn order, from right to left ending at x; who has passed stands apart."""
    out = label(x - 4 * 34 - 6, y + 4, "turn order", 10, colours.QUIET, "end")
    for i, p in enumerate(table.order):
        seat = table.seats[p]
        at = x - (len(table.order) - i) * 34 + 16
        if p == table.player and not table.over:
            out += box(at - 14, y - 13, 28, 26, "none", colours.MARK, 13, 2.5)
        out += seat_disc(at, y, 9.5, p, seat.faction.start_planet)
        if seat.passed:
            body = f"M{number(at - 8)} {number(y + 8)}L{number(at + 8)} {number(y - 8)}"
            out += f'<path d="{body}" stroke="#8a2b2b" stroke-width="2.4"/>'
    return out


_LEGEND = {
    "Red": "oxide",
    "Orange": "volcanic",
    "Yellow": "desert",
    "Brown": "swamp",
    "Black": "titanium",
    "White": "ice",
    "Blue": "terra",
    "Gaia": "Gaia",
    "Transdim": "transdim",
    "Proto": "proto",
    "Asteroid": "asteroids",
    "Lost": "Lost",
}


def legend(ruleset: Ruleset) -> str:
    """The planets, the seven colours in the order of the terraforming ring."""
    planets = [p for p in _LEGEND if ruleset.ships or p not in ("Proto", "Asteroid")]
    out, width = "", 548 / len(planets)
    for i, planet in enumerate(planets):
        x = (i + 0.5) * width
        out += f'<use href="#g-{planet}" transform="translate({number(x)},11)scale(14)"/>'
        out += label(x, 33, _LEGEND[planet], 9, colours.QUIET, "middle", room=width - 3)
    return out


__all__ = ["boosters", "finals", "legend", "order", "rounds", "ships"]
