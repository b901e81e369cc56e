"""The table as plain text, for terminals."""

from __future__ import annotations

from typing import Any

from gaia_jax.render import seat_pieces
from gaia_jax.render.names import MISSIONS, SHIPS, names
from gaia_jax.render.picture import question
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import column
from gaia_jax.ruleset import Ruleset

_PLANETS, _PIECES = column("planet", "letter"), column("structure", "letter")
LEGEND = (
    "planets: R red, O orange, Y yellow, N brown, K black, W white, B blue, G Gaia, T transdim,"
    " P proto, A asteroids, L Lost; pieces: m mine, t trading station, l lab, i institute,"
    " a b academies, f gaiaformer, s station, * satellite, & guest; then the player"
)


def _cell(table: Table, c: int, ships: dict[int, str]) -> str:
    """At most four characters."""
    m = table.map
    if c in ships:
        return f"<{SHIPS[ships[c]][:2]}"
    out = _PLANETS[table.ids["planet"][m.planet[c]]]
    if m.structure[c]:
        out += _PIECES[table.ids["structure"][m.structure[c]]] + str(m.owner[c])
    elif m.gaiaformer[c] >= 0:
        out += f"f{m.gaiaformer[c]}"
    elif m.station[c]:
        out += "s"
    owners = "".join(str(p) for p in m.satellite[:, c].nonzero()[0])
    if owners:
        out = f"{out.strip('.')}*{owners}"
    return out + ("&" if m.guest[c] >= 0 else "")


def _map(table: Table) -> list[str]:
    ships = {cell: ship for ship, cell in table.ship_cells.items()}
    cells = table.ruleset.geometry.cells.astype(int)
    left = (2 * cells[:, 0] + cells[:, 1]).min()
    rows: dict[int, list[str]] = {}
    for c, (q, r) in enumerate(cells.tolist()):
        row = rows.setdefault(r, [])
        column = 2 * (2 * q + r - left)
        text = _cell(table, c, ships)[:5]
        row += [" "] * (column + len(text) - len(row))
        row[column : column + len(text)] = text
    return ["".join(rows[r]).rstrip() for r in sorted(rows, reverse=True)]


def _seat(table: Table, seat: SeatView) -> list[str]:
    plain = names(table.ruleset)
    levels = " ".join(f"{t[:3]} {n}" for t, n in zip(table.ids["track"], seat.tracks, strict=True))
    place = seat_pieces.brainstone_place(seat)
    stone = f", brainstone in {place}" if place else ""
    mark = ">" if seat.player == table.player and not table.over else " "
    passed = ", passed" if seat.passed else ""
    stock = (
        f"; credits {seat.credits}, ore {seat.ore}, knowledge {seat.knowledge}, QIC {seat.qic};"
        f" power {'/'.join(map(str, seat.power))}, Gaia {seat.gaia_power}{stone}"
    )
    if table.is_automa(seat.player):
        stock = ", the Automa"
    out = [f"{mark} {seat.player} {seat.faction.name}: {seat.vp} VP{passed}{stock}"]
    built = ", ".join(f"{n} {plain['structure'][k]}" for k, n in seat.built.items() if n)
    built = built or "nothing built"
    out.append(f"    {levels}; {built}; {seat.satellites} satellites")
    tiles = [piece.label for piece in seat_pieces.owned(table, seat)]
    tiles += [f"shuttle on {SHIPS[s]}" for s in seat.shuttles]
    return out + [f"    - {tile}" for tile in tiles]


def text(state: Any, ruleset: Ruleset | None = None) -> str:
    """The table in at most 120 columns of plain text.

    Args:
        state: one state of `gaia_jax.GaiaEnv`.
        ruleset: `env.ruleset`; None takes the one that the state names.
    Raises:
        ValueError: a batch of states, or one that names no ruleset of `gaia_jax.RULESETS`.
    """
    table = Table(state, ruleset)
    plain = names(table.ruleset)
    phase = f"round {table.round}, {table.phase}" if table.round else "set-up"
    out = [f"{table.ruleset.name}, {phase}. {question(table)}.", ""]
    out += [*_map(table), "", LEGEND, ""]
    for seat in table.seats:
        out += _seat(table, seat)
    tile = table.round_tiles[max(table.round, 1) - 1]
    out += ["", f"round tile: {plain['round_tile'][tile.id]}"]
    for i, mission in enumerate(table.final_missions):
        counts = ", ".join(f"{s.player}: {s.missions[i]}" for s in table.seats)
        if mission in table.ruleset.neutral_player:
            counts += f", neutral: {table.ruleset.neutral_player[mission]}"
        out.append(f"final mission: {MISSIONS[mission]} ({counts})")
    used = [plain["power_action"][a] for a in table.power_used]
    out += [f"used this round: {'; '.join(used)}"] if used else []
    return "\n".join(out) + "\n"
