"""Colours. None is the only cue: planets also have a sign, players a number."""

from __future__ import annotations

INK, QUIET, PAPER, PANEL, LINE = "#1d2433", "#5a6275", "#ffffff", "#f3f4f8", "#c9cdd8"
SPACE, DEEP, BETWEEN, GRID, SECTOR = "#1c2747", "#2b2350", "#2a3141", "#51629a", "#a9b8e4"
MARK = "#ffb000"

# Players are coloured by their faction: its home planet, or what it starts on.
_FACTIONS = {
    "Red": ("#d8392c", "#ffffff"),
    "Orange": ("#ef8b1c", "#1d1200"),
    "Yellow": ("#f7d733", "#1d1800"),
    "Brown": ("#9d6454", "#ffffff"),
    "Black": ("#6d7684", "#ffffff"),
    "White": ("#f4f8fb", "#12303f"),
    "Blue": ("#2c72cc", "#ffffff"),
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
