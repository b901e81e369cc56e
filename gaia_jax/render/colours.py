"""Colours. Each is told apart by a sign as well: planets by a drawing, players by their number."""

from __future__ import annotations

INK, QUIET, PAPER, PANEL, LINE = "#1d2433", "#5a6275", "#ffffff", "#f3f4f8", "#c9cdd8"
SPACE, DEEP, BETWEEN, GRID, SECTOR = "#1c2747", "#2b2350", "#2a3141", "#51629a", "#a9b8e4"
MARK = "#ffb000"

# Fill, lighter part, ink of the sign.
PLANETS = {
    "Red": ("#c8372d", "#ee7a6b", "#ffffff"),
    "Orange": ("#ee8a1d", "#ffc071", "#3a1d00"),
    "Yellow": ("#f2cf2e", "#fff09a", "#4a3c00"),
    "Brown": ("#7d4f2c", "#b5835a", "#ffffff"),
    "Black": ("#59616e", "#98a2b1", "#ffffff"),
    "White": ("#e4edf3", "#ffffff", "#33607d"),
    "Blue": ("#2c6fc4", "#7db4f2", "#ffffff"),
    "Gaia": ("#2f9d4b", "#86dc95", "#ffffff"),
    "Proto": ("#b03a86", "#ea8cc6", "#ffffff"),
    "Asteroid": ("#8d938f", "#c6cbc6", "#22302c"),
    "Lost": ("#d9d2f2", "#ffffff", "#3d2c7a"),
    "Transdim": ("#6c3a9c", "#a878d6", "#ffffff"),
}

# Players are coloured by their faction: its home planet, or what it starts on.
_FACTIONS = {
    "Red": ("#d8392c", "#ffffff"),
    "Orange": ("#ef8b1c", "#1d1200"),
    "Yellow": ("#f7d733", "#1d1800"),
    "Brown": ("#9d6454", "#ffffff"),
    "Black": ("#6d7684", "#ffffff"),
    "White": ("#f4f8fb", "#12303f"),
    "Blue": ("#2f78d4", "#ffffff"),
    "Proto": ("#e06ec0", "#2a0018"),
    "Asteroid": ("#39b59b", "#00211d"),
}


def faction(start_planet: str) -> tuple[str, str]:
    """Fill and ink of a faction, by the planet that it starts on."""
    return _FACTIONS[start_planet]


VP_SOURCES = (
    "#9aa0ac", "#0772b2", "#5bbaf0", "#1bb488", "#8bcd70", "#d55e00", "#f0e442", "#cd7773",
    "#8c564b", "#e69f00", "#bae996", "#0593a9", "#555555", "#757676", "#5b3799", "#cbb2d6",
    "#054d7f", "#bbc2c2",
)  # fmt: skip
