"""The pieces of one player, drawn like those of `gaia_jax.render.pieces`."""

from __future__ import annotations

from dataclasses import asdict

from gaia_jax.components import costs, research
from gaia_jax.components.common import RESOURCES, Gain
from gaia_jax.render import icons
from gaia_jax.render.automa_words import LEVEL_NAMES, card_words
from gaia_jax.render.names import PLANETS, SPECIALS, STRUCTURES, TRACK_NAMES
from gaia_jax.render.pieces import Piece, by_id, printed_piece
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import TEXTS, phrase

BOWL_PLACES = TEXTS["bowl_place"]


def stock(table: Table, seat: SeatView) -> list[Piece]:
    """Credits, ore, knowledge and QIC with their income, and the power bowls; not of the Automa."""
    if table.is_automa(seat.player):
        return []
    out, p = [], seat.player
    for name in RESOURCES:
        value, income = getattr(seat, name), getattr(seat.income, name)
        unit = TEXTS["amount"][name]["one" if value == 1 else "several"]
        words = phrase("amount", n=value, unit=unit)
        words += phrase("more-a-round", n=income) if income else ""
        face = (f"{icons.icons(Gain(**{name: 1}))[1:]}{value}", f"+{income}" if income else "")
        out.append(Piece(f"{name}-{p}", words, face, "resource", name))
    lines, places = [], []
    counts = (*seat.power, seat.gaia_power)
    for i, (name, count) in enumerate(zip(("I", "II", "III", "G"), counts, strict=True)):
        lines.append(f"{{{name}}}{count}" + "{b}" * (seat.brainstone == i))
        places.append(phrase("tokens-in", n=count, place=BOWL_PLACES[name]))
    if seat.brainstone >= 0:
        places.append(phrase("brainstone-in", place=brainstone_place(seat)))
    words = phrase("power-tokens", text=", ".join(places))
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
        words = phrase("built-of", structure=STRUCTURES[kind], n=n, limit=limit)
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
        ("range", phrase("range", n=reach), phrase("range", n=reach), "navigation"),
        (
            "step",
            phrase("step-price-short", n=step),
            phrase("terraforming-costs", n=step),
            "terraforming",
        ),
    ]
    if table.is_automa(seat.player):
        rows = []
    owned = seat.gaiaformers + seat.gaiaformers_out + seat.gaiaformers_gaia
    if owned:
        cost = research.PROJECT_COST[level["gaia"]]
        words = phrase("gaiaformers-free", n=seat.gaiaformers, owned=owned, cost=cost)
        rows.append(("former", f"{{g}}{seat.gaiaformers}/{owned} {cost}{{t}}", words, "gaia"))
    counts = (
        ("satellites", "{x}"), ("green", "{f}"), ("stations", ""), ("rings", ""), ("guests", "")
    )  # fmt: skip
    for id, symbol in counts:
        if n := getattr(seat, id):
            nouns = TEXTS["owned"][id]
            line = f"{symbol or nouns['short'] + ' '}{n}"
            rows.append((id, line, phrase("amount", n=n, unit=nouns["several"]), id))
    income = Gain(**{k: v for k, v in asdict(seat.income).items() if k not in RESOURCES})
    if icons.amounts(income):
        parts = [icons.icons(Gain(**{k: n})) for k, n in icons.amounts(income).items()]
        line = " ".join(f"+{part}" for part in parts)
        rows.append(("income", line, phrase("income", text=icons.words(income)), "power"))
    tracks = ", ".join(f"{TRACK_NAMES[t]} {n}" for t, n in level.items())
    line = f"{{r}}{'/'.join(map(str, seat.tracks))}"
    rows.append(("tracks", line, phrase("labelled", label=phrase("research"), text=tracks), ""))
    settled = {k: n for k, n in seat.colonized.items() if n and k not in ("Empty", "Ship")}
    if settled:
        line = "".join(f"{{{k}}}{n if n > 1 else ''}" for k, n in settled.items())
        words = ", ".join(phrase("amount", n=n, unit=PLANETS[k]) for k, n in settled.items())
        rows.append(("planets", line, phrase("settled", text=words), seat.faction.id))
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
            out.append(printed_piece(f"tile-{p}-{tile.id}", tile, kind, action, state))
    out += _tokens(table, seat)
    artifacts = (a for a in r.artifacts if a.id in seat.artifacts)
    out += [printed_piece(f"held-{p}-{a.id}", a, "artifact") for a in artifacts]
    if seat.tinkering and not seat.built["PI"]:
        tile = by_id(r.tinkering_tiles, seat.tinkering)
        piece = printed_piece(f"held-{p}-{tile.id}", tile, "special")
        out.append(piece._replace(face=("{a}", *piece.face)))
    return out


def _used(seat: SeatView, id: str) -> str:
    return "used" if id in seat.used else ""


def _actions(table: Table, seat: SeatView) -> list[Piece]:
    """The booster, the faction's action, the academy's."""
    r, p, faction = table.ruleset, seat.player, seat.faction
    out = []
    if seat.booster:
        booster = by_id(r.boosters, seat.booster)
        action = f"special {booster.id}" if booster.special else ""
        state = _used(seat, booster.id)
        out.append(printed_piece(f"held-{p}-{booster.id}", booster, "booster", action, state))
    if faction.special and (seat.built["PI"] or not faction.special_needs_pi):
        special = SPECIALS[faction.special]
        line = special["face"]
        if seat.tinkering:
            line = icons.text(by_id(r.tinkering_tiles, seat.tinkering)).face[0]
        words = phrase("labelled", label=phrase("faction-action"), text=special["name"])
        face = ("{a}", line)
        out.append(Piece(f"special-{p}", words, face, "special", faction.id, "special FACTION",
                         _used(seat, "FACTION")))  # fmt: skip
    if seat.built["AC_B"]:
        face = ("{a}{ac}", icons.icons(faction.academy_b_action))
        out.append(Piece(f"academy-{p}", phrase("academy-action"), face, "special", "AC_B",
                         "special AC_B", _used(seat, "AC_B")))  # fmt: skip
    return out


def _automa(table: Table, seat: SeatView) -> list[Piece]:
    """The level, the booster, this round's turned cards and the number of those left."""
    cards, left = table.automa_cards
    name = LEVEL_NAMES[table.automa_level]
    out = [Piece("automa-level", phrase("automa-level", name=name), (name,), "special", "automa")]
    if seat.booster:
        booster = by_id(table.ruleset.boosters, seat.booster)
        out.append(printed_piece(f"held-{seat.player}-{booster.id}", booster, "booster"))
    for card in cards:
        is_last = card is cards[-1]
        words = card_words(card) + phrase("supports-next") * is_last
        face = (phrase("card", n=card.number), phrase("supports") if is_last else "")
        state = "" if is_last else "used"
        out.append(Piece(f"card-{card.number}", words, face, "special", "automa", state=state))
    words, line = phrase("cards-left-in-round", n=left), phrase("left-short", n=left)
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
            piece = printed_piece(f"token-{seat.player}-{token.id}-{n}", token, kind, action)
            words = piece.words + phrase("turned") * (token.green and not is_green)
            out.append(piece._replace(words=words, face=("{f}", *piece.face)))
    return out
