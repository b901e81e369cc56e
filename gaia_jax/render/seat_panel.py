"""One player for a page: a line of numbers, and the board below it."""

from __future__ import annotations

from dataclasses import asdict
from html import escape

from gaia_jax.components import costs, research
from gaia_jax.components.common import Gain
from gaia_jax.render.html import disc, face, icon, piece, planet, pressed
from gaia_jax.render.icons import ICONS, amounts, words
from gaia_jax.render.names import PLANETS, STRUCTURES, TRACK_NAMES
from gaia_jax.render.player_boards import chips
from gaia_jax.render.table import BRAINSTONE_PLACES, SeatView, Table

_KINDS = {
    "#fdf1dc": "booster",
    "#ffe3cf": "special",
    "#fffdf5": "tile",
    "#ffe9bd": "advanced",
    "#f7e3ee": "artifact",
    "#cfe8d2": "token green",
}
_STOCK = (("credits", "c"), ("ore", "o"), ("knowledge", "k"), ("qic", "q"))
_BUILT = (
    ("MINE", "{m}"),
    ("TS", "{ts}"),
    ("RL", "{rl}"),
    ("PI", "{pi}"),
    ("AC_A", "{ac}{k}"),
    ("AC_B", "{ac}{a}"),
)


def parts(table: Table, seat: SeatView) -> dict[str, str]:
    """The line of a player and the rest of the board, by id."""
    p = seat.player
    return {f"seat-{p}-line": _line(table, seat), f"seat-{p}-rest": _rest(table, seat)}


def _line(table: Table, seat: SeatView) -> str:
    p = seat.player
    state = "passed" if seat.passed else ""
    state = "decides" if table.player == p and not table.over else state
    if table.over:
        state = "wins" if max(s.vp for s in table.seats) == seat.vp else ""
    name = f'<span class="who">{disc(p, seat.faction.name)}<b>{escape(seat.faction.name)}</b>'
    name += f' <em class="{state}">{state}</em></span>' if state else "</span>"
    vp = f'<b class="vp" id="vp-{p}"><span>{seat.vp}</span>{icon("v")}</b>'
    return f'{name}{vp}<span class="stock">{_stock(table, seat)}{_power(seat)}</span>'


def _stock(table: Table, seat: SeatView) -> str:
    out = ""
    for name, key in _STOCK:
        value, income = getattr(seat, name), getattr(seat.income, name)
        income_html = f"<small>+{income}</small>" if income and table.has_income else ""
        label = f"{value} {'QIC' if name == 'qic' else name}"
        label += f", {income} more a round" if income_html else ""
        body = f"{icon(key)}{value}{income_html}"
        out += pressed(f"{name}-{seat.player}", label, body, "n", name)
    return out


def _power(seat: SeatView) -> str:
    """The three bowls and the Gaia area, the brainstone where it lies."""
    out, labels = "", []
    for i, (name, count) in enumerate(
        zip(("I", "II", "III", "G"), (*seat.power, seat.gaia_power), strict=True)
    ):
        stone = icon("b") if seat.brainstone == i else ""
        out += f'<span class="bowl b{i}"><small>{name}</small>{count}{stone}</span>'
        labels.append(f"{count} in {'the Gaia area' if name == 'G' else f'bowl {name}'}")
    if seat.brainstone in BRAINSTONE_PLACES:
        labels.append(f"brainstone in {BRAINSTONE_PLACES[seat.brainstone]}")
    text = f"power tokens: {', '.join(labels)}"
    return pressed(f"bowls-{seat.player}", text, out, "bowls", "power")


def _rest(table: Table, seat: SeatView) -> str:
    owned = "".join(
        piece(
            c.id,
            c.title,
            c.face,
            _KINDS.get(c.fill, "token"),
            of=c.of,
            action=c.action,
            state=c.state,
        )  # fmt: skip
        for c in chips(table, seat)
    )
    return (
        f'<div class="row built">{_pieces(seat)}</div>'
        f'<div class="row facts">{_facts(table, seat)}</div>'
        f'<div class="row owned">{owned}</div>'
    )


def _pieces(seat: SeatView) -> str:
    """What is built out of what there is."""
    out, p = "", seat.player
    for kind, run in _BUILT:
        n, limit = seat.built[kind], costs.PIECES[kind]
        label = f"{STRUCTURES[kind]}: {n} of {limit} built"
        text = f"{run}{n}/{limit}" if limit > 1 else f"{run}{n}"
        state = "" if n else "none"
        out += pressed(
            f"built-{p}-{kind}", label, face(text), f"count {state}", f"{kind} {seat.faction.id}"
        )
    return out


def _facts(table: Table, seat: SeatView) -> str:
    """Reach, prices of terraforming and Gaia projects, counts, income beside the resources."""
    p, level = seat.player, dict(zip(research.TRACKS, seat.tracks, strict=True))
    reach = research.NAVIGATION_RANGE[level["navigation"]]
    step = research.ORE_PER_STEP[level["terraforming"]]
    rows = [
        ("range", f"range {reach}", f"range {reach}", "navigation"),
        ("step", f"step {step}{{o}}", f"a terraforming step costs {step} ore", "terraforming"),
    ]
    owned = seat.gaiaformers + seat.gaiaformers_out + seat.gaiaformers_gaia
    if owned:
        cost = research.PROJECT_COST[level["gaia"]]
        label = f"{seat.gaiaformers} of {owned} gaiaformers at hand, a project takes {cost} tokens"
        rows.append(("former", f"{{g}}{seat.gaiaformers}/{owned} {cost}{{t}}", label, "gaia"))
    counts = (
        ("satellites", seat.satellites, "{x}", "satellites"),
        ("green", seat.green, "{f}", "federation tokens with a green side"),
        ("stations", seat.stations, "stations ", "space stations"),
        ("rings", seat.rings, "rings ", "power rings"),
        ("guests", seat.guests, "guests ", "guest mines"),
    )
    rows += [(id, f"{run}{n}", f"{n} {label}", id) for id, n, run, label in counts if n]
    income = Gain(
        **{
            k: v
            for k, v in asdict(seat.income).items()
            if k not in ("credits", "ore", "knowledge", "qic")
        }
    )
    if amounts(income) and table.has_income:
        run = " ".join(f"+{n}{ICONS[k]}" for k, n in amounts(income).items())
        rows.append(("income", run, f"income: {words(income)}", "power"))
    tracks = ", ".join(f"{TRACK_NAMES[t]} {n}" for t, n in level.items())
    short = "/".join(str(n) for n in seat.tracks)
    rows.append(("tracks", f"{{r}}{short}", f"research: {tracks}", ""))
    out = "".join(
        pressed(f"fact-{p}-{id}", label, face(run), "count", of) for id, run, label, of in rows
    )
    return out + _planets(table, seat)


def _planets(table: Table, seat: SeatView) -> str:
    """The planet types that are settled."""
    counts = {
        k: n for k, n in seat.colonized.items() if n and k in PLANETS and k not in ("Empty", "Ship")
    }
    if not counts:
        return ""
    label = ", ".join(f"{n} {PLANETS[k]}" for k, n in counts.items())
    body = "".join(f"{planet(k)}{n if n > 1 else ''}" for k, n in counts.items())
    return pressed(
        f"fact-{seat.player}-planets", f"settled: {label}", body, "count", seat.faction.id
    )


__all__ = ["parts"]
