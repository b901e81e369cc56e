"""Features of the map as a seat sees it, from the columns of a set-up."""

from __future__ import annotations

import numpy as np

from gaia_jax.components import planets
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.geometry import rotate

from .table import Table

NEAR = 3  # cells
NAMES = ("planets within three cells of home", "of these at most one step away")
COLOURS = planets.TERRAFORM_CYCLE


def features(table: Table, ruleset: Ruleset) -> dict[str, np.ndarray]:
    """What lies around the planets where a seat may start: (G, P) each.

    `NAMES[0]`: planets of the seven colours and Gaia planets within 3 cells of one, on average
    over them; `NAMES[1]`: colours among them that need one step or none. Seats of factions whose
    home has no colour have nan.
    """
    counts = np.zeros((len(table.vp), table.players, 2))
    tiles = {tile.id: tile for tile in ruleset.map.sector_tiles}
    cells = ruleset.geometry.cells.tolist()
    index = {(q, r): i for i, (q, r) in enumerate(cells)}
    distances = np.asarray(ruleset.geometry.distance)
    near = (distances <= NEAR) & (distances > 0)
    homes = [_home(ruleset, name) for name in table.names["faction"]]
    laid = table.setup["sectors_tile"], table.setup["sectors_rotation"]
    done: dict[int, np.ndarray] = {}
    for game, deal in enumerate(table.deal):
        if deal not in done:
            board = np.full(len(cells), -1)
            for (q, r), tile, turns in zip(
                ruleset.map.sector_centers, laid[0][game], laid[1][game], strict=True
            ):
                for cell, planet in tiles[str(tile)].planets:
                    dq, dr = rotate(cell, int(turns))
                    board[index[q + dq, r + dr]] = _code(planet)
            done[deal] = np.array([_around(board, near, homes[f]) for f in table.faction[game]])
        counts[game] = done[deal]
    return {name: counts[..., i] for i, name in enumerate(NAMES)}


def _code(planet: str) -> int:
    if planet in COLOURS:
        return COLOURS.index(planet)
    return len(COLOURS) if planet == "Gaia" else -1


def _home(ruleset: Ruleset, faction: str) -> int:
    """The colour of a faction's home planets; -1 where it has none."""
    at = list(ruleset.ids["faction"]).index(faction)
    home = str(ruleset.factions[at].start_planet)
    return COLOURS.index(home) if home in COLOURS else -1


def _around(board: np.ndarray, near: np.ndarray, home: int) -> tuple[float, float]:
    if home < 0:
        return np.nan, np.nan
    own = np.flatnonzero(board == home)
    around = near[own] & (board >= 0)
    steps = np.abs(board - home)
    cheap = np.minimum(steps, len(COLOURS) - steps) <= 1
    easy = around & cheap & (board < len(COLOURS))
    return float(around.sum(1).mean()), float(easy.sum(1).mean())
