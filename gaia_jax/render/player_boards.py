"""The player boards."""

from __future__ import annotations

from typing import NamedTuple

from gaia_jax.components import costs
from gaia_jax.components.common import Gain
from gaia_jax.render import colours, icons
from gaia_jax.render.names import SPECIALS, SPECIALS_SHORT
from gaia_jax.render.research import GREEN_TOKEN, GREY_TOKEN
from gaia_jax.render.shapes import box, circle, group, label, run, seat_disc
from gaia_jax.render.table import SeatView, Table
from gaia_jax.state import GAIA_AREA

WIDTH, HEIGHT = 314.0, 296.0
_CHIPS_TOP = 164.0
_PIECES = (
    ("MINE", "m"),
    ("TS", "ts"),
    ("RL", "rl"),
    ("PI", "pi"),
    ("AC_A", "ac"),
    ("AC_B", "ac"),
)


def frame(seat: SeatView) -> str:
    """What never changes of a board."""
    fill, _ = colours.faction(seat.faction.start_planet)
    out = box(0, 0, WIDTH, HEIGHT, colours.PANEL, "#9aa3b8", 8, 1)
    out += f'<path d="M8 0H{WIDTH - 8}A8 8 0 0 1 {WIDTH} 8V32H0V8A8 8 0 0 1 8 0Z" fill="{fill}"/>'
    out += seat_disc(20, 16, 11, seat.player, seat.faction.start_planet)
    ink = colours.faction(seat.faction.start_planet)[1]
    return out + label(38, 21.5, seat.faction.name, 15, ink, bold=True, room=150)


def parts(table: Table, seat: SeatView) -> dict[str, str]:
    """What changes of a board, by id."""
    p = seat.player
    return {
        f"seat-{p}-head": _head(table, seat),
        f"seat-{p}-stock": _stock(seat),
        f"seat-{p}-power": _power(seat),
        f"seat-{p}-pieces": _pieces(seat),
        f"seat-{p}-tiles": _tiles(table, seat),
    }


def _head(table: Table, seat: SeatView) -> str:
    ink = colours.faction(seat.faction.start_planet)[1]
    out = run(WIDTH - 10, 23, f"{seat.vp}{{v}}", 20, ink, "end", True)
    decides = table.player == seat.player and not table.over
    if decides:
        out += box(0, 0, WIDTH, HEIGHT, "none", colours.MARK, 8, 3.5)
    state = "decides" if decides else "passed" if seat.passed else ""
    if table.over and max(s.vp for s in table.seats) == seat.vp:
        state = "wins"
    out += label(WIDTH - 82, 21, state, 11, ink, "end")
    return group(out, f"vp-{seat.player}")


def _stock(seat: SeatView) -> str:
    out = ""
    for i, (name, key) in enumerate(
        (("credits", "c"), ("ore", "o"), ("knowledge", "k"), ("qic", "q"))
    ):
        x = 10 + i * 75
        body = run(x, 56, f"{{{key}}}", 17)
        value = getattr(seat, name)
        body += label(x + 24, 55.5, str(value), 17, bold=True)
        income = getattr(seat.income, name)
        body += label(x + 70, 55, f"+{income}", 10.5, "#2a6b35", "end") if income else ""
        out += group(body, f"{name}-{seat.player}", f"{value} {name}, income {income}")
    return out


def _power(seat: SeatView) -> str:
    out = ""
    names = ("I", "II", "III", "Gaia")
    counts = (*seat.power, seat.gaia_power)
    for i, (name, count) in enumerate(zip(names, counts, strict=True)):
        x, y = 27 + i * 49, 87
        gaia = i == GAIA_AREA
        fill = ("#e9dcf1", "#d9c2e6", "#bb8fd3", "#d3ecd6")[i]
        body = circle(x, y, 17.5, fill, "#2a6b35" if gaia else "#6b3a83", 1.3)
        stone = seat.brainstone == i
        body += label(x, y + 6.5, str(count), 15, anchor="middle", bold=True)
        body += label(x, y + 28, name, 9.5, colours.QUIET, "middle")
        if stone:
            body += group(
                f'<use href="#g-b" x="{x + 8}" y="{y - 20}" width="13" height="13"/>',
                f"brainstone-{seat.player}",
                "brainstone",
            )
        title = f"{count} power tokens in {'the Gaia area' if gaia else 'bowl ' + name}"
        out += group(body, f"bowl-{seat.player}-{i + 1}", title)
    income = seat.income
    rest = Gain(
        charge=income.charge, tokens=income.tokens, tokens_iii=income.tokens_iii, vp=income.vp
    )
    lines = [f"+{n}{key}" for n, key in _income(rest)]
    if lines:
        out += run(WIDTH - 10, 84, " ".join(lines[:2]), 10.5, "#2a6b35", "end", room=96)
        out += run(WIDTH - 10, 100, " ".join(lines[2:]), 10.5, "#2a6b35", "end", room=96)
    return out


def _income(gain: Gain[int]) -> list[tuple[int, str]]:
    keys = {"charge": "{p}", "tokens": "{t}", "tokens_iii": "{t}III", "vp": "{v}"}
    return [(n, keys[k]) for k, n in icons.amounts(gain).items()]


def _pieces(seat: SeatView) -> str:
    """Pieces on the map out of those that there are, gaiaformers, satellites, the green tokens."""
    out = ""
    rows = [(icon, seat.built[k], costs.PIECES[k], k) for k, icon in _PIECES]
    x = 8.0
    for icon, built, limit, kind in rows:
        text = f"{{{icon}}}{built}/{limit}" if limit > 1 else f"{{{icon}}}{built}"
        if kind in ("AC_A", "AC_B"):
            text = f"{{{icon}}}{'{k}' if kind == 'AC_A' else '{a}'}{built}"
        ink = colours.INK if built else "#6d7484"
        body = run(x, 133, text, 11, ink, bold=bool(built))
        out += group(body, f"built-{seat.player}-{kind}", f"{built} of {limit} built")
        x += {"MINE": 58, "TS": 50, "RL": 50, "PI": 38, "AC_A": 50, "AC_B": 50}[kind]
    owned = seat.gaiaformers + seat.gaiaformers_out + seat.gaiaformers_gaia
    rest = [f"{{g}}{seat.gaiaformers}/{owned}", f"{{x}}{seat.satellites}"]
    rest += [f"{{f}}{seat.green} green"] if sum(seat.tokens.values()) else []
    rest += [f"stations {seat.stations}"] if seat.faction.federation_grows else []
    rest += [f"rings {seat.rings}"] if seat.faction.special == "MOWEYDS_RING" else []
    rest += [f"guests {seat.guests}"] if seat.faction.guest_mines else []
    return out + run(8, 152, "   ".join(rest), 10.5, room=WIDTH - 16)


def _tiles(table: Table, seat: SeatView) -> str:
    owned = chips(table, seat)
    # As many columns as the chips need; four are the rule.
    columns = next(n for n in (4, 5, 6, 7, 8) if -(-len(owned) // n) <= 4 or n == 8)
    rows = max(4, -(-len(owned) // columns))
    width, height = (WIDTH - 12) / columns, (HEIGHT - _CHIPS_TOP - 6) / rows
    out = ""
    for i, (id, title, face, fill, state, action, _) in enumerate(owned):
        x, y = 6 + i % columns * width, _CHIPS_TOP + i // columns * height
        edge = "#8b93a7" if state != "turned" else "#c6cad4"
        ink = colours.INK if state == "" else "#7c8394"
        body = box(x, y, width - 3, height - 3, fill, edge, 4, 0.9)
        lines = [line for line in face if line]
        for k, line in enumerate(lines):
            base = y + (height - 3) / 2 + 3.4 + (k - (len(lines) - 1) / 2) * 12
            body += run(x + (width - 3) / 2, base, line, 9.4, ink, "middle", room=width - 9)
        if state:
            dash = "" if state == "used" else ' stroke-dasharray="3 3"'
            a, b = x + 2, y + height - 5
            body += (
                f'<path d="M{a:.1f} {b:.1f}L{x + width - 5:.1f} {y + 2:.1f}" stroke="#8a2b2b"'
                f' stroke-width="1.6"{dash}/>'
            )
            title += f", {state}"
        out += group(body, id, title, action)
    return out


class Chip(NamedTuple):
    """Something that a player owns."""

    id: str
    title: str  # in words
    face: tuple[str, ...]  # lines, in icons
    fill: str
    state: str  # "", "used" or "covered"
    action: str  # the action text that it stands for
    of: str  # the id of what is printed there


def chips(table: Table, seat: SeatView) -> list[Chip]:
    """All that a player owns."""
    return _actions(table, seat) + _technology(table, seat) + _treasures(table, seat)


def _actions(table: Table, seat: SeatView) -> list[Chip]:
    """The booster, the faction's action, the academy's."""
    r, p = table.ruleset, seat.player
    out: list[Chip] = []

    def used(id: str) -> str:
        return "used" if id in seat.used else ""

    for b in r.boosters:
        if b.id == seat.booster:
            face, words = icons.booster_face(b), f"booster: {icons.booster_words(b)}"
            action = f"special {b.id}" if b.special else ""
            out.append(Chip(f"held-{p}-{b.id}", words, face, "#fdf1dc", used(b.id), action, b.id))
    if seat.faction.special:
        works = not seat.faction.special_needs_pi or seat.built["PI"] > 0
        name = SPECIALS_SHORT[seat.faction.special]
        for t in r.tinkering_tiles:
            if t.id == seat.tinkering:
                name = icons.tinkering_face(t)
        words = f"the faction's action: {SPECIALS[seat.faction.special]}"
        if works:
            face = ("{a}", name)
            out.append(Chip(f"special-{p}", words, face, "#ffe3cf", used("FACTION"),
                            "special FACTION", seat.faction.id))  # fmt: skip
    if seat.built["AC_B"]:
        gain = "".join(
            f"{n}{_keys(k)}" for k, n in icons.amounts(seat.faction.academy_b_action).items()
        )
        face = ("{a}{ac}", gain)
        out.append(Chip(f"academy-{p}", "the academy's action", face, "#ffe3cf", used("AC_B"),
                        "special AC_B", "AC_B"))  # fmt: skip
    return out


def _technology(table: Table, seat: SeatView) -> list[Chip]:
    """Basic, ship and advanced tiles."""
    r, p = table.ruleset, seat.player
    out: list[Chip] = []

    def used(id: str) -> str:
        return "used" if id in seat.used else ""

    for tile in (*r.basic_tiles, *r.ship_tiles):
        if tile.id in seat.tiles:
            state = "covered" if tile.id in seat.covered else used(tile.id)
            action = f"special {tile.id}" if tile.special else f"tile {tile.id}"
            words = f"tech tile: {icons.tile_words(tile)}"
            out.append(Chip(f"tile-{p}-{tile.id}", words, icons.tile_face(tile), "#fffdf5", state,
                            action, tile.id))  # fmt: skip
    for tile in r.advanced_tiles:
        if tile.id in seat.advanced:
            action = f"special {tile.id}" if tile.special else ""
            words = f"advanced tile: {icons.tile_words(tile)}"
            out.append(Chip(f"tile-{p}-{tile.id}", words, icons.tile_face(tile), "#ffe9bd",
                            used(tile.id), action, tile.id))  # fmt: skip
    return out


def _treasures(table: Table, seat: SeatView) -> list[Chip]:
    """Federation tokens, artifacts, a tinkering tile that waits for the planetary institute."""
    r, p = table.ruleset, seat.player
    out: list[Chip] = []
    green = seat.green  # how many are not turned yet; which ones makes no difference (TEC-06)
    for token in (*r.base_tokens, r.gleens_token, *r.ship_tokens):
        count = seat.tokens.get(token.id, 0)
        for n in range(count):
            words = f"federation token: {icons.token_words(token)}"
            turned = token.green and not green
            words += ", turned" if turned else ""
            fill = GREEN_TOKEN if token.green and not turned else GREY_TOKEN
            green -= token.green and not turned
            face = ("{f}", icons.token_face(token))
            action = _token_action(table, token.id)
            out.append(Chip(f"token-{p}-{token.id}-{n}", words, face, fill, "", action, token.id))
    for a in r.artifacts:
        if a.id in seat.artifacts:
            words = f"artifact: {icons.artifact_words(a)}"
            face = icons.artifact_face(a)
            out.append(Chip(f"held-{p}-{a.id}", words, face, "#f7e3ee", "", "", a.id))
    for t in r.tinkering_tiles:
        if t.id == seat.tinkering and not seat.built["PI"]:
            words = f"tinkering tile: {icons.tinkering_words(t)}"
            face = ("{a}", icons.tinkering_face(t))
            out.append(Chip(f"held-{p}-{t.id}", words, face, "#ffe3cf", "", "", t.id))
    return out


def _token_action(table: Table, id: str) -> str:
    """The text that names a kind of token: a ship's is named by the ship."""
    for ship, (token, _) in table.ship_tokens.items():
        if token == id:
            return f"token {ship}"
    return f"token {id}"


def _keys(field: str) -> str:
    return {"credits": "{c}", "qic": "{q}", "ore": "{o}", "knowledge": "{k}"}[field]
