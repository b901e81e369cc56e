"""The map with its planets, structures and other pieces."""

from __future__ import annotations

import functools
import math

from gaia_jax.render import colours
from gaia_jax.render.names import PLANETS, SHIPS, STRUCTURES, faction_name
from gaia_jax.render.shapes import box, circle, group, icon, number, numeral, polygon, run, use
from gaia_jax.render.table import Table
from gaia_jax.render.texts import phrase
from gaia_jax.ruleset import Ruleset

# Room for the map.
WIDTH, HEIGHT = 716, 716
_ROOT3 = math.sqrt(3)
# Corners of a cell of radius 1, and the direction (of `geometry.DIRECTIONS`) of the edge from each
# corner to the next: pointed tops, r growing upward.
_CORNERS = tuple(
    (math.cos(math.radians(60 * k - 90)), math.sin(math.radians(60 * k - 90))) for k in range(6)
)
_EDGES = (1, 0, 5, 4, 3, 2)


class Places:
    """The places of the cells of a ruleset's map in the picture."""

    def __init__(self, ruleset: Ruleset):
        cells = ruleset.geometry.cells.astype(float)
        x, y = _ROOT3 * (cells[:, 0] + cells[:, 1] / 2), -1.5 * cells[:, 1]
        wide, high = x.max() - x.min() + _ROOT3, y.max() - y.min() + 2
        self.size = min((WIDTH - 12) / wide, (HEIGHT - 12) / high)
        left = (WIDTH - wide * self.size) / 2 + _ROOT3 / 2 * self.size
        top = (HEIGHT - high * self.size) / 2 + self.size
        self.x = [left + (v - x.min()) * self.size for v in x.tolist()]
        self.y = [top + (v - y.min()) * self.size for v in y.tolist()]

    def corner(self, cell: int, k: int, inset: float = 1.0) -> tuple[float, float]:
        """Corner k of a cell, the cell shrunk by `inset`."""
        dx, dy = _CORNERS[k % 6]
        r = self.size * inset
        return self.x[cell] + dx * r, self.y[cell] + dy * r

    def outline(self, cell: int, inset: float = 1.0) -> list[tuple[float, float]]:
        """The six corners."""
        return [self.corner(cell, k, inset) for k in range(6)]


@functools.cache
def places(ruleset: Ruleset) -> Places:
    """The places of the cells."""
    return Places(ruleset)


@functools.cache
def grid(ruleset: Ruleset) -> str:
    """The constant part: the cells, and the borders of the sectors."""
    centres, geometry = places(ruleset), ruleset.geometry
    out = []
    for cell, (q, r) in enumerate(geometry.cells.tolist()):
        sector = int(geometry.sector[cell])
        deep = sector >= geometry.num_main_sectors
        fill = colours.BETWEEN if sector < 0 else colours.DEEP if deep else colours.SPACE
        shape = polygon(centres.outline(cell, 0.985), fill, colours.GRID, 0.7)
        out.append(shape.replace("<polygon", f'<polygon id="hex-{cell}" data-cell="{q},{r}"', 1))
    borders = []
    for cell in range(geometry.num_cells):
        for k, direction in enumerate(_EDGES):
            other = int(geometry.neighbors[cell, direction])
            if other < cell and (other < 0 or geometry.sector[other] != geometry.sector[cell]):
                (a, b), (c, d) = centres.corner(cell, k), centres.corner(cell, k + 1)
                borders.append(f"M{number(a)} {number(b)}L{number(c)} {number(d)}")
    line = f'fill="none" stroke="{colours.SECTOR}" stroke-width="1.6" stroke-linecap="round"'
    return "".join(out) + f'<path d="{"".join(borders)}" {line}/>'


def ground(ruleset: Ruleset) -> str:
    """The grid on the colour of the night sky."""
    return box(0, 0, WIDTH, HEIGHT, "#0f1730", radius=10) + grid(ruleset)


def _shape(kind: str, x: float, y: float, scale: float, player: int, faction: str) -> str:
    """A structure in the colours of a player, with the number of the seat."""
    fill, line = colours.faction(faction)[0], 1.4 / scale
    out = use(kind, x, y, scale, f' fill="#fff" stroke="#fff" stroke-width="{4 / scale:.2f}"')
    out += use(
        kind, x, y, scale, f' fill="{fill}" stroke="{colours.INK}" stroke-width="{line:.2f}"'
    )
    return out + numeral(x, y + scale * _MIDDLE[kind], player, scale * 0.96, faction)


# The middle of the body of a structure, where its number is, and the size of structures.
_MIDDLE = {
    "MINE": 0.16, "TS": 0.2, "RL": 0.16, "PI": 0.16, "AC_A": 0.22, "AC_B": 0.22,
    "GAIAFORMER": -0.26, "STATION": 0.0,
}  # fmt: skip
_SCALE = {"MINE": 0.62, "TS": 0.64, "RL": 0.64, "PI": 0.68, "AC_A": 0.72, "AC_B": 0.72}


class MapDrawing:
    """The pieces on the cells of one state."""

    def __init__(self, table: Table):
        self.table, self.map = table, table.map
        self.where = places(table.ruleset)
        self.factions = [seat.faction.start_planet for seat in table.seats]
        self.ships = {cell: ship for ship, cell in table.ship_cells.items()}
        self.kinds = table.ids["structure"]
        self.planets = table.ids["planet"]
        m = self.map
        is_occupied = (m.planet > 0) | (m.structure > 0) | (m.gaiaformer >= 0) | (m.guest >= 0)
        is_occupied |= m.station | m.ring | m.satellite.any(0) | m.federated.any(0)
        self.busy = [int(c) for c in is_occupied.nonzero()[0]]

    def parts(self, last: str = "") -> dict[str, str]:
        """The fragments of the occupied cells by id, then `last`, a mark, and ships' names."""
        cells = {
            f"cell-{c}": group(self._cell(c), f"cell-{c}", self._title(c), of=self.ships.get(c, ""))
            for c in self.busy
        }
        return cells | {"last": last} | ({"ship-names": self._ship_names()} if self.ships else {})

    def _ship_names(self) -> str:
        """The names of the ships; a pointer meets what is below them."""
        s, out = self.where.size, []
        for c, ship in self.ships.items():
            x, y = self.where.x[c], self.where.y[c]
            out.append(run(x, y + s * 0.68, SHIPS[ship], 8, "#e8edf8", "middle", True, s * 1.5))
        edge = 'stroke="#0f1730" stroke-width="2" stroke-linejoin="round" paint-order="stroke"'
        return f'<g {edge} pointer-events="none">{"".join(out)}</g>'

    def _title(self, c: int) -> str:
        m = self.map
        q, r = self.table.ruleset.geometry.cells[c].tolist()
        out = [f"{q},{r}"]
        if c in self.ships:
            out.append(phrase("the-ship", ship=SHIPS[self.ships[c]]))
        elif self._off_map(c):
            return phrase("no-space")
        elif m.planet[c]:
            out.append(PLANETS[self.planets[m.planet[c]]])
        owned = [(STRUCTURES[self.kinds[m.structure[c]]], m.owner[c])] if m.structure[c] else []
        marks = (("gaiaformer", m.gaiaformer[c]), ("guest-mine", m.guest[c]))
        owned += [(phrase(piece), p) for piece, p in marks if p >= 0]
        owned += [(phrase("satellite"), int(p)) for p in m.satellite[:, c].nonzero()[0]]
        out += [self._of(*pair) for pair in owned]
        out += [phrase("space-station")] if m.station[c] else []
        out += [phrase("power-ring")] if m.ring[c] else []
        out += [self._of(phrase("federation"), int(p)) for p in m.federated[:, c].nonzero()[0]]
        return ", ".join(out)

    def _of(self, piece: str, player: int) -> str:
        """A piece with its owner."""
        return phrase("piece-of", piece=piece, name=faction_name(self.table.seats[player].faction))

    def _off_map(self, c: int) -> bool:
        """Whether the tile of a cell is left out (PLA-04)."""
        return self.planets[self.map.planet[c]] == "Ship" and c not in self.ships

    def _cell(self, c: int) -> str:
        m, s = self.map, self.where.size
        x, y = self.where.x[c], self.where.y[c]
        if self._off_map(c):
            return polygon(self.where.outline(c, 1.02), colours.PAPER, colours.PAPER, 1.6)
        out = []
        inset = 0.88
        for owner in m.federated[:, c].nonzero()[0].tolist():
            edge = polygon(
                self.where.outline(c, inset), "none", colours.faction(self.factions[owner])[0], 2.6
            )
            out.append(group(edge, f"federated-{owner}-{c}"))
            inset -= 0.13
        planet = self.planets[m.planet[c]]
        if c in self.ships:
            ship = self.ships[c]
            body = use("ship", x, y - s * 0.2, s * 0.56)
            out.append(group(body, f"ship-{ship}"))
        elif planet != "Empty":
            body = use(planet, x, y, s)
            if m.structure[c] or m.gaiaformer[c] >= 0:
                # The sign moves aside for the piece.
                body = use(f"{planet}-bare", x, y, s)
                sign = use(planet, x - s * 0.58, y - s * 0.56, s * 0.36, ' class="sign"')
                body += sign if planet != "Asteroid" else ""
            out.append(group(body, f"planet-{c}"))
        if m.ring[c]:
            ring = circle(x, y, s * 0.74, "none", "#ffd23f", 3)
            out.append(group(ring + circle(x, y, s * 0.74, "none", "#4a3500", 0.8), f"ring-{c}"))
        if m.structure[c]:
            out.append(self._structure(c, x, y))
        if m.gaiaformer[c] >= 0:
            p = int(m.gaiaformer[c])
            body = _shape("GAIAFORMER", x, y, s * 0.62, p, self.factions[p])
            out.append(group(body, f"gaiaformer-{c}"))
        if m.guest[c] >= 0:
            p = int(m.guest[c])
            body = _shape("MINE", x + s * 0.46, y + s * 0.36, s * 0.42, p, self.factions[p])
            out.append(group(body, f"guest-{c}"))
        if m.station[c]:
            p = next((s.player for s in self.table.seats if s.faction.federation_grows), 0)
            crowd = m.satellite[:, c].any()
            body = _shape(
                "STATION", x, y - s * (0.42 if crowd else 0), s * 0.5, p, self.factions[p]
            )
            out.append(group(body, f"station-{c}"))
        out += self._satellites(c, x, y)
        return "".join(out)

    def _structure(self, c: int, x: float, y: float) -> str:
        m, s = self.map, self.where.size
        kind, p = self.kinds[m.structure[c]], int(m.owner[c])
        crowded = m.guest[c] >= 0
        dx, dy = (-s * 0.24, -s * 0.2) if crowded else (0.0, 0.0)
        body = _shape(kind, x + dx, y + dy, s * _SCALE[kind], p, self.factions[p])
        if kind in ("AC_A", "AC_B"):
            body += icon("k" if kind == "AC_A" else "a", x + dx - 5, y + dy - s * 0.8, 10)
        return group(body, f"structure-{c}")

    def _satellites(self, c: int, x: float, y: float) -> list[str]:
        m, s = self.map, self.where.size
        owners = [int(p) for p in m.satellite[:, c].nonzero()[0]]
        side = s * (0.72 if len(owners) < 3 else 0.62)
        layouts: dict[int, list[tuple[float, float]]] = {
            1: [(0, 0)],
            2: [(-0.37, 0), (0.37, 0)],
            3: [(-0.32, -0.32), (0.32, -0.32), (0, 0.32)],
            4: [(-0.32, -0.32), (0.32, -0.32), (-0.32, 0.32), (0.32, 0.32)],
        }
        spots = layouts.get(len(owners), [])
        if m.station[c]:
            spots = [(-0.6 + 0.4 * k, 0.42) for k in range(len(owners))]
            side = s * 0.4
        if m.planet[c]:
            spots = [(0.5, -0.5)] * len(owners)
        out = []
        for p, (dx, dy) in zip(owners, spots, strict=True):
            a, b, faction = x + dx * s, y + dy * s, self.factions[p]
            fill = colours.faction(faction)[0]
            body = box(a - side / 2, b - side / 2, side, side, fill, "#fff", 2.5, 1.4)
            body += numeral(a, b, p, side * 0.86, faction)
            out.append(group(body, f"satellite-{p}-{c}"))
        return out


def marked(ruleset: Ruleset, cell: int) -> str:
    """The mark on the cell of the last move."""
    centres = places(ruleset)
    halo = polygon(centres.outline(cell, 1.0), "none", "#000", 5)
    return halo + polygon(centres.outline(cell, 1.0), "none", colours.MARK, 3)
