"""The map: hexes, their contents, and the owners of pieces on them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tests.referee.rules import Rules

Cell = int  # a hex is called by its place in the ascending list of (q, r) (A17)

NOT_COLONISABLE = ("Empty", "Transdim", "Ship")


def distance(a: tuple[int, int], b: tuple[int, int]) -> int:
    """How many steps lie between two hexes (MAP-08)."""
    dq, dr = a[0] - b[0], a[1] - b[1]
    return (abs(dq) + abs(dr) + abs(dq + dr)) // 2


class Geometry:
    """The hexes of a map, and how they lie to one another; nothing of this changes in play."""

    def __init__(self, rules: Rules) -> None:
        self.sector_hexes = [
            [(cq + q, cr + r) for q, r in rules.map["local_order"]]
            for cq, cr in rules.map["sector_centres"]
        ]
        self.deep_hexes = [[(q, r) for q, r in slot] for slot in rules.map["deep_slots"]]
        self.interface_hexes = [(q, r) for q, r in rules.map["interface_cells"]]
        sector_of: dict[tuple[int, int], tuple[str, int] | None] = dict.fromkeys(
            self.interface_hexes
        )
        for slot, hexes in enumerate(self.sector_hexes):
            sector_of.update(dict.fromkeys(hexes, ("main", slot)))
        for slot, hexes in enumerate(self.deep_hexes):
            sector_of.update(dict.fromkeys(hexes, ("deep", slot)))

        self.cells: list[tuple[int, int]] = sorted(sector_of)
        self.index = {hex_: cell for cell, hex_ in enumerate(self.cells)}
        self.text = [f"{q},{r}" for q, r in self.cells]
        # Interface hexes belong to no sector (MAP-14); main and deep ones are two kinds (MAP-15).
        self.sector = [sector_of[hex_] for hex_ in self.cells]
        self.distance = [[distance(a, b) for b in self.cells] for a in self.cells]
        everywhere = range(len(self.cells))
        self.neighbours = [[b for b in everywhere if self.distance[a][b] == 1] for a in everywhere]
        self.near = [
            [b for b in everywhere if self.distance[a][b] <= rules.near] for a in everywhere
        ]

    def cell(self, text: str) -> Cell:
        """The hex that "q,r" names."""
        q, r = text.split(",")
        return self.index[int(q), int(r)]


@lru_cache
def geometry(rules: Rules) -> Geometry:
    """The geometry of a ruleset, made once."""
    return Geometry(rules)


def turned(hex_: tuple[int, int], sixths: int) -> tuple[int, int]:
    """A hex turned about (0, 0) by `sixths` of a full turn (MAP-02)."""
    q, r = hex_
    for _ in range(sixths):
        q, r = -r, q + r
    return q, r


def tiles_laid(rules: Rules, setup: dict[str, Any]) -> Iterator[dict[tuple[int, int], str]]:
    """The contents of the hexes of each tile: sectors, deep sectors, interspace, ships."""
    tiles, local = rules.map["sector_tiles"], rules.map["local_order"]
    for (cq, cr), laid in zip(rules.map["sector_centres"], setup["sectors"], strict=False):
        lie = {}
        for hex_, content in zip(local, tiles[laid["tile"]], strict=True):
            q, r = turned(tuple(hex_), laid["rotation"])
            lie[cq + q, cr + r] = content
        yield lie
    orientations, slots = rules.map["deep_orientation"], rules.map["deep_slots"]
    for hexes, orientation, laid in zip(slots, orientations, setup.get("deep", ()), strict=False):
        turns = laid["rotation"]
        lie = {}
        for j, content in enumerate(rules.map["deep_tiles"][laid["tile"]]):
            place = (j + turns) % 3 if orientation == "A" else (2 - j - turns) % 3
            lie[tuple(hexes[place])] = content
        yield lie
    ships = dict.fromkeys(setup.get("ships", {}).values(), "Ship")
    for text, content in (setup.get("interface", {}) | ships).items():
        q, r = text.split(",")
        yield {(int(q), int(r)): content}


class Board:
    """The contents of the hexes of one game."""

    def __init__(self, rules: Rules, setup: dict[str, Any]) -> None:
        self.rules = rules
        self.geometry = geometry(rules)
        self.text = self.geometry.text
        count = len(self.geometry.cells)
        self.planet = self._lay_tiles(setup)
        self.ship = {
            ship: self.geometry.cell(text) for ship, text in setup.get("ships", {}).items()
        }
        # The planets, and the Lost Planet once it is found.
        self.planets = [c for c in range(count) if self.planet[c] not in ("Empty", "Ship")]
        self.owner: list[int | None] = [None] * count  # of the structure
        self.guest: list[int | None] = [None] * count  # of a guest mine next to it (LAN-01)
        self.gaiaformer: list[int | None] = [None] * count  # of the gaiaformer
        self.formed_in = [0] * count  # the round of an instant gaiaforming (MIN-20)

    def _lay_tiles(self, setup: dict[str, Any]) -> list[str]:
        """The contents of every hex (MAP-01 to MAP-11)."""
        lie: dict[tuple[int, int], str] = {}
        for tile in tiles_laid(self.rules, setup):
            lie |= tile
        return [lie[hex_] for hex_ in self.geometry.cells]

    def opponent_near(self, cell: Cell, player: int) -> bool:
        """Whether another player has a structure within distance 2 (UPG-03)."""
        owner, guest = self.owner, self.guest
        for c in self.geometry.near[cell]:
            if owner[c] is not None and (
                owner[c] != player or (guest[c] is not None and guest[c] != player)
            ):
                return True
        return False
