"""The pieces that no player has, which the picture and the panels of pages draw.

A face is a tuple of lines. In a line `{o}` is an icon, `{Red}` a planet, `{d2}` the disc of player
2, and any other name in braces is small text, such as `{III}`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from gaia_jax.components import research
from gaia_jax.components.common import Gain
from gaia_jax.components.tech_tiles import EXTRA_A_VP, EXTRA_B_SHIPS
from gaia_jax.render import icons
from gaia_jax.render.names import (
    MISSIONS,
    MISSIONS_SHORT,
    PLANETS,
    SHIPS,
    TRACK_NAMES,
    faction_name,
)
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import TEXTS, phrase


class Piece(NamedTuple):
    """Something on the table."""

    id: str  # of its element; each piece of a state has its own
    words: str  # for tooltips, screen readers and the help
    face: tuple[str, ...]  # its lines
    kind: str  # its class and colour
    of: str = ""  # the id of its help entry
    action: str = ""  # the action text that it represents
    state: str = ""  # "used", "covered", "now", "past", "none"

    @property
    def label(self) -> str:
        """Its words, with the state if it is used or covered."""
        if self.state not in ("used", "covered"):
            return self.words
        return phrase("name-and-state", name=self.words, state=phrase(self.state))


class Level(NamedTuple):
    """A level of a research track."""

    number: int
    brings: str  # a line
    token: str  # the face of a federation token
    discs: str  # a line


_NOUNS, _TRACKS_SHORT, _PHASES = TEXTS["piece"], TEXTS["track_short"], TEXTS["phase"]


def by_id(pieces: Iterable[Any], id: str) -> Any:
    """The piece with that id."""
    return next(piece for piece in pieces if piece.id == id)


def printed_piece(id: str, printed: Any, kind: str, action: str = "", state: str = "") -> Piece:
    """A piece with its print."""
    words, face = icons.text(printed)
    words = phrase("labelled", label=_NOUNS[kind.split()[0]], text=words)
    return Piece(id, words, face, kind, printed.id, action, state)


def discs(seats: Iterable[SeatView]) -> str:
    """The discs of players, as a line."""
    return "".join(f"{{d{seat.player}}}" for seat in seats)


def phase(table: Table) -> str:
    """`Round 3, income`."""
    name = phrase("final-score") if table.over else round_name(table.round)
    if table.phase in ("set-up", "actions", "over"):
        return name
    return phrase("name-and-state", name=name, state=_PHASES[table.phase.split()[0]])


def round_name(number: int) -> str:
    """`Round 3`; the set-up for 0."""
    return phrase("round", n=number) if number else phrase("set-up")


def state_words(state: str) -> str:
    """A state of `seat_state` in words."""
    return phrase(state) if state else ""


def seat_state(table: Table, seat: SeatView) -> str:
    """ "decides", "passed", "wins" or ""."""
    if table.over:
        return "wins" if max(s.vp for s in table.seats) == seat.vp else ""
    return "decides" if table.player == seat.player else "passed" if seat.passed else ""


def rounds(table: Table) -> list[Piece]:
    """The round tiles."""
    out = []
    for n, tile in enumerate(table.round_tiles, 1):
        state = "past" if table.round > n or table.over else "now" if table.round == n else ""
        short = icons.event(tile.event)[1]
        face = (f"{n}: {tile.vp}{{v}}", short)
        words = phrase("round-tile", n=n, text=icons.scored(tile.vp, tile.event))
        out.append(Piece(f"round-{n}", words, face, "round", tile.id, state=state))
    return out


def missions(table: Table) -> list[Piece]:
    """The final missions with what each player counts."""
    out = []
    for i, mission in enumerate(table.final_missions):
        line = "   ".join(f"{{d{seat.player}}}{seat.missions[i]}" for seat in table.seats)
        counts = [f"{faction_name(seat.faction)} {seat.missions[i]}" for seat in table.seats]
        if mission in table.ruleset.neutral_player:
            neutral = table.ruleset.neutral_player[mission]
            line += f"   {phrase('neutral', n=neutral)}"
            counts.append(phrase("neutral-player", n=neutral))
        name, short = MISSIONS[mission], MISSIONS_SHORT[mission]
        words = phrase("final-mission", name=name, counts=", ".join(counts))
        out.append(Piece(f"mission-{i}", words, (short, line), "mission", mission))
    return out


def track(table: Table, t: int) -> tuple[Piece, list[Level]]:
    """A research track and its levels, the highest first."""
    id, levels = research.TRACKS[t], []
    for level in range(research.MAX_LEVEL, -1, -1):
        seats = [seat for seat in table.seats if seat.tracks[t] == level]
        token = ""
        if (t, level) == (0, research.MAX_LEVEL) and table.track_token:
            token = icons.text(by_id(table.ruleset.base_tokens, table.track_token)).face[0]
        levels.append(Level(level, _level_text(table, id, level), token, discs(seats)))
    name = TRACK_NAMES[id]
    places = (f"{faction_name(seat.faction)} {seat.tracks[t]}" for seat in table.seats)
    face = (_TRACKS_SHORT.get(id, name),)
    words = phrase("labelled", label=name, text=", ".join(places))
    return Piece(f"track-{id}", words, face, f"track {id}", id, f"advance {id}"), levels


def _level_text(table: Table, track: str, level: int) -> str:
    """The bonus of a level and its lasting effect."""
    bonus = icons.icons(research.LEVEL_BONUS[research.TRACKS.index(track)][level])
    income: Gain[int] = Gain()
    lasting = ""
    if track == "terraforming":
        lasting = phrase("step-price-short", n=research.ORE_PER_STEP[level])
    if track == "navigation":
        planet = f" {PLANETS['Lost']}" if level == research.MAX_LEVEL else ""
        lasting = phrase("range", n=research.NAVIGATION_RANGE[level]) + planet
    if track == "gaia" and level:
        lasting = f"{research.PROJECT_COST[level]}{{t}}"
        lasting = (
            f"1{{v}}/{TEXTS['count']['gaia_planets']['short']}"
            if level == research.MAX_LEVEL
            else lasting
        )
    if track == "economy":
        income = table.ruleset.economy_income[int(table.setup.economy_side)][level] or income
    if track == "science":
        income = research.SCIENCE_INCOME[level] or income
    if icons.amounts(income):
        lasting, bonus = f"{{i}}{icons.icons(income)}", ""
    return f"{bonus} {lasting}".strip()


def basic_tile(table: Table, id: str) -> Piece:
    """A tech tile on the research board."""
    return printed_piece(f"basic-{id}", by_id(table.ruleset.basic_tiles, id), "tile", f"tile {id}")


def advanced_tile(table: Table, slot: str) -> Piece | None:
    """The advanced tile of a slot, None if it is taken."""
    id, is_available = table.advanced_tiles[slot]
    tile = by_id(table.ruleset.advanced_tiles, id)
    if not is_available:
        return None
    return printed_piece(f"advanced-{slot}", tile, "advanced", f"advanced {slot}")


def extra_condition(table: Table) -> str:
    """The requirement of the extra advanced tile, as a line."""
    condition = table.ruleset.extra_conditions[int(table.setup.extra_condition)]
    return f"{EXTRA_A_VP}{{v}}" if condition == "A" else phrase("ships-short", n=EXTRA_B_SHIPS)


def actions(table: Table, verb: str) -> list[Piece]:
    """Power or QIC actions: `verb` is "power" or "qic"."""
    if verb == "power":
        return [_action(a, verb, a.id in table.power_used) for a in table.ruleset.power_actions]
    return [_action(a, verb, a.id in table.ship_used) for a in table.ruleset.qic_actions]


def _action(action: Any, verb: str, is_used: bool) -> Piece:
    id, state = action.id, "used" if is_used else ""
    return printed_piece(f"action-{id}", action, verb, f"{verb} {id}", state)


def ship(table: Table, ship: str) -> list[Piece]:
    """A ship's head, actions, federation token and tech tile."""
    r, name = table.ruleset, SHIPS[ship]
    crew = [seat for seat in table.seats if ship in seat.shuttles]
    words = phrase("shuttle-to", ship=name)
    if crew:
        crew_names = ", ".join(faction_name(seat.faction) for seat in crew)
        words += phrase("shuttles-of", names=crew_names)
    face = (name, discs(crew))
    out = [Piece(f"sheet-{ship}", words, face, "ship-head", ship, f"explore {ship}")]
    actions = [action for action in r.ship_actions if action.ship == ship]
    out += [_action(action, "ship", action.id in table.ship_used) for action in actions]
    id, is_available = table.ship_tokens[ship]
    if is_available:
        token = by_id(r.ship_tokens, id)
        piece = printed_piece(f"ship-token-{ship}", token, _token_kind(token), f"token {ship}")
        out.append(piece._replace(face=("{f}" + piece.face[0],)))
    if ship in table.ship_tiles:
        tile = by_id(r.ship_tiles, table.ship_tiles[ship])
        piece = printed_piece(f"basic-{tile.id}", tile, "tile", f"tile {tile.id}")
        out.append(piece._replace(face=(" ".join(piece.face),)))
    return out


def artifacts(table: Table) -> list[Piece]:
    """The artifacts that are left."""
    return [
        printed_piece(f"artifact-{place}", by_id(table.ruleset.artifacts, id), "artifact",
               f"artifact {place}")
        for place, (id, is_available) in enumerate(table.artifacts, 1)
        if is_available
    ]  # fmt: skip


def boosters(table: Table) -> list[Piece]:
    """The boosters that no player has."""
    free = [id for id, holder in table.boosters.items() if holder < 0]
    printed = [by_id(table.ruleset.boosters, id) for id in free]
    return [printed_piece(f"booster-{b.id}", b, "booster", f"booster {b.id}") for b in printed]


def _token_kind(token: Any) -> str:
    return "token green" if token.green else "token"


def tokens(table: Table) -> list[Piece]:
    """The supply of federation tokens."""
    out = []
    for token in table.ruleset.base_tokens:
        left, kind = table.token_supply[token.id], _token_kind(token)
        state = "" if left else "used"
        piece = printed_piece(f"supply-{token.id}", token, kind, f"token {token.id}", state)
        words, face = phrase("left-of", text=piece.words, n=left), (*piece.face, f"x{left}")
        out.append(piece._replace(words=words, face=face))
    return out
