"""Planets near the home of a seat, from the columns of a set-up."""

from __future__ import annotations

import numpy as np

from gaia_jax.components import planets
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.geometry import rotate

from .game_table import GameTable

RADIUS = 3  # cells
NAMES = ("planets within three cells of home", "of these at most one step away")
COLOURS = planets.TERRAFORM_CYCLE


def planets_near_home(table: GameTable, ruleset: Ruleset) -> dict[str, np.ndarray]:
    """Count the planets near the possible home planets of each seat: two arrays (G, P).

    `NAMES[0]`: planets of the seven colours and Gaia planets within 3 cells, averaged over the
    planets of the home colour; `NAMES[1]`: only those that need at most one terraforming step.
    Seats of factions without a home colour have nan.
    """
    counts = np.zeros((len(table.vp), table.players, 2))
    tiles = {tile.id: tile for tile in ruleset.map.sector_tiles}
    cells = ruleset.geometry.cells.tolist()
    index = {(q, r): i for i, (q, r) in enumerate(cells)}
    distances = np.asarray(ruleset.geometry.distance)
    is_near = (distances <= RADIUS) & (distances > 0)
    homes = [_home_colour(ruleset, name) for name in table.names["faction"]]
    sector_tiles, rotations = table.setup["sectors_tile"], table.setup["sectors_rotation"]
    by_deal: dict[int, np.ndarray] = {}
    for game, deal in enumerate(table.deal):
        if deal not in by_deal:
            board = np.full(len(cells), -1)
            for (q, r), tile, turns in zip(
                ruleset.map.sector_centers, sector_tiles[game], rotations[game], strict=True
            ):
                for cell, planet in tiles[str(tile)].planets:
                    dq, dr = rotate(cell, int(turns))
                    board[index[q + dq, r + dr]] = _planet_code(planet)
            by_deal[deal] = np.array(
                [_count_planets(board, is_near, homes[faction]) for faction in table.faction[game]]
            )
        counts[game] = by_deal[deal]
    return {name: counts[..., i] for i, name in enumerate(NAMES)}


def _planet_code(planet: str) -> int:
    """Index of a colour, 7 for Gaia planets, -1 for everything else."""
    return [*COLOURS, "Gaia"].index(planet) if planet in (*COLOURS, "Gaia") else -1


def _home_colour(ruleset: Ruleset, faction: str) -> int:
    """Index of the home colour; -1 without one."""
    index = list(ruleset.ids["faction"]).index(faction)
    home = str(ruleset.factions[index].start_planet)
    return COLOURS.index(home) if home in COLOURS else -1


def _count_planets(board: np.ndarray, is_near: np.ndarray, home: int) -> tuple[float, float]:
    if home < 0:
        return np.nan, np.nan
    near = is_near[board == home] & (board >= 0)
    steps = np.abs(board - home)
    is_easy = np.minimum(steps, len(COLOURS) - steps) <= 1
    easy = near & is_easy & (board < len(COLOURS))
    return float(near.sum(1).mean()), float(easy.sum(1).mean())
