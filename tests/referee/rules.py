"""One variant of the game: the printed facts, and the points where variants differ."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Switches:
    """The points where variants play differently; the values are those of `lost_fleet`."""

    surplus_in_federations: bool = False  # FED-02, A11
    free_leech_is_asked: bool = False  # LEE-03
    stations_are_satellites: bool = False  # HIV-02, A22
    leech_in_seat_order: bool = False  # A11, `base`
    bonus_power_in_leech: bool = False  # FED-11
    zero_scores: bool = True  # FIN-03
    darkanians_deep_sectors: bool = False  # DAR-01
    mine_on_instant_gaia_same_round: bool = False  # MIN-20
    twilight_range_for_projects: bool = False  # MIN-18
    free_step_optional: bool = False  # A11, `base`: tiles, Firaks, Bescods
    gleens_may_pay_qic: bool = True  # MIN-10
    free_steps_must_be_needed: bool = False  # A26
    lost_gain_is_legal: bool = True  # ACT-13, A27
    tokens_reach_guests_and_asteroids: bool = False  # A28


PRINTED = Switches(
    surplus_in_federations=True,
    free_leech_is_asked=True,
    stations_are_satellites=True,
    bonus_power_in_leech=True,
    zero_scores=False,
    darkanians_deep_sectors=True,
    mine_on_instant_gaia_same_round=True,
    twilight_range_for_projects=True,
    gleens_may_pay_qic=False,
    free_steps_must_be_needed=True,
    lost_gain_is_legal=False,
    tokens_reach_guests_and_asteroids=True,
)


class Rules:
    """The facts of one variant, read from `data/`; every key of the data is an attribute.

    `changes` are files that say what is printed otherwise, one after the other. `players` sit at
    the table, with the Automa if `solo`; `sectors` is how many sector tiles are laid.
    """

    def __init__(
        self,
        name: str,
        switches: Switches,
        changes: tuple[str, ...] = (),
        players: int = 4,
        sectors: int = 10,
        solo: bool = False,
    ) -> None:
        self.name = name
        self.switches = switches
        self.players = players
        pieces, self.map = _read("pieces.json"), _read("map.json")
        boards = _read("factions.json")
        factions = {
            faction: {**copy.deepcopy(boards["common"]), **own}
            for faction, own in boards["factions"].items()
        }
        for file in changes:
            change = _read(file)
            _apply(pieces, change["pieces"])
            _apply(self.map, change["map"])
            _apply(factions, change["factions"])
        counts = _read("players.json")
        fleet = counts["fleet"].get(str(players), NO_CHANGE) if self.map["ships"] else NO_CHANGE
        if self.map["ships"] and solo:  # AUT-40
            other = counts["fleet_solo"]
            fleet = fleet | {key: fleet[key] | other[key] for key in ("map", "pieces")}
        _apply(self.map, fleet["map"])
        _apply(pieces, fleet["pieces"])
        for printed in factions.values():
            printed["shuttles"] -= fleet["fewer_shuttles"]  # PLA-12
        self._count_players(counts, fleet, sectors)
        for key, value in pieces.items():
            setattr(self, key, value)
        self.factions: dict[str, dict[str, Any]] = factions
        self.ships: list[str] = self.map["ships"]
        self.tokens: dict[str, dict[str, Any]] = {
            **self.base_tokens,
            **self.gleens_token,
            **self.ship_tokens,
        }

    def _count_players(self, counts: dict[str, Any], fleet: dict[str, Any], sectors: int) -> None:
        """Apply the number of players to the map, the boosters and the neutral player.

        `fleet` is what two or three change in The Lost Fleet (PLA-08 to PLA-14).
        """
        tiles = self.map["sector_tiles"] | counts["other_sides"]
        laid = next(m for m in maps_of(self.name)[self.players] if len(m) == sectors)
        self.map["sector_tiles"] = {tile: tiles[tile] for tile in laid}
        self.map["sector_centres"] = self.map["sector_centres"][:sectors]
        self.boosters_in_play: int = self.players + counts["boosters_beyond_players"]
        # What a player who is not there counts in each final mission; nothing where none is added.
        self.neutral_counts: dict[str, int] = (
            counts["neutral_counts"].get(str(self.players), {}) | fleet["neutral_counts"]
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the rules of {self.name} have no {name!r}")


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text())


def _apply(facts: dict[str, Any], changes: dict[str, Any]) -> None:
    """Replace facts; None takes one away, a whole table becomes empty."""
    for key, value in changes.items():
        if value is None and isinstance(facts.get(key), dict) and key.islower():
            facts[key] = {}
        elif value is None:
            facts.pop(key, None)
        elif isinstance(value, dict) and isinstance(facts.get(key), dict) and key not in AMOUNTS:
            _apply(facts[key], value)
        else:
            facts[key] = value


# What no number of players changes in The Lost Fleet.
NO_CHANGE: dict[str, Any] = {"map": {}, "pieces": {}, "fewer_shuttles": 0, "neutral_counts": {}}
# Of these a change gives all amounts.
AMOUNTS = ("start", "income", "pi_income", "cost")
RULESETS = {
    "lost_fleet": (Switches(), ()),
    "lost_fleet_published": (PRINTED, ("published.json",)),
    "base": (
        replace(PRINTED, leech_in_seat_order=True, free_step_optional=True),
        ("published.json", "base.json"),
    ),
}


def maps_of(name: str) -> dict[int, list[list[str]]]:
    """The sector tiles of each map, by the number of players (PLA-01, PLA-03, PLA-04, PLA-08)."""
    counts = _read("players.json")
    maps = {int(players): tiles for players, tiles in counts["maps"].items()}
    if name == "base":
        return maps
    if name == "lost_fleet":
        return {4: maps[4]}
    fleet = {int(players): [facts["sector_tiles"]] for players, facts in counts["fleet"].items()}
    return fleet | {4: maps[4]}


def ruleset(name: str, players: int = 4, sectors: int | None = None, solo: bool = False) -> Rules:
    """The rules called `name` for a number of players, on a map of `sectors` tiles.

    In a `solo` game one of the two players is the Automa.

    Raises:
        ValueError: there are no such rules, or not for that number of players or tiles.
    """
    if name not in RULESETS:
        raise ValueError(f"no ruleset {name!r}; there are {', '.join(RULESETS)}")
    maps = maps_of(name)
    if players not in maps:
        raise ValueError(f"{name} is not played by {players}")
    sizes = [len(tiles) for tiles in maps[players]]
    if sectors is not None and sectors not in sizes:
        raise ValueError(f"{name} for {players} has maps of {sizes} tiles, not {sectors}")
    return _read_rules(name, players, sizes[0] if sectors is None else sectors, solo)


@lru_cache
def _read_rules(name: str, players: int, sectors: int, solo: bool) -> Rules:
    return Rules(name, *RULESETS[name], players, sectors, solo)
