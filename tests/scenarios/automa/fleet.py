"""A solo table of the printed Lost Fleet, on a map that a scene fills.

    table = fleet(explored_ship="TF_MARS").place(AUTOMA, (0, 0)).cards(4, 5)
    after = table.turn()

Cells are (q, r) with r growing upward.
"""

from __future__ import annotations

from gaia_jax.ruleset import ruleset_of
from gaia_jax.state import AUTOMA
from tests.scenarios.automa.solo import SETUP as BASE_SETUP
from tests.scenarios.automa.solo import SoloTable
from tests.scenarios.scene import planets_alone

RULES = ruleset_of("lost_fleet_published", 1)
TILES = {"M01": 1, "M06B": 2, "M03": 1, "M02": 5, "M07B": 1, "M05B": 0, "M04": 1}
DEEP = {"DS5A": 1, "DS2A": 2, "DS1B": 2, "DS3A": 1, "DS4A": 2, "DS6B": 2}
SETUP = BASE_SETUP | {
    "sectors": [{"tile": tile, "rotation": turns} for tile, turns in TILES.items()],
    "ships": {"ECLIPSE": "-1,-2", "REBELLION": "-2,3", "TF_MARS": "3,-1"},
    "interface": {"-3,1": "Asteroid", "1,2": "Proto", "2,-3": "Asteroid"},
    "deep": [{"tile": tile, "rotation": turns} for tile, turns in DEEP.items()],
    "advanced_tiles": BASE_SETUP["advanced_tiles"] | {"extra": "SA-K-3"},
    "extra_condition": "A",
    "ship_tokens": {
        "ECLIPSE": "SFT_4VP_2O_1Q",
        "REBELLION": "SFT_4VP_4K",
        "TF_MARS": "SFT_TF3_MINE",
    },
    "ship_tiles": {
        "REBELLION": "LF-NAV+1",
        "TF_MARS": "LF-ORE1-KN3",
        "ECLIPSE": "LF-TF2-FREE-MINE",
    },
    "economy_side": "B",
    "colour_order": ["Red", "Black", "Brown", "Orange", "Blue", "Yellow", "White"],
}


class FleetTable(SoloTable):
    """A solo game of the printed Lost Fleet; methods return a new table."""

    rules = RULES
    setup_file = SETUP
    r_sign = 1
    explored_ship = {"explored_ship": "TF_MARS"}

    def bare(self, planets: dict[tuple[int, int], str]) -> SoloTable:
        """The map with the ships and these planets alone."""
        return self._arranged(board=self.game.board.replace(planet=planets_alone(self, planets)))

    def ships(self, *ships: str) -> FleetTable:
        """The Automa has shuttles on these ships, no others."""
        bits = sum(1 << RULES.ships.index(ship) for ship in ships)
        return self.give(AUTOMA, shuttles=bits)

    def explored(self) -> set[str]:
        """The ships where the Automa has shuttles."""
        bits = self.player(AUTOMA).shuttles
        return {ship for i, ship in enumerate(RULES.ships) if bits >> i & 1}


new_fleet, fleet = FleetTable.dealt, FleetTable.in_round
