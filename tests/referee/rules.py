"""One variant of the game: the printed facts, and the points where variants differ."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Switches:
    """The points where variants play differently; the values are those of `lost_fleet`."""

    surplus_in_federations: bool = False  # FED-02, A11
    free_leech_is_asked: bool = False  # LEE-03
    leech_in_seat_order: bool = False  # A11, `base`
    bonus_power_in_leech: bool = False  # FED-11
    zero_scores: bool = True  # FIN-03
    protos_in_asteroid_mission: bool = True  # FIN-08
    darkanians_deep_sectors: bool = False  # DAR-01
    mine_on_instant_gaia_same_round: bool = False  # MIN-20
    twilight_range_for_projects: bool = False  # MIN-18
    step_of_tile_optional: bool = False  # A11, `base`


class Rules:
    """The facts of one variant, read from `data/`; every key of the data is an attribute."""

    def __init__(self, name: str, switches: Switches) -> None:
        self.name = name
        self.switches = switches
        for key, value in _read("pieces.json").items():
            setattr(self, key, value)
        self.map: dict[str, Any] = _read("map.json")
        factions = _read("factions.json")
        self.factions: dict[str, dict[str, Any]] = {
            faction: {**copy.deepcopy(factions["common"]), **printed}
            for faction, printed in factions["factions"].items()
        }
        self.ships: list[str] = self.map["ships"]
        self.tokens: dict[str, dict[str, Any]] = {
            **self.base_tokens,
            **self.gleens_token,
            **self.ship_tokens,
        }

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the rules of {self.name} have no {name!r}")


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text())


RULESETS = {"lost_fleet": Switches()}


@lru_cache
def ruleset(name: str) -> Rules:
    """The rules called `name`."""
    if name not in RULESETS:
        raise ValueError(f"no ruleset {name!r}; there are {', '.join(RULESETS)}")
    return Rules(name, RULESETS[name])
