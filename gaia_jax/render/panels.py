"""The table for a page: the map as a picture, all else as HTML that a browser lays out.

`frame` has what a page begins with, `parts` what a decision may change, by block and id.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from gaia_jax.components import research
from gaia_jax.components.tech_tiles import EXTRA_A_VP, EXTRA_B_SHIPS
from gaia_jax.render import board, colours, help, icons, picture, seat_panel
from gaia_jax.render.html import disc, face, part, piece, pressed, section
from gaia_jax.render.names import MISSIONS, SHIPS, TRACK_NAMES
from gaia_jax.render.research import SHORT, level_text
from gaia_jax.render.shapes import group
from gaia_jax.render.symbols import FONT, definitions
from gaia_jax.render.table import Table

# Where a narrow column may break a name.
_BROKEN = {
    "terraforming": "Terra&shy;forming",
    "navigation": "Navi&shy;gation",
    "economy": "Eco&shy;nomy",
}
Parts = dict[str, dict[str, str]]


def parts(table: Table, last: int | None = None) -> Parts:
    """What may change with a decision: by block, by id of the part.

    Args:
        table: the state.
        last: index of the action that led to it, to be marked.
    """
    out = {
        "head": {"head": _head(table), "order": _order(table)},
        "map": board.MapDrawing(table).parts(picture.last_mark(table, last)),
        "rounds": {"rounds": _rounds(table), "finals": _finals(table)},
        "research": _research(table),
        "actions": {"power": _power_actions(table)},
        "boosters": {"boosters": _boosters(table)},
        "tokens": {"tokens": _tokens(table)},
    }
    if table.ruleset.ships:
        out["actions"] |= {f"ship-{ship}": _ship(table, ship) for ship in table.ruleset.ships}
    for seat in table.seats:
        out[f"seat-{seat.player}"] = seat_panel.parts(table, seat)
    return out


def frame(table: Table, panel_parts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """What a page begins with.

    Args:
        table: of the same game; only what does not change is read.
        panel_parts: as `parts` gives it.
    Returns:
        `map`: an SVG; `blocks`: HTML by name; `colours`: fill and ink of each player;
        `help` by id and `rules`, as `gaia_jax.render.help` has them.
    """
    still = {"research": _still_research(table)}
    blocks = {
        name: still.get(name, "") + "".join(part(id, body) for id, body in fragments.items())
        for name, fragments in panel_parts.items()
        if name != "map"
    }
    inner = board.grid(table.ruleset)
    inner += "".join(group(body, f"part-{id}") for id, body in panel_parts["map"].items())
    w, h = board.WIDTH, board.HEIGHT
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="{FONT}"'
        f' role="group" aria-label="the map"><g id="block-map">{inner}</g></svg>'
    )
    fills = [list(colours.faction(seat.faction.start_planet)) for seat in table.seats]
    defs = f'<svg class="defs" aria-hidden="true">{definitions()}</svg>'
    return {
        "map": svg,
        "defs": defs,
        "blocks": blocks,
        "colours": fills,
        "help": help.pages(table.ruleset, (seat.faction for seat in table.seats)),
        "rules": help.rules_in_brief(table.ruleset),
    }


def _head(table: Table) -> str:
    phase = "Set-up" if not table.round else f"Round {table.round}"
    phase = "Final score" if table.over else phase
    if table.phase not in ("set-up", "actions", "over"):
        phase += f", {table.phase}"
    return f"<b>{escape(phase)}</b> <span>{escape(picture.asks(table))}</span>"


def _order(table: Table) -> str:
    """The turn order; who has passed is crossed out, who decides stands in a ring."""
    out = []
    for p in table.order:
        seat = table.seats[p]
        state = "passed" if seat.passed else ""
        state = "now" if p == table.player and not table.over else state
        words = (
            f"{seat.faction.name}{', ' if state else ''}{'decides' if state == 'now' else state}"
        )
        out.append(f'<span class="turn {state}">{disc(p, words)}</span>')
    return f'<span class="order" role="img" aria-label="turn order">{"".join(out)}</span>'


def _rounds(table: Table) -> str:
    out = []
    for i, tile in enumerate(table.round_tiles):
        state = "now" if table.round == i + 1 and not table.over else ""
        state = "past" if table.round > i + 1 or table.over else state
        words = f"round {i + 1}: {tile.vp} VP per {icons.EVENT_WORDS[tile.event][0]}"
        lines = (f"{i + 1}: {tile.vp}{{v}}", icons.EVENT_WORDS[tile.event][1])
        out.append(piece(f"round-{i + 1}", words, lines, f"round {state}", of=tile.id))
    return section("Rounds", f'<div class="row">{"".join(out)}</div>')


def _finals(table: Table) -> str:
    out = []
    for i, mission in enumerate(table.final_missions):
        body = f"<span>{escape(MISSIONS[mission][1])}</span><span>"
        counts = []
        for seat in table.seats:
            body += f"{disc(seat.player, seat.faction.name)}{seat.missions[i]} "
            counts.append(f"{seat.faction.name} {seat.missions[i]}")
        if mission in table.ruleset.neutral_player:
            neutral = table.ruleset.neutral_player[mission]
            body += f"neutral {neutral}"
            counts.append(f"the neutral player {neutral}")
        words = f"final mission: {MISSIONS[mission][0]}: {', '.join(counts)}"
        out.append(pressed(f"mission-{i}", words, body + "</span>", "mission", mission))
    return section("Final missions, 18 12 6 VP", f'<div class="row">{"".join(out)}</div>')


def _still_research(table: Table) -> str:
    """The three free tiles; they lie below the tracks."""
    tiles = "".join(_basic(table, id) for id in table.basic_tiles[len(research.TRACKS) :])
    return f'<div class="row free-tiles">{tiles}</div>'


def _basic(table: Table, id: str) -> str:
    tile = next(t for t in table.ruleset.basic_tiles if t.id == id)
    words = f"tech tile: {icons.tile_words(tile)}"
    return piece(f"basic-{id}", words, icons.tile_face(tile), "tile", of=id, action=f"tile {id}")


def _advanced(table: Table, slot: str) -> str:
    id, is_available = table.advanced_tiles[slot]
    if not is_available:
        return '<div class="gap"></div>'
    tile = next(t for t in table.ruleset.advanced_tiles if t.id == id)
    words, action = f"advanced tile: {icons.tile_words(tile)}", f"advanced {slot}"
    return piece(f"advanced-{slot}", words, icons.tile_face(tile), "advanced", of=id, action=action)


def _research(table: Table) -> dict[str, str]:
    """A column for each track, and the extra tile."""
    out = {f"track-{track}": _track(table, t) for t, track in enumerate(research.TRACKS)}
    if table.ruleset.extra_conditions:
        condition = table.ruleset.extra_conditions[int(table.setup.extra_condition)]
        requirement = f"{EXTRA_A_VP}{{v}}" if condition == "A" else f"{EXTRA_B_SHIPS} ships"
        out["extra"] = (
            f"<span>extra tile with {face(requirement)}</span>{_advanced(table, 'extra')}"
        )
    return out


def _track(table: Table, t: int) -> str:
    track = research.TRACKS[t]
    rows, cells = [], []
    for level in range(research.MAX_LEVEL, -1, -1):
        seats = [seat for seat in table.seats if seat.tracks[t] == level]
        cells += [f"{seat.faction.name} {level}" for seat in seats]
        text = level_text(table, track, level)
        if (track, level) == ("navigation", research.MAX_LEVEL):
            text += " Lost Planet"
        discs = "".join(
            disc(seat.player, seat.faction.name, f"level-{seat.player}-{track}") for seat in seats
        )
        token = _track_token(table) if (t, level) == (0, research.MAX_LEVEL) else ""
        rows.append(
            f'<span class="level"><small>{level}</small><span>{face(text)}</span>'
            f"{token}<span>{discs}</span></span>"
        )
    name = TRACK_NAMES[track]
    body = f"<b>{_BROKEN.get(track) or escape(SHORT.get(track, name))}</b>{''.join(rows)}"
    words = f"{name}: {', '.join(cells)}"
    column = pressed(f"track-{track}", words, body, f"track {track}", track, f"advance {track}")
    return _advanced(table, track) + column + _basic(table, table.basic_tiles[t])


def _track_token(table: Table) -> str:
    if not table.track_token:
        return ""
    token = next(t for t in table.ruleset.base_tokens if t.id == table.track_token)
    return f'<span class="token-here" id="piece-track-token">{face(icons.token_face(token))}</span>'


def _power_actions(table: Table) -> str:
    r = table.ruleset
    rows: list[tuple[str, Any, tuple[str, ...]]] = [
        ("power", a, table.power_used) for a in r.power_actions
    ]
    rows += [("qic", a, table.ship_used) for a in r.qic_actions]
    out = {"power": "", "qic": ""}
    for verb, action, used in rows:
        state = "used" if action.id in used else ""
        words = f"{verb if verb == 'power' else 'QIC'} action: {icons.action_words(action)}"
        out[verb] += piece(f"action-{action.id}", words, icons.action_face(action), verb,
                           of=action.id, action=f"{verb} {action.id}", state=state)  # fmt: skip
    panel = section("Power actions", f'<div class="row">{out["power"]}</div>')
    if out["qic"]:
        panel += section("QIC actions", f'<div class="row">{out["qic"]}</div>')
    return panel


def _ship(table: Table, ship: str) -> str:
    r, name = table.ruleset, SHIPS[ship]
    aboard = [s for s in table.seats if ship in s.shuttles]
    discs = "".join(
        disc(s.player, f"shuttle of {s.faction.name}", f"shuttle-{s.player}-{ship}") for s in aboard
    )
    crew = ", ".join(s.faction.name for s in aboard)
    words = f"shuttle to the {name}{'; is_available: ' if crew else ''}{crew}"
    head = f"<b>{escape(name)}</b><span>{discs}</span>"
    body = pressed(f"sheet-{ship}", words, head, "ship-head", ship, f"explore {ship}")
    for action in (a for a in r.ship_actions if a.ship == ship):
        state = "used" if action.id in table.ship_used else ""
        words = f"ship action: {icons.action_words(action)}"
        body += piece(f"action-{action.id}", words, icons.action_face(action), "ship", of=action.id,
                      action=f"ship {action.id}", state=state)  # fmt: skip
    token_id, is_available = table.ship_tokens[ship]
    if is_available:
        token = next(t for t in r.ship_tokens if t.id == token_id)
        kind = "token green" if token.green else "token"
        words = f"federation token: {icons.token_words(token)}"
        body += piece(f"ship-token-{ship}", words, ("{f}" + icons.token_face(token),), kind,
                      of=token_id, action=f"token {ship}")  # fmt: skip
    if ship in table.ship_tiles:
        tile = next(t for t in r.ship_tiles if t.id == table.ship_tiles[ship])
        words, lines = f"tech tile: {icons.tile_words(tile)}", (" ".join(icons.tile_face(tile)),)
        body += piece(f"basic-{tile.id}", words, lines, "tile", of=tile.id,
                      action=f"tile {tile.id}")  # fmt: skip
    if ship == r.artifact_ship:
        body += f'<div class="artifacts">{_artifacts(table)}</div>'
    return body


def _artifacts(table: Table) -> str:
    out = ""
    for place, (id, is_available) in enumerate(table.artifacts):
        if is_available:
            artifact = next(a for a in table.ruleset.artifacts if a.id == id)
            words = f"artifact: {icons.artifact_words(artifact)}"
            out += piece(f"artifact-{place + 1}", words, icons.artifact_face(artifact), "artifact",
                         of=id, action=f"artifact {place + 1}")  # fmt: skip
    return out


def _boosters(table: Table) -> str:
    """The boosters that nobody has; the others lie with their players."""
    out = ""
    for id in (id for id, holder in table.boosters.items() if holder < 0):
        booster = next(b for b in table.ruleset.boosters if b.id == id)
        words = f"booster: {icons.booster_words(booster)}"
        out += piece(f"booster-{id}", words, icons.booster_face(booster), "booster", of=id,
                     action=f"booster {id}")  # fmt: skip
    return section("Boosters to take when passing", f'<div class="row">{out}</div>')


def _tokens(table: Table) -> str:
    out = ""
    for token in table.ruleset.base_tokens:
        left = table.token_supply[token.id]
        words = f"federation token: {icons.token_words(token)}; {left} left"
        kind = "token green" if token.green else "token"
        lines, state = (icons.token_face(token), f"x{left}"), "" if left else "used"
        out += piece(f"supply-{token.id}", words, lines, kind, of=token.id,
                     action=f"token {token.id}", state=state)  # fmt: skip
    return section("Federation tokens", f'<div class="row">{out}</div>')


__all__ = ["frame", "parts"]
