"""One player: the faction board, the stocks, and the pieces on the map."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.referee import power
from tests.referee.board import Board, Cell
from tests.referee.rules import Rules

BOWL_I, BOWL_II, BOWL_III, GAIA_AREA, NOWHERE = 0, 1, 2, 3, -1


class Player:
    """What belongs to one player; `gain` and `pay` keep the limits of the stocks (GEN-07)."""

    is_automa = False

    def __init__(self, number: int, faction: str, rules: Rules, board: Board) -> None:
        self.number = number
        self.faction = faction
        self.rules = rules
        self.board = board
        self.printed: dict[str, Any] = rules.factions[faction]

        self.vp = 0
        self.vp_source: Counter[str] = Counter()
        self.ore = self.knowledge = self.credits = self.qic = 0
        # Ordinary tokens by bowl; the brainstone is one more, in the bowl `brainstone`.
        self.bowls = list(self.printed["bowls"])
        self.gaia_tokens = 0
        self.brainstone = BOWL_I if self.printed["brainstone"] else NOWHERE
        self.brainstone_turned = False  # it takes the other place in payments this turn (A21)
        self.tracks = dict.fromkeys(rules.tracks, 0)

        self.structures: dict[Cell, str] = {}  # MINE, TS, RL, PI, AC_A, AC_B; guest mines too
        self.guests: set[Cell] = set()  # the guest mines among them (LAN-01)
        self.lost_planet: Cell | None = None  # its mine is among the structures (RES-08)
        self.virtual_mines: list[str] = []  # planet types of artifact mines (ART-03)
        self.stations: set[Cell] = set()
        self.rings: set[Cell] = set()
        self.satellites: set[Cell] = set()
        self.satellites_counted = 0  # the Automa's, which lie on no hex (AUT-21, OPEN-10)
        self.federated: set[Cell] = set()  # structures and stations that are in a federation
        self.federations_formed = 0
        self.distance = [99] * len(board.planet)  # from the nearest range source (MIN-03)

        self.tiles: dict[str, bool] = {}  # basic and ship tiles: whether covered
        self.advanced: set[str] = set()
        self.artifacts: list[str] = []
        self.tokens: Counter[str] = Counter()  # federation tokens by kind
        self.green = 0
        self.booster: str | None = None
        self.tinkering: str | None = None  # the tile of this round
        self.tinkering_used: set[str] = set()  # tiles of earlier rounds and of this one (TIN-01)
        self.used: set[str] = set()  # special actions of this round
        self.passed = False
        self.gaiaformers = 0  # available
        self.gaiaformers_in_gaia_area = 0  # Bal T'aks (FRE-09)
        self.gaiaformers_lost = 0  # spent on asteroids (MIN-12)
        self.shuttles: set[str] = set()
        self.shuttles_left: int = self.printed["shuttles"]
        self.steps_to: dict[str, int] = {}  # terraforming steps by planet type

    def is_(self, faction: str) -> bool:
        return self.faction == faction

    def has_pi(self, faction: str) -> bool:
        """Whether this is `faction` with its planetary institute on the map."""
        return self.faction == faction and "PI" in self.structures.values()

    # -- stocks

    def score(self, source: str, vp: int) -> None:
        """Gain VP, or pay them where `vp` is negative."""
        self.vp += vp
        self.vp_source[source] += vp

    def gain(self, amounts: dict[str, int], source: str = "") -> None:
        """Gain resources, VP (booked under `source`), new power tokens, then charge power.

        What a stock cannot hold is lost (GEN-07). Gleens get ore for QIC until academy B (GLE-01).
        """
        for kind, amount in amounts.items():
            if kind == "qic" and self.is_("GLEENS") and "AC_B" not in self.structures.values():
                kind = "ore"
            if kind in ("ore", "knowledge", "credits"):
                have = getattr(self, kind)
                setattr(self, kind, min(have + amount, self.rules.caps[kind]))
            elif kind == "qic":
                self.qic += amount
            elif kind == "vp":
                self.score(source, amount)
            elif kind == "tokens":
                self.bowls[BOWL_I] += amount
            elif kind == "tokens_iii":
                self.bowls[BOWL_III] += amount
            elif kind == "charge":
                power.charge(self, amount)
            elif kind != "green":
                raise ValueError(f"{kind!r} cannot be gained")

    def full(self, kind: str) -> bool:
        """Whether a gain of this kind would be lost entirely (FRE-03, A27)."""
        if kind == "charge":
            return power.capacity(self) == 0
        if kind == "qic" and self.is_("GLEENS") and "AC_B" not in self.structures.values():
            kind = "ore"
        return kind in self.rules.caps and getattr(self, kind) >= self.rules.caps[kind]

    def loses(self, gain: dict[str, int]) -> bool:
        """Whether no part of a gain has room (FRE-03, A27)."""
        return all(self.full(kind) for kind, amount in gain.items() if amount and kind != "green")

    def may_take(self, gain: dict[str, int]) -> bool:
        """Whether an action that only gives this is legal (ACT-13, A27)."""
        return self.rules.switches.lost_gain_is_legal or not self.loses(gain)

    def can_pay(self, cost: dict[str, int]) -> bool:
        """Whether the player has every part of the cost; power is paid from bowl III."""
        return all(
            power.can_spend(self, amount) if kind == "power" else getattr(self, kind) >= amount
            for kind, amount in cost.items()
        )

    def pay(self, cost: dict[str, int]) -> None:
        for kind, amount in cost.items():
            if kind == "power":
                power.spend(self, amount)
            else:
                left = getattr(self, kind) - amount
                if left < 0:
                    raise ValueError(f"player {self.number} cannot pay {amount} {kind}")
                setattr(self, kind, left)

    # -- pieces

    def supply(self, piece: str) -> int:
        """Pieces of this kind that are not on the map (MIN-01, UPG-02)."""
        on_map = sum(kind == piece for kind in self.structures.values())
        if piece == "MINE" and self.lost_planet is not None:
            on_map -= 1  # the Lost Planet carries a satellite, not a mine
        return self.rules.supply[piece] - on_map

    def count(self, *kinds: str) -> int:
        return sum(kind in kinds for kind in self.structures.values())

    def mines(self) -> list[Cell]:
        """Physical mines: not on the Lost Planet, guest mines included."""
        return [c for c, k in self.structures.items() if k == "MINE" and c != self.lost_planet]

    def ordinary_mines(self) -> list[Cell]:
        """Mines on planets of one's own: no guest mines, not the Lost Planet."""
        return [c for c in self.mines() if c not in self.guests]

    def uncovered(self, tile: str) -> bool:
        return self.tiles.get(tile) is False

    def add_range_source(self, cell: Cell) -> None:
        """Structures and stations, once placed, are where ranges start (MIN-03)."""
        row = self.board.geometry.distance[cell]
        self.distance = [a if a < b else b for a, b in zip(self.distance, row, strict=True)]

    def range(self) -> int:
        """Basic range (MIN-04)."""
        level = self.tracks["navigation"]
        return self.rules.navigation_range[level] + self.uncovered("LF-NAV+1")

    def range_qic(self, cell: Cell, extra: int = 0) -> int:
        """QIC that it takes to reach a hex (MIN-05)."""
        beyond = self.distance[cell] - self.range() - extra
        return max(0, -(-beyond // self.rules.range_per_qic))

    def gaiaformers_owned(self) -> int:
        """Available, on the map, or in the Gaia area; not the ones spent on asteroids (GPJ-05)."""
        on_map = self.board.gaiaformer.count(self.number)
        return self.gaiaformers + on_map + self.gaiaformers_in_gaia_area
