"""The pieces on the table, which the picture and the panels of pages draw.

A face is a tuple of lines. In a line `{o}` is an icon, `{Red}` a planet, `{d2}` the disc of player
2, and any other name in braces is small text, such as `{III}`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, NamedTuple

from gaia_jax.components import costs, research
from gaia_jax.components.common import RESOURCES, Gain
from gaia_jax.components.tech_tiles import EXTRA_A_VP, EXTRA_B_SHIPS
from gaia_jax.render import icons
from gaia_jax.render.automa_words import LEVEL_NAMES, card_words
from gaia_jax.render.names import (
    MISSIONS,
    MISSIONS_SHORT,
    PLANETS,
    SHIPS,
    SPECIALS,
    STRUCTURES,
    TRACK_NAMES,
    faction_name,
)
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import TEXTS, say


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
        return say("name-and-state", name=self.words, state=say(self.state))


class Level(NamedTuple):
    """A level of a research track."""

    number: int
    brings: str  # a line
    token: str  # the face of a federation token
    discs: str  # a line


_NOUNS, _TRACKS_SHORT, _PHASES = TEXTS["piece"], TEXTS["track_short"], TEXTS["phase"]
BOWL_PLACES = TEXTS["bowl_place"]


def _by_id(pieces: Iterable[Any], id: str) -> Any:
    return next(piece for piece in pieces if piece.id == id)


def _piece(id: str, printed: Any, kind: str, action: str = "", state: str = "") -> Piece:
    """A piece with its print."""
    words, face = icons.text(printed)
    words = say("labelled", label=_NOUNS[kind.split()[0]], text=words)
    return Piece(id, words, face, kind, printed.id, action, state)


def discs(seats: Iterable[SeatView]) -> str:
    """The discs of players, as a line."""
    return "".join(f"{{d{seat.player}}}" for seat in seats)


def phase(table: Table) -> str:
    """`Round 3, income`."""
    name = say("final-score") if table.over else round_name(table.round)
    if table.phase in ("set-up", "actions", "over"):
        return name
    return say("name-and-state", name=name, state=_PHASES[table.phase.split()[0]])


def round_name(number: int) -> str:
    """`Round 3`; the set-up for 0."""
    return say("round", n=number) if number else say("set-up")


def state_words(state: str) -> str:
    """A state of `seat_state` in words."""
    return say(state) if state else ""


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
        words = say("round-tile", n=n, text=icons.scored(tile.vp, tile.event))
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
            line += f"   {say('neutral', n=neutral)}"
            counts.append(say("neutral-player", n=neutral))
        name, short = MISSIONS[mission], MISSIONS_SHORT[mission]
        words = say("final-mission", name=name, counts=", ".join(counts))
        out.append(Piece(f"mission-{i}", words, (short, line), "mission", mission))
    return out


def track(table: Table, t: int) -> tuple[Piece, list[Level]]:
    """A research track and its levels, the highest first."""
    id, levels = research.TRACKS[t], []
    for level in range(research.MAX_LEVEL, -1, -1):
        seats = [seat for seat in table.seats if seat.tracks[t] == level]
        token = ""
        if (t, level) == (0, research.MAX_LEVEL) and table.track_token:
            token = icons.text(_by_id(table.ruleset.base_tokens, table.track_token)).face[0]
        levels.append(Level(level, _level_text(table, id, level), token, discs(seats)))
    name = TRACK_NAMES[id]
    places = (f"{faction_name(seat.faction)} {seat.tracks[t]}" for seat in table.seats)
    face = (_TRACKS_SHORT.get(id, name),)
    words = say("labelled", label=name, text=", ".join(places))
    return Piece(f"track-{id}", words, face, f"track {id}", id, f"advance {id}"), levels


def _level_text(table: Table, track: str, level: int) -> str:
    """The bonus of a level and its lasting effect."""
    bonus = icons.icons(research.LEVEL_BONUS[research.TRACKS.index(track)][level])
    income: Gain[int] = Gain()
    lasting = ""
    if track == "terraforming":
        lasting = say("step-price-short", n=research.ORE_PER_STEP[level])
    if track == "navigation":
        planet = f" {PLANETS['Lost']}" if level == research.MAX_LEVEL else ""
        lasting = say("range", n=research.NAVIGATION_RANGE[level]) + planet
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
    return _piece(f"basic-{id}", _by_id(table.ruleset.basic_tiles, id), "tile", f"tile {id}")


def advanced_tile(table: Table, slot: str) -> Piece | None:
    """The advanced tile of a slot, None if it is taken."""
    id, is_available = table.advanced_tiles[slot]
    tile = _by_id(table.ruleset.advanced_tiles, id)
    if not is_available:
        return None
    return _piece(f"advanced-{slot}", tile, "advanced", f"advanced {slot}")


def extra_condition(table: Table) -> str:
    """The requirement of the extra advanced tile, as a line."""
    condition = table.ruleset.extra_conditions[int(table.setup.extra_condition)]
    return f"{EXTRA_A_VP}{{v}}" if condition == "A" else say("ships-short", n=EXTRA_B_SHIPS)


def actions(table: Table, verb: str) -> list[Piece]:
    """Power or QIC actions: `verb` is "power" or "qic"."""
    if verb == "power":
        return [_action(a, verb, a.id in table.power_used) for a in table.ruleset.power_actions]
    return [_action(a, verb, a.id in table.ship_used) for a in table.ruleset.qic_actions]


def _action(action: Any, verb: str, is_used: bool) -> Piece:
    id, state = action.id, "used" if is_used else ""
    return _piece(f"action-{id}", action, verb, f"{verb} {id}", state)


def ship(table: Table, ship: str) -> list[Piece]:
    """A ship's head, actions, federation token and tech tile."""
    r, name = table.ruleset, SHIPS[ship]
    crew = [seat for seat in table.seats if ship in seat.shuttles]
    words = say("shuttle-to", ship=name)
    if crew:
        crew_names = ", ".join(faction_name(seat.faction) for seat in crew)
        words += say("shuttles-of", names=crew_names)
    face = (name, discs(crew))
    out = [Piece(f"sheet-{ship}", words, face, "ship-head", ship, f"explore {ship}")]
    actions = [action for action in r.ship_actions if action.ship == ship]
    out += [_action(action, "ship", action.id in table.ship_used) for action in actions]
    id, is_available = table.ship_tokens[ship]
    if is_available:
        token = _by_id(r.ship_tokens, id)
        piece = _piece(f"ship-token-{ship}", token, _token_kind(token), f"token {ship}")
        out.append(piece._replace(face=("{f}" + piece.face[0],)))
    if ship in table.ship_tiles:
        tile = _by_id(r.ship_tiles, table.ship_tiles[ship])
        piece = _piece(f"basic-{tile.id}", tile, "tile", f"tile {tile.id}")
        out.append(piece._replace(face=(" ".join(piece.face),)))
    return out


def artifacts(table: Table) -> list[Piece]:
    """The artifacts that are left."""
    return [
        _piece(f"artifact-{place}", _by_id(table.ruleset.artifacts, id), "artifact",
               f"artifact {place}")
        for place, (id, is_available) in enumerate(table.artifacts, 1)
        if is_available
    ]  # fmt: skip


def boosters(table: Table) -> list[Piece]:
    """The boosters that no player has."""
    free = [id for id, holder in table.boosters.items() if holder < 0]
    printed = [_by_id(table.ruleset.boosters, id) for id in free]
    return [_piece(f"booster-{b.id}", b, "booster", f"booster {b.id}") for b in printed]


def _token_kind(token: Any) -> str:
    return "token green" if token.green else "token"


def tokens(table: Table) -> list[Piece]:
    """The supply of federation tokens."""
    out = []
    for token in table.ruleset.base_tokens:
        left, kind = table.token_supply[token.id], _token_kind(token)
        state = "" if left else "used"
        piece = _piece(f"supply-{token.id}", token, kind, f"token {token.id}", state)
        words, face = say("left-of", text=piece.words, n=left), (*piece.face, f"x{left}")
        out.append(piece._replace(words=words, face=face))
    return out


def stock(table: Table, seat: SeatView) -> list[Piece]:
    """Credits, ore, knowledge and QIC with their income, and the power bowls; not of the Automa."""
    if table.is_automa(seat.player):
        return []
    out, p = [], seat.player
    for name in RESOURCES:
        value, income = getattr(seat, name), getattr(seat.income, name)
        unit = TEXTS["amount"][name]["one" if value == 1 else "several"]
        words = say("amount", n=value, unit=unit)
        words += say("more-a-round", n=income) if income else ""
        face = (f"{icons.icons(Gain(**{name: 1}))[1:]}{value}", f"+{income}" if income else "")
        out.append(Piece(f"{name}-{p}", words, face, "resource", name))
    lines, places = [], []
    counts = (*seat.power, seat.gaia_power)
    for i, (name, count) in enumerate(zip(("I", "II", "III", "G"), counts, strict=True)):
        lines.append(f"{{{name}}}{count}" + "{b}" * (seat.brainstone == i))
        places.append(say("tokens-in", n=count, place=BOWL_PLACES[name]))
    if seat.brainstone >= 0:
        places.append(say("brainstone-in", place=brainstone_place(seat)))
    words = say("power-tokens", text=", ".join(places))
    return [*out, Piece(f"bowls-{p}", words, tuple(lines), "bowls", "power")]


def brainstone_place(seat: SeatView) -> str:
    """The bowl or area of the brainstone; "" without one."""
    bowl = ("I", "II", "III", "G")[seat.brainstone] if seat.brainstone >= 0 else ""
    return BOWL_PLACES[bowl] if bowl else ""


_BUILT = {
    "MINE": "{m}", "TS": "{ts}", "RL": "{rl}", "PI": "{pi}", "AC_A": "{ac}{k}", "AC_B": "{ac}{a}",
}  # fmt: skip


def built(seat: SeatView) -> list[Piece]:
    """The structures on the map, of their total number."""
    out = []
    for kind, icon in _BUILT.items():
        n, limit = seat.built[kind], costs.PIECES[kind]
        words = say("built-of", structure=STRUCTURES[kind], n=n, limit=limit)
        face = (f"{icon}{n}/{limit}" if limit > 1 else f"{icon}{n}",)
        id, of = f"built-{seat.player}-{kind}", f"{kind} {seat.faction.id}"
        out.append(Piece(id, words, face, "count", of, state="" if n else "none"))
    return out


def facts(table: Table, seat: SeatView) -> list[Piece]:
    """Range, prices of terraforming and Gaia projects, counts, other income, settled planets."""
    level = dict(zip(research.TRACKS, seat.tracks, strict=True))
    reach = research.NAVIGATION_RANGE[level["navigation"]]
    step = research.ORE_PER_STEP[level["terraforming"]]
    rows = [  # fmt: skip
        ("range", say("range", n=reach), say("range", n=reach), "navigation"),
        (
            "step",
            say("step-price-short", n=step),
            say("terraforming-costs", n=step),
            "terraforming",
        ),
    ]
    if table.is_automa(seat.player):
        rows = []
    owned = seat.gaiaformers + seat.gaiaformers_out + seat.gaiaformers_gaia
    if owned:
        cost = research.PROJECT_COST[level["gaia"]]
        words = say("gaiaformers-free", n=seat.gaiaformers, owned=owned, cost=cost)
        rows.append(("former", f"{{g}}{seat.gaiaformers}/{owned} {cost}{{t}}", words, "gaia"))
    counts = (
        ("satellites", "{x}"), ("green", "{f}"), ("stations", ""), ("rings", ""), ("guests", "")
    )  # fmt: skip
    for id, symbol in counts:
        if n := getattr(seat, id):
            nouns = TEXTS["owned"][id]
            line = f"{symbol or nouns['short'] + ' '}{n}"
            rows.append((id, line, say("amount", n=n, unit=nouns["several"]), id))
    income = Gain(**{k: v for k, v in asdict(seat.income).items() if k not in RESOURCES})
    if icons.amounts(income):
        parts = [icons.icons(Gain(**{k: n})) for k, n in icons.amounts(income).items()]
        line = " ".join(f"+{part}" for part in parts)
        rows.append(("income", line, say("income", text=icons.words(income)), "power"))
    tracks = ", ".join(f"{TRACK_NAMES[t]} {n}" for t, n in level.items())
    line = f"{{r}}{'/'.join(map(str, seat.tracks))}"
    rows.append(("tracks", line, say("labelled", label=say("research"), text=tracks), ""))
    settled = {k: n for k, n in seat.colonized.items() if n and k not in ("Empty", "Ship")}
    if settled:
        line = "".join(f"{{{k}}}{n if n > 1 else ''}" for k, n in settled.items())
        words = ", ".join(say("amount", n=n, unit=PLANETS[k]) for k, n in settled.items())
        rows.append(("planets", line, say("settled", text=words), seat.faction.id))
    p = seat.player
    return [Piece(f"fact-{p}-{id}", words, (line,), "count", of) for id, line, words, of in rows]


def owned(table: Table, seat: SeatView) -> list[Piece]:
    """The pieces of a player: actions, tiles, tokens, artifacts; the cards of the Automa."""
    r, p = table.ruleset, seat.player
    out = _automa(table, seat) if table.is_automa(p) else _actions(table, seat)
    for tile in (*r.basic_tiles, *r.ship_tiles, *r.advanced_tiles):
        if tile.id in seat.tiles or tile.id in seat.advanced:
            kind = "advanced" if tile.id in seat.advanced else "tile"
            action = f"tile {tile.id}" if kind == "tile" else ""
            action = f"special {tile.id}" if tile.special else action
            state = "covered" if tile.id in seat.covered else _used(seat, tile.id)
            out.append(_piece(f"tile-{p}-{tile.id}", tile, kind, action, state))
    out += _tokens(table, seat)
    artifacts = (a for a in r.artifacts if a.id in seat.artifacts)
    out += [_piece(f"held-{p}-{a.id}", a, "artifact") for a in artifacts]
    if seat.tinkering and not seat.built["PI"]:
        tile = _by_id(r.tinkering_tiles, seat.tinkering)
        piece = _piece(f"held-{p}-{tile.id}", tile, "special")
        out.append(piece._replace(face=("{a}", *piece.face)))
    return out


def _used(seat: SeatView, id: str) -> str:
    return "used" if id in seat.used else ""


def _actions(table: Table, seat: SeatView) -> list[Piece]:
    """The booster, the faction's action, the academy's."""
    r, p, faction = table.ruleset, seat.player, seat.faction
    out = []
    if seat.booster:
        booster = _by_id(r.boosters, seat.booster)
        action = f"special {booster.id}" if booster.special else ""
        state = _used(seat, booster.id)
        out.append(_piece(f"held-{p}-{booster.id}", booster, "booster", action, state))
    if faction.special and (seat.built["PI"] or not faction.special_needs_pi):
        special = SPECIALS[faction.special]
        line = special["face"]
        if seat.tinkering:
            line = icons.text(_by_id(r.tinkering_tiles, seat.tinkering)).face[0]
        words = say("labelled", label=say("faction-action"), text=special["name"])
        face = ("{a}", line)
        out.append(Piece(f"special-{p}", words, face, "special", faction.id, "special FACTION",
                         _used(seat, "FACTION")))  # fmt: skip
    if seat.built["AC_B"]:
        face = ("{a}{ac}", icons.icons(faction.academy_b_action))
        out.append(Piece(f"academy-{p}", say("academy-action"), face, "special", "AC_B",
                         "special AC_B", _used(seat, "AC_B")))  # fmt: skip
    return out


def _automa(table: Table, seat: SeatView) -> list[Piece]:
    """The level, the booster, this round's turned cards and the number of those left."""
    cards, left = table.automa_cards
    name = LEVEL_NAMES[table.automa_level]
    out = [Piece("automa-level", say("automa-level", name=name), (name,), "special", "automa")]
    if seat.booster:
        booster = _by_id(table.ruleset.boosters, seat.booster)
        out.append(_piece(f"held-{seat.player}-{booster.id}", booster, "booster"))
    for card in cards:
        is_last = card is cards[-1]
        words = card_words(card) + say("supports-next") * is_last
        face = (say("card", n=card.number), say("supports") if is_last else "")
        state = "" if is_last else "used"
        out.append(Piece(f"card-{card.number}", words, face, "special", "automa", state=state))
    words, line = say("cards-left-in-round", n=left), say("left-short", n=left)
    return [*out, Piece("cards-left", words, (line,), "special", "automa")]


def _tokens(table: Table, seat: SeatView) -> list[Piece]:
    """Federation tokens, of which those that can still be turned are green (TEC-06)."""
    r, out, green = table.ruleset, [], seat.green
    ships = {token: ship for ship, (token, _) in table.ship_tokens.items()}
    for token in (*r.base_tokens, r.gleens_token, *r.ship_tokens):
        for n in range(seat.tokens.get(token.id, 0)):
            is_green = token.green and green > 0
            green -= is_green
            kind = "token green" if is_green else "token"
            action = f"token {ships.get(token.id, token.id)}"
            piece = _piece(f"token-{seat.player}-{token.id}-{n}", token, kind, action)
            words = piece.words + say("turned") * (token.green and not is_green)
            out.append(piece._replace(words=words, face=("{f}", *piece.face)))
    return out
